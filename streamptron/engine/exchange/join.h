/* Shards in one, once it is known which labels and odd names are whose; and why they cannot be, in
   words.

   A door unites labels and names, which only it can compare. What is left is the same for all: the
   maps of labels (merge/shard.h), the merge, and that the merged learner is what a file of it would
   give. */

#ifndef STREAMPTRON_EXCHANGE_JOIN_H
#define STREAMPTRON_EXCHANGE_JOIN_H

#include "json/words.h"
#include "merge/shard.h"

typedef struct sp_joined {
    sp_shard shard;
    const char *name; /* for errors */
    /* its own labels' numbers among all, and its odd names', of which there are shard.n_objects */
    const uint32_t *labels;
    uint32_t n_labels;
    const uint32_t *objects;
} sp_joined;

/* Fill an untrained learner with what n sides have learned, the first of which is the base; it has
   all labels, of which there are `n_labels`, -1: they are truth values. 0, or a kind of fault. The
   learner must be freed then. */
SP_API int sp_sides_join(sp_learner *to, const sp_joined *sides, int n, ptrdiff_t n_labels,
                         sp_fault *fault);

/* That a learner did not go on from the base, in words. Returns the kind of fault. */
SP_PRIVATE int sp_fault_strange(sp_fault *fault, const char *name, const char *why);

#endif
