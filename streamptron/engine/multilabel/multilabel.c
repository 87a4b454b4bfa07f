#include "multilabel/multilabel.h"

#include "math/logs.h"
#include "memory/grow.h"
#include "memory/heap.h"
#include "rows/marks.h"

#define SP_MULTILABEL_ASLEEP (-5.0) /* a rest at which an event of weight 1 makes no step */
#define SP_MULTILABEL_LEAST 0x1p-126 /* the least N that naive Bayes uses: below it, c is inexact */
#define SP_MULTILABEL_LARGE 0x1p500 /* the exponent of a larger product is moved */

/* --- Making and freeing */

static int sp_multilabel_tallies(sp_multilabel *s)
{
    s->there = (double *)sp_calloc(2 * SP_MULTILABEL_STEPS, sizeof(double));
    s->said = s->there == NULL ? NULL : s->there + SP_MULTILABEL_STEPS;
    return s->there == NULL ? -1 : 0;
}

SP_PRIVATE int sp_multilabel_init(sp_multilabel *s, double eta, double forget)
{
    s->eta = eta;
    s->forget = forget;
    return sp_multilabel_tallies(s);
}

SP_RARE SP_PRIVATE void sp_multilabel_free(sp_multilabel *s)
{
    sp_free(s->labels);
    sp_free(s->awake);
    sp_free(s->there);
    s->labels = NULL;
    s->awake = NULL;
    s->there = s->said = NULL;
    s->room = s->n_labels = s->n_awake = 0;
}

SP_PRIVATE int sp_multilabel_room(sp_multilabel *s, ptrdiff_t n)
{
    ptrdiff_t room = n + n / 2 + 8;
    if (n <= s->room)
        return 0;
    const sp_growing all[] = {
        SP_GROWING(s->awake, room),
        SP_GROWING(s->labels, room),
    };
    if (sp_grow_all(all, 2) < 0)
        return -1;
    memset(s->labels + s->room, 0, (size_t)(room - s->room) * sizeof(sp_label));
    for (ptrdiff_t k = s->room; k < room; k++)
        s->labels[k].place = -1;
    s->room = room;
    return 0;
}

SP_RARE SP_PRIVATE int sp_multilabel_copy(sp_multilabel *to, const sp_multilabel *other)
{
    *to = *other;
    to->labels = NULL;
    to->awake = NULL;
    to->room = 0;
    if (sp_multilabel_tallies(to) < 0 || sp_multilabel_room(to, other->n_labels) < 0) {
        to->n_labels = to->n_awake = 0;
        return -1;
    }
    memcpy(to->there, other->there, 2 * SP_MULTILABEL_STEPS * sizeof(double));
    if (other->n_labels)
        memcpy(to->labels, other->labels, (size_t)other->n_labels * sizeof(sp_label));
    if (other->n_awake)
        memcpy(to->awake, other->awake, (size_t)other->n_awake * sizeof(uint32_t));
    return 0;
}

SP_API void sp_multilabel_settle_label(sp_multilabel *s, ptrdiff_t k)
{
    sp_label *label = &s->labels[k];
    label->rest = label->w0 + label->wn * -2.0;
    if ((label->rest > SP_MULTILABEL_ASLEEP) == (label->place >= 0))
        return;
    if (label->place < 0) {
        label->place = s->n_awake;
        s->awake[s->n_awake] = (uint32_t)k;
        s->n_awake += 1;
        return;
    }
    s->n_awake -= 1;
    s->awake[label->place] = s->awake[s->n_awake];
    s->labels[s->awake[label->place]].place = label->place;
    label->place = -1;
}

SP_RARE static void sp_multilabel_scratch_free(sp_scratch_head *head)
{
    sp_multilabel_scratch *w = (sp_multilabel_scratch *)(void *)head;
    sp_free(w->values);
    sp_free(w->sums);
    sp_free(w->met);
    sp_free(w->targets);
    sp_free(w->strides);
    sp_free(w->adds);
}

static size_t sp_multilabel_scratch_bytes(const sp_scratch_head *head)
{
    const sp_multilabel_scratch *w = (const sp_multilabel_scratch *)(const void *)head;
    return sizeof(sp_multilabel_scratch) + (size_t)w->values_room * sizeof(sp_counted_value)
           + (size_t)w->sums_room * (sizeof(sp_label_sums) + sizeof(uint32_t))
           + (size_t)w->targets_room * sizeof(uint32_t)
           + (size_t)w->strides_room * (sizeof(sp_counted_stride) + sizeof(uint32_t));
}

