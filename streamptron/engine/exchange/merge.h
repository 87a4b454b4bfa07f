/* One learner of several that learned apart: rows mixed, names and labels united, counters added.

   A feature's row is all that is kept for it, of all labels. A shard has a say in it if its row
   differs from the base's, bit for bit; whoever has not touched a feature abstains. With T these
   shards, n_k the events that shard k has seen since the base, N the sum of all n_k:

       w    the mean over T of w_k; of one shard alone its own bits; of none the base's
       v    UNIFORM: c w - S,  S = S_0 + N (sum over T of S_k - S_0) / (sum over T of n_k)
            where S = c w - v is the sum of all vectors so far, and c = c_0 + N
            EXPONENTIAL: (w - the mean over T of the averages, weighted by n_k) / s
       k    what a rule keeps gains the mean of what it gained in T, and is at least 0; w goes
            the mean of the ways it went, each as heavy as that gain:
            w = w_0 + sum g_k (w_k - w_0) / sum g_k
       p    of the shard whose pocket has the longest record

   AdaptiveClassifier's rows are in merge/terms.h. Whole rows are mixed, not single weights, because
   a step adds to one label what it takes from others: so the rows of a multiclass perceptron still
   sum to 0. docs/decisions.md has the other ways that were measured.

   Sums run in the order of the shards, which never changes, whoever comes first.
   tests/twin/merge.py is the same in plain Python, to the last bit.

   What it costs: one pass over the shards' memory, chunk by chunk, and no copy but the result. Of
   chunks that are the same as the base's, a comparison. New names are looked up once.

   What is kept once is in merge/mix.h, rows are mixed in exchange/mix_rows.h, and
   exchange/mix_stay.h says which names stay under a ceiling. */

#ifndef STREAMPTRON_EXCHANGE_MERGE_H
#define STREAMPTRON_EXCHANGE_MERGE_H

#include "merge/shard.h"
#include "path/path.h"

/* Fill an untrained learner, which has its labels and an empty index, with what shards have
   learned since the base.

   0, or what is wrong (SHARD_), and with which shard, or -1 for the base. The learner must be
   freed then. */
SP_API int sp_learners_merge(sp_learner *to, const sp_shard *base, sp_shard *shards, int n,
                             int *culprit);

#endif
