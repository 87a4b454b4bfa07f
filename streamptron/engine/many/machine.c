#include "many/machine.h"

#include "adaptive/machine.h"
#include "many/learn.h"
#include "many/two.h"
#include "memory/grow.h"
#include "memory/heap.h"
#include "rows/marks.h"

#include <math.h>
#include <string.h>

static ptrdiff_t sp_many_blocks_for(const sp_table *table, ptrdiff_t n_outputs)
{
    (void)table;
    (void)n_outputs;
    return SP_HEAD_BLOCKS; /* labels' numbers are in rows */
}

static double sp_many_size(const sp_table *table, sp_slot_type slot)
{
    const sp_head *head = sp_head_of(table->blocks->chunks, slot);
    return sp_size(head, sp_many_largest(sp_many_rows(table), &head->row));
}

SP_RARE static void sp_many_clear(sp_table *table, sp_slot_type slot)
{
    sp_row_drop(sp_many_rows(table), &sp_head_of(table->blocks->chunks, slot)->row);
    if (sp_many_e(table, slot)->row.block)
        sp_row_drop(sp_many_rows(table), &sp_many_e(table, slot)->row);
}

/* The slots of an AdaptiveClassifier with more than two labels. */
static const sp_slot_kind sp_many_slots = {
    .blocks_for = sp_many_blocks_for,
    .size = sp_many_size,
    .clear = sp_many_clear,
};

/* --- Making and freeing */

/* Move the numbers of a two-label slot in a block into a row, in a block of the arena. -1 if out of
   memory. */
SP_RARE static int sp_many_reform(sp_sparse_rows *rows, int positive, uint32_t block, double *slot)
{
    sp_head *head = (sp_head *)(void *)slot;
    sp_entry entries[2];
    const uint32_t n = sp_two_entries(block, slot, positive, entries);
    if (block == 0)
        head->of.N = sp_many_count_of(entries, n);
    else
        memset(slot, 0, 2 * sizeof(float));
    head->row = (sp_sparse){0};
    if (n == 0)
        return 0;
    const int size = sp_row_size_for(2);
    head->row.block = sp_rows_take(rows, size);
    if (head->row.block == 0)
        return -1;
    head->row.size = (uint32_t)size & 63;
    head->row.n = n & 3;
    memcpy(sp_row_entries(rows, &head->row), entries, n * sizeof(sp_entry));
    return 0;
}

static int sp_many_reform_table(sp_table *table, int positive)
{
    sp_sparse_rows *rows = sp_many_rows(table);
    for (size_t chunk = 0; chunk < table->n_chunks; chunk++) {
        double *heads = sp_table_chunk(table, 0, chunk);
        double *e = sp_table_chunk(table, SP_BLOCK_E, chunk);
        for (int i = 0; i < SP_CHUNK_SLOTS; i++) {
            const int at = SP_HEAD_WIDTH * i;
            if ((heads != NULL && sp_many_reform(rows, positive, 0, heads + at) < 0)
                || (e != NULL && sp_many_reform(rows, positive, SP_BLOCK_E, e + at) < 0))
                return -1;
        }
    }
    return 0;
}

SP_RARE SP_PRIVATE int sp_many_reformed(sp_table *to, const sp_table *two, int positive)
{
    int failed = sp_table_copy(to, two);
    to->kind = &sp_many_slots;
    to->arena = sp_rows_open();
    if (failed < 0 || to->arena == NULL || sp_table_add_outputs(to, 1) < 0)
        return -1;
    return sp_many_reform_table(to, positive);
}

/* Give what is kept once per model the form that goes with rows. */
SP_RARE static void sp_many_split_once(sp_learner *learner)
{
    sp_adaptive *a = &learner->adaptive;
    a->many.two.w0 = *a->w0;
    a->many.two.G0 = *a->G0;
    a->rows = true;
    learner->machine = &sp_many_machine;
    a->many.b = 0.0;
    for (int k = 0; k < 2; k++) {
        a->w0[k] = k == a->positive ? 0.5 * a->many.two.w0 : -0.5 * a->many.two.w0;
        a->G0[k] = a->many.two.G0;
        sp_adaptive_set_count(a, k, a->D[k]);
    }
    sp_tree_fill(&learner->adaptive.many, a->w0, 2);
}

