/* A vector's verdict on an event: the label, and how sure it is.

   A verdict is made from the event's scores by one kept vector, once per event
   (sp_learner_verdict). Everything else reads it: which vector answers, the prediction, the
   probabilities, and the counted mistakes. */

#ifndef STREAMPTRON_EVENTS_VERDICT_H
#define STREAMPTRON_EVENTS_VERDICT_H

#include "events/two_labels.h"

#include <math.h>

/* a vector's verdict on an event */
typedef struct sp_verdict {
    ptrdiff_t best; /* the choice or the label; -1 while there is none */
    double top;     /* the best choice's score */
    double margin;
    double size; /* how large the scores are */
} sp_verdict;

/* The first of the best-scoring choices, and its margin. */
SP_PRIVATE sp_verdict sp_verdict_of_several(const double *scores, ptrdiff_t n);

/* The same; `several`: one output per choice; otherwise one output for two labels. */
static inline sp_verdict sp_verdict_of(const double *scores, ptrdiff_t n, bool several,
                                       const sp_two_labels *two)
{
    if (several)
        return sp_verdict_of_several(scores, n);
    const sp_verdict verdict = {.best = sp_two_labels_answer(two, scores[0]),
                                .top = scores[0],
                                .margin = fabs(scores[0]),
                                .size = fabs(scores[0])};
    return verdict;
}

#endif
