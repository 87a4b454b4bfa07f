/* many/: models of more than two labels are merged, and go from one to another as deltas; some of
   them had two labels only, or none. */

#include "kit.h"

#include "rows/rows.h"
#include "multilabel/arrays.h"

enum { EVENTS = 60, NAMES = 90, LABELS = 6 };

static const kit_kind kinds[] = {
    {"many",
     {.kind = SP_RULE_ADAPTIVE, .eta = 1.0, .forget = 0.01, .naive_bayes = true, .intercept = true},
     SP_AVERAGE_NONE, false, 0, 0, 0, 1, 0, LABELS},
    {"many, limited",
     {.kind = SP_RULE_ADAPTIVE, .eta = 1.0, .naive_bayes = true, .intercept = true},
     SP_AVERAGE_NONE, false, 0, 40, 0, 1, 0, LABELS},
    {"many, hashed",
     {.kind = SP_RULE_ADAPTIVE, .eta = 1.0, .watches = true, .naive_bayes = true},
     SP_AVERAGE_NONE, false, 0, 0, 8, 1, 0, LABELS},
};

/* Events with words, and a number that all of them have. */
static void train(sp_learner *learner, uint32_t first, uint32_t labels, int events)
{
    sp_event event;
    sp_event_init(&event);
    for (int i = 0; i < events; i++) {
        kit_sample sample = kit_random_column(first, NAMES, labels);
        CHECK_SAME(kit_learn(learner, &event, &sample), 0);
    }
    sp_event_free(&event);
}

/* A learner as a shard of a merged one, of which its labels are the first. */
typedef struct side {
    sp_shard shard;
    int32_t labels[LABELS], outputs[LABELS];
    double signs[LABELS];
} side;

static void look(side *s, const sp_learner *learner, const sp_learner *base, ptrdiff_t labels)
{
    bool pair = !sp_learner_several(learner);
    s->shard = kit_shard(learner);
    for (int32_t k = 0; k < labels; k++) {
        s->labels[k] = k < sp_learner_labels(learner) ? k : -1;
        s->outputs[k] = pair && k < sp_learner_labels(learner) ? 0 : s->labels[k];
        s->signs[k] = pair && k != learner->two.positive ? -1.0 : 1.0;
    }
    s->shard.labels = s->labels;
    s->shard.outputs = s->outputs;
    s->shard.signs = s->signs;
    s->shard.plain = !pair;
    s->shard.base = &base->index;
    s->shard.n = (double)(learner->n_seen - base->n_seen);
}

/* An untrained learner with so many labels. */
static void begin(sp_learner *to, const kit_kind *kind, ptrdiff_t labels, int positive)
{
    CHECK_SAME(kit_learner(to, kind), 0);
    CHECK_SAME(sp_learner_expect(to, labels, positive), 0);
    CHECK_SAME(sp_table_add_outputs(&to->table, (labels > 2 ? labels : 1) - to->table.n_outputs),
               0);
}

/* A base that has been taught so many labels, and two that went on from it and know more. */
static void begin_parts(const kit_kind *kind, sp_learner *base, sp_learner *parts,
                        const uint32_t *labels)
{
    CHECK_SAME(kit_learner(base, kind), 0);
    if (labels[0])
        train(base, 0, labels[0], EVENTS);
    for (int k = 0; k < 2; k++) {
        CHECK_SAME(sp_learner_copy(&parts[k], base), 0);
        train(&parts[k], (uint32_t)k * NAMES, labels[1 + k], EVENTS);
    }
}

/* Two, merged: counts add up; without memory nothing is merged. */
static void test_merge(const kit_kind *kind, const uint32_t *known)
{
    sp_learner base, parts[2], merged;
    side sides[3];
    int culprit;
    int fault = SP_SHARD_MEMORY;
    begin_parts(kind, &base, parts, known);
    ptrdiff_t labels = SP_MAX(sp_learner_labels(&parts[0]), sp_learner_labels(&parts[1]));
    CHECK(labels > 2);
    for (int64_t n = 1; fault; n++) {
        sp_shard shards[2];
        look(&sides[2], &base, &base, labels);
        for (int k = 0; k < 2; k++) {
            look(&sides[k], &parts[k], &base, labels);
            shards[k] = sides[k].shard;
        }
        begin(&merged, kind, labels, parts[0].two.positive);
        check_fail_at(n);
        fault = sp_learners_merge(&merged, &sides[2].shard, shards, 2, &culprit);
        CHECK(check_has_failed() || !fault);
        CHECK(fault <= SP_SHARD_MEMORY);
        for (int k = 0; k < 2; k++)
            sp_shard_free(&shards[k]);
        if (fault)
            sp_learner_free(&merged);
    }
    KIT_SOUND(&merged);
    CHECK_SAME(merged.n_seen, base.n_seen + 2 * EVENTS);
    CHECK_EQUAL(merged.adaptive.T,
                parts[0].adaptive.T + parts[1].adaptive.T - base.adaptive.T);
    CHECK(kind->bits || kind->most || merged.adaptive.columns.n == 1);
    train(&merged, 0, LABELS, 5);
    KIT_SOUND(&merged);
    sp_learner_free(&merged);
    sp_learner_free(&parts[0]);
    sp_learner_free(&parts[1]);
    sp_learner_free(&base);
}

