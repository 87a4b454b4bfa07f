# Memory for what grows with the model: the index's segments and keys, the weights' slots.
#
# Blocks of some kilobytes, zeroed, each on a cache line of its own, that never move. They are cut
# from regions. Only regions are returned to the system, all at once:
#
#     region   [ header | block | block | block |  not cut yet  ]
#
# While there is little memory in use, a region is one block from the heap. But each feature of an
# event is looked up at a different place in the index. Once those places are spread over more pages
# than the processor's TLB covers, much of the time goes into address translation. So from 8 MB on,
# an index's regions have the size and alignment of a huge page. No event should wait for two
# megabytes to be cleared, so the region's small pages are touched one by one. When the last has
# been cut, the system is told that it may merge them when it has time (Linux does, in the
# background). Weights stay in blocks from the heap, which the next model can reuse at once: those
# of the most frequent words lie side by side anyway, unless slots change hands under a ceiling. A
# copy of a model is one region from the heap.
#
# In a region of several blocks, the blocks start an odd number of cache lines apart. With an even
# number (the 256 slots of a chunk are 4096 bytes, or 8192) all would start at the same few sets of
# a cache, and evict each other.
#
# A block that is given back waits for the next request of its size. When a segment of the index
# splits, its old block serves the next split.
#
# Under AddressSanitizer every block is a region of its own, so that an overrun is detected.
#
# Functions in this file: pool_init, pool_free, pool_take and pool_reserve (these may fail),
# pool_give; pool_block: what it really takes; pages_whole for memory that is not the pool's.

from libc.string cimport memset
from streamptron.engine.types cimport uint8_t

cdef extern from "pool.h":
    const bint ALONE "SP_ALONE"
    const bint HUGE_PAGES "SP_HUGE_PAGES"
    const size_t HUGE "SP_HUGE"
    void* region_alloc "sp_region_alloc" (size_t size) noexcept nogil
    void region_full "sp_region_full" (void* start, size_t size) noexcept nogil
    void pages_whole "sp_pages_whole" (void* start, size_t size) noexcept nogil
    void region_free "sp_region_free" (void* start, size_t size) noexcept nogil

cdef enum:
    HUGE_PAGES_LEAST = 1 << 23      # bytes of a pool from which its regions are large
    REGION_HEADER = 64
    REGION_OVERHEAD = 64 + 8        # for alignment to a cache line

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
    size_t used                     # bytes of the blocks in use
    size_t bytes                    # what the pool holds from the system
    bint scattered


cdef inline size_t _lines(size_t n) noexcept nogil:
    """n bytes, rounded up to whole cache lines."""
    return (n + 63) & ~<size_t> 63


cdef inline size_t pool_block(size_t n) noexcept nogil:
    """The space of a block of n bytes in a region: an odd number of cache lines."""
    return _lines(n) | 64


cdef inline void pool_init(Pool* pool, bint scattered) noexcept nogil:
    """`scattered`: what is looked up together is spread over the pool."""
    memset(pool, 0, sizeof(Pool))
    pool.scattered = scattered


cdef inline void pool_free(Pool* pool) noexcept nogil:
    cdef Region* older
    while pool.newest != NULL:
        older = pool.newest.older
        region_free(pool.newest, pool.newest.size)
        pool.newest = older
    pool_init(pool, pool.scattered)


cdef inline int _region_open(Pool* pool, size_t size) noexcept nogil:
    cdef Region* region = <Region*> region_alloc(size)
    if region == NULL:
        return -1
    region.older = pool.newest
    region.size = size
    pool.newest = region
    pool.cut = REGION_HEADER
    pool.bytes += REGION_HEADER + REGION_OVERHEAD
    return 0


cdef inline int pool_reserve(Pool* pool, size_t n) noexcept nogil:
    """Open one region for blocks of n bytes in total. Returns -1 without memory."""
    return 0 if ALONE or n == 0 else _region_open(pool, REGION_HEADER + n)


cdef inline void* pool_take(Pool* pool, size_t n) noexcept nogil:
    """A block of n bytes, all zero; NULL without memory."""
    cdef Returned* block = pool.returned
    cdef size_t size = pool_block(n)
    cdef size_t region
    if block != NULL and block.size == size:
        pool.returned = block.next
        pool.used += size
        return memset(block, 0, n)
    if pool.newest == NULL or pool.newest.size - pool.cut < n:
        if pool.newest != NULL:
            region_full(pool.newest, pool.newest.size)
        region = REGION_HEADER + _lines(n)
        if HUGE_PAGES and pool.scattered and pool.bytes >= HUGE_PAGES_LEAST and region < HUGE:
            region = HUGE
        if _region_open(pool, region) < 0:
            return NULL
    block = <Returned*> (<uint8_t*> pool.newest + pool.cut)
    pool.used += size
    size = min(size, pool.newest.size - pool.cut)   # nothing follows the last block
    pool.cut += size
    pool.bytes += size
    return block


cdef inline void pool_give(Pool* pool, void* p, size_t n) noexcept nogil:
    """Give a block of n bytes back."""
    cdef Returned* block = <Returned*> p
    block.next = pool.returned
    block.size = pool_block(n)
    pool.returned = block
    pool.used -= block.size
