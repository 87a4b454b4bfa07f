/* The share of each feature of an event in a label's score, as the Python program lists it: the
   largest first. The smallest share is adjusted so that all shares add up exactly to the score. */

#ifndef SPT_PROGRAM_PARTS_H
#define SPT_PROGRAM_PARTS_H

#include "model.h"

typedef struct part {
    const char *name; /* NULL: the constant part */
    size_t n;
    double share, value; /* its share in the score, and its value in the event */
    size_t at;           /* its original place, so that equal ones stay in order */
} part;

typedef struct parts {
    part *p;
    size_t n;
} parts;

/* Find the parts of an answered event; names stay valid until the event is used again. SPT_OK or a
   code. */
int parts_find(model *m, size_t label, parts *found, spt_error *error);

void parts_free(parts *found);

#endif
