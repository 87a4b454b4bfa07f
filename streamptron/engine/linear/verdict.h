/* What a vector says of an event: the label, and how sure it is.

   A verdict is made from the event's scores by one kept vector, once per event
   (sp_learner_verdict). Everything else reads it: who answers, the prediction, the probabilities,
   the counted mistakes. */

#ifndef STREAMPTRON_LINEAR_VERDICT_H
#define STREAMPTRON_LINEAR_VERDICT_H

#include "linear/two_labels.h"

/* what a vector says of an event */
typedef struct sp_verdict {
    ptrdiff_t best; /* the choice or the label; -1 while there is none */
    double top;     /* the best choice's score */
    double margin;
    double size; /* how large the scores are */
} sp_verdict;

/* The first of the best-scoring choices, and its margin.

   `several`: one output per choice; otherwise one output for two labels. */
SP_PRIVATE sp_verdict sp_verdict_of(const double *scores, ptrdiff_t n, bool several,
                                    const sp_two_labels *two);

#endif
