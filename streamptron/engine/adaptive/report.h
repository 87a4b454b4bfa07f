/* What AdaptiveClassifier tells of itself: the numbers that it keeps once, with any number of
   labels, and an answer's parts.

   Its verbs are those of learner/machine.h. */

#ifndef STREAMPTRON_ADAPTIVE_REPORT_H
#define STREAMPTRON_ADAPTIVE_REPORT_H

#include "learner/learner.h"
#include "learner/model_numbers.h"

SP_PRIVATE sp_model_numbers sp_adaptive_model_numbers(const sp_learner *learner);
SP_PRIVATE void sp_adaptive_model_numbers_write(const sp_learner *learner, double *numbers);

/* Into an untrained learner that has its labels. NULL, or what is wrong with the numbers. */
SP_PRIVATE const char *sp_adaptive_model_numbers_read(sp_learner *learner, const double *numbers);

/* What each part has of a score; behind them what is always there. A column has its gap's share
   and its curve's. */
SP_PRIVATE int sp_adaptive_shares(const sp_learner *learner, const sp_event *event,
                                  ptrdiff_t output, int kind, double *shares);

/* Its parts are the event's features, the columns that the event lacks, and surfaces. */
static inline ptrdiff_t sp_adaptive_n_shares(const sp_learner *learner, const sp_event *event)
{
    (void)learner;
    const sp_adaptive_scratch *w = sp_adaptive_scratch_of(event);
    return w->n_shown + (w->shaped.has ? w->shaped.of[1].n : 0);
}

SP_PRIVATE sp_share sp_adaptive_share_at(const sp_learner *learner, const sp_event *event,
                                         ptrdiff_t i);

/* The name of that part: 1; 0: it has none; -1: there is no memory for it. A surface is named as a
   pair of features is. */
SP_PRIVATE int sp_adaptive_share_key(const sp_learner *learner, const sp_event *event, ptrdiff_t i,
                                     sp_key *key);

/* What curves and surfaces add to the shares of an output's score, times `scale`. */
SP_PRIVATE void sp_adaptive_shape_shares(const sp_learner *learner, const sp_event *event,
                                         ptrdiff_t output, double scale, double *shares);

/* Mean and variance of a column's values so far; it was 0 where an event lacked it. The mean of
   their sizes, whose sign bit says that one was negative. */
SP_API void sp_adaptive_spread(const sp_table *table, sp_slot_type slot, double *mean,
                               double *variance, double *size);

#endif