static const sp_scratch_kind sp_multilabel_scratch_kind = {
    .size = sizeof(sp_multilabel_scratch),
    .bytes = sp_multilabel_scratch_bytes,
    .free = sp_multilabel_scratch_free,
};

SP_PRIVATE int sp_multilabel_scratch_reserve(sp_event *event, ptrdiff_t n, ptrdiff_t labels)
{
    sp_scratch_head *head = sp_event_scratch(event, &sp_multilabel_scratch_kind);
    sp_multilabel_scratch *w = (sp_multilabel_scratch *)(void *)head;
    ptrdiff_t room;
    if (w == NULL)
        return -1;
    if (n > w->values_room) {
        room = n + n / 2 + 16;
        if (SP_GROW(w->values, room) < 0)
            return -1;
        w->values_room = room;
    }
    if (labels > w->sums_room) {
        room = labels + labels / 2 + 8;
        const sp_growing all[] = {
            SP_GROWING(w->met, room),
            SP_GROWING(w->sums, room),
        };
        if (sp_grow_all(all, 2) < 0)
            return -1;
        memset(w->sums + w->sums_room, 0, (size_t)(room - w->sums_room) * sizeof(sp_label_sums));
        w->sums_room = room;
    }
    return 0;
}

/* --- The answer */

/* What is subtracted from the value of a feature that varies: 1 if it is in every event. `events`
   is 1 / (T + 1). */
static double sp_usual(const sp_head *head, double x, double events)
{
    double share = (double)head->cnt * events;
    if (signbit(head->s) || x < 0.0)
        return 0.0;
    if (share > 1.0 || (double)head->cnt >= SP_COUNT_HALF)
        return 1.0;
    share *= share;
    return share * share;
}

/* The event's features: all that does not depend on labels. */
static void sp_multilabel_values(const sp_multilabel *s, const sp_table *table,
                                 const sp_event *event, sp_multilabel_scratch *w)
{
    const double events = 1.0 / (s->T + 1.0);
    w->heft = w->at = 0.0;
    w->used = 0;
    for (ptrdiff_t i = 0, end = event->n; i < end; i++) {
        const sp_counted_slot *counted = sp_counted_slot_of(table, event->slots[i]);
        const sp_head *head = &counted->head;
        sp_counted_value *value = &w->values[i];
        double x = event->values[i];
        double a = fabs(x);
        double mean = fabs(head->s);
        if (i + SP_AHEAD < end)
            sp_prefetch(sp_counted_slot_of(table, event->slots[i + SP_AHEAD]));
        value->known = 1.0 / (head->cnt + 1.0);
        if (a == mean) /* if the value is always the same, the mean stays exactly so */
            value->a = value->v = x > 0.0 ? 1.0 : -1.0;
        else {
            value->v = sp_clip(x / sp_moved(mean, a, value->known), SP_MOST);
            value->a = value->v - sp_usual(head, x, events);
        }
        value->heft = value->a * value->a;
        if (!(value->heft > 1.0))
            value->heft = 1.0;
        value->N = counted->of.N;
        double seen = value->N * value->known;
        value->at = value->heft * (seen * seen);
        w->heft += value->heft;
        w->at += value->at;
        value->t = 0.0;
        if (value->N >= SP_MULTILABEL_LEAST && !signbit(head->s) && x > 0.0) {
            value->t = s->T / value->N;
            w->used += 1;
        }
    }
}

SP_PRIVATE void sp_label_sums_open(const sp_multilabel *s, const sp_label *label,
                                   sp_label_sums *sums)
{
    double known = s->T - label->left;
    double absent = SP_MAX(0.0, known - label->D);
    sums->f = s->T > 0.0 ? known / s->T : 1.0;
    sums->share = (label->D + 1.0) / (known + 2.0) * sums->f;
    sums->inverse = ((known + 2.0) / (label->D + 1.0)) * ((known + 2.0) / (absent + 1.0));
    sums->dot = sums->apart = sums->at = 0.0;
    sums->P[0] = sums->P[1] = 1.0;
    sums->E[0] = sums->E[1] = 0;
    sums->used = 0;
}

SP_PRIVATE double sp_label_sums_scale(const sp_multilabel_scratch *w, const sp_label_sums *sums)
{
    double apart = sums->apart + (sums->share * sums->share) * (w->at - sums->at);
    double squares = w->heft * SP_EPS + sums->inverse * apart;
    return squares > 0.0 ? 1.0 / sqrt(squares) : 0.0;
}

