/* Bytes as numbers, and the masks of key.pxd. */

#ifndef STREAMPTRON_KEY_H
#define STREAMPTRON_KEY_H

#include "compiler.h"

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
#define SP_MASKS(m) {SP_UPPER(0 - m), SP_UPPER(1 - m), SP_UPPER(2 - m), SP_UPPER(3 - m), \
    SP_UPPER(4 - m), SP_UPPER(5 - m), SP_UPPER(6 - m), SP_UPPER(7 - m), SP_UPPER(8 - m), \
    SP_UPPER(9 - m), SP_UPPER(10 - m), SP_UPPER(11 - m), SP_UPPER(12 - m), SP_UPPER(13 - m), \
    SP_UPPER(14 - m), SP_UPPER(15 - m)}
static const uint64_t sp_last_bytes[16] = SP_MASKS(0);
static const uint64_t sp_bytes_before[16] = SP_MASKS(8);

#endif
