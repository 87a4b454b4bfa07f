/* Names, events and learners for the engine's own tests. */

#ifndef KIT_H
#define KIT_H

#include "check.h"

#include "names/rising.h"
#include "path/batch.h"
#include "path/path.h"
#include "voted/arrays.h"
#include "exchange/delta.h"
#include "table/arrays.h"
#include "exchange/merge.h"
#include "machine/arrays.h"

enum {
    KIT_MOST = 24,    /* features of an event */
    KIT_NAMES = 4096, /* names that have bytes of their own */
    KIT_BEFORE = 16,  /* bytes that may be read before a name's */
    KIT_LONG = 48
};

static uint8_t kit_texts[KIT_NAMES][KIT_BEFORE + KIT_LONG];

/* Write all texts, before any key is made. */
static inline void kit_begin(int argc, char **argv)
{
    check_begin(argc, argv);
    for (int i = 0; i < KIT_NAMES; i++)
        snprintf((char *)kit_texts[i] + KIT_BEFORE, KIT_LONG,
                 i % 2 ? "a name of more than fifteen bytes %d" : "word%d", i);
}

/* Name number i: an int, a short text, a float, or a long text. */
static inline sp_key kit_key(uint32_t i)
{
    const uint8_t *p = kit_texts[i % KIT_NAMES] + KIT_BEFORE;
    double fraction = i + 0.5;
    uint64_t bits;
    switch (i % 4) {
    case 0:
        return sp_key_word(SP_KEY_INT, i);
    case 2:
        memcpy(&bits, &fraction, 8);
        return i % 8 == 2 ? sp_key_word(SP_KEY_FLOAT, bits)
                          : sp_key_text(SP_KEY_STR, p, strlen((const char *)p));
    case 1:
        return sp_key_text(SP_KEY_BYTES, p, strlen((const char *)p));
    default:
        return sp_key_text(SP_KEY_STR, p, strlen((const char *)p));
    }
}

/* A labelled event, with names that rise. */
typedef struct kit_sample {
    int n;
    uint32_t names[KIT_MOST];
    double values[KIT_MOST];
    ptrdiff_t y;
    double u;
} kit_sample;

/* Up to KIT_MOST of n_names names, and a label below n_labels that mostly follows from the first;
   `first`: the lowest name. */
static inline kit_sample kit_random(uint32_t first, uint32_t n_names, uint32_t n_labels)
{
    static const double values[] = {1.0, 1.0, 2.0, -1.0, 0.5, 0.1, 3.75, -0.3};
    kit_sample sample = {.n = 0};
    int most = 1 + (int)check_below(KIT_MOST - 1);
    uint32_t gap = n_names / (uint32_t)most;
    uint32_t name = first + check_below(gap + 1);
    while (sample.n < most && name < first + n_names) {
        sample.names[sample.n] = name;
        sample.values[sample.n] = values[check_below(8)];
        sample.n++;
        name += 1 + check_below(2 * gap + 1);
    }
    sample.y = check_below(4) ? (ptrdiff_t)(sample.names[0] % n_labels)
                              : (ptrdiff_t)check_below(n_labels);
    sample.u = 1.0;
    return sample;
}

/* The same behind a number that all events have, which soon is a column of AdaptiveClassifier's. */
static inline kit_sample kit_random_column(uint32_t first, uint32_t n_names, uint32_t n_labels)
{
    kit_sample sample = kit_random(first + 1, n_names, n_labels);
    sample.n = SP_MIN(sample.n, KIT_MOST - 1);
    for (int j = sample.n; j > 0; j--) {
        sample.names[j] = sample.names[j - 1];
        sample.values[j] = sample.values[j - 1];
    }
    sample.names[0] = 0;
    sample.values[0] = 1.0 + check_below(100) / 8.0;
    sample.n += 1;
    return sample;
}

/* Write an event as a door does. -1 without memory. */
static inline int kit_write(const sp_learner *learner, sp_event *event, const kit_sample *sample)
{
    if (sp_event_begin(event, &learner->index, sample->n, learner->intercept) < 0)
        return -1;
    sp_writer writer = sp_event_writer(event);
    for (int i = 0; i < sample->n; i++)
        sp_writer_add(&writer, kit_key(sample->names[i]), sample->values[i]);
    sp_event_end(event, &writer);
    return 0;
}

/* Labels are numbered as they come: the sample's, or the next one. */
static inline ptrdiff_t kit_label(const sp_learner *learner, const kit_sample *sample)
{
    return SP_MIN(sample->y, sp_learner_labels(learner));
}

