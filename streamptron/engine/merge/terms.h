/* Merging one feature of several learners: the loops of engine/exchange/merge.h.

   sp_merge_terms is for the most common slots, a weight and the term of its uniform average. It
   takes the shards' chunks one after the other, so that memory is read in order. sp_merge_feature
   is for slots of AdaptiveClassifier and MultiLabelClassifier. The formulas, and the order of every
   sum, are those of tests/twin/merge.py.

   Counts add up, and undo makes them smaller. What shards have gained since the base is added. If a
   shard has less than the base, it has undone steps. If several shards have the same such row of a
   feature, they have undone the same step, which counts once. Rows that differ are different steps,
   and all of them count, down to 0. For what is kept once per model there is no such comparison:
   the largest loss counts, once. A feature that a ceiling has dropped and that came back has
   started again, and all that it has is gain. */

#ifndef STREAMPTRON_MERGE_TERMS_H
#define STREAMPTRON_MERGE_TERMS_H

#include "features/columns.h"
#include "features/head.h"
#include "math/logs.h"
#include "memory/compiler.h"
#include "table/slot.h"

/* --- A weight and its averaging term ---------------------------------------------------------- */

typedef struct {                    /* a shard's part */
    const double *slots;            /* of the chunk */
    double c;                       /* 1 + all events it has seen */
    double n;                       /* those since the base */
} sp_terms;

/* Bit masks instead of conditions, so that the compiler can take several slots at once. */
SP_TEMPLATE uint64_t sp_mask(uint64_t word) /* all ones, or 0 for 0 */
{
    return (uint64_t)0 - ((word | ((uint64_t)0 - word)) >> 63);
}
SP_TEMPLATE double sp_either(uint64_t mask, double x, double y)
{
    return sp_from_bits((sp_bits_of(x) & mask) | (sp_bits_of(y) & ~mask));
}

/* A word whose top bit is set if a number is NaN, or not below SP_WEIGHT_LIMIT in size. The other
   bits mean nothing. */
SP_TEMPLATE uint64_t sp_too_large(double x)
{
    const uint64_t exponent = UINT64_C(0x7ff) << 52;
    return (sp_bits_of(x) & exponent) + ((UINT64_C(2048) - 1023 - 800) << 52);
}

/* Merge `n` slots of [w, v] from the base and several shards. Returns whether all are sound:

       w = the mean over the shards that differ,  v = c w - (S0 + N sum(S - S0) / sum n)
       where S = c w - v is the sum of all vectors so far */
SP_AVX2_UNLESS_SMALL(bool, sp_merge_terms,
                     (const double *base, double c0, const sp_terms *shards, int n_shards, double N,
                      double *slots, int n),
                     (base, c0, shards, n_shards, N, slots, n))
{
    double total[SP_CHUNK_SLOTS], sums[SP_CHUNK_SLOTS], seen[SP_CHUNK_SLOTS];
    double count[SP_CHUNK_SLOTS], S0[SP_CHUNK_SLOTS];
    uint64_t bad = 0;
    const double c = c0 + N;
    for (int i = 0; i < n; i++) {
        total[i] = sums[i] = seen[i] = count[i] = 0.0;
        S0[i] = c0 * base[2 * i] - base[2 * i + 1];
    }
    for (int k = 0; k < n_shards; k++) {
        const double *theirs = shards[k].slots;
        const double c_k = shards[k].c, n_k = shards[k].n;
        for (int i = 0; i < n; i++) {       /* a shard that has not touched it adds +0.0 */
            const double w = theirs[2 * i], v = theirs[2 * i + 1];
            const uint64_t touched = sp_mask((sp_bits_of(w) ^ sp_bits_of(base[2 * i]))
                                             | (sp_bits_of(v) ^ sp_bits_of(base[2 * i + 1])));
            total[i] += sp_either(touched, w, 0.0);
            sums[i] += sp_either(touched, (c_k * w - v) - S0[i], 0.0);
            seen[i] += sp_either(touched, n_k, 0.0);
            count[i] += sp_either(touched, 1.0, 0.0);
        }
    }
    for (int i = 0; i < n; i++) {
        const uint64_t touched = sp_mask(sp_bits_of(count[i])), saw = sp_mask(sp_bits_of(seen[i]));
        const double w = total[i] / count[i];
        const double v = c * w - (S0[i] + (N * sums[i]) / seen[i]);
        slots[2 * i] = sp_either(touched, w, base[2 * i]);
        slots[2 * i + 1] = sp_either(touched, sp_either(saw, v, 0.0), base[2 * i + 1]);
        bad |= sp_too_large(slots[2 * i]) | sp_too_large(slots[2 * i + 1]);
    }
    return bad >> 63 == 0;
}

