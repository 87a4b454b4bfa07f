/* path/undo: steps of AdaptiveClassifier, with two labels and with more, taken back at once and
   later, and where memory runs out. */

#include "kit.h"

#include "adaptive/columns.h"
#include "adaptive/head.h"
#include "adaptive/undo.h"
#include "many/many.h"
#include "path/undo.h"

enum { NAMES = 60, EVENTS = 300, LABELS_MOST = 64, STEPS = 8 };

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
    ptrdiff_t k[LABELS_MOST];
    sp_kept kept;
    uint32_t *slots;
    float *numbers;
    double *means;
    double *once;
    uint8_t *columns;
    ptrdiff_t y;
    bool ends; /* a column ended with it */
} step;

static void free_step(step *s)
{
    free(s->slots);
    free(s->numbers);
    free(s->means);
    free(s->once);
    free(s->columns);
    memset(s, 0, sizeof(*s));
}

/* What there is before the step; the event is prepared. */
static void keep_before(const sp_learner *learner, const sp_event *event, step *s)
{
    ptrdiff_t n = sp_kept_slots(event, NULL);
    ptrdiff_t m = sp_kept_outputs(event, NULL);
    ptrdiff_t most = sp_kept_columns_most(event);
    CHECK(m <= LABELS_MOST);
    sp_kept_outputs(event, s->k);
    for (ptrdiff_t j = 1; j < m; j++)
        CHECK(s->k[j - 1] < s->k[j]);
    s->slots = (uint32_t *)calloc((size_t)n + 1, sizeof(uint32_t));
    s->numbers = (float *)calloc((size_t)(2 * n * sp_kept_width(m) + 1), sizeof(float));
    s->means = (double *)calloc((size_t)(2 * n + 1), sizeof(double));
    s->once = (double *)calloc((size_t)(2 * sp_once_width(m)), sizeof(double));
    s->columns
        = (uint8_t *)calloc((size_t)most + 1, sp_kept_column_bytes(sp_kept_places(learner)));
    s->kept = (sp_kept){!learner->adaptive.rows, s->y, NULL, m, s->slots, n, s->numbers,
                        s->numbers + n * sp_kept_width(m), s->means, s->means + n, s->columns, 0};
    sp_kept_slots(event, s->slots);
    sp_kept_fill(learner, s->slots, n, s->y, s->k, m, s->numbers, s->means);
    s->kept.n_bytes = sp_kept_columns_before(learner, event, s->y, s->columns);
    sp_once_read(&learner->adaptive, s->y, s->k, m, s->once);
}

/* And after it. */
static void keep_after(const sp_learner *learner, const sp_event *event, step *s)
{
    sp_kept *kept = &s->kept;
    size_t one = sp_kept_column_bytes(sp_kept_places(learner));
    sp_kept_slots(event, s->slots);
    sp_kept_fill(learner, s->slots, kept->n, s->y, s->k, kept->m,
                 s->numbers + kept->n * sp_kept_width(kept->m), s->means + kept->n);
    kept->n_bytes = sp_kept_columns_after(learner, event, s->slots, kept->n, s->y, s->columns,
                                          kept->n_bytes);
    sp_once_read(&learner->adaptive, s->y, s->k, kept->m, s->once + sp_once_width(kept->m));
    sp_kept_once_each(learner, s->slots, kept->n);
    CHECK(sp_kept_is_sound(s->numbers, 2 * kept->n, kept->m));
    CHECK(sp_kept_columns_are_sound(s->columns, kept->n_bytes, kept->n, kept->one));
    for (size_t at = 0; at < kept->n_bytes; at += one) {
        const sp_kept_column *column = (const sp_kept_column *)(const void *)(s->columns + at);
        s->ends |= column->before.n > 0.0 && column->after.n == 0.0;
    }
}

/* Learn a sample so that it can be taken back; `fails`: every allocation on the way once. */
static void learn(sp_learner *learner, sp_event *event, step *s, bool fails)
{
    uint64_t before = digest(learner);
    int failed = -1;
    s->y = kit_label(learner, &s->sample);
    for (int64_t n = 1; failed; n++) {
        CHECK_SAME(kit_write(learner, event, &s->sample), 0);
        check_fail_at(fails ? n : 0);
        failed = sp_learner_prepare(learner, event, s->y, s->sample.u);
        if (!failed && n % 2 == 0 && fails) { /* given up once it was prepared */
            check_has_failed();
            sp_learner_abandon(learner, event);
            KIT_SOUND(learner);
            CHECK(digest(learner) == before);
            check_fail_at(n);
            failed = sp_learner_prepare(learner, event, s->y, s->sample.u);
        }
        if (!failed) {
            free_step(&(step){.slots = s->slots, .numbers = s->numbers, .means = s->means,
                              .once = s->once, .columns = s->columns});
            keep_before(learner, event, s);
            failed = sp_learner_commit(learner, event, s->y, s->sample.u);
        }
        CHECK(!failed || check_has_failed());
        if (failed) {
            KIT_SOUND(learner);
            CHECK(digest(learner) == before);
        }
    }
    check_fail_at(0);
    keep_after(learner, event, s);
    sp_event_settle(event, &learner->index);
    KIT_SOUND(learner);
}

/* Take it back. */
static void take_back(sp_learner *learner, step *s, bool fails)
{
    uint64_t before = digest(learner);
    int failed = -1;
    s->kept.k = s->k; /* it may have been copied */
    for (int64_t n = 1; failed; n++) {
        check_fail_at(fails ? n : 0);
        failed = sp_kept_reserve(learner, &s->kept);
        CHECK(!failed || check_has_failed());
        KIT_SOUND(learner);
        CHECK(digest(learner) == before);
    }
    check_fail_at(0);
    sp_once_take_back(learner, &s->kept, s->once, s->once + sp_once_width(s->kept.m));
    sp_kept_take_back(learner, &s->kept);
    learner->version += 1;
    KIT_SOUND(learner);
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
        if (s->slots != NULL && check_below(2))
            take_back(&learner, s, fails);
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
            take_back(&learner, s, fails);
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
