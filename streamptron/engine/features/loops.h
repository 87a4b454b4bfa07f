/* The loops over the labels that an event has met, four at a time.

   A lane does what the formulas of math/logs.h do with one number, in the same order. So the bits
   are the same, whatever registers a machine has, and with -DSTREAMPTRON_PLAIN those formulas alone
   are used. Sums over these labels always have four lanes, with the i-th label in lane i mod 4; the
   twin has the same. In a single sum, each addition would wait for the one before.

   Functions in this file: sp_logs and sp_exps; sp_met_scores; sp_met_sum, sp_met_dot, sp_met_most,
   sp_met_second and sp_met_from of arrays; sp_moves_take of entries; sp_dense_step, sp_dense_hear
   and sp_row_sums of rows; sp_dues_settle of features. */

#ifndef STREAMPTRON_FEATURES_LOOPS_H
#define STREAMPTRON_FEATURES_LOOPS_H

#include "features/fours.h"
#include "rows/dense.h"

#ifdef SP_FOURS_HERE

typedef uint64_t sp_uint4 __attribute__((vector_size(32)));

#define SP_EACH_OF(bits) ((sp_uint4){bits, bits, bits, bits})

/* A whole number from 0 to 2^52, as a double. */
#define SP_AS_NUMBER(x) \
    ((sp_double4)((sp_uint4)(x) | SP_EACH_OF(UINT64_C(0x4330000000000000))) - SP_EACH(0x1p52))

/* x = m 2^e, with m from 1/2 to 1; and sp_log of that m. */
SP_TEMPLATE void sp_log4(const sp_double4 *x, sp_double4 *e, sp_double4 *log)
{
    const sp_uint4 bits = (sp_uint4)*x;
    const sp_double4 half = (sp_double4)((bits & SP_EACH_OF(UINT64_C(0xfffffffffffff)))
                                         | SP_EACH_OF(UINT64_C(1022) << 52));
    const sp_int4 less = half < SP_EACH(0.7071067811865476);
    const sp_double4 m = SP_WHERE(less, half * 2.0, half);
    const sp_double4 s = (m - 1.0) / (m + 1.0);
    const sp_double4 q = s * s, q2 = q * q, q4 = q2 * q2;
    const sp_double4 p = SP_LOG_SERIES(q, q2, q4);
    *e = SP_AS_NUMBER(bits >> 52) - 1022.0;
    *log = (2.0 * s + 2.0 * s * p) + SP_WHERE(less, SP_EACH(-1.0), SP_EACH(0.0)) * SP_LN2;
}

/* sp_exp of x. */
SP_TEMPLATE void sp_exp4(const sp_double4 *x, sp_double4 *e)
{
    const sp_int4 none = *x < SP_EACH(-700.0);
    const sp_double4 at = SP_WHERE(none, SP_EACH(-700.0), *x);
    const sp_double4 k = __builtin_convertvector(
        __builtin_convertvector(at * 1.4426950408889634 - 0.5, sp_word4), sp_double4);
    const sp_double4 r = (at - k * SP_LN2_HIGH) - k * SP_LN2_LOW;
    const sp_double4 r2 = r * r, r4 = r2 * r2;
    sp_double4 p = SP_EXP_SERIES(r, r2, r4);
    p *= (sp_double4)((sp_uint4)(k + (0x1p52 + 1023.0)) << 52);
    *e = SP_WHERE(none, SP_EACH(0.0), p);
}

#endif

/* In these, the last group of four labels may overlap the one before, so that some are computed
   twice. */

/* What is the same for all labels, whether an event has met them or not. */
typedef struct sp_priors {
    double usual; /* log(1 + (T / K) / 3) */
    double rare;
    double times; /* how many times a label's rarity counts */
} sp_priors;

/* z[k] = ((log P[k] + E[k] log 2) - times (lnD[k] - usual)) (D[k] / (D[k] + rare)); P's exponent is
   moved to E first. */
