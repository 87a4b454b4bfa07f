/* AdaptiveClassifier's machine with more than two labels: the third turns it into this one.

   Its verbs are those of learner/machine.h; many/many.h says what they do. */

#ifndef STREAMPTRON_MANY_MACHINE_H
#define STREAMPTRON_MANY_MACHINE_H

#include "learner/machine.h"
#include "many/many.h"

SP_DATA const sp_machine sp_many_machine;
SP_DATA const sp_seldom sp_many_seldom;

/* Give a learner of two labels rows. -1 if out of memory, and nothing has changed. */
SP_PRIVATE int sp_many_split(sp_learner *learner);

/* Convert a table of two labels, whose score is positive for `positive`, to this form. -1 if out of
   memory; call sp_table_free and sp_rows_free in either case. */
SP_PRIVATE int sp_many_reformed(sp_table *to, const sp_table *two, int positive);

/* Drop the old form, as the third label has been learned; or drop the new form, as it has not. */
SP_PRIVATE void sp_many_commit_split(sp_learner *learner);
SP_PRIVATE void sp_many_revert_split(sp_learner *learner);

/* Give an untrained learner its form with n labels, at least three. -1 if out of memory. */
SP_PRIVATE int sp_many_expect(sp_learner *learner, ptrdiff_t n);

SP_PRIVATE void sp_many_close(sp_learner *learner);

SP_PRIVATE int sp_many_duplicate(sp_learner *to, const sp_learner *other);

SP_PRIVATE size_t sp_many_held(const sp_learner *learner);

/* What is wrong with rows, labels and columns, or NULL. */
SP_PRIVATE const char *sp_many_fault(const sp_learner *learner);

SP_PRIVATE bool sp_many_slots_fault(const sp_learner *learner, sp_slot_type n_slots);

/* Make the verdict; the scores of all labels are computed only when needed. -1 if out of memory. */
SP_PRIVATE int sp_many_score_event(sp_learner *learner, sp_event *event);
SP_PRIVATE void sp_many_decide(const sp_learner *learner, sp_event *event);

SP_PRIVATE int sp_many_plan(sp_learner *learner, sp_event *event, const sp_entries *row,
                            bool intercept, ptrdiff_t y, double u);
SP_PRIVATE int sp_many_reserve_event(sp_learner *learner, sp_event *event, ptrdiff_t y, double u);
SP_PRIVATE void sp_many_apply(sp_learner *learner, sp_event *event, ptrdiff_t y, double u);

SP_PRIVATE double sp_many_read(const sp_learner *learner, sp_slot_type slot, ptrdiff_t output,
                               int kind);

#endif
