/* Loops over features four at a time, where a register has four doubles (SP_AVX2's `wide`). With
   two labels events are answered and learned like this; with more labels only the part of an answer
   that comes from the heads.

   Four heads are read and transposed, so that a register has the same number of all four. The
   formulas of features/head.h are computed lane by lane, and learning transposes the heads back.
   The last features of an event are taken one by one (sp_heads_any, sp_learn_some).

       head 0   s cnt om w G c0 c1             s     of 0  1  2  3
       head 1   s cnt om w G c0 c1     <-->    cnt   of 0  1  2  3
       head 2   s cnt om w G c0 c1             ..
       head 3   s cnt om w G c0 c1             c1    of 0  1  2  3

   A lane does what the loop over single features does, in the same order. Each sum takes the
   features one after the other: several sums are side by side, and none is split. So the bits are
   the same. Learning needs four different slots: if the ceiling refused one (slot 0), if two share
   a slot (hashed) or if counts may have to be halved, features are taken one by one.

   Functions in this file: sp_heads_fours, for sp_heads of adaptive/slots.h; sp_learn_pair; the
   others are their parts. */

#ifndef STREAMPTRON_ADAPTIVE_TWO_H
#define STREAMPTRON_ADAPTIVE_TWO_H

#include "features/fours.h"
#include "features/head.h"

#ifdef SP_FOURS

enum { SP_HEADS_AHEAD = 32 };       /* how many entries ahead heads are prefetched */

typedef struct {                    /* the numbers of four heads */
    sp_double4 s, cnt, om, w, G, c0, c1;
} sp_heads4;

/* Read the heads of four slots; their addresses go to `heads`. */
SP_TEMPLATE void sp_take_heads(double *const *chunks, const uint32_t *slots, char **heads,
                               sp_heads4 *to)
{
    sp_float4 a[4], b[4], ab, cd;
    for (int k = 0; k < 4; k++) {
        heads[k] = (char *)sp_head_of(chunks, slots[k]);
        memcpy(&a[k], heads[k], 16);            /* s, as wide as two floats, cnt, om */
        memcpy(&b[k], heads[k] + 16, 16);       /* w, G, c0, c1 */
    }
    to->s = SP_SHUFFLE(SP_SHUFFLE((sp_double2)a[0], (sp_double2)a[1], 0, 2),
                       SP_SHUFFLE((sp_double2)a[2], (sp_double2)a[3], 0, 2), 0, 1, 2, 3);
    ab = SP_LAST_TWO(a[0], a[1]);
    cd = SP_LAST_TWO(a[2], a[3]);
    sp_widen(SP_FIRST_HALVES(ab, cd), &to->cnt);
    sp_widen(SP_LAST_HALVES(ab, cd), &to->om);
    ab = SP_FIRST_TWO(b[0], b[1]);
    cd = SP_FIRST_TWO(b[2], b[3]);
    sp_widen(SP_FIRST_HALVES(ab, cd), &to->w);
    sp_widen(SP_LAST_HALVES(ab, cd), &to->G);
    ab = SP_LAST_TWO(b[0], b[1]);
    cd = SP_LAST_TWO(b[2], b[3]);
    sp_widen(SP_FIRST_HALVES(ab, cd), &to->c0);
    sp_widen(SP_LAST_HALVES(ab, cd), &to->c1);
}

/* Numbers a and b of four features, as pairs of floats: of features 0 and 1, and of 2 and 3. */
SP_TEMPLATE void sp_as_pairs(const sp_double4 *a, const sp_double4 *b, sp_double2 *pairs)
{
    const sp_float4 c = __builtin_convertvector(*a, sp_float4);
    const sp_float4 d = __builtin_convertvector(*b, sp_float4);
    pairs[0] = (sp_double2)SP_FIRST_TWO(c, d);
    pairs[1] = (sp_double2)SP_LAST_TWO(c, d);
}

/* The reverse of sp_take_heads. */
SP_TEMPLATE void sp_put_heads(char *const *heads, const sp_heads4 *from)
{
    const sp_double2 s[2] = {SP_SHUFFLE(from->s, from->s, 0, 1), SP_SHUFFLE(from->s, from->s, 2,
                                                                            3)};
    sp_double2 cnt_om[2], w_G[2], c[2];
    sp_as_pairs(&from->cnt, &from->om, cnt_om);
    sp_as_pairs(&from->w, &from->G, w_G);
    sp_as_pairs(&from->c0, &from->c1, c);
    for (int k = 0; k < 4; k++) {
        const int of = k / 2;
        const sp_double2 a = k % 2 ? SP_SHUFFLE(s[of], cnt_om[of], 1, 3)
                                   : SP_SHUFFLE(s[of], cnt_om[of], 0, 2);
        const sp_double2 b = k % 2 ? SP_SHUFFLE(w_G[of], c[of], 1, 3) : SP_SHUFFLE(w_G[of], c[of],
                                                                                   0, 2);
        memcpy(heads[k], &a, 16);
        memcpy(heads[k] + 16, &b, 16);
    }
}

