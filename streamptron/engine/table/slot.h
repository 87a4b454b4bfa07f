/* A slot: the same few numbers for each of its outputs (lanes), read and moved.

   The layout says which is which:

       w    the weight, always the first
       v    its averaging term
       p, e the pocket's copy, and the stamp that says since when the copy counts
       k    what the rule keeps for its own use: one number or two (keep.h)

   Functions in this file: sp_average, sp_average_term (no other place reads or writes the running
   average); sp_slot; sp_average_kept, sp_pocket_kept; sp_add_slot, sp_catch_up. */

#ifndef STREAMPTRON_TABLE_SLOT_H
#define STREAMPTRON_TABLE_SLOT_H

#include "memory/compiler.h"
#include "table/keep.h"
#include "table/layout.h"

#include <math.h>


/* Where a slot of `width` numbers is. */
SP_TEMPLATE double *sp_slot(double *const *chunks, uint32_t slot, int width)
{
    return chunks[slot >> SP_CHUNK_BITS] + (slot & (SP_CHUNK_SLOTS - 1)) * (uint32_t)width;
}

/* The slot at a distance from the null slot, in doubles. Each chunk is an object of its own, so
   this is arithmetic with addresses. */
SP_TEMPLATE double *sp_at(double *null_slot, int32_t place)
{
    return (double *)((uintptr_t)null_slot + (uintptr_t)(intptr_t)place * sizeof(double));
}

/* The running average of a weight, or of a sum of weights: Daume, A Course in Machine Learning,
   algorithm 7; exponential: the same with an s that shrinks by a constant factor. */
SP_TEMPLATE double sp_average(const sp_clock clock, const int average, double w, double v)
{
    return average == SP_AVERAGE_UNIFORM ? w - v / clock.c : w - clock.s * v;
}

/* What is added to the averaging term when delta is added to the weight. */
SP_TEMPLATE double sp_average_term(const sp_clock clock, const int average, double delta)
{
    return average == SP_AVERAGE_UNIFORM ? clock.c * delta : delta / clock.s;
}

/* The factor still missing in the averaging terms of a chunk that has missed so many folds. */
SP_TEMPLATE double sp_fold_factor(uint32_t behind)
{
    return behind == 0 ? 1.0 : exp2(-(double)SP_FOLD_BITS * behind);
}

/* A weight's averaging term, as if its chunk had seen all folds. */
SP_TEMPLATE double sp_term(const sp_slots block, const sp_clock clock, uint32_t slot,
                           const int average, const double *field, const sp_layout layout)
{
    double v = field[layout.v];
    if (average == SP_AVERAGE_EXPONENTIAL)
        v *= sp_fold_factor(clock.fold - block.folds[slot >> SP_CHUNK_BITS]);
    return v;
}

/* One weight of the average, and one of the pocket. */
SP_TEMPLATE double sp_average_kept(const sp_slots block, const sp_clock clock, uint32_t slot,
                                   const int average, const double *field, const sp_layout layout)
{
    return sp_average(clock, average, field[0],
                      sp_term(block, clock, slot, average, field, layout));
}

SP_TEMPLATE double sp_pocket_kept(const sp_clock clock, const double *field, const sp_layout layout)
{
    return field[layout.e] == clock.epoch ? field[layout.p] : field[0];
}

/* --- A step ----------------------------------------------------------------------------------- */

/* A step of up to SP_LANES lanes of a block: lane[j] by a[j]. */
typedef struct {
    int m;
    int lane[SP_LANES];
    double a[SP_LANES];
    double second[SP_LANES];        /* if the rule keeps a number: the second sums, */
    double r;                       /* and the step's noise */
} sp_lanes;

/* One slot of a chunk that has seen all folds: w += a[j] x in each lane[j], j < m. */
SP_TEMPLATE void sp_add_slot(const sp_clock clock, double *slot, double x, const sp_lanes *step,
                             const int m, const int lanes, const int average,
                             const sp_layout layout)
{
    for (int j = 0; j < m; j++) {
        double *field = slot + (lanes == 1 ? 0 : step->lane[j] * layout.fields);
        double delta = layout.keep == SP_KEEP_NONE
            ? step->a[j] * x
            : sp_keep_move(layout.keep, field + layout.k, x, step->a[j], step->second[j], step->r);
        if (layout.p >= 0 && field[layout.e] != clock.epoch) {
            field[layout.p] = field[0];
            field[layout.e] = clock.epoch;
        }
        field[0] += delta;
        if (average != SP_AVERAGE_NONE) field[layout.v] += sp_average_term(clock, average, delta);
    }
}

/* Exponential: bring the averaging terms of a chunk that has missed folds up to the table's. */
static inline void sp_catch_up(double *chunk, uint32_t behind, int lanes, const sp_layout *layout)
{
    double factor = sp_fold_factor(behind);
    for (int i = 0; i < SP_CHUNK_SLOTS * lanes; i++)
        chunk[i * layout->fields + layout->v] *= factor;
}

/* --- For every kind of learner ---------------------------------------------------------------- */

/* Run `call` with the current layout as constants. Rare layouts share one instance whose arguments
   are not constants. With STREAMPTRON_PLAIN all layouts do; in the library, which is kept small,
   all but that of uniform averages. */
#ifdef STREAMPTRON_PLAIN
  #define SP_EVERY_LAYOUT(call) call(clock->average, *layout);
  #define SP_EVERY_KEPT(call) call(clock->average, *layout);
#elif SP_SMALL
  #define SP_EVERY_KEPT(call) call(clock->average, *layout);
  #define SP_EVERY_LAYOUT(call) \
      if (layout->keep == SP_KEEP_NONE && layout->p < 0 && clock->average == SP_AVERAGE_UNIFORM) \
          call(SP_AVERAGE_UNIFORM, sp_layout_of(SP_AVERAGE_UNIFORM, 0, SP_KEEP_NONE)); \
      else call(clock->average, *layout);
#else
  #define SP_EVERY_KEPT(call) \
      if (layout->keep == SP_KEEP_PRECISION && clock->average == SP_AVERAGE_NONE && layout->p < 0) \
          call(SP_AVERAGE_NONE, sp_layout_of(SP_AVERAGE_NONE, 0, SP_KEEP_PRECISION)); \
      else call(clock->average, *layout);
  #define SP_EVERY_LAYOUT(call) \
      if (layout->keep != SP_KEEP_NONE) { \
          SP_EVERY_KEPT(call) \
      } else if (layout->p < 0) { \
          SP_EVERY_AVERAGE(call, 0) \
      } else { \
          SP_EVERY_AVERAGE(call, 1) \
      }
  #define SP_EVERY_AVERAGE(call, pocket) \
      if (clock->average == SP_AVERAGE_UNIFORM) \
          call(SP_AVERAGE_UNIFORM, sp_layout_of(SP_AVERAGE_UNIFORM, pocket, SP_KEEP_NONE)); \
      else if (clock->average == SP_AVERAGE_NONE) \
          call(SP_AVERAGE_NONE, sp_layout_of(SP_AVERAGE_NONE, pocket, SP_KEEP_NONE)); \
      else call(SP_AVERAGE_EXPONENTIAL, sp_layout_of(SP_AVERAGE_EXPONENTIAL, pocket, SP_KEEP_NONE));
#endif

#endif
