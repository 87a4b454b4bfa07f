/* Which columns have surfaces (shapes/shapes.h).

   All while they are at most 16, or as many as memory allows (sp_shapes_most). Else so many, chosen
   anew when columns come or go, and 32 events after the last choice, from the 512th event on
   512 after. A column's rank is

       R (x 1.1 if it is chosen) + 3 max(0, largest beta of its pairs - 1/4)
       R^2 = sum of N om^2 / sum of N over the hats of its curve: its use, in any shape

   and from event 512 on the last two places are for guests: pairs of columns that say something
   only together. Of each two columns that are watched, with r what the curves leave wrong,

       S = (1 - 1/1024) S + r clip(v_a, 2) clip(v_b, 2);   Z = (1 - 1/1024)^2 Z + r^2

   and of pairs that find room and have S^2 > 30 Z, the largest comes in. At most 64 columns are
   watched at a time, others after each choice. S and Z begin anew when columns come or go. */

#ifndef STREAMPTRON_SHAPES_CHOOSE_H
#define STREAMPTRON_SHAPES_CHOOSE_H

#include "shapes/layers.h"

/* How many columns may have surfaces, with so many labels; max_features = 0: no ceiling. */
SP_PRIVATE ptrdiff_t sp_shapes_most(ptrdiff_t n_labels, sp_slot_type max_features);

/* After an event has been learned: which columns have surfaces. `changed`: columns have come or
   gone, and the list of columns is that of today. */
SP_PRIVATE void sp_shapes_choose(sp_shapes *shapes, const sp_shaped *w, double T, ptrdiff_t most,
                                 bool changed);

/* Find the parts of each two chosen columns. */
SP_PRIVATE void sp_shapes_seat(sp_shapes *shapes);

#endif
