/* The number of line ends in a block. */

#ifndef STREAMPTRON_LINES_H
#define STREAMPTRON_LINES_H

#include "compiler.h"

static inline size_t sp_line_ends(const uint8_t *p, size_t n)
{
    size_t count = 0;
    for (size_t from = 0; from < n; from += 240) {
        uint8_t few = 0;            /* one byte, so that a compiler counts sixteen side by side */
        size_t to = from + 240 < n ? from + 240 : n;
        for (size_t i = from; i < to; i++) few += p[i] == 10;
        count += few;
    }
    return count;
}

#endif
