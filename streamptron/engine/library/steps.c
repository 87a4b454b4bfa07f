#include "library/steps.h"

#include "library/answer.h"
#include "library/event.h"

#include "memory/heap.h"
#include "path/path.h"
#include "path/undo.h"

#include <math.h>
#include <string.h>

typedef enum sp_keeping {
    SP_KEEPING_NONE,
    SP_KEEPING_MOVES, /* and the moment of the averages' clock */
    SP_KEEPING_SLOTS, /* their numbers before it and after it */
    SP_KEEPING_NOTES, /* what the machine writes down of both */
} sp_keeping;

/* What slots held, and numbers that are kept once. */
typedef struct sp_step_kept {
    ptrdiff_t y, outputs, n, m;
    sp_bytes numbers, means, once; /* of each those before, then those after */
    sp_bytes slots, choices, columns;
    sp_bytes bends; /* under a ceiling: what stands for the names of the bends */
} sp_step_kept;

struct spt_step {
    spt_model *model;
    uint64_t life; /* of the model */
    sp_keeping how;     /* NONE: it has changed no weight */
    bool changed;       /* it was counted as an update */
    bool undone;
    sp_bytes names, features; /* the event's */
    sp_moment moment;
    sp_bytes moves, slots;
    sp_step_kept kept;
    sp_bytes noted;
};

/* How a model's steps are kept: as doors/late.pyx does it. */
static sp_keeping sp_keeping_of(const spt_model *model)
{
    const sp_learner *learner = &model->contents.learner;
    if (sp_learner_can(learner, SP_CAN_PUT_BACK))
        return SP_KEEPING_SLOTS;
    if (sp_learner_can(learner, SP_CAN_NOTE))
        return SP_KEEPING_NOTES;
    return sp_learner_can(learner, SP_CAN_TAKE_BACK) ? SP_KEEPING_MOVES : SP_KEEPING_NONE;
}

SPT_API spt_step *spt_event_step(spt_event *event)
{
    spt_step *step = event->step;
    event->step = NULL;
    return step;
}

SPT_API void spt_step_free(spt_step *step)
{
    if (step == NULL)
        return;
    sp_step_kept *kept = &step->kept;
    sp_bytes *all[] = {&step->names,  &step->features, &step->moves,  &step->slots, &step->noted,
                       &kept->numbers, &kept->means,   &kept->once,   &kept->slots, &kept->choices,
                       &kept->columns, &kept->bends};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        sp_bytes_free(all[i]);
    sp_free(step);
}

/* n bytes, not yet written. NULL without memory. */
static void *sp_step_room(sp_bytes *bytes, size_t n)
{
    void *p = sp_bytes_room(bytes, n);
    bytes->failed = false;
    bytes->n = p == NULL ? 0 : n;
    return p;
}

/* The event as features, from what the engine has of it. -1 without memory. */
static int sp_step_event(spt_step *step, const spt_event *event)
{
    const sp_event *its = &event->event;
    return sp_named_take(its, step->model->contents.learner.intercept, sp_event_given(its),
                         &step->names, &step->features);
}

/* --- Slots' numbers */

static float *sp_kept_floats(const sp_step_kept *kept, bool after)
{
    return (float *)(void *)kept->numbers.p + after * kept->n * sp_kept_width(kept->m);
}

static double *sp_kept_means(const sp_step_kept *kept, bool after)
{
    return (double *)(void *)kept->means.p + after * kept->n;
}

static double *sp_kept_alone(const sp_step_kept *kept, bool after)
{
    return (double *)(void *)kept->once.p + after * sp_once_width(kept->m);
}

static uint32_t *sp_kept_own_slots(const sp_step_kept *kept)
{
    return (uint32_t *)(void *)kept->slots.p;
}

static ptrdiff_t *sp_kept_choices(const sp_step_kept *kept)
{
    return (ptrdiff_t *)(void *)kept->choices.p;
}

/* Write down what a prepared step is going to change. -1 without memory. */
static int sp_kept_before(sp_step_kept *kept, const sp_learner *learner, const sp_event *event,
                          ptrdiff_t y)
{
    size_t most = (size_t)sp_kept_columns_most(event)
                  * sp_kept_column_bytes(sp_kept_places(learner));
    kept->y = y;
    kept->n = sp_kept_slots(event, NULL);
    kept->m = sp_kept_outputs(event, NULL);
    size_t n = (size_t)kept->n, m = (size_t)kept->m;
    const bool named = sp_index_is_limited(&learner->index);
    const size_t n_bends = named ? (size_t)sp_event_bends(event) : 0;
    if (sp_step_room(&kept->numbers, 2 * n * (size_t)sp_kept_width(kept->m) * sizeof(float)) == NULL
        || sp_step_room(&kept->means, 2 * n * sizeof(double)) == NULL
        || sp_step_room(&kept->once, 2 * (size_t)sp_once_width(kept->m) * sizeof(double)) == NULL
        || sp_step_room(&kept->slots, n * sizeof(uint32_t)) == NULL
        || sp_step_room(&kept->choices, m * sizeof(ptrdiff_t)) == NULL
        || sp_step_room(&kept->columns, most) == NULL
        || sp_step_room(&kept->bends, n_bends * sizeof(uint64_t)) == NULL)
        return -1;
    sp_kept_outputs(event, sp_kept_choices(kept));
    sp_kept_slots(event, sp_kept_own_slots(kept));
    sp_kept_fill(learner, sp_kept_own_slots(kept), kept->n, y, sp_kept_choices(kept), kept->m,
                 sp_kept_floats(kept, false), sp_kept_means(kept, false));
    kept->columns.n = sp_kept_columns_before(learner, event, y, kept->columns.p);
    sp_once_read(&learner->adaptive, y, sp_kept_choices(kept), kept->m,
                 sp_kept_alone(kept, false));
    return 0;
}

