#include "many/many.h"

#include <math.h>
#include <string.h>

#define SP_ACCOUNT_LARGE 0x1p500 /* of a product, whose exponent is moved then */

/* Whether the entries of a row that lies in a file are of labels. */
static bool sp_many_is_row(const sp_sparse_rows *rows, const sp_sparse *row, ptrdiff_t n_labels)
{
    const sp_entry *entries = sp_row_entries(rows, row);
    bool good = entries != NULL;
    for (uint32_t i = 0; good && i < row->n; i++)
        good = entries[i].k < (size_t)n_labels;
    return good;
}

/* Add what a feature's row says. */
static void sp_many_hear(sp_met *w, const sp_entry *entries, uint32_t n, double h, double t)
{
    const uint64_t turn = w->turn;
    for (uint32_t i = 0; i < n; i++) {
        sp_account *account = &w->accounts[entries[i].k];
        if (account->turn != turn) {
            account->turn = turn;
            account->dot = 0.0;
            account->P = 1.0;
            account->E = 0;
            account->at = (uint32_t)w->n_met;
            w->met[w->n_met++] = entries[i].k;
        }
        account->dot += (double)entries[i].w * h;
        account->P *= 1.0 + (double)entries[i].c * t;
        if (account->P > SP_ACCOUNT_LARGE) {
            ptrdiff_t exponent = account->E;
            account->P = sp_fraction(account->P, &exponent);
            account->E = (int32_t)exponent;
        }
    }
}

/* All rows of the event. */
static void sp_many_hear_all(const sp_table *table, ptrdiff_t n_labels, const sp_event *event,
                             sp_met *w)
{
    const sp_weighed *weighed = &w->weighed;
    const sp_slot_type *slots = sp_weighed_slots(weighed, event);
    const sp_sparse_rows *rows = sp_many_rows(table);
    double *const *heads = table->blocks->chunks;
    w->turn += 1;
    w->n_met = 0;
    w->damaged = false;
    for (ptrdiff_t i = 0; i < weighed->n; i++) {
        const sp_sparse *row = &sp_head_of(heads, slots[i])->row;
        if (i + SP_AHEAD < weighed->n) {
            const sp_sparse *ahead = &sp_head_of(heads, slots[i + SP_AHEAD])->row;
            if (ahead->block && !rows->borrowed)
                sp_prefetch(sp_rows_at(rows, ahead->block));
        }
        if (rows->borrowed && row->n && !sp_many_is_row(rows, row, n_labels))
            w->damaged = true;
        else if (row->n)
            sp_many_hear(w, sp_rows_at(rows, row->block), row->n, weighed->sums.h[i],
                         weighed->sums.t[i]);
    }
}

/* z of the labels that were met; and the largest, or 0. */
static void sp_many_ask_naive_bayes(const sp_adaptive *a, sp_met *w)
{
    double prior = sp_log(1.0 + a->T / (double)a->n_labels / 3.0);
    for (ptrdiff_t i = 0; i < w->n_met; i++) {
        sp_account *account = &w->accounts[w->met[i]];
        ptrdiff_t exponent = account->E;
        w->p[i] = sp_fraction(account->P, &exponent);
        w->E[i] = (double)exponent;
        w->V[i] = a->lnD[w->met[i]] - prior;
    }
    sp_logs(w->p, w->E, w->V, (double)w->weighed.sums.used, w->z, w->n_met);
    for (ptrdiff_t i = 0; i < w->n_met; i++)
        w->largest = w->z[i] > w->largest ? w->z[i] : w->largest;
}

