/* Merging the rows of learners with many labels (exchange/merge.h). Of a feature, only labels that
   the base or a shard has in its row are merged; the others are zeros everywhere, and stay
   zeros. */

#ifndef STREAMPTRON_WIDE_MIX_H
#define STREAMPTRON_WIDE_MIX_H

#include "learner/learner.h"
#include "merge/mix.h"
#include "merge/shard.h"
#include "table/wide.h"

/* Bring n shards and the base into rows if one of them has rows or so many labels; `wide`: in any
   case. A learner without rows is replaced by a shadow that has them. `positive`: the base's; see
   sp_wide_shadow. -1 if out of memory; call sp_forms_free in either case. */
SP_PRIVATE int sp_wide_one_form(sp_forms *forms, sp_shard *shards, int n, const sp_shard **base,
                                int positive, bool wide);

/* The same for the sides of a merge and the merged learner. */
SP_PRIVATE int sp_wide_mix_form(sp_merge *m);

SP_PRIVATE int sp_wide_mix_reserve(sp_merge *m);

SP_PRIVATE void sp_wide_mix_free(sp_merge *m);

/* Whether a shard's own slot is the same as a slot of the base. */
SP_PRIVATE bool sp_wide_mix_same(const sp_merge *m, const sp_shard *shard, sp_slot_type own,
                                 sp_slot_type base);

/* Merge the row of a feature, whose chunk is there wherever a shard has written. -1 if out of
   memory. */
SP_PRIVATE int sp_wide_mix_slot(sp_merge *m, sp_slot_type slot);

#endif
