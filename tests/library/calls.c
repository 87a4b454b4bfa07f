/* Calls that cannot be: each gives its code and a sentence, and the model is as it was. And what
   holds of every call. */

/* mkstemp is not C11's */
#define _DEFAULT_SOURCE

#include "streamptron.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n_failed;

static void expect(int line, int code, int wanted, const spt_error *error, const char *words)
{
    if (code == wanted && (code == SPT_OK || (error->code == code && strstr(error->words, words))))
        return;
    printf("line %d: code %d, not %d: %s\n", line, code, wanted, error->words);
    n_failed++;
}
#define SAYS(call, code, words)                              \
    do {                                                     \
        spt_error error = SPT_ERROR;                         \
        expect(__LINE__, (call), (code), &error, (words));   \
    } while (0)
#define GOOD(call) SAYS(call, SPT_OK, "")

/* A model's bytes, to see that nothing has changed. */
static void *bytes_of(const spt_model *model, size_t *n)
{
    void *p = NULL;
    GOOD(spt_save_memory(model, &p, n, &error));
    return p;
}

static void new_models(void)
{
    static const char *const wrong[][3] = {
        {"nothing", "{}", "there is no learner called nothing"},
        {"mira", "{", "not JSON"},
        {"mira", "[]", "not a JSON object"},
        {"mira", "{\"C\": 0}", "C=0; it must be a number above 0"},
        {"mira", "{\"C\": \"1\"}", "C='1'; it must be a number"},
        {"mira", "{\"c\": 1}", "MIRA has no parameter 'c'"},
        {"mira", "{\"C\": 1, \"C\": 2}", "not JSON"},
        {"mira", "{\"serve\": \"last\"}", "one of 'current', 'average', 'pocket', 'best'"},
        {"mira", "{\"serve\": \"pocket\"}", "needs pocket=True"},
        {"mira", "{\"max_features\": 5, \"hash_bits\": 4}", "choose one"},
        {"mira", "{\"hash_bits\": 31}", "None or an int from 1 to 30"},
        {"mira", "{\"hash_seed\": -1}", "hash_seed=-1"},
        {"mira", "{\"degree\": 2, \"interactions\": [[\"a\", \"b\"]]}", "choose one"},
        {"mira", "{\"interactions\": [[\"a\"]]}", "pairs of fields"},
        {"mira", "{\"class_weight\": {\"a\": -1}}", "class_weight=-1"},
        {"mira", "{\"class_weight\": 2}", "a dict of label to weight"},
        {"perceptron", "{\"class_weight\": [[\"a\", 2]]}", "an invalid label: 'a'"},
        {"voted", "{\"degree\": 17}", "an int from 1 to 16"},
        {"mira", "{\"intercept\": 1}", "True or False"},
        {"mira", "{\"C\": NaN}", "not JSON"},
        {"mira", "{\"threshold\": 0.5}", "MIRA has no parameter 'threshold'"},
        {"multilabel", "{\"threshold\": 1}", "threshold=1; it must be a number above 0 and below"},
        {"multilabel", "{\"threshold\": true}", "threshold=True; it must be a number above"},
        {"multilabel", "{\"threshold\": \"f2\"}", "'f2'; it must be a number above 0 and below 1,"},
        {"multilabel", "{\"threshold\": null}", "threshold=None; it must be a number above 0"},
        {"multilabel", "{\"threshold\": {\"a\": 0}}", "threshold=0; it must be a number above"},
        {"multilabel", "{\"threshold\": [[null, 0.5]]}", "threshold has an invalid label: None"},
        {"multilabel", "{\"threshold\": [\"dict\", [\"a\", 0.5]]}", "it must be a number above"},
        {"multilabel", "{\"forget\": \"auto\"}", "forget='auto'; it must be a number of at least"},
        {"multilabel", "{\"class_weight\": {\"a\": 2}}", "has no parameter 'class_weight'"},
    };
    static const char *const tokens[][2] = {
        {"{\"analyzer\": \"line\"}", "one of 'word', 'char'"},
        {"{\"ngram_range\": [2, 1]}", "1 <= low <= high <= 100"},
        {"{\"separators\": \"\"}", "characters that separate words"},
        {"{\"separators\": \" \", \"fold_numbers\": true}", "cannot be combined"},
        {"{\"analyzer\": \"char\", \"fold_numbers\": true}", "applies to words"},
        {"{\"fields\": [\"a\", \"a\"]}", "a name occurs twice"},
        {"{\"fields\": []}", "a tuple of names"},
        {"{\"min_length\": 0}", "an int of at least 1"},
        {"{\"min_length\": 5, \"max_length\": 2}", "at least min_length"},
        {"{\"normalize\": \"l1\"}", "None or 'l2'"},
        {"{\"words\": 1}", "Tokenizer has no parameter 'words'"},
    };
    static const char *const mails[][2] = {
        {"{\"bytes\": 3}", "bytes=3; it must be 0, for none, or an int from 4 to 268435456"},
        {"{\"bytes\": 268435457}", "bytes=268435457; it must be 0, for none, or an int from 4"},
        {"{\"headers\": false, \"text\": false, \"bytes\": 0}", "leave nothing of a mail"},
        {"{\"fold\": 1}", "fold=1; it must be True or False"},
        {"{\"fields\": 1}", "Mail has no parameter 'fields'"},
        {"[]", "not a JSON object"},
        {"{", "the parameters of the Mail are not JSON"},
    };
    spt_model *model;
    for (size_t i = 0; i < sizeof(mails) / sizeof(*mails); i++) {
        SAYS(spt_new_mail("mira", NULL, mails[i][0], &model, &error), SPT_ARGUMENT, mails[i][1]);
        n_failed += model != NULL;
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        SAYS(spt_new(wrong[i][0], wrong[i][1], NULL, &model, &error), SPT_ARGUMENT, wrong[i][2]);
        n_failed += model != NULL;
    }
    for (size_t i = 0; i < sizeof(tokens) / sizeof(*tokens); i++)
        SAYS(spt_new("mira", NULL, tokens[i][0], &model, &error), SPT_ARGUMENT, tokens[i][1]);
    SAYS(spt_new(NULL, NULL, NULL, &model, &error), SPT_ARGUMENT, "learner is NULL");
    SAYS(spt_new("mira", NULL, NULL, NULL, &error), SPT_ARGUMENT, "model is NULL");
}

