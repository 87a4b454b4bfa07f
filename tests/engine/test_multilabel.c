/* multilabel/: rows against plain tables; steps whose memory runs out; rows as flat arrays. */

#include "kit.h"

#include "math/logs.h"
#include "machine/machine.h"
#include "path/record.h"
#include "multilabel/arrays.h"
#include "multilabel/snapshot.h"
#include "multilabel/multilabel.h"
#include "multilabel/targets.h"
#include "exchange/merge.h"

enum { EVENTS = 120, NAMES = 40, LABELS = 30, ROWS = 12 };

/* Rows of random labels, as a table says that they are. */
static void test_rows(uint32_t labels, int turns)
{
    sp_sparse_rows *rows = sp_rows_open();
    sp_sparse row[ROWS];
    bool *there = (bool *)calloc((size_t)ROWS * labels, sizeof(bool));
    memset(row, 0, sizeof(row));
    CHECK(rows != NULL && there != NULL);
    for (int turn = 0; turn < turns; turn++) {
        uint32_t r = check_below(ROWS), k = check_below(labels);
        sp_sparse *it = &row[r];
        if (check_below(400) == 0) {
            sp_row_drop(rows, it);
            memset(there + r * labels, 0, labels * sizeof(bool));
        }
        sp_entry *found = sp_row_find(rows, it, k);
        CHECK_SAME(found != NULL, there[r * labels + k]);
        if (found != NULL) {
            CHECK_EQUAL(found->c, k + r / 16.0);
            continue;
        }
        if (it->block == 0 || it->n == sp_row_capacity((int)it->size)) {
            int size = sp_row_size_for(it->n + 1);
            CHECK(sp_row_capacity(size) > it->n);
            sp_row_move(rows, it, sp_rows_take(rows, size), size);
        }
        sp_row_insert(rows, it, k)->c = (float)(k + r / 16.0);
        there[r * labels + k] = true;
    }
    sp_sparse_rows *other = sp_rows_copy(rows);
    CHECK(other != NULL);
    sp_rows_free(rows);
    for (uint32_t r = 0; r < ROWS; r++) {
        const sp_entry *entries = sp_row_entries(other, &row[r]);
        uint32_t n = 0;
        for (uint32_t k = 0; k < labels; k++) {
            if (there[r * labels + k]) {
                CHECK_SAME(entries[n].k, k);
                n++;
            }
        }
        CHECK_SAME(n, row[r].n);
    }
    sp_rows_free(other);
    free(there);
}

/* A step on a row, and others, taken back in turn: nothing is left of them but their sums. */
static void test_kept(void)
{
    enum { K = 12, STEPS = 3 };
    sp_sparse_rows *rows = sp_rows_open();
    sp_sparse row = {0};
    sp_snapshot_entry kept[STEPS][K];
    ptrdiff_t n[STEPS];
    sp_entry all[K];
    CHECK(rows != NULL);
    for (uint32_t k = 0; k < K; k += 3) {
        sp_row_move(rows, &row, sp_rows_take(rows, 9), 9);
        *sp_row_insert(rows, &row, k) = (sp_entry){k, 1.0f, 0.1f, 0.3f};
    }
    uint32_t there = row.n;
    memcpy(all, sp_row_entries(rows, &row), there * sizeof(sp_entry));
    for (int step = 0; step < STEPS; step++) {
        uint32_t labels[K];
        ptrdiff_t m = 0, adds = check_below(K);
        for (uint32_t k = check_below(3); k < K; k += 1 + check_below(3))
            labels[m++] = k;
        adds = SP_MIN(adds, m);
        n[step] = sp_snapshot_entries_before(rows, &row, labels, m, adds, NULL);
        CHECK_SAME(n[step], sp_snapshot_entries_before(rows, &row, labels, m, adds, kept[step]));
        for (ptrdiff_t i = 0; i < n[step]; i++) {
            sp_entry *entry = sp_row_insert(rows, &row, kept[step][i].after.k);
            entry->c += 0.5f;
            entry->w -= 0.7f;
            entry->G += 0.01f;
        }
        sp_snapshot_entries_after(rows, &row, kept[step], n[step]);
        CHECK(sp_snapshot_entries_are_sound(kept[step], n[step], K));
    }
    CHECK(n[0] == 0 || !sp_snapshot_entries_are_sound(kept[0], n[0], kept[0][n[0] - 1].after.k));
    for (int step = STEPS - 1; step >= 0; step--)
        sp_snapshot_entries_back(rows, &row, kept[step], n[step], true, false);
    CHECK_SAME(row.n, there);
    CHECK_SAME(memcmp(all, sp_row_entries(rows, &row), there * sizeof(sp_entry)), 0);
    sp_rows_free(rows);
}

