#include "many/delta.h"

#include "many/machine.h"
#include "many/many.h"
#include "many/two.h"
#include "rows/marks.h"

#include <stddef.h>
#include <string.h>

/* A slot's N; with two labels, it is not stored. */
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

SP_PRIVATE int sp_many_overlay_begin(sp_learner *learner, const sp_learner *base)
{
    sp_table *table = &learner->table;
    sp_rows_free(sp_many_rows(table));
    table->arena = NULL;
    if (base->adaptive.rows) {
        table->arena = sp_rows_copy(sp_many_rows(&base->table));
        return table->arena == NULL ? -1 : 0;
    }
    sp_table_free(table);
    return sp_many_reformed(table, &base->table, base->adaptive.positive) < 0 ? -1 : 1;
}

/* Read the row of a slot in a block. Its entries must begin at mark `at` of n, which moves behind
   them. */
static int sp_many_overlay_row(sp_learner *learner, uint32_t block, sp_head *head,
                               const uint32_t *marks, size_t n, size_t *at)
{
    sp_sparse_rows *rows = sp_many_rows(&learner->table);
    const sp_sparse *row = &head->row;
    int fault = sp_marks_read(rows, (double *)(void *)head, 1, marks, n,
                              (size_t)learner->adaptive.n_labels, block == 0, at);
    if (fault)
        return fault;
    const sp_entry *entries = sp_row_entries(rows, row);
    for (uint32_t i = 0; i < row->n; i++) {
        if (entries[i].G > 1e38f || (block != 0 && (entries[i].w != 0.0f || entries[i].G != 0.0f)))
            return SP_MARKS_WRONG;
    }
    if (block != 0)
        return 0;
    return sp_many_adds_up(entries, row->n, head->of.N) ? 0 : SP_MARKS_WRONG;
}

SP_PRIVATE int sp_many_overlay_rows(sp_learner *learner, const uint32_t *slots,
                                    const uint32_t *blocks, size_t n, const uint32_t *marks,
                                    size_t n_marks, const double *marked)
{
    (void)n;
    (void)marked; /* of the model */
    size_t at = 1;
    size_t i = 0;
    int fault = sp_marks_begin(marks, n_marks) ? 0 : SP_MARKS_WRONG;
    for (uint32_t b = 0; b < SP_HEAD_BLOCKS; b++) {
        for (uint32_t end = blocks[b], k = 0; k < end; k++, i++) {
            sp_head *head = sp_head_of(learner->table.blocks[b].chunks, slots[i]);
            if (fault || b == SP_BLOCK_COLUMNS)
                continue;
            fault = sp_many_overlay_row(learner, b, head, marks, n_marks, &at);
        }
    }
    return !fault && at != n_marks ? SP_MARKS_WRONG : fault;
}