/* -1 without memory. */
static inline int kit_learn(sp_learner *learner, sp_event *event, const kit_sample *sample)
{
    if (kit_write(learner, event, sample) < 0)
        return -1;
    int failed = sp_learner_learn(learner, event, kit_label(learner, sample), sample->u);
    if (failed == 0)
        sp_event_settle(event, &learner->index);
    return failed;
}

/* What it answers: the label, and its score. -2 without memory. */
static inline ptrdiff_t kit_predict(sp_learner *learner, sp_event *event, const kit_sample *sample,
                                    double *score)
{
    if (kit_write(learner, event, sample) < 0 || sp_learner_score(learner, event) < 0)
        return -2;
    sp_answer answer = sp_learner_answer(learner, event);
    ptrdiff_t best = answer.verdict->best;
    bool one = !sp_learner_several(learner) || best < 0;
    sp_learner_decide(learner, event);
    *score = event->n_scores ? sp_learner_decision(event, answer.kind)[one ? 0 : best] : 0.0;
    sp_event_settle(event, &learner->index);
    return best;
}

/* A learner's parameters, by name. */
typedef struct kit_kind {
    const char *name;
    sp_rule rule;
    int average;
    bool pocket;
    int serve;
    sp_slot_type most;
    int bits;
    int degree; /* of VotedPerceptron */
    uint32_t budget;
    uint32_t labels; /* that it is taught */
} kit_kind;

static const kit_kind kit_kinds[] = {
    {"plain", {.kind = SP_RULE_PERCEPTRON}, SP_AVERAGE_NONE, false, 0, 0, 0, 1, 0, 2},
    {"averaged",
     {.kind = SP_RULE_PERCEPTRON, .margin = 0.1},
     SP_AVERAGE_UNIFORM,
     false,
     SP_SERVE_BEST,
     0,
     0,
     1,
     0,
     2},
    {"hashed",
     {.kind = SP_RULE_PERCEPTRON},
     SP_AVERAGE_UNIFORM,
     false,
     SP_SERVE_BEST,
     0,
     9,
     1,
     0,
     2},
    {"multiclass",
     {.kind = SP_RULE_MULTICLASS},
     SP_AVERAGE_UNIFORM,
     false,
     SP_SERVE_BEST,
     0,
     0,
     1,
     0,
     3},
    {"fading",
     {.kind = SP_RULE_MULTICLASS},
     SP_AVERAGE_EXPONENTIAL,
     true,
     SP_SERVE_BEST,
     0,
     0,
     1,
     0,
     6},
    {"limited",
     {.kind = SP_RULE_MULTICLASS},
     SP_AVERAGE_UNIFORM,
     true,
     SP_SERVE_BEST,
     40,
     0,
     1,
     0,
     3},
    {"mira",
     {.kind = SP_RULE_MIRA, .C = 1.0, .violators = SP_VIOLATORS_UNIFORM},
     SP_AVERAGE_UNIFORM,
     false,
     SP_SERVE_BEST,
     0,
     0,
     1,
     0,
     9},
    {"arow",
     {.kind = SP_RULE_AROW, .r = 1.0, .intercept = true},
     SP_AVERAGE_NONE,
     false,
     0,
     0,
     0,
     1,
     0,
     3},
    {"adaptive",
     {.kind = SP_RULE_ADAPTIVE, .eta = 1.0, .naive_bayes = true, .intercept = true},
     SP_AVERAGE_NONE,
     false,
     0,
     0,
     0,
     1,
     0,
     2},
    {"adaptive of many",
     {.kind = SP_RULE_ADAPTIVE, .eta = 1.0, .forget = 0.01, .naive_bayes = true, .intercept = true},
     SP_AVERAGE_NONE,
     false,
     0,
     0,
     0,
     1,
     0,
     6},
    {"adaptive, limited",
     {.kind = SP_RULE_ADAPTIVE, .eta = 1.0},
     SP_AVERAGE_NONE,
     false,
     0,
     40,
     0,
     1,
     0,
     3},
    {"fading, hashed",
     {.kind = SP_RULE_MULTICLASS},
     SP_AVERAGE_EXPONENTIAL,
     true,
     SP_SERVE_BEST,
     0,
     24, /* more numbers than are found directly */
     1,
     0,
     6},
    {"adaptive, hashed",
     {.kind = SP_RULE_ADAPTIVE, .eta = 1.0, .naive_bayes = true, .intercept = true},
     SP_AVERAGE_NONE,
     false,
     0,
     0,
     24,
     1,
     0,
     2},
    {"adaptive of many, hashed",
     {.kind = SP_RULE_ADAPTIVE, .eta = 1.0, .watches = true, .naive_bayes = true},
     SP_AVERAGE_NONE,
     false,
     0,
     0,
     8,
     1,
     0,
     9},
    {"voted", {.kind = SP_RULE_VOTED}, SP_AVERAGE_NONE, false, 0, 0, 0, 1, 0, 3},
    {"kernel, hashed", {.kind = SP_RULE_VOTED}, SP_AVERAGE_NONE, false, 0, 0, 9, 2, 20, 2},
    {"kernel", {.kind = SP_RULE_VOTED}, SP_AVERAGE_NONE, false, 0, 0, 0, 2, 0, 2},
    {"budgeted", {.kind = SP_RULE_VOTED}, SP_AVERAGE_NONE, false, 0, 0, 0, 1, 20, 3},
};
enum { KIT_KINDS = sizeof(kit_kinds) / sizeof(*kit_kinds) };

