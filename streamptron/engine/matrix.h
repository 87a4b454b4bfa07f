/* The two loops that see every number of a matrix before it is used. */

#ifndef STREAMPTRON_MATRIX_H
#define STREAMPTRON_MATRIX_H

#include "compiler.h"

/* A double without its sign is in the order of its bits as an int, and so: bits > limit where
   limit - bits has its top bit set, and bits = 0 where bits - 1 has. Bit 0: a value beyond the
   limit; bit 1: a zero. */
SP_WIDER static int sp_check_doubles(const uint64_t *values, ptrdiff_t n)
{
    uint64_t over = 0, under = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        uint64_t bits = values[i] & UINT64_C(0x7FFFFFFFFFFFFFFF);
        over |= SP_VALUE_LIMIT_BITS - bits;
        under |= bits - 1;
    }
    return (int)(over >> 63) | (int)(under >> 63) << 1;
}

/* How often a number is not above the one before it. */
SP_WIDER static uint32_t sp_count_falls(const int32_t *columns, ptrdiff_t n)
{
    uint32_t falls = 0;
    for (ptrdiff_t i = 1; i < n; i++) falls += columns[i] <= columns[i - 1];
    return falls;
}

#endif