static void files(void)
{
    spt_model *model;
    SAYS(spt_open("/none/such", 0, &model, &error), SPT_SYSTEM, "'/none/such' cannot be opened");
    SAYS(spt_open("/dev/zero", 0, &model, &error), SPT_SYSTEM, "not a regular file");
    SAYS(spt_open("/", 0, &model, &error), SPT_SYSTEM, "not a regular file");
    SAYS(spt_open(NULL, 0, &model, &error), SPT_ARGUMENT, "path is NULL");
    SAYS(spt_open("x", 8, &model, &error), SPT_ARGUMENT, "flags");
    SAYS(spt_open_memory("xxxxxxxxx", 9, 0, &model, &error), SPT_FOREIGN, "is not a model file");
    SAYS(spt_open_memory(NULL, 9, 0, &model, &error), SPT_ARGUMENT, "p is NULL");
    if (spt_open("/none/such", 0, &model, NULL) != SPT_SYSTEM || model != NULL)
        n_failed++;
}

/* Every prefix of a file, at an odd address too. */
static void prefixes(const char *p, size_t n)
{
    spt_model *model;
    char *copy = malloc(n + 9);
    memcpy(copy + 1, p, n);
    for (size_t k = 0; k < n; k += 1 + n / 97)
        n_failed += spt_open_memory(copy + 1, k, 0, &model, NULL) != SPT_FOREIGN
                    && spt_open_memory(copy + 1, k, 0, &model, NULL) != SPT_DAMAGED;
    GOOD(spt_open_memory(copy + 1, n, 0, &model, &error));
    spt_close(model);
    SAYS(spt_open_memory(copy + 1, n, SPT_MAPPED, &model, &error), SPT_ARGUMENT, "multiple of");
    free(copy);
    GOOD(spt_open_memory(p, n, 0, &model, &error));
    spt_close(model);
    GOOD(spt_open_memory(p, n, SPT_MAPPED, &model, &error));
    spt_event *event;
    GOOD(spt_event_new(model, &event, &error));
    SAYS(spt_learn(model, event, 0, 1.0, &error), SPT_READ_ONLY, "read only");
    SAYS(spt_save(model, "/tmp/none", &error), SPT_READ_ONLY, "read only");
    spt_event_free(event);
    spt_close(model);
}

