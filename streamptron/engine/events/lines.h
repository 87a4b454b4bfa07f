/* Lines of text, and their labels.

       LABELLED   label TAB text
       EITHER     label TAB text, or a text without a TAB
       TEXT       a text, TABs included
       FASTTEXT   __label__x text

   A line ends with LF or CR LF; the last one may end with the block. Nothing is copied: label and
   text point to the bytes in the block. */

#ifndef STREAMPTRON_EVENTS_LINES_H
#define STREAMPTRON_EVENTS_LINES_H

#include "memory/compiler.h"

/* The number of line ends in a block. */
SP_API size_t sp_line_ends(const uint8_t *p, size_t n);

enum {
    SP_LINES_LABELLED = 0,
    SP_LINES_EITHER = 1,
    SP_LINES_TEXT = 2,
    SP_LINES_FASTTEXT = 3,

    SP_LINE_GOOD = 0,
    SP_LINE_BLANK = 1, /* only a line end */
    SP_LINE_NO_TAB = 2,
    SP_LINE_NO_LABEL = 3,
    SP_LINE_NO_PREFIX = 4,
    SP_LINE_SEVERAL = 5,
};

typedef struct sp_line {
    const uint8_t *p;     /* where the next line starts */
    const uint8_t *end;   /* of the block */
    const uint8_t *label; /* NULL: the line has none */
    size_t n_label;
    const uint8_t *text;
    size_t n_text;
    int fault;
} sp_line;

/* Read the next line; False at the end of the block. */
SP_API bool sp_line_next(sp_line *line, int kind);

#endif
