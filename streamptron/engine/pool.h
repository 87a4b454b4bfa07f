/* Regions: zeroed memory from the system, for pool.pxd. */

#ifndef STREAMPTRON_POOL_H
#define STREAMPTRON_POOL_H

#include "heap.h"

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

/* Zeroed memory that starts on a cache line or, if it is the size of a huge page, where one may. */
static inline void *sp_region_alloc(size_t size)
{
    char *raw, *start;
#if SP_HUGE_PAGES
    if (size == SP_HUGE) {
        size_t before;
        raw = (char *)sp_map(2 * SP_HUGE);
        if (raw == NULL) return NULL;
        before = (0 - (uintptr_t)raw) & (SP_HUGE - 1);
        start = raw + before;
        if (before) munmap(raw, before);
        munmap(start + SP_HUGE, SP_HUGE - before);
        return start;
    }
#endif
    if (size > SIZE_MAX - 64 - sizeof(void *)) return NULL;
    raw = (char *)sp_calloc(1, size + 64 + sizeof(void *));
    if (raw == NULL) return NULL;
    start = (char *)(((uintptr_t)raw + sizeof(void *) + 63) & ~(uintptr_t)63);
    ((void **)start)[-1] = raw;
    return start;
}
static inline void sp_region_full(void *start, size_t size)
{
#if SP_HUGE_PAGES
    if (size == SP_HUGE) madvise(start, size, MADV_HUGEPAGE);
#else
    (void)start;
    (void)size;
#endif
}
/* For memory that is about to be written from end to end: most of it may be huge pages at once. */
static inline void sp_pages_whole(void *start, size_t size)
{
#if SP_HUGE_PAGES
    uintptr_t first = ((uintptr_t)start + 4095) & ~(uintptr_t)4095;
    if (size >= 2 * SP_HUGE) madvise((void *)first, (uintptr_t)start + size - first, MADV_HUGEPAGE);
#else
    (void)start;
    (void)size;
#endif
}
static inline void sp_region_free(void *start, size_t size)
{
#if SP_HUGE_PAGES
    if (size == SP_HUGE) {
        munmap(start, size);
        return;
    }
#else
    (void)size;
#endif
    free(((void **)start)[-1]);
}

#endif
