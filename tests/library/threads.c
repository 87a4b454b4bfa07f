/* Many threads ask one model, each with an event of its own, while each teaches another of its
   own. ThreadSanitizer watches. */

#include "streamptron.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4, EVENTS = 300 };

static spt_model *shared;

static int teach(spt_model *model, spt_event *event, int i)
{
    char text[64];
    int n = snprintf(text, sizeof(text), "word%d word%d and a word of more than fifteen bytes%d",
                     i % 7, i % 11, i % 5);
    const char *label = i % 3 ? "ham" : "spam";
    return spt_event_text(event, text, (size_t)n, NULL)
           || spt_learn_as(model, event, label, strlen(label), 1.0, NULL);
}

static void *work(void *p)
{
    double *sum = (double *)p;
    spt_model *own;
    spt_event *event, *asked;
    spt_answer answer = SPT_ANSWER;
    if (spt_new("adaptive", NULL, "{}", &own, NULL) || spt_event_new(own, &event, NULL)
        || spt_event_new(shared, &asked, NULL))
        return (void *)1;
    for (int i = 0; i < EVENTS; i++) {
        char text[32];
        int n = snprintf(text, sizeof(text), "word%d word%d", i % 7, i % 13);
        if (teach(own, event, i) || spt_event_text(asked, text, (size_t)n, NULL)
            || spt_predict(shared, asked, &answer, NULL))
            return (void *)1;
        *sum += answer.score;
    }
    spt_event_free(asked);
    spt_event_free(event);
    spt_close(own);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    double sums[THREADS] = {0};
    spt_event *event;
    void *failed;
    int wrong = 0;
    if (spt_new("mira", "{\"hash_seed\": 1}", "{}", &shared, NULL)
        || spt_event_new(shared, &event, NULL))
        return 1;
    for (int i = 0; i < EVENTS; i++)
        wrong |= teach(shared, event, i);
    for (int t = 0; t < THREADS; t++)
        wrong |= pthread_create(&threads[t], NULL, work, &sums[t]);
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], &failed);
        wrong |= failed != NULL || sums[t] < sums[0] || sums[t] > sums[0];
    }
    spt_event_free(event);
    spt_close(shared);
    return wrong;
}
