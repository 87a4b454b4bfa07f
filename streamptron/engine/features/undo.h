/* What a step changes in an AdaptiveClassifier's slot, and how that is undone.

   A slot's numbers before and after the step are kept, in the layout that the slot has after it.
   They are restored by one formula:

       now == after    before              untouched since: restored exactly
       else            now - (after - before)

   which removes the step's own share of a sum (w, G, c, cnt). The mean of |x| is restored through
   its sum, s cnt. om, how informative the feature is, is not a sum: if the counts have changed
   since, it is computed again from them. A count stays at least 0, whatever rounding or forgetting
   has left of it.

   A column's n, since and e are sums; its mean is restored through the sum n a, its spread through
   n b. A column that began with the step stops being one if nothing has come since; one that ended
   with the step is a column again.

   Functions in this file: sp_snapshot_read, sp_slot_visit and sp_slot_leave (the same slot twice in
   an event), sp_take_back; sp_snapshot_column_read and sp_take_back_column. */

#ifndef STREAMPTRON_FEATURES_UNDO_H
#define STREAMPTRON_FEATURES_UNDO_H

#include "features/columns.h"
#include "features/head.h"

enum {
    SP_SNAPSHOT_CNT,                    /* a slot's numbers, in this order */
    SP_SNAPSHOT_OM,
    SP_SNAPSHOT_C,
    SP_SNAPSHOT_FIRST                   /* then w and G of each output that steps */
};

/* A slot's numbers for label y, and if m the output's w and G. Returns s. */
static inline double sp_snapshot_read(const sp_head *head, ptrdiff_t y, ptrdiff_t m, float *kept)
{
    kept[SP_SNAPSHOT_CNT] = head->cnt;
    kept[SP_SNAPSHOT_OM] = head->om;
    kept[SP_SNAPSHOT_C] = head->of.c[y];
    if (m) {
        kept[SP_SNAPSHOT_FIRST] = head->w;
        kept[SP_SNAPSHOT_FIRST + 1] = head->G;
    }
    return head->s;
}

/* Whether this slot has come before in the event. Marks it by the sign bit of om, which is never
   negative. */
static inline int sp_slot_visit(sp_head *head)
{
    int marked = signbit(head->om) != 0;
    if (!marked) head->om = -head->om;
    return marked;
}

static inline void sp_slot_leave(sp_head *head)
{
    head->om = fabsf(head->om);
}

/* Restore a number of the model or of a label; and a sum that is at least 0. */
static inline double sp_back_number(double now, double before, double after)
{
    return now == after ? before : now - (after - before);
}

static inline double sp_back_sum(double now, double before, double after)
{
    return SP_MAX(0.0, sp_back_number(now, before, after));
}

SP_TEMPLATE float sp_back(float now, float before, float after)
{
    return now == after ? before : (float)(now - ((double)after - before));
}

SP_TEMPLATE float sp_back_count(float now, float before, float after)
{
    float back = sp_back(now, before, after);
    return back > 0.0f ? back : 0.0f;
}

/* The mean of |x|. `cnt`, `left`: the feature's count now, and after undoing. */
SP_TEMPLATE double sp_back_mean(double now, double before, double after, double cnt, double left,
                                double cnt_before, double cnt_after)
{
    double a = fabs(now), sum;
    if (left <= 0.0) return 0.0;
    if (now == after && cnt == cnt_after) return before;
    if (fabs(before) == fabs(after) && a == fabs(after)) return now;
    sum = a * cnt - (fabs(after) * cnt_after - fabs(before) * cnt_before);
    if (sum > 0.0 && sum / left <= SP_MEAN_LIMIT) a = sum / left;
    return signbit(now) ? -a : a;
}

/* A label's count, kept within the limits: a value counts at most 8. */
SP_TEMPLATE float sp_c_left(float c, float cnt)
{
    return cnt == 0.0f ? 0.0f : (float)sp_clip(c, SP_MOST * (double)cnt);
}

/* The count of place y. A feature that has never come has no counts; a feature with a count below 0
   has been negative. */
static inline void sp_back_place(sp_head *head, ptrdiff_t y, float before, float after)
{
    for (ptrdiff_t k = 0; k < 2; k++) {
        float *c = &head->of.c[k];
        if (k == y) {
            *c = sp_back(*c, before, after);
            if (*c < 0.0f && !signbit(head->s)) *c = 0.0f;
        }
        *c = sp_c_left(*c, head->cnt);
        if (*c < 0.0f && !signbit(head->s)) head->s = -head->s;
    }
}

/* How informative a feature is, from its counts now. */
static inline void sp_back_om(sp_head *head, double all, const double *rD)
{
    const double c0 = head->of.c[0], c1 = head->of.c[1];
    head->om = sp_om(head->cnt, all, (c0 * c0) * rD[0] + (c1 * c1) * rD[1], c0 + c1);
}

/* Undo what a step did to a feature's count and mean. */
static inline void sp_back_head(sp_head *head, const float *before, const float *after,
                                double s_before, double s_after)
{
    const float cnt = head->cnt;
    head->cnt = sp_back_count(cnt, before[SP_SNAPSHOT_CNT], after[SP_SNAPSHOT_CNT]);
    if (cnt >= SP_COUNT_HALF && before[SP_SNAPSHOT_CNT] >= SP_COUNT_HALF
        && head->cnt < (float)SP_COUNT_HALF)
        head->cnt = (float)SP_COUNT_HALF;   /* it still is always there */
    head->s = sp_back_mean(head->s, s_before, s_after, cnt, head->cnt, before[SP_SNAPSHOT_CNT],
                           after[SP_SNAPSHOT_CNT]);
}

