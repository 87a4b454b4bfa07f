#include "many/many.h"

#include "features/loops.h"

#include <math.h>
#include <string.h>

#define SP_PRODUCT_LARGE 0x1p500 /* the exponent of a larger product is moved */

/* Whether the entries of a row, which is in a file, belong to existing labels. */
static bool sp_many_is_row(const sp_sparse_rows *rows, const sp_sparse *row, ptrdiff_t n_labels)
{
    const sp_entry *entries = sp_row_entries(rows, row);
    bool good = entries != NULL;
    for (uint32_t i = 0; good && i < row->n; i++)
        good = entries[i].k < (size_t)n_labels;
    return good;
}

/* Move the exponent of one of the products p to E. */
static void sp_many_shorten(sp_many_scratch *w, double *P, uint32_t at)
{
    ptrdiff_t exponent = 0;
    if (!w->shortened)
        memset(w->E, 0, (size_t)w->labels_room * sizeof(double));
    w->shortened = true;
    *P = sp_fraction(*P, &exponent);
    w->E[at] += (double)exponent;
}

/* Add the numbers in a feature's row. Whether a label was met before is unpredictable, so there is
   no branch: a new label's sums begin at the next place, where 0 and 1 have been written. */
static void sp_many_hear(sp_many_scratch *w, const sp_entry *entries, uint32_t n, double h,
                         double t)
{
    const uint64_t turn = (uint64_t)w->turn << 32;
    uint64_t *const spots = w->spots;
    uint32_t *const met = w->met;
    double *const dot = w->score;
    double *const P = w->p;
    uint32_t n_met = (uint32_t)w->n_met;
    const ptrdiff_t begun = SP_MIN(w->n_met + (ptrdiff_t)n, w->labels_room);
    for (; w->n_begun < begun; w->n_begun++) {
        dot[w->n_begun] = 0.0;
        P[w->n_begun] = 1.0;
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t k = entries[i].k;
        const uint64_t next = turn | n_met;
        const uint64_t fresh = (spots[k] ^ turn) >> 32 != 0;
        const uint64_t spot = spots[k] ^ ((spots[k] ^ next) & (0 - fresh));
        const uint32_t at = (uint32_t)spot;
        spots[k] = spot;
        met[n_met] = k;
        n_met += (uint32_t)fresh;
        dot[at] += (double)entries[i].w * h;
        P[at] *= 1.0 + (double)entries[i].c * t;
        if (P[at] > SP_PRODUCT_LARGE)
            sp_many_shorten(w, &P[at], at);
    }
    w->n_met = n_met;
}

/* Prefetch what is read first of a row of n entries: every fourth entry begins a cache line.
   Counting the lines would cost more than prefetching one of them twice. */
SP_TEMPLATE void sp_many_ask_for(const sp_entry *entries, uint32_t n)
{
    sp_prefetch(entries);
    sp_prefetch(entries + SP_MIN(n, 5u) - 1);
    sp_prefetch(entries + SP_MIN(n, 9u) - 1);
    sp_prefetch(entries + SP_MIN(n, 13u) - 1);
    sp_prefetch(entries + SP_MIN(n, 18u) - 1);
}

/* The row of entry i; NULL if it has no entries, or if learning cannot have made it. Prefetches the
   rows of entries to come. */
SP_TEMPLATE const sp_sparse *sp_many_row_of(const sp_learner *learner, const sp_slot_type *slots,
                                            ptrdiff_t i, sp_many_scratch *w)
{
    const sp_sparse_rows *rows = sp_many_rows(&learner->table);
    double *const *heads = learner->table.blocks->chunks;
    const sp_sparse *row = &sp_head_of(heads, slots[i])->row;
    if (i + SP_AHEAD < w->weighed.n) {
        const sp_sparse *ahead = &sp_head_of(heads, slots[i + SP_AHEAD])->row;
        if (ahead->block && !rows->borrowed)
            sp_many_ask_for(sp_rows_at(rows, ahead->block), ahead->n);
    }
    if (row->n == 0)
        return NULL;
    if (rows->borrowed && !sp_many_is_row(rows, row, learner->adaptive.n_labels)) {
        w->damaged = true;
        return NULL;
    }
    return row;
}

/* Add all rows of the event. */
static void sp_many_hear_rows(const sp_learner *learner, const sp_slot_type *slots,
                              sp_many_scratch *w)
{
    const sp_sums *sums = &w->weighed.sums;
    sp_entry room[SP_DENSE_MOST];
    w->n_begun = 0;
    for (ptrdiff_t i = 0; i < w->weighed.n; i++) {
        const sp_sparse *row = sp_many_row_of(learner, slots, i, w);
        w->rows[i].fresh = slots[i] == SP_SLOT_NULL;
        if (row != NULL)
            sp_many_hear(w, sp_row_look(sp_many_rows(&learner->table), row, room), row->n,
                         sums->h[i], sums->t[i]);
    }
}

