/* What MultiLabelClassifier learns from an event that has been answered and has its labels.

   First the strides, by the labels' errors: nothing changes. Then the blocks that rows will need,
   which is all that can fail. Last the strides are taken, and everything is counted. */

#ifndef STREAMPTRON_SETS_LEARN_H
#define STREAMPTRON_SETS_LEARN_H

#include "sets/sets.h"

/* The sum of all labels' wn. */
SP_PRIVATE double sp_sets_all_wn(const sp_sets *s);

/* The n-th of an event's new labels: it counts as absent from all events before. In its first event
   its V is 0. `wn`: the sum over all labels before it, to which its own is added. */
SP_PRIVATE sp_label sp_sets_newcomer(const sp_sets *s, ptrdiff_t n, double *wn);

/* Whether an event that has its labels was not answered exactly. */
SP_PRIVATE bool sp_sets_wrong(const sp_sets *s, const sp_sets_scratch *w);

/* The strides of an event that has its labels. -1 without memory. */
SP_PRIVATE int sp_sets_aim(const sp_sets *s, const sp_table *table, const sp_event *event,
                           sp_sets_scratch *w, double u);

/* Take the blocks that rows will need. -1 without memory, and none has been taken. */
SP_PRIVATE int sp_sets_reserve(const sp_table *table, const sp_event *event, sp_sets_scratch *w);

/* Give back what sp_sets_reserve has taken. */
SP_PRIVATE void sp_sets_release(const sp_table *table, const sp_event *event, sp_sets_scratch *w);

/* Learn the labels; there is room for everything. */
SP_PRIVATE void sp_sets_learn(sp_sets *s, sp_table *table, const sp_event *event,
                              sp_sets_scratch *w, double u);

#endif
