/* A text in UTF-8, and its code points. */

#ifndef STREAMPTRON_NAMES_UTF8_H
#define STREAMPTRON_NAMES_UTF8_H

#include "memory/compiler.h"

enum {
    SP_REPLACEMENT = 0xFFFD,
};

typedef struct sp_piece {
    /* A text as given, in UTF-8. */
    const uint8_t *p;
    size_t n;
    bool surrogates; /* from a str, which may have lone surrogates; otherwise any bytes */
} sp_piece;

/* The code point at p, which is not ASCII; n bytes remain.

   SP_REPLACEMENT for a bad sequence, which ends before the first byte that cannot continue it.
   `surrogates`: whether they are allowed. */
SP_PRIVATE uint32_t sp_utf8_decode(const uint8_t *p, size_t n, bool surrogates, size_t *length);

#endif
