/* Checks whether learning can have made a learner.

   A file is checked when it is loaded, part by part (file/counts.h, table/arrays.h,
   machine/arrays.h), and the result of a merge or of deltas before it is returned. So no call makes
   a model that cannot be saved and loaded again. */

#ifndef STREAMPTRON_EXCHANGE_SOUND_H
#define STREAMPTRON_EXCHANGE_SOUND_H

#include "learner/learner.h"

/* What is wrong with a learner's counts, except the ceiling's numbers and what the machine keeps
   once per model; or NULL. */
SP_API const char *sp_counts_fault(const sp_learner *learner);

/* What is wrong with a learner that has all its slots, except for what its machine keeps once per
   model; or NULL. `sound`: its weights are known to be sound. */
SP_PRIVATE const char *sp_learner_unsound(const sp_learner *learner, bool sound);

#endif
