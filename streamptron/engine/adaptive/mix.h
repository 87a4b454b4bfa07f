/* Merging AdaptiveClassifiers. Counts add up; intercepts and the weights of naive Bayes are merged
   like any weight (sp_merge_weight), rows as in merge/terms.h. many/mix.h is for more than two
   labels.

   Verbs of learner/machine.h. */

#ifndef STREAMPTRON_ADAPTIVE_MIX_H
#define STREAMPTRON_ADAPTIVE_MIX_H

#include "merge/mix.h"

/* Get memory for notes about each shard. -1 if out of memory; call sp_adaptive_mix_free in either
   case. */
SP_PRIVATE int sp_adaptive_mix_reserve(sp_merge *m);
SP_PRIVATE void sp_adaptive_mix_free(sp_merge *m);

/* Merge what is kept of all events, and how often each label came; there is room for that. */
SP_PRIVATE void sp_adaptive_mix_events(sp_merge *m, ptrdiff_t places);

/* Merge what is kept once per model, per label and per output. -1 if out of memory. */
SP_PRIVATE int sp_adaptive_mix_model(sp_merge *m);

/* Find out whether any side may have columns (sp_merge.columns). */
SP_PRIVATE void sp_adaptive_mix_look(sp_merge *m);

/* Whether a block of a chunk may have numbers; a column's blocks do only where a shard has a
   column. */
SP_PRIVATE bool sp_adaptive_mix_writes(const sp_merge *m, ptrdiff_t block, size_t chunk);

/* Merge a row from the shards that have touched it. Cannot fail. */
SP_PRIVATE int sp_adaptive_mix_slot(sp_merge *m, sp_slot_type slot);

#endif
