/* What a step changes in curves and surfaces, and that change taken back.

   Of each curve and surface of the event its gate is kept, and of each cell om, c of the label, and
   w and G of the outputs that its layer stepped: before the step, and after it. They come back by
   the formula of all numbers (features/undo.h). om is not a sum: it is worked out again, unless it
   and c are as the step left them. Where the step halved a cell's counts, what it added is gone in
   them: they and om stay.

   A part is known by its columns. One that the choice after the step forgot, or that is not there
   now, is left alone. Which columns have surfaces stays, unless columns come or go with the undo.

   As bytes, each part at a multiple of eight:

       sp_snapshot_shapes         how many of each of these there are
       of each layer          tau, Gtau and the watch's numbers, float64: before, after
       columns of the event   which entry of the step each is, uint32
       outputs that stepped   of each layer, uint32, rising
       sp_snapshot_patch          the parts, of each layer
       cells' numbers         float, of each part in turn: before, after. All parts of a layer have
                              the same room; behind fewer cells it is zeros */

#ifndef STREAMPTRON_SHAPES_UNDO_H
#define STREAMPTRON_SHAPES_UNDO_H

#include "shapes/layers.h"

typedef struct sp_snapshot_shapes { /* what these bytes begin with */
    uint32_t n_layers;
    uint32_t n_columns;
    uint32_t n[SP_LAYERS]; /* parts */
    uint32_t m[SP_LAYERS]; /* outputs that stepped */
} sp_snapshot_shapes;

/* The model without the step, as far as it matters here. */
typedef struct sp_unshaping {
    bool one; /* the step was taken while there were two labels */
    int positive;
    ptrdiff_t y;
    ptrdiff_t n_labels; /* now; two at least */
    double T;
    const double *D;
    const sp_slot_type *slots; /* of the step's entries; 0: another feature's now */
} sp_unshaping;

/* Bytes for the step of an answered event, whose step has been chosen. */
SP_PRIVATE size_t sp_snapshot_shapes_bytes(const sp_shapes *shapes, const sp_shaped *w);

/* Where in them it stands which entry each column is: as many as the event has curves. */
SP_PRIVATE uint32_t *sp_snapshot_shapes_columns(uint8_t *p);

/* Write down what there is before the step; and then after it. */
SP_PRIVATE void sp_snapshot_shapes_before(const sp_shapes *shapes, const sp_shaped *w, ptrdiff_t y,
                                          uint8_t *p);
SP_PRIVATE void sp_snapshot_shapes_after(const sp_shapes *shapes, const sp_shaped *w, ptrdiff_t y,
                                         double u, uint8_t *p);

/* Whether so many bytes are those of a step of n entries, of a model with so many outputs. */
SP_PRIVATE bool sp_snapshot_shapes_are_sound(uint8_t *p, size_t bytes, int n_layers, ptrdiff_t n,
                                             ptrdiff_t outputs);

/* Take a step back. `w`: scratch, which has room for the lanes (sp_shaped_lanes). */
SP_PRIVATE void sp_shapes_take_back(sp_shapes *shapes, const sp_unshaping *of, sp_shaped *w,
                                    uint8_t *p);

#endif
