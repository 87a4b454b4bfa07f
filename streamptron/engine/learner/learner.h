/* A learner: the data that every machine (learner/machine.h) works on, and what all may ask about
   it. */

#ifndef STREAMPTRON_LEARNER_LEARNER_H
#define STREAMPTRON_LEARNER_LEARNER_H

#include "events/event.h"
#include "events/pairs.h"
#include "events/two_labels.h"
#include "events/verdict.h"
#include "learner/adaptive.h"
#include "learner/calibrate.h"
#include "learner/ceiling.h"
#include "learner/rule.h"
#include "learner/serve.h"
#include "learner/multilabel.h"
#include "learner/voted.h"
#include "memory/types.h"
#include "names/index.h"
#include "table/layout.h"
#include "table/table.h"

struct sp_machine;

typedef struct sp_learner {
    const struct sp_machine *machine; /* its functions; they change with its form */
    sp_index index;
    sp_ceiling ceiling;
    sp_table table;
    sp_rule rule;
    sp_serve serve;
    sp_calibrator fits[SP_KEPT_KINDS];
    sp_adaptive adaptive;  /* what AdaptiveClassifier keeps once per model */
    sp_voters voters;      /* of VotedPerceptron */
    sp_multilabel multilabel; /* of MultiLabelClassifier */
    const sp_pairs *pairs; /* which features are paired; NULL: none. Belongs to the caller */
    bool intercept;        /* whether an event begins with one */
    int answer;            /* the kind of answer that it gives now */
    sp_two_labels two;     /* with one output for two labels: which of them have come */
    sp_table *old_form;    /* while a third label is being learned: the table before the split */
    uint64_t n_seen;
    uint64_t n_updates;
    uint64_t n_mistakes;
    uint64_t version; /* counts changes, from 1; says whether an event's scores are still valid */
} sp_learner;

typedef struct sp_answer {
    int kind; /* the kept vector that gives it */
    const sp_verdict *verdict;
} sp_answer;

/* Whether the best of several scores wins. Otherwise one score decides between two labels. */
static inline bool sp_learner_several(const sp_learner *learner)
{
    return learner->answer == SP_ANSWER_LABELS || learner->answer == SP_ANSWER_CANDIDATES;
}

/* Whether it has an output for each label. */
static inline bool sp_learner_by_label(const sp_learner *learner)
{
    return learner->answer == SP_ANSWER_LABELS || learner->answer == SP_ANSWER_MULTILABEL;
}

/* How many labels it can answer. */
static inline ptrdiff_t sp_learner_labels(const sp_learner *learner)
{
    return sp_learner_by_label(learner) ? learner->table.n_outputs : learner->two.n;
}

/* The scores of one kept vector on a scored event, one for each choice. With many labels, call
   sp_learner_decide (path/path.h) first, which computes them. */
static inline const double *sp_learner_decision(const sp_event *event, int kind)
{
    return event->scores + kind * event->n_scores;
}

/* Find the entries' slots that are not known yet. */
SP_API void sp_learner_resolve(sp_learner *learner, sp_event *event);

/* Give all entries of a resolved event slots, and places for their weights, which stay zero.
   Returns -1 if out of memory. */
SP_API int sp_learner_open(sp_learner *learner, sp_event *event);

/* Give slots to entries first .. last - 1. Returns -1 if out of memory. */
SP_PRIVATE int sp_learner_insert(sp_learner *learner, sp_event *event, ptrdiff_t first,
                                 ptrdiff_t last, bool *ticked);

#endif
