/* Folding: the ASCII character that a reader takes a code point for.

   0           itself, in lower case (names/letters.h)
   1           nothing: it is invisible, or a mark on the letter before
   32 to 126   this character: accents are gone; wide, mathematical and circled letters are plain;
               dashes are -, quotes ', spaces a space
   128 + c     a letter of another script that looks like c: c in a word with ASCII letters,
               otherwise itself

   The table has three stages, like the table of letters; mathematical letters and digits are
   computed. tools/folding.py writes folding.c: from the compatibility decompositions of Unicode,
   and, for look-alikes, from Unicode's confusables.txt (Unicode Technical Standard 39; Copyright
   Unicode, Inc., under its data files' licence). */

#ifndef STREAMPTRON_MAIL_FOLDING_H
#define STREAMPTRON_MAIL_FOLDING_H

#include "names/letters.h"

enum {
    SP_FOLDING_DROP = 1,
    SP_FOLDING_LOOKALIKE = 128, /* a bit */
    SP_FOLDING_BITS = 4,        /* of a code point within its block */
    SP_FOLDING_LISTED = 0x20000 >> SP_PAGE_BITS,
};

SP_DATA const uint8_t sp_folding_pages[SP_FOLDING_LISTED + 3];
SP_DATA const uint8_t sp_folding_lists[];
SP_DATA const uint8_t sp_folding_blocks[];

static inline uint8_t sp_folding_at(uint32_t c)
{
    if (c >= 0x1D400 && c < 0x1D6A4) /* mathematical alphabets, one behind the other */
        return (uint8_t)('a' + (c - 0x1D400) % 26);
    if (c >= 0x1D7CE && c < 0x1D800)
        return (uint8_t)('0' + (c - 0x1D7CE) % 10);
    return sp_stages_at(sp_folding_pages, SP_FOLDING_LISTED, sp_folding_lists, sp_folding_blocks,
                        SP_FOLDING_BITS, c);
}

#endif
