/* What MultiLabelClassifier keeps of a model. There is no loop here, so all may include it.
   engine/multilabel/multilabel.h says what the letters mean. */

#ifndef STREAMPTRON_LEARNER_MULTILABEL_H
#define STREAMPTRON_LEARNER_MULTILABEL_H

#include "memory/types.h"

enum {
    SP_MULTILABEL_STEPS = 64, /* of the probability, where F1 is counted */
};

typedef struct sp_label {
    double D; /* the first six are a label's row in files, in this order (multilabel/arrays.h) */
    double left;
    double w0;
    double G0;
    double wn;
    double Gn;
    double rest;     /* its score without an entry */
    ptrdiff_t place; /* among those awake; -1: it is not */
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
    double *there; /* the weight of labels that were there, by their probability */
    double *said;  /* of all that were asked for; behind it in memory */
    double positives;
    size_t unverified; /* entries in a file that are looked at when they are used; 0: none */
} sp_multilabel;

#endif
