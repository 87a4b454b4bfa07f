/* A feature's name in sixteen bytes.

   Most names are short words and small numbers. A key holds up to 15 bytes of text itself, so that
   two keys are compared as two pairs of words, without following a pointer to a string:

       lo   the last eight bytes of the text, in the upper bytes of the word if there are fewer
       hi   the (up to seven) bytes before those, likewise, and in the lowest byte
            [kind 4 bits | length 4 bits]

       "spam"        lo = 'spam' << 32      hi = STR << 4 | 4
       "streaming"   lo = 'treaming'        hi = 's' << 56 | STR << 4 | 9
       42            lo = 42                hi = INT << 4 | 8
       0.5           lo = its bits          hi = FLOAT << 4 | 8
       a long text   lo = address of bytes  hi = length << 8 | (LONG | STR) << 4
       an object     lo = its ordinal       hi = OBJECT << 4 | 8

   Counting from the end saves all shifting: two loads, which may reach into the header before a
   text, two masks by its length, and no branch on a length that cannot be predicted.

   The address of a long key belongs to the caller during a lookup, and to the index once the key is
   stored. Keys are equal if they have the same kind and the same bytes, never by hash alone. */

#ifndef STREAMPTRON_NAMES_KEY_H
#define STREAMPTRON_NAMES_KEY_H

#include "memory/compiler.h"

#include <string.h>

/* Bytes as numbers, and the masks of names/key.h. */

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

/* Masks by length: for the last eight bytes of a text, and for the seven before those. */
#define SP_UPPER(n) ((n) <= 0 ? 0 : ~(uint64_t)0 << ((n) >= 8 ? 0 : (64 - 8 * (n)) & 63))
#define SP_MASKS(m)                                                                              \
    {                                                                                            \
        SP_UPPER(0 - m), SP_UPPER(1 - m), SP_UPPER(2 - m), SP_UPPER(3 - m), SP_UPPER(4 - m),     \
            SP_UPPER(5 - m), SP_UPPER(6 - m), SP_UPPER(7 - m), SP_UPPER(8 - m), SP_UPPER(9 - m), \
            SP_UPPER(10 - m), SP_UPPER(11 - m), SP_UPPER(12 - m), SP_UPPER(13 - m),              \
            SP_UPPER(14 - m), SP_UPPER(15 - m)                                                   \
    }
static const uint64_t sp_last_bytes[16] = SP_MASKS(0);
static const uint64_t sp_bytes_before[16] = SP_MASKS(8);

typedef struct sp_key {
    uint64_t lo;
    uint64_t hi;
} sp_key;

enum {
    SP_KEY_NONE = 0, /* equal to no stored key: an object that the model does not know */
    SP_KEY_STR = 1,  /* UTF-8 (lone surrogates encoded like any other code point) */
    SP_KEY_BYTES = 2,
    SP_KEY_INT = 3,       /* |value| < 2**61 - 1 */
    SP_KEY_FLOAT = 4,     /* not a whole number */
    SP_KEY_CANONICAL = 5, /* None, large ints, tuples, pairs: bytes, see common/names.py */
    SP_KEY_OBJECT = 6,    /* any other hashable: an ordinal; the object is kept outside the core */
    SP_KEY_LONG = 8,      /* a bit: the bytes are elsewhere */
    SP_KEY_INLINE = 15,   /* bytes of the longest text that is stored in the key itself */
};

static inline uint64_t sp_key_kind(const sp_key *key)
{
    return (key->hi >> 4) & 15;
}

static inline bool sp_key_is_long(const sp_key *key)
{
    return (key->hi >> 7) & 1;
}

static inline size_t sp_key_length(const sp_key *key)
{
    if (sp_key_is_long(key))
        return (size_t)(key->hi >> 8);
    return (size_t)(key->hi & 15);
}

/* Where the bytes of a long key are. */
static inline const uint8_t *sp_key_bytes(const sp_key *key)
{
    return (const uint8_t *)(uintptr_t)key->lo;
}

