/* Merging one output of a slot of weights; merge/terms.h has the formulas.

   Numbers are merged output by output. So a label's number may differ from shard to shard, and two
   labels may share an output in one shard and have two in another. Where all sides have zeros,
   nothing is done. */

#ifndef STREAMPTRON_MERGE_OUTPUTS_H
#define STREAMPTRON_MERGE_OUTPUTS_H

#include "merge/mix.h"

SP_PRIVATE sp_slot_type sp_base_slot(const sp_merge *m, sp_slot_type slot);

/* The k-th side's own slot; the null slot: none. */
SP_PRIVATE sp_slot_type sp_side_slot(const sp_merge *m, int k, sp_slot_type slot);

/* Whether an output of a shard's own slot is the same as in a slot of the base. */
SP_PRIVATE bool sp_mix_is_same(const sp_merge *m, const sp_shard *shard, sp_slot_type own,
                               sp_slot_type base, ptrdiff_t output);

/* Whether all blocks of a shard's own slot have the same bits as those of a slot of the base. */
SP_PRIVATE bool sp_mix_same_rows(const sp_merge *m, const sp_shard *shard, sp_slot_type own,
                                 sp_slot_type base);

/* The same for weights, whatever outputs and folds the two have. */
SP_PRIVATE bool sp_weights_mix_same(const sp_merge *m, const sp_shard *shard, sp_slot_type own,
                                    sp_slot_type base);

/* Whether the current shards, or the base, may have numbers for a block of a chunk. */
SP_PRIVATE bool sp_mix_writes(const sp_merge *m, ptrdiff_t block, size_t chunk);

/* Merge one output of a slot of weights from the shards that have touched it; else take the
   base's. */
SP_PRIVATE void sp_mix_output(const sp_merge *m, sp_slot_type slot, ptrdiff_t output, double *to);

/* Merge a slot of weights: each output's fields, from the shards that have touched it. Cannot
   fail. */
SP_PRIVATE int sp_weights_mix_slot(sp_merge *m, sp_slot_type slot);

#endif
