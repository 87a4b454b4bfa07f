# Memory for what grows with the model: the index's segments and keys, the rows of weights.
#
# Blocks of some kilobytes, zeroed, each on a cache line of its own, that never move. They are cut from regions, and
# only those go back to where they came from, all at once:
#
#     region   [ header | block | block | block |  not cut yet  ]
#
# A region is one block from the heap, as long as there is little. But each feature of an event is looked up at a place of its
# own in the index, and once those places are spread over more pages than a processor's table of pages covers, much of
# the time goes into finding the pages. So from 8 MB on an index's regions are what may be one huge page each. No event should
# wait for two megabytes to be cleared: the region's small pages come one by one, and when the last has been cut, the
# system is told that it may put them together when it has time (Linux does, in the background). A copy of a model, all
# of which is written now, has huge pages from the start. The weights of the words that come most often lie side by side, and
# stay in blocks from the heap, which the next model can have again at once.
#
# A block is an odd number of cache lines. Of an even one (and the 256 rows of a chunk are 4096 bytes, or 8192) all blocks
# would start at the same few places of a cache, where they would push each other out.
#
# A block that comes back waits for the next one of its size: when a segment of the index splits, its own block is
# the next split's.
#
# Under AddressSanitizer every block is a region, so that it is seen when one is overrun.
#
# Functions in this file: pool_init, pool_free, pool_take and pool_reserve (these may fail), pool_give.

from libc.string cimport memset
from streamptron._types cimport uint8_t

cdef extern from *:
    """
    #include <stdint.h>
    #include <stdlib.h>
    #if defined(__linux__)
      #include <sys/mman.h>
    #endif

    #if defined(__linux__) && defined(MADV_HUGEPAGE) && !defined(__SANITIZE_ADDRESS__)
      #define SP_PAGES 1
    #else
      #define SP_PAGES 0
    #endif
    #define SP_HUGE ((size_t)1 << 21)
    #define SP_WHOLE(size) (((size) + 65535) & ~(size_t)65535)      /* pages, of any size that there is */

    /* Zeroed memory that starts on a cache line, or, if there is much of it, where a huge page may. */
    static inline void *sp_region_alloc(size_t size, int huge)
    {
        char *raw, *start;
    #if SP_PAGES
        if (size >= SP_HUGE / 2) {
            size_t before;
            size = SP_WHOLE(size);
            raw = (char *)mmap(NULL, size + SP_HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (raw == MAP_FAILED) return NULL;
            before = (0 - (uintptr_t)raw) & (SP_HUGE - 1);
            start = raw + before;
            if (before) munmap(raw, before);
            munmap(start + size, SP_HUGE - before);
            if (huge) madvise(start, size, MADV_HUGEPAGE);
            return start;
        }
    #endif
        (void)huge;
        if (size > SIZE_MAX - 64 - sizeof(void *)) return NULL;
        raw = (char *)calloc(1, size + 64 + sizeof(void *));
        if (raw == NULL) return NULL;
        start = (char *)(((uintptr_t)raw + sizeof(void *) + 63) & ~(uintptr_t)63);
        ((void **)start)[-1] = raw;
        return start;
    }
    static inline void sp_region_full(void *start, size_t size)
    {
    #if SP_PAGES
        if (size >= SP_HUGE) madvise(start, size, MADV_HUGEPAGE);
    #endif
    }
    static inline void sp_region_free(void *start, size_t size)
    {
    #if SP_PAGES
        if (size >= SP_HUGE / 2) {
            munmap(start, SP_WHOLE(size));
            return;
        }
    #endif
        free(((void **)start)[-1]);
    }
    """
    const bint PAGES "SP_PAGES"
    const size_t HUGE "SP_HUGE"
    void* region_alloc "sp_region_alloc" (size_t size, bint huge) noexcept nogil
    void region_full "sp_region_full" (void* start, size_t size) noexcept nogil
    void region_free "sp_region_free" (void* start, size_t size) noexcept nogil

cdef enum:
    PAGES_LEAST = 1 << 23           # bytes of a pool from which on its regions are large
    REGION_HEADER = 64
    REGION_OVERHEAD = 64 + 8        # what makes it start on a cache line

cdef struct Region:
    Region* older
    size_t size                     # header included

cdef struct Returned:
    Returned* next
    size_t size

cdef struct Pool:
    Region* newest
    size_t cut                      # bytes of the newest region that have been cut, header included
    Returned* returned
    size_t used                     # bytes of the blocks that are out
    size_t bytes                    # what the pool holds from the system
    bint scattered                  # what is looked up is anywhere in it


cdef inline size_t pool_block(size_t n) noexcept nogil:
    """What a block of n bytes takes: an odd number of lines."""
    return ((n + 63) & ~<size_t> 63) | 64


cdef inline void pool_init(Pool* pool, bint scattered) noexcept nogil:
    memset(pool, 0, sizeof(Pool))
    pool.scattered = scattered


cdef inline void pool_free(Pool* pool) noexcept nogil:
    cdef Region* older
    while pool.newest != NULL:
        older = pool.newest.older
        region_free(pool.newest, pool.newest.size)
        pool.newest = older
    pool_init(pool, pool.scattered)


cdef inline int _region_open(Pool* pool, size_t size, bint huge) noexcept nogil:
    cdef Region* region = <Region*> region_alloc(size, huge)
    if region == NULL:
        return -1
    region.older = pool.newest
    region.size = size
    pool.newest = region
    pool.cut = REGION_HEADER
    pool.bytes += REGION_HEADER + REGION_OVERHEAD
    return 0


cdef inline int pool_reserve(Pool* pool, size_t n) noexcept nogil:
    """Room in an empty pool for blocks of n bytes in all, which are going to be written now. Returns -1 without memory."""
    cdef size_t size = REGION_HEADER + n
    cdef size_t more = (0 - size) & (HUGE - 1)
    if not PAGES or size < HUGE // 2:
        return 0
    if more <= size // 4:           # the last page is as good as full
        size += more
    return _region_open(pool, size, True)


cdef inline void* pool_take(Pool* pool, size_t n) noexcept nogil:
    """A block of n bytes, all zero; NULL without memory."""
    cdef Returned* block = pool.returned
    cdef size_t size = pool_block(n)
    cdef size_t region
    if block != NULL and block.size == size:
        pool.returned = block.next
        pool.used += size
        return memset(block, 0, size)
    if pool.newest == NULL or pool.newest.size - pool.cut < size:
        if pool.newest != NULL:
            region_full(pool.newest, pool.newest.size)
        region = REGION_HEADER + size
        if PAGES and pool.scattered and pool.bytes >= PAGES_LEAST and region < HUGE:
            region = HUGE
        if _region_open(pool, region, False) < 0:
            return NULL
    block = <Returned*> (<uint8_t*> pool.newest + pool.cut)
    pool.cut += size
    pool.used += size
    pool.bytes += size
    return block


cdef inline void pool_give(Pool* pool, void* p, size_t n) noexcept nogil:
    """Give a block of n bytes back."""
    cdef Returned* block = <Returned*> p
    block.next = pool.returned
    block.size = pool_block(n)
    pool.returned = block
    pool.used -= block.size
