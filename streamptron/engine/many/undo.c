#include "many/undo.h"

#include <math.h>
#include <string.h>

SP_PRIVATE double sp_many_snapshot_read(const sp_table *table, sp_slot_type slot, ptrdiff_t y,
                                        const ptrdiff_t *k, ptrdiff_t m, float *kept)
{
    const sp_head *head = sp_table_head(table, slot);
    kept[SP_SNAPSHOT_CNT] = head->cnt;
    kept[SP_SNAPSHOT_OM] = head->om;
    kept[SP_SNAPSHOT_C] = sp_many_entry(table, slot, y).c;
    for (ptrdiff_t j = 0; j < m; j++) {
        const sp_entry entry = sp_many_entry(table, slot, k[j]);
        kept[SP_SNAPSHOT_FIRST + 2 * j] = entry.w;
        kept[SP_SNAPSHOT_FIRST + 2 * j + 1] = entry.G;
    }
    return head->s;
}

/* e of label k in a column. */
static float sp_many_e_of(const sp_table *table, sp_slot_type slot, ptrdiff_t k)
{
    return sp_row_numbers(sp_many_rows(table), &sp_many_e(table, slot)->row, (uint32_t)k).c;
}

SP_PRIVATE void sp_many_column_read(const sp_table *table, sp_slot_type slot, ptrdiff_t y,
                                    sp_column *column, float *e)
{
    const sp_blocks blocks = sp_table_blocks(table);
    *column = *sp_column_of(&blocks, slot);
    *e = sp_many_e_of(table, slot, y);
}

/* --- The labels that a step has moved: those of its outputs, or two of the one output */

static ptrdiff_t sp_change_labels(const sp_change *change)
{
    return change->one && change->m ? 2 : change->m;
}

/* The j-th of these labels, with its w and G before the step or after it. */
static sp_entry sp_change_at(const sp_adaptive *a, const sp_change *change, const float *numbers,
                             ptrdiff_t j)
{
    const float *cell = numbers + SP_SNAPSHOT_FIRST + (change->one ? 0 : 2 * j);
    sp_entry entry = {.k = (uint32_t)j, .w = cell[0], .G = cell[1]};
    if (change->one)
        entry.w *= j == a->positive ? 0.5f : -0.5f;
    else
        entry.k = (uint32_t)change->k[j];
    return entry;
}

/* Whether a label is one of these. */
static bool sp_change_has(const sp_change *change, ptrdiff_t y)
{
    for (ptrdiff_t j = 0; j < change->m; j++) {
        if (change->one || change->k[j] == y)
            return true;
    }
    return false;
}

/* --- Room */

SP_PRIVATE int sp_many_back_room(const sp_learner *learner, sp_slot_type slot,
                                 const sp_change *change)
{
    const sp_table *table = &learner->table;
    const sp_adaptive *a = &learner->adaptive;
    sp_sparse *row = &sp_head_of(table->blocks->chunks, slot)->row;
    uint32_t n = row->n;
    for (ptrdiff_t j = 0; j < sp_change_labels(change); j++)
        n += !sp_row_has(sp_many_rows(table), row, sp_change_at(a, change, change->before, j).k);
    if (!sp_change_has(change, change->y))
        n += !sp_row_has(sp_many_rows(table), row, (uint32_t)change->y);
    return sp_row_reserve(sp_many_rows(table), row, n);
}

SP_PRIVATE int sp_many_column_room(const sp_learner *learner, sp_slot_type slot,
                                   const sp_snapshot_column *kept, const sp_change *change)
{
    const sp_table *table = &learner->table;
    sp_sparse *row = &sp_many_e(table, slot)->row;
    uint32_t n = row->n;
    for (uint32_t i = 0; i < kept->places; i++)
        n += !sp_row_has(sp_many_rows(table), row, change->one ? i : (uint32_t)change->y);
    return sp_row_reserve(sp_many_rows(table), row, n);
}

/* --- Undoing */

/* Restore w and G of the labels that stepped. */
static void sp_many_back_weights(const sp_learner *learner, sp_sparse *row, const sp_change *change)
{
    const sp_sparse_rows *rows = sp_many_rows(&learner->table);
    for (ptrdiff_t j = 0; j < sp_change_labels(change); j++) {
        const sp_entry before = sp_change_at(&learner->adaptive, change, change->before, j);
        const sp_entry after = sp_change_at(&learner->adaptive, change, change->after, j);
        sp_entry *entry = sp_row_insert(rows, row, before.k);
        entry->w = sp_back(entry->w, before.w, after.w);
        entry->G = sp_back_count(entry->G, before.G, after.G);
    }
}

