#include "multilabel/machine.h"

#include "math/logs.h"
#include "merge/outputs.h"
#include "multilabel/arrays.h"
#include "multilabel/learn.h"
#include "multilabel/mix.h"
#include "multilabel/multilabel.h"
#include "multilabel/targets.h"
#include "multilabel/undo.h"

#include <math.h>

static ptrdiff_t sp_multilabel_blocks_for(const sp_table *table, ptrdiff_t n_outputs)
{
    (void)table;
    (void)n_outputs;
    return 1; /* labels' numbers are in rows */
}

SP_RARE static double sp_multilabel_size(const sp_table *table, sp_slot_type slot)
{
    const sp_counted_slot *counted = sp_counted_slot_of(table, slot);
    const sp_entry *entries = sp_row_entries(sp_rows_of(table), &counted->of.row);
    double largest = 0.0;
    for (uint32_t i = 0; i < counted->of.row.n; i++)
        largest = SP_MAX(largest, fabs(entries[i].w));
    return largest * sqrt(counted->of.cnt);
}

SP_RARE static void sp_multilabel_clear(sp_table *table, sp_slot_type slot)
{
    sp_row_drop(sp_rows_of(table), &sp_counted_slot_of(table, slot)->of.row);
}

static const sp_slot_kind sp_multilabel_slots = {
    .blocks_for = sp_multilabel_blocks_for,
    .size = sp_multilabel_size,
    .clear = sp_multilabel_clear,
};

SP_RARE static int sp_multilabel_open(sp_learner *learner, const sp_vectors *vectors,
                                      bool scattered)
{
    (void)vectors; /* there is one vector */
    sp_table *table = &learner->table;
    sp_serve_init(&learner->serve, &sp_current_alone);
    sp_table_init(table, &sp_current_alone, SP_KEEP_NONE, false, scattered);
    table->kind = &sp_multilabel_slots;
    table->width = SP_HEAD_WIDTH;
    table->arena = sp_rows_open();
    if (table->arena == NULL
        || sp_multilabel_init(&learner->multilabel, learner->rule.eta, learner->rule.forget) < 0)
        return -1;
    return sp_table_add_outputs(table, 0);
}

SP_RARE static void sp_multilabel_close(sp_learner *learner)
{
    sp_multilabel_free(&learner->multilabel);
    sp_rows_free(sp_rows_of(&learner->table));
    learner->table.arena = NULL;
}

SP_RARE static int sp_multilabel_duplicate(sp_learner *to, const sp_learner *other)
{
    int failed = sp_multilabel_copy(&to->multilabel, &other->multilabel);
    to->table.arena = sp_rows_copy(sp_rows_of(&other->table));
    return to->table.arena == NULL ? -1 : failed;
}

SP_RARE static size_t sp_multilabel_held(const sp_learner *learner)
{
    const sp_sparse_rows *rows = sp_rows_of(&learner->table);
    return sp_multilabel_bytes(&learner->multilabel) + (rows == NULL ? 0 : rows->bytes);
}

SP_RARE static int sp_multilabel_expect(sp_learner *learner, ptrdiff_t n)
{
    if (sp_multilabel_room(&learner->multilabel, n) < 0)
        return -1;
    learner->multilabel.n_labels = n;
    return 0;
}

SP_RARE static bool sp_multilabel_slots_fault(const sp_learner *learner, sp_slot_type n_slots)
{
    const sp_table *table = &learner->table;
    for (sp_slot_type slot = 0; slot < n_slots; slot++) {
        if (slot >> SP_CHUNK_BITS >= table->n_chunks)
            break;
        const sp_counted_slot *counted = sp_counted_slot_of(table, slot);
        if (!(fabs(counted->of.s) <= SP_MEAN_LIMIT && counted->of.cnt >= 0.0f
              && counted->of.cnt < 2 * SP_COUNT_MOST && fabs(counted->of.N) <= SP_VALUE_LIMIT
              && counted->of.unused == 0.0f))
            return true;
    }
    return false;
}