/* --- AdaptiveClassifier ----------------------------------------------------------------------- */

/* A feature of one model, with its labels in the merged order. */
typedef struct {
    double s, cnt, om;              /* s < 0 or -0.0: it was negative once */
    double N;                       /* 0 if it is computed from c */
    double *w, *G, *c;              /* by output, by output, by label */
    sp_column column;               /* n = 0: not a column */
    double *e;                      /* by label */
    double gained;                  /* how much its model's T has grown since the base */
    bool anew;                      /* a ceiling has dropped it since the base */
} sp_feature;

/* A model of two labels, with its labels in the merged order. */
typedef struct {
    sp_blocks blocks;
    const int32_t *label;           /* by merged label: its own number, or -1 */
    double sign;                    /* -1: its score is for the other side */
    double gained;                  /* how much its T has grown since the base */
} sp_view;

/* Read a slot, for `labels` labels, at most two. */
static inline void sp_feature_read(const sp_view *view, uint32_t slot, ptrdiff_t labels,
                                   sp_feature *to)
{
    const sp_head *head = sp_head_of(sp_chunks(view->blocks, 0), slot);
    to->s = head->s;
    to->cnt = head->cnt;
    to->om = head->om;
    to->N = 0.0;
    to->gained = view->gained;
    to->column = *sp_column_of(&view->blocks, slot);
    for (ptrdiff_t k = 0; k < labels; k++) {
        const int32_t own = view->label[k];
        to->e[k] = own < 0 ? 0.0 : (double)sp_column_e(&view->blocks, slot)[own];
        to->c[k] = own < 0 ? 0.0 : (double)head->of.c[own];
    }
    to->w[0] = view->sign < 0.0 ? 0.0 - head->w : head->w;
    to->G[0] = head->G;
}

/* Write it into a slot whose chunks are all there. */
static inline void sp_feature_write(const sp_blocks *blocks, uint32_t slot, ptrdiff_t labels,
                                    const sp_feature *from)
{
    sp_head *head = sp_head_of(sp_chunks(*blocks, 0), slot);
    head->s = from->s;
    head->cnt = (float)from->cnt;
    head->om = (float)from->om;
    if (from->column.n > 0.0) {
        *sp_column_of(blocks, slot) = from->column;
        for (ptrdiff_t k = 0; k < labels; k++)
            sp_column_e(blocks, slot)[k] = (float)from->e[k];
    }
    head->w = (float)from->w[0];
    head->G = (float)from->G[0];
    for (int k = 0; k < 2; k++) head->of.c[k] = k < labels ? (float)from->c[k] : 0.0f;
}

/* A weight merged from all shards: its change from w0 is the mean of their changes, weighted by the
   gain of each G. G gains the mean of these gains. With their sum, steps would become too short, as
   w has not made all these changes one after the other. */
SP_TEMPLATE void sp_merge_weight(double *w, double *G, const double *w_k, const double *G_k, int n)
{
    const double w0 = *w, G0 = *G;
    double gains = 0.0, way = 0.0, plain = 0.0;
    for (int k = 0; k < n; k++) {
        double gain = G_k[k] > G0 ? G_k[k] - G0 : 0.0;
        gains += gain;
        way += gain * (w_k[k] - w0);
        plain += w_k[k] - w0;
    }
    *w = w0 + (gains > 0.0 ? way / gains : plain / n);
    *G = G0 + gains / n;
}

