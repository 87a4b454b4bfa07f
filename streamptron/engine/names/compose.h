/* Composing: a letter and its marks as one code point, where there is one (Unicode's NFC).

   e + U+0301 is é, whichever way it was written; jamo become a syllable of Hangul. Marks come in
   Unicode's order. Invisible code points (U+00AD, U+200D and so on) are left out. Code points from
   U+10000 on and compatibility ideographs (U+F900 to U+FAFF) stay as they are, marks beyond a
   letter's thirtieth start a new stretch, and a dot above an i, which has one already, is dropped:
   so is the dot of İ, whose lower case is i.

       d   ê   U+0323   U+200D   t
           |------------------|      a stretch: a letter, and special code points (names/letters.h)
           ê   U+0323                invisible code points are left out
           e   U+0302   U+0323       taken apart, where a mark belongs before one in the letter
           e   U+0323   U+0302       in order
           ệ                         put together

   Most special code points change nothing: a single mark that is not in the table of pairs, or that
   has no pair with the letter before it. Only where sp_compose_is_due says so is a stretch
   composed.

   names/compose_table.h has a list of pairs for each second code point: the first code point and
   the composed one. Pairs of the first SP_COMPOSE_SECONDS lists are composed; the others are only
   taken apart. Capitals have a pair only where it does not follow from that of the small letters.
   Marks whose class differs from that of the mark before them are listed with it.
   tools/composing.py writes it. */

#ifndef STREAMPTRON_NAMES_COMPOSE_H
#define STREAMPTRON_NAMES_COMPOSE_H

#include "memory/compiler.h"
#include "names/letters.h"
#include "names/utf8.h"

enum {
    SP_COMPOSE_MARKS = 30,
    SP_COMPOSE_MOST = 2 * SP_COMPOSE_MARKS + 8, /* code points of a stretch */
};

typedef struct sp_stretch {
    /* Where the letter before is, which may have to be written again. */
    size_t from;     /* in the text */
    size_t to;       /* in what is written */
    uint32_t letter; /* 0 if marks have followed it */
    uint32_t mark;   /* the last of them, if all are in order; else 0 */
} sp_stretch;

/* Begin a stretch. */
static inline void sp_stretch_begin(sp_stretch *stretch, size_t from, size_t to, uint32_t letter)
{
    stretch->from = from;
    stretch->to = to;
    stretch->letter = letter;
}

/* Whether a special letter is the first mark of a stretch, and changes nothing. */
static inline bool sp_stretch_is_marked(sp_stretch *stretch, uint8_t letter, uint32_t c)
{
    if (letter != SP_LETTER_MARK || stretch->letter == 0)
        return false;
    stretch->letter = 0;
    stretch->mark = c;
    return true;
}

/* The special code point c has been read at `from` and would be written at `to`. Returns whether
   the stretch must be composed; if not, c is written as it is. */
SP_PRIVATE bool sp_compose_is_due(sp_stretch *stretch, uint32_t c, size_t from, size_t to);

/* Compose the stretch that starts at *at, and move *at to its end. `lowercase`: in lower case.
   Returns the number of code points. */
SP_PRIVATE int sp_compose(const sp_piece *piece, size_t *at, bool lowercase, uint32_t *to);

#endif
