# What doors take of engine/memory/: memory. The headers say what each of it is.

from libc.stdint cimport int64_t, uint32_t, uint64_t, uint8_t

cdef extern from "memory/compiler.h" nogil:
    const uint32_t SP_SLOT_MAX
    const double SP_VALUE_LIMIT
    int sp_zeros_below(uint64_t word) noexcept


cdef extern from "memory/types.h" nogil:
    enum:
        SP_CHUNK_BITS
        SP_CHUNK_SLOTS
        SP_SLOTS_RESERVED
        SP_SLOT_INTERCEPT
        SP_SLOT_NULL

    ctypedef uint32_t sp_slot_type


cdef extern from "memory/heap.h" nogil:
    const bint SP_FAIL
    void *sp_calloc(size_t n, size_t size) noexcept
    void sp_free(void *p) noexcept
    int64_t sp_heap_fail_at(int64_t n, bint lasts) noexcept
    void *sp_malloc(size_t n) noexcept
    void *sp_realloc(void *p, size_t n) noexcept


cdef extern from "memory/places.h" nogil:
    ctypedef struct sp_places:
        size_t item
        uint32_t capacity
        uint32_t copied
        void *next


cdef extern from "memory/pool.h" nogil:
    ctypedef struct sp_pool:
        size_t bytes

    void sp_pages_whole(void *start, size_t size) noexcept


cdef extern from "memory/arena.h" nogil:
    ctypedef struct sp_arena:
        size_t bytes

    uint8_t *sp_arena_alloc(sp_arena *arena, size_t n) noexcept
    void sp_arena_free(sp_arena *arena) noexcept
    void sp_arena_init(sp_arena *arena) noexcept
    void sp_arena_return(sp_arena *arena, size_t n) noexcept
