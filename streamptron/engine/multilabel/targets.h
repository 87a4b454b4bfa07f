/* The labels that MultiLabelClassifier is given, and what it reports. There is no loop here, so all
   may include it. */

#ifndef STREAMPTRON_MULTILABEL_TARGETS_H
#define STREAMPTRON_MULTILABEL_TARGETS_H

#include "events/event.h"
#include "learner/multilabel.h"
#include "table/table.h"

/* Give an event its labels: n numbers of labels, of which it has the first n_there. New ones have
   the next numbers. `open`: labels that are not named are left open. -1 if out of memory. */
SP_API int sp_multilabel_set_targets(sp_event *event, const uint32_t *labels, ptrdiff_t n,
                                     ptrdiff_t n_there, bool open, ptrdiff_t n_labels);

/* The probability threshold with the best F1 so far. */
SP_API double sp_multilabel_best_threshold(const sp_multilabel *s);

/* The share of entry i of an answered event in a label's score; -1: the constant part. */
SP_API double sp_multilabel_share(const sp_multilabel *s, const sp_table *table,
                                  const sp_event *event, ptrdiff_t k, ptrdiff_t i);

#endif
