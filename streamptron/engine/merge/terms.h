/* What several learners make of one feature: the loops of engine/exchange/merge.h.

   sp_merge_terms is for the everyday slots, a weight and the term of its uniform average; it takes
   a chunk of each shard after the other, so that memory is read in the order in which it lies.
   sp_merge_feature is for AdaptiveClassifier's and MultiLabelClassifier's. The formulas, and the
   order of every sum, are those of tests/twin/merge.py.

   Counts add up, and undo makes them smaller. What several shards have gained since the base is
   added. What they have less than the base, they took back. Of one feature the same row in several
   shards is the same step taken back, and counts once; rows that differ are different steps, and
   all of them count, down to 0. Of what is kept once, where rows cannot tell, the largest loss
   counts, once. A feature that a ceiling has dropped and that came back has begun anew, and gains
   all that it has. */

#ifndef STREAMPTRON_MERGE_TERMS_H
#define STREAMPTRON_MERGE_TERMS_H

#include "features/columns.h"
#include "features/head.h"
#include "math/logs.h"
#include "memory/compiler.h"
#include "table/slot.h"

/* --- A weight and its averaging term ---------------------------------------------------------- */

typedef struct {                    /* what is kept of a shard's events */
    const double *slots;            /* the chunk's */
    double c;                       /* 1 + all events it has seen */
    double n;                       /* those since the base */
} sp_terms;

/* Masks of bits instead of conditions, so that the compiler takes several slots at once. */
SP_TEMPLATE uint64_t sp_mask(uint64_t word) /* all ones, or 0 for 0 */
{
    return (uint64_t)0 - ((word | ((uint64_t)0 - word)) >> 63);
}
SP_TEMPLATE double sp_either(uint64_t mask, double x, double y)
{
    return sp_from_bits((sp_bits_of(x) & mask) | (sp_bits_of(y) & ~mask));
}

/* A word whose first bit is set if a number is not below SP_WEIGHT_LIMIT, or none. Its other bits
   mean nothing. */
SP_TEMPLATE uint64_t sp_too_large(double x)
{
    const uint64_t exponent = UINT64_C(0x7ff) << 52;
    return (sp_bits_of(x) & exponent) + ((UINT64_C(2048) - 1023 - 800) << 52);
}

/* `n` slots of [w, v] from those of the base and of several shards; whether all are sound:

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
        for (int i = 0; i < n; i++) {       /* one that has not touched it adds +0.0 */
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

/* A feature as one model keeps it, in the order of the labels of all of them. */
typedef struct {
    double s, cnt, om;              /* s < 0 or -0.0: it was negative once */
    double N;                       /* 0 where it is worked out from c */
    double *w, *G, *c;              /* by output, by output, by label */
    sp_column column;               /* n = 0: it is none */
    double *e;                      /* by label */
    double gained;                  /* by how much its model's T has grown since the base */
    bool anew;                      /* a ceiling has dropped it since the base */
} sp_feature;

/* Whose labels are which: those of one model of two labels in the order of all. */
typedef struct {
    sp_blocks blocks;
    const int32_t *label;           /* by label of all: its own number, or -1 */
    double sign;                    /* -1: its score is for the other side */
    double gained;                  /* by how much its T has grown since the base */
} sp_view;

/* Read a slot as `labels` labels have it, at most two. */
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

/* Write it into a slot, all of whose chunks are there. */
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

/* How far a weight has come in all shards together: the mean of the ways they have gone from w0,
   each as heavy as what its G has gained. G gains the mean of that: if it gained all of it, steps
   would be too short, for w has not gone all these ways one after the other. */
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

#define SP_MERGE_SHARED 16.0        /* how often one event may count in a slot that names share */
#define SP_MERGE_AS_MUCH (1.0 + 0x1p-16)

/* A number that is kept once. Gains add up; the largest loss counts. Begin with no loss, and add
   it in the end. */
SP_TEMPLATE void sp_merge_count(double *to, double *loss, double base, double its)
{
    const double gain = its - base;
    if (gain >= 0.0) *to += gain;
    else if (gain < *loss) *loss = gain;
}

/* By what a count was halved since the base: undone, so that gains can be added. A count that was
   halved is not below `least`, and its model has learned what it has gained: T, which is never
   halved, has grown by as much. Any other count below the base's has lost steps. */
SP_TEMPLATE double sp_unhalved(double cnt, double base, double gained, double least)
{
    double times = 1.0;
    if (!(cnt >= least && cnt < base)) return 1.0;
    while (cnt * times < base) times *= 2.0;
    return cnt * times - base <= SP_MERGE_SHARED * gained ? times : 1.0;
}

/* What one number of a feature has gained. */
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

/* Whether two shards have the same of a feature. om goes by what else they have seen. */
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

/* Leave out the shards that have taken back what one before them has; how many stay. `times`: by
   what their counts were halved. */
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

/* A shard's column: by what its counts were halved, and whether it is the base's, gone on. Such a
   one has lost no more events than its model has. */
static inline bool sp_column_goes_on(const sp_column *base, const sp_feature *its, double *times)
{
    double grown;
    *times = 1.0;
    if (!(base->n > 0.0)) return false;
    *times = sp_unhalved(its->column.since, base->since, its->gained, SP_COUNT_HALF);
    grown = its->column.since * *times - base->since;
    return !its->anew && (grown >= 0.0 || grown >= its->gained * SP_MERGE_AS_MUCH);
}

/* The column that shards make of `to`, the base's: n, since and e gain what each has gained, or all
   of a column that has begun anew. Mean and spread are those of the shards, by how many values they
   have seen; the base's are in each already. */
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

/* The counts of labels, not rounded yet; none is below 0 of a feature that never was negative. By
   how much they would be. */
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

/* Halve the counts, and round them. N, where it is kept, is at least each label's. */
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

/* Counts and mean of a feature that shards make of `to`, the base's. */
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
    to->s = negative ? -1.0 : 1.0;  /* its sign says whether counts may be below 0 */
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

/* The feature that `n` shards make of `to`, which is the base's, but for om. `all`: T + the number
   of places. The scratch has room for 3 n numbers; those of `shards` that count stay in front. */
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

/* And its om, of two labels. rD: 1 / (D + 1) of each, of the merged model. */
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
