/* Curves and surfaces: what columns of numbers add to a straight line.

   A column's v is between two of twelve places, half a deviation apart, which are the hats of its
   curve. The v of two columns are between four of 9 x 9 places, the cells of their surface:

       place of a hat     0    1    2    3    4    5    6    7    8    9    10   11
       v               -2.75     -1.75     -.75      .25      1.25      2.25     2.75

   Each layer learns the errors that the layers before it leave. tests/twin/shapes.py is the same in
   plain Python, to the last bit. In its letters:

       a hat or cell    c    the sum of u h by label, h being how near it is;  N = sum of c
                        om   how informative it has been, 1/8 at first;  w, G of each output
       a part           alpha of a curve, beta of a surface: its gate, 1/4 at first, with Gamma
       a layer          tau, likewise

       X = om h / ||om h|| over all hats (cells) of the event;  s = sum of w X over a part's
       H1 = score of the line + sum of alpha s;  H2 = H1 + sum of beta s
       score = line + (tau_1 / tau_0) (H1 - line) + (tau_2 / tau_0) (H2 - H1)

   To learn label y with sample weight u, where p1 and p2 are sigmoid or softmax of H1 and H2:

       gates    gamma = u sum of ([k = y] - p) s;  Gamma = Gamma (1 - 1/1024) + gamma^2;
                value += .2 gamma / sqrt(Gamma), within 0 and 4;  tau_i likewise, within 0 and 5,
                by u d log P(y) / d tau_i
       weights  q = u |[k = y] - p| > 1/32: the step of any feature. With more than two labels an
                entry is made for y and where q > 1/4; it is there once G is above 0
       then     c_y += u h;  om^2 = 1/64 + ((T + K) sum of c^2 / (D + 1) - N^2) / (N + 1)^2

   With up to 16 columns, each pair has a surface; of more columns, 16 are chosen (shapes/choose.h).

   Storage. A part has its cells in a block of its own, found once per event; a cell is floats:

       two labels     [ om | c_0 c_1 | w | G ]
       more           [ om - - - | c, a lane each | w .. | G .. ]      lanes: labels, in fours

   So a surface takes 1.6 kB with two labels, and 81 x 12 bytes per label with more. sp_shapes_most
   bounds the memory.

   The functions in this file make, copy, size and free these numbers. */

#ifndef STREAMPTRON_SHAPES_SHAPES_H
#define STREAMPTRON_SHAPES_SHAPES_H

#include "learner/shapes.h"
#include "memory/compiler.h"

#include <math.h>

#define SP_CELL_OM_FIRST 0.125f
#define SP_GATE_FIRST 0.25
#define SP_GATE_MOST 4.0       /* of a part */
#define SP_GATE_MOST_LAYER 5.0 /* of a layer */
#define SP_GAMMA_LEAST 0x1p-40 /* keeps a gate that was idle for long from dividing by 0 */
#define SP_GAMMA_MOST 1e38
#define SP_SHAPES_LABELS 0x100000 /* the most cells times labels */

/* How many cells a part of that layer has. */
static inline ptrdiff_t sp_layer_cells(int layer)
{
    return layer ? SP_PATCH_CELLS : SP_HATS;
}

/* The floats of a cell, and where its numbers are. */
static inline ptrdiff_t sp_cell_width(ptrdiff_t lanes)
{
    return lanes ? 4 + 3 * lanes : 5;
}

static inline float *sp_cell_c(float *cell, ptrdiff_t lanes)
{
    return cell + (lanes ? 4 : 1);
}

static inline float *sp_cell_w(float *cell, ptrdiff_t lanes)
{
    return cell + (lanes ? 4 + lanes : 3);
}

static inline float *sp_cell_G(float *cell, ptrdiff_t lanes)
{
    return cell + (lanes ? 4 + 2 * lanes : 4);
}

/* How many labels and outputs a cell has numbers for. */
static inline ptrdiff_t sp_cell_labels(ptrdiff_t lanes)
{
    return lanes ? lanes : 2;
}

static inline ptrdiff_t sp_cell_outputs(ptrdiff_t lanes)
{
    return lanes ? lanes : 1;
}

static inline size_t sp_shape_floats(int layer, ptrdiff_t lanes)
{
    return (size_t)(sp_layer_cells(layer) * sp_cell_width(lanes));
}

/* Untrained. `n_layers`: SP_SHAPE_. */
SP_PRIVATE void sp_shapes_init(sp_shapes *shapes, int n_layers);

SP_PRIVATE void sp_shapes_free(sp_shapes *shapes);

SP_PRIVATE size_t sp_shapes_bytes(const sp_shapes *shapes);

/* A copy with memory of its own. -1 if out of memory. Call sp_shapes_free in either case. */
SP_PRIVATE int sp_shapes_copy(sp_shapes *to, const sp_shapes *other);

/* Convert those of two labels to the form for more labels. -1 if out of memory. Call sp_shapes_free
   in either case. */
SP_PRIVATE int sp_shapes_split(sp_shapes *to, const sp_shapes *pair, int positive);

/* Room for n labels, of more than two. -1 if out of memory. */
SP_PRIVATE int sp_shapes_lanes(sp_shapes *shapes, ptrdiff_t n);

/* The number of the part of these columns in a layer; -1: none. `near`: a likely place. */
SP_PRIVATE ptrdiff_t sp_layer_find(const sp_layer *layer, sp_slot_type a, sp_slot_type b,
                                   ptrdiff_t near);

/* The part of these columns, made if there is none. NULL if out of memory. */
SP_PRIVATE sp_shape *sp_layer_make(sp_shapes *shapes, int layer, sp_slot_type a, sp_slot_type b);

/* Room for n columns that may have shapes. -1 if out of memory. */
SP_PRIVATE int sp_shapes_room(sp_shapes *shapes, ptrdiff_t n);

/* Whether they are untrained. */
SP_PRIVATE bool sp_shapes_are_new(const sp_shapes *shapes);

/* Whether a gate has learned nothing. */
static inline bool sp_shape_is_new(const sp_shape *part)
{
    return part->gate.Gamma == 0.0f;
}

/* Move a layer's gate in the direction gamma. */
static inline void sp_layer_step(sp_layer *layer, double gamma)
{
    const double squares = layer->Gtau * (1.0 - 1.0 / 1024.0) + gamma * gamma;
    layer->Gtau = SP_MIN(SP_MAX(squares, SP_GAMMA_LEAST), SP_GAMMA_MOST);
    const double value = layer->tau + (0.2 * gamma) / sqrt(layer->Gtau);
    layer->tau = value < 0.0 ? 0.0 : value > SP_GATE_MOST_LAYER ? SP_GATE_MOST_LAYER : value;
}

/* And a part's gate. */
static inline void sp_gate_step(sp_gate *gate, double gamma)
{
    const double before = gate->Gamma == 0.0f ? 1.0 : (double)gate->Gamma;
    const double squares = before * (1.0 - 1.0 / 1024.0) + gamma * gamma;
    gate->Gamma = (float)SP_MIN(SP_MAX(squares, SP_GAMMA_LEAST), SP_GAMMA_MOST);
    const double value = (double)gate->value + (0.2 * gamma) / sqrt((double)gate->Gamma);
    gate->value = (float)(value < 0.0 ? 0.0 : value > SP_GATE_MOST ? SP_GATE_MOST : value);
}

#endif
