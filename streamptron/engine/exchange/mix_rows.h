/* The rows of a merged learner, chunk by chunk: see merge/terms.h for the formulas.

   A chunk that is the same in every shard and the base is copied. The most common chunk, with one
   weight and its uniform average per slot, is merged all at once (sp_merge_terms); if a shard has
   its slots in another order, they are gathered first. Any other chunk is merged row by row, by the
   machine. */

#ifndef STREAMPTRON_EXCHANGE_MIX_ROWS_H
#define STREAMPTRON_EXCHANGE_MIX_ROWS_H

#include "merge/mix.h"

/* Merge all rows. -1 if out of memory. */
SP_PRIVATE int sp_mix_rows(sp_merge *m);

#endif
