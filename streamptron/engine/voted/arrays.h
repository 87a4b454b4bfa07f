/* VotedPerceptron's updates as flat arrays, as in a model file, and back.

       values   float64 [mentions]     update by update, in each by slot
       slots    uint32  [mentions]     hashed: their numbers (names/index.h), and by these
       sizes    uint32  [updates]      how many of them an update has
       times    float64 [updates]      rising
       steps    float64 [turns]        Y u, output by output, in each by update
       updates  uint32  [turns]        counted from the oldest
       turns    uint32  [outputs, 2]   how many an output has; whether some have been dropped
       starts   float64 [outputs]      the intercept before the first of them

   Reading trusts nothing: a number is checked before it is used. */

#ifndef STREAMPTRON_VOTED_ARRAYS_H
#define STREAMPTRON_VOTED_ARRAYS_H

#include "memory/types.h"
#include "names/index.h"
#include "table/table.h"
#include "voted/voters.h"

enum {
    SP_VOTED_MEMORY = 1,
    SP_VOTED_WRONG = 2,
};

typedef struct sp_voted {
    size_t n_mentions;
    size_t n_updates;
    size_t n_turns;
    double *values;
    uint32_t *slots;
    uint32_t *sizes;
    double *times;
    double *steps;
    uint32_t *updates;
    uint32_t *turns;
    double *starts;
} sp_voted;

/* How large the arrays will be. */
SP_PRIVATE void sp_voters_measure(sp_voted *flat, const sp_voters *v, ptrdiff_t n_outputs);

/* Fill the arrays, which have the sizes that sp_voters_measure found. -1 if out of memory. */
SP_PRIVATE int sp_voters_flatten(sp_voted *flat, const sp_voters *v, const sp_index *index,
                                 ptrdiff_t n_outputs);

/* Fill untrained voters whose clock is set, after index and table. Numbers of a hashed index whose
   rows are zero get slots now. Returns 0, SP_VOTED_MEMORY or SP_VOTED_WRONG. */
SP_PRIVATE int sp_voters_read(sp_voters *v, const sp_voted *flat, ptrdiff_t n_outputs,
                              sp_index *index, sp_table *table);

#endif
