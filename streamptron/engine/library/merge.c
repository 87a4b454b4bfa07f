/* Merging models that learned separately. */

#include "library/sides.h"

#include "exchange/join.h"
#include "memory/heap.h"
#include "path/path.h"

#include <string.h>

/* --- Whether they can be merged */

static int sp_may_not(const char *name, const char *why, spt_error *error)
{
    sp_say(error, SPT_ARGUMENT, name);
    return sp_say_more(error, SPT_ARGUMENT, why, strlen(why));
}

/* Whether two parts have the same text. */
static bool sp_parts_same(const sp_part *part, const sp_part *other)
{
    return part->n == other->n && (part->n == 0 || memcmp(part->text, other->text, part->n) == 0);
}

static int sp_class_fault(const sp_contents *its, const char *name, const sp_contents *first,
                          const char *other, sp_fault *fault)
{
    const char *theirs = sp_class_name(its->kind), *ours = sp_class_name(first->kind);
    sp_fault_say(fault, SP_WHY_PARAMETER, name);
    sp_fault_add(fault, strchr("AEIOU", *theirs) ? " is an " : " is a ");
    sp_fault_add(fault, theirs);
    sp_fault_add(fault, " and ");
    sp_fault_add(fault, other);
    sp_fault_add(fault, strchr("AEIOU", *ours) ? " an " : " a ");
    sp_fault_add(fault, ours);
    return sp_fault_add(fault, "; only models of one class can be merged");
}

SP_PRIVATE int sp_check_alike(const spt_model *model, const char *name, const spt_model *first,
                          const char *other, spt_error *error)
{
    const sp_contents *its = &model->contents, *theirs = &first->contents;
    sp_fault fault;
    if (!sp_learner_can(&theirs->learner, SP_CAN_MERGE))
        return sp_may_not(other,
                          " is a VotedPerceptron, which cannot be merged: it answers by a vote of "
                          "all vectors it has had, and those of two models do not form one "
                          "sequence. Merge a Perceptron or MulticlassPerceptron, whose average is "
                          "the mean of these vectors",
                          error);
    int failed = its->kind == theirs->kind
                     ? sp_parameters_alike(its->kind, &its->given, &its->parameters, name,
                                           &theirs->given, &theirs->parameters, other, &fault)
                     : sp_class_fault(its, name, theirs, other, &fault);
    if (failed)
        return sp_say_fault(error, &fault, NULL);
    if (theirs->learner.index.bits
        && its->learner.index.seed_number != theirs->learner.index.seed_number)
        return sp_may_not(name,
                          " has a different secret hash seed, so the same slot means different "
                          "features; start all from copies of one model, or give hash_seed",
                          error);
    if (!sp_parts_same(&its->parts[SP_PART_TOKENIZER], &theirs->parts[SP_PART_TOKENIZER])
        || !sp_parts_same(&its->parts[SP_PART_MAIL], &theirs->parts[SP_PART_MAIL]))
        return sp_may_not(name,
                          " has a different tokenizer; only models with the same one can be merged",
                          error);
    return SPT_OK;
}

static int sp_check_models(const spt_model *const *models, size_t n, const spt_model *since,
                           spt_error *error)
{
    char name[SP_SIDE_NAME], other[SP_SIDE_NAME];
    if (models == NULL || n == 0)
        return sp_say(error, SPT_ARGUMENT, "there are no models to merge; give at least one");
    for (size_t k = 0; k < n; k++) {
        sp_side_called(name, "models[", k, "]");
        if (models[k] == NULL)
            return sp_may_not(name, " is NULL", error);
        int failed = sp_check_alike(models[k], name, since != NULL ? since : models[0],
                                    since != NULL ? "since" : "models[0]", error);
        if (failed)
            return failed;
        for (size_t i = 0; i < k; i++) {
            if (models[i] != models[k])
                continue;
            sp_side_called(other, " is models[", i, "] again; give each model once, ");
            sp_may_not(name, other, error);
            return sp_say_more(error, SPT_ARGUMENT, "or it counts twice", 18);
        }
    }
    return SPT_OK;
}

/* --- Who has learned */

SP_PRIVATE int sp_side_awake(const sp_side *side, const sp_side *since, bool *awake,
                             sp_fault *fault)
{
    char its[SP_DIGEST_ROOM], ours[SP_DIGEST_ROOM];
    uint64_t n = side->shard.learner->n_seen, before = since->shard.learner->n_seen;
    *awake = n > before;
    if (n < before) {
        sp_fault_strange(fault, side->name, "it has seen ");
        sp_fault_add_number(fault, n);
        sp_fault_add(fault, " events, and since ");
        return sp_fault_add_number(fault, before);
    }
    if (n > before)
        return 0;
    int failed = sp_side_digest(side, its, fault);
    if (!failed)
        failed = sp_side_digest(since, ours, fault);
    if (failed || memcmp(its, ours, sizeof(its)) == 0)
        return failed;
    sp_fault_say(fault, SP_WHY_PARAMETER, side->name);
    sp_fault_add(fault, " has seen as many events as since, ");
    sp_fault_add_number(fault, before);
    return sp_fault_add(fault, ", and is another model: it continues another one, or has undone "
                               "an event. Give the model that it continues, or merge without "
                               "since");
}

/* --- Copies */

