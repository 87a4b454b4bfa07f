/* Curves and surfaces as another learner has them: one that several are merged into, or that goes
   on from this one.

   Columns have other slots there, and labels other numbers; two labels' one output may be for the
   other one, or become what the third label makes of it. A pair whose columns come in the other
   order there is turned round: its cell (i, j) becomes (j, i). */

#ifndef STREAMPTRON_SHAPES_SEEN_H
#define STREAMPTRON_SHAPES_SEEN_H

#include "shapes/shapes.h"

/* How the other learner sees them. */
typedef struct sp_seen {
    sp_slot_type (*slot_of)(const void *of, sp_slot_type slot); /* there; the null slot: nowhere */
    const void *of;
    bool by_slot;          /* columns come in the order of their slots there */
    ptrdiff_t lanes;       /* there */
    ptrdiff_t n_labels;    /* there, at least two */
    const int32_t *labels; /* by these: the number here, or -1; NULL: the same */
    double sign;           /* of two labels' one output, there as here */
    int positive;          /* the label here that it is for */
} sp_seen;

/* A cell, as it is there; NULL: one that has not been met. */
SP_PRIVATE void sp_cell_seen(float *to, float *cell, ptrdiff_t lanes, const sp_seen *how);

/* Parts that have learned, those whose columns are there; nothing else. -1 if out of memory. Call
   sp_shapes_free in either case. */
SP_PRIVATE int sp_shapes_seen(sp_shapes *to, const sp_shapes *other, const sp_seen *how);

#endif
