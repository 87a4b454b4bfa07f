/* Gaps: what is learned from events that lack a column of numbers.

   Where 0 is far from a column's values (features/columns.h), an event that lacks the column has
   the feature ("gap", column), of value 1, and the column's own v is 0. So a missing value is not
   an outlier, but may still be informative: it is learned like a word.

   To index, files, merges and ceilings it is a feature like any other. Gaps are written behind the
   event's entries whenever it is scored, as columns move with every event that is learned. event.n
   counts them until the path is done with the event. A pair of features has no gap, even if it is a
   column, nor does a feature whose name is an object.

   A hashed table has no names. There a gap is named after its column's number, and pairs that are
   columns have gaps, too. A gap may share a slot with any feature.

   A gap's value is used as it is, whatever the usual size of the feature is. It never becomes a
   column.

       v = x,  h = om v,  h^2 is added to the sum for the length

   This file writes gaps, and adds them to the sums over an event. The only output it knows is the
   one of two labels, whose weight is in the head.

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
    const bool *gaps; /* which of them are gaps in the event */
    ptrdiff_t n;
} sp_present;

/* Whether a column may have gaps and shapes: not if it is a pair, or named by an object outside the
   core. */
SP_PRIVATE bool sp_has_hidden(const sp_key *column);

/* Write the gaps of columns behind the event's entries, with their slots. Their names are put into
   `names`, and the column of each into `of`. -1 if out of memory. */
SP_HOT int sp_gaps_write(const sp_index *index, const sp_present *columns, sp_arena *names,
                         uint32_t *of, sp_event *event);

/* Set v, h and t of the event's entries first .. last - 1, which are gaps, and add them to the
   sums. `pair`: there are at most two labels. */
SP_HOT void sp_gaps_weigh(double *const *heads, const sp_slot_type *slots, const double *x,
                            ptrdiff_t first, ptrdiff_t last, double T, sp_sums *sums, bool pair,
                            bool naive_bayes);

#endif
