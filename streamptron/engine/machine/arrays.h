/* The rows of a learner with many labels as an array of a model file, beside names and slots
   (table/arrays.h), and back. It is `marks` (rows/marks.h), with all blocks whose slots have rows,
   one after the other, or the `entries` of wide/arrays.h. */

#ifndef STREAMPTRON_MACHINE_ARRAYS_H
#define STREAMPTRON_MACHINE_ARRAYS_H

#include "learner/machine.h"
#include "rows/marks.h"
#include "table/arrays.h"

/* Its size in units of 16 bytes, for a learner whose slots have been written. */
SP_PRIVATE size_t sp_machine_rows_measure(const sp_learner *learner, const sp_arrays *flat);

/* Write it, and note in the slots where each row is. */
SP_PRIVATE void sp_machine_rows_write(const sp_learner *learner, sp_arrays *flat, void *rows);

/* Fill in the rows of a learner whose slots and labels have been read. `in_place`: use the array
   itself. Then it must outlive the learner, nothing may be learned, and each row is checked when it
   is read. 0, or what is wrong (SP_MARKS_). */
SP_PRIVATE int sp_machine_rows_read(sp_learner *learner, const void *rows, size_t n, bool in_place);

#endif
