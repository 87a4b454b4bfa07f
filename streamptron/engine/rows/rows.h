/* Rows of entries: for each feature the labels that it has numbers for, sorted by label.

   A row is a block of one arena, and has the size of one of some classes, each half as large again
   as the one before. An entry is inserted by moving those behind it; a row that is full moves to a
   block of the next class, and its old block waits in a list for the next row of that size:

       feature   "oil"      [ crude c w G ][ ship c w G ][  free  ]        size 3, 2 in use
                 "barrel"   [ crude c w G ]

   Blocks are cut from segments of 1024 entries, which never move; a row that is longer has segments
   of its own, side by side. A block is known by the number of its first entry, so that a slot holds
   no address. Number 0 is no block.

   What may fail is to take a block (sp_rows_take). Whoever changes rows takes all blocks that they
   will need first. */

#ifndef STREAMPTRON_ROWS_ROWS_H
#define STREAMPTRON_ROWS_ROWS_H

#include "memory/compiler.h"
#include "rows/state.h"

/* How many entries a block of a class has. */
SP_PRIVATE uint32_t sp_row_capacity(int size);

/* The least class for n entries, of at least 1. */
SP_PRIVATE int sp_row_size_for(uint32_t n);

/* No rows. NULL without memory. */
SP_PRIVATE sp_sparse_rows *sp_rows_open(void);

SP_PRIVATE void sp_rows_free(sp_sparse_rows *rows);

/* Rows whose n entries lie one after the other, in memory that outlives them. NULL without memory
   for itself. */
SP_PRIVATE sp_sparse_rows *sp_rows_borrow(const sp_entry *entries, size_t n);

/* The same, in memory of its own: blocks have the same numbers. NULL without memory. */
SP_PRIVATE sp_sparse_rows *sp_rows_copy(const sp_sparse_rows *other);

/* A block of a class; 0 without memory. */
SP_PRIVATE uint32_t sp_rows_take(sp_sparse_rows *rows, int size);

SP_PRIVATE void sp_rows_give(sp_sparse_rows *rows, uint32_t block, int size);

static inline sp_entry *sp_rows_at(const sp_sparse_rows *rows, uint32_t block)
{
    return rows->segments[block >> SP_SEGMENT_BITS] + (block & (SP_SEGMENT_ENTRIES - 1));
}

/* Whether a row is where there are entries: of a file nothing has been looked at. */
static inline bool sp_row_is_there(const sp_sparse_rows *rows, const sp_sparse *row)
{
    return row->block
           && (!rows->borrowed || (!row->dense && (size_t)row->block + row->n <= rows->n_lent));
}

/* The entries of a row that is not dense; NULL if it has none. */
static inline sp_entry *sp_row_entries(const sp_sparse_rows *rows, const sp_sparse *row)
{
    return sp_row_is_there(rows, row) ? sp_rows_at(rows, row->block) : NULL;
}

/* The place of label k among the entries, or where it belongs. */
static inline uint32_t sp_row_place(const sp_entry *entries, uint32_t n, uint32_t k)
{
    uint32_t first = 0;
    while (n > 1) { /* which half it is in is not to be foreseen, so no branch asks */
        const uint32_t half = n / 2;
        const uint32_t behind = entries[first + half - 1].k < k;
        first += half & (0 - behind);
        n -= half;
    }
    return first + (n == 1 && entries[first].k < k);
}

/* The entry of label k; NULL if there is none. */
static inline sp_entry *sp_row_find(const sp_sparse_rows *rows, const sp_sparse *row, uint32_t k)
{
    sp_entry *entries = sp_row_entries(rows, row);
    uint32_t at = entries == NULL ? row->n : sp_row_place(entries, row->n, k);
    return at < row->n && entries[at].k == k ? &entries[at] : NULL;
}

/* The same, made if need be: there is room for one more. */
SP_PRIVATE sp_entry *sp_row_insert(const sp_sparse_rows *rows, sp_sparse *row, uint32_t k);

/* Let a row move to a block that has been taken for it; or give that back if it is no larger. A
   dense row is no longer one. */
SP_PRIVATE void sp_row_move(sp_sparse_rows *rows, sp_sparse *row, uint32_t block, int size);

/* Let a row have room for n entries, and not be dense. -1 without memory; what is in it stays in
   either case. */
SP_PRIVATE int sp_row_reserve(sp_sparse_rows *rows, sp_sparse *row, uint32_t n);

/* Take an entry out of a row, if it is there. */
SP_PRIVATE void sp_row_remove(sp_sparse_rows *rows, sp_sparse *row, uint32_t k);

/* Take out all entries that have neither c nor G; a row that has no others gives its block back. */
SP_PRIVATE void sp_row_sift(sp_sparse_rows *rows, sp_sparse *row);

/* The row is not needed any more. */
SP_PRIVATE void sp_row_drop(sp_sparse_rows *rows, sp_sparse *row);

#endif
