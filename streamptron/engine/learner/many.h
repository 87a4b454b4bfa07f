/* What AdaptiveClassifier keeps for a model with more than two labels, beside what it keeps with
   two. There is no loop here, so all may include it. engine/many/many.h says what the letters
   mean. */

#ifndef STREAMPTRON_LEARNER_MANY_H
#define STREAMPTRON_LEARNER_MANY_H

#include "learner/shapes.h"
#include "memory/types.h"

/* All labels, or a part of them: the largest w0, and the sum of e^w0. */
typedef struct sp_branch {
    double most;
    double sum;
} sp_branch;

/* The one output of two labels, while the third is being learned. */
typedef struct sp_one_output {
    double w0, G0;
    sp_shapes shapes;
} sp_one_output;

typedef struct sp_many {
    ptrdiff_t room;  /* leaves: 0, or a power of two */
    sp_branch *tree; /* node 1 is all labels, 2 i and 2 i + 1 the halves of i; leaf k is room + k */
    double b; /* a label's usual score, without naive Bayes, in events of other labels */
    sp_one_output two;
} sp_many;

#endif
