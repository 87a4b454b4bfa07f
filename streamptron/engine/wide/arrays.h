/* The rows of a learner with many labels as a flat array, as in a model file, and back; and in
   deltas.

       entries  uint64  [1 + units, 2]  zeros; then row by row, as the slots are stored: the bytes
                                        of table/wide.h, in units of sixteen

   In the stored slots (of 8 bytes) a row says which unit is its first, and how many labels it has.
   So rows can be used in place. In a delta the same units are its marks.

   Reading trusts nothing: a number is checked before it is used. Errors are those of other rows
   (SP_MARKS_). */

#ifndef STREAMPTRON_WIDE_ARRAYS_H
#define STREAMPTRON_WIDE_ARRAYS_H

#include "learner/learner.h"
#include "rows/marks.h"
#include "table/arrays.h"

enum { SP_ENTRIES_WIDTH = 2 };

/* Whether a linear learner has rows of labels. */
SP_PRIVATE bool sp_learner_is_wide(const sp_learner *learner);

/* Give the slots of an untrained learner rows, which are then read. 0, or what is wrong: its rule
   has no rows. */
SP_PRIVATE int sp_learner_widen(sp_learner *learner);

/* The number of units of a learner whose slots have been written. */
SP_PRIVATE size_t sp_entries_measure(const sp_learner *learner, const sp_arrays *flat);

/* Write them, and note in the slots where each row is. */
SP_PRIVATE void sp_entries_write(const sp_learner *learner, sp_arrays *flat, uint64_t *entries);

/* Fill in the rows of a learner whose slots and labels have been read, from units, the first of
   which belongs to no row. 0, or what is wrong. */
SP_PRIVATE int sp_entries_read(sp_learner *learner, const uint64_t *entries, size_t n);

/* Make a second table of a learner's weights in this form. `positive`: two labels share an output,
   which is for this label, and each gets its own; -1: outputs stay as they are. -1 if out of
   memory; call sp_wide_drop in either case. */
SP_PRIVATE int sp_wide_shadow(sp_table *to, const sp_learner *from, sp_slot_type n_slots,
                              int positive);

/* Whether a slot is the same in a learner and in a base that it may come from. */
SP_PRIVATE bool sp_wide_same_row(const sp_learner *learner, uint32_t block, const double *row,
                                 const sp_learner *base, const double *its);

/* The units of a slot's row, as marks. Returns their number. */
SP_PRIVATE size_t sp_wide_marks(const sp_learner *learner, const double *slot,
                                const uint32_t **marks);

/* Note in a slot's bytes that its row begins at mark `at`, wherever it was. */
SP_PRIVATE void sp_wide_clear_addresses(double *slot, size_t at);

/* Put the base's table, of either form, under a learner's that will be laid over it. 1; -1 if out
   of memory. */
SP_PRIVATE int sp_wide_overlay_begin(sp_learner *learner, const sp_learner *base);

/* And after that, read the rows of these slots, n in all. 0, or what is wrong. */
SP_PRIVATE int sp_wide_overlay_rows(sp_learner *learner, const uint32_t *slots,
                                    const uint32_t *blocks, size_t n, const uint32_t *marks,
                                    size_t n_marks, const double *marked);

#endif