static void events(void)
{
    spt_model *model, *other, *texts;
    spt_event *event, *text;
    spt_answer answer = SPT_ANSWER, small = {1, 0, 0.0, 0.0};
    double p[1];
    size_t n, m;
    GOOD(spt_new("adaptive", "{\"max_labels\": 2}", NULL, &model, &error));
    GOOD(spt_new("mira", NULL, NULL, &other, &error));
    GOOD(spt_new("mira", NULL, "{\"fields\": [\"a\", \"b\"]}", &texts, &error));
    GOOD(spt_event_new(model, &event, &error));
    GOOD(spt_event_new(texts, &text, &error));
    GOOD(spt_predict(model, event, &answer, &error)); /* an empty event of an empty model */
    n_failed += answer.label != -1;
    GOOD(spt_event_add(event, "a", 1, 1.0, &error));
    GOOD(spt_learn_as(model, event, "yes", 3, 1.0, &error));
    GOOD(spt_learn_as(model, event, "no", 2, 1.0, &error));
    void *before = bytes_of(model, &n);
    SAYS(spt_event_add(event, "a", 1, 1.0, &error), SPT_ARGUMENT, "this feature already: a");
    SAYS(spt_event_add(event, "b", 1, NAN, &error), SPT_ARGUMENT, "finite number");
    SAYS(spt_event_add(event, "b", 1, 1e51, &error), SPT_ARGUMENT, "finite number");
    SAYS(spt_event_add(event, "\xff", 1, 1.0, &error), SPT_ARGUMENT, "not UTF-8");
    SAYS(spt_event_add_int(event, INT64_MAX, 1.0, &error), SPT_ARGUMENT, "less than 2^61");
    SAYS(spt_event_text(event, "a", 1, &error), SPT_ARGUMENT, "no tokenizer");
    SAYS(spt_event_text(text, "a", 1, &error), SPT_ARGUMENT, "each of its fields");
    SAYS(spt_predict(other, event, &answer, &error), SPT_ARGUMENT, "another model");
    SAYS(spt_predict(model, event, &small, &error), SPT_ARGUMENT, "SPT_ANSWER");
    SAYS(spt_probabilities(model, event, p, 1, &error), SPT_ARGUMENT, "room");
    SAYS(spt_learn(model, event, 2, 1.0, &error), SPT_ARGUMENT, "label is not the number");
    SAYS(spt_learn(model, event, 0, -1.0, &error), SPT_ARGUMENT, "weight must be");
    SAYS(spt_learn(model, event, 0, NAN, &error), SPT_ARGUMENT, "weight must be");
    SAYS(spt_learn(model, event, 0, 1e40, &error), SPT_ARGUMENT, "too large");
    SAYS(spt_learn(other, event, 0, 1.0, &error), SPT_ARGUMENT, "another model");
    SAYS(spt_learn_as(model, event, "more", 4, 1.0, &error), SPT_FULL, "max_labels");
    SAYS(spt_learn_as(model, event, "\xc3", 1, 1.0, &error), SPT_ARGUMENT, "UTF-8");
    void *after = bytes_of(model, &m);
    n_failed += n != m || memcmp(before, after, n) != 0;
    prefixes(after, m);
    spt_free(before);
    spt_free(after);
    spt_event_free(text);
    spt_event_free(event);
    spt_close(texts);
    spt_close(other);
    spt_close(model);
}

