/* Columns of numbers: what AdaptiveClassifier keeps for a feature whose value matters.

   A word is there or not, and always has the same value. A measurement is in every event, and what
   counts is how far it is from its usual value. So a feature that many events have becomes a column
   when its value changes for the first time:

       v = (x - mean) / standard deviation          within 8; 0 while that is 0

   with x = 0 if an event lacks it: a column takes part in every event, and a dict with zeros is the
   same event as one without them. v does not depend on the column's unit or offset. If 0 is far
   from all other values, it is not a value but a gap: v is 0, and adaptive/gaps.h says what is
   learned instead.

       a, b      mean and variance of its nonzero values
       n, since  events that had one, and all events, both since it became a column
       e         a number per label: the sum of u v, from which om is computed

       a^2 > 8 b:  v = 0 at x = 0; else share = 1 below
       x = 0:    share = n / (since + 1);  mean = share a
                 variance = share b + share (1 - share) a^2
       else      the same once x has come:  n + 1,  k = max(1 / n, 1/1024),
                 a + way k,  (1 - k) b + (1 - k) way^2 k  with way = x - a, at most 32 sqrt(b)

   So an event that lacks a column writes neither a nor b. A feature becomes a column with its
   second value if half of the events so far had it. It stops being one when fewer than a quarter of
   the events since then have it. The first value counts as one event.

   Storage. Block 1 of the table has the record of a slot, [ a | b | n | since ]. Block 2 has its e:
   with two labels as plain numbers, with more as the c of a row (many/many.h). Both have chunks
   only where there are columns, so words cost nothing. n is 0 where there is no column. The slots
   of columns are also in a list, rising, which every event goes through; it is made from the
   records when a learner has been read or merged (sp_columns_list).

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
#define SP_COLUMN_FAR 8.0 /* a mean is far from 0 if its square is more than so many variances */
#define SP_COLUMN_B_MOST (SP_VALUE_LIMIT * SP_VALUE_LIMIT * 16.0)

typedef struct sp_column { /* a slot's 32 bytes in block 1 */
    double a;
    double b;
    double n; /* 0: it is not a column */
    double since;
} sp_column;

/* A slot's record; a slot without one has all zeros, which must not be written. */
static inline sp_column *sp_column_of(const sp_blocks *blocks, sp_slot_type slot)
{
    return (sp_column *)(void *)sp_slot(sp_chunks(*blocks, SP_BLOCK_COLUMNS), slot, SP_HEAD_WIDTH);
}

/* A slot's e, with two labels. */
static inline float *sp_column_e(const sp_blocks *blocks, sp_slot_type slot)
{
    return (float *)(void *)sp_slot(sp_chunks(*blocks, SP_BLOCK_E), slot, SP_HEAD_WIDTH);
}

/* Mean and variance after x, which is not 0, has come with sample weight u and share k. */
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

/* Mean and variance of all values, of which `share` is not 0. */
static inline void sp_column_spread(double a, double b, double share, double *mean,
                                    double *variance)
{
    share = share < 1.0 ? share : 1.0;
    *mean = share * a;
    *variance = share * b + (share * (1.0 - share)) * (a * a);
}

/* Whether 0 is far from a column's values, and therefore a gap. */
static inline bool sp_column_is_far(const sp_column *column)
{
    return column->a * column->a > SP_COLUMN_FAR * column->b;
}

/* v of a column with value x; `known`: the share of one more event in all. */
static inline double sp_column_value(const sp_column *column, double x, double *known)
{
    double a = column->a;
    double b = column->b;
    double n = column->n;
    const bool far = sp_column_is_far(column);
    double share; /* exactly 1 for a column that is always there */
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

/* Count an event with value x. Returns the factor by which the column's counts are halved; `known`:
   the share of one more event in all. */
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

/* Whether it stays a column: at least a quarter of the events have it. */
static inline bool sp_column_lasts(const sp_column *column)
{
    return 4.0 * column->n >= column->since + 1.0;
}

/* The sums of e and of e^2 / (D + 1) over two labels. */
static inline void sp_column_sums(const float *e, const double *rD, double *sum, double *squares)
{
    const double first = (double)e[0];
    const double second = (double)e[1];
    *sum = first + second;
    *squares = (first * first) * rD[0] + (second * second) * rD[1];
}

/* Clear a column, with two labels. */
SP_PRIVATE void sp_column_clear(const sp_blocks *blocks, sp_slot_type slot);

static inline size_t sp_columns_bytes(const sp_columns *columns)
{
    return (size_t)columns->room
           * (sizeof(sp_slot_type) + (columns->hashed ? 2 * sizeof(uint32_t) : 0));
}

SP_PRIVATE void sp_columns_free(sp_columns *columns);

/* Room for n in the list. -1 if out of memory. */
SP_PRIVATE int sp_columns_room(sp_columns *columns, ptrdiff_t n);

/* A slot's place in the list; -1 if it is not a column. `near`: a likely place. */
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

/* Put many new slots into it: append each, then sort all from the first of them on. Added one by
   one, each would move all above it. */
SP_PRIVATE void sp_columns_append(sp_columns *columns, sp_slot_type slot);
SP_PRIVATE void sp_columns_rise(sp_columns *columns, ptrdiff_t first);

/* A column's turn in sums. Sums are rounded, so they must not depend on the order in which hashed
   names came: a file has them in the order of their numbers. */
static inline ptrdiff_t sp_columns_turn(const sp_columns *columns, ptrdiff_t at)
{
    return columns->hashed ? (ptrdiff_t)columns->turns[at] : at;
}

/* Find these turns, after all changes of the list. */
SP_PRIVATE void sp_columns_settle(sp_columns *columns, const sp_index *index);

/* A second list. -1 if out of memory. */
SP_PRIVATE int sp_columns_copy(sp_columns *to, const sp_columns *other);

/* Remove slots from the list that are not columns any more, according to their records. */
SP_PRIVATE void sp_columns_sift(sp_columns *columns, const sp_blocks *blocks);

/* Make the list anew from a table's records. -1 if out of memory. */
SP_PRIVATE int sp_columns_list(sp_columns *columns, const sp_table *table, const sp_index *index);

/* What is wrong with the list, or NULL. It looks at every record. */
SP_PRIVATE const char *sp_columns_fault(const sp_columns *columns, const sp_table *table,
                                        const sp_index *index);

/* Whether learning cannot have made a record that was read from a file. */
SP_PRIVATE bool sp_record_fault(const sp_column *column);

/* The same for a record and its e of two labels. */
SP_PRIVATE bool sp_column_fault(const sp_column *column, const float *e);

#endif
