#include "exchange/join.h"

#include "exchange/merge.h"
#include "learner/rule.h"
#include "machine/machine.h"
#include "memory/heap.h"
#include "table/table.h"

#include <string.h>

SP_PRIVATE int sp_fault_strange(sp_fault *fault, const char *name, const char *why)
{
    sp_fault_say(fault, SP_WHY_PARAMETER, name);
    sp_fault_add(fault, " is not a continuation of since: ");
    return sp_fault_add(fault, why);
}

static bool sp_is_pair(const sp_learner *learner)
{
    return sp_rule_answer(&learner->rule) == SP_ANSWER_TWO;
}

/* Check that a learner whose weights stand for one of two labels knows which one. */
static int sp_join_check(const sp_joined *side, sp_fault *fault)
{
    const sp_learner *its = side->shard.learner;
    if (side->n_labels > 0 || !sp_is_pair(its)
        || !sp_table_can_write(&its->table, SP_SLOT_INTERCEPT))
        return 0;
    sp_fault_say(fault, SP_WHY_PARAMETER, side->name);
    return sp_fault_add(fault, " has weights and has met no label, so which of the labels they are "
                               "for is not known, and together the models have more than two; "
                               "teach it the first two labels");
}

/* By label of the merged learner: its number here; by output: the output here, and its sign.
   Returns whether they are the same here. All have room for two more than n. */
static bool sp_join_outputs(const sp_joined *side, const sp_learner *to, int32_t *places,
                            ptrdiff_t n, int32_t *outputs, double *signs)
{
    const sp_learner *its = side->shard.learner;
    int32_t first = 0;
    bool alike = true;
    for (int32_t k = 0; k < n; k++) {
        alike &= places[k] == k || places[k] < 0;
        first = places[k] == 0 ? k : first;
        outputs[k] = places[k];
        signs[k] = 1.0;
    }
    if (n < 0) {
        places[0] = outputs[0] = 0; /* one output */
        places[1] = 1;
        signs[0] = 1.0;
        return true;
    }
    if (!sp_is_pair(to) || sp_learner_several(its)) {
        if (n == 0) {
            outputs[0] = -1;
            signs[0] = 1.0;
        }
        return alike;
    }
    if (!sp_learner_several(to)) {
        const bool same = side->n_labels == 0
                          || (its->two.positive == 0) == (to->two.positive == first);
        for (ptrdiff_t k = n; k < 2; k++)
            places[k] = -1;
        outputs[0] = 0;
        signs[0] = same ? 1.0 : -1.0;
        return same;
    }
    for (ptrdiff_t k = 0; k < n; k++) {
        outputs[k] = places[k] >= 0 ? 0 : -1;
        signs[k] = places[k] == its->two.positive ? 1.0 : -1.0;
    }
    return false;
}

/* Make the maps of a side, in memory that *room owns. -1 if out of memory. */
static int sp_join_map(const sp_joined *side, const sp_learner *to, ptrdiff_t n, sp_shard *shard,
                       void **room)
{
    const size_t most = (size_t)(n < 0 ? 0 : n) + 2, n_odd = side->shard.n_objects;
    bool same = true;
    *shard = side->shard;
    double *signs = (double *)sp_malloc(most * (sizeof(double) + 2 * sizeof(int32_t))
                                        + n_odd * sizeof(uint64_t));
    *room = signs;
    if (signs == NULL)
        return -1;
    uint64_t *ordinals = (uint64_t *)(void *)(signs + most);
    int32_t *places = (int32_t *)(void *)(ordinals + n_odd);
    for (size_t k = 0; k < most; k++)
        places[k] = -1;
    for (uint32_t k = 0; k < side->n_labels; k++)
        places[side->labels[k]] = (int32_t)k;
    for (size_t k = 0; k < n_odd; k++) {
        ordinals[k] = side->objects[k];
        same &= ordinals[k] == k;
    }
    shard->labels = places;
    shard->outputs = places + most;
    shard->signs = signs;
    shard->plain = sp_join_outputs(side, to, places, n, places + most, signs);
    shard->ordinals = same ? NULL : ordinals;
    return 0;
}

/* Say in words why the engine could not merge them. */
static int sp_join_fault(const char *name, int wrong, sp_fault *fault)
{
    switch (wrong) {
    case SP_SHARD_MEMORY:
        return sp_fault_say(fault, SP_WHY_MEMORY, "no memory to merge the models");
    case SP_SHARD_NUMBER:
        return sp_fault_say(fault, SP_WHY_DAMAGED,
                            "it has a number that learning cannot have made");
    case SP_SHARD_LARGE:
        return sp_fault_say(fault, SP_WHY_PARAMETER,
                            "merged, the models have weights or counts that are too large to learn "
                            "on; scale the weights that they started from");
    case SP_SHARD_KEY:
    case SP_SHARD_TWICE:
        sp_fault_say(fault, SP_WHY_DAMAGED, name);
        return sp_fault_add(fault, wrong == SP_SHARD_KEY ? " has an invalid feature name"
                                                         : " has a feature name twice");
    default:
        return sp_fault_strange(fault, name, "its first feature names are not those of since");
    }
}

/* Give what is kept once per model the form that a file would give it, and check it. 0, or a kind
   of fault. */
static int sp_once_settle(sp_learner *learner, sp_fault *fault)
{
    sp_model_numbers once = sp_machine_model_numbers(learner);
    if (once.name == NULL)
        return 0;
    double *numbers = (double *)sp_calloc(sp_model_numbers_count(&once) + 1, sizeof(double));
    if (numbers == NULL)
        return sp_fault_memory(fault);
    sp_machine_model_numbers_write(learner, numbers);
    const char *wrong = sp_machine_model_numbers_read(learner, numbers);
    sp_free(numbers);
    return wrong == NULL ? 0 : sp_fault_say(fault, SP_WHY_DAMAGED, wrong);
}

SP_API int sp_sides_join(sp_learner *to, const sp_joined *sides, int n, ptrdiff_t n_labels,
                         sp_fault *fault)
{
    int culprit = 0, failed = 0, wrong = 0;
    for (int k = 0; k < n && n_labels > 2; k++) {
        failed = sp_join_check(&sides[k], fault);
        if (failed)
            return failed;
    }
    sp_shard *shards = (sp_shard *)sp_calloc((size_t)n, sizeof(sp_shard));
    void **rooms = (void **)sp_calloc((size_t)n, sizeof(void *));
    wrong = shards == NULL || rooms == NULL ? SP_SHARD_MEMORY : 0;
    for (int k = 0; k < n && !wrong; k++) {
        if (sp_join_map(&sides[k], to, n_labels, &shards[k], &rooms[k]) < 0)
            wrong = SP_SHARD_MEMORY;
    }
    if (!wrong)
        wrong = sp_learners_merge(to, &shards[0], shards + 1, n - 1, &culprit);
    failed = wrong ? sp_join_fault(sides[culprit + 1].name, wrong, fault)
                   : sp_once_settle(to, fault);
    for (int k = 0; k < n && rooms != NULL; k++)
        sp_free(rooms[k]);
    sp_free(rooms);
    sp_free(shards);
    return failed;
}
