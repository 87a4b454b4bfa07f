/* What a machine keeps once per model, beside what it keeps for each feature: as plain numbers, as
   in a model file. */

#ifndef STREAMPTRON_LEARNER_MODEL_NUMBERS_H
#define STREAMPTRON_LEARNER_MODEL_NUMBERS_H

#include "memory/types.h"

typedef struct sp_model_numbers {
    const char *name;   /* in a model file; NULL: there are no numbers */
    ptrdiff_t n;        /* numbers of the model */
    ptrdiff_t n_rows;   /* and behind these, rows of numbers, one per label */
    ptrdiff_t width;    /* of such a row; 0: no rows */
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
    ptrdiff_t entry; /* its place in the event; -1: the event lacks it */
    sp_slot_type slot;
    ptrdiff_t other_entry; /* of a pair of columns, the second one, */
    sp_slot_type other;    /* SP_SLOT_NULL: a single feature */
} sp_share;

#endif
