/* Gaps: what an event says that lacks a column of numbers.

   Where 0 is far from a column's values (features/columns.h), an event that lacks the column has
   the feature ("gap", column), of value 1, and the column's own v is 0. So what is missing is not
   an outlier, and may yet say something: it learns as a word does.

   It is a feature like any other to index, files, merges and ceilings. Gaps are written behind the
   event's entries each time when it is scored, as columns move with every event that is learned;
   event.n counts them until the path is done with the event. A pair of features has none, even if
   it is a column, nor has a name that is a mere object.

   A hashed table has no names: there a gap is named after its column's number, and a pair that is a
   column has one, too. A gap may share a place with any feature.

   A gap is taken by its value, as it is: what the feature usually is does not matter. Nor does it
   ever become a column.

       v = x,  h = om v,  h^2 to the sum that makes the length

   This room writes gaps and says what they add to the sums over an event. It knows no outputs but
   the one of two labels, whose weight lies in the head.

   Functions in this file: sp_has_hidden, sp_gaps_write, sp_gaps_weigh. */

#ifndef STREAMPTRON_ADAPTIVE_GAPS_H
#define STREAMPTRON_ADAPTIVE_GAPS_H

#include "events/event.h"
#include "features/columns.h"
#include "features/head.h"
#include "memory/arena.h"
#include "names/index.h"

/* n columns of an event. */
typedef struct {
    const sp_slot_type *slots;
    const bool *gaps; /* which of them the event lacks so */
    ptrdiff_t n;
} sp_present;

/* Whether a column may have gaps, and shapes: a pair does not, nor an object whose name is not in
   the core. */
SP_PRIVATE bool sp_has_hidden(const sp_key *column);

/* Write the gaps of columns behind the event's entries, with their slots. The names lie in `names`;
   `of` is which column each is of. -1 if out of memory. */
SP_HOT int sp_gaps_write(const sp_index *index, const sp_present *columns, sp_arena *names,
                         uint32_t *of, sp_event *event);

/* v, h and t of an event's entries from first to last, not included, which are these, and what they
   add to the sums. `pair`: there are two labels at most. */
SP_HOT void sp_gaps_weigh(double *const *heads, const sp_slot_type *slots, const double *x,
                            ptrdiff_t first, ptrdiff_t last, double T, sp_sums *sums, bool pair,
                            bool naive_bayes);

#endif