static int open_learner(sp_learner *learner, sp_slot_type most)
{
    sp_rule rule = {.kind = SP_RULE_MULTILABEL, .eta = 1.0, .forget = 0.001};
    return sp_learner_init(learner, rule, &sp_current_alone, false, most, 0, 1);
}

/* A sample's labels: some below n, given as a set or with others left open. -1 without memory. */
typedef struct targets {
    uint32_t labels[LABELS];
    ptrdiff_t n, n_there;
    bool open;
} targets;

static targets random_targets(const sp_learner *learner, uint32_t first)
{
    targets it = {.open = check_below(2) != 0};
    ptrdiff_t known = sp_learner_labels(learner);
    ptrdiff_t most = SP_MIN(known + (ptrdiff_t)check_below(3), (ptrdiff_t)LABELS);
    for (ptrdiff_t k = 0; k < most; k++) {
        if (k >= known || (first + (uint32_t)k) % 5 == 0 || check_below(9) == 0)
            it.labels[it.n++] = (uint32_t)k;
    }
    it.n_there = it.open ? it.n / 2 : it.n;
    return it;
}

static int learn(sp_learner *learner, sp_event *event, const kit_sample *sample, const targets *it)
{
    if (kit_write(learner, event, sample) < 0
        || sp_multilabel_set_targets(event, it->labels, it->n, it->n_there, it->open,
                                     sp_learner_labels(learner))
               < 0)
        return -1;
    int failed = sp_learner_learn(learner, event, 0, sample->u);
    if (failed == 0)
        sp_event_settle(event, &learner->index);
    return failed;
}

/* All that is kept of labels and rows, as bytes. */
typedef struct flat_state {
    sp_arrays flat;
    uint32_t *marks;
    double *marked;
    size_t n;
} flat_state;

static flat_state flatten(const sp_learner *learner)
{
    flat_state state;
    CHECK_SAME(sp_arrays_measure(&state.flat, &learner->index, &learner->table), 0);
    state.flat.weights = (double *)calloc(state.flat.n_weights + 1, SP_HEAD_WIDTH * 8);
    state.flat.chunks = (uint32_t *)calloc(state.flat.n_chunks + 1, 12);
    state.flat.keys = (sp_key *)calloc(state.flat.n_keys + 1, sizeof(sp_key));
    state.flat.texts = (uint8_t *)calloc(state.flat.n_texts + 1, 1);
    sp_arrays_write(&state.flat, &learner->index, &learner->table);
    state.n = sp_machine_rows_measure(learner, &state.flat);
    state.marks = (uint32_t *)calloc(state.n + 1, 16);
    state.marked = (double *)calloc((size_t)learner->multilabel.n_labels + 1, SP_LABEL_WIDTH * 8);
    sp_multilabel_labels_write(learner, state.marked);
    sp_machine_rows_write(learner, &state.flat, state.marks);
    return state;
}