/* The label of the largest score, of equals the first. */
static ptrdiff_t sp_many_top(const sp_learner *learner, const sp_met *w)
{
    const sp_adaptive *a = &learner->adaptive;
    ptrdiff_t top = -1;
    double best = learner->adaptive.many.tree[1].most;
    for (ptrdiff_t i = 0; i < w->n_met; i++) {
        if (i == 0 || w->score[i] > best || (w->score[i] == best && (ptrdiff_t)w->met[i] < top)) {
            best = w->score[i];
            top = w->met[i];
        }
    }
    double least = best;
    ptrdiff_t k = sp_tree_from(&learner->adaptive.many, 0, least);
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

SP_PRIVATE void sp_many_answer(const sp_learner *learner, const sp_event *event, sp_met *w)
{
    const sp_adaptive *a = &learner->adaptive;
    sp_weighed *weighed = &w->weighed;
    const double m = a->m > 0.0 ? a->m : 1.0;
    sp_weighed_settle(weighed);
    if (weighed->n && !a->naive_bayes)
        memset(weighed->sums.t, 0, (size_t)weighed->n * sizeof(double));
    sp_many_hear_all(&learner->table, a->n_labels, event, w);
    w->largest = 0.0;
    w->decided = false;
    if (a->naive_bayes)
        sp_many_ask_naive_bayes(a, w);
    for (ptrdiff_t i = 0; i < w->n_met; i++) {
        ptrdiff_t k = w->met[i];
        double score = w->accounts[k].dot * weighed->r;
        if (a->intercept)
            score += a->w0[k];
        w->V[i] = 0.0;
        if (a->naive_bayes) {
            w->V[i] = sp_clip(w->z[i] / m, SP_MANY_CLIP);
            score += a->wn * w->V[i];
        }
        w->score[i] = score;
    }
    weighed->top = sp_many_top(learner, w);
}

SP_PRIVATE void sp_many_probabilities(const sp_adaptive *a, const sp_met *w, double *p)
{
    const double scale = sp_tempering(a) * a->tau;
    double total = 0.0;
    for (ptrdiff_t k = 0; k < a->n_labels; k++)
        p[k] = a->w0[k];
    for (ptrdiff_t i = 0; i < w->n_met; i++)
        p[w->met[i]] = w->score[i];
    sp_exps(p, scale, p[w->weighed.top] * scale, p, a->n_labels);
    for (ptrdiff_t k = 0; k < a->n_labels; k++)
        total += p[k];
    for (ptrdiff_t k = 0; k < a->n_labels; k++)
        p[k] = w->damaged ? NAN : p[k] / total;
}

SP_PRIVATE double sp_many_share(const sp_learner *learner, const sp_met *w, ptrdiff_t k,
                                ptrdiff_t i, const sp_event *event)
{
    const sp_adaptive *a = &learner->adaptive;
    const sp_weighed *weighed = &w->weighed;
    const double scale = sp_tempering(a);
    if (i < 0)
        return (a->intercept ? a->w0[k] : 0.0) * scale;
    const sp_entry *entry
        = sp_many_entry(&learner->table, sp_weighed_slots(weighed, event)[i], k);
    double share = entry == NULL ? 0.0 : (double)entry->w * (weighed->sums.h[i] * weighed->r);
    double t = weighed->sums.t[i];
    double z = sp_many_met(w, k) && a->naive_bayes ? w->z[w->accounts[k].at] : 0.0;
    if (t > 0.0 && z != 0.0) {
        double prior = sp_log(1.0 + a->T / (double)a->n_labels / 3.0);
        double odds = sp_log(1.0 + (entry == NULL ? 0.0 : (double)entry->c) * t);
        share += a->wn * w->V[w->accounts[k].at] / z * (odds - (a->lnD[k] - prior));
    }
    return share * scale;
}

SP_PRIVATE double sp_many_count_of(const sp_entry *entries, uint32_t n)
{
    double all[4] = {0.0, 0.0, 0.0, 0.0};
    for (uint32_t i = 0; i < n; i++)
        all[i % 4] += (double)entries[i].c;
    return (all[0] + all[1]) + (all[2] + all[3]);
}

SP_PRIVATE void sp_many_sums(const sp_entry *entries, uint32_t n, const double *rD, double *sum,
                             double *squares)
{
    double all[4] = {0.0, 0.0, 0.0, 0.0}, of_squares[4] = {0.0, 0.0, 0.0, 0.0};
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (uint32_t lane = 0; lane < 4; lane++) {
            double c = (double)entries[i + lane].c;
            all[lane] += c;
            of_squares[lane] += (c * c) * rD[entries[i + lane].k];
        }
    }
    for (; i < n; i++) {
        double c = (double)entries[i].c;
        all[i % 4] += c;
        of_squares[i % 4] += (c * c) * rD[entries[i].k];
    }
    *sum = (all[0] + all[1]) + (all[2] + all[3]);
    *squares = (of_squares[0] + of_squares[1]) + (of_squares[2] + of_squares[3]);
}

SP_PRIVATE double sp_many_largest(const sp_entry *entries, uint32_t n)
{
    double largest = 0.0;
    for (uint32_t i = 0; i < n; i++)
        largest = SP_MAX(largest, fabs((double)entries[i].w));
    return largest;
}
