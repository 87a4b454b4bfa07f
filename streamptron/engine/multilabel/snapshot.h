/* Entries of a row before a step and after it, and the step taken back from them.

   What is kept is sparse, as rows are: the entries of the labels that the step counts or moves, of
   the rows of the event's features. The numbers come back by the formula of features/undo.h:

       now == after    before              untouched since: the very bits come back
       else            now - (after - before)

   An entry that the step has made is taken away again if it is untouched since; else it stays, with
   what others have added. One that is not there any more is left alone. So nothing is ever made,
   and nothing can fail.

   These functions know rows alone, so any machine that has rows can call them. */

#ifndef STREAMPTRON_MULTILABEL_SNAPSHOT_H
#define STREAMPTRON_MULTILABEL_SNAPSHOT_H

#include "rows/rows.h"

#define SP_SNAPSHOT_MADE UINT32_MAX /* the label of an entry that was not there */

typedef struct sp_snapshot_entry {
    sp_entry before; /* its label is SP_SNAPSHOT_MADE if the step made it */
    sp_entry after;
} sp_snapshot_entry;

/* Write down the entries of a row for m labels that differ, of which the first `adds` will get one
   if they have none. How many; NULL: only count them. */
SP_PRIVATE ptrdiff_t sp_snapshot_entries_before(const sp_sparse_rows *rows, const sp_sparse *row,
                                                const uint32_t *labels, ptrdiff_t m, ptrdiff_t adds,
                                                sp_snapshot_entry *kept);

/* And as the step has left them. */
SP_PRIVATE void sp_snapshot_entries_after(const sp_sparse_rows *rows, const sp_sparse *row,
                                          sp_snapshot_entry *kept, ptrdiff_t n);

/* Whether these can be entries of rows with so many labels. */
SP_PRIVATE bool sp_snapshot_entries_are_sound(const sp_snapshot_entry *kept, ptrdiff_t n,
                                              ptrdiff_t n_labels);

/* Take the step back from a row. `counts`: c comes back as well; `negative`: it may be below 0. */
SP_PRIVATE void sp_snapshot_entries_back(sp_sparse_rows *rows, sp_sparse *row,
                                         const sp_snapshot_entry *kept, ptrdiff_t n, bool counts,
                                         bool negative);

#endif
