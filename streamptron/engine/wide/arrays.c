#include "wide/arrays.h"

#include "table/slot.h"
#include "table/wide.h"
#include "wide/machine.h"

#include <math.h>
#include <string.h>

SP_PRIVATE bool sp_learner_is_wide(const sp_learner *learner)
{
    return sp_table_is_wide(&learner->table);
}

SP_PRIVATE int sp_learner_widen(sp_learner *learner)
{
    if (!sp_wide_is_due(learner, PTRDIFF_MAX))
        return SP_MARKS_WRONG;
    return sp_table_is_wide(&learner->table) || sp_wide_start(learner) == 0 ? 0 : SP_MARKS_MEMORY;
}

static const sp_wide *sp_wide_row_of(const double *slot)
{
    return (const sp_wide *)(const void *)slot;
}

SP_PRIVATE size_t sp_entries_measure(const sp_learner *learner, const sp_arrays *flat)
{
    size_t units = 1;
    for (size_t i = 0; i < flat->n_weights; i++)
        units += sp_wide_units(&learner->table.layout, sp_wide_row_of(flat->weights + i)->n);
    return units;
}

SP_PRIVATE void sp_entries_write(const sp_learner *learner, sp_arrays *flat, uint64_t *entries)
{
    size_t at = 1;
    memset(entries, 0, SP_WIDE_UNIT);
    for (size_t i = 0; i < flat->n_weights; i++) {
        const sp_wide row = *sp_wide_row_of(flat->weights + i);
        const size_t units = sp_wide_units(&learner->table.layout, row.n);
        sp_wide_clear_addresses(flat->weights + i, units ? at : 0);
        if (units)
            memcpy(entries + SP_ENTRIES_WIDTH * at,
                   sp_wide_fields(sp_wide_rows(&learner->table), &row), units * SP_WIDE_UNIT);
        at += units;
    }
}

/* Read the row of a slot that was copied from arrays. Its units must begin at `at` of n. They are
   bytes, which need not be aligned in a delta, so they are copied first and then checked. */
static int sp_entries_read_row(sp_table *table, sp_wide *row, const uint8_t *entries, size_t *at,
                               size_t n)
{
    const size_t m = row->n;
    const size_t units = sp_wide_units(&table->layout, m);
    if (row->size || row->block != (m ? *at : 0) || units > n - *at)
        return SP_MARKS_WRONG;
    if (sp_wide_put(table, row, entries + SP_WIDE_UNIT * *at, m) < 0)
        return SP_MARKS_MEMORY;
    *at += units;
    return m == 0 || sp_wide_is_sound(table, sp_wide_fields(sp_wide_rows(table), row), m)
               ? 0
               : SP_MARKS_WRONG;
}

SP_PRIVATE int sp_entries_read(sp_learner *learner, const uint64_t *entries, size_t n)
{
    sp_table *table = &learner->table;
    size_t at = 1;
    int fault = 0;
    for (size_t chunk = 0; chunk < table->n_chunks && !fault; chunk++) {
        double *slots = sp_table_chunk(table, 0, chunk);
        for (int i = 0; slots != NULL && i < SP_CHUNK_SLOTS && !fault; i++)
            fault = sp_entries_read_row(table, (sp_wide *)(void *)(slots + i),
                                        (const uint8_t *)entries, &at, n);
    }
    return !fault && at != n ? SP_MARKS_WRONG : fault;
}

SP_PRIVATE int sp_wide_shadow(sp_table *to, const sp_learner *from, sp_slot_type n_slots,
                              int positive)
{
    const sp_table *table = &from->table;
    sp_table two;
    int failed;
    if (sp_table_is_wide(table))
        return sp_wide_copied(to, table, &from->index, n_slots);
    if (positive < 0 || table->lanes > 1)
        return sp_wide_reformed(to, table, &from->index, n_slots);
    failed = sp_table_split(&two, table, positive);
    if (failed < 0) {
        sp_table_free(&two);
        memset(to, 0, sizeof(*to));
        return -1;
    }
    failed = sp_wide_reformed(to, &two, &from->index, n_slots);
    sp_table_free(&two);
    return failed;
}

/* --- Deltas */

