/* The linear machine: a weight for each feature and output, which a rule moves.

   Its verbs are those of learner/machine.h. VotedPerceptron has the same weights, and its verbs
   call these. */

#ifndef STREAMPTRON_LINEAR_LINEAR_H
#define STREAMPTRON_LINEAR_LINEAR_H

#include "learner/machine.h"

/* The machine, which becomes the wide one when there are many labels: so both are in
   wide/verbs.c. */
SP_DATA const sp_machine sp_linear_machine;
SP_DATA const sp_seldom sp_linear_seldom;

/* Make an untrained learner. -1 if out of memory. `vectors`: which vectors are kept, and which one
   answers. */
SP_PRIVATE int sp_linear_init(sp_learner *learner, const sp_vectors *vectors, bool scattered);

/* Room for the scores of n choices, and for one kind more. -1 if out of memory. */
SP_PRIVATE int sp_linear_open(sp_event *event, ptrdiff_t n);

/* Score an event whose slots are known. -1 if out of memory. */
SP_PRIVATE int sp_linear_score(sp_learner *learner, sp_event *event);

/* Make one kept vector's verdict on a scored event. */
SP_PRIVATE void sp_linear_verdict(const sp_learner *learner, sp_event *event, int kind);

/* The probabilities of a judged event, from its calibrated scores. */
SP_PRIVATE void sp_linear_probabilities(const sp_learner *learner, const sp_event *event,
                                        sp_answer answer, double *p);

/* Judge a scored event, and let the rule fill event.step. Returns -1 if out of memory.

   `row`: a row scored in place (sp_learner_score_row), but not with a third label; NULL: the
   event's own entries. `intercept`: as in sp_table_add. */
SP_PRIVATE int sp_linear_plan(sp_learner *learner, sp_event *event, const sp_entries *row,
                              bool intercept, ptrdiff_t y, double u);

/* Make an output for a new label, and slots for the step's new features. -1 if out of memory. */
SP_PRIVATE int sp_linear_admit(sp_learner *learner, sp_event *event, ptrdiff_t y);

/* Make chunks for the step, whose features have slots. -1 if out of memory. */
SP_PRIVATE int sp_linear_reserve_moves(sp_learner *learner, sp_event *event);

/* Both of these: all that can fail. */
SP_HOT int sp_linear_reserve_event(sp_learner *learner, sp_event *event, ptrdiff_t y);

/* Before the event is learned, note which vectors would have been right, and how sure they were.
   Then note that the label has come.

   `sparse`: one event in 2^sparse is counted for the probabilities; 0: as many as usual for this
   machine, and the scales follow every event. */
SP_PRIVATE void sp_linear_watch(sp_learner *learner, const sp_event *event, ptrdiff_t y,
                                int sparse);

/* Count the vectors' mistakes, and take the step; `row`: the row scored in place, or NULL. */
SP_HOT void sp_linear_apply(sp_learner *learner, const sp_event *event, const sp_entries *row,
                            ptrdiff_t y);

/* Make the moves of the event's step, except for features that got no slot under the ceiling. */
SP_PRIVATE void sp_linear_move(sp_learner *learner, const sp_event *event);

/* Let an output start from the values of an event's features, which have slots. -1 if out of
   memory. */
SP_PRIVATE int sp_linear_begin_from(sp_learner *learner, sp_event *event, ptrdiff_t output,
                                    double intercept);

/* Give each of two labels an output; no answer changes. -1 if out of memory, and no change.

   The old table is kept until the third label has been learned (sp_linear_commit_split). */
SP_PRIVATE int sp_linear_split(sp_learner *learner);

/* Drop the old form, as the third label has been learned; or drop the new form, as it has not. */
SP_PRIVATE void sp_linear_commit_split(sp_learner *learner);
SP_PRIVATE void sp_linear_revert_split(sp_learner *learner);

#endif