static void *room(size_t n, size_t size)
{
    return calloc(n + 1, size); /* never NULL */
}

/* What one has learned since a base. */
static void write_delta(sp_delta *delta, const sp_learner *learner, const sp_learner *base)
{
    sp_shard start = kit_shard(base), shard = kit_shard(learner);
    shard.base = &base->index;
    CHECK_SAME(sp_delta_measure(delta, &shard, &start), 0);
    delta->slots = (uint32_t *)room(delta->n_rows, sizeof(uint32_t));
    delta->rows = (double *)room(delta->n_rows, (size_t)learner->table.width * sizeof(double));
    delta->blocks = (uint32_t *)room(delta->n_blocks, sizeof(uint32_t));
    delta->keys = (sp_key *)room(delta->n_keys, sizeof(sp_key));
    delta->texts = (uint8_t *)room(delta->n_texts, 1);
    delta->marks = (uint32_t *)malloc(delta->n_marks * SP_MARKS_WIDTH * sizeof(uint32_t));
    if (sp_index_is_limited(&learner->index)) {
        delta->renamed = (uint32_t *)room(delta->n_renamed, sizeof(uint32_t));
        delta->stamps = (uint32_t *)room(delta->n_stamps, sizeof(uint32_t));
    }
    sp_delta_write(delta, &shard, &start);
    sp_shard_free(&shard);
}

static void free_delta(sp_delta *delta)
{
    free(delta->slots);
    free(delta->rows);
    free(delta->blocks);
    free(delta->keys);
    free(delta->texts);
    free(delta->marks);
    free(delta->renamed);
    free(delta->stamps);
    sp_delta_free(delta);
}

/* The learner again, of the base and what it has learned since; that allocation fails, unless it is
   0. 0, or what is wrong. */
static int go_on(sp_learner *to, const kit_kind *kind, const sp_learner *base,
                 const sp_learner *learner, const sp_delta *delta, int64_t fail_at)
{
    ptrdiff_t labels = sp_learner_labels(learner);
    sp_learner laid;
    side sides[2];
    sp_shard shard;
    int culprit;
    sp_model_numbers once = sp_learner_model_numbers(learner);
    double *numbers = (double *)room(sp_model_numbers_count(&once), sizeof(double));
    sp_learner_model_numbers_write(learner, numbers);
    begin(&laid, kind, labels, learner->two.positive);
    begin(to, kind, labels, learner->two.positive);
    CHECK(sp_learner_model_numbers_read(&laid, numbers) == NULL);
    free(numbers);
    laid.n_seen = learner->n_seen;
    laid.n_updates = learner->n_updates;
    laid.n_mistakes = learner->n_mistakes;
    laid.ceiling = learner->ceiling;
    check_fail_at(fail_at);
    sp_delta own = *delta;
    own.numbers = NULL; /* another's, as are shadows */
    own.forms.shadows = NULL;
    int fault = sp_delta_overlay(&own, &laid, base, laid.table.n_outputs, 0, SP_ARRAYS_DEPTH,
                                 &shard);
    if (!fault) {
        look(&sides[0], &laid, base, labels);
        look(&sides[1], base, base, labels);
        sides[0].shard.n_slots = shard.n_slots;
        sides[0].shard.stamps = shard.stamps;
        sides[0].shard.keys = shard.keys;
        sides[0].shard.keys_from = shard.keys_from;
        fault = sp_learners_merge(to, &sides[1].shard, &sides[0].shard, 1, &culprit);
    }
    CHECK(!fail_at || check_has_failed() || !fault);
    sp_delta_free(&own);
    sp_learner_free(&laid);
    return fault;
}