/* --- Counts ----------------------------------------------------------------------------------- */

#define SP_MERGE_SHARED 16.0        /* how often one event may count in a slot shared by names */
#define SP_MERGE_AS_MUCH (1.0 + 0x1p-16)

/* Merge a number that is kept once per model. Gains add up; the largest loss counts. Start with a
   loss of 0, and add it at the end. */
SP_TEMPLATE void sp_merge_count(double *to, double *loss, double base, double its)
{
    const double gain = its - base;
    if (gain >= 0.0) *to += gain;
    else if (gain < *loss) *loss = gain;
}

/* The factor that undoes the halving of a count since the base, so that gains can be added. A count
   that was halved is at least `least`, and its model's T, which is never halved, has grown by as
   much as the count has gained. Any other count below the base's has lost steps. */
SP_TEMPLATE double sp_unhalved(double cnt, double base, double gained, double least)
{
    double times = 1.0;
    if (!(cnt >= least && cnt < base)) return 1.0;
    while (cnt * times < base) times *= 2.0;
    return cnt * times - base <= SP_MERGE_SHARED * gained ? times : 1.0;
}

/* The gain of one number of a feature. */
SP_TEMPLATE double sp_merge_gain(const sp_feature *its, double number, double times, double base)
{
    return number * times - (its->anew ? 0.0 : base);
}

static inline bool sp_same_numbers(const double *one, const double *other, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        if (one[i] != other[i]) return false;
    }
    return true;
}

/* Whether a feature is the same in two shards. om is not compared, as it depends on their other
   events. */
static inline bool sp_same_feature(const sp_feature *one, const sp_feature *other,
                                   ptrdiff_t outputs, ptrdiff_t labels)
{
    const sp_column *column = &one->column, *its = &other->column;
    return one->s == other->s && signbit(one->s) == signbit(other->s) && one->cnt == other->cnt
           && one->N == other->N && column->n == its->n && column->since == its->since
           && column->a == its->a && column->b == its->b
           && sp_same_numbers(one->c, other->c, labels)
           && sp_same_numbers(one->w, other->w, outputs)
           && sp_same_numbers(one->G, other->G, outputs)
           && sp_same_numbers(one->e, other->e, labels);
}

/* Leave out shards that have undone the same as one before them. Returns how many stay. `times`:
   the factors that undo the halving of their counts. */
static inline int sp_merge_apart(const sp_feature *base, const sp_feature **shards, int n,
                                 ptrdiff_t outputs, ptrdiff_t labels, double *times)
{
    int kept = 0;
    for (int k = 0; k < n; k++) {
        const sp_feature *its = shards[k];
        const double by = its->anew ? 1.0
                                    : sp_unhalved(its->cnt, base->cnt, its->gained,
                                                  0.25 * SP_COUNT_HALF);
        const bool lost = !its->anew && its->cnt * by <= base->cnt
                          && its->column.since <= base->column.since;
        bool again = false;
        for (int j = 0; j < kept && lost && !again; j++)
            again = sp_same_feature(shards[j], its, outputs, labels);
        if (again) continue;
        shards[kept] = its;
        times[kept++] = by;
    }
    return kept;
}

static inline void sp_feature_no_column(sp_feature *to, ptrdiff_t labels)
{
    memset(&to->column, 0, sizeof(sp_column));
    for (ptrdiff_t j = 0; j < labels; j++) to->e[j] = 0.0;
}

/* Whether a shard's column continues the base's: then it has lost no more events than its model
   has. `times`: the factor that undoes the halving of its counts. */
static inline bool sp_column_goes_on(const sp_column *base, const sp_feature *its, double *times)
{
    double grown;
    *times = 1.0;
    if (!(base->n > 0.0)) return false;
    *times = sp_unhalved(its->column.since, base->since, its->gained, SP_COUNT_HALF);
    grown = its->column.since * *times - base->since;
    return !its->anew && (grown >= 0.0 || grown >= its->gained * SP_MERGE_AS_MUCH);
}

