/* Columns of numbers: what AdaptiveClassifier keeps of a feature whose value says something.

   A word is there or not, and where it is its value is always the same. A measurement is in every
   event, and what counts is how far it is from where it usually is. So a feature that many events
   have, and that has another value than it always had, becomes a column:

       v = (x - mean) / standard deviation          within 8; 0 while that is 0

   with x = 0 where an event lacks it: a column takes part in every event, and a dict with zeros is
   the same event as one without. Neither unit nor offset of a column is seen in v. Where 0 is far
   from all that is not 0, it is a gap, and no value: v is 0, and adaptive/gaps.h says what speaks.

       a, b      mean and variance of its values that are not 0
       n, since  events that had one, and all events, both since it is a column
       e         a number a label: the sum of u v, of which its weight in an event is made (om)

       a^2 > 8 b:  v = 0 of x = 0; else share = 1 below
       x = 0:    share = n / (since + 1);  mean = share a
                 variance = share b + share (1 - share) a^2
       else      the same once x has come:  n + 1,  k = max(1 / n, 1/1024),
                 a + way k,  (1 - k) b + (1 - k) way^2 k  with way = x - a, at most 32 sqrt(b)

   So an event that lacks a column writes neither a nor b. It is a column from the second value on
   if half of the events so far had it, and until fewer than a quarter of those since then have it.
   The first value counts as one event of it.

   Where it lies. Block 1 of the table has the record of a slot, [ a | b | n | since ]; block 2 its
   e, of two labels as they are, of more as the c of a row (many/many.h). Chunks of both are there
   only where columns are, so words cost nothing. n is 0 where there is no column. Which slots are
   columns is also a list, rising, which every event goes through; it is made of the records when a
   learner has been read or merged (sp_columns_list).

   Functions in this file: sp_column_of; sp_column_is_far, sp_column_value and sp_column_count of
   one column; sp_columns_at, sp_columns_add, sp_columns_rise, sp_columns_sift and others of the
   list. */

#ifndef STREAMPTRON_FEATURES_COLUMNS_H
#define STREAMPTRON_FEATURES_COLUMNS_H

#include "features/head.h"
#include "learner/adaptive.h"
#include "memory/types.h"
#include "names/index.h"
#include "table/table.h"

#include <math.h>

#define SP_COLUMN_WINDOW 1024.0
#define SP_COLUMN_FAR 8.0 /* variances that the square of a mean has which is far from 0 */
#define SP_COLUMN_B_MOST (SP_VALUE_LIMIT * SP_VALUE_LIMIT * 16.0)

typedef struct sp_column { /* a slot's 32 bytes in block 1 */
    double a;
    double b;
    double n; /* 0: it is not a column */
    double since;
} sp_column;

/* A slot's record; of a slot without one it is all zeros, and must not be written. */
static inline sp_column *sp_column_of(const sp_blocks *blocks, sp_slot_type slot)
{
    return (sp_column *)(void *)sp_slot(sp_chunks(*blocks, SP_BLOCK_COLUMNS), slot, SP_HEAD_WIDTH);
}

/* e of two labels. */
static inline float *sp_column_e(const sp_blocks *blocks, sp_slot_type slot)
{
    return (float *)(void *)sp_slot(sp_chunks(*blocks, SP_BLOCK_E), slot, SP_HEAD_WIDTH);
}

/* Mean and variance after x, which is not 0, has come with sample weight u: share k of it. */
static inline void sp_column_moved(const sp_column *column, double x, double u, double k, double *a,
                                   double *b)
{
    double least = u / SP_COLUMN_WINDOW;
    double way = x - column->a;
    k = k > least ? k : least;
    k = k < 1.0 ? k : 1.0;
    if (column->b > 0.0 && way * way > SP_MEAN_MOST * SP_MEAN_MOST * column->b)
        way = copysign(SP_MEAN_MOST * sqrt(column->b), way);
    *a = column->a + way * k;
    *b = (1.0 - k) * column->b + (((1.0 - k) * way) * way) * k;
}

/* Mean and variance of all values, if that share of them is not 0. */
static inline void sp_column_spread(double a, double b, double share, double *mean,
                                    double *variance)
{
    share = share < 1.0 ? share : 1.0;
    *mean = share * a;
    *variance = share * b + (share * (1.0 - share)) * (a * a);
}

/* Whether 0 is far from a column's values, and so a gap. */
static inline bool sp_column_is_far(const sp_column *column)
{
    return column->a * column->a > SP_COLUMN_FAR * column->b;
}

