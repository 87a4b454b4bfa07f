/* Entries of a row before a step and after it, and undoing the step in them.

   What is kept is sparse, like rows: in the rows of the event's features, the entries of the labels
   that the step counts or moves. Numbers are restored by the formula of features/undo.h:

       now == after    before              untouched since: restored exactly
       else            now - (after - before)

   An entry that the step made is removed again if it is untouched since; otherwise it stays, with
   what others have added. An entry that is gone is left alone. So nothing is ever made, and nothing
   can fail.

   These functions know only rows, so any machine that has rows can call them. */

#ifndef STREAMPTRON_MULTILABEL_SNAPSHOT_H
#define STREAMPTRON_MULTILABEL_SNAPSHOT_H

#include "rows/rows.h"

#define SP_SNAPSHOT_MADE UINT32_MAX /* the label of an entry that did not exist */

typedef struct sp_snapshot_entry {
    sp_entry before; /* its label is SP_SNAPSHOT_MADE if the step made it */
    sp_entry after;
} sp_snapshot_entry;

/* Write down the entries of a row for m different labels; the first `adds` of them will get an
   entry if they have none. Returns how many; NULL: only count them. */
SP_PRIVATE ptrdiff_t sp_snapshot_entries_before(const sp_sparse_rows *rows, const sp_sparse *row,
                                                const uint32_t *labels, ptrdiff_t m, ptrdiff_t adds,
                                                sp_snapshot_entry *kept);

/* And as the step has left them. */
SP_PRIVATE void sp_snapshot_entries_after(const sp_sparse_rows *rows, const sp_sparse *row,
                                          sp_snapshot_entry *kept, ptrdiff_t n);

/* Whether these can be entries of rows with so many labels. */
SP_PRIVATE bool sp_snapshot_entries_are_sound(const sp_snapshot_entry *kept, ptrdiff_t n,
                                              ptrdiff_t n_labels);

/* Undo the step in a row. `counts`: restore c, too; `negative`: it may be below 0. */
SP_PRIVATE void sp_snapshot_entries_back(sp_sparse_rows *rows, sp_sparse *row,
                                         const sp_snapshot_entry *kept, ptrdiff_t n, bool counts,
                                         bool negative);

#endif