/* An untrained learner. -1 without memory; sp_learner_free is due in either case. */
static inline int kit_learner(sp_learner *learner, const kit_kind *kind)
{
    bool intercept = kind->rule.kind != SP_RULE_ADAPTIVE && kind->rule.kind != SP_RULE_MULTILABEL;
    sp_vectors vectors = {kind->average, 50.0, kind->pocket, kind->serve};
    int failed = sp_learner_init(learner, kind->rule, &vectors, intercept, kind->most, kind->bits,
                                 7);
    learner->voters.degree = kind->degree;
    learner->voters.budget = kind->budget;
    return failed;
}

/* Everything that is kept once goes from one learner to another of the same kind. */
static inline void kit_take_counts(sp_learner *to, const sp_learner *from)
{
    to->n_seen = from->n_seen;
    to->n_updates = from->n_updates;
    to->n_mistakes = from->n_mistakes;
    to->serve = from->serve;
    to->ceiling = from->ceiling;
    memcpy(to->fits, from->fits, sizeof(to->fits));
    to->table.c = from->table.c;
    to->table.s = from->table.s;
    to->table.fold = from->table.fold;
    to->table.epoch = from->table.epoch;
    if (sp_learner_can(to, SP_CAN_UNDO_SNAPSHOT)) {
        sp_model_numbers once = sp_learner_model_numbers(from);
        double *numbers = (double *)calloc(sp_model_numbers_count(&once) + 1, sizeof(double));
        sp_learner_model_numbers_write(from, numbers);
        CHECK_SOUND(sp_learner_model_numbers_read(to, numbers));
        free(numbers);
    }
}

/* An untrained learner that knows as many labels; -1 without memory. */
static inline int kit_learner_like(sp_learner *to, const kit_kind *kind, const sp_learner *from)
{
    if (kit_learner(to, kind) < 0)
        return -1;
    if (to->answer == SP_ANSWER_TWO
        && sp_learner_expect(to, sp_learner_labels(from), from->two.positive) < 0)
        return -1;
    if (from->machine->rows != SP_ROWS_NONE && sp_learner_expect_rows(to) != 0)
        return -1;
    kit_take_counts(to, from);
    return 0;
}

/* Fill in such a learner from flat arrays, which the rows' marks belong to. 0, SP_ARRAYS_, or -1
   where there is no memory for the rest. */
static inline int kit_read_flat(sp_learner *to, sp_arrays *flat, const uint32_t *marks,
                                size_t n_marks, ptrdiff_t n_outputs, bool in_place)
{
    int wrong = 0;
    int fault = in_place ? sp_arrays_map(flat, &to->index, &to->table, n_outputs)
                         : sp_arrays_read(flat, &to->index, &to->table, n_outputs, 0,
                                          SP_ARRAYS_DEPTH);
    sp_arrays_free(flat);
    if (!fault && !in_place && sp_learner_slots_fault(to))
        fault = SP_ARRAYS_WEIGHT;
    if (!fault && sp_learner_ready(to) < 0)
        return -1;
    if (!fault && to->machine->rows != SP_ROWS_NONE)
        wrong = sp_machine_rows_read(to, marks, n_marks, in_place);
    return wrong == SP_MARKS_MEMORY ? -1 : wrong ? SP_ARRAYS_WEIGHT : fault;
}

static inline void kit_mix(uint64_t *h, const void *start, size_t n)
{
    const uint8_t *p = (const uint8_t *)start;
    for (size_t i = 0; i < n; i++)
        *h = (*h ^ p[i]) * UINT64_C(0x100000001B3);
}

