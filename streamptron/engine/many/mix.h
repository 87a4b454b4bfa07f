/* What AdaptiveClassifier's merge is where there are more than two labels: an entry that is not
   there is zeros, and there is one in the merged row unless its c and G are 0. A shard or a base of
   two labels counts as what the third label makes of it (many/two.h).

   A feature costs the entries of its rows, not labels. Verbs of learner/machine.h. */

#ifndef STREAMPTRON_MANY_MIX_H
#define STREAMPTRON_MANY_MIX_H

#include "merge/mix.h"

/* Memory for what is noted of each shard. -1 without it; call sp_many_mix_free in either case. */
SP_PRIVATE int sp_many_mix_reserve(sp_merge *m);
SP_PRIVATE void sp_many_mix_free(sp_merge *m);

/* What is kept once, and of each label. */
SP_PRIVATE int sp_many_mix_model(sp_merge *m);

/* Whether a slot of a shard says the same as one of the base, of labels that each of them has. */
SP_PRIVATE bool sp_many_mix_same(const sp_merge *m, const sp_shard *shard, sp_slot_type own,
                                 sp_slot_type base);

/* A feature, of the shards that have touched it. -1 if out of memory. */
SP_PRIVATE int sp_many_mix_slot(sp_merge *m, sp_slot_type slot);

#endif
