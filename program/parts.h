/* What each feature of an event has of a label's score, as the Python program lists it: the largest
   first, the smallest of them such that all together are exactly the score. */

#ifndef SPT_PROGRAM_PARTS_H
#define SPT_PROGRAM_PARTS_H

#include "model.h"

typedef struct part {
    const char *name; /* NULL: what is always there */
    size_t n;
    double share, value; /* what it has of the score, and what the event has of it */
    size_t at;           /* its place among the others, of which equal ones stay in order */
} part;

typedef struct parts {
    part *p;
    size_t n;
} parts;

/* The parts of an event that has been answered; names stay until it is used again. SPT_OK or a
   code. */
int parts_find(model *m, size_t label, parts *found, spt_error *error);

void parts_free(parts *found);

#endif
