#include "library/steps.h"

#include "library/event.h"
#include "library/step.h"

#include "memory/heap.h"
#include "path/path.h"
#include "path/record.h"

#include <string.h>

SPT_API spt_step *spt_event_step(spt_event *event)
{
    spt_step *step = event->step;
    event->step = NULL;
    return step;
}

/* Keep the event as features, from the engine's entries. -1 if out of memory. */
static int sp_step_event(spt_step *step, const spt_event *event)
{
    const sp_event *its = &event->event;
    const size_t n = (size_t)sp_event_given(its);
    /* most words are short, so both seldom grow */
    if (sp_bytes_room(&step->names, SP_NAME_BEFORE + 8 * n) == NULL
        || sp_bytes_room(&step->features, n * sizeof(sp_named)) == NULL)
        return -1;
    return sp_named_take(its, step->model->contents.learner.intercept, sp_event_given(its),
                         &step->names, &step->features);
}

/* --- Learning */

/* Memory for the parts of a step. -1 if out of memory. */
static int sp_step_room(spt_step *step)
{
    sp_undo_record *taken = &step->taken;
    size_t n = 0;
    for (int i = 0; i < taken->n_parts; i++)
        n += (taken->n[i] + 7) & ~(size_t)7;
    step->parts = (uint8_t *)sp_malloc(n + 1);
    if (step->parts == NULL)
        return -1;
    n = 0;
    for (int i = 0; i < taken->n_parts; i++) {
        taken->p[i] = step->parts + n;
        n += (taken->n[i] + 7) & ~(size_t)7;
    }
    return 0;
}

/* Learn, and record the changes in an empty step. SPT_OK or a code. */
static int sp_teach_kept(spt_step *step, spt_event *event, ptrdiff_t y, double u, spt_error *error)
{
    sp_learner *learner = &step->model->contents.learner;
    sp_event *its = &event->event;
    uint64_t n_updates = learner->n_updates;
    if (sp_undo_record_prepare(&step->taken, learner, its, y, u) < 0)
        return sp_unfit(event, error);
    if (sp_step_event(step, event) < 0 || sp_step_room(step) < 0) {
        sp_learner_abandon(learner, its);
        sp_event_settle(its, &learner->index);
        return sp_say_memory(error);
    }
    if (sp_undo_record_commit(&step->taken, learner, its, u) < 0)
        return sp_unfit(event, error);
    step->changed = learner->n_updates != n_updates;
    return SPT_OK;
}

SPT_API int spt_event_keep(spt_event *event, int keep, spt_error *error)
{
    if (event->model->read_only)
        return sp_say(error, SPT_READ_ONLY,
                      "the model was opened with SPT_MAPPED, read only, and learns nothing");
    if (keep && sp_undo_kind_of(&event->model->contents.learner) == SP_UNDO_NONE)
        return sp_say(error, SPT_ARGUMENT,
                      "the model cannot take a step back; Perceptron, MulticlassPerceptron, MIRA, "
                      "AdaptiveClassifier and MultiLabelClassifier can");
    event->keep = keep ? sp_teach_kept : NULL;
    return SPT_OK;
}

SP_PRIVATE int sp_event_teach(spt_model *model, spt_event *event, ptrdiff_t y, double u,
                              spt_error *error)
{
    sp_learner *learner = &model->contents.learner;
    spt_step *step = NULL;
    if (event->keep == NULL) {
        if (sp_learner_learn(learner, &event->event, y, u) < 0)
            return sp_unfit(event, error);
    } else {
        step = (spt_step *)sp_calloc(1, sizeof(spt_step));
        if (step == NULL)
            return sp_say_memory(error);
        step->model = model;
        step->life = model->life;
        int failed = event->keep(step, event, y, u, error);
        if (failed) {
            spt_step_free(step);
            return failed;
        }
        spt_step_free(event->step);
        event->step = step;
    }
    sp_event_settle(&event->event, &learner->index);
    return SPT_OK;
}

/* --- Undoing */

/* Make the event again from the step. SPT_OK or a code. */
static int sp_step_recall(const spt_step *step, spt_event *event, spt_error *error)
{
    spt_event_clear(event);
    sp_bytes_add(&event->names, step->names.p, step->names.n);
    sp_bytes_add(&event->features, step->features.p, step->features.n);
    event->closed = true;
    if (!event->names.failed && !event->features.failed)
        return SPT_OK;
    event->names.failed = event->features.failed = false;
    event->names.n = event->features.n = 0;
    return sp_say_memory(error);
}

SPT_API int spt_undo(spt_model *model, spt_event *event, spt_step *step, spt_error *error)
{
    sp_learner *learner = &model->contents.learner;
    if (step == NULL || step->model != model)
        return sp_say(error, SPT_ARGUMENT, "step is NULL, or another model's; nothing has changed");
    if (event->model != model)
        return sp_say(error, SPT_ARGUMENT, "the event was made for another model");
    if (step->life != model->life)
        return sp_say(error, SPT_ARGUMENT,
                      "step was taken before spt_apply made another model of this one; nothing has "
                      "changed");
    if (step->undone)
        return sp_say(error, SPT_ARGUMENT,
                      "step has been taken back already; nothing has changed");
    int failed = sp_step_recall(step, event, error);
    if (!failed)
        failed = sp_event_put(model, event, error);
    if (failed)
        return failed;
    if (sp_undo_record_find(learner, &event->event) < 0)
        return sp_unfit(event, error);
    const char *wrong = sp_undo_record_fault(&step->taken, learner, &event->event);
    if (wrong != NULL) {
        sp_event_settle(&event->event, &learner->index);
        sp_event_forget(&event->event);
        sp_say(error, SPT_DAMAGED, "step is damaged: ");
        return sp_say_more(error, SPT_DAMAGED, wrong, strlen(wrong));
    }
    failed = sp_undo_record_take_back(&step->taken, step->changed, learner, &event->event);
    step->undone = !failed;
    /* do not compare the next event with this one, as slots may be left out */
    sp_event_settle(&event->event, &learner->index);
    sp_event_forget(&event->event);
    return failed ? sp_say_memory(error) : SPT_OK;
}
