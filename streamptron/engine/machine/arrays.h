/* The rows of a learner whose labels are many, as the array that a model file has beside names and
   slots (table/arrays.h), and back: `marks` as in rows/marks.h, of all blocks whose slots have
   rows, one block after the other, or the `entries` of wide/arrays.h. */

#ifndef STREAMPTRON_MACHINE_ARRAYS_H
#define STREAMPTRON_MACHINE_ARRAYS_H

#include "learner/machine.h"
#include "rows/marks.h"
#include "table/arrays.h"

/* How many times 16 bytes it is, of a learner whose slots have been written. */
SP_PRIVATE size_t sp_machine_rows_measure(const sp_learner *learner, const sp_arrays *flat);

/* Write it, and in the slots where each row is. */
SP_PRIVATE void sp_machine_rows_write(const sp_learner *learner, sp_arrays *flat, void *rows);

/* Fill in the rows of a learner whose slots and labels have been read; or, in place, let it use
   these where they lie. Then they must outlive it, nothing may be learned, and each is checked when
   it is read. 0, or what is wrong (SP_MARKS_). */
SP_PRIVATE int sp_machine_rows_read(sp_learner *learner, const void *rows, size_t n, bool in_place);

#endif