/* NULL, or what is wrong with rows and labels. Checks everything. */
SP_RARE static const char *sp_multilabel_fault(const sp_learner *learner)
{
    const sp_multilabel *s = &learner->multilabel;
    const sp_table *table = &learner->table;
    const sp_sparse_rows *rows = sp_rows_of(table);
    /* rows in a file were checked when it was opened */
    const sp_slot_type n_slots = rows->borrowed ? 0 : learner->index.n_slots;
    ptrdiff_t awake = 0;
    for (sp_slot_type slot = 0; slot < n_slots; slot++) {
        if (slot >> SP_CHUNK_BITS >= table->n_chunks)
            break;
        const sp_sparse *row = &sp_counted_slot_of(table, slot)->of.row;
        const sp_entry *entries = sp_row_entries(rows, row);
        if (row->n && (row->block == 0 || row->n > sp_row_capacity((int)row->size)))
            return "a row has more entries than its block";
        for (uint32_t i = 0; i < row->n; i++) {
            if (entries[i].k >= (size_t)s->n_labels || (i && entries[i].k <= entries[i - 1].k))
                return "the labels of a row are not in order";
        }
        if (!sp_counts_are_sound((const double *)(const void *)sp_counted_slot_of(table, slot),
                                 entries, row->n, (size_t)s->n_labels))
            return "a label has a number that learning cannot have made";
    }
    for (ptrdiff_t k = 0; k < s->n_labels; k++) {
        const sp_label *label = &s->labels[k];
        if (!sp_label_is_sound(s, label))
            return "a label has a number that learning cannot have made";
        if (label->rest != label->w0 + label->wn * -2.0)
            return "a label's score without an entry is not what it is made of";
        if (label->place >= 0 && s->awake[label->place] != (uint32_t)k)
            return "a label is not where it should be awake";
        awake += label->place >= 0;
    }
    return awake == s->n_awake ? NULL : "there are more labels awake than there are";
}

/* Write the scores of all labels. */
static void sp_multilabel_scores(const sp_multilabel *s, sp_event *event)
{
    for (ptrdiff_t k = 0; k < s->n_labels; k++)
        event->scores[k] = sp_multilabel_score(s, sp_multilabel_scratch_of(event), k);
}

static int sp_multilabel_score_event(sp_learner *learner, sp_event *event)
{
    ptrdiff_t n = learner->multilabel.n_labels;
    if (sp_event_reserve_scores(event, SP_KEPT_KINDS, (SP_KEPT_KINDS + 1) * SP_MAX(n, (ptrdiff_t)2))
            < 0
        || sp_multilabel_scratch_reserve(event, event->n, n) < 0)
        return -1;
    event->n_scores = n;
    event->judged = 0;
    if (learner->multilabel.unverified && !sp_multilabel_rows_are_sound(learner, event)) {
        for (ptrdiff_t k = 0; k < n; k++) /* the caller checks at once whether all are finite */
            event->scores[k] = NAN;
        return 0;
    }
    sp_multilabel_answer(&learner->multilabel, &learner->table, event,
                         sp_multilabel_scratch_of(event));
    if (learner->table.borrowed) /* the door checks whether they are finite */
        sp_multilabel_scores(&learner->multilabel, event);
    return 0;
}

/* The scores of all labels, computed only now, unless the learner is used in its file. */
static void sp_multilabel_verdict(const sp_learner *learner, sp_event *event, int kind)
{
    const sp_multilabel *s = &learner->multilabel;
    ptrdiff_t best = s->n_labels ? 0 : -1;
    sp_multilabel_scores(s, event);
    for (ptrdiff_t k = 0; k < s->n_labels; k++) {
        if (event->scores[k] > event->scores[best])
            best = k;
    }
    event->verdicts[kind].best = best;
    event->judged |= 1 << kind;
}

