/* The linear machine with many labels. The rule's steps and all that is kept once per model are the
   same, but each feature's weights are in a row (table/wide.h). Its verbs are those of
   learner/machine.h. */

#ifndef STREAMPTRON_WIDE_MACHINE_H
#define STREAMPTRON_WIDE_MACHINE_H

#include "learner/machine.h"
#include "table/wide.h"

SP_DATA const sp_machine sp_wide_machine;
SP_DATA const sp_seldom sp_wide_seldom;

/* Whether so many labels are kept in rows; only for rules with an output per label. */
SP_PRIVATE bool sp_wide_is_due(const sp_learner *learner, ptrdiff_t n_outputs);

/* Give the slots of an untrained learner rows. -1 if out of memory, and nothing has changed. */
SP_PRIVATE int sp_wide_start(sp_learner *learner);

/* Give a learner's slots rows; no answer changes. -1 if out of memory, and nothing has changed.

   The old table is kept until the label that caused this has been learned
   (sp_wide_commit_reform). */
SP_APART SP_PRIVATE int sp_wide_reform(sp_learner *learner);

/* Drop the old form, or go back to it. */
SP_APART SP_PRIVATE void sp_wide_commit_reform(sp_learner *learner);
SP_APART SP_PRIVATE void sp_wide_revert_reform(sp_learner *learner);

/* Both at once, for a learner that has all its labels. */
SP_APART SP_PRIVATE int sp_wide_reform_now(sp_learner *learner);

SP_PRIVATE void sp_wide_close(sp_learner *learner);

SP_PRIVATE int sp_wide_duplicate(sp_learner *to, const sp_learner *other);

SP_PRIVATE size_t sp_wide_held(const sp_learner *learner);

/* What is wrong with the rows, or NULL. */
SP_PRIVATE const char *sp_wide_fault(const sp_learner *learner);

SP_APART SP_PRIVATE int sp_wide_score_event(sp_learner *learner, sp_event *event);

SP_APART SP_PRIVATE int sp_wide_plan(sp_learner *learner, sp_event *event, const sp_entries *row,
                                     bool intercept, ptrdiff_t y, double u);

SP_APART SP_PRIVATE int sp_wide_reserve_event(sp_learner *learner, sp_event *event, ptrdiff_t y,
                                              double u);

SP_APART SP_PRIVATE void sp_wide_apply(sp_learner *learner, sp_event *event, ptrdiff_t y, double u);

/* Make room for the moves of the event's step, whose features have slots. -1 if out of memory. */
SP_APART SP_PRIVATE int sp_wide_reserve_moves(sp_learner *learner, sp_event *event);

/* Make these moves. */
SP_APART SP_PRIVATE void sp_wide_move_event(sp_learner *learner, const sp_event *event);

/* Let an output start from the values of an event's features, which have slots. -1 if out of
   memory. */
SP_PRIVATE int sp_wide_begin_from(sp_learner *learner, sp_event *event, ptrdiff_t output,
                                  double intercept);

#endif
