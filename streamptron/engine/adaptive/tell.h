/* What AdaptiveClassifier tells of itself: the numbers that it keeps once, and an answer's parts.

   Its verbs are those of machine.h. */

#ifndef STREAMPTRON_ADAPTIVE_TELL_H
#define STREAMPTRON_ADAPTIVE_TELL_H

#include "path/learner.h"
#include "path/once.h"

SP_PRIVATE sp_kept_once sp_adaptive_once(const sp_learner *learner);
SP_PRIVATE void sp_adaptive_once_write(const sp_learner *learner, double *numbers);

/* Into an untrained learner that has its labels. NULL, or what is wrong with the numbers. */
SP_PRIVATE const char *sp_adaptive_once_read(sp_learner *learner, const double *numbers);

/* What each part has of a score; behind them what is always there. A column has its bends'. */
SP_PRIVATE void sp_adaptive_shares(const sp_learner *learner, const sp_event *event,
                                   double *shares);

/* Its parts are the event's features, and the columns that the event lacks. */
static inline ptrdiff_t sp_adaptive_parts(const sp_event *event)
{
    return sp_weighed_of(event)->n_unbent;
}

SP_PRIVATE sp_told_part sp_adaptive_part(const sp_event *event, ptrdiff_t i);

/* Mean and variance of a column's values so far; it was 0 where an event lacked it. The mean of
   their sizes, whose sign bit says that one was negative. */
SP_API void sp_adaptive_spread(const sp_table *table, sp_slot_type slot, double *mean,
                               double *variance, double *size);

#endif
