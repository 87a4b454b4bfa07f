/* Memory for what grows with the model: the index's table and keys, the weights' slots.

   Blocks of some kilobytes, zeroed, each on a cache line of its own, that never move. They are cut
   from regions. Only regions are returned to the system, all at once:

       region   [ header | block | block | block |  not cut yet  ]

   While a pool is small, a region is one block from the heap. From 270 kB on, it may be up to four
   small blocks, since each region costs 136 bytes more. But each feature of an event is looked up
   at a different place in the index. Once those places are spread over more pages than the
   processor's TLB covers, much of the time goes into address translation. So from 8 MB on, an
   index's regions have the size and alignment of a huge page. No event should wait for two
   megabytes to be cleared, so the region's small pages are touched one by one. When the last has
   been cut, the system is allowed to merge them when it has time (Linux does, in the background).
   Weights stay in blocks from the heap, which the next model can reuse at once. The weights of the
   most frequent words are side by side anyway, unless slots are reused under a ceiling. A copy of a
   model is one region from the heap.

   In a region of several blocks, the blocks start an odd number of cache lines apart. With an even
   number (the 256 slots of a chunk are 4096 bytes, or 8192) all would start at the same few sets of
   a cache, and evict each other.

   A block that is given back waits for the next request of its size.

   Under AddressSanitizer every block is a region of its own, so that an overrun is detected. */

#ifndef STREAMPTRON_MEMORY_POOL_H
#define STREAMPTRON_MEMORY_POOL_H

#include "memory/heap.h"

#include <string.h>

/* Regions: zeroed memory from the system, for memory/pool.h. */

#if defined(__SANITIZE_ADDRESS__)
    #define SP_ALONE 1
#else
    #define SP_ALONE 0
#endif
#if defined(__linux__) && defined(MADV_HUGEPAGE) && !SP_ALONE
    #define SP_HUGE_PAGES 1
#else
    #define SP_HUGE_PAGES 0
#endif
#define SP_HUGE ((size_t)1 << 21)

/* Zeroed memory that is aligned to a cache line or, if it is the size of a huge page, to that. */
static inline void *sp_region_alloc(size_t size)
{
    char *raw, *start;
#if SP_HUGE_PAGES
    if (size == SP_HUGE) {
        size_t before;
        raw = (char *)sp_map(2 * SP_HUGE);
        if (raw == NULL)
            return NULL;
        before = (0 - (uintptr_t)raw) & (SP_HUGE - 1);
        start = raw + before;
        if (before)
            sp_unmap(raw, before);
        sp_unmap(start + SP_HUGE, SP_HUGE - before);
        return start;
    }
#endif
    if (size > SIZE_MAX - 64 - sizeof(void *))
        return NULL;
    raw = (char *)sp_calloc(1, size + 64 + sizeof(void *));
    if (raw == NULL)
        return NULL;
    start = (char *)(((uintptr_t)raw + sizeof(void *) + 63) & ~(uintptr_t)63);
    ((void **)start)[-1] = raw;
    return start;
}
static inline void sp_region_full(void *start, size_t size)
{
#if SP_HUGE_PAGES
    if (size == SP_HUGE)
        madvise(start, size, MADV_HUGEPAGE);
#else
    (void)start;
    (void)size;
#endif
}
/* For memory that is about to be written from end to end: let it be huge pages at once. */
static inline void sp_pages_whole(void *start, size_t size)
{
#if SP_HUGE_PAGES
    uintptr_t first = ((uintptr_t)start + 4095) & ~(uintptr_t)4095;
    if (size >= 2 * SP_HUGE)
        madvise((void *)first, (uintptr_t)start + size - first, MADV_HUGEPAGE);
#else
    (void)start;
    (void)size;
#endif
}
static inline void sp_region_free(void *start, size_t size)
{
#if SP_HUGE_PAGES
    if (size == SP_HUGE) {
        sp_unmap(start, size);
        return;
    }
#else
    (void)size;
#endif
    sp_free(((void **)start)[-1]);
}

enum {
    SP_HUGE_PAGES_LEAST = 1 << 23, /* in a pool of so many bytes regions are large */
    SP_REGION_SHARE = 64,       /* at most 1/64 of the pool's bytes may wait to be cut, */
    SP_REGION_MOST = 1 << 14,   /* and at most so many bytes, besides a block */
    SP_REGION_HEADER = 64,
    SP_REGION_OVERHEAD = 64 + 8, /* for alignment to a cache line */
};

typedef struct sp_region {
    struct sp_region *older;
    size_t size; /* header included */
} sp_region;

typedef struct sp_returned {
    struct sp_returned *next;
    size_t size;
} sp_returned;

typedef struct sp_pool {
    sp_region *newest;
    size_t cut; /* bytes of the newest region that have been cut, header included */
    sp_returned *returned;
    size_t used;  /* bytes of the blocks in use */
    size_t bytes; /* taken from the system */
    bool scattered;
} sp_pool;

/* n bytes, rounded up to whole cache lines. */
static inline size_t sp_lines(size_t n)
{
    return (n + 63) & ~(size_t)63;
}

/* The space of a block of n bytes in a region: an odd number of cache lines. */
static inline size_t sp_pool_block(size_t n)
{
    return sp_lines(n) | 64;
}

/* `scattered`: the blocks that one event reads are spread over the pool. */
SP_RARE static inline void sp_pool_init(sp_pool *pool, bool scattered)
{
    memset(pool, 0, sizeof(sp_pool));
    pool->scattered = scattered;
}

SP_PRIVATE void sp_pool_free(sp_pool *pool);

SP_PRIVATE int sp_region_open(sp_pool *pool, size_t size);

/* Open one region for blocks of n bytes in total. Returns -1 if out of memory. */
static inline int sp_pool_reserve(sp_pool *pool, size_t n)
{
    return SP_ALONE || n == 0 ? 0 : sp_region_open(pool, SP_REGION_HEADER + n);
}

/* A block of n bytes, all zero; NULL if out of memory. */
SP_PRIVATE void *sp_pool_take(sp_pool *pool, size_t n);

/* Give a block of n bytes back. */
static inline void sp_pool_give(sp_pool *pool, void *p, size_t n)
{
    sp_returned *block = (sp_returned *)p;
    block->next = pool->returned;
    block->size = sp_pool_block(n);
    pool->returned = block;
    pool->used -= block->size;
}

#endif
