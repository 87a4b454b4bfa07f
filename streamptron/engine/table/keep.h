/* Numbers that a rule keeps beside a weight, and moves with it.

   Most rules keep none: a step adds a x to the weight, and that is all. A rule whose steps differ
   from feature to feature keeps one or two numbers k for each weight, 0 at first. These functions
   define them, and no other place knows what they are:

       count    how many there are
       flips    whether a number changes its sign for the other of two labels when these get an
                output each, as the weight does
       share    what an entry of value x adds to the event's second sum. The rule asks for this sum
                for the choices that move, before it decides how far they move.
       move     what is added to the weight, and how k changes

   The first number never falls, and its gain says how much was learned: a merge weighs a weight's
   changes by it (exchange/mix_rows.c). Each number gains the mean of its gains.

   SP_KEEP_PRECISION: k = 1/S - 1, where S is the weight's variance (Crammer, Kulesza & Dredze 2009,
   AROW, diagonal). The second sum v is the variance of the score, r is the noise of the label:

       share    x S x
       move     w += a S x,  S -= S^2 x^2 / (v + r)

   In terms of k this is k += x^2 / (r + the variance of the event's other entries). Nothing is
   subtracted from k, so it never falls, and a feature that was never seen is all zeros.

   A new kind takes a number here, a branch in each of these functions, and an answer in
   sp_rule_keeps. The arguments are constants where speed counts, so the loops of the other kinds do
   not change. */

#ifndef STREAMPTRON_TABLE_KEEP_H
#define STREAMPTRON_TABLE_KEEP_H

#include "memory/compiler.h"

enum {
    SP_KEEP_NONE,
    SP_KEEP_PRECISION,

    SP_KEEP_MOST = 2 /* numbers of a kind */
};

SP_TEMPLATE int sp_keep_count(const int keep)
{
    return keep == SP_KEEP_PRECISION ? 1 : 0;
}

static inline bool sp_keep_flips(int keep, int number)
{
    (void)keep, (void)number;       /* none changes its sign so far */
    return false;
}

SP_TEMPLATE double sp_keep_share(const int keep, double x, const double *k)
{
    (void)keep;                     /* there is only one kind so far */
    return (x * x) / (1.0 + *k);
}

/* What a step of size a adds to the weight, where the event's second sum is v. Updates k. */
SP_TEMPLATE double sp_keep_move(const int keep, double *k, double x, double a, double v, double r)
{
    const double precision = 1.0 + *k;
    const double others = v - (x * x) / precision;
    (void)keep;
    *k += (x * x) / (r + (others > 0.0 ? others : 0.0));
    return (a * x) / precision;
}

#endif
