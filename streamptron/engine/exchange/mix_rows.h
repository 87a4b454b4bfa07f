/* The rows of a merged learner, chunk by chunk: see merge/terms.h for the formulas.

   A chunk that every shard has left as the base has it is copied. The everyday chunk, of one weight
   and its uniform average, is mixed all at once (sp_merge_terms); slots that lie otherwise in a
   shard are gathered first. Any other is mixed row by row, as its machine does it. */

#ifndef STREAMPTRON_EXCHANGE_MIX_ROWS_H
#define STREAMPTRON_EXCHANGE_MIX_ROWS_H

#include "merge/mix.h"

/* All rows. -1 if out of memory. */
SP_PRIVATE int sp_mix_rows(sp_merge *m);

#endif
