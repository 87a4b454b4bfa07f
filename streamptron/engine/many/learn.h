/* How AdaptiveClassifier learns an event of one of more than two labels (many/many.h).

   All that can fail is done before anything changes: rows get their blocks first. A row whose slot
   is reused under a ceiling is dropped in between, so its new feature needs one more block. */

#ifndef STREAMPTRON_MANY_LEARN_H
#define STREAMPTRON_MANY_LEARN_H

#include "many/many.h"

/* Choose the strides for label y, which is n_labels if it is new. Only the event changes. */
SP_PRIVATE void sp_many_aim(const sp_learner *learner, sp_many_scratch *w, ptrdiff_t y, double u);

/* Take blocks for the entries that the step will make; slots have been reserved. -1 if out of
   memory; then no block is kept. */
SP_PRIVATE int sp_many_reserve(sp_learner *learner, const sp_event *event, sp_many_scratch *w,
                               ptrdiff_t y);

/* Give these blocks back. */
SP_PRIVATE void sp_many_release(sp_sparse_rows *rows, sp_many_scratch *w);

/* Take the step that has been chosen, and count label y, with weight u above 0. */
SP_PRIVATE void sp_many_learn(sp_learner *learner, const sp_event *event, sp_many_scratch *w,
                              ptrdiff_t y, double u);

/* Compute N and om of a row that has changed. `known`: 1 / (cnt + 1); `all`: T + K. */
SP_PRIVATE void sp_many_settle_row(const sp_adaptive *a, const sp_sparse_rows *rows, sp_head *head,
                                   double known, double all);

#endif