static void sp_multilabel_probabilities(const sp_learner *learner, const sp_event *event,
                                        sp_answer answer, double *p)
{
    (void)answer;
    for (ptrdiff_t k = 0; k < learner->multilabel.n_labels; k++)
        p[k] = sp_sigmoid(sp_multilabel_score(&learner->multilabel,
                                              sp_multilabel_scratch_of(event), k));
}

static int sp_multilabel_plan(sp_learner *learner, sp_event *event, const sp_entries *row,
                              bool intercept, ptrdiff_t y, double u)
{
    (void)row;
    (void)intercept;
    (void)y;
    return sp_multilabel_aim(&learner->multilabel, &learner->table, event,
                             sp_multilabel_scratch_of(event), u);
}

static int sp_multilabel_reserve_event(sp_learner *learner, sp_event *event, ptrdiff_t y, double u)
{
    (void)y;
    const uint32_t block = 0;
    sp_multilabel_scratch *w = sp_multilabel_scratch_of(event);
    bool ticked = false;
    if (u == 0.0)
        return 0;
    if (sp_learner_insert(learner, event, 0, event->n, &ticked) < 0
        || sp_multilabel_room(&learner->multilabel, learner->multilabel.n_labels + w->n_new) < 0
        || sp_table_add_outputs(&learner->table, w->n_new) < 0
        || sp_multilabel_reserve(&learner->table, event, w) < 0)
        return -1;
    if (sp_table_reserve_blocks(&learner->table, event->slots, event->n, learner->index.n_slots,
                                &block, 1)
        < 0) {
        sp_multilabel_release(&learner->table, event, w);
        return -1;
    }
    return 0;
}

static void sp_multilabel_apply(sp_learner *learner, sp_event *event, ptrdiff_t y, double u)
{
    (void)y;
    sp_multilabel_scratch *w = sp_multilabel_scratch_of(event);
    learner->n_seen += 1;
    learner->n_mistakes += sp_multilabel_wrong(&learner->multilabel, w);
    if (u == 0.0)
        return;
    learner->n_updates += w->n_strides > 0;
    sp_multilabel_learn(&learner->multilabel, &learner->table, event, w, u);
}

/* --- Reports */

enum { SP_MULTILABEL_ONCE = 4, SP_MULTILABEL_LISTS = 2 }; /* T, m, nm, positives; there, said */

static sp_model_numbers sp_multilabel_model_numbers(const sp_learner *learner)
{
    (void)learner; /* the same for all */
    return (sp_model_numbers){
        .name = "sets", /* in files */
        .n = SP_MULTILABEL_ONCE,
        .n_more = SP_MULTILABEL_STEPS,
        .n_lists = SP_MULTILABEL_LISTS,
    };
}

SP_RARE static void sp_multilabel_model_numbers_write(const sp_learner *learner, double *numbers)
{
    const sp_multilabel *s = &learner->multilabel;
    *numbers++ = s->T;
    *numbers++ = s->m;
    *numbers++ = s->nm;
    *numbers++ = s->positives;
    memcpy(numbers, s->there, SP_MULTILABEL_STEPS * sizeof(double));
    memcpy(numbers + SP_MULTILABEL_STEPS, s->said, SP_MULTILABEL_STEPS * sizeof(double));
}

static bool sp_is_sum(double number, double least)
{
    return least <= number && number <= SP_VALUE_LIMIT;
}

SP_RARE static const char *sp_multilabel_model_numbers_read(sp_learner *learner,
                                                            const double *numbers)
{
    sp_multilabel *s = &learner->multilabel;
    s->T = *numbers++;
    s->m = *numbers++;
    s->nm = *numbers++;
    s->positives = *numbers++;
    bool good = sp_is_sum(s->T, 0.0) && sp_is_sum(s->m, 0.0) && 0.0 <= s->nm && s->nm <= 1024.0
                && sp_is_sum(s->positives, 0.0);
    for (int t = 0; t < SP_MULTILABEL_STEPS; t++) {
        s->there[t] = numbers[t];
        s->said[t] = numbers[SP_MULTILABEL_STEPS + t];
        good = good && sp_is_sum(s->there[t], 0.0) && sp_is_sum(s->said[t], s->there[t]);
    }
    return good ? NULL : "what is kept of all events is invalid";
}

