/* Numbers that a rule keeps beside a weight, and moves with it.

   Most rules keep none: the weight takes a x, and that is all. A rule whose steps differ from feature to
   feature keeps one number k for each weight, 0 at first. Two formulas say what it is:

       share    what an entry of value x adds to the event's second sum. The rule asks for that sum, of
                the choices that move, before it says how far they go.
       move     what the weight takes, and what becomes of k

   SP_KEEP_PRECISION: k = 1/S - 1, where S is the weight's variance (Crammer, Kulesza & Dredze 2009, AROW,
   diagonal). The second sum v is the variance of the score, r is the noise of the label:

       share    x S x
       move     w += a S x,  S -= S^2 x^2 / (v + r)

   In k the same is k += x^2 / (r + the variance of the event's other entries), which subtracts nothing
   from k: it never falls, and what was never seen is all zeros.

   A new kind is a number here, a branch in each of these, and what rule_keeps says. The arguments are
   constants where it counts: the loops of the other kinds do not know that there is one more. */

#ifndef STREAMPTRON_KEEP_H
#define STREAMPTRON_KEEP_H

#include "compiler.h"

enum {
    SP_KEEP_NONE,
    SP_KEEP_PRECISION
};

SP_TEMPLATE double sp_keep_share(const int keep, double x, double k)
{
    (void)keep;                     /* there is one kind as yet */
    return (x * x) / (1.0 + k);
}

/* What the weight takes in a step of a, where the event's second sum is v. */
SP_TEMPLATE double sp_keep_move(const int keep, double *k, double x, double a, double v, double r)
{
    const double precision = 1.0 + *k;
    const double others = v - (x * x) / precision;
    (void)keep;
    *k += (x * x) / (r + (others > 0.0 ? others : 0.0));
    return (a * x) / precision;
}

#endif