SP_AVX2_UNLESS_SMALL(void, sp_logs,
                     (const double *P, const double *E, const double *lnD, const double *D,
                      const sp_priors *priors, double *z, ptrdiff_t n),
                     (P, E, lnD, D, priors, z, n))
{
    const double usual = priors->usual;
    const double rare = priors->rare;
    const double times = priors->times;
    ptrdiff_t k = 0;
#ifdef SP_FOURS_HERE
    for (; k < n && n >= 4; k += 4) {
        const ptrdiff_t at = SP_MIN(k, n - 4);
        sp_double4 x, e, rarity, count, exponent, log;
        sp_load(P + at, &x);
        sp_load(E + at, &e);
        sp_load(lnD + at, &rarity);
        sp_load(D + at, &count);
        sp_log4(&x, &exponent, &log);
        x = (log + (exponent + e) * SP_LN2) - times * (rarity - usual);
        x = x * (count / (count + rare));
        sp_store(&x, z + at);
    }
#endif
    for (; k < n; k++) {
        ptrdiff_t e = 0;
        const double half = sp_fraction(P[k], &e);
        z[k] = (sp_log(half) + ((double)e + E[k]) * SP_LN2) - times * (lnD[k] - usual);
        z[k] = z[k] * (D[k] / (D[k] + rare));
    }
}

/* p[k] = e^(scale score[k] - best); p and score must be different arrays. */
SP_AVX2_UNLESS_SMALL(void, sp_exps,
                     (const double *score, double scale, double best, double *p, ptrdiff_t n),
                     (score, scale, best, p, n))
{
    ptrdiff_t k = 0;
#ifdef SP_FOURS_HERE
    for (; k < n && n >= 4; k += 4) {
        const ptrdiff_t at = SP_MIN(k, n - 4);
        sp_double4 x, e;
        sp_load(score + at, &x);
        x = x * scale - best;
        sp_exp4(&x, &e);
        sp_store(&e, p + at);
    }
#endif
    for (; k < n; k++)
        p[k] = sp_exp(score[k] * scale - best);
}

/* What scores are made with: Z, m, r and wn. */
typedef struct sp_contrast {
    double best;
    double m;
    double r;
    double wn;
} sp_contrast;

/* Naive Bayes: V = (max(z - Z, -2 m) + min(Z, 2 m)) / m. Then plain = dot r + w0, and score = plain
   + wn V, which replaces dot. */
SP_AVX2_UNLESS_SMALL(void, sp_met_scores,
                     (const double *z, const sp_contrast *by, const double *w0, double *V,
                      double *plain, double *score, ptrdiff_t n),
                     (z, by, w0, V, plain, score, n))
{
    const double m = by->m, best = by->best, r = by->r, wn = by->wn;
    const double far = -2.0 * m;
    const double least = best < -far ? best : -far;
    ptrdiff_t k = 0;
#ifdef SP_FOURS_HERE
    for (; k + 4 <= n; k += 4) {
        sp_double4 v, x, intercept;
        sp_load(z + k, &v);
        sp_load(score + k, &x);
        sp_load(w0 + k, &intercept);
        v = v - best;
        v = SP_WHERE(v > SP_EACH(far), v, SP_EACH(far));
        v = (v + least) / m;
        x = x * r + intercept;
        sp_store(&v, V + k);
        sp_store(&x, plain + k);
        x = x + wn * v;
        sp_store(&x, score + k);
    }
#endif
    for (; k < n; k++) {
        V[k] = z[k] - best;
        V[k] = ((V[k] > far ? V[k] : far) + least) / m;
        plain[k] = score[k] * r + w0[k];
        score[k] = plain[k] + wn * V[k];
    }
}

/* --- Steps of entries */

enum { SP_MOVES = 64 };

/* The coming steps of up to SP_MOVES entries, all different: G = G kept + grown, and w moves by far
   / sqrt(G + P0). */
typedef struct sp_moves {
    ptrdiff_t n;
    float *w[SP_MOVES]; /* each w has its G behind it */
    double kept[SP_MOVES];
    double grown[SP_MOVES];
    double far[SP_MOVES];
} sp_moves;

/* One of these steps. */
SP_TEMPLATE void sp_step1(float *at, double kept, double grown, double far)
{
    at[1] = (float)((double)at[1] * kept + grown);
    at[0] = (float)((double)at[0] + far / sqrt((double)at[1] + SP_P0));
}

#ifdef SP_FOURS_HERE

