#include "library/answer.h"

#include "library/event.h"
#include "library/steps.h"

#include "machine/machine.h"
#include "memory/heap.h"
#include "path/path.h"

#include <math.h>
#include <string.h>

/* The weights of a file that is used in place have not been checked. */
static bool sp_scores_are_finite(const sp_learner *learner, sp_event *event)
{
    sp_learner_decide(learner, event);
    for (int kind = 0; kind < SP_KEPT_KINDS; kind++) {
        for (ptrdiff_t k = 0; sp_table_keeps(&learner->table, kind) && k < event->n_scores; k++) {
            if (!isfinite(sp_learner_decision(event, kind)[k]))
                return false;
        }
    }
    return true;
}

SP_PRIVATE int sp_answer_of(const spt_model *model, spt_event *event, sp_answer *answer,
                            spt_error *error)
{
    sp_learner *learner = sp_learner_of(model);
    int failed = sp_event_put(model, event, error);
    if (failed)
        return failed;
    if (sp_learner_score(learner, &event->event) < 0)
        return sp_unfit(event, error);
    if (learner->table.borrowed && !sp_scores_are_finite(learner, &event->event)) {
        sp_fault fault;
        sp_event_settle(&event->event, &learner->index);
        sp_fault_say(&fault, SP_WHY_DAMAGED, "a weight is not finite");
        return sp_say_fault(error, &fault, model->path);
    }
    *answer = sp_learner_answer(learner, &event->event);
    event->kind = answer->kind;
    return SPT_OK;
}

SP_PRIVATE size_t sp_choices(const spt_model *model, const spt_event *event)
{
    return sp_ranks(model) ? sp_candidates(event)
                           : (size_t)sp_learner_labels(&model->contents.learner);
}

SPT_API int spt_predict(const spt_model *model, spt_event *event, spt_answer *answer,
                        spt_error *error)
{
    sp_answer its;
    const sp_learner *learner = &model->contents.learner;
    if (answer == NULL || answer->size < sizeof(spt_answer))
        return sp_say(error, SPT_ARGUMENT, "answer must be initialized with SPT_ANSWER");
    if (sp_has_sets(model))
        return sp_say(error, SPT_ARGUMENT,
                      "a MultiLabelClassifier answers a set of labels; call spt_predict_set");
    int failed = sp_answer_of(model, event, &its, error);
    if (failed)
        return failed;
    sp_learner_decide(learner, &event->event);
    const double *scores = sp_learner_decision(&event->event, its.kind);
    bool several = sp_ranks(model) || sp_learner_several(learner);
    ptrdiff_t best = its.verdict->best;
    answer->label = best;
    answer->score = event->event.n_scores == 0 ? 0.0 : scores[several && best > 0 ? best : 0];
    answer->probability = best < 0 ? 0.0 : sp_event_probabilities(learner, &event->event)[best];
    sp_event_settle(&event->event, &learner->index);
    return SPT_OK;
}

SPT_API int spt_probabilities(const spt_model *model, spt_event *event, double *p, size_t room,
                              spt_error *error)
{
    sp_answer its;
    const sp_learner *learner = &model->contents.learner;
    size_t n = sp_choices(model, event);
    if (room < n)
        return sp_say(error, SPT_ARGUMENT,
                      "room must be at least the number of labels or candidates");
    int failed = sp_answer_of(model, event, &its, error);
    if (failed)
        return failed;
    if (n > 0)
        memcpy(p, sp_event_probabilities(learner, &event->event), n * sizeof(double));
    sp_event_settle(&event->event, &learner->index);
    return SPT_OK;
}

SPT_API int spt_scores(const spt_model *model, spt_event *event, double *scores, size_t room,
                       size_t *n, spt_error *error)
{
    sp_answer its;
    const sp_learner *learner = &model->contents.learner;
    *n = sp_ranks(model) ? sp_candidates(event) : (size_t)learner->table.n_outputs;
    if (room < *n)
        return sp_say(error, SPT_ARGUMENT, "room must be at least the number of scores");
    int failed = sp_answer_of(model, event, &its, error);
    if (failed)
        return failed;
    sp_learner_decide(learner, &event->event);
    if (*n > 0)
        memcpy(scores, sp_learner_decision(&event->event, its.kind), *n * sizeof(double));
    sp_event_settle(&event->event, &learner->index);
    return SPT_OK;
}

/* --- Learning */

