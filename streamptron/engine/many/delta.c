#include "many/delta.h"

#include "many/machine.h"
#include "many/many.h"
#include "many/pair.h"
#include "sets/flat.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* The numbers of a slot that are not in its row. */
static double sp_many_N(const sp_learner *learner, const double *slot)
{
    const sp_head *head = (const sp_head *)(const void *)slot;
    return learner->adaptive.rows ? head->of.N
                                  : 0.0 + (double)head->of.c[0] + (double)head->of.c[1];
}

SP_PRIVATE bool sp_many_same_row(const sp_learner *learner, uint32_t block, const double *row,
                                 const sp_learner *base, const double *its)
{
    const sp_entry *entries;
    const sp_entry *theirs;
    sp_entry room[SP_DENSE_MOST], their_room[SP_DENSE_MOST];
    if (block == SP_BLOCK_COLUMNS)
        return memcmp(row, its, SP_HEAD_WIDTH * sizeof(double)) == 0;
    if (block == 0
        && (memcmp(row, its, offsetof(sp_head, row)) != 0
            || sp_many_N(learner, row) != sp_many_N(base, its)))
        return false;
    uint32_t n = sp_many_look(learner, block, row, room, &entries);
    return sp_many_look(base, block, its, their_room, &theirs) == n
           && (n == 0 || memcmp(entries, theirs, n * sizeof(sp_entry)) == 0);
}

SP_PRIVATE int sp_many_lay(sp_learner *learner, const sp_learner *base)
{
    sp_table *table = &learner->table;
    sp_rows_free(sp_many_rows(table));
    table->own = NULL;
    if (base->adaptive.rows) {
        table->own = sp_rows_copy(sp_many_rows(&base->table));
        return table->own == NULL ? -1 : 0;
    }
    sp_table_free(table);
    return sp_many_turned(table, &base->table, base->adaptive.positive) < 0 ? -1 : 1;
}

/* Whether a row's entries are some that learning can have made; `e`: of a column. */
static bool sp_many_is_sound(const sp_learner *learner, const sp_entry *entries, uint32_t n, bool e)
{
    for (uint32_t i = 0; i < n; i++) {
        const sp_entry *entry = &entries[i];
        if (entry->k >= (size_t)learner->adaptive.n_labels || (i && entry->k <= entries[i - 1].k)
            || !(fabsf(entry->c) <= 0x1p120f && fabsf(entry->w) <= 0x1p120f && entry->G >= 0.0f
                 && entry->G <= 1e38f)
            || (e && (entry->w != 0.0f || entry->G != 0.0f)))
            return false;
    }
    return true;
}

/* The row of a block of a slot, whose entries must begin at mark `at` of n. */
static int sp_many_lay_row(sp_learner *learner, uint32_t block, sp_head *head,
                           const uint32_t *marks, size_t at, size_t n)
{
    sp_sparse_rows *rows = sp_many_rows(&learner->table);
    sp_sparse *row = &head->row;
    const sp_entry *entries = (const sp_entry *)(const void *)(marks + SP_MARKS_WIDTH * at);
    double sum, squares;
    if (row->size || row->dense || row->block != (row->n ? at : 0) || row->n > n - at
        || !sp_many_is_sound(learner, entries, row->n, block != 0))
        return SP_MARKS_WRONG;
    if (row->n) {
        row->size = (uint32_t)sp_row_size_for(row->n) & 63;
        row->block = sp_rows_take(rows, (int)row->size);
        if (row->block == 0)
            return SP_MARKS_MEMORY;
        memcpy(sp_row_entries(rows, row), entries, row->n * sizeof(sp_entry));
    }
    if (block != 0)
        return 0;
    sp_many_sums(rows, row, learner->adaptive.rD, &sum, &squares);
    return sum == head->of.N ? 0 : SP_MARKS_WRONG;
}

SP_PRIVATE int sp_many_lay_rows(sp_learner *learner, const uint32_t *slots, const uint32_t *n,
                                const uint32_t *marks, size_t n_marks)
{
    size_t at = 1;
    size_t i = 0;
    int fault = n_marks > 0 && n_marks <= UINT32_MAX && !(marks[0] | marks[1] | marks[2] | marks[3])
                    ? 0
                    : SP_MARKS_WRONG;
    for (uint32_t b = 0; b < SP_HEAD_BLOCKS; b++) {
        for (uint32_t end = n[b], k = 0; k < end; k++, i++) {
            sp_head *head = sp_head_of(learner->table.blocks[b].chunks, slots[i]);
            if (fault || b == SP_BLOCK_COLUMNS)
                continue;
            fault = sp_many_lay_row(learner, b, head, marks, at, n_marks);
            at += fault ? 0 : head->row.n;
        }
    }
    return !fault && at != n_marks ? SP_MARKS_WRONG : fault;
}