/* Sets of labels, and what they cannot be. */
static void sets(void)
{
    static const char *const labels[] = {"a", "b", "c", "a"}, *const none[] = {NULL};
    static const size_t lengths[] = {1, 1, 1, 1};
    static const size_t numbers[] = {0, 1, 0, 7}, one[] = {1};
    static const int there[] = {1, 0, 1, 0};
    spt_model *model, *other;
    spt_event *event, *asked;
    spt_answer answer = SPT_ANSWER;
    spt_choice choices[4];
    size_t n, m;
    GOOD(spt_new("multilabel", "{\"max_labels\": 2, \"threshold\": {\"a\": 0.25}}", NULL, &model,
                 &error));
    GOOD(spt_new("mira", NULL, NULL, &other, &error));
    GOOD(spt_event_new(model, &event, &error));
    GOOD(spt_event_new(other, &asked, &error));
    n_failed += !spt_is_multilabel(model) || spt_is_multilabel(other);
    GOOD(spt_event_add(event, "x", 1, 1.0, &error));
    GOOD(spt_predict_set(model, event, choices, 4, &n, &error)); /* there is no label yet */
    n_failed += n != 0;
    GOOD(spt_top(model, event, choices, 4, &n, &error));
    n_failed += n != 0;
    GOOD(spt_learn_set_as(model, event, labels, lengths, NULL, 2, 0.0, &error));
    n_failed += spt_labels(model) != 0; /* without weight nothing is known */
    GOOD(spt_learn_set_as(model, event, labels, lengths, NULL, 2, 1.0, &error));
    for (int i = 0; i < 9; i++)
        GOOD(spt_learn_set(model, event, one, NULL, 1, 1.0, &error));
    n_failed += spt_labels(model) != 2 || spt_label_find(model, "b", 1) != 1;
    n_failed += spt_threshold(model, 0) < 0.25 || spt_threshold(model, 0) > 0.25;
    n_failed += spt_threshold(model, 1) < 0.5 || spt_threshold(model, 1) > 0.5;
    n_failed += spt_threshold(model, 2) >= 0.0 || spt_threshold(other, 0) >= 0.0;
    GOOD(spt_top(model, event, choices, 1, &n, &error));
    n_failed += n != 1 || choices[0].label != 1;
    GOOD(spt_predict_set(model, event, choices, 0, &n, &error)); /* no room: how many they are */
    n_failed += n != 1;
    void *before = bytes_of(model, &n);
    SAYS(spt_predict(model, event, &answer, &error), SPT_ARGUMENT, "call spt_predict_set");
    SAYS(spt_predict_set(other, asked, choices, 4, &m, &error), SPT_ARGUMENT, "call spt_predict");
    SAYS(spt_predict_set(model, asked, choices, 4, &m, &error), SPT_ARGUMENT, "another model");
    SAYS(spt_learn(model, event, 0, 1.0, &error), SPT_ARGUMENT, "call spt_learn_set");
    SAYS(spt_learn_as(model, event, "a", 1, 1.0, &error), SPT_ARGUMENT, "call spt_learn_set");
    SAYS(spt_learn_set(other, asked, one, NULL, 1, 1.0, &error), SPT_ARGUMENT, "call spt_learn");
    SAYS(spt_learn_set_as(other, asked, labels, lengths, NULL, 1, 1.0, &error), SPT_ARGUMENT,
         "call spt_learn");
    SAYS(spt_learn_set(model, event, numbers, NULL, 3, 1.0, &error), SPT_ARGUMENT, "twice: a");
    SAYS(spt_learn_set(model, event, numbers, there, 4, 1.0, &error), SPT_ARGUMENT, "the labels'");
    SAYS(spt_learn_set(model, event, NULL, NULL, 1, 1.0, &error), SPT_ARGUMENT, "labels is NULL");
    SAYS(spt_learn_set(model, event, one, NULL, SIZE_MAX, 1.0, &error), SPT_ARGUMENT, "too many");
    SAYS(spt_learn_set(model, event, one, NULL, 1, 1e31, &error), SPT_ARGUMENT, "most 1e+30");
    SAYS(spt_learn_set(model, event, one, NULL, 1, NAN, &error), SPT_ARGUMENT, "weight must be");
    SAYS(spt_learn_set(model, asked, one, NULL, 1, 1.0, &error), SPT_ARGUMENT, "another model");
    SAYS(spt_learn_set_as(model, event, labels, lengths, there, 3, 1.0, &error), SPT_FULL,
         "max_labels");
    SAYS(spt_learn_set_as(model, event, none, lengths, NULL, 1, 1.0, &error), SPT_ARGUMENT,
         "label is NULL");
    void *after = bytes_of(model, &m);
    n_failed += n != m || memcmp(before, after, n) != 0;
    spt_free(before);
    spt_free(after);
    spt_close(other);
    GOOD(spt_new("multilabel", NULL, NULL, &other, &error));
    spt_event_free(asked);
    GOOD(spt_event_new(other, &asked, &error));
    SAYS(spt_learn_set_as(other, asked, labels, lengths, there, 4, 1.0, &error), SPT_ARGUMENT,
         "twice: a");
    n_failed += spt_labels(other) != 0 || spt_label_find(other, "c", 1) != -1;
    GOOD(spt_learn_set_as(other, asked, labels, lengths, there, 3, 1.0, &error));
    n_failed += spt_labels(other) != 3; /* one that is absent is known from now on, too */
    GOOD(spt_learn_set(model, event, NULL, NULL, 0, 1.0, &error)); /* none of them is there */
    GOOD(spt_learn_set(model, event, NULL, there, 0, 1.0, &error)); /* all of them are left open */
    spt_event_free(asked);
    spt_event_free(event);
    spt_close(other);
    spt_close(model);
}