static inline bool sp_key_equal(const sp_key *a, const sp_key *b)
{
    if (a->hi != b->hi)
        return false;
    if (a->lo == b->lo)
        return true;
    if (!sp_key_is_long(a))
        return false;
    return memcmp(sp_key_bytes(a), sp_key_bytes(b), sp_key_length(a)) == 0;
}

/* A key that is one 64-bit word: an int, a float's bits, an ordinal. */
static inline sp_key sp_key_word(uint64_t kind, uint64_t word)
{
    sp_key key;
    key.lo = word;
    key.hi = (kind << 4) | 8;
    return key;
}

/* A key of n bytes at p. The sixteen bytes before p may be read, too.

   For the text of a Python str or bytes they may be, as the object's header comes before it. */
SP_TEMPLATE sp_key sp_key_text(uint64_t kind, const uint8_t *p, size_t n)
{
    sp_key key;
    if (n > SP_KEY_INLINE) {
        key.lo = (uint64_t)(uintptr_t)p;
        key.hi = ((uint64_t)n << 8) | ((SP_KEY_LONG | kind) << 4);
        return key;
    }
    key.lo = sp_load8(p + n - 8) & sp_last_bytes[n];
    key.hi = (sp_load8(p + n - 16) & sp_bytes_before[n]) | (kind << 4) | n;
    return key;
}

/* Write the text of an inline key: sp_key_length bytes, at most fifteen. */
static inline void sp_key_inline_bytes(const sp_key *key, uint8_t *out)
{
    uint8_t whole[16];
    size_t n = sp_key_length(key);
    sp_store8(whole, key->hi);
    sp_store8(whole + 8, key->lo);
    memcpy(out, whole + 16 - n, n);
}

/* Write a tag and a number as in canonical bytes: at most eleven bytes. Returns their end. */
static inline uint8_t *sp_canonical_count(uint8_t *p, uint8_t tag, size_t n)
{
    *p = tag;
    p++;
    while (n > 127) {
        *p = 128 | (n & 127);
        p++;
        n >>= 7;
    }
    *p = (uint8_t)n;
    return p + 1;
}

/* Write an int in base 16: the digits of `size`, then zeros. Takes at most twelve bytes more. */
static inline uint8_t *sp_canonical_int(uint8_t *p, bool negative, uint64_t size, int zeros)
{
    int digits = 1;
    while (digits < 16 && size >> (4 * digits))
        digits++;
    p = sp_canonical_count(p, 'i', (size_t)(negative + digits + zeros));
    if (negative) {
        p[0] = '-';
        p++;
    }
    for (int i = 0; i < digits; i++) {
        int digit = (int)((size >> (4 * (digits - 1 - i))) & 15);
        p[i] = (uint8_t)(digit + (digit < 10 ? '0' : 'a' - 10));
    }
    p += digits;
    for (int i = 0; i < zeros; i++)
        p[i] = '0';
    return p + zeros;
}

/* Write a code point, also a lone surrogate. Returns the number of bytes. */
static inline size_t sp_utf8_encode(uint32_t c, uint8_t *p)
{
    if (c < 0x80) {
        p[0] = (uint8_t)c;
        return 1;
    }
    if (c < 0x800) {
        p[0] = (uint8_t)(0xC0 | (c >> 6));
        p[1] = (uint8_t)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        p[0] = (uint8_t)(0xE0 | (c >> 12));
        p[1] = (uint8_t)(0x80 | ((c >> 6) & 0x3F));
        p[2] = (uint8_t)(0x80 | (c & 0x3F));
        return 3;
    }
    p[0] = (uint8_t)(0xF0 | (c >> 18));
    p[1] = (uint8_t)(0x80 | ((c >> 12) & 0x3F));
    p[2] = (uint8_t)(0x80 | ((c >> 6) & 0x3F));
    p[3] = (uint8_t)(0x80 | (c & 0x3F));
    return 4;
}

#endif
