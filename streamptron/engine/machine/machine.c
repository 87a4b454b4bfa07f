#include "machine/machine.h"

SP_API int sp_rule_can(int kind)
{
    const int any = SP_CAN_MERGE | SP_CAN_MAP | SP_CAN_PAIR;
    const int weights = any | SP_CAN_START | SP_CAN_DRAW | SP_CAN_ROWS | SP_HAS_INTERCEPT;
    switch (kind) {
    case SP_RULE_ADAPTIVE:
        return any | SP_CAN_UNDO_SNAPSHOT | SP_CAN_WATCH;
    case SP_RULE_VOTED:
        return SP_HAS_INTERCEPT | SP_CAN_VOTE;
    case SP_RULE_SETS:
        return any | SP_CAN_SET | SP_CAN_UNDO_LOG;
    case SP_RULE_RANKING:
        return weights;
    default: /* what a rule keeps does not move back as it came */
        return weights | SP_CAN_MARGIN
               | (sp_rule_keeps(kind) == SP_KEEP_NONE ? SP_CAN_UNDO_MOVES : 0);
    }
}

SP_API bool sp_learner_can(const sp_learner *learner, int what)
{
    return (sp_rule_can(learner->rule.kind) & what) != 0;
}
