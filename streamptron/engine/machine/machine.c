#include "machine/machine.h"

#include "adaptive/machine.h"
#include "linear/linear.h"
#include "many/machine.h"
#include "multilabel/machine.h"
#include "voted/voted.h"
#include "wide/machine.h"

/* Which machine each rule has. */
static const sp_machine *const sp_machines[] = {
    [SP_RULE_PERCEPTRON] = &sp_linear_machine,
    [SP_RULE_MULTICLASS] = &sp_linear_machine,
    [SP_RULE_MIRA] = &sp_linear_machine,
    [SP_RULE_AROW] = &sp_linear_machine,
    [SP_RULE_RANKING] = &sp_linear_machine,
    [SP_RULE_ADAPTIVE] = &sp_adaptive_machine,
    [SP_RULE_VOTED] = &sp_voted_machine,
    [SP_RULE_MULTILABEL] = &sp_multilabel_machine,
};

SP_PRIVATE const sp_machine *sp_machine_of_rule(int kind)
{
    return sp_rule_name(kind) == NULL ? &sp_linear_machine : sp_machines[kind];
}

SP_NO_BYTES static const sp_seldom sp_nothing = {.mixed = NULL};

const sp_seldom *const sp_seldoms[] = {
    [SP_MACHINE_LINEAR] = &sp_linear_seldom,
    [SP_MACHINE_WIDE] = &sp_wide_seldom,
    [SP_MACHINE_ADAPTIVE] = &sp_adaptive_seldom,
    [SP_MACHINE_MANY] = &sp_many_seldom,
    [SP_MACHINE_VOTED] = &sp_nothing,
    [SP_MACHINE_MULTILABEL] = &sp_multilabel_seldom,
};

SP_API int sp_rule_can(int kind)
{
    const sp_machine *machine = sp_machine_of_rule(kind);
    if (machine != &sp_linear_machine || kind == SP_RULE_RANKING)
        return machine->can;
    /* what a rule keeps does not move back as it came */
    return machine->can | SP_CAN_MARGIN
           | (sp_rule_keeps(kind) == SP_KEEP_NONE ? SP_CAN_UNDO_MOVES : 0);
}

SP_API bool sp_learner_can(const sp_learner *learner, int what)
{
    return (sp_rule_can(learner->rule.kind) & what) != 0;
}
