/* Under a budget, unused features are dropped.

   A feature stays if a kept update mentions it, or if it has a weight. So dropping the others
   changes no answer: a kernel is made of its updates, and a weight may be 0 again. This is
   considered whenever the number of features reaches a power of two, and done if a quarter of them
   can go. Per feature that has come since, it costs about as much as a few insertions. There are
   never more than 8/3 as many features as are needed, or the next power of two. It depends only on
   the number of features, so a model that was saved and loaded does the same. If there is no memory
   for it, all features stay for the time being. */

#ifndef STREAMPTRON_VOTED_GATHER_H
#define STREAMPTRON_VOTED_GATHER_H

#include "events/event.h"
#include "names/index.h"
#include "table/table.h"
#include "voted/voters.h"

/* Whether the number of features has reached a power of two since there were `before` slots. */
static inline bool sp_gather_due(sp_slot_type before, sp_slot_type now)
{
    before -= SP_SLOTS_RESERVED;
    now -= SP_SLOTS_RESERVED;
    return (before ^ now) > (before & now);
}

/* Drop unused features if there are many of them, including those of this event, which has just
   been learned. */
SP_PRIVATE void sp_gather_voters(sp_index *index, sp_table *table, sp_voters *voters,
                                 sp_event *event);

#endif
