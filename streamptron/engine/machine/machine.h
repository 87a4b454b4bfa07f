/* The machines: what each kind of learner does. learner/machine.h says what a machine is.

       linear     a weight for each feature and output; every rule but those below
       wide       the same with many labels: a feature's weights are in a sparse row
       adaptive   AdaptiveClassifier: slots of its own, whose numbers judge the feature
       many       the same with more than two labels: their numbers are in sparse rows
       voted      VotedPerceptron: the linear machine's weights, and all past vectors
       multilabel MultiLabelClassifier: labels learned independently, in sparse rows

   A verb that every machine has is called as learner->machine->verb. The functions here are for
   verbs that a machine may lack, and say what is done then. */

#ifndef STREAMPTRON_MACHINE_MACHINE_H
#define STREAMPTRON_MACHINE_MACHINE_H

#include "learner/machine.h"
#include "merge/mix.h"
#include "rows/rows.h"

/* The machine of an untrained learner with this rule. */
SP_PRIVATE const sp_machine *sp_machine_of_rule(int kind);

/* The rarely called verbs of a learner's machine. */
SP_PRIVATE const sp_seldom *sp_seldom_of(const sp_learner *learner);

/* --- Its life */

SP_RARE static inline int sp_machine_expect(sp_learner *learner, ptrdiff_t n)
{
    if (learner->machine->expect != NULL)
        return learner->machine->expect(learner, n);
    if (n <= 2)
        return 0;
    if (learner->machine->split(learner) < 0)
        return -1;
    learner->machine->commit_split(learner);
    return 0;
}

/* Also for a learner that has not been made, which is all zeros. */
SP_RARE static inline void sp_machine_free(sp_learner *learner)
{
    if (learner->machine != NULL && learner->machine->free != NULL)
        learner->machine->free(learner);
}

/* Give a learner another's machine, and copy what is neither in the index nor in the table, which
   are copies already. */
SP_RARE static inline int sp_machine_copy(sp_learner *to, const sp_learner *other)
{
    to->machine = other->machine;
    return other->machine->copy == NULL ? 0 : other->machine->copy(to, other);
}

SP_RARE static inline size_t sp_machine_bytes(const sp_learner *learner)
{
    return learner->machine->bytes == NULL ? 0 : learner->machine->bytes(learner);
}

static inline const char *sp_machine_fault(const sp_learner *learner)
{
    return learner->machine->fault == NULL ? NULL : learner->machine->fault(learner);
}

SP_RARE static inline bool sp_machine_slots_fault(const sp_learner *learner, sp_slot_type n_slots)
{
    return learner->machine->slots_fault != NULL
           && learner->machine->slots_fault(learner, n_slots);
}

static inline int sp_machine_ready(sp_learner *learner)
{
    return learner->machine->ready == NULL ? 0 : learner->machine->ready(learner);
}

/* --- An event */

static inline void sp_machine_decide(const sp_learner *learner, sp_event *event)
{
    if (learner->machine->decide != NULL)
        learner->machine->decide(learner, event);
}

static inline void sp_machine_finish(sp_learner *learner, sp_event *event, sp_slot_type n_slots)
{
    if (learner->machine->finish != NULL)
        learner->machine->finish(learner, event, n_slots);
}

/* --- What it has learned */

static inline double sp_machine_weight(const sp_learner *learner, sp_slot_type slot,
                                       ptrdiff_t output, int kind)
{
    if (learner->machine->weight != NULL)
        return learner->machine->weight(learner, slot, output, kind);
    return sp_table_read(&learner->table, slot, output, kind);
}

/* The parts of a score are the event's entries. */
static inline ptrdiff_t sp_machine_n_shares(const sp_learner *learner, const sp_event *event)
{
    return learner->machine->n_shares == NULL ? event->n : learner->machine->n_shares(learner,
                                                                                      event);
}

static inline sp_share sp_machine_share_at(const sp_learner *learner, const sp_event *event,
                                           ptrdiff_t i)
{
    if (learner->machine->share_at != NULL)
        return learner->machine->share_at(learner, event, i);
    return (sp_share){.entry = i, .slot = event->slots[i], .other = SP_SLOT_NULL};
}

static inline int sp_machine_share_key(const sp_learner *learner, const sp_event *event,
                                       ptrdiff_t i, sp_key *key)
{
    if (learner->machine->share_key != NULL)
        return learner->machine->share_key(learner, event, i, key);
    *key = event->keys[i];
    return 1;
}

static inline double sp_machine_weight_most(const sp_learner *learner)
{
    return learner->machine->weight_limit > 0.0 ? learner->machine->weight_limit : SP_VALUE_LIMIT;
}

/* A machine that keeps nothing once per model has none of these three verbs. */
static inline sp_model_numbers sp_machine_model_numbers(const sp_learner *learner)
{
    if (learner->machine->model_numbers != NULL)
        return learner->machine->model_numbers(learner);
    return (sp_model_numbers){.name = NULL};
}

SP_RARE static inline void sp_machine_model_numbers_write(const sp_learner *learner,
                                                          double *numbers)
{
    if (learner->machine->model_numbers != NULL)
        learner->machine->model_numbers_write(learner, numbers);
}

