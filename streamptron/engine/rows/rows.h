/* Rows of entries: for each feature, the labels that it has numbers for, sorted by label.

   A row is a block of an arena (rows/arena.h). Its size is one of several classes, each half as
   large again as the one before. An entry is inserted by moving those behind it. A full row moves
   to a block of the next class, and its old block waits for the next row of that size:

       feature   "oil"      [ crude c w G ][ ship c w G ][  free  ]        size 3, 2 in use
                 "barrel"   [ crude c w G ]

   With few labels a row may have the dense form (rows/dense.h). sp_row_look, sp_row_numbers and
   sp_row_has read either form; sp_row_move turns a row into this form, and sp_row_make_dense into
   the dense one. The other functions are for rows that are not dense.

   Only taking a block can fail (sp_rows_take). So all blocks that a change needs are taken before
   it. */

#ifndef STREAMPTRON_ROWS_ROWS_H
#define STREAMPTRON_ROWS_ROWS_H

#include "rows/arena.h"
#include "rows/dense.h"

/* The entries of a row that is not dense; NULL if it has none. */
SP_TEMPLATE sp_entry *sp_row_entries(const sp_sparse_rows *rows, const sp_sparse *row)
{
    return sp_row_is_there(rows, row) ? sp_rows_at(rows, row->block) : NULL;
}

/* The place of label k among the entries, or where it would be. */
SP_TEMPLATE uint32_t sp_row_place(const sp_entry *entries, uint32_t n, uint32_t k)
{
    uint32_t first = 0;
    while (n > 1) { /* the half cannot be predicted, so there is no branch */
        const uint32_t half = n / 2;
        const uint32_t behind = entries[first + half - 1].k < k;
        first += half & (0 - behind);
        n -= half;
    }
    return first + (n == 1 && entries[first].k < k);
}

/* The entry of label k; NULL if there is none. */
SP_TEMPLATE sp_entry *sp_row_find(const sp_sparse_rows *rows, const sp_sparse *row, uint32_t k)
{
    sp_entry *entries = sp_row_entries(rows, row);
    uint32_t at = entries == NULL ? row->n : sp_row_place(entries, row->n, k);
    return at < row->n && entries[at].k == k ? &entries[at] : NULL;
}

/* The entries of a row in either form; NULL if it has none. Those of a dense row are written to
   `room`, which has room for SP_DENSE_MOST. */
SP_PRIVATE const sp_entry *sp_row_look(const sp_sparse_rows *rows, const sp_sparse *row,
                                       sp_entry *room);

/* The entry of label k of a row in either form; zeros if it has none. */
SP_PRIVATE sp_entry sp_row_numbers(const sp_sparse_rows *rows, const sp_sparse *row, uint32_t k);

/* Whether it has an entry of label k. */
SP_PRIVATE bool sp_row_has(const sp_sparse_rows *rows, const sp_sparse *row, uint32_t k);

/* The entry of label k, made if need be; there must be room for one more. */
SP_PRIVATE sp_entry *sp_row_insert(const sp_sparse_rows *rows, sp_sparse *row, uint32_t k);

/* Move a row to a block that was taken for it; a dense row becomes sparse. If the row is sparse and
   its own block has as much room, the new block is given back instead. */
SP_PRIVATE void sp_row_move(sp_sparse_rows *rows, sp_sparse *row, uint32_t block, int size);

/* The same, and make the row dense. */
SP_PRIVATE void sp_row_make_dense(sp_sparse_rows *rows, sp_sparse *row, uint32_t block, int size);

/* Make room for n entries in a row, which is not dense then. -1 if out of memory; its contents stay
   in either case. */
SP_PRIVATE int sp_row_reserve(sp_sparse_rows *rows, sp_sparse *row, uint32_t n);

/* Remove an entry from a row, if it is there. */
SP_PRIVATE void sp_row_remove(sp_sparse_rows *rows, sp_sparse *row, uint32_t k);

/* Remove all entries that have neither c nor G. A row that has no others gives its block back. */
SP_PRIVATE void sp_row_sift(sp_sparse_rows *rows, sp_sparse *row);

/* Give a row's block back. */
SP_PRIVATE void sp_row_drop(sp_sparse_rows *rows, sp_sparse *row);

#endif
