/* The labels by their intercepts: which is the largest, and what all e^w0 add up to, without going
   through them. Most labels have nothing to do with an event, and score w0.

   A binary tree, a node for each half of the labels, and halves of that: a w0 that changes costs a
   way from its leaf to the root. Each sum is that of the two below it, so it is the same for the
   same leaves, however they came, and no rounding adds up. A new level leaves all sums as they are:
   the other half is 0. */

#ifndef STREAMPTRON_MANY_TREE_H
#define STREAMPTRON_MANY_TREE_H

#include "learner/many.h"
#include "math/logs.h"

#define SP_LEAF_MOST 300.0 /* e^w0 of more counts as of so much */

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

/* All leaves anew, of n labels' w0; there is room for them. */
SP_PRIVATE void sp_tree_fill(sp_many *many, const double *w0, ptrdiff_t n);

/* w0 of label k has changed. */
SP_PRIVATE void sp_tree_set(sp_many *many, ptrdiff_t k, double w0);

/* The same, of several: each leaf, and then all nodes above once. */
static inline void sp_tree_put(sp_many *many, ptrdiff_t k, double w0)
{
    sp_branch *leaf = &many->tree[many->room + k];
    leaf->most = w0;
    leaf->sum = sp_leaf(w0);
}

SP_PRIVATE void sp_tree_join_all(sp_many *many);

/* Whether the sums and maxima are those of n labels' w0. */
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

/* The first leaf from `first` on whose w0 is at least `least`; -1: there is none. */
SP_PRIVATE ptrdiff_t sp_tree_from(const sp_many *many, ptrdiff_t first, double least);

#endif
