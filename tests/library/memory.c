/* Every allocation fails once: the call says so, and nothing is lost, leaked or half done. */

#include "streamptron.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long left; /* allocations until one fails; 0: none does */
static long n_held;

static int fails(void)
{
    return left > 0 && --left == 0;
}

void *my_malloc(size_t n)
{
    void *p = fails() ? NULL : malloc(n);
    n_held += p != NULL;
    return p;
}

void *my_calloc(size_t n, size_t size)
{
    void *p = fails() ? NULL : calloc(n, size);
    n_held += p != NULL;
    return p;
}

void *my_realloc(void *p, size_t n)
{
    void *grown = fails() ? NULL : realloc(p, n);
    n_held += p == NULL && grown != NULL;
    return grown;
}

void my_free(void *p)
{
    n_held -= p != NULL;
    free(p);
}

static const char *const learners[] = {"perceptron", "multiclass", "mira",
                                       "arow",       "adaptive",   "voted",
                                       "multilabel", "ranking"};

/* Teach an event one of three labels, or sets of them, of which some come for the first time. */
static int teach(spt_model *model, spt_event *event, const char *const *labels, int i)
{
    static const int there[] = {0, 1};
    if (spt_is_ranking(model))
        return spt_learn(model, event, (size_t)(i % 2), 1.0, NULL);
    const char *both[] = {labels[i % 3], "and more"};
    const size_t lengths[] = {strlen(both[0]), strlen(both[1])};
    if (!spt_is_multilabel(model))
        return spt_learn_as(model, event, both[0], lengths[0], 1.0, NULL);
    return spt_learn_set_as(model, event, both, lengths, i % 2 ? there : NULL,
                            i < 2 ? 1 : 2, 1.0, NULL);
}

/* All that a life has, of which any allocation may fail. Returns the code of the call that did. */
static int live(const char *learner, int mails, void **saved, size_t *n, spt_model **kept)
{
    static const char *const texts[] = {
        "Subject: =?utf-8?Q?Fr=C3=A9e?=\n\na word of more than fifteen bytes", "two words",
        "three"};
    const char *labels[] = {"True", "False", learner[0] == 'p' ? "True" : "third"};
    spt_model *model = NULL, *again = NULL;
    spt_event *event = NULL;
    spt_answer answer = SPT_ANSWER;
    spt_part parts[8];
    spt_choice choices[2];
    size_t count, first = 0;
    spt_step *step;
    int sets = strcmp(learner, "multilabel") == 0, ranks = strcmp(learner, "ranking") == 0;
    int keeps = !ranks && strcmp(learner, "arow") != 0 && strcmp(learner, "voted") != 0;
    const char *parameters = sets    ? "{\"threshold\": {\"True\": 0.25}}"
                             : ranks ? "{\"margin\": 0.5}"
                                     : "{\"class_weight\": [[true, 2]]}";
    int code = mails ? spt_new_mail(learner, parameters, "{\"bytes\": 12}", &model, NULL)
                     : spt_new(learner, parameters, "{\"ngram_range\": [1, 2]}", &model, NULL);
    if (!code)
        code = spt_event_new(model, &event, NULL);
    if (!code && keeps)
        code = spt_event_keep(event, 1, NULL);
    for (int i = 0; i < 6 && !code; i++) {
        spt_event_clear(event);
        code = ranks ? spt_event_candidate(event, NULL) : SPT_OK;
        if (!code)
            code = spt_event_text(event, texts[i % 3], strlen(texts[i % 3]), NULL);
        if (!code && ranks)
            code = spt_event_candidate(event, NULL);
        if (!code && ranks)
            code = spt_event_text(event, texts[(i + 1) % 3], strlen(texts[(i + 1) % 3]), NULL);
        if (!code)
            code = teach(model, event, labels, i);
        if (!code)
            code = sets ? spt_predict_set(model, event, choices, 2, &count, NULL)
                        : spt_predict(model, event, &answer, NULL);
        if (!code)
            code = spt_top(model, event, choices, 2, &count, NULL);
        if (!code)
            code = spt_explain(model, event, 0, parts, 8, &count, NULL);
        if (!code && keeps && i % 2 == 0) {
            step = spt_event_step(event);
            code = spt_undo(model, event, step, NULL);
            if (code && spt_undo(model, event, step, NULL)) /* it has changed nothing: once more */
                code = SPT_ARGUMENT;
            spt_step_free(step);
        }
    }
    if (event != NULL)
        spt_event_clear(event);
    if (!code && ranks)
        code = spt_event_candidate(event, NULL);
    for (int i = 0; i < 40 && !code; i++)
        code = spt_event_add_int(event, i, 1.0, NULL);
    if (!code)
        code = spt_event_add(event, "name", 4, 1.0, NULL);
    if (!code)
        code = sets ? spt_learn_set(model, event, &first, NULL, 1, 1.0, NULL)
                    : spt_learn(model, event, 0, 1.0, NULL);
    if (!code)
        code = spt_save_memory(model, saved, n, NULL);
    if (!code)
        code = spt_open_memory(*saved, *n, 0, &again, NULL);
    spt_event_free(event);
    spt_close(again);
    *kept = model;
    return code;
}

/* --- Models in one */

typedef struct family {
    spt_model *since, *models[2], *target; /* the last one is as the first */
} family;