/* All that a shard needs to know of a learner that nothing was mixed with. */
static inline sp_shard kit_shard(const sp_learner *learner)
{
    static const int32_t places[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    static const double signs[] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
    sp_shard shard;
    memset(&shard, 0, sizeof(shard));
    shard.learner = learner;
    shard.n_slots = shard.first = learner->index.n_slots;
    shard.labels = shard.outputs = places;
    shard.signs = signs;
    shard.plain = true;
    return shard;
}

static inline void kit_mix_voters(uint64_t *h, const sp_learner *learner)
{
    const sp_voters *v = &learner->voters;
    for (ptrdiff_t k = 0; k < v->n_voters; k++)
        for (ptrdiff_t i = v->voters[k].start; i < v->voters[k].end; i++) {
            kit_mix(h, &v->voters[k].turns[i].a, sizeof(double));
            kit_mix(h, &v->voters[k].turns[i].B, sizeof(double));
            kit_mix(h, &v->voters[k].turns[i].update, sizeof(uint32_t));
        }
    for (ptrdiff_t i = v->start; i < v->end; i++)
        kit_mix(h, &v->updates[i].time, sizeof(double));
    sp_slot_type *rising = sp_index_rising(&learner->index);
    CHECK(rising != NULL);
    for (sp_slot_type k = SP_SLOTS_RESERVED; k < learner->index.n_slots; k++) {
        const sp_mentions *m = sp_mentions_of(v, rising[k]);
        for (uint32_t i = m ? m->start : 0; m && i < m->end; i++)
            kit_mix(h, &m->mentions[i].x, sizeof(double));
    }
    free(rising);
    kit_mix(h, &v->now, sizeof(double));
    kit_mix(h, &v->since, sizeof(double));
}

/* A number that stands for all that a learner has learned. */
static inline uint64_t kit_digest(const sp_learner *learner)
{
    const sp_adaptive *a = &learner->adaptive;
    sp_shard shard = kit_shard(learner);
    uint64_t h[2];
    CHECK_SAME(sp_delta_digest(&shard, NULL, 0, h), 0);
    kit_mix(h, &learner->n_seen, sizeof(uint64_t));
    kit_mix(h, &learner->n_updates, sizeof(uint64_t));
    kit_mix(h, &learner->n_mistakes, sizeof(uint64_t));
    kit_mix(h, &learner->answer, sizeof(int));
    kit_mix(h, &learner->two, sizeof(learner->two));
    kit_mix(h, &learner->ceiling, sizeof(learner->ceiling));
    kit_mix(h, learner->fits, sizeof(learner->fits));
    kit_mix(h, learner->serve.scale, sizeof(learner->serve.scale));
    kit_mix(h, learner->serve.T, sizeof(learner->serve.T));
    kit_mix(h, &learner->serve.run, 2 * sizeof(uint64_t));
    kit_mix(h, &learner->table.c, sizeof(double));
    kit_mix(h, &learner->table.s, sizeof(double));
    kit_mix(h, &learner->table.fold, sizeof(uint32_t));
    kit_mix(h, &learner->table.epoch, sizeof(double));
    kit_mix(h, &learner->table.n_outputs, sizeof(ptrdiff_t));
    kit_mix(h, &a->n_labels, sizeof(ptrdiff_t));
    kit_mix(h, &a->T, 7 * sizeof(double)); /* to Gtau */
    for (ptrdiff_t i = 0; i < a->columns.n; i++) {
        ptrdiff_t at = a->columns.hashed ? a->columns.turns[a->columns.n + i] : i;
        uint32_t number = sp_index_number(&learner->index, a->columns.slots[at]);
        kit_mix(h, &number, sizeof(number));
    }
    if (a->D != NULL) {
        kit_mix(h, a->D, (size_t)a->n_labels * sizeof(double));
        kit_mix(h, a->w0, (size_t)sp_adaptive_outputs(a) * sizeof(double));
        kit_mix(h, a->G0, (size_t)sp_adaptive_outputs(a) * sizeof(double));
    }
    if (sp_learner_can(learner, SP_CAN_VOTE))
        kit_mix_voters(h, learner);
    return h[0] ^ h[1];
}

/* Nothing is wrong with what a learner holds. */
#define KIT_SOUND(learner)                      \
    do {                                        \
        CHECK_SOUND(sp_learner_fault(learner)); \
    } while (0)

#endif
