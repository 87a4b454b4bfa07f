/* exchange/: learners as flat arrays and back, in place and damaged; deltas, merges and packed
   events. */

#include "kit.h"

#include "rows/marks.h"
#include "exchange/join.h"
#include "exchange/packed.h"

enum { EVENTS = 80, NAMES = 120 };

/* A learner's flat arrays, which are written one behind the other in one block of memory. */
typedef struct arrays {
    sp_arrays flat;
    uint32_t *marks;
    size_t n_marks;
    uint8_t *bytes;
    size_t n_bytes;
} arrays;

static void *place(arrays *a, size_t *at, size_t n, size_t size)
{
    void *p = a->bytes == NULL ? NULL : a->bytes + *at;
    *at += (n * size + 15) & ~(size_t)15;
    return p;
}

static void lay_out(arrays *a, const sp_learner *learner)
{
    sp_arrays *flat = &a->flat;
    size_t at = 0;
    size_t width = (size_t)learner->table.width;
    flat->weights = (double *)place(a, &at, flat->n_weights * width, sizeof(double));
    flat->chunks = (uint32_t *)place(a, &at, 3 * flat->n_chunks, sizeof(uint32_t));
    flat->words = (uint32_t *)place(a, &at, flat->n_words, sizeof(uint32_t));
    flat->slots = (uint32_t *)place(a, &at, flat->n_stored, sizeof(uint32_t));
    flat->texts = (uint8_t *)place(a, &at, flat->n_texts, 1);
    a->marks = (uint32_t *)place(a, &at, a->n_marks, SP_MARKS_WIDTH * sizeof(uint32_t));
    if (sp_index_is_limited(&learner->index))
        flat->stamps = (uint32_t *)place(a, &at, flat->n_keys, sizeof(uint32_t));
    /* the last, so that AddressSanitizer sees who looks for a name beyond them */
    flat->keys = (sp_key *)place(a, &at, flat->n_keys, sizeof(sp_key));
    a->n_bytes = at;
}

static void fill_arrays(arrays *a, const sp_learner *learner)
{
    a->bytes = NULL;
    lay_out(a, learner);
    a->bytes = (uint8_t *)calloc(1, a->n_bytes);
    lay_out(a, learner);
    sp_arrays_write(&a->flat, &learner->index, &learner->table);
}

static void write_arrays(arrays *a, const sp_learner *learner)
{
    memset(a, 0, sizeof(*a));
    CHECK_SAME(sp_arrays_measure(&a->flat, &learner->index, &learner->table), 0);
    fill_arrays(a, learner);
    /* they are counted in the slots that have been written */
    if (learner->machine->rows != SP_ROWS_NONE) {
        a->n_marks = sp_machine_rows_measure(learner, &a->flat);
        free(a->bytes);
        fill_arrays(a, learner);
        sp_machine_rows_write(learner, &a->flat, a->marks);
    }
    if (learner->index.bits == 0)
        sp_arrays_lookup(&a->flat);
    sp_arrays_free(&a->flat);
}

/* 0, SP_ARRAYS_, or -1 where there is no memory for the rest. */
static int read_arrays(arrays *a, sp_learner *to, const kit_kind *kind, const sp_learner *from,
                       bool in_place)
{
    if (kit_learner_like(to, kind, from) < 0)
        return -1;
    a->flat.seed = to->index.seed;
    return kit_read_flat(to, &a->flat, a->marks, a->n_marks, from->table.n_outputs, in_place);
}

static void train(sp_learner *learner, uint32_t first, uint32_t labels, int events)
{
    sp_event event;
    sp_event_init(&event);
    for (int i = 0; i < events; i++) {
        kit_sample sample = sp_learner_can(learner, SP_CAN_UNDO_SNAPSHOT)
                                ? kit_random_column(first, NAMES, labels)
                                : kit_random(first, NAMES, labels);
        CHECK_SAME(kit_learn(learner, &event, &sample), 0);
    }
    sp_event_free(&event);
}

/* Two learners give the same answers. */
static void check_answers(sp_learner *one, sp_learner *two)
{
    sp_event event, other;
    double score, its;
    sp_event_init(&event);
    sp_event_init(&other);
    for (int i = 0; i < EVENTS; i++) {
        kit_sample sample = kit_random(0, 2 * NAMES, 2);
        CHECK_SAME(kit_predict(one, &event, &sample, &score),
                   kit_predict(two, &other, &sample, &its));
        CHECK_EQUAL(score, its);
    }
    sp_event_free(&event);
    sp_event_free(&other);
}