/* The value of an averaging term that has missed so many folds. */
static double sp_wide_folded(double v, uint32_t folds)
{
    for (uint32_t k = 0; k < folds && v != 0.0; k++)
        v *= exp2(-(double)SP_FOLD_BITS);
    return v;
}

/* Whether fields have the same bits as a base's, which have missed so many folds. NULL: zeros. */
static bool sp_wide_same_fields(const sp_layout *layout, const double *fields, const double *base,
                                uint32_t folds)
{
    const double zeros[SP_FIELDS_MOST] = {0.0};
    if (fields == NULL)
        fields = zeros;
    if (base == NULL)
        base = zeros;
    for (int f = 0; f < layout->fields; f++) {
        const double before = f == layout->v ? sp_wide_folded(base[f], folds) : base[f];
        if (sp_bits_of(fields[f]) != sp_bits_of(before))
            return false;
    }
    return true;
}

SP_PRIVATE bool sp_wide_same_row(const sp_learner *learner, uint32_t block, const double *row,
                                 const sp_learner *base, const double *its)
{
    (void)block; /* there is one block */
    const sp_layout *layout = &learner->table.layout;
    const sp_wide *ours = sp_wide_row_of(row);
    const sp_wide *theirs = sp_wide_row_of(its);
    const bool here = sp_wide_is_there(&learner->table, ours);
    const bool there = sp_wide_is_there(&base->table, theirs);
    const size_t n = here ? ours->n : 0;
    const size_t m = there ? theirs->n : 0;
    double *fields = here ? sp_wide_fields(sp_wide_rows(&learner->table), ours) : NULL;
    double *before = there ? sp_wide_fields(sp_wide_rows(&base->table), theirs) : NULL;
    const uint32_t *labels = here ? sp_wide_labels(layout, fields, n) : NULL;
    const uint32_t *known = there ? sp_wide_labels(layout, before, m) : NULL;
    const size_t width = (size_t)layout->fields;
    const uint32_t folds = learner->table.fold - base->table.fold;
    size_t i = 0, j = 0;
    while (i < n || j < m) {
        const bool own = i < n && (j == m || labels[i] <= known[j]);
        const bool old = j < m && (i == n || known[j] <= labels[i]);
        if (!sp_wide_same_fields(layout, own ? fields + i * width : NULL,
                                 old ? before + j * width : NULL, folds))
            return false;
        i += own;
        j += old;
    }
    return true;
}

SP_PRIVATE size_t sp_wide_marks(const sp_learner *learner, const double *slot,
                                const uint32_t **marks)
{
    const sp_wide *row = sp_wide_row_of(slot);
    *marks = NULL;
    if (row->n == 0 || !sp_wide_is_there(&learner->table, row))
        return 0;
    *marks = (const uint32_t *)(const void *)sp_rows_at(sp_wide_rows(&learner->table), row->block);
    return sp_wide_units(&learner->table.layout, row->n);
}

SP_PRIVATE void sp_wide_clear_addresses(double *slot, size_t at)
{
    sp_wide *row = (sp_wide *)(void *)slot;
    row->block = (uint32_t)at;
    row->size = 0;
}

SP_PRIVATE int sp_wide_overlay_begin(sp_learner *learner, const sp_learner *base)
{
    const uint32_t fold = learner->table.fold;
    sp_table *table = &learner->table;
    sp_wide_drop(table);
    if (sp_wide_shadow(table, base, base->index.n_slots, learner->two.positive) < 0)
        return -1;
    if (table->average == SP_AVERAGE_EXPONENTIAL)
        sp_wide_fold(table, fold - base->table.fold);
    return 1;
}

SP_PRIVATE int sp_wide_overlay_rows(sp_learner *learner, const uint32_t *slots,
                                    const uint32_t *blocks, size_t n, const uint32_t *marks,
                                    size_t n_marks, const double *marked)
{
    (void)blocks; /* there is one block */
    (void)marked;
    sp_table *table = &learner->table;
    size_t at = 1;
    int fault = sp_marks_begin(marks, n_marks) ? 0 : SP_MARKS_WRONG;
    for (size_t i = 0; i < n && !fault; i++)
        fault = sp_entries_read_row(table, sp_wide_of(table, slots[i]),
                                    (const uint8_t *)marks, &at, n_marks);
    return !fault && at != n_marks ? SP_MARKS_WRONG : fault;
}
