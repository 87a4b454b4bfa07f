/* Chooses the columns that have surfaces (shapes/shapes.h).

   All columns have surfaces while there are at most 16, or as many as memory allows
   (sp_shapes_most). Otherwise that many are chosen, again whenever columns come or go, and 32
   events after the last choice; from the 512th event on, 512 events after it. A column's rank is

       R (x 1.1 if it is chosen) + 3 max(0, largest beta of its pairs - 1/4)
       R^2 = sum of N om^2 / sum of N over the hats of its curve: its use, whatever its shape

   From event 512 on the last two places are for guests: pairs of columns that are informative only
   together. For each pair of watched columns, with r the error that the curves leave,

       S = (1 - 1/1024) S + r clip(v_a, 2) clip(v_b, 2);   Z = (1 - 1/1024)^2 Z + r^2

   Of the pairs that have room and S^2 > 30 Z, the one with the largest S^2 comes in. At most 64
   columns are watched at a time, others after each choice. S and Z start from 0 when columns come
   or go. */

#ifndef STREAMPTRON_SHAPES_CHOOSE_H
#define STREAMPTRON_SHAPES_CHOOSE_H

#include "shapes/layers.h"

/* How many columns may have surfaces with so many labels; max_features = 0: no ceiling. */
SP_PRIVATE ptrdiff_t sp_shapes_most(ptrdiff_t n_labels, sp_slot_type max_features);

/* Called after an event has been learned: choose the columns that have surfaces. `changed`: columns
   have come or gone, and the list of columns is up to date. */
SP_PRIVATE void sp_shapes_choose(sp_shapes *shapes, const sp_shaped *w, double T, ptrdiff_t most,
                                 bool changed);

/* Find the part of each pair of chosen columns. */
SP_PRIVATE void sp_shapes_seat(sp_shapes *shapes);

#endif
