/* What MultiLabelClassifier keeps for a model. There is no loop here, so all may include it.
   engine/multilabel/multilabel.h says what the letters mean. */

#ifndef STREAMPTRON_LEARNER_MULTILABEL_H
#define STREAMPTRON_LEARNER_MULTILABEL_H

#include "memory/types.h"

enum {
    SP_MULTILABEL_STEPS = 64, /* steps of the probability for which F1 is counted */
};

typedef struct sp_label {
    double D; /* the first six are a label's row in files, in this order (multilabel/arrays.h) */
    double left;
    double w0;
    double G0;
    double wn;
    double Gn;
    double rest;     /* its score in an event without an entry of it */
    ptrdiff_t place; /* its place among those awake; -1: not awake */
} sp_label;

typedef struct sp_multilabel {
    double eta;
    double forget;
    double T;
    double m;
    double nm;
    ptrdiff_t n_labels;
    ptrdiff_t room;
    sp_label *labels;
    uint32_t *awake;
    ptrdiff_t n_awake;
    double *there; /* by probability: the weight of labels that were there */
    double *said;  /* and of all labels counted; behind it in memory */
    double positives;
    size_t unverified; /* entries in a mapped file, checked when they are used; 0: none */
} sp_multilabel;

#endif