/* v of a column whose value is x; `known`: how much one event more would say of it. */
static inline double sp_column_value(const sp_column *column, double x, double *known)
{
    double a = column->a;
    double b = column->b;
    double n = column->n;
    const bool far = sp_column_is_far(column);
    double share; /* 1, exactly, of what is always there */
    double mean, variance;
    if (x != 0.0) {
        sp_column_moved(column, x, 1.0, 1.0 / (n + 1.0), &a, &b);
        n += 1.0;
    }
    sp_divided(1.0, column->since + 1.0, n, column->since + 1.0, known, &share);
    if (far && x == 0.0)
        return 0.0;
    share = far ? 1.0 : share;
    sp_column_spread(a, b, share, &mean, &variance);
    return variance > 0.0 ? sp_clip((x - mean) / sqrt(variance), SP_MOST) : 0.0;
}

/* An event has come, with value x. Returns by what the column's counts are halved; `known`: how
   much one event more will say of it. */
static inline double sp_column_count(sp_column *column, double x, double u, double *known)
{
    double halved = 1.0;
    double since = column->since + u;
    double k;
    while (since * halved >= SP_COUNT_MOST)
        halved *= 0.5;
    since *= halved;
    sp_divided(u, column->n + u, 1.0, since + 1.0, &k, known);
    if (x != 0.0) {
        double a, b;
        sp_column_moved(column, x, u, k, &a, &b);
        column->a = a;
        column->b = b;
        column->n += u;
    }
    column->since = since;
    column->n *= halved;
    return halved;
}

/* Whether it still is a column: a quarter of the events have it. */
static inline bool sp_column_lasts(const sp_column *column)
{
    return 4.0 * column->n >= column->since + 1.0;
}

/* The sums over two labels of e, and of e^2 / (D + 1). */
static inline void sp_column_sums(const float *e, const double *rD, double *sum, double *squares)
{
    const double first = (double)e[0];
    const double second = (double)e[1];
    *sum = first + second;
    *squares = (first * first) * rD[0] + (second * second) * rD[1];
}

/* It is no longer a column, of two labels. */
SP_PRIVATE void sp_column_clear(const sp_blocks *blocks, sp_slot_type slot);

static inline size_t sp_columns_bytes(const sp_columns *columns)
{
    return (size_t)columns->room
           * (sizeof(sp_slot_type) + (columns->hashed ? 2 * sizeof(uint32_t) : 0));
}

SP_PRIVATE void sp_columns_free(sp_columns *columns);

/* Room for n in the list. -1 if out of memory. */
SP_PRIVATE int sp_columns_room(sp_columns *columns, ptrdiff_t n);

/* Where in the list a slot stands; -1 if it is not a column. `near`: where it may well be. */
static inline ptrdiff_t sp_columns_at(const sp_columns *columns, sp_slot_type slot, ptrdiff_t near)
{
    ptrdiff_t first = 0;
    ptrdiff_t last = columns->n;
    if (near < last && columns->slots[near] == slot)
        return near;
    while (first < last) {
        ptrdiff_t middle = (first + last) / 2;
        if (columns->slots[middle] < slot)
            first = middle + 1;
        else
            last = middle;
    }
    return first < columns->n && columns->slots[first] == slot ? first : -1;
}

/* Put a slot into the list, which has room for it. */
SP_PRIVATE void sp_columns_add(sp_columns *columns, sp_slot_type slot);

/* Put many that are new into it: each behind the last one, and then, from that place on, in their
   order. One by one each would move all that are above it. */
SP_PRIVATE void sp_columns_append(sp_columns *columns, sp_slot_type slot);
SP_PRIVATE void sp_columns_rise(sp_columns *columns, ptrdiff_t first);

/* When a column of the list is summed. Sums are rounded, and must not depend on the order in which
   hashed names came: a file has them in that of their numbers. */
static inline ptrdiff_t sp_columns_turn(const sp_columns *columns, ptrdiff_t at)
{
    return columns->hashed ? (ptrdiff_t)columns->turns[at] : at;
}

/* Find these turns, once all have changed that do. */
SP_PRIVATE void sp_columns_settle(sp_columns *columns, const sp_index *index);

/* A second list. -1 if out of memory. */
SP_PRIVATE int sp_columns_copy(sp_columns *to, const sp_columns *other);

/* Take those out of the list whose records say that they are none. */
SP_PRIVATE void sp_columns_sift(sp_columns *columns, const sp_blocks *blocks);

/* The list anew, of a table's records. -1 if out of memory. */
SP_PRIVATE int sp_columns_list(sp_columns *columns, const sp_table *table, const sp_index *index);

/* What is wrong with the list, or NULL. It looks at every record. */
SP_PRIVATE const char *sp_columns_fault(const sp_columns *columns, const sp_table *table,
                                        const sp_index *index);

/* Whether a record that was read from a file is one that no learning could have made. */
SP_PRIVATE bool sp_record_fault(const sp_column *column);

/* Whether that or its e of two labels is. */
SP_PRIVATE bool sp_column_fault(const sp_column *column, const float *e);

#endif
