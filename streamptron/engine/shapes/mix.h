/* What becomes of curves and surfaces in a merge (exchange/merge.h).

   A hat or cell is a feature: c gains what each shard has gained, w goes the mean of the ways it
   went, each as heavy as what G has gained, and om is worked out again. A shard that has it as the
   base has says nothing, nor one that has let the part go. Gates are weights, within their bounds.
   Parts are those of any side whose columns are columns of the merged learner. Which columns have
   surfaces is chosen anew.

   Verbs of learner/machine.h, of AdaptiveClassifier whatever the number of labels. */

#ifndef STREAMPTRON_SHAPES_MIX_H
#define STREAMPTRON_SHAPES_MIX_H

#include "merge/mix.h"

/* All of it, once the slots are there. -1 if out of memory. */
SP_PRIVATE int sp_shapes_mix(sp_merge *m);

/* Only these slots stay, n of them, rising; and they move together, from the first feature's on. */
SP_PRIVATE void sp_shapes_stay(sp_learner *to, const sp_slot_type *stay, size_t n);

/* Choose which columns have surfaces, once the list of columns is there. */
SP_PRIVATE void sp_shapes_mixed(sp_learner *to);

#endif
