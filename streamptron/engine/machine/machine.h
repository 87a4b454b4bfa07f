/* The machines: which kind of learner it is. This is the only room that asks.

   A machine is what a rule moves, and how it is kept:

       linear     a weight for each feature and output; every rule but those below
       adaptive   AdaptiveClassifier: a slot of its own, whose numbers judge the feature
       many       the same with more than two labels: what a label has lies in sparse rows
       wide       the linear machine with many labels: what a feature has lies in sparse rows
       voted      VotedPerceptron: the linear machine's weights, and the vectors that there were
       sets       MultiLabelClassifier: what a label has lies in sparse rows, each on its own

   Each verb that the path (path/path.h) asks of a machine is here once, a switch of as many lines
   as there are machines. What a learner can do beyond that is a bit of sp_rule_can (learner/can.h),
   in machine/machine.c. A machine that has nothing to do for a verb is not in its switch.

   A new machine: a folder with its verbs, a line in each switch, its bits, and a rule that names it
   (learner/rule.h). */

#ifndef STREAMPTRON_MACHINE_MACHINE_H
#define STREAMPTRON_MACHINE_MACHINE_H

#include "adaptive/verbs.h"
#include "learner/can.h"
#include "learner/learner.h"
#include "learner/model_numbers.h"
#include "linear/verbs.h"
#include "many/verbs.h"
#include "merge/outputs.h"
#include "sets/verbs.h"
#include "voted/verbs.h"
#include "wide/verbs.h"

typedef enum sp_machine {
    SP_MACHINE_LINEAR,
    SP_MACHINE_WIDE,
    SP_MACHINE_ADAPTIVE,
    SP_MACHINE_MANY,
    SP_MACHINE_VOTED,
    SP_MACHINE_SETS,
} sp_machine;

static inline sp_machine sp_machine_of(const sp_learner *learner)
{
    switch (learner->rule.kind) {
    case SP_RULE_ADAPTIVE:
        return learner->adaptive.rows ? SP_MACHINE_MANY : SP_MACHINE_ADAPTIVE;
    case SP_RULE_VOTED:
        return SP_MACHINE_VOTED;
    case SP_RULE_SETS:
        return SP_MACHINE_SETS;
    default:
        return sp_table_is_wide(&learner->table) ? SP_MACHINE_WIDE : SP_MACHINE_LINEAR;
    }
}

/* A linear learner whose labels lie in rows. */
static inline bool sp_machine_is_wide(const sp_learner *learner)
{
    return sp_machine_of(learner) == SP_MACHINE_WIDE;
}

/* AdaptiveClassifier, with any number of labels. */
static inline bool sp_machine_is_adaptive(const sp_learner *learner)
{
    return sp_machine_of(learner) == SP_MACHINE_ADAPTIVE
           || sp_machine_of(learner) == SP_MACHINE_MANY;
}

/* --- Its life */

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

/* Whether a table of so many slots has numbers that this machine cannot have written. */
SP_RARE static inline bool sp_machine_slots_fault(const sp_learner *learner, sp_slot_type n_slots)
{
    if (sp_machine_of(learner) == SP_MACHINE_ADAPTIVE)
        return sp_adaptive_fault(&learner->table, n_slots);
    if (sp_machine_of(learner) == SP_MACHINE_MANY)
        return sp_many_slots_fault(learner, n_slots);
    if (sp_machine_of(learner) == SP_MACHINE_SETS)
        return sp_sets_slots_fault(learner, n_slots);
    if (sp_machine_of(learner) == SP_MACHINE_WIDE)
        return false; /* what there is lies in rows */
    return !sp_table_is_sound(&learner->table);
}

/* Work out what is kept beside the slots, once they are there. -1 without memory. */
static inline int sp_machine_ready(sp_learner *learner)
{
    if (sp_machine_of(learner) == SP_MACHINE_LINEAR && !learner->table.borrowed
        && sp_wide_is_due(learner, learner->table.n_outputs))
        return sp_wide_reform_now(learner);
    return sp_machine_is_adaptive(learner) ? sp_adaptive_ready(learner) : 0;
}

/* --- The path of an event */

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