/* Candidates, and what they cannot be. */
static void candidates(void)
{
    spt_model *model, *texts, *other;
    spt_event *event, *text, *asked;
    spt_answer answer = SPT_ANSWER;
    spt_choice best[2];
    spt_part parts[4];
    double p[2];
    size_t n, m;
    GOOD(spt_new("ranking", NULL, NULL, &model, &error));
    GOOD(spt_new("ranking", NULL, "{}", &texts, &error));
    GOOD(spt_new("mira", NULL, NULL, &other, &error));
    GOOD(spt_event_new(model, &event, &error));
    GOOD(spt_event_new(texts, &text, &error));
    GOOD(spt_event_new(other, &asked, &error));
    n_failed += !spt_is_ranking(model) || spt_is_ranking(other) || spt_labels(model) != 0;
    SAYS(spt_event_candidate(asked, &error), SPT_ARGUMENT, "has no candidates");
    SAYS(spt_event_add(event, "a", 1, 1.0, &error), SPT_ARGUMENT, "call spt_event_candidate");
    SAYS(spt_event_add_int(event, 1, 1.0, &error), SPT_ARGUMENT, "call spt_event_candidate");
    GOOD(spt_predict(model, event, &answer, &error)); /* there is no candidate */
    n_failed += answer.label != -1;
    SAYS(spt_learn(model, event, 0, 1.0, &error), SPT_ARGUMENT, "the event's candidates");
    GOOD(spt_event_candidate(event, &error));
    GOOD(spt_event_add(event, "a", 1, 1.0, &error));
    SAYS(spt_event_add(event, "a", 1, 1.0, &error), SPT_ARGUMENT, "this feature already: a");
    GOOD(spt_event_candidate(event, &error)); /* it may have the same ones */
    GOOD(spt_event_add(event, "a", 1, 2.0, &error));
    void *before = bytes_of(model, &n);
    SAYS(spt_learn(model, event, 2, 1.0, &error), SPT_ARGUMENT, "the event's candidates");
    SAYS(spt_learn(model, event, 0, -1.0, &error), SPT_ARGUMENT, "weight must be");
    SAYS(spt_learn_as(model, event, "a", 1, 1.0, &error), SPT_ARGUMENT, "by its number");
    SAYS(spt_probabilities(model, event, p, 1, &error), SPT_ARGUMENT, "room");
    SAYS(spt_scores(model, event, p, 1, &m, &error), SPT_ARGUMENT, "room");
    SAYS(spt_explain(model, event, 2, parts, 4, &m, &error), SPT_ARGUMENT, "candidates");
    SAYS(spt_event_text(event, "a", 1, &error), SPT_ARGUMENT, "no tokenizer");
    SAYS(spt_event_keep(event, 1, &error), SPT_ARGUMENT, "cannot take a step back");
    void *after = bytes_of(model, &m);
    n_failed += n != m || memcmp(before, after, n) != 0;
    spt_free(before);
    spt_free(after);
    GOOD(spt_learn(model, event, 0, 1.0, &error));
    GOOD(spt_top(model, event, best, 2, &n, &error));
    n_failed += n != 2 || best[0].label != 0;
    SAYS(spt_event_text(text, "a", 1, &error), SPT_ARGUMENT, "call spt_event_candidate");
    GOOD(spt_event_candidate(text, &error));
    GOOD(spt_event_text(text, "a b", 3, &error));
    SAYS(spt_event_add(text, "c", 1, 1.0, &error), SPT_ARGUMENT, "takes no more features");
    SAYS(spt_event_text(text, "c", 1, &error), SPT_ARGUMENT, "takes no more features");
    GOOD(spt_event_candidate(text, &error));
    GOOD(spt_event_add(text, "c", 1, 1.0, &error));
    SAYS(spt_event_text(text, "a", 1, &error), SPT_ARGUMENT, "a text must be all of them");
    GOOD(spt_learn(texts, text, 1, 1.0, &error));
    GOOD(spt_predict(texts, text, &answer, &error));
    n_failed += answer.label != 1;
    spt_event_free(asked);
    spt_event_free(text);
    spt_event_free(event);
    spt_close(other);
    spt_close(texts);
    spt_close(model);
}

