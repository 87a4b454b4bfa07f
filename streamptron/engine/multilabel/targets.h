/* The labels that MultiLabelClassifier is given, and what it says of itself. There is no loop
   here, so all may include it. */

#ifndef STREAMPTRON_MULTILABEL_TARGETS_H
#define STREAMPTRON_MULTILABEL_TARGETS_H

#include "events/event.h"
#include "learner/multilabel.h"
#include "table/table.h"

/* Tell an event its labels: n numbers of labels, of which it has the first n_there. New ones have
   the next numbers. `open`: it says nothing of labels that are not named. -1 if out of memory. */
SP_API int sp_multilabel_set_targets(sp_event *event, const uint32_t *labels, ptrdiff_t n,
                                     ptrdiff_t n_there, bool open, ptrdiff_t n_labels);

/* The probability above which answers have had the best F1. */
SP_API double sp_multilabel_best_threshold(const sp_multilabel *s);

/* What entry i of an answered event contributes to a label's score; -1: what is always there. */
SP_API double sp_multilabel_share(const sp_multilabel *s, const sp_table *table,
                                  const sp_event *event, ptrdiff_t k, ptrdiff_t i);

#endif