/* And as it is now; then the slots are those that have changed, each once. */
static void sp_kept_after(sp_step_kept *kept, const sp_learner *learner, const sp_event *event)
{
    uint32_t *slots = sp_kept_own_slots(kept);
    sp_kept_slots(event, slots);
    if (kept->bends.n)
        sp_kept_bends(learner, event, (uint64_t *)(void *)kept->bends.p);
    sp_kept_fill(learner, slots, kept->n, kept->y, sp_kept_choices(kept), kept->m,
                 sp_kept_floats(kept, true), sp_kept_means(kept, true));
    kept->columns.n = sp_kept_columns_after(learner, event, slots, kept->n, kept->y,
                                            kept->columns.p, kept->columns.n);
    sp_once_read(&learner->adaptive, kept->y, sp_kept_choices(kept), kept->m,
                 sp_kept_alone(kept, true));
    sp_kept_once_each(learner, slots, kept->n);
    sp_kept_numbers(learner, slots, kept->n);
    kept->outputs = sp_adaptive_outputs(&learner->adaptive);
}

/* --- Learning */

/* Room for a prepared step of moves, and for the slots of its event under a ceiling. */
static int sp_moves_before(spt_step *step, const sp_learner *learner, const sp_event *event)
{
    step->moment = sp_undo_moment(learner);
    if (sp_step_room(&step->moves, (size_t)event->step.n * sizeof(sp_move)) == NULL)
        return -1;
    if (sp_index_is_limited(&learner->index)
        && sp_step_room(&step->slots, (size_t)event->n * sizeof(uint32_t)) == NULL)
        return -1;
    return 0;
}

static void sp_moves_after(spt_step *step, const sp_event *event)
{
    if (step->moves.n > 0)
        memcpy(step->moves.p, event->step.moves, step->moves.n);
    for (size_t i = 0; i < step->slots.n / sizeof(uint32_t); i++)
        ((uint32_t *)(void *)step->slots.p)[i] = event->slots[i];
    if (step->moves.n == 0)
        step->how = SP_KEEPING_NONE;
}

/* Learn by a step that is chosen first, so that what it changes can be written down. */
static int sp_teach_prepared(spt_step *step, sp_learner *learner, spt_event *event, ptrdiff_t y,
                             double u, spt_error *error)
{
    sp_event *its = &event->event;
    bool slots = step->how == SP_KEEPING_SLOTS;
    if (slots && u == 0.0)
        step->how = SP_KEEPING_NONE;
    if (sp_learner_prepare(learner, its, y, u) < 0)
        return sp_unfit(event, error);
    int failed = sp_step_event(step, event);
    if (!failed && step->how == SP_KEEPING_SLOTS)
        failed = sp_kept_before(&step->kept, learner, its, y);
    if (!failed && step->how == SP_KEEPING_MOVES)
        failed = sp_moves_before(step, learner, its);
    if (failed) {
        sp_learner_abandon(learner, its);
        sp_event_settle(its, &learner->index);
        return sp_say_memory(error);
    }
    if (sp_learner_commit(learner, its, y, u) < 0)
        return sp_unfit(event, error);
    if (step->how == SP_KEEPING_SLOTS)
        sp_kept_after(&step->kept, learner, its);
    if (step->how == SP_KEEPING_MOVES)
        sp_moves_after(step, its);
    return SPT_OK;
}

/* Learn by a step that the machine writes down. */
static int sp_teach_noted(spt_step *step, sp_learner *learner, spt_event *event, double u,
                          spt_error *error)
{
    sp_event *its = &event->event;
    if (sp_learner_score(learner, its) < 0)
        return sp_unfit(event, error);
    if (sp_step_event(step, event) < 0)
        return sp_say_memory(error);
    if (u == 0.0)
        step->how = SP_KEEPING_NONE;
    else {
        size_t most = sp_noted_most(learner, its, 0, u);
        if (most == 0 || sp_step_room(&step->noted, most) == NULL)
            return sp_say_memory(error);
        sp_noted_before(learner, its, u, step->noted.p);
    }
    if (sp_learner_learn(learner, its, 0, u) < 0)
        return sp_unfit(event, error);
    if (u != 0.0)
        step->noted.n = sp_noted_after(learner, its, step->noted.p);
    return SPT_OK;
}

