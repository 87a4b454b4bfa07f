#include "library/answer.h"
#include "library/event.h"
#include "library/steps.h"
#include "math/top.h"
#include "path/path.h"
#include "multilabel/targets.h"

#include <string.h>

SPT_API int spt_is_multilabel(const spt_model *model)
{
    return sp_has_sets(model);
}

SPT_API int spt_is_ranking(const spt_model *model)
{
    return sp_ranks(model);
}

/* --- Answers */

SPT_API int spt_top(const spt_model *model, spt_event *event, spt_choice *choices, size_t room,
                    size_t *n, spt_error *error)
{
    sp_answer its;
    const sp_learner *learner = &model->contents.learner;
    *n = 0;
    int failed = sp_answer_of(model, event, &its, error);
    if (failed)
        return failed;
    const size_t n_choices = sp_choices(model, event);
    room = SP_MIN(room, n_choices);
    event->numbers.n = 0;
    uint32_t *places
        = (uint32_t *)(void *)sp_bytes_room(&event->numbers, (room + 1) * sizeof(uint32_t));
    if (places == NULL) {
        event->numbers.failed = false;
        failed = sp_say_memory(error);
    } else if (room > 0) {
        const double *p = sp_event_probabilities(learner, &event->event);
        /* candidates are ordered by their scores, since rounding may make probabilities equal */
        const double *by = sp_ranks(model) ? sp_learner_decision(&event->event, its.kind) : p;
        *n = (size_t)sp_top(by, (ptrdiff_t)n_choices, (ptrdiff_t)room, places);
        for (size_t i = 0; i < *n; i++) {
            choices[i].label = places[i];
            choices[i].probability = p[places[i]];
        }
    }
    sp_event_settle(&event->event, &learner->index);
    return failed;
}

SPT_API double spt_threshold(const spt_model *model, size_t label)
{
    const sp_learner *learner = &model->contents.learner;
    if (!sp_has_sets(model) || label >= model->labels.n)
        return -1.0;
    if (model->contents.parameters.best)
        return sp_multilabel_best_threshold(&learner->multilabel);
    return model->labels.labels[label].above;
}

SPT_API int spt_predict_set(const spt_model *model, spt_event *event, spt_choice *choices,
                            size_t room, size_t *n, spt_error *error)
{
    sp_answer its;
    const sp_learner *learner = &model->contents.learner;
    const bool best = model->contents.parameters.best;
    *n = 0;
    if (!sp_has_sets(model))
        return sp_say(error, SPT_ARGUMENT,
                      "the model answers one label, not a set of them; call spt_predict");
    int failed = sp_answer_of(model, event, &its, error);
    if (failed)
        return failed;
    const double *p = sp_event_probabilities(learner, &event->event);
    double above = best ? sp_multilabel_best_threshold(&learner->multilabel) : 0.0;
    for (size_t k = 0; k < model->labels.n; k++) {
        if (!(p[k] > (best ? above : model->labels.labels[k].above)))
            continue;
        if (*n < room) {
            choices[*n].label = k;
            choices[*n].probability = p[k];
        }
        *n += 1;
    }
    sp_event_settle(&event->event, &learner->index);
    return SPT_OK;
}

/* --- Learning */

/* Room in the event for the numbers of n labels, and for as many in another order. NULL if out of
   memory. */
static uint32_t *sp_targets_reserve(spt_event *event, size_t n)
{
    event->numbers.n = 0;
    uint8_t *room = sp_bytes_room(&event->numbers, (2 * n + 1) * sizeof(uint32_t));
    event->numbers.failed = false;
    return (uint32_t *)(void *)room;
}

/* Mark a label as named. Returns whether this call has named it before. -1 if out of memory. */
static int sp_targets_twice(spt_event *event, size_t label)
{
    sp_bytes *turns = &event->turns;
    size_t end = (label + 1) * sizeof(uint32_t);
    if (end > turns->n) {
        uint8_t *more = sp_bytes_room(turns, end - turns->n);
        if (more == NULL) {
            turns->failed = false;
            return -1;
        }
        memset(more, 0, end - turns->n);
        turns->n = end;
    }
    uint32_t *turn = (uint32_t *)(void *)turns->p + label;
    bool twice = *turn == event->turn;
    *turn = event->turn;
    return twice;
}