/* Remove what belongs to a single model, once a model has been made from others. */
static int sp_model_finish(spt_model *made, spt_model **model, spt_error *error)
{
    sp_fault fault;
    int failed = sp_contents_bare(&made->contents, &fault);
    if (failed)
        failed = sp_say_fault(error, &fault, NULL);
    else if (made->labels.table == NULL && sp_labels_begin(&made->labels, &made->contents) < 0)
        failed = sp_say_memory(error);
    if (failed)
        spt_close(made);
    else
        *model = made;
    return failed;
}

/* A copy in memory of all that a model has learned. */
static int sp_model_copy(const spt_model *model, spt_model **copy, spt_error *error)
{
    spt_model *made = NULL;
    void *p = NULL;
    size_t n = model->n_at;
    int failed = model->at == NULL ? spt_save_memory(model, &p, &n, error) : SPT_OK;
    if (!failed)
        failed = spt_open_memory(p == NULL ? model->at : p, n, 0, &made, error);
    spt_free(p);
    return failed ? failed : sp_model_finish(made, copy, error);
}

/* --- All of them */

/* Choose the sides that have learned, and put the base first. `n_sides`: how many. SPT_OK, or a
   code. */
static int sp_sides_choose(sp_side *sides, const spt_model *const *models, size_t n, int *n_sides,
                           const spt_model *since, size_t *first, spt_error *error)
{
    sp_fault fault;
    int failed = 0;
    for (size_t k = 0; k < n && !failed; k++) {
        sp_side *side = &sides[*n_sides];
        bool awake = true;
        sp_side_called(side->name, "models[", k, "]");
        failed = sp_side_begin(side, models[k], &models[k]->contents, error);
        int odd = !failed && since != NULL ? sp_side_awake(side, &sides[0], &awake, &fault) : 0;
        if (!failed && !odd && since != NULL && awake)
            odd = sp_side_went_on(side, &sides[0], &fault);
        if (odd)
            failed = sp_say_fault(error, &fault, NULL);
        if (failed || !awake) {
            sp_side_free(side);
            memset(side, 0, sizeof(*side));
        } else {
            *first = *n_sides == 1 ? k : *first;
            *n_sides += 1;
        }
    }
    return failed;
}

/* An untrained learner: the base of learners that have no common one. */
static int sp_base_make(sp_contents *base, const sp_contents *like, sp_fault *fault)
{
    const sp_part *labels = &like->parts[SP_PART_LABELS];
    bool listed = sp_json_type(&labels->json, 0) == SP_JSON_LIST;
    uint8_t none[] = "null", empty[] = "[]";
    const sp_bytes text = {listed ? empty : none, listed ? 2 : 4, 0, false};
    const sp_bytes odd = {empty, 2, 0, false};
    ptrdiff_t n_outputs = 0;
    int failed = sp_contents_like(base, like, &text, &odd, &n_outputs, fault);
    if (!failed && sp_learner_expect_outputs(&base->learner, n_outputs) < 0) {
        sp_contents_free(base);
        failed = sp_fault_memory(fault);
    }
    return failed;
}

/* Merge the sides. `first`: the first model that has learned. */
static int sp_sides_fold(sp_side *sides, int n_sides, const spt_model *first,
                         const spt_model *since, spt_model **merged, spt_error *error)
{
    const sp_part *y_name = since == NULL ? NULL : &since->contents.parts[SP_PART_Y_NAME];
    sp_fault fault;
    spt_model *made = (spt_model *)sp_calloc(1, sizeof(spt_model));
    if (made == NULL)
        return sp_say_memory(error);
    for (int k = 0; k < n_sides; k++)
        sp_side_since(&sides[k], &sides[0]);
    int failed = sp_sides_merge(sides, n_sides, &first->contents, &made->contents, &fault);
    if (failed) {
        sp_free(made);
        return sp_say_fault(error, &fault, NULL);
    }
    sp_part *its = &made->contents.parts[SP_PART_Y_NAME];
    sp_part_free(its);
    failed = y_name == NULL ? sp_part_of(its, "null", 4, &fault)
                            : sp_part_of(its, y_name->text, y_name->n, &fault);
    if (!failed)
        return sp_model_finish(made, merged, error);
    spt_close(made);
    return sp_say_fault(error, &fault, NULL);
}

SPT_API int spt_merge(const spt_model *const *models, size_t n, const spt_model *since,
                      spt_model **merged, spt_error *error)
{
    sp_contents base;
    sp_fault fault;
    size_t first = 0;
    int n_sides = 1;
    if (merged == NULL)
        return sp_say(error, SPT_ARGUMENT, "merged is NULL; give the address of a pointer");
    *merged = NULL;
    int failed = sp_check_models(models, n, since, error);
    if (failed)
        return failed;
    memset(&base, 0, sizeof(base));
    sp_side *sides = (sp_side *)sp_calloc(n + 1, sizeof(sp_side));
    if (sides == NULL)
        return sp_say_memory(error);
    if (since == NULL)
        failed = sp_base_make(&base, &models[0]->contents, &fault);
    if (failed)
        failed = sp_say_fault(error, &fault, NULL);
    else {
        strcpy(sides[0].name, "since");
        failed = sp_side_begin(&sides[0], since, since == NULL ? &base : &since->contents, error);
    }
    if (!failed)
        failed = sp_sides_choose(sides, models, n, &n_sides, since, &first, error);
    if (!failed && n_sides < 3)
        failed = sp_model_copy(n_sides == 1 ? since : models[first], merged, error);
    else if (!failed)
        failed = sp_sides_fold(sides, n_sides, models[first], since, merged, error);
    for (int k = 0; k < n_sides; k++)
        sp_side_free(&sides[k]);
    sp_free(sides);
    sp_contents_free(&base);
    return failed;
}