/* Steps, and which cannot be taken back. */
static void steps(void)
{
    spt_model *model, *other;
    spt_event *event, *asked;
    spt_step *step;
    size_t n, m;
    GOOD(spt_new("adaptive", NULL, "{}", &model, &error));
    GOOD(spt_new("arow", NULL, NULL, &other, &error));
    GOOD(spt_event_new(model, &event, &error));
    GOOD(spt_event_new(other, &asked, &error));
    SAYS(spt_event_keep(asked, 1, &error), SPT_ARGUMENT, "cannot take a step back; Perceptron");
    GOOD(spt_event_text(event, "a word of more than fifteen bytes", 33, &error));
    GOOD(spt_learn_as(model, event, "yes", 3, 1.0, &error));
    n_failed += spt_event_step(event) != NULL; /* it keeps nothing yet */
    GOOD(spt_event_keep(event, 1, &error));
    GOOD(spt_learn_as(model, event, "no", 2, 1.0, &error));
    step = spt_event_step(event);
    n_failed += step == NULL || spt_event_step(event) != NULL;
    void *before = bytes_of(model, &n);
    SAYS(spt_undo(model, event, NULL, &error), SPT_ARGUMENT, "step is NULL");
    SAYS(spt_undo(other, asked, step, &error), SPT_ARGUMENT, "another model's");
    SAYS(spt_undo(model, asked, step, &error), SPT_ARGUMENT, "made for another model");
    void *after = bytes_of(model, &m);
    n_failed += n != m || memcmp(before, after, n) != 0;
    spt_free(before);
    GOOD(spt_undo(model, event, step, &error));
    SAYS(spt_undo(model, event, step, &error), SPT_ARGUMENT, "taken back already");
    GOOD(spt_learn_as(model, event, "no", 2, 1.0, &error)); /* the event is the step's */
    GOOD(spt_event_add(event, "a", 1, 1.0, &error)); /* another one begins */
    GOOD(spt_learn_as(model, event, "no", 2, 1.0, &error)); /* that step goes with the event */
    spt_step_free(step);
    spt_step_free(NULL);
    spt_event_free(event);
    spt_event_free(asked);
    spt_close(other);
    spt_close(model);
    GOOD(spt_open_memory(after, m, SPT_MAPPED, &model, &error));
    GOOD(spt_event_new(model, &event, &error));
    SAYS(spt_event_keep(event, 1, &error), SPT_READ_ONLY, "read only");
    spt_event_free(event);
    spt_close(model);
    spt_free(after);
}

