/* What a learner can do. Its machine says so (learner/machine.h), and its rule may add to that. */

#ifndef STREAMPTRON_LEARNER_CAN_H
#define STREAMPTRON_LEARNER_CAN_H

#include "learner/learner.h"

enum {
    SP_CAN_UNDO_MOVES = 1, /* undo a step by making its moves again in the other direction */
    SP_CAN_UNDO_SNAPSHOT = 2,  /* undo a step by a snapshot of the numbers before it */
    SP_CAN_MERGE = 4,
    SP_CAN_MAP = 8,      /* answer from a mapped file */
    SP_CAN_START = 16,   /* start from weights */
    SP_CAN_MARGIN = 32,  /* its score is a distance from a hyperplane between labels */
    SP_CAN_PAIR = 64,    /* use pairs of features */
    SP_CAN_DRAW = 128,   /* its score is a sum of weights times values */
    SP_CAN_ROWS = 256,   /* learn the row of a matrix in place */
    SP_CAN_VOTE = 512,   /* answer by a vote of all its past vectors */
    SP_HAS_INTERCEPT = 1024,  /* begin each event with an intercept, in a slot of its own */
    SP_CAN_SET = 2048,   /* learn a set of labels */
    SP_CAN_WATCH = 4096, /* notice drift by itself */
    SP_CAN_UNDO_LOG = 8192,  /* undo a step by its machine's log (path/record.h) */
};

/* What learners with a rule can do. */
SP_API int sp_rule_can(int kind);

SP_API bool sp_learner_can(const sp_learner *learner, int what);

#endif
