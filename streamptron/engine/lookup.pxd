# An index that lies in a file: read, never written.
#
# All keys are one array. The table is one array of 32-bit words [ tag | slot ], seven in eight of
# them in use. The slot takes as many low bits as the largest one needs. The tag comes from the low
# half of the hash, the start of a search from its high half.
#
# Nobody has checked the words in the file, so each is checked when it is read: the slot must exist,
# and a long name must lie within the texts.
#
# In hashed mode a file has only the slots that are not zero. The place of a slot in the file is its
# rank among those of its chunk.
#
# Functions in this file: lookup_find, lookup_key, lookup_place (of a hashed slot); lookup_start and
# lookup_put for building the table, of lookup_word; bits_rank, bits_count.

from streamptron.engine.types cimport (
    CHUNK_BITS, CHUNK_MASK, CHUNK_SLOTS, SLOT_NULL, slot_t, uint8_t, uint32_t, uint64_t, uintptr_t)
from streamptron.engine.key cimport KEY_NONE, Key, key_equal, key_is_long, key_length, key_word

cdef extern from "lookup.h":
    uint32_t bits_in "sp_bits" (uint64_t word) noexcept nogil

cdef struct Lookup:
    const Key* keys                 # by slot; in a long key lo is its offset in texts
    const uint8_t* texts
    uint64_t n_texts
    uint32_t* words
    uint64_t n_words
    int slot_bits
    uint64_t* stored                # hashed: a bit for each slot, four words per chunk


cdef inline uint32_t bits_rank(const uint64_t* chunk, uint32_t n) noexcept nogil:
    """The number of bits set among the first n of a chunk."""
    cdef uint32_t k, rank = 0, whole = n // 64
    for k in range(whole):
        rank += bits_in(chunk[k])
    return rank + (bits_in(chunk[n // 64] & ((<uint64_t> 1 << (n % 64)) - 1)) if n % 64 else 0)


cdef inline uint32_t bits_count(const uint64_t* chunk) noexcept nogil:
    return bits_rank(chunk, CHUNK_SLOTS)


cdef inline Key lookup_key(const Lookup* lookup, slot_t slot) noexcept nogil:
    """A slot's key; one that nothing equals if the file is damaged."""
    cdef Key key = lookup.keys[slot]
    if key_is_long(&key):
        if key.lo > lookup.n_texts or key_length(&key) > lookup.n_texts - key.lo:
            return key_word(KEY_NONE, 0)
        key.lo = <uint64_t> <uintptr_t> (lookup.texts + key.lo)
    return key


cdef inline slot_t lookup_place(const Lookup* lookup, slot_t slot) noexcept nogil:
    """The place of a slot's weights in the hashed table of a file."""
    cdef const uint64_t* chunk = &lookup.stored[slot >> CHUNK_BITS << 2]
    if not chunk[(slot & CHUNK_MASK) // 64] >> (slot % 64) & 1:
        return SLOT_NULL
    return (slot & ~<slot_t> CHUNK_MASK) | bits_rank(chunk, slot & CHUNK_MASK)


cdef inline uint64_t lookup_start(const Lookup* lookup, uint64_t h) noexcept nogil:
    return (h >> 32) * lookup.n_words >> 32


cdef inline uint32_t lookup_word(const Lookup* lookup, uint64_t h, slot_t slot) noexcept nogil:
    return <uint32_t> ((h & <uint64_t> 0xFFFFFFFF) << lookup.slot_bits) | slot


cdef inline void lookup_put(const Lookup* lookup, uint64_t h, slot_t slot) noexcept nogil:
    """Write a slot into a table that has room."""
    cdef uint64_t at = lookup_start(lookup, h)
    while lookup.words[at] != 0:
        at = at + 1 if at + 1 < lookup.n_words else 0
    lookup.words[at] = lookup_word(lookup, h, slot)


cdef inline slot_t lookup_find(const Lookup* lookup, slot_t n_slots, const Key* key,
                              uint64_t h) noexcept nogil:
    """The slot, below n_slots, of a key whose hash is h, or the null slot."""
    cdef uint64_t at = lookup_start(lookup, h)
    cdef uint64_t mask = (<uint64_t> 1 << lookup.slot_bits) - 1
    cdef uint64_t i
    cdef uint32_t tag = lookup_word(lookup, h, 0)
    cdef uint32_t word
    cdef slot_t slot
    cdef Key stored
    for i in range(lookup.n_words):
        word = lookup.words[at]
        if word == 0:
            break
        slot = <slot_t> (word & mask)
        if (word ^ tag) & ~mask == 0 and slot < n_slots:
            stored = lookup_key(lookup, slot)
            if key_equal(&stored, key):
                return slot
        at = at + 1 if at + 1 < lookup.n_words else 0
    return SLOT_NULL
