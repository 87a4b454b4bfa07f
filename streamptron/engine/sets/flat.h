/* Rows and labels as flat arrays, the way a model file holds them, and back.

       marks    uint32  [entries, 4]   row by row, as the slots are stored: a label's number, and
                                       the bits of the floats c, w and G
       marked   float64 [labels, 6]    D, left, w0, G0, wn, Gn

   In the stored slots a row says how many entries it has, and not where they are.

   Reading trusts nothing: a number is checked before it is used. */

#ifndef STREAMPTRON_SETS_FLAT_H
#define STREAMPTRON_SETS_FLAT_H

#include "path/learner.h"

enum {
    SP_MARKS_MEMORY = 1,
    SP_MARKS_WRONG = 2,
    SP_MARKS_WIDTH = 4,
    SP_LABEL_WIDTH = 6,
};

/* How many entries there are. */
SP_API size_t sp_sets_measure(const sp_learner *learner);

/* Fill the arrays, and clear from `slots`, which were written before, where rows are. */
SP_API void sp_sets_flatten(const sp_learner *learner, double *slots, size_t n_slots,
                            uint32_t *marks, double *marked);

/* Fill in an untrained learner, whose slots have been read. 0, or what is wrong. */
SP_API int sp_sets_read(sp_learner *learner, const uint32_t *marks, size_t n, const double *marked);

#endif