/* A base and a delta are the learner again, or without memory nothing; damaged marks are refused,
   or are some that a learner can have. */
static void test_delta(const kit_kind *kind, const uint32_t *known)
{
    sp_learner base, parts[2], again;
    sp_delta delta;
    begin_parts(kind, &base, parts, known);
    write_delta(&delta, &base, &base);
    CHECK_SAME(delta.n_rows, 0);
    free_delta(&delta);
    write_delta(&delta, &parts[1], &base);
    CHECK(delta.n_rows > 0 && delta.n_marks > 1);
    int fault = SP_SHARD_MEMORY;
    for (int64_t n = 1; fault; n++) {
        fault = go_on(&again, kind, &base, &parts[1], &delta, n);
        CHECK(fault <= SP_SHARD_MEMORY);
        if (fault)
            sp_learner_free(&again);
    }
    KIT_SOUND(&again);
    CHECK(kit_digest(&again) == kit_digest(&parts[1]));
    sp_learner_free(&again);
    for (int turn = 0; turn < 300; turn++) {
        bool in_marks = check_below(2);
        uint8_t *bytes = in_marks ? (uint8_t *)delta.marks : (uint8_t *)delta.rows;
        size_t size = in_marks ? delta.n_marks * 16 : delta.n_rows * 32;
        uint8_t *byte = bytes + check_below((uint32_t)size), before = *byte;
        *byte = (uint8_t)check_random();
        if (go_on(&again, kind, &base, &parts[1], &delta, 0) == 0)
            KIT_SOUND(&again);
        *byte = before;
        sp_learner_free(&again);
    }
    free_delta(&delta);
    sp_learner_free(&parts[0]);
    sp_learner_free(&parts[1]);
    sp_learner_free(&base);
}

/* A row that becomes dense, gets labels, moves to more lanes and back again, beside one that never
   is. */
static void test_dense(uint32_t labels)
{
    sp_sparse_rows *rows = sp_rows_open();
    sp_sparse row[2] = {{0}, {0}};
    sp_entry room[SP_DENSE_MOST];
    CHECK(rows != NULL);
    for (uint32_t i = 0; i < 3 * labels; i++) {
        const uint32_t k = check_below(labels);
        const bool there = sp_row_has(rows, &row[1], k);
        const sp_entry numbers = {k, (float)k, (float)i, (float)(k + i)};
        const int size = sp_dense_size_for(SP_MIN(labels + check_below(20), SP_DENSE_MOST));
        CHECK_SAME(sp_row_has(rows, &row[0], k), there);
        CHECK_SAME(sp_row_reserve(rows, &row[1], row[1].n + 1), 0);
        if (!there)
            *sp_row_insert(rows, &row[1], k) = numbers;
        if (!row[0].dense || size > (int)row[0].size)
            sp_row_make_dense(rows, &row[0], sp_rows_take(rows, size), size);
        if (!there) {
            sp_dense_add(rows, &row[0], k);
            sp_dense_of(rows, &row[0]).c[k] = numbers.c;
            sp_dense_of(rows, &row[0]).w[2 * k] = numbers.w;
            sp_dense_of(rows, &row[0]).w[2 * k + 1] = numbers.G;
        }
        CHECK(!sp_dense_fault(rows, &row[0]));
        if (i % 16 == 0) {
            CHECK_SAME(sp_row_reserve(rows, &row[0], row[0].n), 0);
            CHECK(row[0].n == 0 || !row[0].dense);
        }
        CHECK_SAME(row[0].n, row[1].n);
        CHECK_SAME(memcmp(sp_row_look(rows, &row[0], room), sp_row_entries(rows, &row[1]),
                          row[1].n * sizeof(sp_entry)),
                   0);
        CHECK_EQUAL(sp_row_numbers(rows, &row[0], k).w, sp_row_numbers(rows, &row[1], k).w);
    }
    sp_rows_free(rows);
}

int main(int argc, char **argv)
{
    static const uint32_t known[][3] = {
        {0, 2, LABELS}, {0, 4, LABELS}, {1, 2, 3}, {2, 2, 4}, {2, LABELS, LABELS}, {4, 4, LABELS},
    };
    kit_begin(argc, argv);
    for (uint32_t labels = 1; labels <= SP_DENSE_MOST; labels += 7)
        test_dense(labels);
    for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
        check_about = kinds[k].name;
        for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
            test_merge(&kinds[k], known[i]);
            test_delta(&kinds[k], known[i]);
        }
    }
    return 0;
}