/* --- Few labels: each has its own place */

/* Add the numbers in a feature's row to sums by label. Returns the labels that it has. */
SP_TEMPLATE uint64_t sp_few_hear(const sp_sparse_rows *rows, const sp_sparse *row, double h,
                                 double t, double *dot, double *P, ptrdiff_t lanes)
{
    const uint32_t n = row->n;
    uint64_t labels = 0;
    if (row->dense) {
        const sp_dense dense = sp_dense_of(rows, row);
        sp_dense_hear(&dense, SP_MIN(lanes, (ptrdiff_t)dense.lanes), h, t, dot, P);
        return *dense.labels;
    }
    const sp_entry *entries = sp_rows_at(rows, row->block);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t k = entries[i].k;
        labels |= (uint64_t)1 << k;
        dot[k] += (double)entries[i].w * h;
        P[k] *= 1.0 + (double)entries[i].c * t;
    }
    return labels;
}

/* Move the exponents of large products to E. */
SP_TEMPLATE void sp_few_shorten(double *P, double *E, ptrdiff_t n)
{
    for (ptrdiff_t k = sp_met_from(P, 0, n, SP_PRODUCT_LARGE); k < n; k++) {
        if (P[k] > SP_PRODUCT_LARGE) {
            ptrdiff_t exponent = 0;
            P[k] = sp_fraction(P[k], &exponent);
            E[k] += (double)exponent;
        }
    }
}

/* Add all rows of the event, as above. Products are checked after every fourth row, or sixteenth: a
   row makes them at most 1 + T / 3 times as large, so none can become infinite in between. */
SP_AVX2_UNLESS_SMALL(void, sp_few_hear_rows,
         (const sp_learner *learner, const sp_slot_type *slots, sp_many_scratch *w),
                     (learner, slots, w))
{
    const ptrdiff_t n_labels = learner->adaptive.n_labels;
    const ptrdiff_t lanes = (n_labels + 3) / 4 * 4;
    const sp_sums *sums = &w->weighed.sums;
    double dot[SP_MANY_FEW], P[SP_MANY_FEW], E[SP_MANY_FEW];
    uint64_t met = 0;
    const ptrdiff_t often = learner->adaptive.T < 0x1p28 ? 15 : 3;
    for (ptrdiff_t k = 0; k < lanes; k++) {
        dot[k] = E[k] = 0.0;
        P[k] = 1.0;
    }
    for (ptrdiff_t i = 0; i < w->weighed.n; i++) {
        const sp_sparse *row = sp_many_row_of(learner, slots, i, w);
        uint64_t labels = 0;
        if (row != NULL)
            labels = sp_few_hear(sp_many_rows(&learner->table), row, sums->h[i], sums->t[i], dot,
                                 P, lanes);
        w->rows[i].labels = labels;
        w->rows[i].thick = row != NULL && !row->dense && row->n >= w->thick;
        w->rows[i].fresh = slots[i] == SP_SLOT_NULL;
        for (uint64_t fresh = labels & ~met; fresh; fresh &= fresh - 1)
            w->met[w->n_met++] = (uint32_t)sp_zeros_below(fresh);
        met |= labels;
        if ((i & often) == often)
            sp_few_shorten(P, E, n_labels);
    }
    w->shortened = true;
    for (ptrdiff_t i = 0; i < w->n_met; i++) {
        const uint32_t k = w->met[i];
        w->spots[k] = (uint64_t)w->turn << 32 | (uint64_t)i;
        w->score[i] = dot[k];
        w->p[i] = P[k];
        w->E[i] = E[k];
    }
}

/* z of the labels that were met; and the largest, or 0. */
static void sp_many_ask_naive_bayes(const sp_adaptive *a, sp_many_scratch *w)
{
    const sp_priors priors = {sp_one_log(1.0 + a->T / (double)a->n_labels / 3.0), sp_many_rare(a),
                              (double)SP_MAX(w->weighed.sums.used - 1, (ptrdiff_t)0)};
    for (ptrdiff_t i = 0; i < w->n_met; i++) {
        w->V[i] = a->lnD[w->met[i]];
        w->leaf[i] = a->D[w->met[i]];
    }
    if (!w->shortened)
        memset(w->E, 0, (size_t)w->n_met * sizeof(double));
    sp_logs(w->p, w->E, w->V, w->leaf, &priors, w->z, w->n_met);
    w->largest = sp_met_most(w->z, w->n_met, 0.0);
}

