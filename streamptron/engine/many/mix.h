/* Merging AdaptiveClassifiers with more than two labels. A missing entry counts as zeros, and the
   merged row has an entry unless its c and G are 0. A shard or a base of two labels is first
   converted, as by a third label (many/two.h).

   The cost of a feature is the entries of its rows, not the number of labels. Verbs of
   learner/machine.h. */

#ifndef STREAMPTRON_MANY_MIX_H
#define STREAMPTRON_MANY_MIX_H

#include "merge/mix.h"

/* Get memory for notes about each shard. -1 if out of memory; call sp_many_mix_free in either
   case. */
SP_PRIVATE int sp_many_mix_reserve(sp_merge *m);
SP_PRIVATE void sp_many_mix_free(sp_merge *m);

/* Merge what is kept once per model, and per label. */
SP_PRIVATE int sp_many_mix_model(sp_merge *m);

/* Whether a shard's slot is the same as the base's, for labels that both have. */
SP_PRIVATE bool sp_many_mix_same(const sp_merge *m, const sp_shard *shard, sp_slot_type own,
                                 sp_slot_type base);

/* Merge a feature from the shards that have touched it. -1 if out of memory. */
SP_PRIVATE int sp_many_mix_slot(sp_merge *m, sp_slot_type slot);

#endif
