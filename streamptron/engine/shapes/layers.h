/* How an event passes through the layers of curves and surfaces (shapes/shapes.h): it is answered,
   then aimed at, then learned.

   The caller provides v of the event's columns that may have shapes, and the line's score of each
   output, and gets the scores back in sp_shaped.final. Only sp_shaped_room and sp_shaped_lanes, for
   the event's scratch, and sp_shapes_reserve can fail. */

#ifndef STREAMPTRON_SHAPES_LAYERS_H
#define STREAMPTRON_SHAPES_LAYERS_H

#include "shapes/shapes.h"

/* What a step needs of the model. */
typedef struct sp_shaping {
    double eta;
    double forget;
    bool watches;
    bool two; /* one output, of `positive` */
    int positive;
    ptrdiff_t n_labels;
    double tau;       /* of the line */
    double tempering; /* T / (T + 10) */
} sp_shaping;

SP_PRIVATE void sp_shaped_free(sp_shaped *w);
SP_PRIVATE size_t sp_shaped_bytes(const sp_shaped *w);

/* Room for n columns, and for so many outputs. -1 if out of memory. */
SP_PRIVATE int sp_shaped_room(const sp_shapes *shapes, sp_shaped *w, ptrdiff_t n,
                              ptrdiff_t outputs);

/* Answer an event: compute `final` from v, gap and line. */
SP_PRIVATE void sp_shapes_answer(const sp_shapes *shapes, const sp_shaping *of, sp_shaped *w);

/* Compute what learning label y, which may be new, will need. `begins`: the score of a new
   label. */
SP_PRIVATE void sp_shapes_aim(const sp_shapes *shapes, const sp_shaping *of, sp_shaped *w,
                              ptrdiff_t y, double begins, double u);

/* u d log P(y) / d tau of the line; the layers' own are stored in them. */
SP_PRIVATE double sp_shapes_sharper(const sp_shapes *shapes, const sp_shaping *of, sp_shaped *w,
                                    ptrdiff_t y, double u);

/* Room for a number per lane. -1 if out of memory. */
SP_PRIVATE int sp_shaped_lanes(const sp_shapes *shapes, sp_shaped *w);

/* 1 / (D + 1) of each label. There is room for the lanes. */
SP_PRIVATE void sp_shaped_weigh_labels(const sp_shapes *shapes, sp_shaped *w, ptrdiff_t labels,
                                       const double *D);

/* Make parts for all patches of an answered event, and lanes for label y. -1 if out of memory;
   parts made by then have learned nothing. */
SP_PRIVATE int sp_shapes_reserve(sp_shapes *shapes, const sp_shaping *of, sp_shaped *w,
                                 ptrdiff_t y);

/* Learn label y, which is already counted in D (by label) and T. `known`: it had come before. */
SP_PRIVATE void sp_shapes_learn(sp_shapes *shapes, const sp_shaping *of, sp_shaped *w, ptrdiff_t y,
                                double u, bool known, const double *D, double T);

/* Whether a layer moves its weights. */
static inline bool sp_shaped_steps(const sp_shaped *w)
{
    return w->has && (w->of[0].n_paces || w->of[1].n_paces);
}

/* A part's share in an output's score, in an answered event. */
SP_PRIVATE double sp_patch_share(const sp_shapes *shapes, const sp_shaping *of, const sp_shaped *w,
                                 int layer, ptrdiff_t i, ptrdiff_t output);

/* N of a cell, in four lanes. */
SP_PRIVATE double sp_cell_count(const float *c, ptrdiff_t lanes);

/* The same for a cell of a part: the number of events that met it, weighted by how near they
   were. */
SP_API double sp_shape_met(const sp_shapes *shapes, int layer, ptrdiff_t part, ptrdiff_t cell);

/* om of a cell whose counts have changed. rD: 1 / (D + 1) by label, 0 for lanes without a label. */
SP_PRIVATE float sp_cell_om(const float *c, ptrdiff_t lanes, double all, const double *rD);

/* After counts were changed other than by learning: halve them if they are too large, and set
   om. */
SP_PRIVATE void sp_cell_keep(float *cell, ptrdiff_t lanes, double all, const double *rD);

#endif
