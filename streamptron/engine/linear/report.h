/* What a linear learner reports about an answer: each entry's share in a score. */

#ifndef STREAMPTRON_LINEAR_REPORT_H
#define STREAMPTRON_LINEAR_REPORT_H

#include "learner/learner.h"

SP_PRIVATE int sp_linear_shares(const sp_learner *learner, const sp_event *event,
                                ptrdiff_t output, int kind, double *shares);

#endif
