/* What a step changes in curves and surfaces, and how that is undone.

   The gate of each curve and surface of the event is kept, and for each cell om, c of the label,
   and w and G of the outputs that its layer moved: before the step, and after it. They are restored
   by the usual formula (features/undo.h). om is not a sum: it is computed again, unless it and c
   are as the step left them. If the step halved a cell's counts, what it added can no longer be
   separated: they and om stay.

   A part is identified by its columns. A part that the choice after the step dropped, or that does
   not exist now, is left alone. The columns with surfaces stay the same, unless columns come or go
   with the undo.

   As bytes, each part at a multiple of eight:

       sp_snapshot_shapes     how many there are of each of the following
       of each layer          tau, Gtau and the watch's numbers, float64: before, after
       columns of the event   the step's entry that each one is, uint32
       outputs that stepped   of each layer, uint32, rising
       sp_snapshot_patch      the parts, of each layer
       cells' numbers         float, of each part in turn: before, after. All parts of a layer have
                              the same room; behind fewer cells it is zeros */

#ifndef STREAMPTRON_SHAPES_UNDO_H
#define STREAMPTRON_SHAPES_UNDO_H

#include "shapes/layers.h"

typedef struct sp_snapshot_shapes { /* the start of these bytes */
    uint32_t n_layers;
    uint32_t n_columns;
    uint32_t n[SP_LAYERS]; /* parts */
    uint32_t m[SP_LAYERS]; /* outputs that stepped */
} sp_snapshot_shapes;

/* The model without the step, as far as it is needed here. */
typedef struct sp_unshaping {
    bool one; /* the step was taken while there were two labels */
    int positive;
    ptrdiff_t y;
    ptrdiff_t n_labels; /* now; two at least */
    double T;
    const double *D;
    const sp_slot_type *slots; /* of the step's entries; 0: now another feature's */
} sp_unshaping;

/* The bytes needed for the step of an answered event, after the step has been chosen. */
SP_PRIVATE size_t sp_snapshot_shapes_bytes(const sp_shapes *shapes, const sp_shaped *w);

/* Where in them the columns' entries are: one for each curve of the event. */
SP_PRIVATE uint32_t *sp_snapshot_shapes_columns(uint8_t *p);

/* Write down the state before the step; and then after it. */
SP_PRIVATE void sp_snapshot_shapes_before(const sp_shapes *shapes, const sp_shaped *w, ptrdiff_t y,
                                          uint8_t *p);
SP_PRIVATE void sp_snapshot_shapes_after(const sp_shapes *shapes, const sp_shaped *w, ptrdiff_t y,
                                         double u, uint8_t *p);

/* Whether these bytes can be a step of n entries, of a model with so many outputs. */
SP_PRIVATE bool sp_snapshot_shapes_are_sound(uint8_t *p, size_t bytes, int n_layers, ptrdiff_t n,
                                             ptrdiff_t outputs);

/* Undo a step. `w`: scratch with room for the lanes (sp_shaped_lanes). */
SP_PRIVATE void sp_shapes_take_back(sp_shapes *shapes, const sp_unshaping *of, sp_shaped *w,
                                    uint8_t *p);

#endif
