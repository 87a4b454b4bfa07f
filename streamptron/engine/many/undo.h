/* What a step changes in a slot with rows, and how that is undone.

   The formula is the same as with two labels (features/undo.h). A missing entry counts as zeros,
   and is made if the step's share has to be subtracted from it. Afterwards an entry that has
   neither c nor G is removed from its row, with what is left of its w.

   A step that was taken while there were two labels belongs to one output: half of its w goes to
   the positive label, and half, with the opposite sign, to the other one.

   Of a column's e only the label's is kept, so that a step costs nothing for other labels. The e of
   all labels change only if the step halved them, or ended the column. Then what the step added can
   no longer be separated, and they stay as they are. */

#ifndef STREAMPTRON_MANY_UNDO_H
#define STREAMPTRON_MANY_UNDO_H

#include "features/undo.h"
#include "many/many.h"

/* What a step has changed in one slot. */
typedef struct sp_change {
    bool one;           /* it was taken while there were two labels */
    ptrdiff_t y;
    ptrdiff_t m;
    const ptrdiff_t *k; /* outputs that stepped, rising */
    const float *before; /* as written by sp_many_snapshot_read */
    const float *after;
    double s_before;
    double s_after;
} sp_change;

/* Read a slot's numbers for label y, and w and G of m labels. Returns s. */
SP_PRIVATE double sp_many_snapshot_read(const sp_table *table, sp_slot_type slot, ptrdiff_t y,
                                        const ptrdiff_t *k, ptrdiff_t m, float *kept);

/* Read a column, and its e of label y. */
SP_PRIVATE void sp_many_column_read(const sp_table *table, sp_slot_type slot, ptrdiff_t y,
                                    sp_column *column, float *e);

/* Make room for the entries that undoing a step makes. -1 if out of memory; then all entries are as
   they were. */
SP_PRIVATE int sp_many_back_room(const sp_learner *learner, sp_slot_type slot,
                                 const sp_change *change);
SP_PRIVATE int sp_many_column_room(const sp_learner *learner, sp_slot_type slot,
                                   const sp_snapshot_column *kept, const sp_change *change);

/* Undo a step in a slot, after what is kept once. */
SP_PRIVATE void sp_many_take_back(const sp_learner *learner, sp_slot_type slot,
                                  const sp_change *change);

/* And in a column, after sp_many_take_back. `om`: before the step. */
SP_PRIVATE void sp_many_take_back_column(const sp_learner *learner, sp_slot_type slot,
                                         const sp_snapshot_column *kept, const sp_change *change,
                                         float om);

#endif