/* Events and labels outlive a delta that was learned; steps do not. */
static void merges(void)
{
    spt_model *base, *model, *merged = NULL;
    spt_event *event, *other;
    spt_answer before = SPT_ANSWER, after = SPT_ANSWER;
    void *p, *delta;
    size_t n, length;
    GOOD(spt_new("mira", "{\"hash_seed\": 1}", "{}", &base, &error));
    GOOD(spt_event_new(base, &event, &error));
    GOOD(spt_event_text(event, "a goal", 6, &error));
    GOOD(spt_learn_as(base, event, "sport", 5, 1.0, &error));
    p = bytes_of(base, &n);
    GOOD(spt_open_memory(p, n, 0, &model, &error));
    spt_free(p);
    GOOD(spt_event_new(model, &other, &error));
    GOOD(spt_event_text(other, "a vote", 6, &error));
    GOOD(spt_learn_as(model, other, "politics", 8, 1.0, &error));
    const spt_model *const twice[] = {model, model}, *const none[] = {NULL};
    SAYS(spt_merge(NULL, 1, NULL, &merged, &error), SPT_ARGUMENT, "no models to merge");
    SAYS(spt_merge(twice, 0, NULL, &merged, &error), SPT_ARGUMENT, "no models to merge");
    SAYS(spt_merge(none, 1, NULL, &merged, &error), SPT_ARGUMENT, "models[0] is NULL");
    SAYS(spt_merge(twice, 2, base, &merged, &error), SPT_ARGUMENT, "models[1] is models[0] again");
    SAYS(spt_merge(twice, 1, base, NULL, &error), SPT_ARGUMENT, "merged is NULL");
    SAYS(spt_delta(model, base, UINT64_MAX, &delta, &length, &error), SPT_ARGUMENT, "too large");
    GOOD(spt_delta(model, base, 3, &delta, &length, &error));
    const void *const deltas[] = {delta};
    SAYS(spt_apply(base, deltas, &length, 0, &error), SPT_ARGUMENT, "there are no deltas");
    SAYS(spt_apply(model, deltas, &length, 1, &error), SPT_ARGUMENT, "nothing has changed");
    size_t cut = length - 1;
    SAYS(spt_apply(base, deltas, &cut, 1, &error), SPT_DAMAGED, "deltas[0] is damaged");
    GOOD(spt_event_keep(event, 1, &error));
    spt_step *step = spt_event_step(event);
    const char *label = spt_label(base, 0, NULL);
    GOOD(spt_predict(base, event, &before, &error));
    GOOD(spt_apply(base, deltas, &length, 1, &error));
    n_failed += label != spt_label(base, 0, NULL) || spt_labels(base) != 2;
    n_failed += spt_label_find(base, "politics", 8) != 1 || step != NULL;
    GOOD(spt_event_text(other, "a vote", 6, &error));
    GOOD(spt_predict(base, event, &after, &error)); /* the same event, scored anew */
    GOOD(spt_learn(base, event, 0, 1.0, &error));
    step = spt_event_step(event);
    GOOD(spt_delta(base, base, 0, &p, &n, &error));
    const void *const nothing[] = {p};
    GOOD(spt_apply(base, nothing, &n, 1, &error)); /* which changes nothing */
    GOOD(spt_undo(base, event, step, &error));
    spt_free(p);
    spt_step_free(step);
    GOOD(spt_learn(base, event, 0, 1.0, &error));
    step = spt_event_step(event);
    p = bytes_of(base, &n);
    spt_event_free(other);
    spt_close(model);
    GOOD(spt_open_memory(p, n, 0, &model, &error));
    spt_free(p);
    GOOD(spt_event_new(model, &other, &error));
    GOOD(spt_event_text(other, "an atom", 7, &error));
    GOOD(spt_learn_as(model, other, "science", 7, 1.0, &error));
    GOOD(spt_delta(model, base, 0, &p, &n, &error));
    const void *const more[] = {p};
    GOOD(spt_apply(base, more, &n, 1, &error));
    SAYS(spt_undo(base, event, step, &error), SPT_ARGUMENT, "step was taken before spt_apply");
    GOOD(spt_predict(base, event, &after, &error));
    spt_step_free(step);
    spt_free(p);
    spt_free(delta);
    spt_event_free(event);
    spt_event_free(other);
    spt_close(model);
    spt_close(base);
}