/* Written and read is the same learner; used in place it answers the same. */
static void test_round_trip(const kit_kind *kind)
{
    sp_learner learner, other;
    arrays a;
    CHECK_SAME(kit_learner(&learner, kind), 0);
    train(&learner, 0, kind->labels, EVENTS);
    write_arrays(&a, &learner);
    CHECK_SAME(read_arrays(&a, &other, kind, &learner, false), 0);
    KIT_SOUND(&other);
    CHECK(kit_digest(&other) == kit_digest(&learner));
    check_answers(&learner, &other);
    sp_learner_free(&other);
    CHECK_SAME(read_arrays(&a, &other, kind, &learner, true), 0);
    check_answers(&learner, &other);
    sp_learner_free(&other);
    free(a.bytes);
    sp_learner_free(&learner);
}

/* However arrays are damaged: they are refused, or read into a learner that is sound; in place they
   are refused, or answer something. */
static void test_damaged(const kit_kind *kind, int events)
{
    sp_learner learner, other;
    sp_event event;
    arrays a;
    double score;
    CHECK_SAME(kit_learner(&learner, kind), 0);
    train(&learner, 0, kind->labels, events);
    write_arrays(&a, &learner);
    size_t step = a.n_bytes / 600 + 1;
    for (size_t at = check_below((uint32_t)step); at < a.n_bytes;
         at += 1 + check_below((uint32_t)(2 * step - 1))) {
        uint8_t before = a.bytes[at];
        a.bytes[at] = (uint8_t)check_random();
        if (read_arrays(&a, &other, kind, &learner, false) == 0)
            KIT_SOUND(&other);
        sp_learner_free(&other);
        if (read_arrays(&a, &other, kind, &learner, true) == 0) {
            sp_event_init(&event);
            for (int i = 0; i < 3; i++) {
                kit_sample sample = kit_random(0, NAMES, 2);
                kit_predict(&other, &event, &sample, &score);
            }
            sp_event_free(&event);
        }
        sp_learner_free(&other);
        a.bytes[at] = before;
    }
    free(a.bytes);
    sp_learner_free(&learner);
}

/* A lookup in which every name has a slot that there is not: no name is found. */
static void test_no_slots(const kit_kind *kind)
{
    sp_learner learner, other;
    arrays a;
    CHECK_SAME(kit_learner(&learner, kind), 0);
    train(&learner, 0, kind->labels, EVENTS);
    write_arrays(&a, &learner);
    uint32_t most = 1;
    while (most + 1 < a.flat.n_keys)
        most = 2 * most + 1;
    for (size_t i = 0; i < a.flat.n_words; i++)
        a.flat.words[i] |= a.flat.words[i] ? most : 0;
    CHECK_SAME(read_arrays(&a, &other, kind, &learner, true), 0);
    for (uint32_t i = 0; i < NAMES && most >= a.flat.n_keys; i++) {
        sp_key key = kit_key(i);
        CHECK_SAME(sp_index_find(&other.index, &key, sp_key_hash(&other.index.seed, &key)),
                   SP_SLOT_NULL);
    }
    sp_learner_free(&other);
    free(a.bytes);
    sp_learner_free(&learner);
}

/* Without memory nothing is read, and nothing is lost. */
static void test_no_memory(const kit_kind *kind)
{
    sp_learner learner, other;
    arrays a;
    CHECK_SAME(kit_learner(&learner, kind), 0);
    train(&learner, 0, kind->labels, 10);
    write_arrays(&a, &learner);
    for (int in_place = 0; in_place < 2; in_place++) {
        int fault = SP_ARRAYS_MEMORY;
        for (int64_t n = 1; fault; n++) {
            check_fail_at(n);
            fault = read_arrays(&a, &other, kind, &learner, in_place);
            CHECK(check_has_failed() || !fault);
            CHECK(fault <= SP_ARRAYS_MEMORY);
            sp_learner_free(&other);
        }
    }
    free(a.bytes);
    sp_learner_free(&learner);
}