/* Tell an answered event its set of labels, instead of one y. -1 without memory. */
SP_RARE static inline int sp_machine_set_targets(const sp_learner *learner, sp_event *event,
                                                 const uint32_t *labels, ptrdiff_t n,
                                                 ptrdiff_t n_there, bool open)
{
    return sp_sets_set_targets(event, labels, n, n_there, open, learner->sets.n_labels);
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

/* --- Moves, for what is taken back and what a learner starts from */

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

/* --- A step written down, and taken back; AdaptiveClassifier's has its own form (path/undo.h) */

/* Bytes for a step that has been chosen; 0: this machine writes none down. */
static inline size_t sp_machine_undo_log_most(const sp_learner *learner, const sp_event *event)
{
    return sp_machine_of(learner) == SP_MACHINE_SETS ? sp_sets_undo_log_most(learner, event) : 0;
}

/* What it is going to change; and what it has. */
static inline void sp_machine_undo_log_begin(const sp_learner *learner, const sp_event *event,
                                             double u, uint8_t *data)
{
    if (sp_machine_of(learner) == SP_MACHINE_SETS)
        sp_sets_undo_log_begin(learner, event, u, data);
}

static inline size_t sp_machine_undo_log_end(const sp_learner *learner, const sp_event *event,
                                             uint8_t *data)
{
    return sp_machine_of(learner) == SP_MACHINE_SETS ? sp_sets_undo_log_end(learner, event,
                                                                            data) : 0;
}

static inline bool sp_machine_undo_log_is_sound(const sp_learner *learner, const sp_event *event,
                                                const uint8_t *data, size_t bytes)
{
    return sp_machine_of(learner) == SP_MACHINE_SETS
           && sp_sets_undo_log_is_sound(learner, event, data, bytes);
}

/* -1 without memory; then nothing has changed. */
static inline int sp_machine_take_back(sp_learner *learner, const sp_event *event,
                                       const uint8_t *data)
{
    return sp_machine_of(learner) == SP_MACHINE_SETS ? sp_sets_take_back(learner, event, data) : 0;
}

/* --- Labels */

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

/* The label that gave a learner its form has been learned, or not (`failed`: back to the old
   one). */
static inline void sp_machine_split_end(sp_learner *learner, bool failed)
{
    if (sp_machine_of(learner) == SP_MACHINE_VOTED)
        sp_voted_split_end(learner, failed);
    else if (sp_machine_of(learner) == SP_MACHINE_MANY)
        sp_many_split_end(learner, failed);
    else if (sp_machine_of(learner) == SP_MACHINE_WIDE)
        sp_wide_reform_end(learner, failed);
    else
        sp_linear_split_end(learner, failed);
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
    sp_machine_split_end(learner, false);
    return 0;
}

/* --- What it has learned */

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

/* --- Its part of a merge (exchange/merge.h); VotedPerceptron has none */

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

/* Whether a shard's own slot holds the same as a slot of the base. */
static inline bool sp_machine_mix_same(const sp_merge *m, const sp_shard *shard, sp_slot_type own,
                                       sp_slot_type base)
{
    if (sp_machine_of(m->to) == SP_MACHINE_MANY)
        return sp_many_mix_same(m, shard, own, base);
    if (sp_machine_of(m->to) == SP_MACHINE_WIDE)
        return sp_wide_mix_same(m, shard, own, base);
    const ptrdiff_t n
        = SP_MAX(shard->learner->table.n_blocks, m->base->learner->table.n_blocks);
    for (ptrdiff_t b = 0; b < n; b++) {
        const double *row = sp_shard_row(shard, b, own);
        const double *its = sp_shard_row(m->base, b, base);
        if (row != its
            && !sp_machine_same_row(shard->learner, (uint32_t)b, row, m->base->learner, its))
            return false;
    }
    return true;
}

/* Whether chunks of the same bytes hold the same: no part of their slots lies elsewhere. */
static inline bool sp_machine_is_comparable_bytewise(const sp_learner *learner,
                                                     const sp_learner *other)
{
    return learner->table.arena == NULL && other->table.arena == NULL;
}

/* Whether a block of a chunk may have numbers, where a shard has some in the chunk. */
static inline bool sp_machine_mix_writes(const sp_merge *m, uint32_t block, size_t chunk)
{
    return !sp_machine_is_adaptive(m->to) || block == 0 || sp_adaptive_mix_has_columns(m, chunk);
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
