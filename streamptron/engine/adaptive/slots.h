/* The loops over an event's slots for AdaptiveClassifier.

   engine/adaptive/adaptive.h says what the letters mean and how a slot is laid out; here is what is
   done to each slot, and in adaptive/two.h what is done to four at once while there are two
   labels. The order of every sum and product is that of the plain-Python twin: one accumulator for
   each sum, in the event's order, and four for sums over labels (place k in lane k mod 4). What is
   kept for a feature is rounded to a float when it is stored; all arithmetic is in doubles. So
   every loop gives the same bits, whatever registers it uses, and with -DSTREAMPTRON_PLAIN the
   plain ones serve alone.

   Functions in this file: sp_heads (an event's features, all that does not depend on the label) and
   sp_speak (the outputs' sums, for more than two labels);
   to learn more than two sp_deal_all, sp_stride_many and sp_count_many; sp_weight, sp_count_of,
   sp_odds_of and sp_size of one slot; sp_slot_fault, for slots read from a file. */

#ifndef STREAMPTRON_ADAPTIVE_SLOTS_H
#define STREAMPTRON_ADAPTIVE_SLOTS_H

#include "adaptive/two.h"

/* --- The answer ------------------------------------------------------------------------------- */

/* An event's features: v, h and t of each, and the sums over them. `pair`: there are two labels at
   most, and the heads are all there is of them. */
