/* Two labels with one output: which of them its score stands for.

   Labels are numbered in the order in which they arrive. A positive score stands for the positive
   label of the two: the second, unless the first is True. If the labels are truth values, both are
   there before the first event.

       labels met     none        one      two
       answer         none (-1)   it (0)   the positive one if score > 0, else the other

   A third label splits the output into two, w for the positive label and -w for the other
   (sp_table_split). From then on every label has an output, and the best score wins. The split
   changes no answer: the lead of one score over the other is twice what the single score was. */

#ifndef STREAMPTRON_EVENTS_TWO_LABELS_H
#define STREAMPTRON_EVENTS_TWO_LABELS_H

#include "memory/types.h"

typedef struct sp_two_labels {
    int n;        /* labels met, 0 to 2 */
    int positive; /* the label that the score stands for */
} sp_two_labels;

/* `n` labels are known from the start. */
static inline void sp_two_labels_init(sp_two_labels *two, int n)
{
    two->n = n;
    two->positive = 1;
}

/* Whether a positive score stands for label y. */
static inline bool sp_two_labels_side(const sp_two_labels *two, ptrdiff_t y)
{
    return y == two->positive;
}

/* The label that the score stands for; -1 before there is one. */
static inline ptrdiff_t sp_two_labels_answer(const sp_two_labels *two, double score)
{
    return two->n == 2 ? (score > 0.0) == two->positive : two->n - 1;
}

/* Label y has come. */
static inline void sp_two_labels_meet(sp_two_labels *two, ptrdiff_t y)
{
    if (y >= two->n)
        two->n = (int)y + 1;
}

#endif