/* Two floats from each of two places. */
SP_TEMPLATE void sp_twos(const float *a, const float *b, sp_float4 *to)
{
    double both[2];
    memcpy(&both[0], a, 8);
    memcpy(&both[1], b, 8);
    memcpy(to, both, 16);
}

/* Four of these steps. */
SP_TEMPLATE void sp_step4(float *const *at, const sp_double4 *kept, const sp_double4 *grown,
                          const sp_double4 *far)
{
    sp_float4 ab, cd, of_w, of_G;
    sp_double4 w, G;
    sp_twos(at[0], at[1], &ab);
    sp_twos(at[2], at[3], &cd);
    sp_widen(SP_SHUFFLE(ab, cd, 0, 2, 4, 6), &w);
    sp_widen(SP_SHUFFLE(ab, cd, 1, 3, 5, 7), &G);
    of_G = __builtin_convertvector(G * *kept + *grown, sp_float4);
    sp_widen(of_G, &G);
    G += SP_P0;
    for (int k = 0; k < 4; k++) G[k] = sqrt(G[k]);
    of_w = __builtin_convertvector(w + *far / G, sp_float4);
    ab = SP_SHUFFLE(of_w, of_G, 0, 4, 1, 5);
    cd = SP_SHUFFLE(of_w, of_G, 2, 6, 3, 7);
    memcpy(at[0], &ab, 8);
    memcpy(at[1], (const char *)&ab + 8, 8);
    memcpy(at[2], &cd, 8);
    memcpy(at[3], (const char *)&cd + 8, 8);
}

#endif

/* Take all these steps. */
SP_TEMPLATE void sp_moves_take(sp_moves *moves)
{
    const ptrdiff_t n = moves->n;
    ptrdiff_t i = 0;
#ifdef SP_FOURS_HERE
    float none[2] = {0.0f, 0.0f};
    for (ptrdiff_t spare = n; spare % 4; spare++) {
        moves->w[spare] = none;
        moves->kept[spare] = moves->far[spare] = 0.0;
        moves->grown[spare] = 1.0;
    }
    for (; i < n; i += 4) {
        sp_double4 kept, grown, far;
        sp_load(moves->kept + i, &kept);
        sp_load(moves->grown + i, &grown);
        sp_load(moves->far + i, &far);
        sp_step4(moves->w + i, &kept, &grown, &far);
    }
#endif
    for (; i < n; i++)
        sp_step1(moves->w[i], moves->kept[i], moves->grown[i], moves->far[i]);
}

/* The strides of an event with few labels, in the order in which its rows take them. Dense rows
   take four at a time, so the last stride is repeated until there are a multiple of four; repeating
   it in one group of four does no harm. */
typedef struct sp_march {
    ptrdiff_t n;
    uint32_t lanes;            /* lanes that a dense row needs for them */
    uint64_t labels;           /* their labels, a bit each */
    uint8_t of[SP_DENSE_MOST]; /* by label: the number of its stride */
    uint32_t k[SP_DENSE_MOST];
    uint64_t bit[SP_DENSE_MOST];
    double kept[SP_DENSE_MOST];
    double q[SP_DENSE_MOST];
    double f[SP_DENSE_MOST];
} sp_march;

SP_TEMPLATE void sp_march_begin(sp_march *march, const sp_stride *strides, ptrdiff_t n)
{
    march->n = (n + 3) / 4 * 4;
    march->lanes = 0;
    march->labels = 0;
    for (ptrdiff_t i = 0; i < march->n; i++) {
        const sp_stride *stride = &strides[SP_MIN(i, n - 1)];
        march->of[stride->k] = (uint8_t)i;
        march->k[i] = (uint32_t)stride->k;
        march->bit[i] = (uint64_t)1 << stride->k;
        march->kept[i] = stride->kept;
        march->q[i] = stride->q;
        march->f[i] = stride->f;
        march->labels |= march->bit[i];
        march->lanes = SP_MAX(march->lanes, march->k[i] + 1);
    }
}

