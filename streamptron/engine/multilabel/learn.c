#include "multilabel/learn.h"

#include "math/logs.h"
#include "memory/grow.h"

#define SP_MULTILABEL_THR 0.0078125 /* a smaller error makes no step */
#define SP_MULTILABEL_WIDE 0.125    /* a larger error makes entries */
#define SP_MULTILABEL_FULL 0x1p16   /* labels of weight 1, then F1's counts are halved */

/* Whether the event has a label. */
static bool sp_is_there(const sp_multilabel_scratch *w, ptrdiff_t k)
{
    return w->sums[k].named == w->word && w->sums[k].there;
}

/* Whether the event says that it has the label, or that it does not. */
static bool sp_is_named(const sp_multilabel_scratch *w, ptrdiff_t k)
{
    return !w->open || w->sums[k].named == w->word;
}

static bool sp_is_met(const sp_multilabel_scratch *w, ptrdiff_t k)
{
    return w->sums[k].seen == w->turn;
}

SP_PRIVATE bool sp_multilabel_wrong(const sp_multilabel *s, const sp_multilabel_scratch *w)
{
    bool wrong = false;
    if (s->n_labels == 0)
        return false;
    for (ptrdiff_t i = 0; i < w->n_met; i++) {
        uint32_t k = w->met[i];
        wrong |= sp_is_named(w, k) && (w->sums[k].score > 0.0) != sp_is_there(w, k);
    }
    for (ptrdiff_t i = 0; i < s->n_awake; i++) {
        uint32_t k = s->awake[i];
        wrong |= !sp_is_met(w, k) && s->labels[k].rest > 0.0 && sp_is_named(w, k)
                 && !sp_is_there(w, k);
    }
    for (ptrdiff_t i = 0; i < w->n_there; i++) {
        uint32_t k = w->targets[i];
        wrong |= k >= (size_t)s->n_labels || (!sp_is_met(w, k) && !(s->labels[k].rest > 0.0));
    }
    return wrong;
}

/* A label's entry in the row of the event's entry i; NULL: none. */
static sp_entry *sp_multilabel_entry(const sp_table *table, const sp_event *event, ptrdiff_t i,
                                     uint32_t k)
{
    return sp_row_find(sp_rows_of(table), &sp_counted_slot_of(table, event->slots[i])->of.row, k);
}

/* The sum of |X| for a label. */
static double sp_multilabel_length(const sp_table *table, const sp_event *event,
                                   const sp_multilabel_scratch *w, uint32_t k,
    const sp_label_sums *sums)
{
    double length = 0.0;
    for (ptrdiff_t i = 0, end = event->n; i < end; i++) {
        const sp_entry *entry = sp_multilabel_entry(table, event, i, k);
        length += fabs(sp_label_sums_h(sums, &w->values[i], entry == NULL ? 0.0 : entry->c));
    }
    return length * sums->r;
}

/* Add a label's stride, if its error is large enough. */
static void sp_multilabel_aim_at(const sp_multilabel *s, const sp_table *table,
                                 const sp_event *event, sp_multilabel_scratch *w, double u,
    uint32_t k, const sp_label *label)
{
    sp_label_sums *sums = &w->sums[k];
    bool there = sp_is_there(w, k);
    bool met = sp_is_met(w, k);
    double V = met ? sums->V : k < (size_t)s->n_labels ? -2.0 : 0.0;
    double score = met ? sums->score : label->w0 + label->wn * V;
    double g = (there ? 1.0 : 0.0) - sp_sigmoid(score);
    double q = u * fabs(g);
    sp_counted_stride *stride = &w->strides[w->n_strides];
    if (there || q > SP_MULTILABEL_WIDE) {
        w->adds[w->n_adds] = k;
        w->n_adds += 1;
    }
    if (!(q > SP_MULTILABEL_THR))
        return;
    if (!met) {
        sp_label_sums_open(s, label, sums);
        sums->r = sp_label_sums_scale(w, sums);
        sums->V = V;
    }
    double length = sp_multilabel_length(table, event, w, k, sums);
    double eta = length <= 12.0 ? s->eta : s->eta * (12.0 / length);
    stride->k = k;
    stride->wide = there || q > SP_MULTILABEL_WIDE;
    stride->q = q;
    stride->kept = SP_MAX(0.0, 1.0 - s->forget * q);
    stride->f = eta * u * g;
    w->n_strides += 1;
}

SP_PRIVATE sp_label sp_multilabel_newcomer(const sp_multilabel *s, ptrdiff_t n, double *wn)
{
    sp_label label;
    double log_all = sp_one_log(s->T + 1.0);
    ptrdiff_t others = s->n_labels + n;
    memset(&label, 0, sizeof(label));
    label.w0 = 0.0 - (log_all < 5.0 ? log_all : 5.0);
    label.wn = others ? *wn / (double)others : 3.0;
    label.place = -1;
    *wn += label.wn;
    return label;
}

