# A feature's name in sixteen bytes.
#
# Most names are short words and small numbers. A key holds up to 15 bytes of text itself, so that
# comparing two keys means comparing two pairs of words, and no pointer to a string is followed:
#
#     lo   the last eight bytes of the text, in the upper bytes of the word if there are fewer
#     hi   the (up to seven) bytes before those, likewise, and in the lowest byte
#          [kind 4 bits | length 4 bits]
#
#     "spam"        lo = 'spam' << 32      hi = STR << 4 | 4
#     "streaming"   lo = 'treaming'        hi = 's' << 56 | STR << 4 | 9
#     42            lo = 42                hi = INT << 4 | 8
#     0.5           lo = its bits          hi = FLOAT << 4 | 8
#     a long text   lo = address of bytes  hi = length << 8 | (LONG | STR) << 4
#     an object     lo = its ordinal       hi = OBJECT << 4 | 8
#
# Counting from the end saves all shifting: two loads, which may reach into the header before a
# text, two masks by its length, and no branch on a length that cannot be predicted.
#
# The address of a long key belongs to the caller during a lookup, and to the index once the key is
# stored. Keys are equal if they have the same kind and the same bytes, never by hash alone.
#
# Functions in this file: key_word, key_text to make one; key_kind, key_is_long, key_length,
# key_bytes, key_inline_bytes, key_equal; canonical_count and canonical_int for
# names as bytes; utf8_encode, of a character.

from libc.string cimport memcmp, memcpy
from streamptron.engine.types cimport uint8_t, uint32_t, uint64_t, uintptr_t

cdef struct Key:
    uint64_t lo
    uint64_t hi

cdef enum:
    KEY_NONE = 0        # equal to no stored key: an object that the model has not met
    KEY_STR = 1         # UTF-8 (lone surrogates encoded like any other code point)
    KEY_BYTES = 2
    KEY_INT = 3         # |value| < 2**61 - 1
    KEY_FLOAT = 4       # not a whole number
    KEY_CANONICAL = 5   # None, large ints, tuples, pairs: bytes, see estimator/names.py
    KEY_OBJECT = 6      # any other hashable: an ordinal; the object is kept outside the core
    KEY_LONG = 8        # a bit: the bytes are elsewhere
    KEY_INLINE = 15     # bytes of the longest text that is stored in the key itself

cdef extern from "key.h":
    const uint64_t LAST_BYTES "sp_last_bytes" [16]
    const uint64_t BYTES_BEFORE "sp_bytes_before" [16]
    uint64_t load8 "sp_load8" (const void* p) noexcept nogil
    void store8 "sp_store8" (void* p, uint64_t word) noexcept nogil


cdef inline uint64_t key_kind(const Key* key) noexcept nogil:
    return (key.hi >> 4) & 15


cdef inline bint key_is_long(const Key* key) noexcept nogil:
    return (key.hi >> 7) & 1


cdef inline size_t key_length(const Key* key) noexcept nogil:
    if key_is_long(key):
        return <size_t> (key.hi >> 8)
    return <size_t> (key.hi & 15)


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
    key.hi = kind << 4 | 8
    return key


cdef inline Key key_text(uint64_t kind, const uint8_t* p, size_t n) noexcept nogil:
    """A key of n bytes at p. The sixteen bytes before p may be read, too.

    They may be for the text of a Python str or bytes, where the object's header comes before it.
    """
    cdef Key key
    if n > KEY_INLINE:
        key.lo = <uint64_t> <uintptr_t> p
        key.hi = <uint64_t> n << 8 | (KEY_LONG | kind) << 4
        return key
    key.lo = load8(p + n - 8) & LAST_BYTES[n]
    key.hi = (load8(p + n - 16) & BYTES_BEFORE[n]) | kind << 4 | n
    return key


cdef inline void key_inline_bytes(const Key* key, uint8_t* out) noexcept nogil:
    """Write the text of an inline key: key_length bytes, at most fifteen."""
    cdef uint8_t whole[16]
    cdef size_t n = key_length(key)
    store8(whole, key.hi)
    store8(whole + 8, key.lo)
    memcpy(out, whole + 16 - n, n)


cdef inline uint8_t* canonical_count(uint8_t* p, uint8_t tag, size_t n) noexcept nogil:
    """Write a tag and a number as canonical bytes have them: at most eleven. Returns their end."""
    p[0] = tag
    p += 1
    while n > 127:
        p[0] = 128 | (n & 127)
        p += 1
        n >>= 7
    p[0] = <uint8_t> n
    return p + 1


cdef inline uint8_t* canonical_int(uint8_t* p, bint negative, uint64_t size,
                                   int zeros) noexcept nogil:
    """Write an int in base 16: the digits of its size, then zeros, with at most twelve bytes more.
    """
    cdef int i, digit, digits = 1
    while digits < 16 and size >> (4 * digits):
        digits += 1
    p = canonical_count(p, c'i', negative + digits + zeros)
    if negative:
        p[0] = c'-'
        p += 1
    for i in range(digits):
        digit = <int> (size >> (4 * (digits - 1 - i)) & 15)
        p[i] = <uint8_t> (digit + (c'0' if digit < 10 else c'a' - 10))
    p += digits
    for i in range(zeros):
        p[i] = c'0'
    return p + zeros


cdef inline size_t utf8_encode(uint32_t c, uint8_t* p) noexcept nogil:
    """Write a code point, also a lone surrogate. Returns the number of bytes."""
    if c < 0x80:
        p[0] = <uint8_t> c
        return 1
    if c < 0x800:
        p[0] = <uint8_t> (0xC0 | c >> 6)
        p[1] = <uint8_t> (0x80 | (c & 0x3F))
        return 2
    if c < 0x10000:
        p[0] = <uint8_t> (0xE0 | c >> 12)
        p[1] = <uint8_t> (0x80 | (c >> 6 & 0x3F))
        p[2] = <uint8_t> (0x80 | (c & 0x3F))
        return 3
    p[0] = <uint8_t> (0xF0 | c >> 18)
    p[1] = <uint8_t> (0x80 | (c >> 12 & 0x3F))
    p[2] = <uint8_t> (0x80 | (c >> 6 & 0x3F))
    p[3] = <uint8_t> (0x80 | (c & 0x3F))
    return 4
