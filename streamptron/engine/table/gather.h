/* Some of a learner's slots, side by side, as all the slots there are.

   No slot is given back while events are learned one by one, and none ever moves. Where many
   features have to go, those that stay get an index and a table of their own, in their order:

       slots    | a | b | c | d | e | f |        a, b and e stay
                | a | b | e |

   What is made anew is made before anything is changed.

   Which ones stay is said elsewhere: after a merge under a ceiling in exchange/mix_stay.h, for
   VotedPerceptron under a budget in voted/gather.h. */

#ifndef STREAMPTRON_TABLE_GATHER_H
#define STREAMPTRON_TABLE_GATHER_H

#include "memory/types.h"
#include "names/index.h"
#include "table/table.h"

/* An index, of at most `most` features (0: no ceiling), and a table of these n slots.

   Returns -1 without memory; then there is nothing to free. */
SP_PRIVATE int sp_gather(sp_index *names, sp_table *rows, const sp_index *index,
                         const sp_table *table, sp_slot_type most, const sp_slot_type *stay,
                         size_t n);

#endif
