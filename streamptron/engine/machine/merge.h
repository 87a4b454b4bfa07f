/* A machine's part of a merge (exchange/merge.h); VotedPerceptron has none. */

#ifndef STREAMPTRON_MACHINE_MERGE_H
#define STREAMPTRON_MACHINE_MERGE_H

#include "machine/machine.h"
#include "machine/rows.h"
#include "merge/outputs.h"

/* See that all sides are of one form. -1 without memory; free the form in either case. */
static inline int sp_machine_mix_form(sp_merge *m)
{
    return sp_wide_mix_form(m);
}

/* Memory for it. -1 without; call sp_machine_mix_free in either case. */
static inline int sp_machine_mix_reserve(sp_merge *m)
{
    switch (sp_machine_of(m->to)) {
    case SP_MACHINE_ADAPTIVE:
        return sp_adaptive_mix_reserve(m);
    case SP_MACHINE_MANY:
        return sp_many_mix_reserve(m);
    case SP_MACHINE_WIDE:
        return sp_wide_mix_reserve(m);
    case SP_MACHINE_SETS:
        return sp_sets_mix_reserve(m);
    default:
        return 0;
    }
}

static inline void sp_machine_mix_free(sp_merge *m)
{
    if (sp_machine_of(m->to) == SP_MACHINE_ADAPTIVE)
        sp_adaptive_mix_free(m);
    else if (sp_machine_of(m->to) == SP_MACHINE_MANY)
        sp_many_mix_free(m);
    else if (sp_machine_of(m->to) == SP_MACHINE_WIDE)
        sp_wide_mix_free(m);
    else if (sp_machine_of(m->to) == SP_MACHINE_SETS)
        sp_sets_mix_free(m);
}

/* What is kept once. -1 without memory. */
static inline int sp_machine_mix_model(sp_merge *m)
{
    if (sp_machine_of(m->to) == SP_MACHINE_SETS)
        sp_sets_mix_model(m);
    else if (sp_machine_of(m->to) == SP_MACHINE_MANY)
        sp_many_mix_model(m);
    return sp_machine_of(m->to) == SP_MACHINE_ADAPTIVE ? sp_adaptive_mix_model(m) : 0;
}

/* Whether a shard's own slot holds the same as a slot of the base. */
static inline bool sp_machine_mix_same(const sp_merge *m, const sp_shard *shard, sp_slot_type own,
                                       sp_slot_type base)
{
    switch (sp_machine_of(m->to)) {
    case SP_MACHINE_ADAPTIVE:
        return sp_mix_same_rows(m, shard, own, base);
    case SP_MACHINE_MANY:
        return sp_many_mix_same(m, shard, own, base);
    case SP_MACHINE_WIDE:
        return sp_wide_mix_same(m, shard, own, base);
    case SP_MACHINE_SETS:
        return sp_sets_same_row(&shard->learner->table, sp_shard_row(shard, 0, own),
                                &m->base->learner->table, sp_shard_row(m->base, 0, base));
    default:
        return sp_weights_mix_same(m, shard, own, base);
    }
}

/* Whether a block of a chunk may have numbers. */
static inline bool sp_machine_mix_writes(const sp_merge *m, uint32_t block, size_t chunk)
{
    return block > 0 && sp_machine_is_adaptive(m->to) ? sp_adaptive_mix_has_columns(m, chunk)
                                                      : sp_mix_writes(m, block, chunk);
}

/* How many blocks of a new chunk have numbers, more or less. */
static inline ptrdiff_t sp_machine_mix_blocks(const sp_merge *m)
{
    return sp_machine_is_adaptive(m->to) ? 1 : m->to->table.n_blocks;
}

/* What is neither kept once nor in slots, once these are there. -1 without memory. */
static inline int sp_machine_mix_beside(sp_merge *m)
{
    return sp_machine_is_adaptive(m->to) ? sp_shapes_mix(m) : 0;
}

/* Of that: only these slots stay, see exchange/mix_stay.h. */
static inline void sp_machine_mix_stay(sp_learner *to, const sp_slot_type *stay, size_t n)
{
    if (sp_machine_is_adaptive(to))
        sp_shapes_stay(to, stay, n);
}

/* The merged learner is ready. */
static inline void sp_machine_mixed(sp_learner *to)
{
    if (sp_machine_is_adaptive(to))
        sp_shapes_mixed(to);
}

/* The row of a feature, whose chunks are there wherever a shard has written. -1 without memory. */
static inline int sp_machine_mix_slot(sp_merge *m, sp_slot_type slot)
{
    if (sp_machine_of(m->to) == SP_MACHINE_SETS)
        return sp_sets_mix_slot(m, slot);
    if (sp_machine_of(m->to) == SP_MACHINE_MANY)
        return sp_many_mix_slot(m, slot);
    if (sp_machine_of(m->to) == SP_MACHINE_WIDE)
        return sp_wide_mix_slot(m, slot);
    if (sp_machine_of(m->to) == SP_MACHINE_ADAPTIVE)
        sp_adaptive_mix_slot(m, slot);
    else
        sp_weights_mix_slot(m, slot);
    return 0;
}

#endif
