/* Characters: a text in lower case, and which of its bytes belong to words.

       "Free  Wi-Fi: Écris!"
          | scan          UTF-8 in lower case; a bit for each byte: does it belong to a word?
          v
       bytes   f r e e     w i - f i :   é   c r i s !
       bits    1 1 1 1 0 0 1 1 0 1 1 0 0 1 1 1 1 1 1 0
          | sp_edges    where the bits change
          v
       edges   0 4  6 8  9 11  13 19

   Where the machine has SSE2, sixteen characters are scanned at a time. The bits of 64 bytes are
   one machine word, so the ends of words are found by counting zeros, without looking at the
   characters between them. Characters beyond ASCII are looked up in the table of letters, which has
   each code point's lower case, and whether it belongs to words (names/letters.h). Letters and
   their marks become one code point, and invisible code points are left out (names/compose.h). */

#ifndef STREAMPTRON_NAMES_SCAN_H
#define STREAMPTRON_NAMES_SCAN_H

#include "names/utf8.h"

/* Characters, sixteen at a time: lower case, which of them belong to words, where words end. */

#if defined(__SSE2__)
    #include <emmintrin.h>
#endif

static inline int sp_is_ascii(const uint8_t *p, size_t n)
{
    uint8_t high = 0;
    for (size_t i = 0; i < n; i++)
        high |= p[i];
    return high < 0x80;
}

/* Copy sixteen bytes from p to `to` through the tables. Returns a bit for each that belongs to a
   word; `others` gets a bit for each that is not ASCII. */
static inline uint32_t sp_scan_table(const uint8_t *lower, const uint8_t *word, const uint8_t *p,
                                     uint8_t *to, uint32_t *others)
{
    uint32_t words = 0, rest = 0;
    for (int i = 0; i < 16; i++) {
        uint8_t c = lower[p[i]];
        to[i] = c;
        words |= (uint32_t)word[c] << i;
        rest |= (uint32_t)(p[i] >> 7) << i;
    }
    *others = rest;
    return words;
}

/* The same for ASCII letters, digits and the underscore. */
static inline uint32_t sp_scan_words(int lowering, const uint8_t *p, uint8_t *to, uint32_t *others)
{
#if defined(__SSE2__)
    __m128i x = _mm_loadu_si128((const __m128i *)p);
    __m128i low = _mm_or_si128(x, _mm_set1_epi8(0x20));
    __m128i letter = _mm_and_si128(_mm_cmpgt_epi8(low, _mm_set1_epi8('a' - 1)),
                                   _mm_cmplt_epi8(low, _mm_set1_epi8('z' + 1)));
    __m128i digit = _mm_and_si128(_mm_cmpgt_epi8(x, _mm_set1_epi8('0' - 1)),
                                  _mm_cmplt_epi8(x, _mm_set1_epi8('9' + 1)));
    __m128i other = _mm_cmpeq_epi8(x, _mm_set1_epi8('_'));
    __m128i lowered = _mm_or_si128(x, _mm_and_si128(letter, _mm_set1_epi8(lowering ? 0x20 : 0)));
    _mm_storeu_si128((__m128i *)to, lowered);
    *others = (uint32_t)_mm_movemask_epi8(x);
    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(letter, digit), other)) & ~*others;
#else
    uint32_t words = 0, rest = 0;
    for (int i = 0; i < 16; i++) {
        uint8_t c = p[i], low = c | 0x20;
        uint32_t letter = low >= 'a' && low <= 'z';
        to[i] = letter && lowering ? low : c;
        words |= (letter | (c >= '0' && c <= '9') | (c == '_')) << i;
        rest |= (uint32_t)(c >> 7) << i;
    }
    *others = rest;
    return words & ~rest;
#endif
}

/* Where the n bits change: pairs of a word's start and end. They are written four at a time, and
   the last group may go beyond the end, so there must be room for four more. */
static inline ptrdiff_t sp_edges(const uint64_t *bits, size_t n, uint32_t *edges)
{
    ptrdiff_t k = 0;
    uint64_t carry = 0;
    for (size_t at = 0; at <= n; at += 64) {
        uint64_t word = bits[at >> 6], edge = word ^ (word << 1 | carry);
        carry = word >> 63;
        while (edge) {
            for (int i = 0; i < 4; i++) {
                edges[k] = (uint32_t)at + (uint32_t)sp_zeros_below(edge | UINT64_C(1) << 63);
                k += edge != 0;
                edge &= edge - 1;
            }
        }
    }
    return k;
}

typedef struct sp_characters {
    /* Which characters belong to words. */
    bool lowercase;
    bool separated;     /* words are whatever lies between separators */
    uint8_t lower[256]; /* lower case of ASCII; only for words between separators */
    uint8_t word[256];  /* whether it belongs to words; likewise */
    uint32_t *separators;
    ptrdiff_t n_separators;
} sp_characters;

/* Put the separators into lower case if the text will be, and fill the tables for ASCII from
   them. */
SP_API void sp_scan_separators(sp_characters *rule);

/* Write a text to `to`, in lower case if the rule says so, set the bits of word bytes, and count
   bad sequences. Returns the length written. */
SP_PRIVATE size_t sp_scan(const sp_characters *rule, uint64_t *bits, const sp_piece *piece,
                          uint8_t *to, size_t *n_replaced);

/* Clear the bits from one byte up to another. */
static inline void sp_clear_bits(uint64_t *bits, size_t from, size_t to)
{
    for (; from < to; from++)
        bits[from >> 6] &= ~(UINT64_C(1) << (from & 63));
}

/* Set up to sixteen bits. */
SP_TEMPLATE void sp_set_bits(uint64_t *bits, size_t at, uint64_t few)
{
    bits[at >> 6] |= few << (at & 63);
    if ((at & 63) > 48)
        bits[(at >> 6) + 1] |= few >> (64 - (at & 63));
}

static inline bool sp_bit_at(const uint64_t *bits, size_t at)
{
    return (bits[at >> 6] >> (at & 63)) & 1;
}

#endif
