/* The machines: which kind of learner it is. This folder alone asks.

   A machine is what a rule moves, and how it is kept:

       linear     a weight for each feature and output; every rule but those below
       adaptive   AdaptiveClassifier: a slot of its own, whose numbers judge the feature
       many       the same with more than two labels: what a label has lies in sparse rows
       wide       the linear machine with many labels: what a feature has lies in sparse rows
       voted      VotedPerceptron: the linear machine's weights, and the vectors that there were
       sets       MultiLabelClassifier: what a label has lies in sparse rows, each on its own

   Each verb is here once, in the room of its deed, as a switch of as many lines as there are
   machines; a machine that has nothing to do for a verb is not in it. What a learner can do beyond
   that is a bit of sp_rule_can (learner/can.h), in machine.c. */

#ifndef STREAMPTRON_MACHINE_MACHINE_H
#define STREAMPTRON_MACHINE_MACHINE_H

#include "adaptive/verbs.h"
#include "learner/can.h"
#include "learner/learner.h"
#include "linear/verbs.h"
#include "many/verbs.h"
#include "sets/verbs.h"
#include "voted/verbs.h"
#include "wide/verbs.h"

typedef enum sp_machine {
    SP_MACHINE_LINEAR,
    SP_MACHINE_WIDE,
    SP_MACHINE_ADAPTIVE,
    SP_MACHINE_MANY,
    SP_MACHINE_VOTED,
    SP_MACHINE_SETS,
} sp_machine;

static inline sp_machine sp_machine_of(const sp_learner *learner)
{
    switch (learner->rule.kind) {
    case SP_RULE_ADAPTIVE:
        return learner->adaptive.rows ? SP_MACHINE_MANY : SP_MACHINE_ADAPTIVE;
    case SP_RULE_VOTED:
        return SP_MACHINE_VOTED;
    case SP_RULE_SETS:
        return SP_MACHINE_SETS;
    default:
        return sp_table_is_wide(&learner->table) ? SP_MACHINE_WIDE : SP_MACHINE_LINEAR;
    }
}

/* AdaptiveClassifier, with any number of labels. */
static inline bool sp_machine_is_adaptive(const sp_learner *learner)
{
    return sp_machine_of(learner) == SP_MACHINE_ADAPTIVE
           || sp_machine_of(learner) == SP_MACHINE_MANY;
}

#endif
