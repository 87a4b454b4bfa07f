/* The types of rows: an entry, where a row is, and the arena. There is no loop here, so all may
   include it. engine/rows/rows.h has the functions. */

#ifndef STREAMPTRON_ROWS_STATE_H
#define STREAMPTRON_ROWS_STATE_H

#include "memory/compiler.h"

enum {
    SP_SEGMENT_BITS = 10,
    SP_SEGMENT_ENTRIES = 1 << SP_SEGMENT_BITS,
    SP_ROW_CLASSES = 48,
    SP_ROW_MOST = (1 << 25) - 1, /* entries */
};

typedef struct sp_entry {
    uint32_t k;
    float c;
    float w;
    float G;
} sp_entry;

/* Where a row is: 8 bytes of a slot. */
typedef struct sp_sparse {
    uint32_t block;    /* 0: none */
    uint32_t n : 25;   /* entries in use */
    uint32_t dense : 1; /* it has the form of rows/dense.h; never in a file */
    uint32_t size : 6; /* the class of the block */
} sp_sparse;

typedef struct sp_sparse_rows {
    sp_entry **segments;
    size_t n_segments;
    size_t room;    /* of segments */
    size_t *owns;   /* segments that belong together: how many, at the first; 0 at the others */
    uint32_t next;  /* the first entry not yet cut */
    uint32_t limit; /* the end of the segment that it is in */
    uint32_t free[SP_ROW_CLASSES];
    size_t bytes;
    bool borrowed;   /* the segments are in a mapped file; no block is taken or given */
    size_t n_lent;   /* entries there, including the first, which belongs to no row */
} sp_sparse_rows;

#endif
