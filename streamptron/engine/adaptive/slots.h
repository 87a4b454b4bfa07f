/* The loops over an event's slots for AdaptiveClassifier.

   engine/adaptive/adaptive.h says what the letters mean and how a slot is laid out. The loops here
   take one slot at a time, those in adaptive/two.h four. The order of every sum and product is that
   of the plain-Python twin: one accumulator for each sum, in the event's order. What is kept for a
   feature is rounded to a float when it is stored; all arithmetic is in doubles. So every loop
   gives the same bits, whatever registers it uses, and with -DSTREAMPTRON_PLAIN only the plain
   loops are used.

   Functions in this file: sp_heads (for an event's features, all that does not depend on the
   label); sp_odds_of (for one slot). */

#ifndef STREAMPTRON_ADAPTIVE_SLOTS_H
#define STREAMPTRON_ADAPTIVE_SLOTS_H

#include "adaptive/two.h"

/* --- The answer ------------------------------------------------------------------------------- */

/* Compute v, h and t of an event's features, and the sums over them. `pair`: there are at most two
   labels, whose numbers are all in the heads. */
SP_TEMPLATE void sp_heads_any(double *const *chunks, const uint32_t *slots, const double *x,
                              ptrdiff_t n, double T, sp_sums *sums, const int pair, int bayes,
                              SP_MAYBE_UNUSED const bool wide)
{
    double squares = 0.0, length = 0.0, unknown = 0.0, dot = 0.0, P0 = 1.0, P1 = 1.0;
    ptrdiff_t E0 = 0, E1 = 0, used = 0, i = 0;
    double *of_v = sums->v, *of_h = sums->h, *of_t = sums->t;
    const double odds = pair ? T : T / 3.0;
    int begins = 0;
#ifdef SP_FOURS
    if (wide) {
        i = sp_heads_fours(chunks, slots, x, n, T, odds, sums, pair, bayes);
        begins = sums->begins;
        squares = sums->squares;
        length = sums->length;
        unknown = sums->unknown;
        dot = sums->dot;
        used = sums->used;
        P0 = sums->P[0];
        P1 = sums->P[1];
        E0 = sums->E[0];
        E1 = sums->E[1];
    }
#endif
    for (; i < n; i++) {
        const sp_head *head = sp_head_of(chunks, slots[i]);
        double a = fabs(x[i]), s = fabs(head->s);
        double om = head->om == 0.0f ? SP_OM_FIRST : head->om;
        double N = pair ? (double)head->of.c[0] + head->of.c[1] : head->of.N;
        double v, h, hh, least, known, t;
        if (i + SP_AHEAD < n)
            sp_prefetch(sp_head_of(chunks, slots[i + SP_AHEAD]));
        sp_divided(1.0, head->cnt + 1.0, odds, N, &known, &t);
        begins |= sp_begins(head, x[i], T);
        if (a == s)                 /* if the value is always the same, the mean stays exact */
            v = x[i] > 0.0 ? 1.0 : -1.0;
        else
            v = sp_clip(x[i] / sp_moved(s, a, known), SP_MOST);
        h = om * v;
        hh = h * h;
        least = om * om;
        squares += hh > least ? hh : least;
        length += fabs(h);
        unknown += hh * known;
        of_v[i] = v;
        of_h[i] = h;
        if (pair) dot += head->w * h;
        if (!bayes) continue;
        if (N > 0.0 && !signbit(head->s) && x[i] > 0.0)
            used++;
        else
            t = 0.0;
        if (pair) {
            P0 *= 1.0 + head->of.c[0] * t;
            P1 *= 1.0 + head->of.c[1] * t;
            if ((i & 3) == 3) {
                P0 = sp_fraction(P0, &E0);
                P1 = sp_fraction(P1, &E1);
            }
        } else {
            of_t[i] = t;
        }
    }
    sums->squares = squares;
    sums->length = length;
    sums->unknown = unknown;
    sums->dot = dot;
    sums->used = used;
    sums->begins = begins;
    sums->P[0] = sp_fraction(P0, &E0);
    sums->P[1] = sp_fraction(P1, &E1);
    sums->E[0] = E0;
    sums->E[1] = E1;
}

SP_AVX2(void, sp_heads,
        (double *const *chunks, const uint32_t *slots, const double *x, ptrdiff_t n, double T,
         sp_sums *sums, int pair, int bayes),
        (chunks, slots, x, n, T, sums, pair, bayes))
{
    if (pair) sp_heads_any(chunks, slots, x, n, T, sums, 1, bayes, wide);
    else sp_heads_any(chunks, slots, x, n, T, sums, 0, bayes, wide && !SP_SMALL);
}

/* --- One slot --------------------------------------------------------------------------------- */

/* T / N of a feature that takes part in naive Bayes with value x, else 0. */
static inline double sp_odds_of(const sp_head *head, double x, double T)
{
    double N = (double)head->of.c[0] + head->of.c[1];
    return N > 0.0 && !signbit(head->s) && x > 0.0 ? T / N : 0.0;
}

#endif
