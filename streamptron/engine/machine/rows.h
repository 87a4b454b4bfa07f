/* Slots and rows as they lie, for model files, deltas and merges. */

#ifndef STREAMPTRON_MACHINE_ROWS_H
#define STREAMPTRON_MACHINE_ROWS_H

#include "machine/machine.h"

/* See that a shard and its base, of which a delta is made, are of one form, or one learner alone
   (n = 0) of that which deltas have. -1 without memory; free the forms in either case. */
static inline int sp_machine_one_form(sp_forms *forms, sp_shard *shard, int n,
                                      const sp_shard **base)
{
    return sp_wide_one_form(forms, shard, n, base, n ? shard->learner->two.positive : -1, false);
}

static inline void sp_machine_forms_free(sp_forms *forms)
{
    sp_wide_forms_free(forms);
}

/* Whether chunks of the same bytes hold the same: no part of their slots lies elsewhere. */
static inline bool sp_machine_is_comparable_bytewise(const sp_learner *learner,
                                                     const sp_learner *other)
{
    return learner->table.arena == NULL && other->table.arena == NULL;
}

/* Whether a block of a slot holds the same in a learner and in a base that it may have gone on
   from: their labels begin alike. */
static inline bool sp_machine_same_row(const sp_learner *learner, uint32_t block, const double *row,
                                       const sp_learner *base, const double *its)
{
    if (sp_machine_of(learner) == SP_MACHINE_SETS)
        return sp_sets_same_row(&learner->table, row, &base->table, its);
    if (sp_machine_of(learner) == SP_MACHINE_MANY)
        return sp_many_same_row(learner, block, row, base, its);
    if (sp_machine_of(learner) == SP_MACHINE_WIDE)
        return sp_wide_same_row(learner, row, base, its);
    return sp_same_bits(row, its, learner->table.width);
}

/* Which blocks of a slot have a row, a bit each. */
static inline uint32_t sp_machine_row_blocks(const sp_learner *learner)
{
    switch (sp_machine_of(learner)) {
    case SP_MACHINE_MANY:
        return 1u | 1u << SP_BLOCK_E;
    case SP_MACHINE_SETS:
    case SP_MACHINE_WIDE:
        return 1;
    default:
        return 0;
    }
}

/* Let an untrained learner have rows, which are going to be read. 0, or SP_MARKS_. */
SP_RARE static inline int sp_machine_expect_rows(sp_learner *learner)
{
    return sp_machine_row_blocks(learner) ? 0 : sp_learner_widen(learner);
}

/* Whether rows that have been read are not those of their slots. */
SP_RARE static inline bool sp_machine_rows_fault(const sp_learner *learner)
{
    if (sp_machine_of(learner) == SP_MACHINE_WIDE)
        return sp_wide_fault(learner) != NULL;
    return sp_machine_of(learner) == SP_MACHINE_MANY && sp_many_fault(learner) != NULL;
}

/* What deltas hold of a slot that its bytes have not: how many marks (rows/marks.h), and these.
   `room`: for SP_DENSE_MOST entries. */
SP_RARE static inline size_t sp_machine_marks(const sp_learner *learner, uint32_t block,
                                              const double *slot, sp_entry *room,
                                              const uint32_t **marks)
{
    if (sp_machine_of(learner) == SP_MACHINE_WIDE)
        return sp_wide_marks(learner, slot, marks);
    const sp_sparse *row = &((const sp_head *)(const void *)slot)->row;
    *marks = NULL;
    if (sp_machine_row_blocks(learner) >> block & 1)
        *marks = (const uint32_t *)(const void *)sp_row_look(
            (const sp_sparse_rows *)learner->table.arena, row, room);
    return *marks == NULL ? 0 : row->n;
}

/* Say in a slot's bytes that its row begins at mark `at`, wherever it was. */
SP_RARE static inline void sp_machine_clear_addresses(const sp_learner *learner, uint32_t block,
                                                      double *slot, size_t at)
{
    if (sp_machine_of(learner) == SP_MACHINE_WIDE) {
        sp_wide_clear_addresses(slot, at);
        return;
    }
    sp_sparse *row = &((sp_head *)(void *)slot)->row;
    if (sp_machine_row_blocks(learner) >> block & 1) {
        row->block = (uint32_t)at;
        row->size = row->dense = 0;
    }
}

/* The numbers of a label that are not in slots; false: there are no more. */
SP_RARE static inline bool sp_machine_label_numbers(const sp_learner *learner, ptrdiff_t k,
                                                    double *marked)
{
    return sp_machine_of(learner) == SP_MACHINE_SETS && sp_sets_label_numbers(learner, k, marked);
}

/* Before the slots of a learner are laid over a base's; see exchange/delta.h. 1: its table is the
   base's already; -1 without memory. */
SP_RARE static inline int sp_machine_overlay_begin(sp_learner *learner, const sp_learner *base)
{
    if (sp_machine_of(learner) == SP_MACHINE_MANY)
        return sp_many_overlay_begin(learner, base);
    if (sp_machine_of(learner) == SP_MACHINE_WIDE)
        return sp_wide_overlay_begin(learner, base);
    return sp_machine_of(learner) == SP_MACHINE_SETS ? sp_sets_overlay_begin(learner, base) : 0;
}

/* And after that: the delta's slots, blocks[b] of each block, n in all. 0, or what is wrong. */
SP_RARE static inline int sp_machine_overlay_rows(sp_learner *learner, const uint32_t *slots,
                                                  const uint32_t *blocks, size_t n,
                                                  const uint32_t *marks, size_t n_marks,
                                                  const double *marked)
{
    if (sp_machine_of(learner) == SP_MACHINE_MANY)
        return sp_many_overlay_rows(learner, slots, blocks, marks, n_marks);
    if (sp_machine_of(learner) == SP_MACHINE_WIDE)
        return sp_wide_overlay_rows(learner, slots, n, marks, n_marks);
    return sp_machine_of(learner) == SP_MACHINE_SETS
               ? sp_sets_overlay_rows(learner, slots, n, marks, n_marks, marked)
               : 0;
}

#endif
