/* Whether a learner is one that learning can have made.

   What a file says is asked this when it is loaded, part by part (file/counts.h, table/arrays.h,
   machine/arrays.h), and what a merge or deltas have made before it is handed out: so no call
   makes a model that cannot be saved and loaded again. */

#ifndef STREAMPTRON_EXCHANGE_SOUND_H
#define STREAMPTRON_EXCHANGE_SOUND_H

#include "learner/learner.h"

/* What is wrong with what a learner has counted, but for the ceiling's numbers and what the machine
   keeps once; or NULL. */
SP_API const char *sp_counts_fault(const sp_learner *learner);

/* What is wrong with a learner that has all its slots, but for what its machine keeps once; or
   NULL. `sound`: its weights have been found to be. */
SP_PRIVATE const char *sp_learner_unsound(const sp_learner *learner, bool sound);

#endif
