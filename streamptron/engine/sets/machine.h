/* The sets machine: MultiLabelClassifier's verbs, for machine/machine.h. */

#ifndef STREAMPTRON_SETS_MACHINE_H
#define STREAMPTRON_SETS_MACHINE_H

#include "learner/learner.h"
#include "learner/model_numbers.h"
#include "sets/sets.h"
#include "sets/targets.h"
#include "sets/undo.h"

SP_PRIVATE int sp_sets_open(sp_learner *learner, bool scattered);
SP_PRIVATE void sp_sets_close(sp_learner *learner);
SP_PRIVATE int sp_sets_duplicate(sp_learner *to, const sp_learner *other);
SP_PRIVATE size_t sp_sets_held(const sp_learner *learner);
SP_PRIVATE int sp_sets_expect(sp_learner *learner, ptrdiff_t n);
SP_PRIVATE bool sp_sets_slots_fault(const sp_learner *learner, sp_slot_type n_slots);

SP_PRIVATE int sp_sets_score_event(sp_learner *learner, sp_event *event);
SP_PRIVATE void sp_sets_verdict(const sp_learner *learner, sp_event *event, int kind);
SP_PRIVATE void sp_sets_probabilities(const sp_learner *learner, const sp_event *event, double *p);
SP_PRIVATE int sp_sets_plan(sp_learner *learner, sp_event *event, double u);
SP_PRIVATE int sp_sets_reserve_event(sp_learner *learner, sp_event *event, double u);
SP_PRIVATE void sp_sets_apply(sp_learner *learner, sp_event *event, double u);

/* What it keeps once, as a file has it; reading: NULL, or what is wrong with the numbers. */
SP_PRIVATE sp_model_numbers sp_sets_model_numbers(void);
SP_PRIVATE void sp_sets_model_numbers_write(const sp_learner *learner, double *numbers);
SP_PRIVATE const char *sp_sets_model_numbers_read(sp_learner *learner, const double *numbers);

/* What each entry has of a label's score; behind them what is always there. */
SP_PRIVATE void sp_sets_shares(const sp_learner *learner, const sp_event *event, ptrdiff_t label,
                               double *shares);

#endif
