/* Letters: the lower case of a code point, and whether it belongs to words.

   Letters, digits and the underscore belong to words (Python's str.isalnum), and marks (category
   M). The lower case is one code point, the first where Unicode has several; it belongs to words if
   and only if the code point itself does. A code point that the table's version of Unicode has not
   assigned is its own lower case and belongs to no word. A few are special: invisible ones, and
   those that may compose with the code point before them (names/compose.h).

       c = 0x416 (Ж)
          | pages     c >> 8: which list of blocks; many pages share one, such as those of Han;
          |           from 0x34000 on all do but two: tags (U+E0000) and variations (U+E0100)
          v
       list 2
          | lists     c >> 3 & 31 of the list: which block; there are more than a byte can number,
          |           so lists from 128 on count from 128
          v
       block 4
          | blocks    c & 7 of the block: 2 * the number of a step + whether it belongs to words;
          |           SP_LETTER_SPECIAL and above are special
          v
       letter 3
          | steps     how far it is to the lower case
          v
       c + 32 (ж)

   The table is the same on every machine and under every Python. tools/letters.py writes letters.c
   from the Unicode tables of the Python that runs it, which are not used otherwise. */

#ifndef STREAMPTRON_NAMES_LETTERS_H
#define STREAMPTRON_NAMES_LETTERS_H

#include "memory/compiler.h"

enum {
    SP_CODE_POINTS = 0x110000,
    SP_PAGE_BITS = 8,   /* of a code point within its page */
    SP_PAGES_LISTED = 0x34000 >> SP_PAGE_BITS,
    SP_LETTER_BITS = 3, /* and within its block */

    /* Special letters: names/compose.h says what becomes of them. */
    SP_LETTER_SPECIAL = 192,
    SP_LETTER_UNSEEN = 192,
    SP_LETTER_MARK = 195,   /* has a class, by which marks are ordered */
    SP_LETTER_SECOND = 197, /* likewise; composes with some letters */
    SP_LETTER_JOINS = 199,  /* has no class; may compose with the code point right before it */
    SP_LETTER_REWRITTEN = 200, /* and all above: stands for one or two others */
};

SP_DATA const char sp_letters_unicode[]; /* which version it is: "15.1.0" */
SP_DATA const uint8_t sp_letters_pages[SP_PAGES_LISTED + 3];
SP_DATA const uint8_t sp_letters_lists[];
SP_DATA const uint8_t sp_letters_blocks[];
SP_DATA const int32_t sp_letters_steps[];

/* A code point's entry in such a table, whose blocks have `bits` bits. */
SP_TEMPLATE uint8_t sp_stages_at(const uint8_t *pages, uint32_t listed, const uint8_t *lists,
                                const uint8_t *blocks, int bits, uint32_t c)
{
    uint32_t page = c >> SP_PAGE_BITS;
    if (page >= listed)
        page = listed + (page == 0xE00 ? 0 : page == 0xE01 ? 1 : 2);
    uint32_t list = (uint32_t)pages[page] << (SP_PAGE_BITS - bits);
    uint32_t block = lists[list | (c >> bits & ((1U << (SP_PAGE_BITS - bits)) - 1))];
    block += pages[page] & 128U;
    return blocks[block << bits | (c & ((1U << bits) - 1))];
}

/* A code point's entry in the blocks described above. */
static inline uint8_t sp_letters_at(uint32_t c)
{
    return sp_stages_at(sp_letters_pages, SP_PAGES_LISTED, sp_letters_lists, sp_letters_blocks,
                        SP_LETTER_BITS, c);
}

/* The lower case of a code point below SP_CODE_POINTS. */
static inline uint32_t sp_letters_lower(uint32_t c)
{
    return c + (uint32_t)sp_letters_steps[sp_letters_at(c) >> 1];
}

#endif