/* Take these steps in a dense row that has these labels. Lanes of other labels stay zeros. */
SP_TEMPLATE void sp_dense_step(float *w, uint64_t labels, const sp_march *march, double X)
{
    ptrdiff_t i = 0;
#ifdef SP_FOURS_HERE
    const sp_uint4 there = SP_EACH_OF(labels);
    for (; i < march->n; i += 4) {
        float *const at[4] = {w + 2 * march->k[i], w + 2 * march->k[i + 1],
                              w + 2 * march->k[i + 2], w + 2 * march->k[i + 3]};
        sp_uint4 bit;
        sp_int4 has;
        sp_double4 kept, grown, far;
        memcpy(&bit, march->bit + i, sizeof(bit));
        has = (there & bit) == bit;
        sp_load(march->kept + i, &kept);
        sp_load(march->q + i, &grown);
        sp_load(march->f + i, &far);
        grown = (sp_double4)(has & (sp_int4)(grown * (X * X)));
        far = (sp_double4)(has & (sp_int4)(far * X));
        sp_step4(at, &kept, &grown, &far);
    }
#endif
    for (uint64_t left = i ? 0 : labels & march->labels; left; left &= left - 1) {
        const int k = sp_zeros_below(left);
        i = march->of[k];
        sp_step1(w + 2 * k, march->kept[i], march->q[i] * (X * X), march->f[i] * X);
    }
}

/* --- Entries */

#ifdef SP_FOURS_HERE

/* Four floats side by side. */
SP_TEMPLATE void sp_floats4(const float *x, sp_double4 *to)
{
    sp_float4 at;
    memcpy(&at, x, sizeof(at));
    sp_widen(at, to);
}

/* c of four entries side by side. */
SP_TEMPLATE void sp_counts4(const sp_entry *entries, sp_double4 *c)
{
    sp_float4 at[4];
    for (int k = 0; k < 4; k++) memcpy(&at[k], entries + k, sizeof(sp_entry));
    sp_widen(SP_LAST_HALVES(SP_FIRST_TWO(at[0], at[1]), SP_FIRST_TWO(at[2], at[3])), c);
}

#endif

/* Add w h of each label to its sum, and multiply its product by 1 + c t, in so many lanes of a
   dense row. Lanes that are not in the row are zeros, and change nothing. */
SP_TEMPLATE void sp_dense_hear(const sp_dense *dense, ptrdiff_t lanes, double h, double t,
                               double *dot, double *P)
{
    ptrdiff_t k = 0;
#ifdef SP_FOURS_HERE
    for (; k + 4 <= lanes; k += 4) {
        sp_double4 c, w, sum, product;
        sp_float4 ab, cd;
        memcpy(&ab, dense->w + 2 * k, sizeof(ab));
        memcpy(&cd, dense->w + 2 * k + 4, sizeof(cd));
        sp_widen(SP_SHUFFLE(ab, cd, 0, 2, 4, 6), &w);
        sp_floats4(dense->c + k, &c);
        sp_load(dot + k, &sum);
        sp_load(P + k, &product);
        sum += w * h;
        product *= 1.0 + c * t;
        sp_store(&sum, dot + k);
        sp_store(&product, P + k);
    }
#endif
    for (; k < lanes; k++) {
        dot[k] += (double)dense->w[2 * k] * h;
        P[k] *= 1.0 + (double)dense->c[k] * t;
    }
}

/* The sum of four lanes. */
SP_TEMPLATE double sp_lanes_sum(const double *all)
{
    return (all[0] + all[1]) + (all[2] + all[3]);
}

/* The sums of c and of c^2 rD over a row. */
SP_TEMPLATE void sp_entries_sums(const sp_entry *entries, uint32_t n, const double *rD, double *sum,
                                 double *squares)
{
    double all[4] = {0.0, 0.0, 0.0, 0.0}, of_squares[4] = {0.0, 0.0, 0.0, 0.0};
    uint32_t i = 0;
#ifdef SP_FOURS_HERE
    if (n >= 4) {
        const bool has_all = entries[n - 1].k == n - 1; /* labels 0 to n - 1: rows are sorted */
        sp_double4 counts = SP_EACH(0.0), chi2 = SP_EACH(0.0), c, rarity;
        for (; i + 4 <= n; i += 4) {
            const sp_entry *at = entries + i;
            sp_counts4(at, &c);
            if (has_all)
                sp_load(rD + i, &rarity);
            else
                rarity = (sp_double4){rD[at[0].k], rD[at[1].k], rD[at[2].k], rD[at[3].k]};
            counts += c;
            chi2 += (c * c) * rarity;
        }
        for (int k = 0; k < 4; k++) {
            all[k] = counts[k];
            of_squares[k] = chi2[k];
        }
    }
#endif
    for (; i < n; i += 4) {
        for (uint32_t lane = 0; lane < 4 && i + lane < n; lane++) { /* a constant: a register */
            double c = (double)entries[i + lane].c;
            all[lane] += c;
            of_squares[lane] += (c * c) * rD[entries[i + lane].k];
        }
    }
    *sum = sp_lanes_sum(all);
    *squares = sp_lanes_sum(of_squares);
}