/* The label with the largest score, of equal ones the first. */
static ptrdiff_t sp_many_top(const sp_learner *learner, const sp_many_scratch *w)
{
    const sp_adaptive *a = &learner->adaptive;
    ptrdiff_t top = -1;
    double best = w->n_met ? sp_met_most(w->score, w->n_met, w->score[0]) : a->many.tree[1].most;
    for (ptrdiff_t i = sp_met_from(w->score, 0, w->n_met, best); i < w->n_met;
         i = sp_met_from(w->score, i + 1, w->n_met, best))
        top = top < 0 ? (ptrdiff_t)w->met[i] : SP_MIN(top, (ptrdiff_t)w->met[i]);
    if (top < 0 && w->n_met)
        top = w->met[0]; /* its score is NaN, which only a damaged file can cause */
    double least = best;
    ptrdiff_t k = w->n_met < a->n_labels ? sp_tree_from(&learner->adaptive.many, 0, least) : -1;
    while (k >= 0) {
        if (!sp_many_met(w, k) && (top < 0 || a->w0[k] > best || k < top)) {
            best = a->w0[k];
            least = nextafter(best, INFINITY);
            top = k;
        }
        k = sp_tree_from(&learner->adaptive.many, k + 1, least);
    }
    return top;
}

/* Curves and surfaces, which need all labels. */
static void sp_many_shape(const sp_adaptive *a, sp_many_scratch *w)
{
    sp_shaped *shaped = &w->weighed.shaped;
    const sp_shaping of = sp_adaptive_shaping(a);
    for (ptrdiff_t k = 0; k < a->n_labels; k++)
        shaped->line[k] = sp_many_line_of(a, w, k);
    sp_shapes_answer(&a->shapes, &of, shaped);
    if (!shaped->has)
        return;
    const double best = sp_met_most(shaped->final, a->n_labels, shaped->final[0]);
    const ptrdiff_t top = sp_met_from(shaped->final, 0, a->n_labels, best);
    w->weighed.top = top < a->n_labels ? top : 0; /* NaN, which only a damaged file can cause */
}

SP_PRIVATE void sp_many_answer(const sp_learner *learner, const sp_event *event, sp_many_scratch *w)
{
    const sp_adaptive *a = &learner->adaptive;
    sp_adaptive_scratch *weighed = &w->weighed;
    const double m = a->m > 0.0 ? a->m : 1.0;
    sp_adaptive_scratch_settle(weighed);
    if (weighed->n && !a->naive_bayes)
        memset(weighed->sums.t, 0, (size_t)weighed->n * sizeof(double));
    w->turn += 1;
    if (w->turn == 0) {
        memset(w->spots, 0, (size_t)w->labels_room * sizeof(uint64_t));
        w->turn = 1;
    }
    w->n_met = 0;
    w->shortened = w->damaged = false;
    w->few = a->n_labels < SP_MANY_FEW && learner->index.bits == 0; /* even with one more */
    w->thick = w->few ? sp_dense_from(a->n_labels) : UINT32_MAX;
    (a->n_labels <= SP_MANY_FEW ? sp_few_hear_rows : sp_many_hear_rows)(
        learner, sp_adaptive_scratch_slots(weighed, event), w);
    w->largest = 0.0;
    w->decided = false;
    if (a->naive_bayes)
        sp_many_ask_naive_bayes(a, w);
    else
        memset(w->z, 0, (size_t)w->n_met * sizeof(double));
    for (ptrdiff_t i = 0; i < w->n_met; i++) {
        const sp_branch *leaf = &a->many.tree[a->many.room + w->met[i]];
        w->E[i] = leaf->most; /* w0; 0 without an intercept */
        w->leaf[i] = leaf->sum;
    }
    const sp_contrast contrast = {w->largest, m, weighed->r, a->wn};
    sp_met_scores(w->z, &contrast, w->E, w->V, w->plain, w->score, w->n_met);
    weighed->top = w->line_top = sp_many_top(learner, w);
    if (a->shapes.n_columns)
        sp_many_shape(a, w);
}

/* The best label without an alarm; -1: there is none. */
static ptrdiff_t sp_many_top_free(const sp_adaptive *a, const sp_many_scratch *w)
{
    ptrdiff_t top = -1;
    for (ptrdiff_t k = 0; k < a->n_labels; k++) {
        if ((top < 0 || sp_many_score_of(a, w, k) > sp_many_score_of(a, w, top))
            && sp_alarms_find(&a->alarms, k) == NULL)
            top = k;
    }
    return top;
}