SP_PRIVATE int sp_check_weight(const spt_model *model, double weight, double u, spt_error *error)
{
    if (!(weight >= 0.0 && weight <= SP_VALUE_LIMIT))
        return sp_say(error, SPT_ARGUMENT,
                      "weight must be a number of at least 0 and at most 1e+50");
    if (u <= sp_machine_weight_most(&model->contents.learner))
        return SPT_OK;
    return sp_say(error, SPT_ARGUMENT,
                  sp_has_sets(model) ? "weight must be at most 1e+30"
                                     : "weight times the class weight of the label is too large");
}

static int sp_learn(spt_model *model, spt_event *event, size_t label, double weight,
                    spt_error *error)
{
    double u = sp_ranks(model) ? weight : weight * model->labels.labels[label].weight;
    int failed = sp_check_weight(model, weight, u, error);
    if (!failed)
        failed = sp_event_put(model, event, error);
    if (failed)
        return failed;
    return sp_event_teach(model, event, (ptrdiff_t)label, u, error);
}

SP_PRIVATE int sp_may_learn(const spt_model *model, const spt_event *event, bool sets,
                            spt_error *error)
{
    if (model->read_only)
        return sp_say(error, SPT_READ_ONLY,
                      "the model was opened with SPT_MAPPED, read only; open it without, to learn");
    if (sets != sp_has_sets(model))
        return sp_say(error, SPT_ARGUMENT,
                      sets ? "the model learns one label of an event; call spt_learn or "
                             "spt_learn_as"
                           : "a MultiLabelClassifier learns a set of labels; call spt_learn_set "
                             "or spt_learn_set_as");
    if (event->model != model)
        return sp_say(error, SPT_ARGUMENT, "the event was made for another model");
    return SPT_OK;
}

SPT_API int spt_learn(spt_model *model, spt_event *event, size_t label, double weight,
                      spt_error *error)
{
    int failed = sp_may_learn(model, event, false, error);
    if (failed)
        return failed;
    if (sp_ranks(model) ? label >= sp_candidates(event) : label >= model->labels.n)
        return sp_say(error, SPT_ARGUMENT,
                      sp_ranks(model) ? "label is not the number of one of the event's candidates"
                                      : "label is not the number of one of the labels; "
                                        "spt_learn_as makes new ones");
    return sp_learn(model, event, label, weight, error);
}

SP_PRIVATE int sp_label_number(spt_model *model, const char *p, size_t n, size_t *label,
                               spt_error *error)
{
    sp_label_list *labels = &model->labels;
    if ((p == NULL && n > 0) || n > SP_TEXT_MOST || !sp_is_text(p, n))
        return sp_say(error, SPT_ARGUMENT, "label is NULL, too long, or not UTF-8");
    ptrdiff_t known = sp_labels_find(labels, p, n);
    *label = known < 0 ? labels->n : (size_t)known;
    if (known >= 0)
        return SPT_OK;
    if (model->contents.learner.answer == SP_ANSWER_SIGN)
        return sp_say(error, SPT_ARGUMENT,
                      "label is neither of the two that a Perceptron has; for others make a "
                      "MulticlassPerceptron");
    uint64_t most = model->contents.parameters.max_labels;
    if (most && labels->n >= most)
        return sp_say(error, SPT_FULL,
                      "label is new, and the model already has max_labels: leave the event out, "
                      "give it an existing label, or make a model with a larger max_labels");
    return sp_labels_add(labels, &model->contents, p, n) < 0 ? sp_say_memory(error) : SPT_OK;
}

SPT_API int spt_learn_as(spt_model *model, spt_event *event, const char *label, size_t n,
                         double weight, spt_error *error)
{
    size_t number;
    int failed = sp_may_learn(model, event, false, error);
    if (failed)
        return failed;
    if (sp_ranks(model))
        return sp_say(error, SPT_ARGUMENT,
                      "a RankingPerceptron learns which candidate is right, by its number; call "
                      "spt_learn");
    sp_label_point before = sp_labels_savepoint(&model->labels);
    failed = sp_label_number(model, label, n, &number, error);
    if (!failed)
        failed = sp_learn(model, event, number, weight, error);
    /* in some learners, an event of weight 0 does not add a label */
    if (failed || sp_learner_labels(&model->contents.learner) < (ptrdiff_t)model->labels.n)
        sp_labels_rewind(&model->labels, before);
    return failed;
}
