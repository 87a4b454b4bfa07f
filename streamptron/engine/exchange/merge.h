/* Merging learners that learned separately: rows are mixed, names and labels united, counters
   added.

   A feature's row is all that is kept for it, for all labels. A shard counts if its row differs
   from the base's in some bit; shards that have not touched the feature are left out. With T the
   shards that count, n_k the events that shard k has seen since the base, and N the sum of all n_k:

       w    the mean over T of w_k: exactly w_k if T is one shard, the base's w if T is empty
       v    UNIFORM: c w - S,  S = S_0 + N (sum over T of S_k - S_0) / (sum over T of n_k)
            where S = c w - v is the sum of all vectors so far, and c = c_0 + N
            EXPONENTIAL: (w - the mean over T of the averages, weighted by n_k) / s
       k    what a rule keeps gains the mean of its gains g_k in T, and stays at least 0; w changes
            by the mean of its changes, weighted by these gains:
            w = w_0 + sum g_k (w_k - w_0) / sum g_k
       p    that of the shard whose pocket has the longest record

   AdaptiveClassifier's rows are in merge/terms.h. Whole rows are merged, not single weights,
   because a step adds to one label what it takes from others: so the rows of a multiclass
   perceptron still sum to 0. docs/decisions.md has the alternatives that were measured.

   Sums run in the order of the shards, which does not depend on which one arrives first.
   tests/twin/merge.py is the same in plain Python, to the last bit.

   Cost: one pass over the shards' memory, chunk by chunk, and no copy except the result. Chunks
   that are the same as the base's are only compared. New names are looked up once.

   merge/mix.h merges what is kept once per model, exchange/mix_rows.h merges rows, and
   exchange/mix_stay.h chooses the names that stay under a ceiling. */

#ifndef STREAMPTRON_EXCHANGE_MERGE_H
#define STREAMPTRON_EXCHANGE_MERGE_H

#include "merge/shard.h"
#include "path/path.h"

/* Fill an untrained learner, which has its labels and an empty index, with what the shards have
   learned since the base.

   0, or what is wrong (SHARD_), and with which shard; -1: the base. Then the learner must be
   freed. */
SP_API int sp_learners_merge(sp_learner *to, const sp_shard *base, sp_shard *shards, int n,
                             int *culprit);

#endif
