/* What a machine keeps once a model, beside what it keeps for each feature: as plain numbers, the
   way a model file has them. */

#ifndef STREAMPTRON_LEARNER_MODEL_NUMBERS_H
#define STREAMPTRON_LEARNER_MODEL_NUMBERS_H

#include "memory/types.h"

typedef struct sp_model_numbers {
    const char *name;   /* in a model file; NULL: it keeps nothing once */
    ptrdiff_t n;        /* numbers of the model */
    ptrdiff_t n_rows;   /* and behind these rows of numbers, one a label */
    ptrdiff_t width;    /* of such a row; 0: there are none */
    ptrdiff_t n_behind; /* numbers behind the rows */
    ptrdiff_t n_more;   /* numbers of each list behind those */
    ptrdiff_t n_lists;  /* how many such lists there are */
} sp_model_numbers;

static inline size_t sp_model_numbers_count(const sp_model_numbers *once)
{
    return (size_t)(once->n + once->n_rows * once->width + once->n_behind
                    + once->n_lists * once->n_more);
}

/* One part of an explained score. */
typedef struct sp_share {
    ptrdiff_t entry; /* of the event; -1: the event lacks it */
    sp_slot_type slot;
    ptrdiff_t other_entry; /* of two columns the second, */
    sp_slot_type other;    /* SP_SLOT_NULL: it is one alone */
} sp_share;

#endif
