/* Rows and labels as flat arrays, as in a model file, and back.

       marks    the rows, as rows/marks.h says
       marked   float64 [labels, 6]    D, left, w0, G0, wn, Gn */

#ifndef STREAMPTRON_MULTILABEL_ARRAYS_H
#define STREAMPTRON_MULTILABEL_ARRAYS_H

#include "learner/machine.h"
#include "rows/marks.h"

/* Write the labels' numbers, and read them into an untrained learner: 0, or what is wrong. Rows are
   written and read as in any other learner (machine/arrays.h). */
SP_PRIVATE void sp_multilabel_labels_write(const sp_learner *learner, double *marked);
SP_PRIVATE int sp_multilabel_labels_read(sp_learner *learner, const double *marked);

/* Check all entries of slots in a file: 0, or what is wrong. */
SP_PRIVATE int sp_multilabel_marks_check(const sp_learner *learner, const double *slots,
                                         size_t n_slots, const uint32_t *marks, size_t n);

/* Check an event's rows, whose entries have not been checked yet. */
SP_PRIVATE bool sp_multilabel_rows_are_sound(const sp_learner *learner, const sp_event *event);

/* Whether a slot is the same in two learners with the same first labels, wherever the rows are
   stored. */
SP_PRIVATE bool sp_multilabel_same_row(const sp_learner *learner, uint32_t block,
                                       const double *row, const sp_learner *base,
    const double *its);

/* A label's numbers as in that array; false: no such label. */
SP_PRIVATE bool sp_multilabel_label_numbers(const sp_learner *learner, ptrdiff_t k, double *marked);

/* Give a learner whose slots will be those of a base and a delta the base's rows. -1 if out of
   memory. */
SP_PRIVATE int sp_multilabel_overlay_begin(sp_learner *learner, const sp_learner *base);

/* And then the rows of the delta's n slots, which it already has, and its labels' numbers. 0, or
   what is wrong. */
SP_PRIVATE int sp_multilabel_overlay_rows(sp_learner *learner, const uint32_t *slots,
                                          const uint32_t *blocks, size_t n, const uint32_t *marks,
    size_t n_marks, const double *marked);

#endif
