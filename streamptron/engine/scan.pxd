# Characters: a text in lower case, and which of its bytes belong to words.
#
#     "Free  Wi-Fi: Écris!"
#        | scan          UTF-8 in lower case; a bit for each byte: does it belong to a word?
#        v
#     bytes   f r e e     w i - f i :   é   c r i s !
#     bits    1 1 1 1 0 0 1 1 0 1 1 0 0 1 1 1 1 1 1 0
#        | find_edges    where the bits change
#        v
#     edges   0 4  6 8  9 11  13 19
#
# Sixteen characters are scanned at a time where the machine can (SSE2). The bits of 64 bytes are
# one machine word, so the ends of words are found by counting zeros, without looking at the
# characters between them. What is not ASCII goes through a table of code points, which has the
# lower case of each and whether it belongs to words. The table is filled from Python in pages of
# 256, each when it is first needed (scan_page): the scan stops at a missing page, and the door
# fills it and starts again. Otherwise no interpreter is needed.
#
# Functions in this file: scan, find_edges, bit_at, is_ascii; scan_separators (characters that
# separate words), scan_page (characters met for the first time).

from libc.string cimport memcpy, memset
from streamptron.engine.types cimport uint8_t, uint32_t, uint64_t, zeros_below
from streamptron.engine.key cimport utf8_encode

cdef extern from "scan.h":
    const uint32_t WORD "SP_WORD"
    uint32_t** PAGES "sp_pages"
    bint is_ascii "sp_is_ascii" (const uint8_t* p, size_t n) noexcept nogil
    uint32_t scan_table "sp_scan_table" (
        const uint8_t* lower, const uint8_t* word, const uint8_t* p, uint8_t* to,
        uint32_t* others) noexcept nogil
    uint32_t scan_words "sp_scan_words" (
        bint lowering, const uint8_t* p, uint8_t* to, uint32_t* others) noexcept nogil
    Py_ssize_t find_edges "sp_edges" (
        const uint64_t* bits, size_t n, uint32_t* edges) noexcept nogil

cdef enum:
    REPLACEMENT = 0xFFFD
    PAGE_BITS = 8

cdef struct Characters:
    # Which characters belong to words.
    bint lowercase
    bint separated                  # words are whatever lies between separators
    uint8_t lower[256]              # lower case of ASCII; only for words between separators
    uint8_t word[256]               # whether it belongs to words; likewise
    uint32_t* separators
    Py_ssize_t n_separators

cdef struct Piece:
    # A text as it was given, in UTF-8.
    const uint8_t* p
    size_t n
    bint surrogates                 # from a str, which may have lone surrogates; else any bytes


cdef inline void scan_page(uint32_t page, uint32_t* entries) noexcept nogil:
    """Set the 256 entries of a page, for good."""
    PAGES[page] = entries


cdef inline bint _is_separator(const Characters* rule, uint32_t c) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(rule.n_separators):
        if rule.separators[i] == c:
            return True
    return False


cdef inline void scan_separators(Characters* rule) noexcept nogil:
    """Fill the tables for ASCII from the separators."""
    cdef int c
    for c in range(256):
        rule.lower[c] = <uint8_t> (c + 32 if rule.lowercase and 65 <= c <= 90 else c)
        rule.word[c] = c < 128 and not _is_separator(rule, c)


cdef inline uint32_t _decode(const uint8_t* p, size_t n, bint surrogates,
                             size_t* length) noexcept nogil:
    """The code point at p, which is not ASCII; n bytes remain.

    REPLACEMENT for a bad sequence, which ends where it could no longer have become a good one.
    `surrogates`: whether they are allowed.
    """
    cdef uint8_t first = p[0], low = 0x80, high = 0xBF
    cdef size_t i, need
    cdef uint32_t c
    if first < 0xC2 or first > 0xF4:
        length[0] = 1
        return REPLACEMENT
    if first < 0xE0:
        need, c = 2, first & 0x1F
    elif first < 0xF0:
        need, c = 3, first & 0x0F
        if first == 0xE0:
            low = 0xA0
        elif first == 0xED and not surrogates:
            high = 0x9F
    else:
        need, c = 4, first & 0x07
        if first == 0xF0:
            low = 0x90
        elif first == 0xF4:
            high = 0x8F
    for i in range(1, need):
        if i == n or not low <= p[i] <= high:
            length[0] = i
            return REPLACEMENT
        c = c << 6 | (p[i] & 0x3F)
        low, high = 0x80, 0xBF
    length[0] = need
    return c


cdef inline void _set_bits(uint64_t* bits, size_t at, uint64_t few) noexcept nogil:
    """Set up to sixteen bits."""
    bits[at >> 6] |= few << (at & 63)
    if (at & 63) > 48:
        bits[(at >> 6) + 1] |= few >> (64 - (at & 63))


cdef inline Py_ssize_t scan(const Characters* rule, uint64_t* bits, const Piece* piece, uint8_t* to,
                            size_t* length, size_t* n_replaced) noexcept nogil:
    """Write a text to `to` in lower case, set the bits of word bytes, and count bad sequences.

    Returns 0, or 1 + the number of a missing page of code points.
    """
    cdef uint8_t last[16]
    cdef const uint8_t* p = piece.p
    cdef const uint8_t* source
    cdef size_t n = piece.n
    cdef size_t i = 0, o = 0, k, some
    cdef uint32_t words, others = 0, c, entry
    while i < n:
        some = min(<size_t> 16, n - i)
        source = p + i
        if some < 16:
            memset(last, 0, 16)
            memcpy(last, source, some)
            source = last
        if rule.separated:
            words = scan_table(rule.lower, rule.word, source, to + o, &others)
        else:
            words = scan_words(rule.lowercase, source, to + o, &others)
        k = some
        if others:
            k = min(k, <size_t> zeros_below(others))
        if k < 16:
            words &= (<uint32_t> 1 << k) - 1
        _set_bits(bits, o, words)
        i += k
        o += k
        if k < some:
            while i < n and p[i] >= 0x80:
                c = _decode(p + i, n - i, piece.surrogates, &k)
                if c == REPLACEMENT and not (p[i] == 0xEF and k == 3):  # U+FFFD itself is no error
                    n_replaced[0] += 1
                i += k
                if PAGES[c >> PAGE_BITS] == NULL:
                    return 1 + (c >> PAGE_BITS)
                entry = PAGES[c >> PAGE_BITS][c & 0xFF]
                if rule.lowercase and entry & ~WORD != c:
                    c = entry & ~WORD
                    if PAGES[c >> PAGE_BITS] == NULL:
                        return 1 + (c >> PAGE_BITS)
                    entry = PAGES[c >> PAGE_BITS][c & 0xFF]
                k = utf8_encode(c, to + o)
                if (not _is_separator(rule, c)) if rule.separated else (entry & WORD) != 0:
                    _set_bits(bits, o, (<uint64_t> 1 << k) - 1)
                o += k
    length[0] = o
    return 0


cdef inline bint bit_at(const uint64_t* bits, size_t at) noexcept nogil:
    return bits[at >> 6] >> (at & 63) & 1