static void odd_models(void)
{
    spt_model *model;
    spt_event *event;
    spt_answer answer = SPT_ANSWER;
    spt_part parts[2];
    size_t n;
    GOOD(spt_new("voted", "{\"degree\": 2}", NULL, &model, &error));
    GOOD(spt_event_new(model, &event, &error));
    GOOD(spt_learn_as(model, event, "a", 1, 1.0, &error));
    SAYS(spt_explain(model, event, 0, parts, 2, &n, &error), SPT_ARGUMENT, "kernel");
    SAYS(spt_explain(model, event, 1, parts, 2, &n, &error), SPT_ARGUMENT, "label");
    spt_event_free(event);
    spt_close(model);
    GOOD(spt_new("mira", "{\"missing\": \"skip_nan\"}", NULL, &model, &error));
    GOOD(spt_event_new(model, &event, &error));
    GOOD(spt_event_add(event, "a", 1, NAN, &error));
    GOOD(spt_event_add_int(event, 1, NAN, &error));
    GOOD(spt_event_add(event, "a", 1, 1.0, &error));
    spt_event_free(event);
    spt_close(model);
    GOOD(spt_new("mira", "{\"degree\": 2, \"max_pairs\": 1}", NULL, &model, &error));
    GOOD(spt_event_new(model, &event, &error));
    for (int i = 0; i < 3; i++)
        GOOD(spt_event_add_int(event, i, 1.0, &error));
    SAYS(spt_learn_as(model, event, "a", 1, 1.0, &error), SPT_ARGUMENT, "max_pairs");
    n_failed += spt_labels(model) != 0;
    spt_event_free(event);
    spt_close(model);
    GOOD(spt_new("perceptron", NULL, NULL, &model, &error));
    GOOD(spt_event_new(model, &event, &error));
    SAYS(spt_learn_as(model, event, "spam", 4, 1.0, &error), SPT_ARGUMENT, "neither of the two");
    GOOD(spt_learn_as(model, event, "True", 4, 1.0, &error));
    spt_event_free(event);
    spt_close(model);
}

/* The file is replaced: the model knows. Ten thousand are opened and closed. */
static void replaced(const char *path)
{
    spt_model *model, *opened;
    GOOD(spt_new("adaptive", NULL, "{}", &model, &error));
    GOOD(spt_save(model, path, &error));
    GOOD(spt_open(path, SPT_MAPPED, &opened, &error));
    n_failed += spt_is_stale(opened) != 0 || spt_is_stale(model) != 0;
    GOOD(spt_save(model, path, &error));
    n_failed += spt_is_stale(opened) != 1 || spt_is_read_only(opened) != 1;
    SAYS(spt_save(model, "/none/such/model", &error), SPT_SYSTEM, "cannot be written");
    for (int i = 0; i < 2000; i++) {
        spt_close(opened);
        GOOD(spt_open(path, i % 2 ? SPT_MAPPED : 0, &opened, &error));
    }
    spt_close(opened);
    spt_close(model);
}

int main(void)
{
    char path[] = "/tmp/callsXXXXXX";
    int number = mkstemp(path);
    new_models();
    files();
    events();
    sets();
    candidates();
    steps();
    merges();
    odd_models();
    replaced(path);
    remove(path);
    (void)number;
    for (int code = -1; code < 10; code++)
        n_failed += strlen(spt_message(code)) == 0;
    return n_failed != 0;
}
