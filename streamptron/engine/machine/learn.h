/* An event's way through a machine, for path/path.h: scored, judged, planned, applied. And what
   becomes of its form when labels come. */

#ifndef STREAMPTRON_MACHINE_LEARN_H
#define STREAMPTRON_MACHINE_LEARN_H

#include "machine/machine.h"

/* event.scores, of an event whose slots are known. -1 without memory. */
static inline int sp_machine_score(sp_learner *learner, sp_event *event)
{
    switch (sp_machine_of(learner)) {
    case SP_MACHINE_ADAPTIVE:
        return sp_adaptive_score(learner, event);
    case SP_MACHINE_MANY:
        return sp_many_score_event(learner, event);
    case SP_MACHINE_WIDE:
        return sp_wide_score_event(learner, event);
    case SP_MACHINE_VOTED:
        return sp_voted_score(learner, event);
    case SP_MACHINE_SETS:
        return sp_sets_score_event(learner, event);
    default:
        return sp_linear_score(learner, event);
    }
}

/* event.verdicts[kind] of a scored event that has not been judged. */
static inline void sp_machine_verdict(const sp_learner *learner, sp_event *event, int kind)
{
    if (sp_machine_of(learner) == SP_MACHINE_VOTED)
        sp_voted_verdict(learner, event, kind);
    else if (sp_machine_of(learner) == SP_MACHINE_SETS)
        sp_sets_verdict(learner, event, kind);
    else
        sp_linear_verdict(learner, event, kind);
}

/* The scores of all labels of an answered event, where that takes more than the answer did. */
static inline void sp_machine_decide(const sp_learner *learner, sp_event *event)
{
    if (sp_machine_of(learner) == SP_MACHINE_MANY)
        sp_many_decide(learner, event);
}

/* p[choice] of an answered event; with one output, of each label there is. */
static inline void sp_machine_probabilities(const sp_learner *learner, const sp_event *event,
                                            sp_answer answer, double *p)
{
    if (sp_machine_of(learner) == SP_MACHINE_ADAPTIVE)
        sp_adaptive_probabilities(&learner->adaptive, sp_adaptive_scratch_of(event), p);
    else if (sp_machine_of(learner) == SP_MACHINE_MANY)
        sp_many_probabilities(&learner->adaptive, sp_many_scratch_of(event), p);
    else if (sp_machine_of(learner) == SP_MACHINE_SETS)
        sp_sets_probabilities(learner, event, p);
    else
        sp_linear_probabilities(learner, event, answer, p);
}

/* Choose the step for label y; nothing changes but the event. -1 without memory. */
static inline int sp_machine_plan(sp_learner *learner, sp_event *event, const sp_entries *row,
                                  bool intercept, ptrdiff_t y, double u)
{
    switch (sp_machine_of(learner)) {
    case SP_MACHINE_ADAPTIVE:
        sp_adaptive_plan(&learner->adaptive, sp_adaptive_scratch_of(event), y, u);
        return 0;
    case SP_MACHINE_MANY:
        sp_many_plan(learner, event, y, u);
        return 0;
    case SP_MACHINE_WIDE:
        return sp_wide_plan(learner, event, y, u);
    case SP_MACHINE_VOTED:
        return sp_voted_plan(learner, event, row, intercept, y, u);
    case SP_MACHINE_SETS: /* sp_sets_set_targets has set y before */
        return sp_sets_plan(learner, event, u);
    default:
        return sp_linear_plan(learner, event, row, intercept, y, u);
    }
}

/* Whether label y is the one with which a linear learner's labels are many. */
static inline bool sp_machine_reforms(const sp_learner *learner, ptrdiff_t y)
{
    return sp_machine_of(learner) == SP_MACHINE_LINEAR && y == learner->table.n_outputs
           && learner->old_form == NULL && sp_wide_is_due(learner, y + 1);
}

