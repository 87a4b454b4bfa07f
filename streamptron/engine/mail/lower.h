/* A mail's text in lower case, folded, and which of its bytes belong to words.

   First a letter and its marks are composed, and invisible code points are left out
   (names/compose.h). Letters, digits, marks and the underscore belong to words, by the table of
   letters (names/letters.h), and so do characters that are only kept distinct (mail/charset.h). */

#ifndef STREAMPTRON_MAIL_LOWER_H
#define STREAMPTRON_MAIL_LOWER_H

#include "memory/compiler.h"

enum {
    SP_LOWER_SPARE = 32, /* bytes that may be written past the end */
};

/* Write n bytes of UTF-8 to `to`, where there is room for twice as many and SP_LOWER_SPARE, and set
   the bits of word bytes. Returns its length. *lookalikes becomes true if it has look-alikes. */
SP_PRIVATE size_t sp_lower(const uint8_t *p, size_t n, bool fold, uint8_t *to, uint64_t *bits,
                           bool *lookalikes);

/* Replace the look-alikes in a word of n bytes that has an ASCII letter. Returns its length. */
SP_PRIVATE size_t sp_lower_lookalikes(uint8_t *p, size_t n);

/* The bytes of the UTF-8 character at p. */
static inline size_t sp_lower_character(const uint8_t *p)
{
    return *p < 0x80 ? 1 : *p < 0xE0 ? 2 : *p < 0xF0 ? 3 : 4;
}

#endif
