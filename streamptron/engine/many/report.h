/* What AdaptiveClassifier with more than two labels tells of itself: the numbers that it keeps
   once, and an answer's parts.

   Its verbs are those of machine/machine.h. */

#ifndef STREAMPTRON_MANY_REPORT_H
#define STREAMPTRON_MANY_REPORT_H

#include "learner/learner.h"
#include "learner/model_numbers.h"

SP_PRIVATE sp_model_numbers sp_many_model_numbers(const sp_learner *learner);
SP_PRIVATE void sp_many_model_numbers_write(const sp_learner *learner, double *numbers);

/* Into an untrained learner that has its labels. NULL, or what is wrong with the numbers. */
SP_PRIVATE const char *sp_many_model_numbers_read(sp_learner *learner, const double *numbers);

/* What each part has of label k's score; behind them what is always there. A column has its
   gap's share, and its curve's. */
SP_PRIVATE void sp_many_shares(const sp_learner *learner, const sp_event *event, ptrdiff_t k,
                               double *shares);

#endif
