/* What sides make of one output of a slot of weights: see merge/terms.h for the formulas.

   Each number by its output: so labels may have other numbers in each shard, and two labels one
   output in one and two in another. Where all sides have zeros nothing is done. */

#ifndef STREAMPTRON_MERGE_OUTPUTS_H
#define STREAMPTRON_MERGE_OUTPUTS_H

#include "merge/mix.h"

SP_PRIVATE sp_slot_type sp_base_slot(const sp_merge *m, sp_slot_type slot);

/* The own slot of the k-th side; the null slot: it has none. */
SP_PRIVATE sp_slot_type sp_side_slot(const sp_merge *m, int k, sp_slot_type slot);

/* Whether an output of a shard's own slot holds the same as that of a slot of the base. */
SP_PRIVATE bool sp_mix_is_same(const sp_merge *m, const sp_shard *shard, sp_slot_type own,
                               sp_slot_type base, ptrdiff_t output);

/* Whether all blocks of a shard's own slot hold the same bits as those of a slot of the base. */
SP_PRIVATE bool sp_mix_same_rows(const sp_merge *m, const sp_shard *shard, sp_slot_type own,
                                 sp_slot_type base);

/* The same of weights, whatever outputs and folds the two have. */
SP_PRIVATE bool sp_weights_mix_same(const sp_merge *m, const sp_shard *shard, sp_slot_type own,
                                    sp_slot_type base);

/* Whether the shards at hand, or the base, may have numbers for a block of a chunk. */
SP_PRIVATE bool sp_mix_writes(const sp_merge *m, ptrdiff_t block, size_t chunk);

/* One output of a slot of weights: of the shards that have touched it, or the base's. */
SP_PRIVATE void sp_mix_output(const sp_merge *m, sp_slot_type slot, ptrdiff_t output, double *to);

/* A slot of weights: each output's fields, of the shards that have touched it; nothing can fail. */
SP_PRIVATE int sp_weights_mix_slot(sp_merge *m, sp_slot_type slot);

#endif
