/* Keep some of a learner's slots, side by side, and drop the others.

   While events are learned one by one, no slot is freed or moved. Where many features have to go at
   once, those that stay get a new index and table, in their old order:

       slots    | a | b | c | d | e | f |        a, b and e stay
                | a | b | e |

   The new ones are complete before anything is changed.

   Other files say which slots stay: exchange/mix_stay.h after a merge under a ceiling,
   voted/gather.h for VotedPerceptron under a budget. */

#ifndef STREAMPTRON_TABLE_GATHER_H
#define STREAMPTRON_TABLE_GATHER_H

#include "memory/types.h"
#include "names/index.h"
#include "table/table.h"

/* Make an index, of at most `most` features (0: no ceiling), and a table of these n slots.

   Returns -1 if out of memory; then there is nothing to free. */
SP_PRIVATE int sp_gather(sp_index *names, sp_table *rows, const sp_index *index,
                         const sp_table *table, sp_slot_type most, const sp_slot_type *stay,
                         size_t n);

#endif
