# Bytes that never move and are freed all at once: the long keys.
#
# Blocks are linked from the newest to the oldest. A text larger than a block gets a block of its
# own.
#
# Functions in this file: arena_init, arena_free, arena_reset; arena_alloc and arena_copy (these may
# fail); arena_return, of the end of the latest allocation; arena_mark, and arena_rewind to it.

from libc.string cimport memcpy
from streamptron.engine.types cimport uint8_t
from streamptron.engine.heap cimport free, malloc

cdef enum:
    ARENA_BLOCK = 16384

cdef struct ArenaBlock:
    ArenaBlock* older
    size_t size
    size_t used

cdef struct Arena:
    ArenaBlock* newest
    size_t bytes                    # what the arena holds from the heap


cdef struct ArenaMark:              # how far it was filled
    ArenaBlock* newest
    size_t used


cdef inline void arena_init(Arena* arena) noexcept nogil:
    arena.newest = NULL
    arena.bytes = 0


cdef inline void arena_free(Arena* arena) noexcept nogil:
    cdef ArenaBlock* older
    while arena.newest != NULL:
        older = arena.newest.older
        free(arena.newest)
        arena.newest = older
    arena.bytes = 0


cdef inline void arena_reset(Arena* arena) noexcept nogil:
    """Forget the texts, but keep a block of the usual size for the next ones."""
    cdef ArenaBlock* newest = arena.newest
    if newest == NULL or newest.size > ARENA_BLOCK:
        arena_free(arena)
        return
    arena.newest = newest.older
    arena_free(arena)
    newest.older = NULL
    newest.used = 0
    arena.newest = newest
    arena.bytes = sizeof(ArenaBlock) + newest.size


cdef inline uint8_t* arena_alloc(Arena* arena, size_t n) noexcept nogil:
    """n bytes; the sixteen before them may be read (see key_text). NULL without memory."""
    cdef ArenaBlock* block = arena.newest
    cdef size_t size
    cdef uint8_t* start
    if block == NULL or block.size - block.used < n:
        size = n if n > ARENA_BLOCK else ARENA_BLOCK
        block = <ArenaBlock*> malloc(sizeof(ArenaBlock) + size)
        if block == NULL:
            return NULL
        block.size = size
        block.used = 0
        block.older = arena.newest
        arena.newest = block
        arena.bytes += sizeof(ArenaBlock) + size
    start = <uint8_t*> block + sizeof(ArenaBlock) + block.used
    block.used += n
    return start


cdef inline ArenaMark arena_mark(const Arena* arena) noexcept nogil:
    cdef ArenaMark mark
    mark.newest = arena.newest
    mark.used = 0 if arena.newest == NULL else arena.newest.used
    return mark


cdef inline void arena_rewind(Arena* arena, ArenaMark mark) noexcept nogil:
    """Give back everything that was allocated after the mark."""
    cdef ArenaBlock* newest
    while arena.newest != mark.newest:
        newest = arena.newest
        arena.newest = newest.older
        arena.bytes -= sizeof(ArenaBlock) + newest.size
        free(newest)
    if arena.newest != NULL:
        arena.newest.used = mark.used


cdef inline void arena_return(Arena* arena, size_t n) noexcept nogil:
    """Give back the last n bytes of the latest allocation."""
    if n > 0:
        arena.newest.used -= n


cdef inline uint8_t* arena_copy(Arena* arena, const uint8_t* p, size_t n) noexcept nogil:
    cdef uint8_t* start = arena_alloc(arena, n)
    if start != NULL:
        memcpy(start, p, n)
    return start