SP_RARE SP_PRIVATE int sp_many_split(sp_learner *learner)
{
    sp_table *before = (sp_table *)sp_malloc(sizeof(sp_table));
    if (before == NULL || sp_tree_room(&learner->adaptive.many, 3) < 0) {
        sp_free(before);
        return -1;
    }
    *before = learner->table;
    sp_adaptive *a = &learner->adaptive;
    sp_shapes shapes = {0};
    if (sp_many_reformed(&learner->table, before, a->positive) < 0
        || sp_shapes_split(&shapes, &a->shapes, a->positive) < 0) {
        sp_shapes_free(&shapes);
        sp_rows_free(sp_many_rows(&learner->table));
        sp_table_free(&learner->table);
        sp_tree_free(&learner->adaptive.many);
        learner->table = *before;
        sp_free(before);
        return -1;
    }
    learner->old_form = before;
    a->many.two.shapes = a->shapes;
    a->shapes = shapes;
    learner->answer = SP_ANSWER_LABELS;
    learner->version += 1;
    sp_many_split_once(learner);
    return 0;
}

/* Forget the old form, and its curves and surfaces. */
static void sp_many_forget_old_form(sp_learner *learner)
{
    memset(&learner->adaptive.many.two.shapes, 0, sizeof(sp_shapes));
    sp_free(learner->old_form);
    learner->old_form = NULL;
}

SP_RARE SP_PRIVATE void sp_many_commit_split(sp_learner *learner)
{
    sp_table_free(learner->old_form);
    sp_shapes_free(&learner->adaptive.many.two.shapes);
    sp_many_forget_old_form(learner);
}

SP_RARE SP_PRIVATE void sp_many_revert_split(sp_learner *learner)
{
    sp_adaptive *a = &learner->adaptive;
    const sp_one_output *two = &a->many.two;
    sp_rows_free(sp_many_rows(&learner->table));
    sp_table_free(&learner->table);
    learner->table = *learner->old_form;
    learner->answer = SP_ANSWER_TWO;
    learner->version += 1;
    a->rows = false;
    learner->machine = &sp_adaptive_machine;
    sp_shapes_free(&a->shapes);
    a->shapes = two->shapes;
    a->w0[0] = two->w0;
    a->G0[0] = two->G0;
    a->w0[1] = a->G0[1] = 0.0;
    for (int k = 0; k < 2; k++)
        sp_adaptive_set_count(a, k, a->D[k]);
    sp_tree_free(&a->many);
    sp_many_forget_old_form(learner);
}

SP_PRIVATE int sp_many_expect(sp_learner *learner, ptrdiff_t n)
{
    sp_table *table = &learner->table;
    if (sp_adaptive_room(&learner->adaptive, n) < 0
        || sp_shapes_lanes(&learner->adaptive.shapes, n) < 0
        || sp_tree_room(&learner->adaptive.many, n) < 0)
        return -1;
    if (table->arena == NULL)
        table->arena = sp_rows_open();
    if (table->arena == NULL) {
        sp_tree_free(&learner->adaptive.many); /* without rows, nothing else would free it */
        return -1;
    }
    table->kind = &sp_many_slots;
    learner->answer = SP_ANSWER_LABELS;
    learner->adaptive.rows = true;
    learner->machine = &sp_many_machine;
    learner->adaptive.n_labels = n;
    for (ptrdiff_t k = 0; k < n; k++)
        sp_adaptive_set_count(&learner->adaptive, k, 0.0);
    sp_tree_fill(&learner->adaptive.many, learner->adaptive.w0, n);
    return 0;
}

SP_RARE SP_PRIVATE void sp_many_close(sp_learner *learner)
{
    sp_tree_free(&learner->adaptive.many);
    sp_rows_free(sp_many_rows(&learner->table));
    learner->table.arena = NULL;
    sp_adaptive_free(&learner->adaptive);
}

SP_RARE SP_PRIVATE int sp_many_duplicate(sp_learner *to, const sp_learner *other)
{
    const sp_many *many = &other->adaptive.many;
    int failed = sp_adaptive_copy(&to->adaptive, &other->adaptive);
    to->table.arena = sp_rows_copy(sp_many_rows(&other->table));
    if (failed < 0 || to->table.arena == NULL || sp_tree_room(&to->adaptive.many, many->room) < 0)
        return -1;
    memcpy(to->adaptive.many.tree, many->tree, sp_tree_bytes(many));
    return 0;
}

SP_RARE SP_PRIVATE size_t sp_many_held(const sp_learner *learner)
{
    const sp_sparse_rows *rows = sp_many_rows(&learner->table);
    return sp_adaptive_bytes(&learner->adaptive) + sp_tree_bytes(&learner->adaptive.many)
           + (rows == NULL ? 0 : rows->bytes);
}

/* --- Checks */

