/* A slot of two labels as a row of entries, as it becomes with the third label.

   Each label gets half the weight of the one output, with the sign for that label, and its G. There
   is an entry where one of these, or the label's count, is not 0. */

#ifndef STREAMPTRON_MANY_TWO_H
#define STREAMPTRON_MANY_TWO_H

#include "features/head.h"
#include "learner/learner.h"

/* Write the entries of a block (0, or that of e) of a slot of two labels. Returns how many, at most
   two. */
SP_PRIVATE uint32_t sp_two_entries(uint32_t block, const double *slot, int positive,
                                   sp_entry *entries);

/* The row of a slot of AdaptiveClassifier, with any number of labels. `room` has room for
   SP_DENSE_MOST entries. Returns how many there are. Rows in a file have not been checked. */
SP_PRIVATE uint32_t sp_many_look(const sp_learner *learner, uint32_t block, const double *slot,
                                 sp_entry *room, const sp_entry **entries);

#endif