/* Learn an event, and what its step was. */
static sp_undo_record learn_noted(sp_learner *learner, sp_event *event, const kit_sample *sample,
                                  const targets *it)
{
    sp_undo_record taken;
    CHECK_SAME(kit_write(learner, event, sample), 0);
    CHECK_SAME(sp_multilabel_set_targets(event, it->labels, it->n, it->n_there, it->open,
                                         sp_learner_labels(learner)), 0);
    CHECK_SAME(sp_undo_record_prepare(&taken, learner, event, 0, sample->u), 0);
    size_t most = taken.n[SP_RECORD_LOG];
    taken.p[SP_RECORD_LOG] = (uint8_t *)malloc(most);
    CHECK(most > 0 && taken.p[SP_RECORD_LOG] != NULL);
    CHECK_SAME(sp_undo_record_commit(&taken, learner, event, sample->u), 0);
    CHECK(taken.n[SP_RECORD_LOG] <= most);
    sp_event_settle(event, &learner->index);
    return taken;
}

/* Steps, each taken back some events later; bytes that are cut off are not a step. */
static void test_taken_back(sp_slot_type most)
{
    enum { KEPT = 6 };
    sp_undo_record kept[KEPT] = {{.n_parts = 0}};
    kit_sample samples[KEPT];
    sp_learner learner;
    sp_event event;
    sp_event_init(&event);
    CHECK_SAME(open_learner(&learner, most), 0);
    for (int i = 0; i < 2 * EVENTS; i++) {
        int at = (int)check_below(KEPT);
        if (kept[at].n_parts) {
            CHECK_SAME(kit_write(&learner, &event, &samples[at]), 0);
            CHECK_SAME(sp_undo_record_find(&learner, &event), 0);
            kept[at].n[SP_RECORD_LOG] -= 8;
            CHECK(sp_undo_record_fault(&kept[at], &learner, &event) != NULL);
            kept[at].n[SP_RECORD_LOG] += 8;
            CHECK(sp_undo_record_fault(&kept[at], &learner, &event) == NULL);
            CHECK_SAME(sp_undo_record_take_back(&kept[at], true, &learner, &event), 0);
            sp_event_settle(&event, &learner.index);
            sp_event_forget(&event);
            free(kept[at].p[SP_RECORD_LOG]);
        }
        samples[at] = kit_random(0, NAMES, 1);
        targets it = random_targets(&learner, samples[at].names[0]);
        kept[at] = learn_noted(&learner, &event, &samples[at], &it);
        CHECK(sp_machine_fault(&learner) == NULL);
        CHECK(!sp_machine_slots_fault(&learner, learner.index.n_slots));
    }
    for (int at = 0; at < KEPT; at++)
        free(kept[at].p[SP_RECORD_LOG]);
    sp_learner_free(&learner);
    sp_event_free(&event);
}

static void flat_free(flat_state *state)
{
    free(state->flat.weights);
    free(state->flat.chunks);
    free(state->flat.keys);
    free(state->flat.texts);
    free(state->marks);
    free(state->marked);
    sp_arrays_free(&state->flat);
}

static bool same_state(const sp_learner *one, const sp_learner *other)
{
    flat_state a = flatten(one), b = flatten(other);
    size_t labels = (size_t)one->multilabel.n_labels;
    bool same = a.n == b.n && one->multilabel.n_labels == other->multilabel.n_labels
                && a.flat.n_weights == b.flat.n_weights && a.flat.n_chunks == b.flat.n_chunks
                && one->multilabel.T == other->multilabel.T
                    && one->multilabel.m == other->multilabel.m
                && one->n_seen == other->n_seen && one->n_mistakes == other->n_mistakes
                && memcmp(a.flat.weights, b.flat.weights, a.flat.n_weights * SP_HEAD_WIDTH * 8) == 0
                && memcmp(a.marks, b.marks, a.n * 16) == 0
                && memcmp(a.marked, b.marked, labels * SP_LABEL_WIDTH * 8) == 0;
    flat_free(&a);
    flat_free(&b);
    return same;
}