/* Begin another call, in which no label has been named yet. */
static void sp_targets_begin(spt_event *event)
{
    event->turn++;
    if (event->turn != 0)
        return;
    if (event->turns.n > 0)
        memset(event->turns.p, 0, event->turns.n);
    event->turn = 1;
}

/* Learn n labels, whose numbers are in the event, each once: first those that it has. */
static int sp_learn_targets(spt_model *model, spt_event *event, uint32_t *numbers,
                            const int *there, size_t n, double weight, spt_error *error)
{
    sp_learner *learner = &model->contents.learner;
    uint32_t *targets = numbers + n;
    size_t n_there = 0, at;
    sp_targets_begin(event);
    for (size_t i = 0; i < n; i++) {
        int twice = sp_targets_twice(event, numbers[i]);
        if (twice < 0)
            return sp_say_memory(error);
        if (twice) {
            const sp_label_text *label = &model->labels.labels[numbers[i]];
            sp_say(error, SPT_ARGUMENT, "labels has this label twice: ");
            return sp_say_more(error, SPT_ARGUMENT, label->p, label->n);
        }
        n_there += there == NULL || there[i];
    }
    at = n_there;
    n_there = 0;
    for (size_t i = 0; i < n; i++) {
        if (there == NULL || there[i])
            targets[n_there++] = numbers[i];
        else
            targets[at++] = numbers[i];
    }
    int failed = sp_event_put(model, event, error);
    if (failed)
        return failed;
    if (sp_multilabel_set_targets(&event->event, targets, (ptrdiff_t)n, (ptrdiff_t)n_there,
                                  there != NULL, learner->multilabel.n_labels) < 0)
        return sp_say_memory(error);
    return sp_event_teach(model, event, 0, weight, error);
}

/* Check what all calls that teach n labels need, and make room. SPT_OK or a code. */
static int sp_targets_check(const spt_model *model, spt_event *event, const void *labels, size_t n,
                            double weight, uint32_t **numbers, spt_error *error)
{
    int failed = sp_may_learn(model, event, true, error);
    if (!failed)
        failed = sp_check_weight(model, weight, weight, error);
    if (failed)
        return failed;
    if (n > SP_LABELS_MOST || (labels == NULL && n > 0))
        return sp_say(error, SPT_ARGUMENT, "labels is NULL, or has too many labels");
    *numbers = sp_targets_reserve(event, n);
    return *numbers == NULL ? sp_say_memory(error) : SPT_OK;
}

SPT_API int spt_learn_set(spt_model *model, spt_event *event, const size_t *labels,
                          const int *there, size_t n, double weight, spt_error *error)
{
    uint32_t *numbers;
    int failed = sp_targets_check(model, event, labels, n, weight, &numbers, error);
    if (failed)
        return failed;
    for (size_t i = 0; i < n; i++) {
        if (labels[i] >= model->labels.n)
            return sp_say(error, SPT_ARGUMENT,
                          "labels has a number that is not one of the labels'; spt_learn_set_as "
                          "makes new ones");
        numbers[i] = (uint32_t)labels[i];
    }
    return sp_learn_targets(model, event, numbers, there, n, weight, error);
}

SPT_API int spt_learn_set_as(spt_model *model, spt_event *event, const char *const *labels,
                             const size_t *lengths, const int *there, size_t n, double weight,
                             spt_error *error)
{
    uint32_t *numbers;
    int failed = sp_targets_check(model, event, labels, n, weight, &numbers, error);
    if (failed)
        return failed;
    sp_label_point before = sp_labels_savepoint(&model->labels);
    for (size_t i = 0; i < n && !failed; i++) {
        size_t label = 0;
        failed = sp_label_number(model, labels[i], lengths[i], &label, error);
        numbers[i] = (uint32_t)label;
    }
    if (!failed)
        failed = sp_learn_targets(model, event, numbers, there, n, weight, error);
    /* an event of weight 0 does not add a label */
    if (failed || sp_learner_labels(&model->contents.learner) < (ptrdiff_t)model->labels.n)
        sp_labels_rewind(&model->labels, before);
    return failed;
}
