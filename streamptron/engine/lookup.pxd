# An index that lies in a file: read, never written.
#
# All keys are one array. The table is one array of 32-bit words [ tag | row ], seven in eight of
# them in use. The row takes as many low bits as the largest one needs. The tag comes from the low
# half of the hash, the start of a search from its high half.
#
# Nobody has checked the words in the file, so each is checked when it is read: the row must exist,
# and a long name must lie within the texts.
#
# In hashed mode a file has only the rows that are not zero. The place of a row in the file is its
# rank among those of its chunk.
#
# Functions in this file: lookup_find, lookup_key, lookup_place (of a hashed row); lookup_start and
# lookup_put for building the table; bits_rank, bits_count.

from streamptron.engine.types cimport (
    CHUNK_BITS, CHUNK_MASK, CHUNK_ROWS, ROW_NULL, row_t, uint8_t, uint32_t, uint64_t, uintptr_t)
from streamptron.engine.key cimport KEY_NONE, Key, key_equal, key_is_long, key_length, key_word

cdef extern from "lookup.h":
    uint32_t bits_in "sp_bits" (uint64_t word) noexcept nogil

cdef struct Lookup:
    const Key* keys                 # by row; in a long key lo is its offset in texts
    const uint8_t* texts
    uint64_t n_texts
    uint32_t* words
    uint64_t n_words
    int row_bits
    uint64_t* stored                # hashed: a bit for each row, four words per chunk


cdef inline uint32_t bits_rank(const uint64_t* chunk, uint32_t n) noexcept nogil:
    """The number of bits set among the first n of a chunk."""
    cdef uint32_t k, rank = 0, whole = n // 64
    for k in range(whole):
        rank += bits_in(chunk[k])
    return rank + (bits_in(chunk[n // 64] & ((<uint64_t> 1 << (n % 64)) - 1)) if n % 64 else 0)


cdef inline uint32_t bits_count(const uint64_t* chunk) noexcept nogil:
    return bits_rank(chunk, CHUNK_ROWS)


cdef inline Key lookup_key(const Lookup* lookup, row_t row) noexcept nogil:
    """A row's key; one that nothing equals if the file is damaged."""
    cdef Key key = lookup.keys[row]
    if key_is_long(&key):
        if key.lo > lookup.n_texts or key_length(&key) > lookup.n_texts - key.lo:
            return key_word(KEY_NONE, 0)
        key.lo = <uint64_t> <uintptr_t> (lookup.texts + key.lo)
    return key


cdef inline row_t lookup_place(const Lookup* lookup, row_t row) noexcept nogil:
    """The place of a row's weights in the hashed table of a file."""
    cdef const uint64_t* chunk = &lookup.stored[row >> CHUNK_BITS << 2]
    if not chunk[(row & CHUNK_MASK) // 64] >> (row % 64) & 1:
        return ROW_NULL
    return (row & ~<row_t> CHUNK_MASK) | bits_rank(chunk, row & CHUNK_MASK)


cdef inline uint64_t lookup_start(const Lookup* lookup, uint64_t h) noexcept nogil:
    return (h >> 32) * lookup.n_words >> 32


cdef inline uint32_t lookup_word(const Lookup* lookup, uint64_t h, row_t row) noexcept nogil:
    return <uint32_t> ((h & <uint64_t> 0xFFFFFFFF) << lookup.row_bits) | row


cdef inline void lookup_put(const Lookup* lookup, uint64_t h, row_t row) noexcept nogil:
    """Write a row into a table that has room."""
    cdef uint64_t at = lookup_start(lookup, h)
    while lookup.words[at] != 0:
        at = at + 1 if at + 1 < lookup.n_words else 0
    lookup.words[at] = lookup_word(lookup, h, row)


cdef inline row_t lookup_find(const Lookup* lookup, row_t n_rows, const Key* key,
                              uint64_t h) noexcept nogil:
    """The row, below n_rows, of a key whose hash is h, or the null row."""
    cdef uint64_t at = lookup_start(lookup, h)
    cdef uint64_t mask = (<uint64_t> 1 << lookup.row_bits) - 1
    cdef uint64_t i
    cdef uint32_t tag = lookup_word(lookup, h, 0)
    cdef uint32_t word
    cdef row_t row
    cdef Key stored
    for i in range(lookup.n_words):
        word = lookup.words[at]
        if word == 0:
            break
        row = <row_t> (word & mask)
        if (word ^ tag) & ~mask == 0 and row < n_rows:
            stored = lookup_key(lookup, row)
            if key_equal(&stored, key):
                return row
        at = at + 1 if at + 1 < lookup.n_words else 0
    return ROW_NULL