SP_TEMPLATE void sp_heads_any(double *const *chunks, const uint32_t *slots, const double *x,
                              ptrdiff_t n, double T, sp_sums *sums, const int pair,
                              const int bayes)
{
    double squares = 0.0, length = 0.0, unknown = 0.0, dot = 0.0, P0 = 1.0, P1 = 1.0;
    ptrdiff_t E0 = 0, E1 = 0, used = 0, i = 0;
    double *of_v = sums->v, *of_h = sums->h, *of_t = sums->t;
    int begins = 0;
#ifdef SP_FOURS
    if (pair) {
        i = sp_heads_fours(chunks, slots, x, n, T, sums, bayes);
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
        double N = pair || !sp_is_dealt(head) ? (double)head->of.c[0] + head->of.c[1] : head->of.N;
        double v, h, hh, least, known, t;
        if (i + SP_AHEAD < n)
            sp_prefetch(sp_head_of(chunks, slots[i + SP_AHEAD]));
        sp_divided(1.0, head->cnt + 1.0, T, N, &known, &t);
        begins |= sp_begins(head, x[i], T);
        if (a == s)                 /* where a value is always the same the mean stays, exactly */
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

SP_WIDER static inline void sp_heads(double *const *chunks, const uint32_t *slots, const double *x,
                                     ptrdiff_t n, double T, sp_sums *sums, int pair, int bayes)
{
    if (pair && bayes) sp_heads_any(chunks, slots, x, n, T, sums, 1, 1);
    else if (pair) sp_heads_any(chunks, slots, x, n, T, sums, 1, 0);
    else if (bayes) sp_heads_any(chunks, slots, x, n, T, sums, 0, 1);
    else sp_heads_any(chunks, slots, x, n, T, sums, 0, 0);
}

/* Four places and more: for each the sum of w h, and the product of 1 + c t as P 2^E. Up to four
   blocks of four places side by side; `first`: place 0 is among them, which slots that are not yet
   dealt out have in their heads. */
#if SP_VECTORS
/* Four floats as doubles. */
SP_TEMPLATE void sp_widened(const float *from, sp_double4 *to)
{
    sp_float4 four;
    memcpy(&four, from, sizeof(four));
    sp_widen(four, to);
}

#define SP_SPEAK(name, blocks) \
SP_WIDER static void name(double ***chunks, double *const *heads, const uint32_t *slots, \
                          const sp_sums *sums, ptrdiff_t n, int first, int positive, double *dots, \
                          double *P, double *E) \
{ \
    const sp_int4 fraction = {0xfffffffffffff, 0xfffffffffffff, 0xfffffffffffff, 0xfffffffffffff}; \
    const int64_t in_bits = INT64_C(1022) << 52; \
    const sp_int4 half = {in_bits, in_bits, in_bits, in_bits}; \
    const sp_int4 zero = {0}, bias = {1022, 1022, 1022, 1022}; \
    const double *of_h = sums->h, *of_t = sums->t; \
    sp_double4 dot[blocks], product[blocks]; \
    sp_int4 exponent[blocks]; \
    for (int b = 0; b < blocks; b++) { \
        dot[b] = (sp_double4){0.0}; \
        product[b] = (sp_double4){1.0, 1.0, 1.0, 1.0}; \
        exponent[b] = zero; \
    } \
    for (ptrdiff_t i = 0; i < n; i++) { \
        const uint32_t slot = slots[i]; \
        const double h = of_h[i], t = of_t[i]; \
        sp_four_places in_head; \
        const sp_four_places *four = sp_places_of(chunks[0], slot); \
        sp_double4 w, c; \
        if (i + SP_AHEAD < n) \
            for (int b = 0; b < blocks; b++) \
                sp_prefetch(sp_places_of(chunks[b], slots[i + SP_AHEAD])); \
        if (first) { \
            const sp_head *head = sp_head_of(heads, slot); \
            if (!sp_is_dealt(head)) { \
                in_head = sp_dealt(head, positive); \
                four = &in_head; \
            } \
        } \
        for (int b = 0; b < blocks; b++) { \
            if (b) four = sp_places_of(chunks[b], slot); \
            sp_widened(four->w, &w); \
            sp_widened(four->c, &c); \
            dot[b] += w * h; \
            product[b] *= 1.0 + c * t; \
        } \
        if ((i & 3) == 3 || i == n - 1) \
            for (int b = 0; b < blocks; b++) { \
                sp_int4 bits = (sp_int4)product[b]; \
                exponent[b] += (bits >> 52) - bias; \
                product[b] = (sp_double4)((bits & fraction) | half); \
            } \
    } \
    for (int b = 0; b < blocks; b++) { \
        sp_double4 e = __builtin_convertvector(exponent[b], sp_double4); \
        memcpy(dots + 4 * b, &dot[b], sizeof(e)); \
        memcpy(P + 4 * b, &product[b], sizeof(e)); \
        memcpy(E + 4 * b, &e, sizeof(e)); \
    } \
}
SP_SPEAK(sp_speak_1, 1)
SP_SPEAK(sp_speak_2, 2)
SP_SPEAK(sp_speak_3, 3)
SP_SPEAK(sp_speak_4, 4)
#else
static inline void sp_speak_plain(double *const *chunks, double *const *heads,
                                  const uint32_t *slots, const sp_sums *sums, ptrdiff_t n,
                                  int first, int positive, double *dots, double *P, double *E)
{
    ptrdiff_t exponent[4] = {0, 0, 0, 0};
    for (int k = 0; k < 4; k++) {
        dots[k] = 0.0;
        P[k] = 1.0;
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        sp_four_places four = *sp_places_of(chunks, slots[i]);
        if (first && !sp_is_dealt(sp_head_of(heads, slots[i]))) four = sp_dealt(sp_head_of(heads,
                slots[i]), positive);
        for (int k = 0; k < 4; k++) {
            dots[k] += four.w[k] * sums->h[i];
            P[k] *= 1.0 + four.c[k] * sums->t[i];
            if ((i & 3) == 3 || i == n - 1) P[k] = sp_fraction(P[k], &exponent[k]);
        }
    }
    for (int k = 0; k < 4; k++) E[k] = (double)exponent[k];
}
#endif

/* For `n_fours` times four places: fours[b] are the chunks of places 4 b and on. */
static inline void sp_speak(double ***fours, ptrdiff_t n_fours, double *const *heads,
                            const uint32_t *slots, const sp_sums *sums, ptrdiff_t n, int positive,
                            double *dots, double *P, double *E)
{
    for (ptrdiff_t b = 0; b < n_fours;) {
        int g = n_fours - b < 4 ? (int)(n_fours - b) : 4;
#if SP_VECTORS
        if (g == 1) sp_speak_1(fours + b, heads, slots, sums, n, b == 0, positive, dots, P, E);
        else if (g == 2) sp_speak_2(fours + b, heads, slots, sums, n, b == 0, positive, dots, P, E);
        else if (g == 3) sp_speak_3(fours + b, heads, slots, sums, n, b == 0, positive, dots, P, E);
        else sp_speak_4(fours + b, heads, slots, sums, n, b == 0, positive, dots, P, E);
#else
        for (int k = 0; k < g; k++)
            sp_speak_plain(fours[b + k], heads, slots, sums, n, b == 0 && k == 0, positive,
                           dots + 4 * k, P + 4 * k,
                           E + 4 * k);
#endif
        b += g;
        dots += 4 * g;
        P += 4 * g;
        E += 4 * g;
    }
}

/* --- Learning --------------------------------------------------------------------------------- */

SP_TEMPLATE sp_four_places *sp_places_at(const sp_blocks blocks, uint32_t slot, ptrdiff_t k)
{
    return sp_places_of(sp_chunks(blocks, sp_places_block(k)), slot);
}

SP_TEMPLATE float *sp_G_at(const sp_blocks blocks, uint32_t slot, ptrdiff_t k)
{
    return (float *)sp_slot(sp_chunks(blocks, sp_G_block(k)), slot, SP_HEAD_WIDTH) + k % SP_GROUP;
}

/* Deal a slot of two labels out to its groups. */
SP_TEMPLATE void sp_deal(const sp_blocks blocks, sp_head *head, uint32_t slot, int positive)
{
    float *G = sp_G_at(blocks, slot, 0);
    double N = (double)head->of.c[0] + head->of.c[1];
    *sp_places_at(blocks, slot, 0) = sp_dealt(head, positive);
    G[0] = G[1] = head->G;
    head->w = 0.0f;
    head->G = -1.0f;
    head->of.N = N;
}

/* Slots of two labels that the event has: dealt out to their groups. */
static inline void sp_deal_all(const sp_blocks *blocks, const uint32_t *slots, ptrdiff_t n,
                               int positive)
{
    double *const *heads = sp_chunks(*blocks, 0);
    for (ptrdiff_t i = 0; i < n; i++) {
        sp_head *head = sp_head_of(heads, slots[i]);
        if (slots[i] && !sp_is_dealt(head)) sp_deal(*blocks, head, slots[i], positive);
    }
}

/* Up to SP_STRIDES strides at once: side by side they take half the time of one by one. */
SP_WIDER static inline void sp_stride_many(const sp_blocks *blocks, const uint32_t *slots,
                                           ptrdiff_t n, const sp_sums *sums, double r,
                                           const sp_stride *strides, int m)
{
    double **of_w[SP_STRIDES], **of_G[SP_STRIDES];
    double f[SP_STRIDES], G[SP_STRIDES], step[SP_STRIDES];
    int lane_w[SP_STRIDES], lane_G[SP_STRIDES];
    const int whole = (m + 3) / 4 * 4;
    for (int j = 0; j < whole; j++) {
        f[j] = G[j] = 0.0;
        if (j >= m) continue;
        of_w[j] = sp_chunks(*blocks, sp_places_block(strides[j].k));
        of_G[j] = sp_chunks(*blocks, sp_G_block(strides[j].k));
        lane_w[j] = (int)(strides[j].k % 4);
        lane_G[j] = (int)(strides[j].k % SP_GROUP);
        f[j] = strides[j].f;
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        const uint32_t slot = slots[i];
        const double X = sums->h[i] * r, XX = X * X;
        if (slot == 0) continue;
        for (int j = 0; j < m; j++) {
            float *at = (float *)sp_slot(of_G[j], slot, SP_HEAD_WIDTH) + lane_G[j];
            G[j] = *at = (float)(*at * strides[j].kept + strides[j].q * XX);
        }
        for (int j = 0; j < whole; j += 4)
            for (int k = j; k < j + 4; k++) step[k] = (f[k] * X) / sqrt(G[k] + SP_P0);
        for (int j = 0; j < m; j++) {
            float *w = (float *)sp_slot(of_w[j], slot, SP_HEAD_WIDTH) + lane_w[j];
            *w = (float)(*w + step[j]);
        }
    }
}

/* The sums over a feature's places of c, and of c^2 / (D + 1), in four lanes. rD has four for each
   block. */
SP_TEMPLATE void sp_chi_sums(double ***fours, ptrdiff_t n_fours, uint32_t slot, const double *rD,
                             double *sum, double *squares)
{
#if SP_VECTORS
    sp_double4 c, times, all = {0.0}, of_squares = {0.0};
    for (ptrdiff_t b = 0; b < n_fours; b++) {
        sp_widened(sp_places_of(fours[b], slot)->c, &c);
        memcpy(&times, rD + 4 * b, sizeof(times));
        all += c;
        of_squares += (c * c) * times;
    }
#else
    double all[4] = {0.0, 0.0, 0.0, 0.0}, of_squares[4] = {0.0, 0.0, 0.0, 0.0};
    for (ptrdiff_t b = 0; b < n_fours; b++) {
        const float *c = sp_places_of(fours[b], slot)->c;
        for (int k = 0; k < 4; k++) {
            all[k] += c[k];
            of_squares[k] += ((double)c[k] * c[k]) * rD[4 * b + k];
        }
    }
#endif
    *sum = (all[0] + all[1]) + (all[2] + all[3]);
    *squares = (of_squares[0] + of_squares[1]) + (of_squares[2] + of_squares[3]);
}

/* Halve a feature's counts but one; what is 0 may lie in zeros that are never written. */
static inline void sp_halve(double ***fours, ptrdiff_t n_fours, uint32_t slot, ptrdiff_t but,
                            double halved)
{
    for (ptrdiff_t k = 0; k < 4 * n_fours; k++) {
        float *c = &sp_places_of(fours[k / 4], slot)->c[k % 4];
        if (k != but && *c != 0.0f) *c = (float)(*c * halved);
    }
}

/* The counts of an event of label y, of more than two, whose slots are dealt out. `all`: T + K. */
SP_WIDER static inline void sp_count_many(double *const *heads, double ***fours, ptrdiff_t n_fours,
                                          const uint32_t *slots, const double *x, ptrdiff_t n,
                                          const sp_sums *sums, ptrdiff_t y, double u, double all,
                                          const double *rD)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        const uint32_t slot = slots[i];
        sp_head *head = sp_head_of(heads, slot);
        double halved, sum, squares;
        float *c;
        if (slot == 0) continue;
        halved = sp_count(head, x[i], u, all);
        c = &sp_places_of(fours[y / 4], slot)->c[y % 4];
        *c = (float)((*c + u * sums->v[i]) * halved);
        if (halved != 1.0) sp_halve(fours, n_fours, slot, y, halved);
        sp_chi_sums(fours, n_fours, slot, rD, &sum, &squares);
        head->of.N = sum;
        head->om = sp_om(head->cnt, all, squares, sum);
    }
}

