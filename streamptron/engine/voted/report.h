/* What VotedPerceptron reports: the numbers that it keeps once per model, and the parts of an
   answer.

   Its verbs are those of learner/machine.h. */

#ifndef STREAMPTRON_VOTED_REPORT_H
#define STREAMPTRON_VOTED_REPORT_H

#include "learner/learner.h"
#include "learner/model_numbers.h"

SP_PRIVATE sp_model_numbers sp_voted_model_numbers(const sp_learner *learner);
SP_PRIVATE void sp_voted_model_numbers_write(const sp_learner *learner, double *numbers);

/* NULL, or what is wrong with the numbers. */
SP_PRIVATE const char *sp_voted_model_numbers_read(sp_learner *learner, const double *numbers);

/* -1 if out of memory. A kernel's score has no parts. */
SP_PRIVATE int sp_voted_shares(const sp_learner *learner, const sp_event *event, ptrdiff_t output,
                               int kind, double *shares);

#endif