SP_PRIVATE double sp_multilabel_all_wn(const sp_multilabel *s)
{
    double wn = 0.0;
    for (ptrdiff_t k = 0; k < s->n_labels; k++)
        wn += s->labels[k].wn;
    return wn;
}

SP_PRIVATE int sp_multilabel_aim(const sp_multilabel *s, const sp_table *table,
                                 const sp_event *event, sp_multilabel_scratch *w, double u)
{
    bool all = u > 1.0; /* then sleeping labels may err enough, too */
    ptrdiff_t room = w->n_met + (all ? s->n_labels : s->n_awake) + w->n_targets;
    w->n_strides = w->n_adds = 0;
    if (u == 0.0)
        return 0;
    if (room > w->strides_room) {
        room += room / 2;
        const sp_growing all[] = {
            SP_GROWING(w->adds, room),
            SP_GROWING(w->strides, room),
        };
        if (sp_grow_all(all, 2) < 0)
            return -1;
        w->strides_room = room;
    }
    for (ptrdiff_t i = 0; i < w->n_met; i++) {
        uint32_t k = w->met[i];
        if (sp_is_named(w, k))
            sp_multilabel_aim_at(s, table, event, w, u, k, &s->labels[k]);
    }
    for (ptrdiff_t i = 0, end = all ? s->n_labels : s->n_awake; i < end; i++) {
        uint32_t k = all ? (uint32_t)i : s->awake[i];
        if (!sp_is_met(w, k) && sp_is_named(w, k))
            sp_multilabel_aim_at(s, table, event, w, u, k, &s->labels[k]);
    }
    for (ptrdiff_t i = 0; i < w->n_targets; i++) {
        uint32_t k = w->targets[i];
        if (k < (size_t)s->n_labels && !all && !sp_is_met(w, k) && s->labels[k].place < 0)
            sp_multilabel_aim_at(s, table, event, w, u, k, &s->labels[k]);
    }
    double wn = w->n_new ? sp_multilabel_all_wn(s) : 0.0;
    for (ptrdiff_t i = 0; i < w->n_new; i++) {
        sp_label label = sp_multilabel_newcomer(s, i, &wn);
        sp_multilabel_aim_at(s, table, event, w, u, (uint32_t)(s->n_labels + i), &label);
    }
    return 0;
}

/* How many entries a row will have. */
static uint32_t sp_multilabel_needed(const sp_sparse_rows *rows, const sp_multilabel_scratch *w,
                                     const sp_sparse *row)
{
    uint32_t n = row->n;
    for (ptrdiff_t j = 0; j < w->n_adds; j++)
        n += sp_row_find(rows, row, w->adds[j]) == NULL;
    return n;
}

SP_PRIVATE void sp_multilabel_release(const sp_table *table, const sp_event *event,
                                      sp_multilabel_scratch *w)
{
    for (ptrdiff_t i = 0; i < event->n; i++) {
        if (w->values[i].block)
            sp_rows_give(sp_rows_of(table), w->values[i].block, w->values[i].size);
        w->values[i].block = 0;
    }
}

SP_PRIVATE int sp_multilabel_reserve(const sp_table *table, const sp_event *event,
                                     sp_multilabel_scratch *w)
{
    const sp_sparse none = {0};
    for (ptrdiff_t i = 0, end = event->n; i < end; i++)
        w->values[i].block = 0;
    for (ptrdiff_t i = 0, end = w->n_adds ? event->n : 0; i < end; i++) {
        sp_counted_value *value = &w->values[i];
        sp_slot_type slot = event->slots[i];
        const sp_sparse *row = &none; /* used for a slot that changes hands, too */
        if (slot == SP_SLOT_NULL)
            continue;
        if (!value->fresh && slot >> SP_CHUNK_BITS < table->n_chunks)
            row = &sp_counted_slot_of(table, slot)->of.row;
        uint32_t n = sp_multilabel_needed(sp_rows_of(table), w, row);
        if (row->block && n <= sp_row_capacity((int)row->size))
            continue;
        value->size = sp_row_size_for(n);
        value->block = sp_rows_take(sp_rows_of(table), value->size);
        if (value->block == 0) {
            sp_multilabel_release(table, event, w);
            return -1;
        }
    }
    return 0;
}

/* Count for F1 the labels with a probability that is not negligible. */
static void sp_multilabel_tally(sp_multilabel *s, const sp_multilabel_scratch *w, double u)
{
    for (ptrdiff_t i = 0, end = w->n_met + s->n_awake; i < end; i++) {
        uint32_t k = i < w->n_met ? w->met[i] : s->awake[i - w->n_met];
        if ((i >= w->n_met && sp_is_met(w, k)) || !sp_is_named(w, k))
            continue;
        double score = i < w->n_met ? w->sums[k].score : s->labels[k].rest;
        if (!(score >= -5.0)) /* not for NaN either, which has no place */
            continue;
        int t = (int)(sp_sigmoid(score) * SP_MULTILABEL_STEPS);
        t = SP_MIN(t, SP_MULTILABEL_STEPS - 1);
        if (t == 0)
            continue;
        s->said[t] += u;
        s->there[t] += sp_is_there(w, k) ? u : 0.0;
    }
    s->positives += u * (double)w->n_there;
    if (s->positives >= SP_MULTILABEL_FULL) {
        s->positives *= 0.5;
        for (int t = 0; t < SP_MULTILABEL_STEPS; t++) {
            s->there[t] *= 0.5;
            s->said[t] *= 0.5;
        }
    }
}