static int sp_multilabel_shares(const sp_learner *learner, const sp_event *event, ptrdiff_t label,
                                int kind, double *shares)
{
    (void)kind; /* there is one vector */
    for (ptrdiff_t i = 0; i < event->n; i++)
        shares[i] = sp_multilabel_share(&learner->multilabel, &learner->table, event, label, i);
    shares[event->n] = sp_multilabel_share(&learner->multilabel, &learner->table, event, label, -1);
    return 0;
}

SP_RARE static double sp_multilabel_weight(const sp_learner *learner, sp_slot_type slot,
                                           ptrdiff_t output, int kind)
{
    (void)kind; /* there is one vector */
    const sp_table *table = &learner->table;
    if (slot == SP_SLOT_INTERCEPT)
        return learner->multilabel.labels[output].w0;
    if (slot >> SP_CHUNK_BITS >= table->n_chunks)
        return 0.0;
    const sp_entry *entry = sp_row_find(sp_rows_of(table), &sp_counted_slot_of(table, slot)->of.row,
                                        (uint32_t)output);
    return entry == NULL ? 0.0 : entry->w;
}

/* --- The machine */

static bool sp_multilabel_mix_same(const sp_merge *m, const sp_shard *shard, sp_slot_type own,
                                   sp_slot_type base)
{
    return sp_multilabel_same_row(shard->learner, 0, sp_shard_row(shard, 0, own), m->base->learner,
                                  sp_shard_row(m->base, 0, base));
}

const sp_machine sp_multilabel_machine = {
    .can = SP_CAN_MERGE | SP_CAN_MAP | SP_CAN_PAIR | SP_CAN_SET | SP_CAN_UNDO_LOG,
    .weight_limit = SP_U_LIMIT,
    .row_blocks = 1,
    .rows = SP_ROWS_MARKS,
    .init = sp_multilabel_open,
    .expect = sp_multilabel_expect,
    .free = sp_multilabel_close,
    .copy = sp_multilabel_duplicate,
    .bytes = sp_multilabel_held,
    .fault = sp_multilabel_fault,
    .slots_fault = sp_multilabel_slots_fault,
    .score = sp_multilabel_score_event,
    .verdict = sp_multilabel_verdict,
    .probabilities = sp_multilabel_probabilities,
    .plan = sp_multilabel_plan,
    .reserve = sp_multilabel_reserve_event,
    .apply = sp_multilabel_apply,
    .weight = sp_multilabel_weight,
    .shares = sp_multilabel_shares,
    .model_numbers = sp_multilabel_model_numbers,
    .model_numbers_write = sp_multilabel_model_numbers_write,
    .model_numbers_read = sp_multilabel_model_numbers_read,
};

const sp_seldom sp_multilabel_seldom = {
    .undo_log_most = sp_multilabel_undo_log_most,
    .undo_log_begin = sp_multilabel_undo_log_begin,
    .undo_log_end = sp_multilabel_undo_log_end,
    .undo_log_is_sound = sp_multilabel_undo_log_is_sound,
    .take_back = sp_multilabel_take_back,
    .same_row = sp_multilabel_same_row,
    .label_numbers = sp_multilabel_label_numbers,
    .overlay_begin = sp_multilabel_overlay_begin,
    .overlay_rows = sp_multilabel_overlay_rows,
    .mix_reserve = sp_multilabel_mix_reserve,
    .mix_free = sp_multilabel_mix_free,
    .mix_model = sp_multilabel_mix_model,
    .mix_same = sp_multilabel_mix_same,
    .mix_writes = sp_mix_writes,
    .mix_slot = sp_multilabel_mix_slot,
};
