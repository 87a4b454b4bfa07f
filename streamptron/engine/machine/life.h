/* A machine's life, for machine/machine.h: made, copied, measured, checked, freed. */

#ifndef STREAMPTRON_MACHINE_LIFE_H
#define STREAMPTRON_MACHINE_LIFE_H

#include "machine/learn.h"
#include "machine/machine.h"

/* An untrained machine of learner.rule. -1 without memory. `scattered`: see sp_pool_init. */
static inline int sp_machine_init(sp_learner *learner, const sp_vectors *vectors, bool scattered)
{
    switch (sp_machine_of(learner)) {
    case SP_MACHINE_ADAPTIVE:
        return sp_adaptive_open(learner, scattered);
    case SP_MACHINE_VOTED:
        return sp_voted_init(learner, scattered);
    case SP_MACHINE_SETS:
        return sp_sets_open(learner, scattered);
    default:
        return sp_linear_init(learner, vectors, scattered);
    }
}

/* Give an untrained learner its form with n labels. -1 without memory. */
SP_RARE static inline int sp_machine_expect(sp_learner *learner, ptrdiff_t n)
{
    if (sp_machine_of(learner) == SP_MACHINE_SETS)
        return sp_sets_expect(learner, n);
    if (sp_machine_is_adaptive(learner)) {
        if (sp_adaptive_expect(&learner->adaptive, n, learner->two.positive) < 0)
            return -1;
        return n > 2 ? sp_many_expect(learner, n) : 0;
    }
    if (n <= 2)
        return 0;
    if (sp_machine_split(learner) < 0)
        return -1;
    sp_machine_commit_split(learner);
    return 0;
}

SP_RARE static inline void sp_machine_free(sp_learner *learner)
{
    if (sp_machine_of(learner) == SP_MACHINE_MANY)
        sp_many_close(learner);
    if (sp_machine_of(learner) == SP_MACHINE_WIDE)
        sp_wide_close(learner);
    sp_adaptive_free(&learner->adaptive);
    sp_voters_free(&learner->voters);
    sp_sets_close(learner);
}

/* What is not in the index and the table. -1 without memory; then, too, it is the copy's own. */
SP_RARE static inline int sp_machine_copy(sp_learner *to, const sp_learner *other)
{
    switch (sp_machine_of(other)) {
    case SP_MACHINE_ADAPTIVE:
        return sp_adaptive_copy(&to->adaptive, &other->adaptive);
    case SP_MACHINE_MANY:
        return sp_many_duplicate(to, other);
    case SP_MACHINE_WIDE:
        return sp_wide_duplicate(to, other);
    case SP_MACHINE_VOTED:
        return sp_voters_copy(&to->voters, &other->voters);
    case SP_MACHINE_SETS:
        return sp_sets_duplicate(to, other);
    default:
        return 0;
    }
}

SP_RARE static inline size_t sp_machine_bytes(const sp_learner *learner)
{
    size_t rows = sp_machine_of(learner) == SP_MACHINE_MANY   ? sp_many_held(learner)
                  : sp_machine_of(learner) == SP_MACHINE_WIDE ? sp_wide_held(learner)
                                                              : sp_sets_held(learner);
    return sp_adaptive_bytes(&learner->adaptive) + sp_voters_bytes(&learner->voters) + rows;
}

/* What is wrong beyond index and table, or NULL. */
static inline const char *sp_machine_fault(const sp_learner *learner)
{
    switch (sp_machine_of(learner)) {
    case SP_MACHINE_ADAPTIVE:
        return sp_adaptive_wrong(learner);
    case SP_MACHINE_MANY:
        return sp_many_fault(learner);
    case SP_MACHINE_WIDE:
        return sp_wide_fault(learner);
    case SP_MACHINE_VOTED:
        return sp_voters_fault(&learner->voters, learner->table.n_outputs, learner->index.n_slots);
    case SP_MACHINE_SETS:
        return sp_sets_fault(&learner->sets, &learner->table, learner->index.n_slots);
    default:
        return NULL;
    }
}

/* Whether a table of so many slots has numbers that this machine cannot have written, where
   sp_table_rows_fault cannot say so. */
SP_RARE static inline bool sp_machine_slots_fault(const sp_learner *learner, sp_slot_type n_slots)
{
    if (sp_machine_of(learner) == SP_MACHINE_ADAPTIVE)
        return sp_adaptive_fault(&learner->table, n_slots);
    if (sp_machine_of(learner) == SP_MACHINE_MANY)
        return sp_many_slots_fault(learner, n_slots);
    if (sp_machine_of(learner) == SP_MACHINE_SETS)
        return sp_sets_slots_fault(learner, n_slots);
    return false;
}

/* Work out what is kept beside the slots, once they are there. -1 without memory. */
static inline int sp_machine_ready(sp_learner *learner)
{
    if (sp_machine_of(learner) == SP_MACHINE_LINEAR && !learner->table.borrowed
        && sp_wide_is_due(learner, learner->table.n_outputs))
        return sp_wide_reform_now(learner);
    return sp_machine_is_adaptive(learner) ? sp_adaptive_ready(learner) : 0;
}

#endif