/* Each step is tried with the first allocation failing, then the second, until it succeeds. */
static void test_failures(sp_slot_type most)
{
    sp_learner learner, other;
    sp_event event, again;
    int n_failed = 0;
    sp_event_init(&event);
    CHECK_SAME(open_learner(&learner, most), 0);
    for (int i = 0; i < EVENTS; i++) {
        kit_sample sample = kit_random((uint32_t)i, NAMES, LABELS);
        targets it = random_targets(&learner, sample.names[0]);
        sample.u = check_below(10) ? 1.0 : check_below(3) * 1.5;
        CHECK_SAME(sp_learner_copy(&other, &learner), 0);
        int failed = -1;
        for (int64_t n = 1; failed; n++) {
            check_fail_at(n);
            failed = learn(&learner, &event, &sample, &it);
            CHECK_SAME(check_has_failed() && failed == 0, 0);
            KIT_SOUND(&learner);
            if (failed) {
                n_failed++;
                CHECK(same_state(&learner, &other));
            }
        }
        sp_event_init(&again);
        CHECK_SAME(learn(&other, &again, &sample, &it), 0);
        CHECK(same_state(&learner, &other));
        sp_event_free(&again);
        sp_learner_free(&other);
    }
    CHECK(n_failed > 10);
    CHECK(learner.multilabel.n_labels > 10);
    sp_event_free(&event);
    sp_learner_free(&learner);
}

/* A copy of a trained learner whose rows and labels are read again from flat arrays. */
static int read_again(sp_learner *other, const sp_learner *learner, const flat_state *state)
{
    CHECK_SAME(sp_learner_copy(other, learner), 0);
    uint32_t at = 1;
    for (sp_slot_type slot = 0; slot < other->index.n_slots; slot++) {
        sp_sparse *row = &sp_counted_slot_of(&other->table, slot)->of.row;
        row->block = row->n ? at : 0;
        row->size = 0;
        at += row->n;
    }
    sp_multilabel_free(&other->multilabel);
    sp_rows_free(sp_rows_of(&other->table));
    other->table.arena = sp_rows_open();
    CHECK(other->table.arena != NULL);
    CHECK_SAME(sp_multilabel_init(&other->multilabel, 1.0, 0.001), 0);
    CHECK_SAME(other->machine->expect(other, learner->multilabel.n_labels), 0);
    int fault = sp_multilabel_labels_read(other, state->marked);
    return fault ? fault : sp_machine_rows_read(other, state->marks, state->n, false);
}

static void test_flat(void)
{
    sp_learner learner, other;
    sp_event event;
    sp_event_init(&event);
    CHECK_SAME(open_learner(&learner, 0), 0);
    for (int i = 0; i < EVENTS; i++) {
        kit_sample sample = kit_random((uint32_t)i, NAMES, LABELS);
        targets it = random_targets(&learner, sample.names[0]);
        CHECK_SAME(learn(&learner, &event, &sample, &it), 0);
    }
    flat_state state = flatten(&learner);
    CHECK_SAME(read_again(&other, &learner, &state), 0);
    KIT_SOUND(&other);
    CHECK(same_state(&other, &learner));
    sp_learner_free(&other);
    for (int turn = 0; turn < 400; turn++) {
        bool in_rows = check_below(3) != 0;
        uint8_t *bytes = in_rows ? (uint8_t *)state.marks : (uint8_t *)state.marked;
        size_t size = in_rows ? state.n * 16
            : (size_t)learner.multilabel.n_labels * SP_LABEL_WIDTH * 8;
        uint8_t *byte = bytes + check_below((uint32_t)size), before = *byte;
        *byte = (uint8_t)check_random();
        if (read_again(&other, &learner, &state) == 0)
            KIT_SOUND(&other);
        *byte = before;
        sp_learner_free(&other);
    }
    flat_free(&state);
    sp_event_free(&event);
    sp_learner_free(&learner);
}

static void teach(sp_learner *learner, uint32_t first, int n)
{
    sp_event event;
    sp_event_init(&event);
    for (int i = 0; i < n; i++) {
        kit_sample sample = kit_random(first + (uint32_t)i, NAMES, LABELS);
        targets it = random_targets(learner, sample.names[0]);
        CHECK_SAME(learn(learner, &event, &sample, &it), 0);
    }
    sp_event_free(&event);
}

