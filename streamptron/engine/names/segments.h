/* Segments: the pieces of which the index's table is made.

   An entry is one 64-bit word: 32 bits of a key's hash (the tag) and a slot. Zero means empty. A
   segment is a small table of entries with linear probing: a search starts where the low bits of
   the tag say, and goes on word by word to the first empty one.

       word   the segment's address, with the log2 of its size in the low bits
         |
         v    [ count, depth ][ tag | slot ][ tag | slot ][  0  ][ tag | slot ] ... [ first again ]

   Most searches end at the first or the second word. A segment knows neither keys nor other
   segments: names/index.h knows which segment a tag belongs to, and when one grows or splits. */

#ifndef STREAMPTRON_NAMES_SEGMENTS_H
#define STREAMPTRON_NAMES_SEGMENTS_H

#include "memory/pool.h"

#include <string.h>

enum {
    SP_SEGMENT_LOG_BITS = 63, /* the low bits of the address of a cache line */
};

typedef struct sp_segment {
    uint32_t count;   /* words in use */
    uint32_t depth;   /* how many top bits of the tag all its entries share */
    uint64_t line[7]; /* the entries follow on the next cache line */
} sp_segment;

static inline size_t sp_segment_bytes(int log)
{
    return sizeof(sp_segment) + ((size_t)8 << log) + 8;
}

static inline int sp_segment_log(uintptr_t word)
{
    return (int)(word & SP_SEGMENT_LOG_BITS);
}

static inline uint64_t *sp_segment_entries(uintptr_t word)
{
    return (uint64_t *)((word & ~(uintptr_t)SP_SEGMENT_LOG_BITS) + sizeof(sp_segment));
}

static inline sp_segment *sp_segment_of(uintptr_t word)
{
    return (sp_segment *)(word & ~(uintptr_t)SP_SEGMENT_LOG_BITS);
}

static inline uint64_t sp_segment_mask(uintptr_t word)
{
    return ((uint64_t)1 << sp_segment_log(word)) - 1;
}

/* An empty segment; 0 without memory. */
static inline uintptr_t sp_segment_new(sp_pool *pool, int log, uint32_t depth)
{
    sp_segment *segment = (sp_segment *)sp_pool_take(pool, sp_segment_bytes(log));
    if (segment == NULL)
        return 0;
    segment->depth = depth;
    return (uintptr_t)segment | (uintptr_t)log;
}

static inline void sp_segment_free(sp_pool *pool, uintptr_t word)
{
    sp_pool_give(pool, sp_segment_of(word), sp_segment_bytes(sp_segment_log(word)));
}

/* Write an entry into a segment that has room.

   The first word is repeated after the last, so that a search can always read two in a row. */
SP_PRIVATE void sp_segment_put(uintptr_t word, uint64_t entry);

/* A second segment with the same entries; 0 without memory. */
static inline uintptr_t sp_segment_copy(sp_pool *pool, uintptr_t word)
{
    uintptr_t copied = sp_segment_new(pool, sp_segment_log(word), sp_segment_of(word)->depth);
    if (copied)
        memcpy(sp_segment_of(copied), sp_segment_of(word), sp_segment_bytes(sp_segment_log(word)));
    return copied;
}

/* A segment of twice the size with the same entries; 0 without memory. The old one stays. */
SP_PRIVATE uintptr_t sp_segment_grow(sp_pool *pool, uintptr_t old);

/* Two segments with the old one's entries, by the next bit of the tags; -1 without memory.

   The old one stays. */
SP_PRIVATE int sp_segment_split(sp_pool *pool, uintptr_t old, uintptr_t *zeros, uintptr_t *ones);

/* Remove an entry, and move up those whose search would end at the gap.

   This is Algorithm R in section 6.4 of Knuth. */
SP_PRIVATE void sp_segment_take(uintptr_t word, uint64_t entry);

/* Whether a search for the entry at a place finds it. */
SP_PRIVATE bool sp_segment_reaches(uintptr_t word, uint64_t at);

#endif
