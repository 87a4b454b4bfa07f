/* What is kept for columns' curves and surfaces, and for an event that they have answered. There is
   no loop here, so all may include it. shapes/shapes.h says what the letters mean. */

#ifndef STREAMPTRON_LEARNER_SHAPES_H
#define STREAMPTRON_LEARNER_SHAPES_H

#include "learner/drift.h"
#include "memory/types.h"

enum {
    SP_SHAPE_LINE,  /* the number of layers above the line */
    SP_SHAPE_CURVE,
    SP_SHAPE_AUTO,
    SP_LAYERS = 2, /* curves, surfaces */
    SP_HATS = 12,
    SP_PATCH_SIDE = 9,
    SP_PATCH_CELLS = 81,
    SP_SURFACES_MOST = 16, /* columns that have surfaces */
    SP_WATCHED_MOST = 64,  /* columns watched for guests at a time */
};

typedef struct sp_gate {
    float value;
    float Gamma; /* 0: nothing has been learned yet; counts as 1 */
} sp_gate;

typedef struct sp_shape { /* the curve of a column, or the surface of two */
    sp_slot_type a;      /* the column */
    sp_slot_type b;      /* the other one; for a curve, a again */
    sp_gate gate;
    float *cells;
} sp_shape;

typedef struct sp_layer {
    sp_shape *parts; /* rising by a, then b */
    ptrdiff_t n;
    ptrdiff_t room;
    double tau; /* the layer's own gate */
    double Gtau;
    sp_drift drift;
} sp_layer;

typedef struct sp_shapes {
    int n_layers;    /* SP_SHAPE_ */
    ptrdiff_t lanes; /* room of a cell, in labels: a multiple of 4; 0: two labels, one output */
    sp_layer of[SP_LAYERS];
    sp_slot_type *columns; /* that may have shapes, in the order of their turns */
    ptrdiff_t n_columns;
    ptrdiff_t room;                         /* of these, of rank, and of S */
    double *rank;                           /* how informative they were at the last choice */
    double *S;                              /* of each pair of watched columns */
    double Z;
    double next; /* T of the next choice */
    uint64_t n_choices;
    ptrdiff_t n_chosen;
    sp_slot_type chosen[SP_SURFACES_MOST];               /* in the order of turns */
    int16_t seats[SP_SURFACES_MOST * SP_SURFACES_MOST]; /* the part of each pair; -1: none yet */
} sp_shapes;

typedef struct sp_patch { /* a part of an event */
    sp_slot_type a;
    sp_slot_type b;
    int32_t part; /* its number in the layer; -1: none yet */
    int32_t n;    /* cells that are not left out */
    int32_t cell[4];
    double value[4];
    double h[4];
} sp_patch;

typedef struct sp_pace { /* a step of one output */
    ptrdiff_t k;
    double f;
    double q;
    double kept;
    bool makes; /* an entry, too, where there is none yet */
} sp_pace;

typedef struct sp_heard { /* a layer's view of an event */
    sp_patch *patches;
    ptrdiff_t n;
    ptrdiff_t room;
    ptrdiff_t numbers_room;
    double *numbers; /* the block of H of each output, g, and s of each patch and output */
    double *H;
    double *g;
    double *s;
    double r;
    double length;
    double sharper; /* u d log P(y) / d tau of this layer */
    sp_pace *paces;
    ptrdiff_t n_paces;
    ptrdiff_t paces_room;
    sp_surprise surprise;
} sp_heard;

typedef struct sp_shaped { /* an event as it was answered */
    bool made;             /* parts have been made for it */
    ptrdiff_t n_errors;    /* numbers of g */
    bool has;              /* it has columns with curves; otherwise nothing here is valid */
    bool bent;             /* these change the scores */
    ptrdiff_t outputs;
    ptrdiff_t known; /* of these, known to the layers */
    ptrdiff_t labels_room;
    double *final; /* the score of each output, */
    double *line;  /* the line's part of it, */
    double *e;     /* and scratch, for one label more */
    double *d;
    ptrdiff_t lanes_room;
    double *rD;   /* 1 / (D + 1), by label */
    float *spare; /* the cell that a patch of fewer than four writes to */
    ptrdiff_t n_columns;
    ptrdiff_t columns_room;
    double *v; /* of each column that may have shapes, in the order of turns; 0 for a gap */
    bool *gap;
    sp_heard of[SP_LAYERS];
} sp_shaped;

#endif
