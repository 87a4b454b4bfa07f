/* Merge shards, once the labels and odd names of each are known; or say in words why they cannot be
   merged.

   A door unites labels and names, which only it can compare. The rest is the same for all: the maps
   of labels (merge/shard.h), the merge, and a check that the merged learner could be saved and
   loaded. */

#ifndef STREAMPTRON_EXCHANGE_JOIN_H
#define STREAMPTRON_EXCHANGE_JOIN_H

#include "json/words.h"
#include "merge/shard.h"

typedef struct sp_joined {
    sp_shard shard;
    const char *name; /* for errors */
    /* the numbers of its labels among all, and of its shard.n_objects odd names */
    const uint32_t *labels;
    uint32_t n_labels;
    const uint32_t *objects;
} sp_joined;

/* Fill an untrained learner with what n sides have learned, the first of which is the base. The
   learner has all labels; `n_labels`: how many, or -1 for truth values. 0, or a kind of fault; then
   the learner must be freed. */
SP_API int sp_sides_join(sp_learner *to, const sp_joined *sides, int n, ptrdiff_t n_labels,
                         sp_fault *fault);

/* Say that a learner does not come from the base. Returns the kind of fault. */
SP_PRIVATE int sp_fault_strange(sp_fault *fault, const char *name, const char *why);

#endif
