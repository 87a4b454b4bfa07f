/* Merging curves and surfaces (exchange/merge.h).

   A hat or cell is merged like a feature: c gains what each shard has gained, w changes by the mean
   of its changes, weighted by the gain of G, and om is computed again. A shard whose cell is the
   same as the base's, or that has dropped the part, does not count. Gates are merged like weights,
   within their bounds. The merged learner has every part of any side whose columns are its columns,
   too. The columns with surfaces are chosen anew.

   Verbs of learner/machine.h, for AdaptiveClassifier with any number of labels. */

#ifndef STREAMPTRON_SHAPES_MIX_H
#define STREAMPTRON_SHAPES_MIX_H

#include "merge/mix.h"

/* Merge all of it, once the slots are there. -1 if out of memory. */
SP_PRIVATE int sp_shapes_mix(sp_merge *m);

/* Only these n slots stay, rising. They move together, to the slots from the first feature's on. */
SP_PRIVATE void sp_shapes_stay(sp_learner *to, const sp_slot_type *stay, size_t n);

/* Choose which columns have surfaces, once the list of columns is there. */
SP_PRIVATE void sp_shapes_mixed(sp_learner *to);

#endif
