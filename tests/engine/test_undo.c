/* path/record and many/snapshot: steps of AdaptiveClassifier, with two labels and with more, taken
   back at once and later, and where memory runs out. */

#include "kit.h"

#include "features/columns.h"
#include "features/head.h"
#include "features/undo.h"
#include "many/many.h"
#include "path/record.h"
#include "many/snapshot.h"

enum { NAMES = 60, EVENTS = 300, STEPS = 8 };

/* --- All that is learned, as a number */

static void mix_row(uint64_t *h, const sp_table *table, const sp_sparse *row)
{
    sp_entry room[SP_DENSE_MOST];
    uint32_t n = row->n;
    kit_mix(h, &n, sizeof(n));
    kit_mix(h, sp_row_look(sp_many_rows(table), row, room), n * sizeof(sp_entry));
}

/* Slots that came with an event which was not learned do not count. */
static uint64_t digest(const sp_learner *learner)
{
    const sp_adaptive *a = &learner->adaptive;
    const sp_table *table = &learner->table;
    const sp_blocks blocks = sp_table_blocks(table);
    uint64_t h = 1;
    for (sp_slot_type slot = SP_SLOTS_RESERVED; slot < learner->index.n_slots; slot++) {
        const sp_head *head = sp_table_head(table, slot);
        if (head->cnt == 0.0f)
            continue;
        kit_mix(&h, &slot, sizeof(slot));
        kit_mix(&h, &head->s, sizeof(head->s));
        kit_mix(&h, &head->cnt, sizeof(head->cnt));
        kit_mix(&h, &head->om, sizeof(head->om));
        if (!a->rows) {
            kit_mix(&h, head, sizeof(*head));
            continue;
        }
        mix_row(&h, table, &head->row);
        kit_mix(&h, &head->of.N, sizeof(double));
        kit_mix(&h, sp_column_of(&blocks, slot), sizeof(sp_column));
        mix_row(&h, table, &sp_many_e(table, slot)->row);
    }
    kit_mix(&h, &a->rows, sizeof(a->rows));
    kit_mix(&h, &a->T, 7 * sizeof(double)); /* to Gtau */
    for (ptrdiff_t k = 0; k < a->n_labels; k++) {
        kit_mix(&h, &a->D[k], sizeof(double));
        if (k < sp_adaptive_outputs(a)) {
            kit_mix(&h, &a->w0[k], sizeof(double));
            kit_mix(&h, &a->G0[k], sizeof(double));
        }
    }
    return h;
}

/* --- A step, as a door keeps it */

typedef struct step {
    kit_sample sample;
    sp_undo_record taken;
    bool ends; /* a column ended with it */
} step;

static void free_step(step *s)
{
    for (int i = 0; i < s->taken.n_parts; i++)
        free(s->taken.p[i]);
    memset(s, 0, sizeof(*s));
}

/* Prepare an event's step again; its parts have memory, whatever fails. */
static int prepare(sp_learner *learner, sp_event *event, step *s, ptrdiff_t y)
{
    for (int i = 0; i < s->taken.n_parts; i++)
        free(s->taken.p[i]);
    int failed = sp_undo_record_prepare(&s->taken, learner, event, y, s->sample.u);
    for (int i = 0; i < s->taken.n_parts; i++)
        s->taken.p[i] = (uint8_t *)malloc(s->taken.n[i] + 1);
    return failed;
}

/* Learn a sample so that it can be taken back; `fails`: every allocation on the way once. */
static void learn(sp_learner *learner, sp_event *event, step *s, bool fails)
{
    const ptrdiff_t y = kit_label(learner, &s->sample);
    uint64_t before = digest(learner);
    size_t one = sp_snapshot_column_bytes(1), n_columns;
    int failed = -1;
    for (int64_t n = 1; failed; n++) {
        CHECK_SAME(kit_write(learner, event, &s->sample), 0);
        check_fail_at(fails ? n : 0);
        failed = prepare(learner, event, s, y);
        if (!failed && n % 2 == 0 && fails) { /* given up once it was prepared */
            check_has_failed();
            sp_learner_abandon(learner, event);
            KIT_SOUND(learner);
            CHECK(digest(learner) == before);
            check_fail_at(n);
            failed = prepare(learner, event, s, y);
        }
        if (!failed)
            failed = sp_undo_record_commit(&s->taken, learner, event, s->sample.u);
        CHECK(!failed || check_has_failed());
        if (failed) {
            KIT_SOUND(learner);
            CHECK(digest(learner) == before);
        }
    }
    check_fail_at(0);
    CHECK(sp_undo_record_fault(&s->taken, learner, event) == NULL);
    n_columns = s->taken.n[SP_RECORD_COLUMNS];
    for (size_t at = 0; at < n_columns; at += one) {
        const sp_snapshot_column *column
            = (const sp_snapshot_column *)(const void *)(s->taken.p[SP_RECORD_COLUMNS] + at);
        one = sp_snapshot_column_bytes(column->places);
        s->ends |= column->before.n > 0.0 && column->after.n == 0.0;
    }
    sp_event_settle(event, &learner->index);
    KIT_SOUND(learner);
}