/* A base, and models that have learned other labels since. Nothing fails. */
static int raise_family(const char *learner, const char *parameters, family *f)
{
    static const char *const labels[] = {"True", "False", "a third", "True", "a third", "False"};
    const char *texts[] = {"one word of more than fifteen bytes", "two words", "three", "four"};
    spt_model **all[] = {&f->since, &f->models[0], &f->models[1], &f->target};
    spt_event *event = NULL;
    void *p = NULL;
    size_t n;
    int few = strcmp(learner, "perceptron") == 0;
    int code = spt_new(learner, parameters, "{}", all[0], NULL);
    for (int i = 0; i < 4 && !code; i++) {
        if (i > 0)
            code = spt_open_memory(p, n, 0, all[i], NULL);
        if (!code)
            code = spt_event_new(*all[i], &event, NULL);
        for (int k = 0; k < 6 && i < 3 && !code; k++) {
            spt_event_clear(event);
            for (int c = 0; c < (spt_is_ranking(*all[i]) ? 2 : 1) && !code; c++) {
                const char *text = texts[(i * k + c) % 4];
                code = spt_is_ranking(*all[i]) ? spt_event_candidate(event, NULL) : SPT_OK;
                if (!code)
                    code = spt_event_text(event, text, strlen(text), NULL);
            }
            if (!code)
                code = teach(*all[i], event, few ? labels : &labels[i], k % (few ? 2 : 3));
        }
        spt_event_free(event);
        event = NULL;
        if (i == 0 && !code)
            code = spt_save_memory(f->since, &p, &n, NULL);
    }
    spt_free(p);
    return code;
}

static int same_bytes(const spt_model *model, const spt_model *other)
{
    void *p = NULL, *q = NULL;
    size_t n = 0, m = 1;
    int code = spt_save_memory(model, &p, &n, NULL) || spt_save_memory(other, &q, &m, NULL);
    int same = !code && n == m && memcmp(p, q, n) == 0;
    spt_free(p);
    spt_free(q);
    return same;
}

/* All that may be done with them, of which any allocation may fail. */
static int unite(family *f)
{
    const spt_model *const *models = (const spt_model *const *)f->models;
    spt_model *merged = NULL, *alone = NULL;
    void *deltas[2] = {NULL, NULL};
    size_t lengths[2];
    int code = spt_merge(models, 2, NULL, &merged, NULL);
    spt_close(merged);
    merged = NULL;
    if (!code)
        code = spt_merge(models, 1, f->since, &alone, NULL);
    spt_close(alone);
    if (!code)
        code = spt_merge(models, 2, f->since, &merged, NULL);
    for (int k = 0; k < 2 && !code; k++)
        code = spt_delta(models[k], f->since, (uint64_t)k, &deltas[k], &lengths[k], NULL);
    if (!code)
        code = spt_apply(f->target, (const void *const *)deltas, lengths, 2, NULL);
    left = 0;
    if (!same_bytes(f->target, code ? f->since : merged))
        code = SPT_ARGUMENT;
    spt_free(deltas[0]);
    spt_free(deltas[1]);
    spt_close(merged);
    return code;
}

static int unites(const char *learner, const char *parameters)
{
    long n_calls = 0;
    family f = {NULL, {NULL, NULL}, NULL};
    int code = raise_family(learner, parameters, &f);
    long n_before = n_held;
    for (int failed = SPT_MEMORY; !code && failed != SPT_OK; n_calls++) {
        left = n_calls + 1;
        failed = unite(&f);
        left = 0;
        code = failed != SPT_OK && failed != SPT_MEMORY;
        if (failed != SPT_OK)
            code = code || n_held != n_before;
    }
    if (code || n_calls < 50)
        printf("%s, allocation %ld of merging: %ld not freed\n", learner, n_calls,
               n_held - n_before);
    spt_close(f.since);
    spt_close(f.models[0]);
    spt_close(f.models[1]);
    spt_close(f.target);
    return code || n_calls < 50 || n_held != 0;
}

int main(void)
{
    static const char *const parameters[] = {"{}", "{\"max_features\": 4}", "{\"hash_bits\": 3}"};
    for (size_t k = 0; k < sizeof(learners) / sizeof(*learners); k++) {
        if (strcmp(learners[k], "voted") != 0 && unites(learners[k], parameters[k % 3]))
            return 1;
    }
    for (size_t k = 0; k < 2 * sizeof(learners) / sizeof(*learners); k++) {
        size_t i = k / 2;
        long n_calls = 0;
        for (int code = SPT_MEMORY; code != SPT_OK; n_calls++) {
            spt_model *model = NULL;
            void *saved = NULL;
            size_t n;
            left = n_calls + 1;
            code = live(learners[i], k % 2, &saved, &n, &model);
            left = 0;
            if (code != SPT_OK && code != SPT_MEMORY) {
                printf("%s, allocation %ld: %s\n", learners[i], n_calls, spt_message(code));
                return 1;
            }
            spt_free(saved);
            saved = NULL;
            if (model != NULL && spt_save_memory(model, &saved, &n, NULL) == SPT_OK) {
                spt_model *whole;
                if (spt_open_memory(saved, n, 0, &whole, NULL) != SPT_OK) {
                    printf("%s, allocation %ld: a half model\n", learners[i], n_calls);
                    return 1;
                }
                spt_close(whole);
            }
            spt_free(saved);
            spt_close(model);
            if (n_held != 0) {
                printf("%s, allocation %ld: %ld not freed\n", learners[i], n_calls, n_held);
                return 1;
            }
        }
        if (n_calls < 50)
            return 1;
    }
    return 0;
}