/* sp_moved where the sizes differ; elsewhere the mean stays. */
SP_TEMPLATE void sp_move_means(sp_double4 *mean, const sp_double4 *sizes, const sp_double4 *share,
                               const sp_int4 *differ)
{
    const sp_double4 most = *mean * SP_EACH(SP_MEAN_MOST);
    const sp_int4 over = (sp_int4)(*mean > SP_EACH(0.0)) & (sp_int4)(*sizes > most);
    const sp_double4 a = SP_WHERE(over, most, *sizes);
    const sp_double4 moved = *mean + (a - *mean) * *share, least = a * *share;
    const sp_double4 larger = SP_WHERE(least > moved, least, moved);
    *mean = SP_WHERE(*differ, larger, *mean);
}

/* Multiply the factors that four features' counts give for the two labels into two products, with
   fractions P and exponents E. `used`: how many features were counted. */
SP_TEMPLATE void sp_count_four(const sp_heads4 *f, const sp_double4 *x, const sp_double4 *all_T,
                               sp_int4 *used, sp_double2 *P, sp_int2 *E)
{
    const sp_double4 zero = SP_EACH(0.0), one = SP_EACH(1.0), N = f->c0 + f->c1;
    const sp_double4 s = (sp_double4)(SP_SIGN_OF(f->s) | SP_SIGN_OF(*x) | (sp_int4)one);
    const sp_int4 counted = (sp_int4)(N > zero) & (sp_int4)(s > zero);
    const sp_double4 t = (sp_double4)((sp_int4)(*all_T / N) & counted);
    const sp_double4 c0 = one + f->c0 * t, c1 = one + f->c1 * t;
    const sp_double4 even = SP_SHUFFLE(c0, c1, 0, 4, 2, 6), odd = SP_SHUFFLE(c0, c1, 1, 5, 3, 7);
    sp_double2 p = *P;
    *used -= counted;               /* a mask is -1 */
    p *= SP_SHUFFLE(even, even, 0, 1);
    p *= SP_SHUFFLE(odd, odd, 0, 1);
    p *= SP_SHUFFLE(even, even, 2, 3);
    p *= SP_SHUFFLE(odd, odd, 2, 3);
    *E += (sp_int2)((sp_uint2)p >> 52) - 1022;          /* sp_fraction of both */
    *P = (sp_double2)(((sp_int2)p & INT64_C(0xfffffffffffff)) | INT64_C(1022) << 52);
}

/* With more labels: t = `odds` / N of four features, or 0. */
SP_TEMPLATE void sp_odds_four(char *const *heads, const sp_double4 *s, const sp_double4 *x,
                              const sp_double4 *odds, sp_int4 *used, double *t)
{
    const sp_double4 zero = SP_EACH(0.0), one = SP_EACH(1.0);
    sp_double4 N, of;
    for (int k = 0; k < 4; k++) N[k] = ((const sp_head *)(const void *)heads[k])->of.N;
    of = (sp_double4)(SP_SIGN_OF(*s) | SP_SIGN_OF(*x) | (sp_int4)one);
    const sp_int4 counted = (sp_int4)(N > zero) & (sp_int4)(of > zero);
    *used -= counted;
    of = (sp_double4)((sp_int4)(*odds / N) & counted);
    sp_store(&of, t);
}

/* Compute v and h of an event's features in groups of four, and the sums over them. Returns how
   many features were taken. `odds`: T, or T / 3 with more than two labels. */
