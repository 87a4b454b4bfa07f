/* The arena that rows lie in.

   Blocks are cut from segments of 1024 entries, which never move; a row that is longer has segments
   of its own, side by side. A block is known by the number of its first entry, so that a slot holds
   no address. 0 stands for none. A block that is given back waits in a list for the next row of its
   class. */

#ifndef STREAMPTRON_ROWS_ARENA_H
#define STREAMPTRON_ROWS_ARENA_H

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

SP_TEMPLATE sp_entry *sp_rows_at(const sp_sparse_rows *rows, uint32_t block)
{
    return rows->segments[block >> SP_SEGMENT_BITS] + (block & (SP_SEGMENT_ENTRIES - 1));
}

/* Whether a row is where there are entries: of a file nothing has been looked at. */
SP_TEMPLATE bool sp_row_is_there(const sp_sparse_rows *rows, const sp_sparse *row)
{
    return row->block
           && (!rows->borrowed || (!row->dense && (size_t)row->block + row->n <= rows->n_lent));
}

#endif