static void sp_multilabel_usual_odds(sp_multilabel *s, const sp_multilabel_scratch *w)
{
    double mean = 0.0;
    if (w->n_met == 0)
        return;
    for (ptrdiff_t i = 0; i < w->n_met; i++)
        mean += fabs(w->sums[w->met[i]].d);
    mean /= (double)w->n_met;
    s->nm = SP_MIN(s->nm + 1.0, 1024.0);
    s->m += (mean - s->m) / s->nm;
}

/* Take one stride. */
static void sp_multilabel_go(sp_multilabel *s, sp_table *table, const sp_event *event,
                             const sp_multilabel_scratch *w, const sp_counted_stride *stride)
{
    const sp_sparse_rows *rows = sp_rows_of(table);
    const sp_label_sums *sums = &w->sums[stride->k];
    sp_label *label = &s->labels[stride->k];
    for (ptrdiff_t i = 0, end = event->n; i < end; i++) {
        if (event->slots[i] == SP_SLOT_NULL)
            continue;
        sp_sparse *row = &sp_counted_slot_of(table, event->slots[i])->of.row;
        sp_entry *entry = stride->wide ? sp_row_insert(rows, row, stride->k)
                                       : sp_row_find(rows, row, stride->k);
        if (entry == NULL)
            continue;
        double X = sp_label_sums_h(sums, &w->values[i], entry->c) * sums->r;
        entry->G = (float)(entry->G * stride->kept + stride->q * (X * X));
        entry->w = (float)(entry->w + (stride->f * X) / sqrt(entry->G + SP_P0));
    }
    label->G0 = label->G0 * stride->kept + stride->q;
    label->w0 += stride->f / sqrt(label->G0 + SP_P0);
    label->Gn += stride->q * (sums->V * sums->V);
    label->wn += (stride->f * sums->V) / sqrt(label->Gn + 1.0);
    sp_multilabel_settle_label(s, stride->k);
}

/* Update the counts of a feature. */
static void sp_multilabel_count(const sp_multilabel *s, const sp_sparse_rows *rows,
                                sp_counted_slot *counted, const sp_multilabel_scratch *w, double x,
    double v, double u)
{
    sp_sparse *row = &counted->of.row;
    double halved = sp_count(&counted->head, x, u, s->T + 2.0);
    counted->of.N = (counted->of.N + u * v) * halved;
    for (ptrdiff_t j = 0; j < w->n_there; j++) {
        sp_entry *entry = sp_row_insert(rows, row, w->targets[j]);
        entry->c = (float)((entry->c + u * v) * halved);
    }
    if (halved == 1.0)
        return;
    sp_entry *entries = sp_row_entries(rows, row);
    for (uint32_t i = 0; i < row->n; i++) {
        if (!sp_is_there(w, entries[i].k))
            entries[i].c = (float)(entries[i].c * halved);
    }
}

SP_PRIVATE void sp_multilabel_learn(sp_multilabel *s, sp_table *table, const sp_event *event,
                                    sp_multilabel_scratch *w, double u)
{
    sp_sparse_rows *rows = sp_rows_of(table);
    double wn = w->n_new ? sp_multilabel_all_wn(s) : 0.0;
    for (ptrdiff_t i = 0, end = event->n; i < end; i++) {
        if (w->values[i].block)
            sp_row_move(rows, &sp_counted_slot_of(table, event->slots[i])->of.row,
                        w->values[i].block, w->values[i].size);
        w->values[i].block = 0;
    }
    sp_multilabel_tally(s, w, u);
    sp_multilabel_usual_odds(s, w);
    for (ptrdiff_t i = 0; i < w->n_new; i++) {
        s->labels[s->n_labels + i] = sp_multilabel_newcomer(s, i, &wn);
        sp_multilabel_settle_label(s, s->n_labels + i);
    }
    s->n_labels += w->n_new;
    for (ptrdiff_t i = 0; i < w->n_strides; i++)
        sp_multilabel_go(s, table, event, w, &w->strides[i]);
    s->T += u;
    for (ptrdiff_t i = 0; i < w->n_there; i++)
        s->labels[w->targets[i]].D += u;
    for (ptrdiff_t i = 0, end = event->n; i < end; i++) {
        if (event->slots[i] != SP_SLOT_NULL)
            sp_multilabel_count(s, rows, sp_counted_slot_of(table, event->slots[i]), w,
                                event->values[i], w->values[i].v, u);
    }
    for (ptrdiff_t k = 0, end = w->open ? s->n_labels : 0; k < end; k++) {
        if (w->sums[k].named != w->word)
            s->labels[k].left += u;
    }
}