SP_TEMPLATE ptrdiff_t sp_heads_fours(double *const *chunks, const uint32_t *slots, const double *x,
                                     ptrdiff_t n, double T, double odds, sp_sums *sums,
                                     const int pair, int bayes)
{
    const sp_double4 zero = SP_EACH(0.0), one = SP_EACH(1.0), most = SP_EACH(SP_MOST);
    const double half = 0.5 * (T + 1.0);
    const sp_double4 frequent = SP_EACH(half < SP_COUNT_HALF ? half : SP_COUNT_HALF);
    const sp_double4 om_first = SP_EACH(SP_OM_FIRST), all_odds = SP_EACH(odds);
    double *of_v = sums->v, *of_h = sums->h;
    sp_double4 totals = zero;       /* of max(h^2, om^2), |h|, h^2 / (cnt + 1) and w h */
    sp_double2 P = {1.0, 1.0};
    sp_int2 E = {0, 0};
    sp_int4 used = {0, 0, 0, 0}, begins = {0, 0, 0, 0};
    ptrdiff_t i;
    for (i = 0; i < n && i < SP_HEADS_AHEAD; i++) sp_prefetch(sp_head_of(chunks, slots[i]));
    for (i = 0; i + 4 <= n; i += 4) {
        sp_heads4 f;
        char *heads[4];
        sp_double4 value, a, s, known, v, h, hh, least, even, odd, even_too, odd_too;
        sp_int4 differ;
        if (i + SP_HEADS_AHEAD + 4 <= n)
            for (int k = 0; k < 4; k++)
                sp_prefetch(sp_head_of(chunks, slots[i + SP_HEADS_AHEAD + k]));
        sp_take_heads(chunks, slots + i, heads, &f);
        sp_load(x + i, &value);
        a = SP_SIZE_OF(value);
        s = SP_SIZE_OF(f.s);
        f.om = SP_WHERE(f.om == zero, om_first, f.om);
        known = one / (f.cnt + one);
        v = one;
        least = zero;
        differ = (sp_int4)(value != f.s);
        if (sp_any(&differ)) {
            begins |= differ & (sp_int4)(f.cnt >= frequent);        /* sp_begins */
            differ = (sp_int4)(a != s);
            sp_move_means(&s, &a, &known, &differ);
            v = a / s;              /* 1 where the sizes are the same */
            v = SP_WHERE(v > most, most, v);
            least = f.om * f.om;
        }
        v = (sp_double4)((sp_int4)v | SP_SIGN_OF(value));
        h = f.om * v;
        hh = h * h;
        least = SP_WHERE(least > hh, least, hh);
        sp_store(&v, of_v + i);
        sp_store(&h, of_h + i);
        /* each feature's four addends: two registers have those of features 0 and 2, two those of 1
           and 3 */
        f.w = pair ? f.w * h : zero;
        known *= hh;
        h = SP_SIZE_OF(h);
        even = SP_SHUFFLE(least, h, 0, 4, 2, 6);
        odd = SP_SHUFFLE(least, h, 1, 5, 3, 7);
        even_too = SP_SHUFFLE(known, f.w, 0, 4, 2, 6);
        odd_too = SP_SHUFFLE(known, f.w, 1, 5, 3, 7);
        totals += SP_FIRST_HALVES(even, even_too);
        totals += SP_FIRST_HALVES(odd, odd_too);
        totals += SP_LAST_HALVES(even, even_too);
        totals += SP_LAST_HALVES(odd, odd_too);
        if (bayes && pair) sp_count_four(&f, &value, &all_odds, &used, &P, &E);
        if (bayes && !pair) sp_odds_four(heads, &f.s, &value, &all_odds, &used, sums->t + i);
    }
    sums->squares = totals[0];
    sums->length = totals[1];
    sums->unknown = totals[2];
    sums->dot = totals[3];
    sums->used = (ptrdiff_t)(used[0] + used[1] + used[2] + used[3]);
    sums->begins = sp_any(&begins);
    for (int k = 0; k < 2; k++) {
        sums->P[k] = P[k];
        sums->E[k] = (ptrdiff_t)E[k];
    }
    return i;
}