/* Whether learning cannot have made a row. */
SP_RARE static bool sp_many_row_fault(const sp_learner *learner, const sp_head *slot, bool counts)
{
    const sp_sparse *row = &slot->row;
    sp_entry room[SP_DENSE_MOST];
    const sp_sparse_rows *rows = sp_many_rows(&learner->table);
    const size_t labels = (size_t)learner->adaptive.n_labels;
    if (row->dense && sp_dense_fault(rows, row))
        return true;
    const sp_entry *entries = sp_row_look(rows, row, room);
    return row->n > labels
           || (row->block && !row->dense && row->n > sp_row_capacity((int)row->size))
           || (!row->block && row->n)
           || !(counts ? sp_counts_are_sound((const double *)(const void *)slot, entries, row->n,
                                             labels)
                       : sp_entries_are_sound(entries, row->n, labels, -SP_MARK_C, SP_MARK_C));
}

SP_RARE SP_PRIVATE const char *sp_many_fault(const sp_learner *learner)
{
    const sp_adaptive *a = &learner->adaptive;
    const sp_table *table = &learner->table;
    /* rows in a file are checked when they are read */
    const sp_slot_type n_slots = sp_many_rows(table)->borrowed ? 0 : learner->index.n_slots;
    sp_entry room[SP_DENSE_MOST];
    for (sp_slot_type slot = 0; slot < n_slots; slot++) {
        const sp_head *head = sp_table_head(table, slot);
        if (slot >> SP_CHUNK_BITS >= table->n_chunks)
            break;
        if (sp_many_row_fault(learner, head, true)
            || sp_many_row_fault(learner, sp_many_e(table, slot), false))
            return "a row has invalid entries";
        const sp_entry *entries = sp_row_look(sp_many_rows(table), &head->row, room);
        if (!sp_many_adds_up(entries, head->row.n, head->of.N))
            return "a feature's counts are not those of its row";
    }
    if (!sp_tree_is_true(&learner->adaptive.many, a->w0, a->n_labels))
        return "the tree of intercepts is not that of the labels";
    return sp_adaptive_wrong(learner);
}

SP_RARE SP_PRIVATE bool sp_many_slots_fault(const sp_learner *learner, sp_slot_type n_slots)
{
    const sp_table *table = &learner->table;
    const sp_blocks blocks = sp_table_blocks(table);
    for (sp_slot_type slot = 0; slot < n_slots; slot++) {
        if (slot >> SP_CHUNK_BITS >= table->n_chunks)
            break;
        const sp_column *column = sp_column_of(&blocks, slot);
        const sp_head *head = sp_head_of(table->blocks->chunks, slot);
        const sp_head *e = sp_many_e(table, slot);
        if (sp_head_fault(head) || !(fabs(head->of.N) <= SP_VALUE_LIMIT) || sp_record_fault(column)
            || e->s != 0.0 || e->of.N != 0.0 || (e->row.n && column->n == 0.0))
            return true;
    }
    return false;
}

/* --- The path of an event */

SP_RARE static void sp_many_scratch_free(sp_scratch_head *head)
{
    sp_many_scratch *w = (sp_many_scratch *)(void *)head;
    sp_free(w->spots);
    sp_free(w->met);
    sp_free(w->score);
    sp_free(w->adds);
    sp_free(w->rows);
    sp_free(w->claims);
    sp_adaptive_scratch_free(head);
}

static size_t sp_many_scratch_bytes(const sp_scratch_head *head)
{
    const sp_many_scratch *w = (const sp_many_scratch *)(const void *)head;
    return sp_adaptive_scratch_bytes(head)
           + (size_t)w->labels_room
                 * (sizeof(uint64_t) + 2 * sizeof(uint32_t) + 7 * sizeof(double))
           + (size_t)w->rows_room * (sizeof(sp_row_seen) + 2 * sizeof(sp_claim));
}

static const sp_scratch_kind sp_many_scratch_kind = {
    .size = sizeof(sp_many_scratch),
    .bytes = sp_many_scratch_bytes,
    .free = sp_many_scratch_free,
};

