/* Many threads ask one model, each with an event of its own, while each teaches another of its
   own. ThreadSanitizer watches. */

#include "streamptron.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4, EVENTS = 300 };

static spt_model *shared, *tags; /* of one label an event, and of sets of them */

static int teach(spt_model *model, spt_event *event, int i)
{
    char text[64];
    int n = snprintf(text, sizeof(text), "word%d word%d and a word of more than fifteen bytes%d",
                     i % 7, i % 11, i % 5);
    const char *const labels[] = {i % 3 ? "ham" : "spam", i % 5 ? "short" : "long"};
    const size_t lengths[] = {strlen(labels[0]), strlen(labels[1])};
    if (spt_event_text(event, text, (size_t)n, NULL))
        return 1;
    if (spt_is_multilabel(model))
        return spt_learn_set_as(model, event, labels, lengths, NULL, 2, 1.0, NULL);
    return spt_learn_as(model, event, labels[0], lengths[0], 1.0, NULL);
}

static void *work(void *p)
{
    double *sum = (double *)p;
    spt_model *own, *sets;
    spt_event *event, *other, *asked, *tagged;
    spt_answer answer = SPT_ANSWER;
    spt_choice choice[1];
    size_t n_choices;
    if (spt_new("adaptive", NULL, "{}", &own, NULL) || spt_event_new(own, &event, NULL)
        || spt_new("multilabel", NULL, "{}", &sets, NULL) || spt_event_new(sets, &other, NULL)
        || spt_event_new(shared, &asked, NULL) || spt_event_new(tags, &tagged, NULL))
        return (void *)1;
    for (int i = 0; i < EVENTS; i++) {
        char text[32];
        int n = snprintf(text, sizeof(text), "word%d word%d", i % 7, i % 13);
        spt_step *step = NULL;
        if (i % 50 == 0)
            spt_event_keep(event, i % 100 == 0, NULL);
        if (teach(own, event, i))
            return (void *)1;
        if ((step = spt_event_step(event)) != NULL && spt_undo(own, event, step, NULL))
            return (void *)1;
        spt_step_free(step);
        if ( spt_event_text(asked, text, (size_t)n, NULL)
            || spt_predict(shared, asked, &answer, NULL))
            return (void *)1;
        if (teach(sets, other, i) || spt_event_text(tagged, text, (size_t)n, NULL)
            || spt_top(tags, tagged, choice, 1, &n_choices, NULL)
            || spt_predict_set(tags, tagged, choice, 1, &n_choices, NULL))
            return (void *)1;
        *sum += answer.score + choice[0].probability + (double)n_choices;
    }
    spt_event_free(tagged);
    spt_event_free(asked);
    spt_event_free(other);
    spt_close(sets);
    spt_event_free(event);
    spt_close(own);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    double sums[THREADS] = {0};
    spt_event *event, *tagged;
    void *failed;
    int wrong = 0;
    if (spt_new("mira", "{\"hash_seed\": 1}", "{}", &shared, NULL)
        || spt_new("multilabel", "{\"threshold\": \"f1\"}", "{}", &tags, NULL)
        || spt_event_new(shared, &event, NULL) || spt_event_new(tags, &tagged, NULL))
        return 1;
    for (int i = 0; i < EVENTS; i++)
        wrong |= teach(shared, event, i) | teach(tags, tagged, i);
    for (int t = 0; t < THREADS; t++)
        wrong |= pthread_create(&threads[t], NULL, work, &sums[t]);
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], &failed);
        wrong |= failed != NULL || sums[t] < sums[0] || sums[t] > sums[0];
    }
    spt_event_free(tagged);
    spt_event_free(event);
    spt_close(tags);
    spt_close(shared);
    return wrong;
}
