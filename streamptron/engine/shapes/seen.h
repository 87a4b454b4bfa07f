/* Curves and surfaces converted for another learner: one that several are merged into, or one that
   continues this one.

   There, columns have other slots, and labels other numbers. The one output of two labels may be
   for the other label, or become what the third label makes of it. If a pair's columns come in the
   other order there, its cell (i, j) becomes (j, i). */

#ifndef STREAMPTRON_SHAPES_SEEN_H
#define STREAMPTRON_SHAPES_SEEN_H

#include "shapes/shapes.h"

/* How to convert them. */
typedef struct sp_seen {
    sp_slot_type (*slot_of)(const void *of, sp_slot_type slot); /* there; the null slot: none */
    const void *of;
    bool by_slot;          /* columns come in the order of their slots there */
    ptrdiff_t lanes;       /* there */
    ptrdiff_t n_labels;    /* there, at least two */
    const int32_t *labels; /* by label there: the number here, or -1; NULL: the same */
    double sign;           /* -1: the one output of two labels changes its sign */
    int positive;          /* the label here for which that output is positive */
} sp_seen;

/* Convert a cell; NULL: one that was never met. */
SP_PRIVATE void sp_cell_seen(float *to, float *cell, ptrdiff_t lanes, const sp_seen *how);

/* Convert the parts that have learned and whose columns are there; nothing else. -1 if out of
   memory. Call sp_shapes_free in either case. */
SP_PRIVATE int sp_shapes_seen(sp_shapes *to, const sp_shapes *other, const sp_seen *how);

#endif