/* Merge the shards' columns into `to`, the base's: n, since and e gain what each shard has gained,
   or all of a column that has started again. Mean and spread are the shards', weighted by the
   number of values that they have seen; each already includes the base's. */
static inline void sp_merge_column(sp_feature *to, const sp_feature *const *shards, int n,
                                   ptrdiff_t labels, double *gains)
{
    const sp_column base = to->column;
    double all = 0.0, halved = 1.0, times;
    int first = -1, went_on = 0;
    sp_column *column = &to->column;
    for (int k = 0; k < n; k++) {
        const sp_column *its = &shards[k]->column;
        gains[k] = 0.0;
        if (!(its->n > 0.0)) continue;
        const bool on = sp_column_goes_on(&base, shards[k], &times);
        if (first < 0) first = k;
        went_on |= on;
        gains[k] = its->n * times - (on ? base.n : 0.0);
        all += gains[k] > 0.0 ? gains[k] : 0.0;
    }
    if (first < 0) {
        sp_feature_no_column(to, labels);
        return;
    }
    column->n = went_on ? base.n : 0.0;
    column->since = went_on ? base.since : 0.0;
    column->a = column->b = 0.0;
    for (int k = 0; k < n; k++) {
        const sp_column *its = &shards[k]->column;
        if (!(its->n > 0.0)) continue;
        const bool on = sp_column_goes_on(&base, shards[k], &times);
        column->since += its->since * times - (on ? base.since : 0.0);
        column->n += gains[k];
        if (all > 0.0) column->a += (gains[k] > 0.0 ? gains[k] : 0.0) / all * its->a;
    }
    for (int k = 0; k < n && all > 0.0; k++) {
        const double way = shards[k]->column.a - column->a;
        if (gains[k] > 0.0) column->b += gains[k] / all * (shards[k]->column.b + way * way);
    }
    if (!(all > 0.0)) {
        column->a = shards[first]->column.a;
        column->b = shards[first]->column.b;
    }
    if (column->n > column->since) column->n = column->since;
    if (4.0 * column->n < column->since + 1.0) {
        sp_feature_no_column(to, labels);
        return;
    }
    while (column->since * halved >= SP_COUNT_MOST) halved *= 0.5;
    column->since *= halved;
    column->n *= halved;
    for (ptrdiff_t j = 0; j < labels; j++) {
        const double e0 = to->e[j];
        double e = went_on ? e0 : 0.0;
        for (int k = 0; k < n; k++) {
            if (!(shards[k]->column.n > 0.0)) continue;
            const bool on = sp_column_goes_on(&base, shards[k], &times);
            e += shards[k]->e[j] * times - (on ? e0 : 0.0);
        }
        to->e[j] = (float)(e * halved);
    }
}

/* Merge the counts of labels, not rounded yet. If the feature was never negative, they stay at
   least 0; returns by how much they would be below. */
static inline double sp_merge_labels(sp_feature *to, const sp_feature *const *shards, int n,
                                     ptrdiff_t labels, const double *times, bool fresh)
{
    double over = 0.0;
    for (ptrdiff_t j = 0; j < labels; j++) {
        const double c0 = to->c[j];
        double c = fresh ? 0.0 : c0;
        for (int k = 0; k < n; k++)
            c += sp_merge_gain(shards[k], shards[k]->c[j], times[k], c0);
        if (c < 0.0 && !signbit(to->s)) {
            over += 0.0 - c;
            c = 0.0;
        }
        to->c[j] = c;
    }
    return over;
}

/* Halve the counts, and round them. N, where it is kept, is at least each label's count. */
static inline void sp_merge_settle(sp_feature *to, ptrdiff_t labels, double halved)
{
    double N = to->N > 0.0 ? to->N : 0.0;
    to->cnt = (double)(float)(to->cnt * halved);
    for (ptrdiff_t j = 0; j < labels; j++) {
        const double most = SP_MOST * to->cnt;
        N = to->c[j] > N ? to->c[j] : N;
        to->c[j] = sp_clip((double)(float)(to->c[j] * halved), most);
    }
    to->N = !(to->cnt > 0.0) ? 0.0 : (signbit(to->s) ? to->N : N) * halved;
}

