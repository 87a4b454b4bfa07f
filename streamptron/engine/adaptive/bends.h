/* What columns hide: features by which AdaptiveClassifier's score of a column is no straight line.

   **Gaps.** Where 0 is far from a column's values (adaptive/columns.h), an event that lacks the
   column has the feature ("gap", column), of value 1, and the column's own v is 0. So what is
   missing is no outlier, and may yet say something: it learns as a word does.

   **Bends.** The v of a column lies between two of twelve places, half a standard deviation apart:

       place      0    1    2    3    4    5    6    7    8    9    10   11
       v       -2.75     -1.75     -.75      .25      1.25      2.25     2.75
                                          ^ v = -.15: place 5 by .8, place 6 by .2

   Both are features of the event, by how near they are; what is below 1e-6 is left out. Each learns
   as a word does, and so the score of a column is a straight line between any two of its places,
   and bends there. A gap has none.

   A bend's name is the tuple ("bend", column, place). So it is a feature like any other to index,
   files, merges and ceilings, as a gap is. Both are written behind the event's entries each time
   when it is scored, as columns move with every event that is learned; event.n counts them until
   the path is done with the event. A pair of features has none, even if it is a column: there would
   be twelve times as many.

   A hashed table has no names: there a bend is named after its column's number, and a pair that is
   a column bends too, for nobody knows that it is one. A bend may share a place with any feature.

   A bend, or gap, is taken by its value, as it is: what the feature usually is does not matter. Nor
   does it ever become a column.

       v = x,  h = om v,  h^2 to the sum that makes the length

   This room writes both and says what they add to the sums over an event. It knows no outputs but
   the one of two labels, whose weight lies in the head.

   Functions in this file: sp_bends_write, sp_bends_weigh. */

#ifndef STREAMPTRON_ADAPTIVE_BENDS_H
#define STREAMPTRON_ADAPTIVE_BENDS_H

#include "adaptive/columns.h"
#include "adaptive/head.h"
#include "events/event.h"
#include "memory/arena.h"
#include "names/index.h"

enum {
    SP_BEND_PLACES = 12,
    SP_BENDS_OF_COLUMN = 2, /* that an event has; or one gap */
    SP_BEND_GAP = -1,       /* in the place of a place */
};

#define SP_BEND_LEAST 1e-6

/* n columns of an event. */
typedef struct {
    const sp_blocks *blocks;
    const sp_slot_type *slots;
    const double *x;
    const double *v;
    ptrdiff_t n;
} sp_bent;

/* Write the gaps of columns, and if there are `bends` these, behind the event's entries, with their
   slots. The names lie in `names`; `of` is which column each is of. -1 without memory. */
SP_NEAR int sp_bends_write(const sp_index *index, const sp_bent *columns, bool bends,
                           sp_arena *names, uint32_t *of, sp_event *event);

/* v, h and t of an event's entries from first to last, not included, which are these, and what they
   add to the sums. `pair`: there are two labels at most. */
SP_NEAR void sp_bends_weigh(double *const *heads, const sp_slot_type *slots, const double *x,
                            ptrdiff_t first, ptrdiff_t last, double T, sp_sums *sums, bool pair,
                            bool naive_bayes);

#endif
