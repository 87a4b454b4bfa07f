/* What MultiLabelClassifier tells of itself: the numbers that it keeps once, and an answer's parts.

   Its verbs are those of machine.h. */

#ifndef STREAMPTRON_SETS_TELL_H
#define STREAMPTRON_SETS_TELL_H

#include "path/learner.h"
#include "path/once.h"

SP_PRIVATE sp_kept_once sp_sets_once(void);
SP_PRIVATE void sp_sets_once_write(const sp_learner *learner, double *numbers);

/* NULL, or what is wrong with the numbers. */
SP_PRIVATE const char *sp_sets_once_read(sp_learner *learner, const double *numbers);

/* What each entry has of a label's score; behind them what is always there. */
SP_PRIVATE void sp_sets_shares(const sp_learner *learner, const sp_event *event, ptrdiff_t label,
                               double *shares);

#endif
