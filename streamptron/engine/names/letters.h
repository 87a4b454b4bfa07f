/* Letters: of a code point its lower case, and whether it belongs to words.

   Letters, digits and the underscore belong to words (Python's str.isalnum), and marks (category
   M). The lower case is one code point, the first where Unicode has several; it belongs to words if
   and only if the code point itself does. What the table's version of Unicode has not assigned is
   its own lower case and belongs to no word.

       c = 0x416 (Ж)
          | pages     c >> 7: which block; most of them are alike, such as those of Han
          v
       block 8
          | blocks    c & 127 of the block: 2 * the number of a step + whether it belongs to words
          v
       letter 3
          | steps     how far it is to the lower case
          v
       c + 32 (ж)

   The table is the same on every machine and under every Python. tools/letters.py writes letters.c
   from the Unicode tables of the Python that runs it; they are not asked otherwise. */

#ifndef STREAMPTRON_NAMES_LETTERS_H
#define STREAMPTRON_NAMES_LETTERS_H

#include "memory/compiler.h"

enum {
    SP_CODE_POINTS = 0x110000,
    SP_LETTER_BITS = 7,
};

SP_DATA const char sp_letters_unicode[]; /* which version it is: "15.1.0" */
SP_DATA const uint8_t sp_letters_pages[SP_CODE_POINTS >> SP_LETTER_BITS];
SP_DATA const uint8_t sp_letters_blocks[];
SP_DATA const int32_t sp_letters_steps[];

static inline uint8_t sp_letters_at(uint32_t c)
{
    uint32_t block = sp_letters_pages[c >> SP_LETTER_BITS];
    return sp_letters_blocks[block << SP_LETTER_BITS | (c & ((1 << SP_LETTER_BITS) - 1))];
}

/* The lower case of a code point below SP_CODE_POINTS. */
static inline uint32_t sp_letters_lower(uint32_t c)
{
    return c + (uint32_t)sp_letters_steps[sp_letters_at(c) >> 1];
}

/* Whether it belongs to words; its lower case does so too, or not either. */
static inline bool sp_letters_belongs(uint32_t c)
{
    return sp_letters_at(c) & 1;
}

#endif
