/* Rows and labels as flat arrays, the way a model file holds them, and back.

       marks    the rows, as rows/marks.h says
       marked   float64 [labels, 6]    D, left, w0, G0, wn, Gn */

#ifndef STREAMPTRON_MULTILABEL_ARRAYS_H
#define STREAMPTRON_MULTILABEL_ARRAYS_H

#include "learner/machine.h"
#include "rows/marks.h"

/* Labels' numbers, written down, and those of an untrained learner filled in: 0, or what is wrong.
   Rows are written and read as any other learner's (machine/arrays.h). */
SP_PRIVATE void sp_multilabel_labels_write(const sp_learner *learner, double *marked);
SP_PRIVATE int sp_multilabel_labels_read(sp_learner *learner, const double *marked);

/* Look at all entries of slots that lie in a file: 0, or what is wrong. */
SP_PRIVATE int sp_multilabel_marks_check(const sp_learner *learner, const double *slots,
                                         size_t n_slots, const uint32_t *marks, size_t n);

/* Whether an event's rows, of entries that no one has looked at, are some. */
SP_PRIVATE bool sp_multilabel_rows_are_sound(const sp_learner *learner, const sp_event *event);

/* Whether a slot holds the same in two learners whose labels begin alike, wherever rows lie. */
SP_PRIVATE bool sp_multilabel_same_row(const sp_learner *learner, uint32_t block,
                                       const double *row, const sp_learner *base,
    const double *its);

/* A label's numbers as they lie there; false: there is no such label. */
SP_PRIVATE bool sp_multilabel_label_numbers(const sp_learner *learner, ptrdiff_t k, double *marked);

/* Give a learner, whose slots are going to be those of a base and of a delta, the base's rows. -1
   if out of memory. */
SP_PRIVATE int sp_multilabel_overlay_begin(sp_learner *learner, const sp_learner *base);

/* And then the rows of the delta's n slots, which it holds already, and its labels' numbers. 0, or
   what is wrong. */
SP_PRIVATE int sp_multilabel_overlay_rows(sp_learner *learner, const uint32_t *slots,
                                          const uint32_t *blocks, size_t n, const uint32_t *marks,
    size_t n_marks, const double *marked);

#endif