/* The same over a dense row, whose i-th label is in lane i mod 4. */
SP_TEMPLATE void sp_dense_sums(const sp_dense *dense, const double *rD, double *sum,
                               double *squares)
{
    double all[4] = {0.0, 0.0, 0.0, 0.0}, of_squares[4] = {0.0, 0.0, 0.0, 0.0};
    uint64_t left = *dense->labels;
    uint32_t i = 0;
#ifdef SP_FOURS_HERE
    const uint32_t n = sp_ones(left);
    sp_double4 counts = SP_EACH(0.0), chi2 = counts, c = counts, rarity = counts;
    if ((left & (left + 1)) == 0) { /* labels 0 to n - 1; behind them zeros, which add nothing */
        for (; i < n; i += 4) {
            sp_floats4(dense->c + i, &c);
            sp_load(rD + i, &rarity);
            counts += c;
            chi2 += (c * c) * rarity;
        }
        left = 0;
    }
    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; k++, left &= left - 1) {
            const int label = sp_zeros_below(left);
            c[k] = (double)dense->c[label];
            rarity[k] = rD[label];
        }
        counts += c;
        chi2 += (c * c) * rarity;
    }
    for (int k = 0; k < 4; k++) {
        all[k] = counts[k];
        of_squares[k] = chi2[k];
    }
#endif
    for (; left; i++, left &= left - 1) {
        const int label = sp_zeros_below(left);
        double c_k = (double)dense->c[label];
        all[i % 4] += c_k;
        of_squares[i % 4] += (c_k * c_k) * rD[label];
    }
    *sum = sp_lanes_sum(all);
    *squares = sp_lanes_sum(of_squares);
}

/* The same over a row in either form. */
SP_TEMPLATE void sp_row_sums(const sp_sparse_rows *rows, const sp_sparse *row, const double *rD,
                             double *sum, double *squares)
{
    if (row->dense) {
        const sp_dense dense = sp_dense_of(rows, row);
        sp_dense_sums(&dense, rD, sum, squares);
    } else
        sp_entries_sums(sp_row_entries(rows, row), row->n, rD, sum, squares);
}

/* Up to four features that have been counted, and up to four whose rows have been summed since. A
   number that was just written should not be read at once together with its neighbours, which
   stalls. So rows are summed when four features have been counted, and N and om follow with the
   next four. */
typedef struct sp_dues {
    int n;
    int n_summed;
    sp_head *head[4];
    sp_head *summed[4];
    double cnt[4];
    double N[4];
    double squares[4];
} sp_dues;

SP_TEMPLATE void sp_dues_begin(sp_dues *dues)
{
    dues->n = dues->n_summed = 0;
    for (int k = 0; k < 4; k++)
        dues->cnt[k] = dues->N[k] = dues->squares[k] = 0.0;
}