/* A learner as a door gives it to be merged; all call their labels the same. */
static sp_joined side_of(const sp_learner *learner, const sp_learner *base)
{
    static const uint32_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    sp_joined side = {.name = "it", .labels = numbers};
    side.shard.learner = learner;
    side.shard.n_slots = side.shard.first = learner->index.n_slots;
    side.shard.base = &base->index;
    side.shard.n = (double)(learner->n_seen - base->n_seen);
    side.n_labels = (uint32_t)sp_learner_labels(learner);
    return side;
}

/* Two that went on from a base, merged: the names of both, the counters added; without memory
   nothing is merged. What one of them has learned alone, the merged learner has too. */
static void test_merge(const kit_kind *kind)
{
    const int answer = sp_rule_answer(&kind->rule);
    const bool listed = answer != SP_ANSWER_SIGN && answer != SP_ANSWER_CANDIDATES;
    sp_learner base, parts[2], merged;
    sp_fault why;
    CHECK_SAME(kit_learner(&base, kind), 0);
    train(&base, 0, kind->labels, EVENTS);
    for (int k = 0; k < 2; k++) {
        CHECK_SAME(sp_learner_copy(&parts[k], &base), 0);
        train(&parts[k], (uint32_t)k * NAMES, kind->labels, EVENTS);
    }
    const ptrdiff_t n_labels = sp_learner_labels(&parts[0]);
    int fault = SP_WHY_MEMORY;
    for (int64_t n = 1; fault; n++) {
        const sp_joined sides[] = {side_of(&base, &base), side_of(&parts[0], &base),
                                   side_of(&parts[1], &base)};
        CHECK_SAME(kit_learner_like(&merged, kind, &base), 0);
        CHECK_SAME(
            sp_table_add_outputs(&merged.table, parts[0].table.n_outputs - merged.table.n_outputs),
            0);
        check_fail_at(n);
        fault = sp_sides_join(&merged, sides, 3, listed ? n_labels : -1, &why);
        CHECK(check_has_failed() || !fault);
        CHECK(fault <= SP_WHY_MEMORY);
        if (fault)
            sp_learner_free(&merged);
    }
    KIT_SOUND(&merged);
    CHECK_SAME(merged.n_seen, base.n_seen + 2 * EVENTS);
    CHECK(kind->most || merged.index.n_slots >= parts[1].index.n_slots);
    train(&merged, 0, kind->labels, 5);
    KIT_SOUND(&merged);
    sp_learner_free(&merged);
    sp_learner_free(&parts[0]);
    sp_learner_free(&parts[1]);
    sp_learner_free(&base);
}

/* A delta has the rows that changed, and no more than these. */
static void test_delta(const kit_kind *kind)
{
    sp_learner base, learner;
    sp_delta delta;
    CHECK_SAME(kit_learner(&base, kind), 0);
    train(&base, 0, kind->labels, EVENTS);
    CHECK_SAME(sp_learner_copy(&learner, &base), 0);
    for (int turn = 0; turn < 2; turn++) {
        sp_shard start = kit_shard(&base), shard = kit_shard(&learner);
        shard.base = &base.index;
        CHECK_SAME(sp_delta_measure(&delta, &shard, &start), 0);
        if (turn == 0)
            CHECK(delta.n_rows == 0 && delta.n_keys <= SP_SLOTS_RESERVED);
        else
            CHECK(delta.n_rows > 0
                  && delta.n_rows <= learner.index.n_slots * (size_t)learner.table.n_blocks);
        sp_shard_free(&shard);
        sp_delta_free(&delta);
        train(&learner, NAMES / 2, kind->labels, EVENTS);
    }
    sp_learner_free(&base);
    sp_learner_free(&learner);
}

/* The arrays of a delta, in memory of their own. */
static void write_delta(sp_delta *delta, const sp_shard *shard, const sp_shard *base)
{
    size_t width = (size_t)shard->learner->table.width;
    delta->rows = (double *)malloc((delta->n_rows * width + 1) * sizeof(double));
    delta->slots = (uint32_t *)malloc((delta->n_rows + 1) * sizeof(uint32_t));
    delta->blocks = (uint32_t *)malloc((delta->n_blocks + 1) * sizeof(uint32_t));
    delta->marks = (uint32_t *)malloc((delta->n_marks * SP_MARKS_WIDTH + 1) * sizeof(uint32_t));
    sp_delta_write(delta, shard, base);
}

/* A hashed learner that learned from a file, whose slots lie in another order, is its base and a
   delta, and merges as one that learned in memory; without memory nothing is laid. */