/* Add the numbers in one feature's entries. */
static void sp_multilabel_walk(const sp_multilabel *s, sp_multilabel_scratch *w,
                               const sp_counted_value *value, const sp_entry *entries, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const sp_entry *entry = &entries[i];
        sp_label_sums *sums = &w->sums[entry->k];
        if (sums->seen != w->turn) {
            sp_label_sums_open(s, &s->labels[entry->k], sums);
            sums->seen = w->turn;
            w->met[w->n_met] = entry->k;
            w->n_met += 1;
        }
        double c = entry->c;
        double apart = (c - sums->share * value->N) * value->known;
        sums->dot += entry->w * sp_label_sums_h(sums, value, c);
        sums->apart += value->heft * (apart * apart);
        sums->at += value->at;
        if (value->t > 0.0) {
            double against = sums->f * value->N - c;
            sums->P[0] *= 1.0 + c * value->t;
            sums->P[1] *= 1.0 + (against > 0.0 ? against : 0.0) * value->t;
            sums->used += 1;
            if (sums->P[0] > SP_MULTILABEL_LARGE || sums->P[1] > SP_MULTILABEL_LARGE) {
                sums->P[0] = sp_fraction(sums->P[0], &sums->E[0]);
                sums->P[1] = sp_fraction(sums->P[1], &sums->E[1]);
            }
        }
    }
}

/* The score of a label that has been met. */
static void sp_multilabel_conclude(const sp_multilabel *s, const sp_multilabel_scratch *w,
                                   const sp_label *label, sp_label_sums *sums)
{
    double known = s->T - label->left;
    double absent = SP_MAX(0.0, known - label->D);
    double log_odds = sp_log((label->D + 1.0) / (absent + 1.0));
    double log_known = label->left == 0.0 ? w->log_all : sp_log(known + 1.0);
    double m = s->m > 0.0 ? s->m : 1.0;
    sums->r = sp_label_sums_scale(w, sums);
    sums->P[0] = sp_fraction(sums->P[0], &sums->E[0]);
    sums->P[1] = sp_fraction(sums->P[1], &sums->E[1]);
    sums->d = sp_log(sums->P[0] / sums->P[1]) + (double)(sums->E[0] - sums->E[1]) * SP_LN2;
    sums->d = (sums->d - (double)(w->used - sums->used) * log_known)
              - ((double)w->used - 1.0) * log_odds;
    sums->V = sp_clip(sums->d / m, 2.0);
    sums->score = (sums->dot * sums->r + label->w0) + label->wn * sums->V;
}

SP_PRIVATE void sp_multilabel_answer(const sp_multilabel *s, const sp_table *table,
                                     const sp_event *event, sp_multilabel_scratch *w)
{
    const sp_sparse_rows *rows = sp_rows_of(table);
    w->turn += 1;
    w->n_met = 0;
    w->log_all = sp_one_log(s->T + 1.0);
    sp_multilabel_values(s, table, event, w);
    for (ptrdiff_t i = 0, end = event->n; i < end; i++) {
        const sp_sparse *row = &sp_counted_slot_of(table, event->slots[i])->of.row;
        w->values[i].fresh = event->slots[i] == SP_SLOT_NULL;
        if (i + 1 < end) {
            const sp_sparse *next = &sp_counted_slot_of(table, event->slots[i + 1])->of.row;
            if (next->block)
                sp_prefetch(sp_rows_at(rows, next->block));
        }
        sp_multilabel_walk(s, w, &w->values[i], sp_row_entries(rows, row), row->n);
    }
    for (ptrdiff_t i = 0; i < w->n_met; i++)
        sp_multilabel_conclude(s, w, &s->labels[w->met[i]], &w->sums[w->met[i]]);
}

static bool sp_is_count(double number)
{
    return number >= 0.0 && number <= SP_VALUE_LIMIT;
}

SP_RARE SP_PRIVATE bool sp_label_is_sound(const sp_multilabel *s, const sp_label *label)
{
    return sp_is_count(label->D) && sp_is_count(label->left) && sp_is_count(label->G0)
           && sp_is_count(label->Gn) && fabs(label->w0) <= SP_VALUE_LIMIT
           && fabs(label->wn) <= SP_VALUE_LIMIT && label->left <= s->T;
}
