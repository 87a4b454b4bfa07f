/* Rows and labels as flat arrays, the way a model file holds them, and back.

       marks    the rows, as rows/marks.h says
       marked   float64 [labels, 6]    D, left, w0, G0, wn, Gn */

#ifndef STREAMPTRON_SETS_FLAT_H
#define STREAMPTRON_SETS_FLAT_H

#include "path/learner.h"
#include "rows/marks.h"

enum {
    SP_LABEL_WIDTH = 6,
};

/* Let an untrained learner, whose slots lie in a file, use the rows there. 0, or what is wrong. The
   arrays must outlive it, and nothing may be learned. It looks at all entries. */
SP_API int sp_sets_map(sp_learner *learner, const double *slots, size_t n_slots,
                       const uint32_t *marks, size_t n, const double *marked);

/* The same, looking at no entry: an event's are when it is scored. */
SP_PRIVATE int sp_sets_map_unread(sp_learner *learner, const uint32_t *marks, size_t n,
                                  const double *marked);

/* Whether an event's rows, of entries that no one has looked at, are some. */
SP_PRIVATE bool sp_sets_rows_are_sound(const sp_learner *learner, const sp_event *event);

/* Whether a slot holds the same in two learners whose labels begin alike, wherever rows lie. */
SP_PRIVATE bool sp_sets_same_row(const sp_table *table, const double *row, const sp_table *other,
                                 const double *its);

/* How many marks rows of slots need, written as they lie in the table. */
SP_API size_t sp_sets_measure(const double *slots, size_t n_slots);

/* Fill the arrays, and say in `slots`, which were written before, where rows are in them. */
SP_API void sp_sets_flatten(const sp_learner *learner, double *slots, size_t n_slots,
                            uint32_t *marks, double *marked);

/* Fill in an untrained learner, whose slots have been read. 0, or what is wrong. */
SP_API int sp_sets_read(sp_learner *learner, const uint32_t *marks, size_t n, const double *marked);

/* The entries of a slot as they lie in the arrays. How many. */
SP_PRIVATE size_t sp_sets_marks(const sp_learner *learner, const double *slot,
                                const uint32_t **marks);

/* A label's numbers as they lie there; false: there is no such label. */
SP_PRIVATE bool sp_sets_marked(const sp_learner *learner, ptrdiff_t k, double *marked);

/* Give a learner, whose slots are going to be those of a base and of a delta, the base's rows. -1
   without memory. */
SP_PRIVATE int sp_sets_lay(sp_learner *learner, const sp_learner *base);

/* And then the rows of the delta's n slots, which it holds already, and its labels' numbers. 0, or
   what is wrong. */
SP_PRIVATE int sp_sets_lay_rows(sp_learner *learner, const uint32_t *slots, size_t n,
                                const uint32_t *marks, size_t n_marks, const double *marked);

#endif
