/* How MultiLabelClassifier learns from an event that has been answered and given its labels.

   First the strides are chosen by the labels' errors; nothing changes. Then rows get the blocks
   that they will need, which is all that can fail. Last the strides are taken, and everything is
   counted. */

#ifndef STREAMPTRON_MULTILABEL_LEARN_H
#define STREAMPTRON_MULTILABEL_LEARN_H

#include "multilabel/multilabel.h"

/* The sum of all labels' wn. */
SP_PRIVATE double sp_multilabel_all_wn(const sp_multilabel *s);

/* Make the n-th of an event's new labels. It counts as absent from all earlier events, and its V is
   0 in its first event. `wn`: the sum over all labels before it, to which its own is added. */
SP_PRIVATE sp_label sp_multilabel_newcomer(const sp_multilabel *s, ptrdiff_t n, double *wn);

/* Whether the answer to an event differs from the labels it was given. */
SP_PRIVATE bool sp_multilabel_wrong(const sp_multilabel *s, const sp_multilabel_scratch *w);

/* Choose the strides of an event that has its labels. -1 if out of memory. */
SP_PRIVATE int sp_multilabel_aim(const sp_multilabel *s, const sp_table *table,
                                 const sp_event *event, sp_multilabel_scratch *w, double u);

/* Take the blocks that rows will need. -1 if out of memory, and none has been taken. */
SP_PRIVATE int sp_multilabel_reserve(const sp_table *table, const sp_event *event,
                                     sp_multilabel_scratch *w);

/* Give back what sp_multilabel_reserve has taken. */
SP_PRIVATE void sp_multilabel_release(const sp_table *table, const sp_event *event,
                                      sp_multilabel_scratch *w);

/* Learn the labels; there is room for everything. */
SP_PRIVATE void sp_multilabel_learn(sp_multilabel *s, sp_table *table, const sp_event *event,
                                    sp_multilabel_scratch *w, double u);

#endif