SP_PRIVATE ptrdiff_t sp_many_best(const sp_learner *learner, const sp_many_scratch *w)
{
    const sp_adaptive *a = &learner->adaptive;
    const double tempering = sp_tempering(a);
    ptrdiff_t best = w->weighed.top;
    if (a->alarms.n == 0)
        return best;
    if (sp_alarms_find(&a->alarms, best) != NULL)
        best = sp_many_top_free(a, w);
    double ahead = best < 0 ? -INFINITY : sp_many_score_of(a, w, best) * tempering;
    for (ptrdiff_t i = 0; i < a->alarms.n; i++) {
        const sp_alarm *alarm = &a->alarms.of[i];
        const ptrdiff_t k = alarm->label;
        if (k < 0 || k >= a->n_labels)
            continue;
        const double its
            = sp_many_score_of(a, w, k) * tempering - sp_alarm_bar(alarm, learner->n_seen);
        if (best < 0 || its > ahead || (its == ahead && k < best)) {
            ahead = its;
            best = k;
        }
    }
    return best;
}

SP_PRIVATE void sp_many_probabilities(const sp_adaptive *a, const sp_many_scratch *w, double *p)
{
    const double scale = sp_tempering(a) * a->tau;
    double total = 0.0;
    for (ptrdiff_t k = 0; k < a->n_labels; k++)
        p[k] = sp_many_score_of(a, w, k);
    sp_exps(p, scale, p[w->weighed.top] * scale, w->E, a->n_labels);
    for (ptrdiff_t k = 0; k < a->n_labels; k++)
        total += w->E[k];
    for (ptrdiff_t k = 0; k < a->n_labels; k++)
        p[k] = w->damaged ? NAN : w->E[k] / total;
}

SP_RARE SP_PRIVATE double sp_many_share(const sp_learner *learner, const sp_many_scratch *w,
                                        ptrdiff_t k, ptrdiff_t i, const sp_event *event)
{
    const sp_adaptive *a = &learner->adaptive;
    const sp_adaptive_scratch *weighed = &w->weighed;
    const double scale = sp_tempering(a);
    const double z = sp_many_met(w, k) && a->naive_bayes ? w->z[sp_many_at(w, k)] : 0.0;
    double bayes = 0.0; /* naive Bayes' value, for each 1 in z */
    double rarity = 0.0;
    if (z != 0.0) {
        bayes = a->wn * w->V[sp_many_at(w, k)] / z * (a->D[k] / (a->D[k] + sp_many_rare(a)));
        rarity = a->lnD[k] - sp_one_log(1.0 + a->T / (double)a->n_labels / 3.0);
    }
    if (i < 0) /* rarity counts for one feature fewer than there are */
        return ((a->intercept ? a->w0[k] : 0.0) + bayes * rarity) * scale;
    const sp_entry entry = sp_many_entry(&learner->table,
                                         sp_adaptive_scratch_slots(weighed, event)[i], k);
    double share = (double)entry.w * (weighed->sums.h[i] * weighed->r);
    double t = weighed->sums.t[i];
    if (t > 0.0 && z != 0.0)
        share += bayes * (sp_one_log(1.0 + (double)entry.c * t) - rarity);
    return share * scale;
}

SP_PRIVATE double sp_many_count_of(const sp_entry *entries, uint32_t n)
{
    double all[4] = {0.0, 0.0, 0.0, 0.0};
    for (uint32_t i = 0; i < n; i++)
        all[i % 4] += (double)entries[i].c;
    return sp_lanes_sum(all);
}

SP_PRIVATE bool sp_many_adds_up(const sp_entry *entries, uint32_t n, double N)
{
    const double way = sp_many_count_of(entries, n) - N;
    double all = 0.0;
    for (uint32_t i = 0; i < n; i++)
        all += fabs((double)entries[i].c);
    return fabs(way) <= all * 0x1p-30;
}

SP_PRIVATE void sp_many_sums(const sp_sparse_rows *rows, const sp_sparse *row, const double *rD,
                             double *sum, double *squares)
{
    sp_row_sums(rows, row, rD, sum, squares);
}

SP_PRIVATE double sp_many_largest(const sp_sparse_rows *rows, const sp_sparse *row)
{
    sp_entry room[SP_DENSE_MOST];
    const sp_entry *entries = sp_row_look(rows, row, room);
    double largest = 0.0;
    for (uint32_t i = 0; i < row->n; i++)
        largest = SP_MAX(largest, fabs((double)entries[i].w));
    return largest;
}
