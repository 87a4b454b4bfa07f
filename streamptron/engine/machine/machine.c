#include "machine/machine.h"

#include "adaptive/machine.h"
#include "linear/linear.h"
#include "many/machine.h"
#include "multilabel/machine.h"
#include "voted/voted.h"
#include "wide/machine.h"

/* The machine of each rule. */
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

/* Comparisons instead of a table, which would be twice as long in a shared library. */
SP_PRIVATE const sp_seldom *sp_seldom_of(const sp_learner *learner)
{
    const sp_machine *machine = learner->machine;
    if (machine == &sp_linear_machine)
        return &sp_linear_seldom;
    if (machine == &sp_wide_machine)
        return &sp_wide_seldom;
    if (machine == &sp_adaptive_machine)
        return &sp_adaptive_seldom;
    if (machine == &sp_many_machine)
        return &sp_many_seldom;
    if (machine == &sp_multilabel_machine)
        return &sp_multilabel_seldom;
    return &sp_nothing; /* the voted machine */
}

SP_API int sp_rule_can(int kind)
{
    const sp_machine *machine = sp_machine_of_rule(kind);
    if (machine != &sp_linear_machine || kind == SP_RULE_RANKING)
        return machine->can;
    /* what a rule keeps cannot be undone by moving back */
    return machine->can | SP_CAN_MARGIN
           | (sp_rule_keeps(kind) == SP_KEEP_NONE ? SP_CAN_UNDO_MOVES : 0);
}

SP_API bool sp_learner_can(const sp_learner *learner, int what)
{
    return (sp_rule_can(learner->rule.kind) & what) != 0;
}
