# Segments: the pieces of which the index's table is made.
#
# An entry is one 64-bit word: 32 bits of a key's hash (the tag) and a slot. Zero means empty. A
# segment is a small table of entries with linear probing: a search starts where the low bits of the
# tag say, and goes on word by word to the first empty one.
#
#     word   the segment's address, with the log2 of its size in the low bits
#       |
#       v    [ count, depth ][ tag | slot ][ tag | slot ][  0  ][ tag | slot ] ... [ first again ]
#
# Most searches end at the first or the second word. A segment knows neither keys nor other
# segments: engine/index.pxd knows which segment a tag belongs to, and when one grows or splits.
#
# Functions in this file: segment_new, segment_copy, segment_grow and segment_split (these may
# fail), segment_free, segment_put, segment_take, segment_reaches; segment_of, segment_entries,
# segment_mask, segment_log, segment_bytes.

from libc.string cimport memcpy
from streamptron.engine.types cimport uint32_t, uint64_t, uintptr_t
from streamptron.engine.pool cimport Pool, pool_give, pool_take

cdef enum:
    SEGMENT_LOG_BITS = 63           # the low bits of the address of a cache line

cdef struct Segment:
    uint32_t count                  # words in use
    uint32_t depth                  # how many top bits of the tag all its entries share
    uint64_t line[7]                # the entries follow on the next cache line


cdef inline size_t segment_bytes(int log) noexcept nogil:
    return sizeof(Segment) + (<size_t> 8 << log) + 8


cdef inline int segment_log(uintptr_t word) noexcept nogil:
    return <int> (word & SEGMENT_LOG_BITS)


cdef inline uint64_t* segment_entries(uintptr_t word) noexcept nogil:
    return <uint64_t*> ((word & ~<uintptr_t> SEGMENT_LOG_BITS) + sizeof(Segment))


cdef inline Segment* segment_of(uintptr_t word) noexcept nogil:
    return <Segment*> (word & ~<uintptr_t> SEGMENT_LOG_BITS)


cdef inline uint64_t segment_mask(uintptr_t word) noexcept nogil:
    return (<uint64_t> 1 << segment_log(word)) - 1


cdef inline uintptr_t segment_new(Pool* pool, int log, uint32_t depth) noexcept nogil:
    """An empty segment; 0 without memory."""
    cdef Segment* segment = <Segment*> pool_take(pool, segment_bytes(log))
    if segment == NULL:
        return 0
    segment.depth = depth
    return <uintptr_t> segment | <uintptr_t> log


cdef inline void segment_free(Pool* pool, uintptr_t word) noexcept nogil:
    pool_give(pool, segment_of(word), segment_bytes(segment_log(word)))


cdef inline void segment_put(uintptr_t word, uint64_t entry) noexcept nogil:
    """Write an entry into a segment that has room.

    The first word is repeated after the last, so that a search can always read two in a row.
    """
    cdef uint64_t* entries = segment_entries(word)
    cdef uint64_t mask = segment_mask(word)
    cdef uint64_t at = (entry >> 32) & mask
    while entries[at] != 0:
        at = (at + 1) & mask
    entries[at] = entry
    if at == 0:
        entries[mask + 1] = entry
    segment_of(word).count += 1


cdef inline uintptr_t segment_copy(Pool* pool, uintptr_t word) noexcept nogil:
    """A second segment with the same entries; 0 without memory."""
    cdef uintptr_t copied = segment_new(pool, segment_log(word), segment_of(word).depth)
    if copied:
        memcpy(segment_of(copied), segment_of(word), segment_bytes(segment_log(word)))
    return copied


cdef inline uintptr_t segment_grow(Pool* pool, uintptr_t old) noexcept nogil:
    """A segment of twice the size with the same entries; 0 without memory. The old one stays."""
    cdef uint64_t at
    cdef uint64_t* entries = segment_entries(old)
    cdef uintptr_t word = segment_new(pool, segment_log(old) + 1, segment_of(old).depth)
    if word:
        for at in range(segment_mask(old) + 1):
            if entries[at] != 0:
                segment_put(word, entries[at])
    return word


cdef inline int segment_split(Pool* pool, uintptr_t old, uintptr_t* zeros,
                              uintptr_t* ones) noexcept nogil:
    """Two segments with the old one's entries, by the next bit of the tags; -1 without memory.

    The old one stays.
    """
    cdef uint64_t at, half
    cdef uint32_t depth = segment_of(old).depth + 1
    cdef uint64_t* entries = segment_entries(old)
    zeros[0] = segment_new(pool, segment_log(old), depth)
    ones[0] = segment_new(pool, segment_log(old), depth)
    if zeros[0] == 0 or ones[0] == 0:
        if zeros[0]:
            segment_free(pool, zeros[0])
        if ones[0]:
            segment_free(pool, ones[0])
        return -1
    half = <uint64_t> 1 << (32 - depth)
    for at in range(segment_mask(old) + 1):
        if entries[at] != 0:
            segment_put(ones[0] if (entries[at] >> 32) & half else zeros[0], entries[at])
    return 0


cdef inline void segment_take(uintptr_t word, uint64_t entry) noexcept nogil:
    """Remove an entry, and move up those whose search would end at the gap.

    This is Algorithm R in section 6.4 of Knuth.
    """
    cdef uint64_t* entries = segment_entries(word)
    cdef uint64_t mask = segment_mask(word)
    cdef uint64_t gap = (entry >> 32) & mask
    cdef uint64_t at
    while entries[gap] != entry:
        gap = (gap + 1) & mask
    at = gap
    while True:
        at = (at + 1) & mask
        if entries[at] == 0:
            break
        # it may move if the gap lies between the start of its search and its place
        if ((at - (entries[at] >> 32)) & mask) >= ((at - gap) & mask):
            entries[gap] = entries[at]
            gap = at
    entries[gap] = 0
    entries[mask + 1] = entries[0]
    segment_of(word).count -= 1


cdef inline bint segment_reaches(uintptr_t word, uint64_t at) noexcept nogil:
    """Whether a search for the entry at a place finds it."""
    cdef uint64_t* entries = segment_entries(word)
    cdef uint64_t i = (entries[at] >> 32) & segment_mask(word)
    while i != at:
        if entries[i] == 0:
            return False
        i = (i + 1) & segment_mask(word)
    return True