/* Merge the shards' counts and mean into `to`, the base's. */
static inline void sp_merge_counts(sp_feature *to, const sp_feature *const *shards, int n,
                                   ptrdiff_t labels, double all, const double *times)
{
    const double cnt0 = to->cnt, s0 = fabs(to->s), N0 = to->N, first = fabs(shards[0]->s);
    bool negative = signbit(to->s) != 0, alike = cnt0 == 0.0 || s0 == first, fresh = true;
    int always = cnt0 >= SP_COUNT_HALF;
    for (int k = 0; k < n; k++) fresh = fresh && shards[k]->anew;
    double cnt = fresh ? 0.0 : cnt0, most = cnt, ax = fresh ? 0.0 : s0 * cnt0;
    to->N = fresh ? 0.0 : N0;
    for (int k = 0; k < n; k++) {
        const sp_feature *its = shards[k];
        const double gain = sp_merge_gain(its, its->cnt, times[k], cnt0);
        cnt += gain;
        most += gain > 0.0 ? gain : 0.0;
        ax += fabs(its->s) * (its->cnt * times[k]) - (its->anew ? 0.0 : s0 * cnt0);
        to->N += sp_merge_gain(its, its->N, times[k], N0);
        alike = alike && fabs(its->s) == first;
        negative = negative || signbit(its->s);
        always = always || its->cnt >= SP_COUNT_HALF;
    }
    to->s = negative ? -1.0 : 1.0;  /* the sign says whether counts may be below 0 */
    const double over = sp_merge_labels(to, shards, n, labels, times, fresh);
    if (over > 0.0 || cnt < 0.0) {
        cnt = (cnt > 0.0 ? cnt : 0.0) + over;
        cnt = cnt < most ? cnt : most;
    }
    const double mean = alike || !(cnt > 0.0) ? first : ax / cnt;
    to->s = mean >= 0.0 && mean <= SP_MEAN_LIMIT ? mean : first;
    if (negative) to->s = -to->s;
    to->cnt = cnt;
    sp_merge_settle(to, labels, sp_halved(cnt, always, all));
}

/* Merge the feature of `n` shards into `to`, the base's, except om. `all`: T + the number of
   places. `scratch` has room for 3 n numbers. The shards that count are moved to the front. */
static inline void sp_merge_feature(sp_feature *to, const sp_feature **shards, int n,
                                    ptrdiff_t outputs, ptrdiff_t labels, double all,
                                    double *scratch)
{
    double *w_k = scratch, *G_k = scratch + n, *times = scratch + 2 * n;
    for (ptrdiff_t o = 0; o < outputs; o++) {
        for (int k = 0; k < n; k++) {
            w_k[k] = shards[k]->w[o];
            G_k[k] = shards[k]->G[o];
        }
        sp_merge_weight(&to->w[o], &to->G[o], w_k, G_k, n);
    }
    const int kept = sp_merge_apart(to, shards, n, outputs, labels, times);
    sp_merge_counts(to, shards, kept, labels, all, times);
    sp_merge_column(to, shards, kept, labels, scratch);
}

/* And its om, with two labels. rD: 1 / (D + 1) of each, of the merged model. */
static inline void sp_merge_om(sp_feature *to, ptrdiff_t labels, double all, const double *rD)
{
    const double *c = to->column.n > 0.0 ? to->e : to->c;
    double squares[4] = {0.0}, N[4] = {0.0};
    for (ptrdiff_t j = 0; j < labels; j++) {
        N[j % 4] += c[j];
        squares[j % 4] += (c[j] * c[j]) * rD[j];
    }
    to->om = sp_om(to->column.n > 0.0 ? to->column.since : (double)(float)to->cnt, all,
                   (squares[0] + squares[1]) + (squares[2] + squares[3]),
                   (N[0] + N[1]) + (N[2] + N[3]));
}

#endif