/* Restore c of the label. A feature that has never come has no c. */
static void sp_many_back_counts(const sp_sparse_rows *rows, sp_head *head, const sp_change *change)
{
    sp_entry *entry = sp_row_insert(rows, &head->row, (uint32_t)change->y);
    entry->c = sp_back(entry->c, change->before[SP_SNAPSHOT_C], change->after[SP_SNAPSHOT_C]);
    if (entry->c < 0.0f && !signbit(head->s))
        entry->c = 0.0f;
    sp_entry *entries = sp_row_entries(rows, &head->row);
    for (uint32_t i = 0; i < head->row.n; i++) {
        entries[i].c = sp_c_left(entries[i].c, head->cnt);
        if (entries[i].c < 0.0f && !signbit(head->s)) /* the feature has been negative */
            head->s = -head->s;
    }
}

/* N, and how informative a feature is, from the counts in its row now. */
static float sp_many_back_om(const sp_learner *learner, sp_head *head)
{
    const sp_adaptive *a = &learner->adaptive;
    double sum, squares;
    sp_many_sums(sp_many_rows(&learner->table), &head->row, a->rD, &sum, &squares);
    head->of.N = sum;
    return head->cnt == 0.0f ? 0.0f
                             : sp_om(head->cnt, a->T + (double)a->n_labels, squares, sum);
}

SP_PRIVATE void sp_many_take_back(const sp_learner *learner, sp_slot_type slot,
                                  const sp_change *change)
{
    const sp_table *table = &learner->table;
    const sp_blocks blocks = sp_table_blocks(table);
    const bool halved = sp_has_halved(change->before, change->after);
    sp_head *head = sp_head_of(table->blocks->chunks, slot);
    const float cnt = head->cnt;
    const float om = head->om;
    sp_many_back_weights(learner, &head->row, change);
    if (!halved) {
        sp_back_head(head, change->before, change->after, change->s_before, change->s_after);
        sp_many_back_counts(sp_many_rows(table), head, change);
    }
    sp_row_sift(sp_many_rows(table), &head->row);
    float om_now = sp_many_back_om(learner, head);
    if (halved || sp_column_of(&blocks, slot)->n > 0.0)
        return; /* om belongs to the halved counts, or to e */
    if (head->cnt > 0.0f && cnt == change->after[SP_SNAPSHOT_CNT]
        && om == change->after[SP_SNAPSHOT_OM])
        om_now = change->before[SP_SNAPSHOT_OM];
    head->om = om_now;
}

/* Restore the e that are kept: through their sums, or exactly. */
static void sp_many_back_e(const sp_sparse_rows *rows, sp_sparse *row,
                           const sp_snapshot_column *kept, const sp_change *change, bool untouched)
{
    const float *e = (const float *)(const void *)(kept + 1);
    for (uint32_t i = 0; i < kept->places; i++) {
        sp_entry *entry = sp_row_insert(rows, row, change->one ? i : (uint32_t)change->y);
        entry->c = untouched ? e[i] : sp_back(entry->c, e[i], e[kept->places + i]);
    }
}

/* Whether a column is as the step left it, and everything that the step changed was kept. */
static bool sp_many_is_untouched(const sp_table *table, sp_slot_type slot,
                                 const sp_snapshot_column *kept, const sp_change *change)
{
    const sp_blocks blocks = sp_table_blocks(table);
    const float *e_after = (const float *)(const void *)(kept + 1) + kept->places;
    bool same = sp_is_same_record(sp_column_of(&blocks, slot), &kept->after)
                && (change->one || kept->after.since >= kept->before.since);
    for (uint32_t i = 0; i < kept->places && same; i++)
        same = sp_many_e_of(table, slot, change->one ? (ptrdiff_t)i : change->y) == e_after[i];
    return same;
}

SP_PRIVATE void sp_many_take_back_column(const sp_learner *learner, sp_slot_type slot,
                                         const sp_snapshot_column *kept, const sp_change *change,
                                         float om)
{
    const sp_table *table = &learner->table;
    const sp_adaptive *a = &learner->adaptive;
    const sp_blocks blocks = sp_table_blocks(table);
    sp_sparse_rows *rows = sp_many_rows(table);
    sp_column *column = sp_column_of(&blocks, slot);
    sp_head *head = sp_head_of(table->blocks->chunks, slot);
    sp_sparse *row = &sp_many_e(table, slot)->row;
    const bool untouched = sp_many_is_untouched(table, slot, kept, change);
    const bool counted = sp_is_counted(column, kept);
    double sum, squares;
    if (untouched)
        *column = kept->before;
    else if (counted && !sp_back_record(column, &kept->before, &kept->after)) {
        memset(column, 0, sizeof(sp_column));
        head->om = sp_many_back_om(learner, head);
    }
    if (untouched || counted) {
        sp_many_back_e(rows, row, kept, change, untouched);
        sp_row_sift(rows, row);
    }
    if (!(column->n > 0.0) || row->n == 0)
        sp_row_drop(rows, row);
    if (untouched)
        head->om = om;
    else if (column->n > 0.0) {
        sp_many_sums(rows, row, a->rD, &sum, &squares);
        head->om = sp_om(column->since, a->T + (double)a->n_labels, squares, sum);
    }
}