/* Learn four features, the event's entries from `i` on. Returns false if that is not possible. */
SP_TEMPLATE int sp_learn_four(double *const *chunks, const uint32_t *slots, const double *x,
                              ptrdiff_t i, const sp_sums *sums, double r, const sp_stride stride,
                              int y, double u, double all, const double *rD, int steps)
{
    const sp_double4 zero = SP_EACH(0.0), one = SP_EACH(1.0);
    sp_heads4 f;
    char *heads[4];
    sp_double4 value, a, s, v, cnt, N, chi2, known;
    sp_word4 four, fault;
    sp_int4 differ, halved;
    memcpy(&four, slots + i, sizeof(four));
    sp_take_heads(chunks, slots + i, heads, &f);
    cnt = f.cnt + u;
    halved = (sp_int4)(f.cnt < SP_EACH(SP_COUNT_HALF)) | (sp_int4)(cnt >= SP_EACH(SP_COUNT_MOST));
    halved &= (sp_int4)(cnt >= SP_EACH(SP_COUNT_HALF));
    fault = (sp_word4)(four == 0) | (sp_word4)(four == SP_SHUFFLE(four, four, 1, 2, 3, 0))
            | (sp_word4)(four == SP_SHUFFLE(four, four, 2, 3, 0, 1));
    if (((sp_int2)fault)[0] | ((sp_int2)fault)[1] | sp_any(&halved)) return 0;
    sp_load(x + i, &value);
    sp_load(sums->v + i, &v);
    a = SP_SIZE_OF(value);
    s = SP_SIZE_OF(f.s);
    differ = (sp_int4)(a != s);
    if (sp_any(&differ)) {
        const sp_double4 share = u / cnt;
        sp_move_means(&s, &a, &share, &differ);
    }
    f.s = (sp_double4)((sp_int4)s | SP_SIGN_OF(value) | SP_SIGN_OF(f.s));
    f.cnt = cnt;
    sp_round(&f.cnt);
    if (y) {
        f.c1 += u * v;
        sp_round(&f.c1);
    } else {
        f.c0 += u * v;
        sp_round(&f.c0);
    }
    N = f.c0 + f.c1;
    chi2 = all * ((f.c0 * f.c0) * rD[0] + (f.c1 * f.c1) * rD[1]) - N * N;
    chi2 = SP_WHERE(chi2 > zero, chi2, zero);
    known = one / (f.cnt + one);
    f.om = SP_EPS + chi2 * (known * known);
    for (int k = 0; k < 4; k++) f.om[k] = sqrt(f.om[k]);
    if (steps) {
        sp_double4 X, root;
        sp_load(sums->h + i, &X);
        X *= r;
        f.G = f.G * stride.kept + stride.q * (X * X);
        sp_round(&f.G);
        root = f.G + SP_P0;
        for (int k = 0; k < 4; k++) root[k] = sqrt(root[k]);
        f.w += (stride.f * X) / root;
    }
    sp_put_heads(heads, &f);
    return 1;
}
#endif

/* The same, feature by feature, for the event's entries first .. last - 1. Features that the
   ceiling refused have slot 0. */
SP_TEMPLATE void sp_learn_some(double *const *chunks, const uint32_t *slots, const double *x,
                               ptrdiff_t first, ptrdiff_t last, const sp_sums *sums, double r,
                               const sp_stride stride, int y, double u, double all,
                               const double *rD, int steps)
{
    for (ptrdiff_t i = first; i < last; i++) {
        sp_head *head = sp_head_of(chunks, slots[i]);
        double halved, c0, c1;
        if (slots[i] == 0) continue;
        if (steps) {
            double X = sums->h[i] * r;
            head->G = (float)(head->G * stride.kept + stride.q * (X * X));
            head->w = (float)(head->w + (stride.f * X) / sqrt(head->G + SP_P0));
        }
        halved = sp_count(head, x[i], u, all);
        head->of.c[y] = (float)((head->of.c[y] + u * sums->v[i]) * halved);
        head->of.c[1 - y] = (float)(head->of.c[1 - y] * halved);
        c0 = head->of.c[0];
        c1 = head->of.c[1];
        head->om = sp_om(head->cnt, all, (c0 * c0) * rD[0] + (c1 * c1) * rD[1], c0 + c1);
    }
}

/* Learn an event whose label has place y, 0 or 1: the stride, if there is one (q > 0), and the
   counts. After this event, `all` is T + 2, and rD is 1 / (D + 1) of both places. */
SP_AVX2(void, sp_learn_pair,
        (double *const *chunks, const uint32_t *slots, const double *x, ptrdiff_t n,
         const sp_sums *sums, double r, const sp_stride *stride, int y, double u, double all,
         const double *rD),
        (chunks, slots, x, n, sums, r, stride, y, u, all, rD))
{
    const int steps = stride->q > 0.0;
    for (ptrdiff_t i = 0; i < n; i += 4) {
#ifdef SP_FOURS
        if (wide && i + 4 <= n
            && sp_learn_four(chunks, slots, x, i, sums, r, *stride, y, u, all, rD, steps))
            continue;
#endif
        sp_learn_some(chunks, slots, x, i, SP_MIN(i + 4, n), sums, r, *stride, y, u, all, rD,
                      steps);
    }
}

#endif
