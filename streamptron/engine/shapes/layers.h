/* How an event passes the layers of curves and surfaces (shapes/shapes.h): answered, aimed at, and
   learned.

   Who has the event gives its columns that may have shapes, with the v of each (sp_shaped_columns),
   and what the line says of each output; and gets the scores back in sp_shaped.final. All that can
   fail is done by sp_shaped_room, whose scratch is the event's, and by sp_shapes_reserve. */

#ifndef STREAMPTRON_SHAPES_LAYERS_H
#define STREAMPTRON_SHAPES_LAYERS_H

#include "shapes/shapes.h"

/* What of the model a step takes. */
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

/* Answer an event, of which v, gap and line are there: final. */
SP_PRIVATE void sp_shapes_answer(const sp_shapes *shapes, const sp_shaping *of, sp_shaped *w);

/* What learning label y, which may be new, will need. `begins`: the score of a new label. */
SP_PRIVATE void sp_shapes_aim(const sp_shapes *shapes, const sp_shaping *of, sp_shaped *w,
                              ptrdiff_t y, double begins, double u);

/* u d log P(y) / d tau of the line; of the layers it is left in them. */
SP_PRIVATE double sp_shapes_sharper(const sp_shapes *shapes, const sp_shaping *of, sp_shaped *w,
                                    ptrdiff_t y, double u);

/* Room for a number of each lane. -1 if out of memory. */
SP_PRIVATE int sp_shaped_lanes(const sp_shapes *shapes, sp_shaped *w);

/* 1 / (D + 1) of each label. There is room for the lanes. */
SP_PRIVATE void sp_shaped_weigh_labels(const sp_shapes *shapes, sp_shaped *w, ptrdiff_t labels,
                                       const double *D);

/* Parts for all patches of an answered event, and lanes for label y. -1 if out of memory; the parts
   that are there then have learned nothing. */
SP_PRIVATE int sp_shapes_reserve(sp_shapes *shapes, const sp_shaping *of, sp_shaped *w,
                                 ptrdiff_t y);

/* Learn label y, which has been counted: D of each label, and T. `known`: it had come before. */
SP_PRIVATE void sp_shapes_learn(sp_shapes *shapes, const sp_shaping *of, sp_shaped *w, ptrdiff_t y,
                                double u, bool known, const double *D, double T);

/* Whether a layer takes a step in its weights. */
static inline bool sp_shaped_steps(const sp_shaped *w)
{
    return w->has && (w->of[0].n_paces || w->of[1].n_paces);
}

/* What a part has of an output's score, in an answered event. */
SP_PRIVATE double sp_patch_share(const sp_shapes *shapes, const sp_shaping *of, const sp_shaped *w,
                                 int layer, ptrdiff_t i, ptrdiff_t output);

/* N of a cell, in four lanes. */
SP_PRIVATE double sp_cell_count(const float *c, ptrdiff_t lanes);

/* The same of a cell of a part: how many events it has been met by, each by how near it was. */
SP_API double sp_shape_met(const sp_shapes *shapes, int layer, ptrdiff_t part, ptrdiff_t cell);

/* om of a cell, whose counts have changed. rD: 1 / (D + 1) by label, 0 for lanes without one. */
SP_PRIVATE float sp_cell_om(const float *c, ptrdiff_t lanes, double all, const double *rD);

/* Counts that another way has made: not too many, and om of them. */
SP_PRIVATE void sp_cell_keep(float *cell, ptrdiff_t lanes, double all, const double *rD);

#endif
