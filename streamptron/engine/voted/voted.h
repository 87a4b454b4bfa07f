/* The voted machine: the linear machine's weights, and all vectors that there have been, which
   vote.

   Its verbs are those of machine/machine.h. */

#ifndef STREAMPTRON_VOTED_VOTED_H
#define STREAMPTRON_VOTED_VOTED_H

#include "learner/learner.h"

enum {
    SP_KEPT_VOTE = SP_KEPT_AVERAGE, /* the vote answers, where others have an average */
};

SP_PRIVATE int sp_voted_init(sp_learner *learner, bool scattered);
SP_PRIVATE int sp_voted_score(sp_learner *learner, sp_event *event);
SP_PRIVATE void sp_voted_verdict(const sp_learner *learner, sp_event *event, int kind);
SP_PRIVATE int sp_voted_plan(sp_learner *learner, sp_event *event, const sp_entries *row,
                             bool intercept, ptrdiff_t y, double u);
SP_PRIVATE int sp_voted_reserve_event(sp_learner *learner, sp_event *event, ptrdiff_t y);
SP_PRIVATE void sp_voted_apply(sp_learner *learner, sp_event *event, ptrdiff_t y, double u);

/* Under a budget: let features leave of which nothing is left; there were n_slots before. */
SP_PRIVATE void sp_voted_finish(sp_learner *learner, sp_event *event, sp_slot_type n_slots);

SP_PRIVATE int sp_voted_split(sp_learner *learner);
SP_PRIVATE void sp_voted_revert_split(sp_learner *learner);

#endif
