/* Merging MultiLabelClassifiers. Counts add up. Numbers of a feature and a label are merged as in
   AdaptiveClassifier (merge/terms.h), and so are those of a label alone. A label that a shard does
   not know was absent from all its events. The counts for F1 are the shards' mean, weighted by
   events.

   The merged learner's rows are in an arena of its own, without blocks of the shards.

   Verbs of learner/machine.h. */

#ifndef STREAMPTRON_MULTILABEL_MIX_H
#define STREAMPTRON_MULTILABEL_MIX_H

#include "merge/mix.h"

/* Get memory for notes about each shard. -1 if out of memory; call sp_multilabel_mix_free in either
   case. */
SP_PRIVATE int sp_multilabel_mix_reserve(sp_merge *m);
SP_PRIVATE void sp_multilabel_mix_free(sp_merge *m);

/* Merge what is kept once per model, and per label. */
SP_PRIVATE int sp_multilabel_mix_model(sp_merge *m);

/* Merge a feature and its row from the shards that have touched it. -1 if out of memory. */
SP_PRIVATE int sp_multilabel_mix_slot(sp_merge *m, sp_slot_type slot);

#endif
