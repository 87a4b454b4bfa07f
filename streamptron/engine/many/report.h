/* What AdaptiveClassifier with more than two labels tells of itself, beside adaptive/report.h. */

#ifndef STREAMPTRON_MANY_REPORT_H
#define STREAMPTRON_MANY_REPORT_H

#include "learner/learner.h"

/* The numbers of a file (adaptive/report.h), and the tree of labels that is made of them. */
SP_PRIVATE const char *sp_many_model_numbers_read(sp_learner *learner, const double *numbers);

/* What each part has of label k's score; behind them what is always there. A column has its
   gap's share, and its curve's. */
SP_PRIVATE int sp_many_shares(const sp_learner *learner, const sp_event *event, ptrdiff_t k,
                              int kind, double *shares);

#endif
