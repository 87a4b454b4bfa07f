/* What AdaptiveClassifier reports: the numbers that it keeps once per model, with any number of
   labels, and the parts of an answer.

   Its verbs are those of learner/machine.h. */

#ifndef STREAMPTRON_ADAPTIVE_REPORT_H
#define STREAMPTRON_ADAPTIVE_REPORT_H

#include "learner/learner.h"
#include "learner/model_numbers.h"

SP_PRIVATE sp_model_numbers sp_adaptive_model_numbers(const sp_learner *learner);
SP_PRIVATE void sp_adaptive_model_numbers_write(const sp_learner *learner, double *numbers);

/* Read them into an untrained learner that has its labels. NULL, or what is wrong with them. */
SP_PRIVATE const char *sp_adaptive_model_numbers_read(sp_learner *learner, const double *numbers);

/* The share of each part in a score; behind them, that of the constant part. A column's share
   includes those of its gap and its curve. */
SP_PRIVATE int sp_adaptive_shares(const sp_learner *learner, const sp_event *event,
                                  ptrdiff_t output, int kind, double *shares);

/* The parts are the event's features, the columns that the event lacks, and surfaces. */
static inline ptrdiff_t sp_adaptive_n_shares(const sp_learner *learner, const sp_event *event)
{
    (void)learner;
    const sp_adaptive_scratch *w = sp_adaptive_scratch_of(event);
    return w->n_shown + (w->shaped.has ? w->shaped.of[1].n : 0);
}

SP_PRIVATE sp_share sp_adaptive_share_at(const sp_learner *learner, const sp_event *event,
                                         ptrdiff_t i);

/* The name of a part: 1; 0: it has none; -1: out of memory. A surface is named like a pair of
   features. */
SP_PRIVATE int sp_adaptive_share_key(const sp_learner *learner, const sp_event *event, ptrdiff_t i,
                                     sp_key *key);

/* What curves and surfaces add to the shares of an output's score, times `scale`. */
SP_PRIVATE void sp_adaptive_shape_shares(const sp_learner *learner, const sp_event *event,
                                         ptrdiff_t output, double scale, double *shares);

/* Mean and variance of a column's values so far, counted as 0 where an event lacked it; and the
   mean of their sizes, whose sign bit is set if one was negative. */
SP_API void sp_adaptive_spread(const sp_table *table, sp_slot_type slot, double *mean,
                               double *variance, double *size);

#endif
