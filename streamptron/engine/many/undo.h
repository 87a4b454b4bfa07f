/* What a step changes in a slot with rows, and that change taken back.

   As with two labels (features/undo.h), by the same formula. An entry that is not there is one of
   zeros. It is made where the step's share is to be taken from it; afterwards an entry that has
   neither c nor G is taken out of its row, and with it what is left of its w.

   A step that was taken while there were two labels is one output's: half of its w belongs to the
   positive label, the other half with the other sign to the other one.

   Of a column's e only that of the label is kept, so that a step costs nothing for labels that it
   has nothing to do with. The e of all labels change only where the step halved them, or ended the
   column. Then what the step added is gone in them, and they stay as they are. */

#ifndef STREAMPTRON_MANY_UNDO_H
#define STREAMPTRON_MANY_UNDO_H

#include "features/undo.h"
#include "many/many.h"

/* A step, and what it has changed in one slot. */
typedef struct sp_change {
    bool one;           /* it was taken while there were two labels */
    ptrdiff_t y;
    ptrdiff_t m;
    const ptrdiff_t *k; /* outputs that stepped, rising */
    const float *before; /* as sp_many_snapshot_read has written them down */
    const float *after;
    double s_before;
    double s_after;
} sp_change;

/* A slot's numbers for label y, and w and G of m labels. Returns s. */
SP_PRIVATE double sp_many_snapshot_read(const sp_table *table, sp_slot_type slot, ptrdiff_t y,
                                        const ptrdiff_t *k, ptrdiff_t m, float *kept);

/* What a column is, and its e of label y. */
SP_PRIVATE void sp_many_column_read(const sp_table *table, sp_slot_type slot, ptrdiff_t y,
                                    sp_column *column, float *e);

/* See that there is room for the entries that are made when a step is taken back. -1 if out of
   memory; then all entries are as they were. */
SP_PRIVATE int sp_many_back_room(const sp_learner *learner, sp_slot_type slot,
                                 const sp_change *change);
SP_PRIVATE int sp_many_column_room(const sp_learner *learner, sp_slot_type slot,
                                   const sp_snapshot_column *kept, const sp_change *change);

/* Take a step back from a slot, after what is kept once. */
SP_PRIVATE void sp_many_take_back(const sp_learner *learner, sp_slot_type slot,
                                  const sp_change *change);

/* And from a column, after sp_many_take_back. `om`: before the step. */
SP_PRIVATE void sp_many_take_back_column(const sp_learner *learner, sp_slot_type slot,
                                         const sp_snapshot_column *kept, const sp_change *change,
                                         float om);

#endif
