/* A ceiling for a merged learner: which features stay.

   All names are united first. Then, of those that a shard still has, the features with the largest
   size^2 / age stay, as in learner/ceiling.h; the age is the least that a shard knows, and one more
   for it may be 0. Of those worth the same the first stay. They keep their order. */

#ifndef STREAMPTRON_EXCHANGE_MIX_STAY_H
#define STREAMPTRON_EXCHANGE_MIX_STAY_H

#include "memory/types.h"
#include "merge/mix.h"

/* Under a ceiling of so many features. -1 if out of memory. */
SP_PRIVATE int sp_stay_limit(sp_merge *m, sp_slot_type most);

#endif
