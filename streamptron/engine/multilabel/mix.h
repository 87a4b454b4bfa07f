/* What MultiLabelClassifier's merge is: counts add up, a feature and a label are mixed as
   AdaptiveClassifier's are (merge/terms.h), and so are what labels have once. A label that a shard
   does not know was absent from all its events. What F1 is made of is the shards' mean, by events.

   Rows lie in an arena of the merged learner's own; no block of a shard's is in it.

   Verbs of learner/machine.h. */

#ifndef STREAMPTRON_MULTILABEL_MIX_H
#define STREAMPTRON_MULTILABEL_MIX_H

#include "merge/mix.h"

/* Memory for what is noted of each shard. -1 without it; call sp_multilabel_mix_free in either
   case. */
SP_PRIVATE int sp_multilabel_mix_reserve(sp_merge *m);
SP_PRIVATE void sp_multilabel_mix_free(sp_merge *m);

/* What is kept once, and of each label. */
SP_PRIVATE int sp_multilabel_mix_model(sp_merge *m);

/* A feature and its row, of the shards that have touched it. -1 if out of memory. */
SP_PRIVATE int sp_multilabel_mix_slot(sp_merge *m, sp_slot_type slot);

#endif
