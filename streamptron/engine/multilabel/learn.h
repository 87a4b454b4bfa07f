/* What MultiLabelClassifier learns from an event that has been answered and has its labels.

   First the strides, by the labels' errors: nothing changes. Then the blocks that rows will need,
   which is all that can fail. Last the strides are taken, and everything is counted. */

#ifndef STREAMPTRON_MULTILABEL_LEARN_H
#define STREAMPTRON_MULTILABEL_LEARN_H

#include "multilabel/multilabel.h"

/* The sum of all labels' wn. */
SP_PRIVATE double sp_multilabel_all_wn(const sp_multilabel *s);

/* The n-th of an event's new labels: it counts as absent from all events before. In its first event
   its V is 0. `wn`: the sum over all labels before it, to which its own is added. */
SP_PRIVATE sp_label sp_multilabel_newcomer(const sp_multilabel *s, ptrdiff_t n, double *wn);

/* Whether an event that has its labels was not answered exactly. */
SP_PRIVATE bool sp_multilabel_wrong(const sp_multilabel *s, const sp_multilabel_scratch *w);

/* The strides of an event that has its labels. -1 if out of memory. */
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