static void test_hashed_order(const kit_kind *kind)
{
    sp_learner base, learner, laid, whole;
    sp_delta delta;
    arrays a;
    int culprit, fault = SP_SHARD_MEMORY;
    CHECK_SAME(kit_learner(&base, kind), 0);
    train(&base, 0, kind->labels, EVENTS);
    write_arrays(&a, &base);
    CHECK_SAME(read_arrays(&a, &learner, kind, &base, false), 0);
    CHECK(kit_digest(&learner) == kit_digest(&base));
    train(&learner, NAMES / 2, kind->labels, EVENTS);
    sp_shard start = kit_shard(&base), shard = kit_shard(&learner);
    for (int64_t n = 1; fault; n++) {
        check_fail_at(n);
        fault = sp_delta_measure(&delta, &shard, &start);
        CHECK(fault == (check_has_failed() ? SP_SHARD_MEMORY : 0));
        if (fault)
            sp_delta_free(&delta);
    }
    write_delta(&delta, &shard, &start);
    fault = SP_SHARD_MEMORY;
    for (int64_t n = 1; fault; n++) {
        CHECK_SAME(kit_learner_like(&laid, kind, &learner), 0);
        CHECK_SAME(kit_learner_like(&whole, kind, &learner), 0);
        check_fail_at(n);
        fault = sp_delta_overlay(&delta, &laid, &base, learner.table.n_outputs, 0, SP_ARRAYS_DEPTH,
                                 &shard);
        if (fault == 0)
            fault = sp_learners_merge(&whole, &start, &shard, 1, &culprit);
        CHECK(fault == (check_has_failed() ? SP_SHARD_MEMORY : 0));
        sp_delta_free(&delta);
        sp_learner_free(&laid);
        if (fault)
            sp_learner_free(&whole);
    }
    KIT_SOUND(&whole);
    CHECK(kit_digest(&whole) == kit_digest(&learner));
    check_answers(&whole, &learner);
    free(delta.rows);
    free(delta.slots);
    free(delta.blocks);
    free(delta.marks);
    sp_delta_free(&delta);
    free(a.bytes);
    sp_learner_free(&whole);
    sp_learner_free(&learner);
    sp_learner_free(&base);
}

/* A packed event is read as it was written, and random bytes never lead outside. */
static void test_packed(void)
{
    sp_learner learner;
    sp_event event;
    sp_packed entry;
    CHECK_SAME(kit_learner(&learner, &kit_kinds[0]), 0);
    sp_event_init(&event);
    for (int turn = 0; turn < 200; turn++) {
        kit_sample sample = kit_random(0, NAMES, 2);
        CHECK_SAME(kit_write(&learner, &event, &sample), 0);
        size_t n = (size_t)sp_packed_size(&event, 1, event.n);
        uint8_t *bytes = (uint8_t *)malloc(SP_PACKED_BEFORE + n); /* read to its end, not beyond */
        uint8_t *p = bytes + SP_PACKED_BEFORE;
        sp_packed_write(&event, 1, event.n, p);
        const uint8_t *at = p;
        for (ptrdiff_t i = 1; i < event.n; i++) {
            at = sp_packed_next(at, p + n, &entry);
            CHECK(at != NULL && sp_key_equal(&entry.key, &event.keys[i]));
            CHECK_EQUAL(entry.value, event.values[i]);
        }
        CHECK(at == p + n);
        for (size_t i = 0; i < n; i++)
            p[i] = check_below(2) ? p[i] : (uint8_t)check_random();
        at = p;
        while (at != NULL && at < p + n)
            at = sp_packed_next(at, p + n, &entry);
        free(bytes);
    }
    sp_event_free(&event);
    sp_learner_free(&learner);
}

int main(int argc, char **argv)
{
    kit_begin(argc, argv);
    test_packed();
    for (int k = 0; k < KIT_KINDS; k++) {
        const kit_kind *kind = &kit_kinds[k];
        if (kind->rule.kind == SP_RULE_VOTED)
            continue; /* test_voted.c */
        check_about = kind->name;
        test_round_trip(kind);
        test_damaged(kind, 20);
        if (!kind->bits)
            test_no_slots(kind);
        else
            test_hashed_order(kind);
        test_no_memory(kind);
        test_merge(kind);
        test_delta(kind);
    }
    return 0;
}