/* A score of NaN gives no place in memory; no file or merge makes one, but if one did. */
static void test_no_number(void)
{
    sp_learner learner;
    CHECK_SAME(open_learner(&learner, 0), 0);
    teach(&learner, 0, EVENTS);
    for (ptrdiff_t k = 0; k < learner.multilabel.n_labels; k++) {
        learner.multilabel.labels[k].w0 = NAN;
        sp_multilabel_settle_label(&learner.multilabel, k);
    }
    teach(&learner, 0, 20);
    for (int t = 0; t < SP_MULTILABEL_STEPS; t++)
        CHECK(isfinite(learner.multilabel.said[t]) && isfinite(learner.multilabel.there[t]));
    CHECK_EQUAL(sp_sigmoid(NAN), 0.0);
    CHECK_EQUAL(sp_exp(NAN), 0.0);
    sp_learner_free(&learner);
}

/* A learner as a shard; `places`: its labels, which are the first of all. */
static sp_shard shard_of(const sp_learner *learner, const sp_learner *base, int32_t *places)
{
    sp_shard shard = kit_shard(learner);
    for (int32_t k = 0; k < LABELS; k++)
        places[k] = k < learner->multilabel.n_labels ? k : -1;
    shard.labels = places;
    shard.base = &base->index;
    shard.n = (double)(learner->n_seen - base->n_seen);
    return shard;
}

/* Two that went on from a base, merged; without memory nothing is. */
static void test_merge(sp_slot_type most)
{
    sp_learner base, parts[2], merged;
    int32_t places[3][LABELS];
    int culprit, fault = SP_SHARD_MEMORY;
    CHECK_SAME(open_learner(&base, most), 0);
    teach(&base, 0, EVENTS);
    for (int k = 0; k < 2; k++) {
        CHECK_SAME(sp_learner_copy(&parts[k], &base), 0);
        teach(&parts[k], (uint32_t)k * NAMES, EVENTS);
    }
    ptrdiff_t labels = SP_MAX(parts[0].multilabel.n_labels, parts[1].multilabel.n_labels);
    for (int64_t n = 1; fault; n++) {
        sp_shard start = shard_of(&base, &base, places[2]), shards[2];
        for (int k = 0; k < 2; k++)
            shards[k] = shard_of(&parts[k], &base, places[k]);
        CHECK_SAME(open_learner(&merged, most), 0);
        CHECK_SAME(merged.machine->expect(&merged, labels), 0);
        CHECK_SAME(sp_table_add_outputs(&merged.table, labels), 0);
        check_fail_at(n);
        fault = sp_learners_merge(&merged, &start, shards, 2, &culprit);
        CHECK(check_has_failed() || !fault);
        CHECK(fault <= SP_SHARD_MEMORY);
        for (int k = 0; k < 2; k++)
            sp_shard_free(&shards[k]);
        if (fault)
            sp_learner_free(&merged);
    }
    KIT_SOUND(&merged);
    CHECK_SAME(merged.n_seen, base.n_seen + 2 * EVENTS);
    CHECK_EQUAL(merged.multilabel.T, parts[0].multilabel.T + parts[1].multilabel.T
                - base.multilabel.T);
    teach(&merged, 0, 5);
    KIT_SOUND(&merged);
    sp_learner_free(&merged);
    sp_learner_free(&parts[0]);
    sp_learner_free(&parts[1]);
    sp_learner_free(&base);
}

int main(int argc, char **argv)
{
    kit_begin(argc, argv);
    for (int turn = 0; turn < 50; turn++)
        test_kept();
    test_taken_back(0);
    test_taken_back(25);
    test_rows(7, 2000);
    test_rows(300, 20000);
    test_rows(4000, 60000);
    test_failures(0);
    test_failures(25);
    test_flat();
    test_no_number();
    test_merge(0);
    test_merge(25);
    return 0;
}
