/* A slot of two labels as a row of entries: what the third label makes of it.

   Each label has what the one output had: half its weight, with the sign of the side that it stood
   for, and its G. There is an entry where that, or the label's count, is not 0. */

#ifndef STREAMPTRON_MANY_TWO_H
#define STREAMPTRON_MANY_TWO_H

#include "features/head.h"
#include "learner/learner.h"

/* The entries of a block (0, or that of e) of a slot of two labels. How many, at most two. */
SP_PRIVATE uint32_t sp_two_entries(uint32_t block, const double *slot, int positive,
                                   sp_entry *entries);

/* A row of a slot of AdaptiveClassifier, however many labels it has; `room` is for SP_DENSE_MOST
   entries. How many there are. Of a file's rows nothing has been looked at. */
SP_PRIVATE uint32_t sp_many_look(const sp_learner *learner, uint32_t block, const double *slot,
                                 sp_entry *room, const sp_entry **entries);

#endif