/* Whether a step halved the counts of a feature. Then what it added can no longer be separated. */
static inline int sp_has_halved(const float *before, const float *after)
{
    return after[SP_SNAPSHOT_CNT] < before[SP_SNAPSHOT_CNT];
}

/* Take a step back from a slot. `all`: T + K, and rD: 1 / (D + 1), as they are without the step. */
static inline void sp_take_back(const sp_blocks *blocks, uint32_t slot, ptrdiff_t y, ptrdiff_t m,
                                const float *before, const float *after, double s_before,
                                double s_after, double all, const double *rD)
{
    sp_head *head = sp_head_of(sp_chunks(*blocks, 0), slot);
    const float cnt = head->cnt, om = head->om;
    if (m) {
        const float *b = before + SP_SNAPSHOT_FIRST, *a = after + SP_SNAPSHOT_FIRST;
        head->w = sp_back(head->w, b[0], a[0]);
        head->G = sp_back_count(head->G, b[1], a[1]);
    }
    if (sp_has_halved(before, after)) return;
    sp_back_head(head, before, after, s_before, s_after);
    sp_back_place(head, y, before[SP_SNAPSHOT_C], after[SP_SNAPSHOT_C]);
    sp_back_om(head, all, rD);
    if (sp_column_of(blocks, slot)->n > 0.0) head->om = om;        /* a column's: of its e */
    else if (head->cnt == 0.0f) head->om = 0.0f;
    else if (cnt == after[SP_SNAPSHOT_CNT] && om == after[SP_SNAPSHOT_OM])
        head->om = before[SP_SNAPSHOT_OM];
}

/* A column before a step and after it. Behind it are `places` e before the step, and as many
   after. */
typedef struct {
    uint64_t name;                  /* a hash of its name; 0: a hashed model */
    uint32_t at;                    /* its place among the entries kept */
    uint32_t places;
    sp_column before, after;
} sp_snapshot_column;

/* Restore a mean through the sum that it comes from. */
SP_TEMPLATE double sp_back_part(double now, double n, double before, double n_before, double after,
                                double n_after, double left)
{
    if (now == after && n == n_after) return before;
    return (now * n - (after * n_after - before * n_before)) / left;
}

/* Read a column, as the step left it. */
static inline void sp_snapshot_column_read(const sp_blocks *blocks, uint32_t slot,
                                           sp_column *column, float *e)
{
    *column = *sp_column_of(blocks, slot);
    for (ptrdiff_t k = 0; k < 2; k++) e[k] = sp_column_e(blocks, slot)[k];
}

static inline void sp_put_e(const sp_blocks *blocks, uint32_t slot, ptrdiff_t k, float number)
{
    float *e = sp_column_e(blocks, slot) + k;
    if (*e != number) *e = number;  /* a 0 may be in the chunk of zeros, which is never written */
}

/* Whether a column's record is unchanged since a step. */
static inline int sp_is_same_record(const sp_column *now, const sp_column *after)
{
    return now->a == after->a && now->b == after->b && now->n == after->n
           && now->since == after->since;
}

/* Whether a step counted in a column, without starting, ending or halving it, and the column still
   exists. */
static inline int sp_is_counted(const sp_column *now, const sp_snapshot_column *kept)
{
    return now->n > 0.0 && kept->after.n > 0.0 && kept->after.since >= kept->before.since;
}

/* Restore n, since, mean and spread of a column. Returns whether it still is one. */
static inline int sp_back_record(sp_column *column, const sp_column *before, const sp_column *after)
{
    const sp_column now = *column;
    column->n = sp_back_sum(now.n, before->n, after->n);
    column->since = sp_back_sum(now.since, before->since, after->since);
    if (column->n > 0.0) {
        column->a = sp_back_part(now.a, now.n, before->a, before->n, after->a, after->n,
                                 column->n);
        column->b = sp_back_part(now.b, now.n, before->b, before->n, after->b, after->n,
                                 column->n);
    }
    if (!(fabs(column->a) <= SP_MEAN_LIMIT)) column->a = now.a;
    if (!(column->b >= 0.0 && column->b <= SP_COLUMN_B_MOST)) column->b = now.b;
    return column->n > 0.0 && column->since > 0.0;
}

/* Take a step back from a column, after sp_take_back from its slot. `om`: before the step. */
static inline void sp_take_back_column(const sp_blocks *blocks, uint32_t slot,
                                       const sp_snapshot_column *kept, float om, double all,
                                       const double *rD)
{
    const sp_column *before = &kept->before, *after = &kept->after;
    const float *e = (const float *)(const void *)(kept + 1), *e_after = e + 2;
    sp_column *column = sp_column_of(blocks, slot);
    sp_head *head = sp_head_of(sp_chunks(*blocks, 0), slot);
    double sum, squares;
    int untouched = sp_is_same_record(column, after);
    for (ptrdiff_t k = 0; k < 2; k++)
        untouched &= sp_column_e(blocks, slot)[k] == e_after[k];
    if (untouched) {
        *column = *before;
        for (ptrdiff_t k = 0; k < 2; k++) sp_put_e(blocks, slot, k, e[k]);
        head->om = om;
        return;
    } else if (sp_is_counted(column, kept)) {
        const int lasts = sp_back_record(column, before, after);
        for (ptrdiff_t k = 0; k < 2; k++) sp_put_e(blocks, slot, k, sp_back(
                sp_column_e(blocks, slot)[k], e[k], e_after[k]));
        if (!lasts) {
            sp_column_clear(blocks, slot);
            sp_back_om(head, all, rD);
            if (head->cnt == 0.0f) head->om = 0.0f;
        }
    }
    if (!(column->n > 0.0)) return;
    sp_column_sums(sp_column_e(blocks, slot), rD, &sum, &squares);
    head->om = sp_om(column->since, all, squares, sum);
}

#endif
