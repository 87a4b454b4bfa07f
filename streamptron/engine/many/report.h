/* What AdaptiveClassifier reports with more than two labels, beside adaptive/report.h. */

#ifndef STREAMPTRON_MANY_REPORT_H
#define STREAMPTRON_MANY_REPORT_H

#include "learner/learner.h"

/* Read the numbers of a file (adaptive/report.h), and make the tree of labels from them. */
SP_PRIVATE const char *sp_many_model_numbers_read(sp_learner *learner, const double *numbers);

/* The share of each part in label k's score; behind them, that of the constant part. A column's
   share includes those of its gap and its curve. */
SP_PRIVATE int sp_many_shares(const sp_learner *learner, const sp_event *event, ptrdiff_t k,
                              int kind, double *shares);

#endif
