/* The rows of a learner with many labels in a merge (exchange/merge.h): what is mixed of a feature
   are the labels that the base or a shard has in its row; all others are zeros everywhere, and what
   is made of these is zeros. */

#ifndef STREAMPTRON_WIDE_MIX_H
#define STREAMPTRON_WIDE_MIX_H

#include "learner/learner.h"
#include "merge/mix.h"
#include "merge/shard.h"
#include "table/wide.h"

/* Let n shards and the base lie in rows if one of them does or has so many labels, or in any case:
   `wide`. Where a learner does not, a shadow of it takes its place. `positive`: see sp_wide_shadow,
   of the base. -1 if out of memory; call sp_forms_free in either case. */
SP_PRIVATE int sp_wide_one_form(sp_forms *forms, sp_shard *shards, int n, const sp_shard **base,
                                int positive, bool wide);

/* The same of the sides of a merge and the merged learner. */
SP_PRIVATE int sp_wide_mix_form(sp_merge *m);

SP_PRIVATE int sp_wide_mix_reserve(sp_merge *m);

SP_PRIVATE void sp_wide_mix_free(sp_merge *m);

/* Whether a shard's own slot holds the same as a slot of the base. */
SP_PRIVATE bool sp_wide_mix_same(const sp_merge *m, const sp_shard *shard, sp_slot_type own,
                                 sp_slot_type base);

/* The row of a feature, whose chunk is there wherever a shard has written. -1 if out of memory. */
SP_PRIVATE int sp_wide_mix_slot(sp_merge *m, sp_slot_type slot);

#endif