/* Room for so many labels, and for the rows of an event's entries. -1 if out of memory. */
static int sp_many_scratch_reserve(sp_many_scratch *w, ptrdiff_t labels)
{
    ptrdiff_t room = w->weighed.n + w->weighed.n / 2 + 16;
    if (w->weighed.n > w->rows_room) {
        const sp_growing all[] = {
            SP_GROWING(w->rows, room),
            SP_GROWING(w->claims, 2 * room),
        };
        if (sp_grow_all(all, 2) < 0)
            return -1;
        w->rows_room = room;
    }
    room = SP_MAX(labels + labels / 2 + 8, (ptrdiff_t)SP_MANY_FEW);
    if (labels <= w->labels_room)
        return 0;
    const sp_growing all[] = {
        SP_GROWING(w->met, room),
        SP_GROWING(w->adds, room),
        SP_GROWING(w->score, 7 * room),
    };
    if (sp_grow_all(all, 3) < 0)
        return -1;
    w->z = w->score + room;
    w->V = w->score + 2 * room;
    w->p = w->score + 3 * room;
    w->E = w->score + 4 * room;
    w->leaf = w->score + 5 * room;
    w->plain = w->score + 6 * room;
    if (SP_GROW(w->spots, room) < 0)
        return -1;
    memset(w->spots + w->labels_room, 0, (size_t)(room - w->labels_room) * sizeof(uint64_t));
    w->labels_room = room;
    return 0;
}

SP_PRIVATE int sp_many_score_event(sp_learner *learner, sp_event *event)
{
    ptrdiff_t n = learner->adaptive.n_labels;
    if (sp_event_reserve_scores(event, SP_KEPT_KINDS, (SP_KEPT_KINDS + 1) * n) < 0
        || sp_adaptive_scratch_read(learner, event, &sp_many_scratch_kind, n + 1) < 0)
        return -1;
    sp_many_scratch *w = sp_many_scratch_of(event);
    if (sp_many_scratch_reserve(w, n + 1) < 0)
        return -1;
    event->n_scores = n;
    sp_many_answer(learner, event, w);
    event->verdicts[SP_KEPT_CURRENT].best = sp_many_best(learner, w);
    event->judged = 1 << SP_KEPT_CURRENT;
    return 0;
}

SP_PRIVATE void sp_many_decide(const sp_learner *learner, sp_event *event)
{
    const sp_adaptive *a = &learner->adaptive;
    sp_many_scratch *w = sp_many_scratch_of(event);
    double tempering = sp_tempering(a);
    if (w->decided)
        return;
    for (ptrdiff_t k = 0; k < a->n_labels; k++)
        event->scores[k] = w->damaged ? NAN : sp_many_score_of(a, w, k) * tempering;
    w->decided = true;
}

SP_PRIVATE int sp_many_plan(sp_learner *learner, sp_event *event, const sp_entries *row,
                            bool intercept, ptrdiff_t y, double u)
{
    (void)row;
    (void)intercept;
    sp_many_aim(learner, sp_many_scratch_of(event), y, u);
    return 0;
}

SP_PRIVATE int sp_many_reserve_event(sp_learner *learner, sp_event *event, ptrdiff_t y, double u)
{
    sp_many_scratch *w = sp_many_scratch_of(event);
    if (u == 0.0)
        return 0;
    if (sp_adaptive_scratch_reserve_entries(learner, event, y) < 0
        || sp_tree_room(&learner->adaptive.many, y + 1) < 0
        || (y == learner->adaptive.n_labels && sp_table_add_outputs(&learner->table, 1) < 0)
        || sp_many_reserve(learner, event, w, y) < 0)
        return -1;
    if (sp_adaptive_scratch_chunks(learner, event) < 0) {
        sp_many_release(sp_many_rows(&learner->table), w);
        return -1;
    }
    return 0;
}

SP_PRIVATE void sp_many_apply(sp_learner *learner, sp_event *event, ptrdiff_t y, double u)
{
    sp_many_scratch *w = sp_many_scratch_of(event);
    const ptrdiff_t best = event->verdicts[SP_KEPT_CURRENT].best;
    learner->n_seen += 1;
    learner->n_mistakes += best != y;
    if (u == 0.0)
        return;
    learner->n_updates += w->weighed.n_strides > 0 || sp_shaped_steps(&w->weighed.shaped);
    sp_alarms_learn(&learner->adaptive.alarms, learner->adaptive.n_labels, best, y);
    sp_many_learn(learner, event, w, y, u);
    sp_adaptive_settle(&learner->adaptive, &learner->index, &w->weighed.shaped,
                       sp_index_ceiling(&learner->index));
}

SP_PRIVATE double sp_many_read(const sp_learner *learner, sp_slot_type slot, ptrdiff_t output,
                               int kind)
{
    (void)kind; /* there is one vector */
    if (slot == SP_SLOT_INTERCEPT)
        return learner->adaptive.w0[output];
    const sp_table *table = &learner->table;
    const sp_sparse *row = &sp_table_head(table, slot)->row;
    if (row->n && !sp_row_is_there(sp_many_rows(table), row))
        return NAN; /* from a damaged file */
    return (double)sp_many_entry(table, slot, output).w;
}
