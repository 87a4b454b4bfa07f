/* The dense form of a row, for models with few labels, most of which are in the row.

   Each label has a place, whether it is in the row or not, and a bit says which labels are in it:

       w G w G w G ..  | c c c ..  | labels u64                12 bytes a lane, and 8

   A step moves a w and its G, so they are side by side, as in an entry. There are as many lanes as
   the block has room for, a multiple of four; lanes that are not in the row are zeros. So no label
   is read or searched for, and loops take four lanes at a time. The numbers are the same as in the
   other form, and sums take them in the same order, so no bit changes. Files have only the other
   form. */

#ifndef STREAMPTRON_ROWS_DENSE_H
#define STREAMPTRON_ROWS_DENSE_H

#include "rows/arena.h"

enum {
    SP_DENSE_MOST = 64, /* labels */
    SP_DENSE_SIZES = 11,
};

/* How many lanes a block of a class has; 64 at most. */
static const uint8_t sp_dense_lanes[SP_DENSE_SIZES] = {0, 0, 0, 4, 4, 8, 16, 24, 36, 52, 64};

/* The places of a dense row's numbers. */
typedef struct sp_dense {
    float *w; /* and G: two by two */
    float *c;
    uint64_t *labels;
    uint32_t lanes;
} sp_dense;

SP_TEMPLATE sp_dense sp_dense_at(const sp_sparse_rows *rows, uint32_t block, uint32_t size)
{
    float *w = (float *)(void *)sp_rows_at(rows, block);
    const uint32_t lanes = sp_dense_lanes[size];
    return (sp_dense){w, w + 2 * lanes, (uint64_t *)(void *)(w + 3 * lanes), lanes};
}

SP_TEMPLATE sp_dense sp_dense_of(const sp_sparse_rows *rows, const sp_sparse *row)
{
    return sp_dense_at(rows, row->block, row->size);
}

/* The numbers of label k, which has a lane. */
static inline sp_entry sp_dense_numbers(const sp_dense *dense, uint32_t k)
{
    return (sp_entry){k, dense->c[k], dense->w[2 * k], dense->w[2 * k + 1]};
}

/* Write these entries, and no others. */
SP_PRIVATE void sp_dense_put(const sp_dense *to, const sp_entry *entries, uint32_t n);

/* The smallest class for so many labels, at most SP_DENSE_MOST. */
SP_PRIVATE int sp_dense_size_for(ptrdiff_t labels);

/* The number of entries from which on a row of so many labels becomes dense: then the dense form is
   at most half as large again as the other one. */
SP_PRIVATE uint32_t sp_dense_from(ptrdiff_t labels);

/* Add an entry of zeros for label k, which the dense row does not have. */
SP_PRIVATE void sp_dense_add(const sp_sparse_rows *rows, sp_sparse *row, uint32_t k);

/* Whether a dense row contradicts itself. */
SP_PRIVATE bool sp_dense_fault(const sp_sparse_rows *rows, const sp_sparse *row);

#endif