/* Learn, and write down in an empty step what that changes. SPT_OK or a code. */
static int sp_teach_kept(spt_step *step, spt_event *event, ptrdiff_t y, double u, spt_error *error)
{
    sp_learner *learner = &step->model->contents.learner;
    uint64_t n_updates = learner->n_updates;
    step->how = sp_keeping_of(step->model);
    int failed = step->how == SP_KEEPING_NOTES
                     ? sp_teach_noted(step, learner, event, u, error)
                     : sp_teach_prepared(step, learner, event, y, u, error);
    step->changed = learner->n_updates != n_updates;
    return failed;
}

SPT_API int spt_event_keep(spt_event *event, int keep, spt_error *error)
{
    if (event->model->read_only)
        return sp_say(error, SPT_READ_ONLY,
                      "the model was opened with SPT_MAPPED, read only, and learns nothing");
    if (keep && sp_keeping_of(event->model) == SP_KEEPING_NONE)
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

/* --- Taking back */

/* Done with the event: the next one is not compared with it, for slots may be left out. */
static void sp_event_drop(sp_event *event, const sp_index *index)
{
    sp_event_settle(event, index);
    event->n_known = 0;
    event->n_found = 0;
    event->scored_version = 0;
}

/* The event becomes the step's. SPT_OK or a code. */
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

/* -1 without memory; then nothing has changed. */
static int sp_moves_take_back(const spt_step *step, sp_learner *learner, sp_event *event)
{
    const sp_move *moves = (const sp_move *)(const void *)step->moves.p;
    int n = (int)(step->moves.n / sizeof(sp_move));
    if (sp_index_is_limited(&learner->index))
        sp_undo_leave(event, (const uint32_t *)(const void *)step->slots.p);
    if (sp_step_reserve(&event->step, n) < 0)
        return -1;
    sp_step_begin(&event->step);
    for (int i = 0; i < n; i++)
        sp_step_add(&event->step, moves[i].output, -moves[i].a);
    if (sp_undo_reserve(learner, event) < 0)
        return -1;
    sp_undo_moves(learner, event, step->moment);
    return 0;
}

/* The same, with copies of the slots and columns, in which what is left out is marked. */
static int sp_slots_take_back(const sp_step_kept *kept, sp_learner *learner, sp_event *event,
                              uint32_t *slots, uint8_t *columns)
{
    sp_event_unbend(event); /* those that it had may be others */
    sp_kept_find(learner, slots, kept->n);
    /* of an entry without a slot of its own nothing was kept: it has none, or another one's */
    for (ptrdiff_t i = 0; i < event->n && i < kept->n; i++) {
        if (event->slots[i] != slots[i])
            slots[i] = SP_SLOT_NULL;
    }
    sp_kept_leave(learner, slots, event->n, kept->n, (const uint64_t *)(const void *)kept->bends.p,
                  (ptrdiff_t)(kept->bends.n / sizeof(uint64_t)), columns, kept->columns.n);
    const sp_kept all = {kept->outputs == 1,
                         kept->y,
                         sp_kept_choices(kept),
                         kept->m,
                         slots,
                         kept->n,
                         sp_kept_floats(kept, false),
                         sp_kept_floats(kept, true),
                         sp_kept_means(kept, false),
                         sp_kept_means(kept, true),
                         columns,
                         kept->columns.n};
    if (sp_kept_reserve(learner, &all) < 0)
        return -1;
    sp_once_take_back(learner, &all, sp_kept_alone(kept, false), sp_kept_alone(kept, true));
    sp_kept_take_back(learner, &all);
    return 0;
}

static int sp_kept_undo(const sp_step_kept *kept, sp_learner *learner, sp_event *event)
{
    sp_bytes slots = {.failed = false}, columns = {.failed = false};
    sp_bytes_add(&slots, kept->slots.p, kept->slots.n);
    sp_bytes_add(&columns, kept->columns.p, kept->columns.n);
    int failed = slots.failed || columns.failed ? -1 : 0;
    if (!failed)
        failed = sp_slots_take_back(kept, learner, event, (uint32_t *)(void *)slots.p, columns.p);
    sp_bytes_free(&slots);
    sp_bytes_free(&columns);
    return failed;
}

static int sp_step_take_back(const spt_step *step, sp_learner *learner, sp_event *event)
{
    /* a hashed model that was saved has no slots for what was zero */
    if (learner->index.bits && sp_learner_open(learner, event) < 0)
        return -1;
    switch (step->how) {
    case SP_KEEPING_MOVES:
        return sp_moves_take_back(step, learner, event);
    case SP_KEEPING_SLOTS:
        return sp_kept_undo(&step->kept, learner, event);
    case SP_KEEPING_NOTES:
        return sp_noted_take_back(learner, event, step->noted.p);
    default:
        return 0;
    }
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
    if (sp_learner_score(learner, &event->event) < 0)
        return sp_unfit(event, error);
    if (sp_step_take_back(step, learner, &event->event) < 0) {
        sp_event_drop(&event->event, &learner->index);
        return sp_say_memory(error);
    }
    if (step->changed && learner->n_updates > 0)
        learner->n_updates--;
    learner->version++;
    step->undone = true;
    sp_event_drop(&event->event, &learner->index);
    return SPT_OK;
}
