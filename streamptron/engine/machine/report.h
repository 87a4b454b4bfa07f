/* What a machine has learned: a weight, what each feature has of a score, and the numbers that it
   keeps once. */

#ifndef STREAMPTRON_MACHINE_REPORT_H
#define STREAMPTRON_MACHINE_REPORT_H

#include "learner/model_numbers.h"
#include "machine/machine.h"

/* One weight of one kept vector. */
static inline double sp_machine_weight(const sp_learner *learner, sp_slot_type slot,
                                       ptrdiff_t output, int kind)
{
    if (sp_machine_of(learner) == SP_MACHINE_ADAPTIVE)
        return sp_adaptive_read(learner, slot);
    if (sp_machine_of(learner) == SP_MACHINE_MANY)
        return sp_many_read(learner, slot, output);
    if (sp_machine_of(learner) == SP_MACHINE_SETS)
        return sp_sets_weight(&learner->sets, &learner->table, slot, output);
    return sp_table_read(&learner->table, slot, output, kind);
}

/* How many parts an answered event's score has, beside what is always there; and one of them. */
static inline ptrdiff_t sp_machine_n_shares(const sp_learner *learner, const sp_event *event)
{
    return sp_machine_is_adaptive(learner) ? sp_adaptive_n_shares(event) : event->n;
}

static inline sp_share sp_machine_share_at(const sp_learner *learner, const sp_event *event,
                                           ptrdiff_t i)
{
    if (sp_machine_is_adaptive(learner))
        return sp_adaptive_share_at(event, i);
    sp_share part = {.entry = i, .slot = event->slots[i], .other = SP_SLOT_NULL};
    return part;
}

/* Its name: 1; 0: it has none; -1: there is no memory for it. */
static inline int sp_machine_share_key(const sp_learner *learner, const sp_event *event,
                                       ptrdiff_t i, sp_key *key)
{
    if (sp_machine_is_adaptive(learner))
        return sp_adaptive_share_key(learner, event, i, key);
    *key = event->keys[i];
    return 1;
}

/* What each part has of a score; behind them what is always there. -1 without memory. */
SP_RARE static inline int sp_machine_shares(const sp_learner *learner, const sp_event *event,
                                            ptrdiff_t output, int kind, double *shares)
{
    switch (sp_machine_of(learner)) {
    case SP_MACHINE_ADAPTIVE:
        sp_adaptive_shares(learner, event, shares);
        return 0;
    case SP_MACHINE_MANY:
        sp_many_shares(learner, event, output, shares);
        return 0;
    case SP_MACHINE_VOTED:
        return sp_voted_shares(learner, event, output, shares);
    case SP_MACHINE_SETS:
        sp_sets_shares(learner, event, output, shares);
        return 0;
    default:
        sp_linear_shares(learner, event, output, kind, shares);
        return 0;
    }
}

/* The largest sample weight times class weight that it learns. */
static inline double sp_machine_weight_most(const sp_learner *learner)
{
    bool counts = sp_machine_is_adaptive(learner) || sp_machine_of(learner) == SP_MACHINE_SETS;
    return counts ? SP_U_LIMIT : SP_VALUE_LIMIT;
}

/* What it keeps once: how many numbers, these, and these again in an untrained learner that has its
   labels: NULL, or what is wrong with them. */
static inline sp_model_numbers sp_machine_model_numbers(const sp_learner *learner)
{
    const sp_model_numbers none = {.name = NULL};
    switch (sp_machine_of(learner)) {
    case SP_MACHINE_ADAPTIVE:
        return sp_adaptive_model_numbers(learner);
    case SP_MACHINE_MANY:
        return sp_many_model_numbers(learner);
    case SP_MACHINE_VOTED:
        return sp_voted_model_numbers();
    case SP_MACHINE_SETS:
        return sp_sets_model_numbers();
    default:
        return none;
    }
}

SP_RARE static inline void sp_machine_model_numbers_write(const sp_learner *learner,
                                                          double *numbers)
{
    if (sp_machine_of(learner) == SP_MACHINE_ADAPTIVE)
        sp_adaptive_model_numbers_write(learner, numbers);
    else if (sp_machine_of(learner) == SP_MACHINE_MANY)
        sp_many_model_numbers_write(learner, numbers);
    else if (sp_machine_of(learner) == SP_MACHINE_VOTED)
        sp_voted_model_numbers_write(learner, numbers);
    else if (sp_machine_of(learner) == SP_MACHINE_SETS)
        sp_sets_model_numbers_write(learner, numbers);
}

SP_RARE static inline const char *sp_machine_model_numbers_read(sp_learner *learner,
                                                                const double *numbers)
{
    if (sp_machine_of(learner) == SP_MACHINE_ADAPTIVE)
        return sp_adaptive_model_numbers_read(learner, numbers);
    if (sp_machine_of(learner) == SP_MACHINE_MANY)
        return sp_many_model_numbers_read(learner, numbers);
    if (sp_machine_of(learner) == SP_MACHINE_SETS)
        return sp_sets_model_numbers_read(learner, numbers);
    return sp_machine_of(learner) == SP_MACHINE_VOTED ? sp_voted_model_numbers_read(learner,
                                                                                    numbers) : NULL;
}

#endif
