# A feature's name in sixteen bytes.
#
# Most names are short words and small numbers. A key holds up to 15 bytes of text in itself, so that
# comparing two keys is comparing two pairs of words, and no string is chased through memory:
#
#     byte   0 1 2 3 4 5 6 7   8 9 10 11 12 13 14   15
#            s p a m - - - -   -  -  -  -  -  -  -  [kind 4 bits | length 4 bits]
#            \----- lo ----/   \------------ hi -----------/
#
#     "spam"        lo = 'spam'            hi = STR << 60 | 4 << 56
#     42            lo = 42                hi = INT << 60 | 8 << 56
#     0.5           lo = its bits          hi = FLOAT << 60 | 8 << 56
#     a long text   lo = address of bytes  hi = (LONG | STR) << 60 | length
#     an object     lo = its ordinal       hi = OBJECT << 60
#
# The address of a long key is the caller's while it asks and the index's own once it is stored.
# Keys are equal when they have the same kind and the same bytes: never by hash alone.

from libc.string cimport memcmp
from streamptron._types cimport uint64_t, uint8_t, uintptr_t

cdef struct Key:
    uint64_t lo
    uint64_t hi

cdef enum:
    KEY_NONE = 0        # equal to no stored key: an object that the model has not met
    KEY_STR = 1         # UTF-8 (lone surrogates encoded like any other code point)
    KEY_BYTES = 2
    KEY_INT = 3         # |value| < 2**61 - 1
    KEY_FLOAT = 4       # not a whole number
    KEY_CANONICAL = 5   # None, large ints, tuples of names: bytes, see _names.py
    KEY_OBJECT = 6      # any other hashable: an ordinal, kept beside the core
    KEY_LONG = 8        # a bit: the bytes are elsewhere
    KEY_INLINE = 15     # the longest text kept inside

cdef extern from *:
    """
    /* The eight bytes at p as a little-endian number, on any machine. */
    static inline uint64_t sp_load8(const void *p)
    {
        uint64_t word;
        memcpy(&word, p, 8);
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
    #endif
        return word;
    }
    static inline void sp_store8(void *p, uint64_t word)
    {
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
    #endif
        memcpy(p, &word, 8);
    }
    """
    uint64_t load8 "sp_load8" (const void* p) noexcept nogil
    void store8 "sp_store8" (void* p, uint64_t word) noexcept nogil


cdef inline uint64_t key_kind(const Key* key) noexcept nogil:
    return key.hi >> 60


cdef inline bint key_is_long(const Key* key) noexcept nogil:
    return key.hi >> 63


cdef inline size_t key_length(const Key* key) noexcept nogil:
    if key_is_long(key):
        return <size_t> (key.hi & ((<uint64_t> 1 << 60) - 1))
    return <size_t> ((key.hi >> 56) & 15)


cdef inline const uint8_t* key_bytes(const Key* key) noexcept nogil:
    """Where the bytes of a long key are."""
    return <const uint8_t*> <uintptr_t> key.lo


cdef inline bint key_equal(const Key* a, const Key* b) noexcept nogil:
    if a.hi != b.hi:
        return False
    if a.lo == b.lo:
        return True
    if not key_is_long(a):
        return False
    return memcmp(key_bytes(a), key_bytes(b), key_length(a)) == 0


cdef inline Key key_word(uint64_t kind, uint64_t word) noexcept nogil:
    """A key that is one 64-bit word: an int, a float's bits, an ordinal."""
    cdef Key key
    key.lo = word
    key.hi = kind << 60 | <uint64_t> 8 << 56
    return key


cdef inline Key key_text(uint64_t kind, const uint8_t* p, size_t n) noexcept nogil:
    """A key of n bytes at p, of which the eight before p may be read too.

    That holds for the text of a Python str or bytes, where the object's header is: the last eight
    bytes, header included, are shifted until only the text is left. Lengths of words cannot be
    foreseen, so there is no branch on them but the one for long keys.
    """
    cdef Key key
    cdef uint64_t below_8, above_8, shift
    if n > KEY_INLINE:
        key.lo = <uint64_t> <uintptr_t> p
        key.hi = (KEY_LONG | kind) << 60 | n
        return key
    below_8 = -<uint64_t> (n < 8)           # all ones or all zeros
    above_8 = -<uint64_t> (n > 8)
    # lo: the first eight bytes, or all of them; a shift by 64 is undefined in C, so it goes by halves
    shift = (64 - 8 * n) & below_8
    key.lo = load8(p + ((n - 8) & below_8)) >> (shift >> 1) >> (shift - (shift >> 1))
    # hi: what is beyond the eighth byte
    shift = 64 - ((8 * n - 64) & above_8)
    key.hi = kind << 60 | n << 56 | load8(p + n - 8) >> (shift >> 1) >> (shift - (shift >> 1))
    return key
