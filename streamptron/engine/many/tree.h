/* A tree of the labels' intercepts. It gives the largest, and the sum of all e^w0, without going
   through all labels. Most labels have nothing to do with an event, and score w0.

   It is a binary tree, with a node for each half of the labels, each quarter, and so on. A changed
   w0 costs one way from its leaf to the root. Each sum is that of the two nodes below it. So it
   depends only on the leaves, not on their history, and rounding errors do not add up. A new level
   does not change the sums, as the other half is 0. */

#ifndef STREAMPTRON_MANY_TREE_H
#define STREAMPTRON_MANY_TREE_H

#include "learner/many.h"
#include "math/logs.h"

#define SP_LEAF_MOST 300.0 /* a larger w0 counts as this one */

/* e^x, for any x. */
static inline double sp_leaf(double x)
{
    x = x > SP_LEAF_MOST ? SP_LEAF_MOST : x < -SP_LEAF_MOST ? -SP_LEAF_MOST : x;
    const double e = sp_one_exp(-fabs(x));
    return x <= 0.0 ? e : 1.0 / e;
}

static inline size_t sp_tree_bytes(const sp_many *many)
{
    return 2 * (size_t)many->room * sizeof(sp_branch);
}

SP_PRIVATE void sp_tree_free(sp_many *many);

/* Room for n leaves; those that are there stay. -1 if out of memory. */
SP_PRIVATE int sp_tree_room(sp_many *many, ptrdiff_t n);

/* Set all leaves from n labels' w0; there is room for them. */
SP_PRIVATE void sp_tree_fill(sp_many *many, const double *w0, ptrdiff_t n);

/* w0 of label k has changed. */
SP_PRIVATE void sp_tree_set(sp_many *many, ptrdiff_t k, double w0);

/* The same for several labels: set each leaf, then compute all nodes above once. */
static inline void sp_tree_put(sp_many *many, ptrdiff_t k, double w0)
{
    sp_branch *leaf = &many->tree[many->room + k];
    leaf->most = w0;
    leaf->sum = sp_leaf(w0);
}

SP_PRIVATE void sp_tree_join_all(sp_many *many);

/* Whether all sums and maxima are right for n labels' w0. */
SP_PRIVATE bool sp_tree_is_true(const sp_many *many, const double *w0, ptrdiff_t n);

static inline double sp_tree_sum(const sp_many *many)
{
    return many->tree[1].sum;
}

/* e^w0 of label k. */
static inline double sp_tree_leaf(const sp_many *many, ptrdiff_t k)
{
    return many->tree[many->room + k].sum;
}

/* The first leaf from `first` on whose w0 is at least `least`; -1: none. */
SP_PRIVATE ptrdiff_t sp_tree_from(const sp_many *many, ptrdiff_t first, double least);

#endif
