/* What AdaptiveClassifier's merge is: its counts add up; its intercepts and the weights of naive
   Bayes are mixed like any weight (sp_merge_weight); its rows as merge/terms.h says. Of more than
   two labels many/mix.h says more.

   Verbs of learner/machine.h. */

#ifndef STREAMPTRON_ADAPTIVE_MIX_H
#define STREAMPTRON_ADAPTIVE_MIX_H

#include "merge/mix.h"

/* Memory for what is noted of each shard. -1 without it; call sp_adaptive_mix_free in either
   case. */
SP_PRIVATE int sp_adaptive_mix_reserve(sp_merge *m);
SP_PRIVATE void sp_adaptive_mix_free(sp_merge *m);

/* What is kept of all events, and of each label how often it came; there is room for it. */
SP_PRIVATE void sp_adaptive_mix_events(sp_merge *m, ptrdiff_t places);

/* What is kept once, of each label and each output. -1 if out of memory. */
SP_PRIVATE int sp_adaptive_mix_model(sp_merge *m);

/* Find out whether a side may have columns (sp_merge.columns). */
SP_PRIVATE void sp_adaptive_mix_look(sp_merge *m);

/* Whether a block of a chunk may have numbers: those of columns, where a shard has one. */
SP_PRIVATE bool sp_adaptive_mix_writes(const sp_merge *m, ptrdiff_t block, size_t chunk);

/* A row, of the shards that have touched it; nothing can fail. */
SP_PRIVATE int sp_adaptive_mix_slot(sp_merge *m, sp_slot_type slot);

#endif
