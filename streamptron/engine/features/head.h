/* What AdaptiveClassifier keeps for a feature, and what it computes for one feature at a time.

   engine/adaptive/adaptive.h says what the letters mean and draws the blocks.

   Functions in this file: sp_head_of; sp_moved, sp_clip; sp_halved, sp_count and sp_om, which are
   applied to each feature of every learned event; sp_slot_fault, for slots read from a file;
   sp_size, for the ceiling. */

#ifndef STREAMPTRON_FEATURES_HEAD_H
#define STREAMPTRON_FEATURES_HEAD_H

#include "learner/adaptive.h"
#include "math/logs.h"
#include "memory/compiler.h"
#include "rows/marks.h"
#include "rows/rows.h"
#include "table/slot.h"

#include <math.h>

enum {
    SP_HEAD_WIDTH = 4,   /* doubles a slot, in every block */
    SP_BLOCK_COLUMNS = 1, /* the records of columns (features/columns.h) */
    SP_BLOCK_E = 2,      /* and e, their counts by label */
    SP_HEAD_BLOCKS = 3,
};

#define SP_OM_FIRST 0.125           /* sqrt(eps): om of a feature about which nothing is known */
#define SP_EPS 0.015625
#define SP_P0 0x1p-20
#define SP_REACH_MOST 12.0          /* the largest sum |X| that counts in a step */
#define SP_THR 0.0078125           /* a smaller error makes no step */
#define SP_ODDS_WINDOW 1024.0       /* the usual |d|, or z, is a mean over so many events */
#define SP_COUNT_MOST 0x1p20
#define SP_COUNT_HALF 0x1p19        /* a count this large: the feature is always there */
#define SP_ALWAYS 0.875             /* the share of events it needs when its count gets there */
#define SP_MOST 8.0                 /* a value counts at most so many times its usual size, */
#define SP_MEAN_MOST 32.0           /* and in the usual size itself so many times */

typedef struct {                    /* a feature: the slot's 32 bytes in block 0 */
    double s;                       /* the mean of |x|; its sign bit: x was negative once */
    float cnt;                      /* the sum of sample weights */
    float om;                       /* 0: never written, and means SP_OM_FIRST */
    union {
        struct {
            float w, G;             /* two labels: of the one output */
        };
        sp_sparse row;              /* more labels: each one's numbers */
    };
    union {
        float c[2];                 /* by place */
        double N;                   /* more labels: the sum of all c */
    } of;
} sp_head;

typedef struct {                    /* a table's blocks; each struct begins with its chunks */
    const void *first;
    size_t size;
} sp_blocks;

/* --- Slots ------------------------------------------------------------------------------------ */

SP_TEMPLATE double **sp_chunks(const sp_blocks blocks, ptrdiff_t b)
{
    return *(double **const *)((const char *)blocks.first + (size_t)b * blocks.size);
}

SP_TEMPLATE sp_head *sp_head_of(double *const *chunks, uint32_t slot)
{
    return (sp_head *)sp_slot(chunks, slot, SP_HEAD_WIDTH);
}

#if SP_VECTORS
/* Four floats as doubles. If GCC sees that a shuffle made them, it converts them one by one; the
   asm hides that. */
SP_TEMPLATE void sp_widen(sp_float4 x, sp_double4 *to)
{
#if defined(__x86_64__) && !defined(__clang__)
    __asm__("" : "+x"(x));
#endif
    *to = (sp_double4){x[0], x[1], x[2], x[3]};
}
#endif

/* Two divisions side by side, in the time of one. */
SP_TEMPLATE void sp_divided(double a, double by, double c, double by_too, double *quotient,
                            double *other)
{
#if SP_VECTORS
    const sp_double2 quotients = (sp_double2){a, c} / (sp_double2){by, by_too};
    *quotient = quotients[0];
    *other = quotients[1];
#else
    *quotient = a / by;
    *other = c / by_too;
#endif
}

/* A mean of positive numbers after a has come with that share. A number of more than 32 times the
   mean counts as 32 times: otherwise one wrong value would shrink all others for good. */
