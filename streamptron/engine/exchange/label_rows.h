/* The rows of a learner whose labels are many, as flat arrays, and back: beside names and slots,
   which table/arrays.h writes, there are the `marks` of rows/marks.h, of all blocks whose slots
   have rows, one block after the other. */

#ifndef STREAMPTRON_EXCHANGE_LABEL_ROWS_H
#define STREAMPTRON_EXCHANGE_LABEL_ROWS_H

#include "learner/learner.h"
#include "rows/marks.h"
#include "table/arrays.h"

/* Whether what labels have lies in rows. */
SP_API bool sp_learner_has_rows(const sp_learner *learner);

/* How many marks a learner has, whose slots have been written. */
SP_PRIVATE size_t sp_label_rows_measure(const sp_learner *learner, const sp_arrays *flat);

/* Write them down, and in the slots where each row is. */
SP_PRIVATE void sp_label_rows_write(const sp_learner *learner, sp_arrays *flat, uint32_t *marks);

/* Fill in the rows of a learner whose slots and labels have been read. 0, or what is wrong. */
SP_PRIVATE int sp_label_rows_read(sp_learner *learner, const uint32_t *marks, size_t n);

/* Let a learner whose slots lie in a file use the rows there. 0, or what is wrong. The marks must
   outlive it, and nothing may be learned. Rows are checked when they are read. */
SP_PRIVATE int sp_label_rows_map(sp_learner *learner, const uint32_t *marks, size_t n);

#endif
