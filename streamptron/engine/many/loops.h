/* The loops over the labels that an event has met, four at a time.

   A lane does what the formulas of adaptive/logs.h do of one number, in the same order: so the bits
   are the same, whatever registers a machine has, and with -DSTREAMPTRON_PLAIN those formulas serve
   alone. Sums over these labels are in four lanes in either case, the i-th label in lane i mod 4,
   which is how the rule has them: one after the other each would wait for the one before.

   Functions in this file: sp_logs and sp_exps; sp_met_scores; sp_met_sum, sp_met_most and
   sp_met_from of an array. */

#ifndef STREAMPTRON_MANY_LOOPS_H
#define STREAMPTRON_MANY_LOOPS_H

#include "adaptive/two.h"

#ifdef SP_FOURS

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
    sp_double4 p = ((1.0 / 3 + 1.0 / 5 * q) + (1.0 / 7 + 1.0 / 9 * q) * q2)
                   + ((1.0 / 11 + 1.0 / 13 * q) + (1.0 / 15 + 1.0 / 17 * q) * q2) * q4;
    p = (p + ((1.0 / 19 + 1.0 / 21 * q) + 1.0 / 23 * q2) * (q4 * q4)) * q;
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
    sp_double4 p = ((1.0 / 2.0 + 1.0 / 6.0 * r) + (1.0 / 24.0 + 1.0 / 120.0 * r) * r2)
                   + ((1.0 / 720.0 + 1.0 / 5040.0 * r)
                      + (1.0 / 40320.0 + 1.0 / 362880.0 * r) * r2) * r4;
    p = p + ((1.0 / 3628800.0 + 1.0 / 39916800.0 * r)
             + (1.0 / 479001600.0 + 1.0 / 6227020800.0 * r) * r2) * (r4 * r4);
    p = (p * r + 1.0) * r + 1.0;
    p *= (sp_double4)((sp_uint4)(k + (0x1p52 + 1023.0)) << 52);
    *e = SP_WHERE(none, SP_EACH(0.0), p);
}

#endif

/* z[k] = (log P[k] + E[k] log 2) - times (lnD[k] - prior); P's exponent is moved to E first. */
SP_WIDER(void, sp_logs,
         (const double *P, const double *E, const double *lnD, double prior, double times,
          double *z, ptrdiff_t n),
         (P, E, lnD, prior, times, z, n))
{
    ptrdiff_t k = 0;
#ifdef SP_FOURS
    for (; k + 4 <= n; k += 4) {
        sp_double4 x, e, rarity, exponent, log;
        sp_load(P + k, &x);
        sp_load(E + k, &e);
        sp_load(lnD + k, &rarity);
        sp_log4(&x, &exponent, &log);
        x = (log + (exponent + e) * SP_LN2) - times * (rarity - prior);
        sp_store(&x, z + k);
    }
#endif
    for (; k < n; k++) {
        ptrdiff_t e = 0;
        const double half = sp_fraction(P[k], &e);
        z[k] = (sp_log(half) + ((double)e + E[k]) * SP_LN2) - times * (lnD[k] - prior);
    }
}

/* p[k] = e^(scale score[k] - best). */
SP_WIDER(void, sp_exps,
         (const double *score, double scale, double best, double *p, ptrdiff_t n),
         (score, scale, best, p, n))
{
    ptrdiff_t k = 0;
#ifdef SP_FOURS
    for (; k + 4 <= n; k += 4) {
        sp_double4 x, e;
        sp_load(score + k, &x);
        x = x * scale - best;
        sp_exp4(&x, &e);
        sp_store(&e, p + k);
    }
#endif
    for (; k < n; k++)
        p[k] = sp_exp(score[k] * scale - best);
}

/* What naive Bayes says, V = clip(z / m, most), and score = dot r + w0 + wn V, in dot's place. */
SP_WIDER(void, sp_met_scores,
         (const double *z, double m, double most, const double *w0, double r, double wn, double *V,
          double *score, ptrdiff_t n),
         (z, m, most, w0, r, wn, V, score, n))
{
    ptrdiff_t k = 0;
#ifdef SP_FOURS
    for (; k + 4 <= n; k += 4) {
        sp_double4 v, x, intercept;
        sp_load(z + k, &v);
        sp_load(score + k, &x);
        sp_load(w0 + k, &intercept);
        v = v / m;
        v = SP_WHERE(v > SP_EACH(most), SP_EACH(most), v);
        v = SP_WHERE(v < SP_EACH(-most), SP_EACH(-most), v);
        x = (x * r + intercept) + wn * v;
        sp_store(&v, V + k);
        sp_store(&x, score + k);
    }
#endif
    for (; k < n; k++) {
        V[k] = sp_clip(z[k] / m, most);
        score[k] = (score[k] * r + w0[k]) + wn * V[k];
    }
}

/* The sum of an array. */
SP_TEMPLATE double sp_met_sum(const double *x, ptrdiff_t n)
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
    return (all[0] + all[1]) + (all[2] + all[3]);
}

/* The largest of these, which are numbers, and of `most`. */
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

/* The first place from k on of a number that is no less than `least`; n: there is none. Few are, so
   four are asked at once. */
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