/* --- One slot --------------------------------------------------------------------------------- */

/* With one output there are no groups: a slot of a file that says it is dealt out is not. */

/* The weight of output k of `outputs`: with one, its own; with more it may lie in the head yet. */
static inline double sp_weight(const sp_blocks *blocks, uint32_t slot, ptrdiff_t k,
                               ptrdiff_t outputs, int positive)
{
    const sp_head *head = sp_head_of(sp_chunks(*blocks, 0), slot);
    if (outputs == 1) return head->w;
    if (sp_is_dealt(head) || k > 1) return sp_places_at(*blocks, slot, k)->w[k % 4];
    return k == positive ? 0.5 * head->w : -0.5 * head->w;
}

/* The count of place k. */
static inline double sp_count_of(const sp_blocks *blocks, uint32_t slot, ptrdiff_t k,
                                 ptrdiff_t outputs)
{
    const sp_head *head = sp_head_of(sp_chunks(*blocks, 0), slot);
    if (outputs > 1 && sp_is_dealt(head)) return sp_places_at(*blocks, slot, k)->c[k % 4];
    return k > 1 ? 0.0 : head->of.c[k];
}

/* T / N of a feature that has a part in naive Bayes with value x, else 0. */
static inline double sp_odds_of(const sp_blocks *blocks, uint32_t slot, double x, double T,
                                ptrdiff_t outputs)
{
    const sp_head *head = sp_head_of(sp_chunks(*blocks, 0), slot);
    double N = outputs > 1 && sp_is_dealt(head) ? head->of.N
                                                : (double)head->of.c[0] + head->of.c[1];
    return N > 0.0 && !signbit(head->s) && x > 0.0 ? T / N : 0.0;
}

