/* The arena of rows.

   Blocks are cut from segments of 1024 entries, which never move. A longer row has segments of its
   own, side by side. A block is identified by the number of its first entry, so that slots hold no
   addresses; 0 means none. A block that is given back waits in a list for the next row of its
   class. */

#ifndef STREAMPTRON_ROWS_ARENA_H
#define STREAMPTRON_ROWS_ARENA_H

#include "memory/compiler.h"
#include "rows/state.h"

/* How many entries a block of a class has. */
SP_PRIVATE uint32_t sp_row_capacity(int size);

/* The smallest class for n entries, n >= 1. */
SP_PRIVATE int sp_row_size_for(uint32_t n);

/* An arena without rows. NULL if out of memory. */
SP_PRIVATE sp_sparse_rows *sp_rows_open(void);

SP_PRIVATE void sp_rows_free(sp_sparse_rows *rows);

/* Rows whose n entries lie one after the other in the caller's memory, which must outlive them.
   NULL if out of memory. */
SP_PRIVATE sp_sparse_rows *sp_rows_borrow(const sp_entry *entries, size_t n);

/* A copy in memory of its own, where blocks have the same numbers. NULL if out of memory. */
SP_PRIVATE sp_sparse_rows *sp_rows_copy(const sp_sparse_rows *other);

/* A block of a class; 0 if out of memory. */
SP_PRIVATE uint32_t sp_rows_take(sp_sparse_rows *rows, int size);

SP_PRIVATE void sp_rows_give(sp_sparse_rows *rows, uint32_t block, int size);

SP_TEMPLATE sp_entry *sp_rows_at(const sp_sparse_rows *rows, uint32_t block)
{
    return rows->segments[block >> SP_SEGMENT_BITS] + (block & (SP_SEGMENT_ENTRIES - 1));
}

/* Whether a row lies within the entries: those of a file have not been checked. */
SP_TEMPLATE bool sp_row_is_there(const sp_sparse_rows *rows, const sp_sparse *row)
{
    return row->block
           && (!rows->borrowed || (!row->dense && (size_t)row->block + row->n <= rows->n_lent));
}

#endif
