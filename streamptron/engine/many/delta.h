/* AdaptiveClassifier with more than two labels in a delta (exchange/delta.h): the rows of the
   delta's slots, and of the columns' e. The base may have had only two labels.

   Verbs of learner/machine.h. */

#ifndef STREAMPTRON_MANY_DELTA_H
#define STREAMPTRON_MANY_DELTA_H

#include "learner/learner.h"

/* Whether a block of a slot is the same in a learner as in the base, which may have only two
   labels, wherever the rows are stored. */
SP_PRIVATE bool sp_many_same_row(const sp_learner *learner, uint32_t block, const double *row,
                                 const sp_learner *base, const double *its);

/* Give a learner whose slots will be those of a base and a delta the base's rows. 1: its table now
   is the base's, in its other form; -1 if out of memory. */
SP_PRIVATE int sp_many_overlay_begin(sp_learner *learner, const sp_learner *base);

/* And then the rows of the delta's slots, which it already has: blocks[b] in each block. 0, or what
   is wrong (SP_MARKS_). */
SP_PRIVATE int sp_many_overlay_rows(sp_learner *learner, const uint32_t *slots,
                                    const uint32_t *blocks, size_t n, const uint32_t *marks,
                                    size_t n_marks, const double *marked);

#endif
