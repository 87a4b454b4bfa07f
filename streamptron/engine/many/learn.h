/* How AdaptiveClassifier learns an event of one of more than two labels (many/many.h).

   All that can fail is done before anything changes: rows get their blocks first. A row that
   changes hands under a ceiling is dropped in between, so the block that its new feature needs is
   one more. */

#ifndef STREAMPTRON_MANY_LEARN_H
#define STREAMPTRON_MANY_LEARN_H

#include "many/many.h"

/* The strides for label y; y is n_labels if it is new. Nothing changes but the event. */
SP_PRIVATE void sp_many_aim(const sp_learner *learner, sp_many_scratch *w, ptrdiff_t y, double u);

/* Blocks for the entries that the step will make; slots are reserved. -1 if out of memory; then
   none is kept. */
SP_PRIVATE int sp_many_reserve(sp_learner *learner, const sp_event *event, sp_many_scratch *w,
                               ptrdiff_t y);

/* Give back what has been taken for them. */
SP_PRIVATE void sp_many_release(sp_sparse_rows *rows, sp_many_scratch *w);

/* Take the step that has been chosen, and count label y, with weight u above 0. */
SP_PRIVATE void sp_many_learn(sp_learner *learner, const sp_event *event, sp_many_scratch *w,
                              ptrdiff_t y, double u);

/* What follows from a row that has changed: N and om. `known`: 1 / (cnt + 1); `all`: T + K. */
SP_PRIVATE void sp_many_settle_row(const sp_adaptive *a, const sp_sparse_rows *rows, sp_head *head,
                                   double known, double all);

#endif