SP_RARE static inline const char *sp_machine_model_numbers_read(sp_learner *learner,
                                                                const double *numbers)
{
    return learner->machine->model_numbers == NULL
               ? NULL
               : learner->machine->model_numbers_read(learner, numbers);
}

/* --- Slots and rows in memory */

/* Whether chunks can be compared as bytes: no part of their slots is stored elsewhere. */
static inline bool sp_machine_is_comparable_bytewise(const sp_learner *learner,
                                                     const sp_learner *other)
{
    return learner->table.arena == NULL && other->table.arena == NULL;
}

static inline bool sp_machine_same_row(const sp_learner *learner, uint32_t block, const double *row,
                                       const sp_learner *base, const double *its)
{
    const sp_seldom *seldom = sp_seldom_of(learner);
    if (seldom->same_row != NULL)
        return seldom->same_row(learner, block, row, base, its);
    return sp_same_bits(row, its, learner->table.width);
}

/* What deltas need of a slot beside its bytes: its marks (rows/marks.h). Returns how many. `room`
   has room for SP_DENSE_MOST entries. */
SP_RARE static inline size_t sp_machine_marks(const sp_learner *learner, uint32_t block,
                                              const double *slot, sp_entry *room,
                                              const uint32_t **marks)
{
    const sp_seldom *seldom = sp_seldom_of(learner);
    if (seldom->marks != NULL)
        return seldom->marks(learner, slot, marks);
    const sp_sparse *row = &((const sp_head *)(const void *)slot)->row;
    *marks = NULL;
    if (learner->machine->row_blocks >> block & 1)
        *marks = (const uint32_t *)(const void *)sp_row_look(
            (const sp_sparse_rows *)learner->table.arena, row, room);
    return *marks == NULL ? 0 : row->n;
}

/* Note in a slot's bytes that its row begins at mark `at`, wherever it was. */
SP_RARE static inline void sp_machine_clear_addresses(const sp_learner *learner, uint32_t block,
                                                      double *slot, size_t at)
{
    const sp_seldom *seldom = sp_seldom_of(learner);
    if (seldom->clear_addresses != NULL) {
        seldom->clear_addresses(slot, at);
        return;
    }
    sp_sparse *row = &((sp_head *)(void *)slot)->row;
    if (learner->machine->row_blocks >> block & 1) {
        row->block = (uint32_t)at;
        row->size = row->dense = 0;
    }
}

SP_RARE static inline bool sp_machine_label_numbers(const sp_learner *learner, ptrdiff_t k,
                                                    double *marked)
{
    const sp_seldom *seldom = sp_seldom_of(learner);
    return seldom->label_numbers != NULL && seldom->label_numbers(learner, k, marked);
}

SP_RARE static inline int sp_machine_overlay_begin(sp_learner *learner, const sp_learner *base)
{
    const sp_seldom *seldom = sp_seldom_of(learner);
    return seldom->overlay_begin == NULL ? 0 : seldom->overlay_begin(learner, base);
}

SP_RARE static inline int sp_machine_overlay_rows(sp_learner *learner, const uint32_t *slots,
                                                  const uint32_t *blocks, size_t n,
                                                  const uint32_t *marks, size_t n_marks,
                                                  const double *marked)
{
    const sp_seldom *seldom = sp_seldom_of(learner);
    return seldom->overlay_rows == NULL
               ? 0
               : seldom->overlay_rows(learner, slots, blocks, n, marks, n_marks, marked);
}

/* --- A merge; VotedPerceptron has none */

static inline int sp_machine_mix_form(sp_merge *m)
{
    return m->seldom->mix_form == NULL ? 0 : m->seldom->mix_form(m);
}

static inline int sp_machine_one_form(sp_forms *forms, sp_shard *shard, int n,
                                      const sp_shard **base)
{
    const sp_seldom *seldom = sp_seldom_of((*base)->learner);
    return seldom->one_form == NULL ? 0 : seldom->one_form(forms, shard, n, base);
}

static inline int sp_machine_mix_reserve(sp_merge *m)
{
    return m->seldom->mix_reserve == NULL ? 0 : m->seldom->mix_reserve(m);
}

static inline void sp_machine_mix_free(sp_merge *m)
{
    if (m->seldom->mix_free != NULL)
        m->seldom->mix_free(m);
}

static inline int sp_machine_mix_model(sp_merge *m)
{
    return m->seldom->mix_model == NULL ? 0 : m->seldom->mix_model(m);
}

static inline int sp_machine_mix_beside(sp_merge *m)
{
    return m->seldom->mix_beside == NULL ? 0 : m->seldom->mix_beside(m);
}

static inline void sp_machine_mix_stay(sp_learner *to, const sp_slot_type *stay, size_t n)
{
    const sp_seldom *seldom = sp_seldom_of(to);
    if (seldom->mix_stay != NULL)
        seldom->mix_stay(to, stay, n);
}

static inline void sp_machine_mixed(sp_learner *to)
{
    const sp_seldom *seldom = sp_seldom_of(to);
    if (seldom->mixed != NULL)
        seldom->mixed(to);
}

#endif