/* Write N and om of the summed ones, and sum the rows of the others; `all`: T + K. */
SP_TEMPLATE void sp_dues_settle(sp_dues *dues, const sp_sparse_rows *rows, const double *rD,
                                double all)
{
#ifdef SP_FOURS_HERE
    float om[4];
    sp_float4 narrow;
    sp_double4 known, N, chi2;
    sp_load(dues->cnt, &known);
    sp_load(dues->N, &N);
    sp_load(dues->squares, &chi2);
    known = 1.0 / (known + 1.0);
    chi2 = all * chi2 - N * N;
    chi2 = SP_WHERE(chi2 > SP_EACH(0.0), chi2, SP_EACH(0.0));
    chi2 = SP_EPS + chi2 * (known * known);
    for (int k = 0; k < 4; k++) chi2[k] = sqrt(chi2[k]);
    narrow = __builtin_convertvector(chi2, sp_float4);
    memcpy(om, &narrow, sizeof(om));
#endif
    for (int k = 0; k < dues->n_summed; k++) {
        dues->summed[k]->of.N = dues->N[k];
#ifdef SP_FOURS_HERE
        dues->summed[k]->om = om[k];
#else
        dues->summed[k]->om = sp_om(dues->cnt[k], all, dues->squares[k], dues->N[k]);
#endif
    }
    for (int k = 0; k < dues->n; k++) {
        sp_head *head = dues->summed[k] = dues->head[k];
        sp_row_sums(rows, &head->row, rD, &dues->N[k], &dues->squares[k]);
        dues->cnt[k] = (double)head->cnt;
    }
    dues->n_summed = dues->n;
    dues->n = 0;
}

/* --- Arrays */

/* The sum of an array. */
SP_UNSEEN SP_APART double sp_met_sum(const double *x, ptrdiff_t n)
{
    double all[4] = {0.0, 0.0, 0.0, 0.0};
    ptrdiff_t k = 0;
    for (; k + 4 <= n; k += 4) {
        all[0] += x[k];
        all[1] += x[k + 1];
        all[2] += x[k + 2];
        all[3] += x[k + 3];
    }
    for (; k < n; k++)
        all[k % 4] += x[k];
    return sp_lanes_sum(all);
}

/* The sum of the products of two arrays. */
SP_TEMPLATE double sp_met_dot(const double *x, const double *y, ptrdiff_t n)
{
    double all[4] = {0.0, 0.0, 0.0, 0.0};
    ptrdiff_t k = 0;
    for (; k + 4 <= n; k += 4) {
        all[0] += x[k] * y[k];
        all[1] += x[k + 1] * y[k + 1];
        all[2] += x[k + 2] * y[k + 2];
        all[3] += x[k + 3] * y[k + 3];
    }
    for (; k < n; k++)
        all[k % 4] += x[k] * y[k];
    return sp_lanes_sum(all);
}

/* The largest of these numbers, none of which is NaN, and of `most`. */
SP_TEMPLATE double sp_met_most(const double *x, ptrdiff_t n, double most)
{
    double a = most, b = most, c = most, d = most;
    ptrdiff_t k = 0;
    for (; k + 4 <= n; k += 4) {
        a = x[k] > a ? x[k] : a;
        b = x[k + 1] > b ? x[k + 1] : b;
        c = x[k + 2] > c ? x[k + 2] : c;
        d = x[k + 3] > d ? x[k + 3] : d;
    }
    for (; k < n; k++)
        a = x[k] > a ? x[k] : a;
    return SP_MAX(SP_MAX(a, b), SP_MAX(c, d));
}

/* The second largest of these numbers and of so many zeros. */
SP_TEMPLATE double sp_met_second(const double *x, ptrdiff_t n, ptrdiff_t zeros)
{
    double first[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
    double second[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
    double most = zeros > 0 ? 0.0 : -INFINITY;
    double next = zeros > 1 ? 0.0 : -INFINITY;
    for (ptrdiff_t k = 0; k < n; k += 4) {
        for (ptrdiff_t lane = 0; lane < 4 && k + lane < n; lane++) {
            const double at = x[k + lane];
            const double less = at < first[lane] ? at : first[lane];
            first[lane] = at > first[lane] ? at : first[lane];
            second[lane] = less > second[lane] ? less : second[lane];
        }
    }
    for (int lane = 0; lane < 4; lane++) {
        next = SP_MAX(SP_MAX(next, second[lane]), SP_MIN(most, first[lane]));
        most = SP_MAX(most, first[lane]);
    }
    return next;
}

/* The first place from k on of a number of at least `least`; n: none. There are few of these, so
   four numbers are tested at once. */
SP_TEMPLATE ptrdiff_t sp_met_from(const double *x, ptrdiff_t k, ptrdiff_t n, double least)
{
    while (k + 4 <= n
           && !((x[k] >= least) | (x[k + 1] >= least) | (x[k + 2] >= least) | (x[k + 3] >= least)))
        k += 4;
    while (k < n && !(x[k] >= least))
        k++;
    return k;
}

#endif
