/* Under a budget: the features of which nothing is left go.

   Those stay that a kept update mentions or that have a weight, so no answer changes without the
   others: a kernel is made of its updates, and a weight may be 0 again. This is looked at whenever
   the features become as many as a power of two, and done if a quarter of them can leave. Spread
   over the features that have come since, it costs as much as a few of their insertions; there are
   never more than 8/3 as many as are needed, or the next power of two; and it depends on nothing
   but how many there are, so a model that was saved and loaded does the same. Without memory for
   it all of them stay for the time being. */

#ifndef STREAMPTRON_VOTED_GATHER_H
#define STREAMPTRON_VOTED_GATHER_H

#include "events/event.h"
#include "names/index.h"
#include "table/table.h"
#include "voted/voters.h"

/* Whether a power of two of features has been reached since there were `before` slots. */
static inline bool sp_gather_due(sp_slot_type before, sp_slot_type now)
{
    before -= SP_SLOTS_RESERVED;
    now -= SP_SLOTS_RESERVED;
    return (before ^ now) > (before & now);
}

/* Let the features leave of which nothing is left, if they are many; also of this event, which
   has just been learned. */
SP_PRIVATE void sp_gather_voters(sp_index *index, sp_table *table, sp_voters *voters,
                                 sp_event *event);

#endif