/* All that can fail: slots for new features, an output for a new label, chunks for the step. */
static inline int sp_machine_reserve(sp_learner *learner, sp_event *event, ptrdiff_t y, double u)
{
    if (sp_machine_reforms(learner, y) && sp_wide_reform(learner) < 0)
        return -1;
    switch (sp_machine_of(learner)) {
    case SP_MACHINE_ADAPTIVE:
        return sp_adaptive_reserve_event(learner, event, y, u);
    case SP_MACHINE_MANY:
        return sp_many_reserve_event(learner, event, y, u);
    case SP_MACHINE_WIDE:
        return sp_wide_reserve_event(learner, event, y);
    case SP_MACHINE_VOTED:
        return sp_voted_reserve_event(learner, event, y);
    case SP_MACHINE_SETS:
        return sp_sets_reserve_event(learner, event, u);
    default:
        return sp_linear_reserve_event(learner, event, y);
    }
}

/* Count the answer and take the step, for which there is room: nothing can fail. */
static inline void sp_machine_apply(sp_learner *learner, sp_event *event, ptrdiff_t y, double u)
{
    switch (sp_machine_of(learner)) {
    case SP_MACHINE_ADAPTIVE:
        sp_adaptive_apply(learner, event, y, u);
        break;
    case SP_MACHINE_MANY:
        sp_many_apply(learner, event, y, u);
        break;
    case SP_MACHINE_WIDE:
        sp_wide_apply(learner, event, y);
        break;
    case SP_MACHINE_VOTED:
        sp_voted_apply(learner, event, y, u);
        break;
    case SP_MACHINE_SETS:
        sp_sets_apply(learner, event, u);
        break;
    default:
        sp_linear_apply(learner, event, NULL, y);
    }
}

/* The event has been learned, or not; there were n_slots before. */
static inline void sp_machine_finish(sp_learner *learner, sp_event *event, sp_slot_type n_slots)
{
    if (sp_machine_of(learner) == SP_MACHINE_VOTED)
        sp_voted_finish(learner, event, n_slots);
}

/* Room for the moves of the event's step, whose features have slots. -1 without memory. */
static inline int sp_machine_reserve_moves(sp_learner *learner, sp_event *event)
{
    if (sp_machine_of(learner) == SP_MACHINE_WIDE)
        return sp_wide_reserve_moves(learner, event);
    return sp_linear_reserve_moves(learner, event);
}

static inline void sp_machine_move(sp_learner *learner, const sp_event *event)
{
    if (sp_machine_of(learner) == SP_MACHINE_WIDE)
        sp_wide_move_event(learner, event);
    else
        sp_linear_move(learner, event);
}

/* Let an output start from the values of an event's features, which have slots. -1 without
   memory. */
static inline int sp_machine_begin_from(sp_learner *learner, sp_event *event, ptrdiff_t output,
                                        double intercept)
{
    if (sp_machine_of(learner) == SP_MACHINE_WIDE)
        return sp_wide_begin_from(learner, event, output, intercept);
    return sp_linear_begin_from(learner, event, output, intercept);
}

/* Whether an event of a third label, with sample weight u, gives each of two an output. */
static inline bool sp_machine_splits(const sp_learner *learner, double u)
{
    return sp_machine_of(learner) != SP_MACHINE_ADAPTIVE || u > 0.0;
}

/* Give each of two labels an output. -1 without memory, and nothing has changed. */
static inline int sp_machine_split(sp_learner *learner)
{
    if (sp_machine_of(learner) == SP_MACHINE_VOTED)
        return sp_voted_split(learner);
    if (sp_machine_of(learner) == SP_MACHINE_ADAPTIVE)
        return sp_many_split(learner);
    return sp_linear_split(learner);
}

/* The label that gave a learner its form has been learned; or it has not, and the old form is back.
   */
static inline void sp_machine_commit_split(sp_learner *learner)
{
    if (sp_machine_of(learner) == SP_MACHINE_MANY)
        sp_many_commit_split(learner);
    else if (sp_machine_of(learner) == SP_MACHINE_WIDE)
        sp_wide_commit_reform(learner);
    else
        sp_linear_commit_split(learner);
}

static inline void sp_machine_revert_split(sp_learner *learner)
{
    if (sp_machine_of(learner) == SP_MACHINE_VOTED)
        sp_voted_revert_split(learner);
    else if (sp_machine_of(learner) == SP_MACHINE_MANY)
        sp_many_revert_split(learner);
    else if (sp_machine_of(learner) == SP_MACHINE_WIDE)
        sp_wide_revert_reform(learner);
    else
        sp_linear_revert_split(learner);
}

#endif