SP_TEMPLATE double sp_moved(double mean, double a, double share)
{
    double most = SP_MEAN_MOST * mean, moved, least;
    if (mean > 0.0 && a > most) a = most;
    moved = mean + (a - mean) * share;
    least = a * share;
    return least > moved ? least : moved;
}

SP_TEMPLATE double sp_clip(double x, double most)
{
    return x > most ? most : x < -most ? -most : x;
}

/* Whether this value makes a feature a column: until now it always had another value, and half of
   the events had it. T: before this event. */
SP_TEMPLATE int sp_begins(const sp_head *head, double x, double T)
{
    return x != head->s && (2.0 * head->cnt >= T + 1.0 || head->cnt >= SP_COUNT_HALF);
}

/* The factor by which the counts of a feature are halved, which came n times in `all` events.
   `always`: it was always there so far. Only then may its count stay at SP_COUNT_HALF or more. */
SP_TEMPLATE double sp_halved(double n, int always, double all)
{
    const double most = always || n >= SP_ALWAYS * all ? SP_COUNT_MOST : SP_COUNT_HALF;
    double halved = 1.0;
    if (n < SP_COUNT_HALF)
        return 1.0;
    while (n * halved >= most) halved *= 0.5;
    return halved;
}

/* Set the feature's mean size to `moved`, and its count, after x has come with sample weight u.
   Returns the factor by which its other counts are halved. `all`: T + K. */
SP_TEMPLATE double sp_count_as(sp_head *head, double x, double moved, double u, double all)
{
    const double n = head->cnt + u;
    const double halved = sp_halved(n, head->cnt >= SP_COUNT_HALF, all);
    head->s = signbit(head->s) || x < 0.0 ? -moved : moved;
    head->cnt = (float)(n * halved);
    return halved;
}

/* The same, and work out that mean. */
SP_TEMPLATE double sp_count(sp_head *head, double x, double u, double all)
{
    const double a = fabs(x), s = fabs(head->s);
    return sp_count_as(head, x, a == s ? s : sp_moved(s, a, u / (head->cnt + u)), u, all);
}

/* sqrt(eps + chi^2 known^2), where chi^2 = (T + K) (sum of c_k^2 / (D_k + 1)) - N^2. */
SP_TEMPLATE float sp_om_known(double known, double all, double squares, double N)
{
    double chi2 = all * squares - N * N;
    return (float)sqrt(SP_EPS + (chi2 > 0.0 ? chi2 : 0.0) * (known * known));
}

/* The same for a feature that has come cnt times: known = 1 / (cnt + 1). */
SP_TEMPLATE float sp_om(double cnt, double all, double squares, double N)
{
    return sp_om_known(1.0 / (cnt + 1.0), all, squares, N);
}

/* --- Slots that were read, and slots that may go ---------------------------------------------- */

SP_TEMPLATE int sp_is_below(float number, double most)
{
    return number >= -most && number <= most;
}

/* Whether learning cannot have made the part of a slot that does not depend on labels. */
static inline int sp_head_fault(const sp_head *head)
{
    return !(fabs(head->s) <= SP_MEAN_LIMIT && head->cnt >= 0.0f && head->cnt < 2 * SP_COUNT_MOST
             && (head->om == 0.0f || (head->om >= SP_OM_FIRST && head->om <= 1e30)));
}

/* Whether learning cannot have made a slot of two labels that was read from a file. */
static inline int sp_slot_fault(const sp_head *head)
{
    const double most = 0x1p120;
    const float c_most = sp_c_most(head->cnt), c_least = sp_c_least(head->cnt, signbit(head->s));
    return sp_head_fault(head)
           || !(sp_is_below(head->w, most) && head->G >= 0.0f && head->G <= 1e38f
                && head->of.c[0] >= c_least && head->of.c[0] <= c_most && head->of.c[1] >= c_least
                && head->of.c[1] <= c_most);
}

/* A feature's effect on the scores of its events, for the ceiling: its largest weight, times its
   om, times the root of how often it has come. */
static inline double sp_size(const sp_head *head, double largest)
{
    return head->om * largest * sqrt(head->cnt);
}

#endif
