/* The ceiling of a merged learner: which features stay.

   All names are united first. Then, of those that some shard still has, the features with the
   largest size^2 / age stay, as in learner/ceiling.h. The age is the smallest in any shard, plus
   one as it may be 0. Of equal ones the first stay. They keep their order. */

#ifndef STREAMPTRON_EXCHANGE_MIX_STAY_H
#define STREAMPTRON_EXCHANGE_MIX_STAY_H

#include "memory/types.h"
#include "merge/mix.h"

/* Keep at most so many features. -1 if out of memory. */
SP_PRIVATE int sp_stay_limit(sp_merge *m, sp_slot_type most);

#endif
