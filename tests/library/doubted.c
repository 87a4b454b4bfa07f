/* Opens the files whose names it reads, line by line, in memory and where they lie, and does with
   what has opened all that there is. It prints the code of each way and the words of the first. */

#include "streamptron.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void ask(spt_model *model, spt_event *event)
{
    static double numbers[1 << 12];
    static spt_part parts[64];
    spt_answer answer = SPT_ANSWER;
    spt_counts counts = SPT_COUNTS;
    size_t n;
    static spt_choice choices[64];
    spt_predict(model, event, &answer, NULL);
    spt_predict_set(model, event, choices, 64, &n, NULL);
    spt_top(model, event, choices, 64, &n, NULL);
    spt_probabilities(model, event, numbers, 1 << 12, NULL);
    spt_scores(model, event, numbers, 1 << 12, &n, NULL);
    for (size_t label = 0; label < 3; label++) {
        spt_explain(model, event, label, parts, 64, &n, NULL);
        spt_threshold(model, label);
    }
    spt_count(model, &counts);
    for (size_t label = 0; spt_label(model, label, &n) != NULL; label++)
        spt_label_find(model, spt_label(model, label, NULL), n);
}

/* Teach it what it learns: one label, or a set of them. */
static void teach(spt_model *model, spt_event *event)
{
    static const char *const texts[] = {"new label", "label 1"};
    static const size_t lengths[] = {9, 7}, label = 0;
    static const int there[] = {1, 0};
    spt_learn(model, event, 0, 1.0, NULL);
    spt_learn_as(model, event, "new label", 9, 2.0, NULL);
    spt_learn_set(model, event, &label, NULL, 1, 1.0, NULL);
    spt_learn_set_as(model, event, texts, lengths, there, 2, 2.0, NULL);
}

/* Three candidates, and the second of them is right. */
static void choose(spt_model *model, spt_event *event)
{
    spt_event_clear(event);
    for (int i = 0; i < 3; i++) {
        spt_event_candidate(event, NULL);
        spt_event_add(event, i ? "word1" : "another word than that", i ? 5 : 22, 1.0, NULL);
        spt_event_add_int(event, 7, i, NULL);
    }
    ask(model, event);
    spt_learn(model, event, 1, 1.0, NULL);
    ask(model, event);
}

/* Take back what the event has taught last, and teach it once more. */
static void correct(spt_model *model, spt_event *event)
{
    spt_step *step = spt_event_step(event);
    if (step != NULL && spt_undo(model, event, step, NULL) == SPT_OK)
        teach(model, event);
    spt_step_free(step);
    ask(model, event);
}

/* What takes a model from end to end, with the first that was opened, which is good. The worst
   code: of a model whose arrays are damaged none of it may go well. */
static int mix(const spt_model *model, const spt_model *good)
{
    const spt_model *const both[] = {model, good}, *const one[] = {model};
    spt_model *merged = NULL;
    spt_error error = SPT_ERROR;
    void *p;
    size_t n;
    int worst = SPT_DAMAGED;
    for (int turn = 0; turn < 4; turn++) {
        p = NULL;
        int code = turn == 0   ? spt_merge(both, 2, NULL, &merged, &error)
                   : turn == 1 ? spt_merge(one, 1, NULL, &merged, &error)
                   : turn == 2 ? spt_delta(model, good, 1, &p, &n, &error)
                               : spt_delta(good, model, 1, &p, &n, &error);
        worst = code == SPT_DAMAGED ? worst : code;
        spt_close(merged);
        spt_free(p);
        merged = NULL;
    }
    return worst;
}

/* All that can be done with a model; `again`: what it saved is opened once more. */
static void use(spt_model *model, int again)
{
    static const char *const texts[] = {"word1 7", "a long name of some kind", "1.2.3.4"};
    static const size_t lengths[] = {7, 24, 7};
    spt_event *event;
    spt_model *other;
    void *p;
    size_t n;
    if (spt_event_new(model, &event, NULL) != SPT_OK)
        return;
    spt_event_add(event, "word1", 5, 1.0, NULL);
    spt_event_add(event, "a long name of some kind", 24, -2.0, NULL);
    spt_event_add_int(event, 7, 0.5, NULL);
    ask(model, event);
    spt_event_keep(event, 1, NULL);
    teach(model, event);
    ask(model, event);
    correct(model, event);
    if (spt_is_ranking(model))
        choose(model, event);
    n = spt_fields(model);
    if (n <= 3 && spt_event_texts(event, texts, lengths, n ? n : 1, NULL) == SPT_OK) {
        ask(model, event);
        teach(model, event);
    }
    if (again && spt_save_memory(model, &p, &n, NULL) == SPT_OK) {
        if (spt_open_memory(p, n, 0, &other, NULL) != SPT_OK) {
            printf("what it saved does not open\n");
            exit(1);
        }
        use(other, 0);
        spt_close(other);
        spt_free(p);
    }
    spt_event_free(event);
}

int main(void)
{
    static char path[4096];
    spt_model *good = NULL;
    while (fgets(path, sizeof(path), stdin) != NULL) {
        spt_error error = SPT_ERROR;
        spt_model *model;
        path[strcspn(path, "\n")] = 0;
        int whole = spt_open(path, 0, &model, &error);
        if (whole == SPT_OK) {
            use(model, 1);
            spt_close(model);
        }
        if (good == NULL)
            spt_open(path, 0, &good, NULL);
        int mapped = spt_open(path, SPT_MAPPED, &model, NULL);
        int mixed = mapped;
        if (mapped == SPT_OK) {
            use(model, 0);
            mixed = good == NULL ? 0 : mix(model, good);
            spt_close(model);
        }
        printf("%d %d %d %s\n", whole, mapped, mixed, error.words);
        fflush(stdout);
    }
    spt_close(good);
    return 0;
}