/* A step that lacks some of a part is none. */
static void check_cut(const step *s, const sp_learner *learner, const sp_event *event)
{
    sp_undo_record cut = s->taken;
    int part = (int)check_below(SP_RECORD_PARTS);
    cut.n[part] -= cut.n[part] ? 4 : 0;
    CHECK((cut.n[part] == s->taken.n[part])
          == (sp_undo_record_fault(&cut, learner, event) == NULL));
}

/* Take it back. */
static void take_back(sp_learner *learner, sp_event *event, step *s, bool fails)
{
    uint64_t before = digest(learner);
    int failed = -1;
    for (int64_t n = 1; failed; n++) {
        CHECK_SAME(kit_write(learner, event, &s->sample), 0);
        check_fail_at(fails ? n : 0);
        failed = sp_undo_record_find(learner, event);
        if (!failed) {
            CHECK(sp_undo_record_fault(&s->taken, learner, event) == NULL);
            check_cut(s, learner, event);
            failed = sp_undo_record_take_back(&s->taken, true, learner, event);
        }
        CHECK(!failed || check_has_failed());
        sp_event_settle(event, &learner->index);
        sp_event_forget(event);
        KIT_SOUND(learner);
        CHECK(!failed || digest(learner) == before);
    }
    check_fail_at(0);
}

/* The last step of all leaves no bit behind, but where it ended a column. Others leave a learner
   that is sound, in any order. */
static void test_taken_back(const kit_kind *kind, uint32_t labels, bool fails)
{
    sp_learner learner;
    sp_event event;
    static step steps[STEPS];
    memset(steps, 0, sizeof(steps));
    sp_event_init(&event);
    CHECK_SAME(kit_learner(&learner, kind), 0);
    for (int i = 0; i < EVENTS; i++) {
        step *s = &steps[check_below(STEPS)];
        if (s->taken.n_parts && check_below(2))
            take_back(&learner, &event, s, fails);
        free_step(s);
        s->sample = kit_random(0, NAMES, i < 40 ? 2 : labels);
        if (i % 3 == 0) { /* a column */
            s->sample.names[0] = 0;
            s->sample.values[0] = 1.0 + check_below(9);
        }
        ptrdiff_t known = learner.adaptive.n_labels;
        bool two = !learner.adaptive.rows;
        uint64_t before = digest(&learner);
        learn(&learner, &event, s, fails);
        if (check_below(3) == 0) {
            take_back(&learner, &event, s, fails);
            if (known == learner.adaptive.n_labels && two == !learner.adaptive.rows && !s->ends)
                CHECK(digest(&learner) == before);
            free_step(s);
        }
    }
    for (int i = 0; i < STEPS; i++)
        free_step(&steps[i]);
    CHECK(learner.adaptive.rows == (labels > 2));
    sp_event_free(&event);
    sp_learner_free(&learner);
}

int main(int argc, char **argv)
{
    kit_begin(argc, argv);
    for (int k = 0; k < KIT_KINDS; k++) {
        const kit_kind *kind = &kit_kinds[k];
        if (kind->rule.kind != SP_RULE_ADAPTIVE || kind->most)
            continue;
        check_about = kind->name;
        for (int fails = 0; fails < 2; fails++) {
            test_taken_back(kind, 2, fails);
            test_taken_back(kind, 3, fails);
            test_taken_back(kind, 20, fails);
        }
    }
    return 0;
}