SP_TEMPLATE int sp_is_below(float number, double most)
{
    return number >= -most && number <= most;
}

/* Whether a slot that was read from a file is one that no learning could have made. */
static inline int sp_slot_fault(const sp_blocks *blocks, uint32_t slot, ptrdiff_t outputs)
{
    const sp_head *head = sp_head_of(sp_chunks(*blocks, 0), slot);
    const double most = 0x1p120;
    double all[4] = {0.0, 0.0, 0.0, 0.0};
    int dealt = sp_is_dealt(head);
    if (!(fabs(head->s) <= SP_VALUE_LIMIT && head->cnt >= 0.0f && head->cnt < 2 * SP_COUNT_MOST
          && (head->om == 0.0f || (head->om >= SP_OM_FIRST && head->om <= 1e30))
          && sp_is_below(head->w, most)))
        return 1;
    if (!dealt && !(sp_is_below(head->G, 1e38) && sp_is_below(head->of.c[0],
            most) && sp_is_below(head->of.c[1], most)))
        return 1;
    if (dealt && (outputs == 1 || head->G != -1.0f)) return 1;
    if (outputs == 1) return 0;
    for (ptrdiff_t k = 0; k < (outputs + 3) / 4 * 4; k++) {
        const sp_four_places *four = sp_places_at(*blocks, slot, k);
        const float w = four->w[k % 4], c = four->c[k % 4], G = *sp_G_at(*blocks, slot, k);
        if (!(sp_is_below(w, most) && sp_is_below(c, most) && G >= 0.0f && G <= 1e38f)) return 1;
        if ((!dealt || k >= outputs) && (w != 0.0f || c != 0.0f || G != 0.0f)) return 1;
        all[k % 4] += c;
    }
    return dealt && head->of.N != (all[0] + all[1]) + (all[2] + all[3]);
}

/* What a feature does to the scores of its events, for the ceiling: its largest weight, times what
   it weighs in an event, times the root of how often it has come. */
static inline double sp_size(const sp_blocks *blocks, uint32_t slot, ptrdiff_t outputs)
{
    const sp_head *head = sp_head_of(sp_chunks(*blocks, 0), slot);
    double largest = fabs(head->w);
    if (outputs > 1 && !sp_is_dealt(head)) largest *= 0.5;
    for (ptrdiff_t k = 0; outputs > 1 && sp_is_dealt(head) && k < outputs; k++) {
        double w = fabs(sp_places_at(*blocks, slot, k)->w[k % 4]);
        largest = w > largest ? w : largest;
    }
    return head->om * largest * sqrt(head->cnt);
}

#endif
