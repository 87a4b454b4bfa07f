#include "path/record.h"

#include "features/head.h"
#include "learner/can.h"
#include "learner/drift.h"
#include "machine/machine.h"
#include "many/snapshot.h"
#include "memory/heap.h"
#include "path/path.h"
#include "shapes/undo.h"

#include <math.h>
#include <string.h>

SP_PRIVATE void sp_undo_moves(sp_learner *learner, sp_event *event, sp_moment moment)
{
    sp_table *table = &learner->table;
    double c = table->c;
    double s = table->s;
    int folds = (int)SP_MIN(table->fold - moment.fold, (uint32_t)SP_FOLDS_MOST);
    table->c = moment.c;
    table->s = ldexp(moment.s, 256 * folds);
    learner->machine->move(learner, event);
    table->c = c;
    table->s = s;
}

#define SP_MOVES_MOST 1e100 /* of a move */
#define SP_ONCE_MOST 1e40   /* of what is kept once per model */

enum {
    SP_MOVE_BYTES = 4 + 8,
    SP_MOMENT_BYTES = 8 + 8 + 4,
};

SP_API sp_undo_kind sp_undo_kind_of(const sp_learner *learner)
{
    if (sp_learner_can(learner, SP_CAN_UNDO_SNAPSHOT))
        return SP_UNDO_SNAPSHOT;
    if (sp_learner_can(learner, SP_CAN_UNDO_LOG))
        return SP_UNDO_LOG;
    return sp_learner_can(learner, SP_CAN_UNDO_MOVES) ? SP_UNDO_MOVES : SP_UNDO_NONE;
}

/* --- Moves */

static void sp_moves_measure(sp_undo_record *taken, const sp_learner *learner,
                             const sp_event *event)
{
    if (event->step.n == 0) {
        taken->how = SP_UNDO_NONE;
        return;
    }
    taken->n[SP_RECORD_MOVES] = (size_t)event->step.n * SP_MOVE_BYTES + SP_MOMENT_BYTES;
    taken->n[SP_RECORD_EVENT] = (size_t)event->n * sizeof(uint32_t);
    taken->n_parts = sp_index_is_limited(&learner->index) ? 2 : 1;
}

static void sp_moves_write(const sp_undo_record *taken, const sp_event *event, sp_moment moment)
{
    uint8_t *p = taken->p[SP_RECORD_MOVES];
    for (ptrdiff_t i = 0; i < event->step.n; i++, p += SP_MOVE_BYTES) {
        const uint32_t output = (uint32_t)event->step.moves[i].output;
        memcpy(p, &output, 4);
        memcpy(p + 4, &event->step.moves[i].a, 8);
    }
    memcpy(p, &moment.c, 8);
    memcpy(p + 8, &moment.s, 8);
    memcpy(p + 16, &moment.fold, 4);
    if (taken->n_parts > SP_RECORD_EVENT)
        memcpy(taken->p[SP_RECORD_EVENT], event->slots, taken->n[SP_RECORD_EVENT]);
}

static ptrdiff_t sp_moves_count(const sp_undo_record *taken)
{
    return ((ptrdiff_t)taken->n[SP_RECORD_MOVES] - SP_MOMENT_BYTES) / SP_MOVE_BYTES;
}

static double sp_moves_read(const sp_undo_record *taken, ptrdiff_t i, uint32_t *output)
{
    const uint8_t *p = taken->p[SP_RECORD_MOVES] + i * SP_MOVE_BYTES;
    double a;
    memcpy(output, p, 4);
    memcpy(&a, p + 4, 8);
    return a;
}

static sp_moment sp_moves_moment(const sp_undo_record *taken)
{
    const uint8_t *p = taken->p[SP_RECORD_MOVES] + taken->n[SP_RECORD_MOVES] - SP_MOMENT_BYTES;
    sp_moment moment;
    memcpy(&moment.c, p, 8);
    memcpy(&moment.s, p + 8, 8);
    memcpy(&moment.fold, p + 16, 4);
    return moment;
}

static const char *sp_moves_fault(const sp_undo_record *taken, const sp_learner *learner,
                                  const sp_event *event)
{
    const ptrdiff_t m = sp_moves_count(taken);
    uint32_t output, before = 0;
    if (m < 1 || taken->n[SP_RECORD_MOVES] != (size_t)m * SP_MOVE_BYTES + SP_MOMENT_BYTES)
        return "its moves were cut off";
    for (ptrdiff_t i = 0; i < m; i++, before = output) {
        double a = sp_moves_read(taken, i, &output);
        if (output >= (size_t)learner->table.n_outputs || (i && output <= before)
            || !(fabs(a) <= SP_MOVES_MOST))
            return "its moves are invalid";
    }
    const sp_moment moment = sp_moves_moment(taken);
    if (!(moment.c >= 1.0 && moment.c <= 1e18 && moment.s >= 1e-78 && moment.s <= 1.0
          && moment.fold <= learner->table.fold))
        return "its moment is invalid";
    if (taken->n_parts > SP_RECORD_EVENT
        && taken->n[SP_RECORD_EVENT] != (size_t)event->n * sizeof(uint32_t))
        return "its slots are not those of its event";
    for (ptrdiff_t i = 0; i < event->n && !sp_index_is_limited(&learner->index); i++) {
        if (event->slots[i] == SP_SLOT_NULL)
            return "it has features that the model has never learned";
    }
    return NULL;
}

static int sp_moves_back(const sp_undo_record *taken, sp_learner *learner, sp_event *event)
{
    const ptrdiff_t m = sp_moves_count(taken);
    uint32_t output;
    const uint32_t *slots = (const uint32_t *)(const void *)taken->p[SP_RECORD_EVENT];
    for (ptrdiff_t i = 0; i < event->n && taken->n_parts > SP_RECORD_EVENT; i++) {
        if (event->slots[i] != slots[i]) /* it had no slot, or has lost it to a ceiling */
            event->slots[i] = SP_SLOT_NULL;
    }
    if (sp_step_reserve(&event->step, m) < 0)
        return -1;
    sp_step_begin(&event->step);
    for (ptrdiff_t i = 0; i < m; i++) {
        const double a = sp_moves_read(taken, i, &output);
        sp_step_add(&event->step, (ptrdiff_t)output, -a);
    }
    if (learner->machine->reserve_moves(learner, event) < 0)
        return -1;
    sp_undo_moves(learner, event, sp_moves_moment(taken));
    return 0;
}

/* --- Slots' numbers */

static const ptrdiff_t *sp_undo_record_outputs(const sp_undo_record *taken)
{
    return (const ptrdiff_t *)(const void *)taken->p[SP_RECORD_OUTPUTS];
}

static uint32_t *sp_undo_record_slots(const sp_undo_record *taken)
{
    return (uint32_t *)(void *)taken->p[SP_RECORD_SLOTS];
}

/* The half of a part from before the step, or from after it. */
static void *sp_undo_record_half(const sp_undo_record *taken, int part, bool after)
{
    return taken->p[part] + (after ? taken->n[part] / 2 : 0);
}

static ptrdiff_t sp_undo_record_entries(const sp_undo_record *taken)
{
    return (ptrdiff_t)(taken->n[SP_RECORD_MEANS] / (2 * sizeof(double)));
}

/* The hashes of gaps' names, and how many there are. */
static uint8_t *sp_undo_record_gaps(const sp_undo_record *taken, ptrdiff_t *n)
{
    const size_t slots = (size_t)sp_undo_record_entries(taken) * sizeof(uint32_t);
    *n = (ptrdiff_t)((taken->n[SP_RECORD_SLOTS] - slots) / sizeof(uint64_t));
    return taken->p[SP_RECORD_SLOTS] + slots;
}

/* The bytes of what is kept once per model, before the step and after it. */
static size_t sp_once_bytes(const sp_undo_record *taken, const sp_learner *learner)
{
    return 2 * (size_t)sp_once_width(learner, taken->m, taken->outputs > 1) * sizeof(double);
}

static void sp_slots_measure(sp_undo_record *taken, const sp_learner *learner,
                             const sp_event *event)
{
    const size_t n = (size_t)sp_snapshot_slots(event, NULL);
    const bool limited = sp_index_is_limited(&learner->index);
    taken->m = sp_snapshot_outputs(event, NULL);
    taken->n[SP_RECORD_OUTPUTS] = (size_t)taken->m * sizeof(ptrdiff_t);
    taken->n[SP_RECORD_SLOTS] = n * sizeof(uint32_t)
                               + (limited ? (size_t)sp_event_gaps(event) : 0) * sizeof(uint64_t);
    taken->outputs = sp_adaptive_outputs(&learner->adaptive);
    taken->n[SP_RECORD_ONCE] = sp_once_bytes(taken, learner);
    taken->n[SP_RECORD_NUMBERS] = 2 * n * (size_t)sp_snapshot_width(taken->m) * sizeof(float);
    taken->n[SP_RECORD_MEANS] = 2 * n * sizeof(double);
    taken->n[SP_RECORD_COLUMNS]
        = (size_t)sp_snapshot_columns_most(event)
          * sp_snapshot_column_bytes(sp_snapshot_places(learner));
    taken->n_parts = SP_RECORD_SHAPES;
    if (sp_adaptive_scratch_of(event)->shaped.has)
        taken->n[taken->n_parts++]
            = sp_snapshot_shapes_bytes(&learner->adaptive.shapes,
                                       &sp_adaptive_scratch_of(event)->shaped);
}

/* Whether the step changes curves and surfaces. */
static bool sp_undo_record_shapes(const sp_undo_record *taken)
{
    return taken->n_parts > SP_RECORD_SHAPES;
}

/* Copy the numbers as they are now. */
static void sp_slots_fill(const sp_undo_record *taken, const sp_learner *learner,
                          const sp_event *event, bool after)
{
    const ptrdiff_t *k = sp_undo_record_outputs(taken);
    sp_snapshot_slots(event, sp_undo_record_slots(taken));
    sp_snapshot_fill(learner, sp_undo_record_slots(taken), sp_undo_record_entries(taken), taken->y,
                     k, taken->m, (float *)sp_undo_record_half(taken, SP_RECORD_NUMBERS, after),
                     (double *)sp_undo_record_half(taken, SP_RECORD_MEANS, after));
    sp_once_read(&learner->adaptive, taken->y, k, taken->m,
                 (double *)sp_undo_record_half(taken, SP_RECORD_ONCE, after));
}

static void sp_slots_before(sp_undo_record *taken, const sp_learner *learner, const sp_event *event)
{
    sp_snapshot_outputs(event, (ptrdiff_t *)(void *)taken->p[SP_RECORD_OUTPUTS]);
    sp_slots_fill(taken, learner, event, false);
    taken->n[SP_RECORD_COLUMNS]
        = sp_snapshot_columns_before(learner, event, taken->y, taken->p[SP_RECORD_COLUMNS]);
    if (sp_undo_record_shapes(taken)) {
        uint8_t *shapes = taken->p[SP_RECORD_SHAPES];
        sp_snapshot_shapes_before(&learner->adaptive.shapes, &sp_adaptive_scratch_of(event)->shaped,
                                  taken->y, shapes);
        sp_snapshot_shaped_columns(learner, event, sp_snapshot_shapes_columns(shapes));
    }
}

/* Record the numbers after the step. Then the slots are only those that have changed, each once. */
static void sp_slots_after(sp_undo_record *taken, const sp_learner *learner, const sp_event *event,
                           double u)
{
    const ptrdiff_t n = sp_undo_record_entries(taken);
    uint32_t *slots = sp_undo_record_slots(taken);
    ptrdiff_t n_gaps;
    uint8_t *gaps = sp_undo_record_gaps(taken, &n_gaps);
    sp_slots_fill(taken, learner, event, true);
    if (n_gaps > 0)
        sp_snapshot_gaps(learner, event, gaps);
    taken->n[SP_RECORD_COLUMNS]
        = sp_snapshot_columns_after(learner, event, slots, n, taken->y, taken->p[SP_RECORD_COLUMNS],
                                    taken->n[SP_RECORD_COLUMNS]);
    sp_snapshot_once_each(learner, slots, n);
    sp_snapshot_numbers(learner, slots, n);
    taken->outputs = sp_adaptive_outputs(&learner->adaptive);
    if (sp_undo_record_shapes(taken))
        sp_snapshot_shapes_after(&learner->adaptive.shapes, &sp_adaptive_scratch_of(event)->shaped,
                                 taken->y, u, taken->p[SP_RECORD_SHAPES]);
}

/* What is wrong with the numbers kept once per model. */
static const char *sp_once_fault(const sp_undo_record *taken, const sp_learner *learner, bool after)
{
    /* T, D of the label, m, nm, tau and its G, the watch's; then w0, G0 of each output; then wn,
       Gn; then b; then the q of each alarm */
    const double *once = (const double *)sp_undo_record_half(taken, SP_RECORD_ONCE, after);
    const ptrdiff_t m = taken->m;
    const ptrdiff_t n = sp_once_width(learner, m, taken->outputs > 1);
    for (ptrdiff_t j = 0; j < n; j++) {
        if (!((j >= 4 && j < SP_ONCE_MODEL) || fabs(once[j]) <= SP_ONCE_MOST))
            return "its numbers are invalid";
    }
    if (!sp_drift_is_sound(once + 6))
        return "its watch for drift is invalid";
    if (!(once[0] >= 0.0 && once[1] >= 0.0 && once[2] >= 0.0 && once[3] >= 0.0
          && once[3] <= SP_ODDS_WINDOW && once[4] >= SP_TAU_LEAST && once[4] <= SP_TAU_MOST
          && once[5] >= 1.0 && once[5] <= SP_G_TAU_MOST))
        return "its counts are invalid";
    for (ptrdiff_t j = 0; j < m; j++) {
        if (!(once[SP_ONCE_MODEL + j * SP_ONCE_OUTPUT + 1] >= 0.0))
            return "its sums of squares are invalid";
    }
    return m && !(once[sp_once_b(m) - 1] >= 0.0) ? "its sum of squares is invalid"
                                                            : NULL;
}

/* Whether the lengths of the parts agree. */
static bool sp_slots_fit(const sp_undo_record *taken, const sp_learner *learner)
{
    const size_t n = taken->n[SP_RECORD_MEANS] / (2 * sizeof(double));
    const size_t slots = n * sizeof(uint32_t);
    if (taken->m < 0 || taken->m > INT32_MAX || taken->n[SP_RECORD_SLOTS] < slots)
        return false;
    const size_t row = 2 * (size_t)sp_snapshot_width(taken->m) * sizeof(float);
    return taken->n[SP_RECORD_OUTPUTS] == (size_t)taken->m * sizeof(ptrdiff_t)
           && (taken->n[SP_RECORD_SLOTS] - slots) % sizeof(uint64_t) == 0
           && taken->n[SP_RECORD_ONCE] == sp_once_bytes(taken, learner)
           && taken->n[SP_RECORD_NUMBERS] % row == 0 && taken->n[SP_RECORD_NUMBERS] / row == n
           && taken->n[SP_RECORD_MEANS] == 2 * n * sizeof(double);
}

static const char *sp_slots_fault(const sp_undo_record *taken, const sp_learner *learner,
                                  const sp_event *event)
{
    const ptrdiff_t *k = sp_undo_record_outputs(taken);
    const double *means = (const double *)sp_undo_record_half(taken, SP_RECORD_MEANS, false);
    const ptrdiff_t n = sp_undo_record_entries(taken), outputs = taken->outputs;
    const bool one = outputs == 1;
    ptrdiff_t n_gaps;
    if (taken->n_parts < SP_RECORD_SHAPES || !sp_slots_fit(taken, learner)
        || !sp_snapshot_is_sound((const float *)sp_undo_record_half(taken, SP_RECORD_NUMBERS,
        false), 2 * n,
                                 taken->m)
        || !sp_snapshot_columns_are_sound(taken->p[SP_RECORD_COLUMNS], taken->n[SP_RECORD_COLUMNS],
        n,
                                          one)
        || (sp_undo_record_shapes(taken)
            && !sp_snapshot_shapes_are_sound(taken->p[SP_RECORD_SHAPES], taken->n[SP_RECORD_SHAPES],
                                             learner->adaptive.shapes.n_layers, n, outputs)))
        return "its numbers are not a step's";
    sp_undo_record_gaps(taken, &n_gaps);
    if (event->n + n_gaps > n || taken->y < 0 || taken->y >= (one ? 2 : outputs)
        || (!one && outputs > sp_adaptive_outputs(&learner->adaptive)))
        return "it does not fit its event or the labels";
    for (ptrdiff_t j = 0; j < taken->m; j++) {
        if (k[j] < 0 || k[j] >= outputs || (j && k[j] <= k[j - 1]))
            return "its outputs are invalid";
    }
    for (ptrdiff_t i = 0; i < 2 * n; i++) {
        if (!(fabs(means[i]) <= SP_MEAN_LIMIT))
            return "its means are invalid";
    }
    const char *wrong = sp_once_fault(taken, learner, false);
    return wrong != NULL ? wrong : sp_once_fault(taken, learner, true);
}

/* The same, with a copy of the slots, in which those to be left out are marked. */
static int sp_slots_back(const sp_undo_record *taken, sp_learner *learner, sp_event *event,
                         uint32_t *slots)
{
    const ptrdiff_t n = sp_undo_record_entries(taken);
    const uint8_t *columns = taken->p[SP_RECORD_COLUMNS];
    const size_t n_bytes = taken->n[SP_RECORD_COLUMNS];
    ptrdiff_t n_gaps;
    const uint8_t *gaps = sp_undo_record_gaps(taken, &n_gaps);
    memcpy(slots, sp_undo_record_slots(taken), (size_t)n * sizeof(uint32_t));
    sp_snapshot_find(learner, slots, n);
    /* nothing was kept for an entry without its own slot: it has none, or another entry's */
    for (ptrdiff_t i = 0; i < event->n && i < n; i++) {
        if (event->slots[i] != slots[i])
            slots[i] = SP_SLOT_NULL;
    }
    sp_snapshot_leave(learner, slots, event->n, n, gaps, n_gaps, columns, n_bytes);
    const sp_undo_snapshot kept = {taken->outputs == 1,
                          taken->y,
                          sp_undo_record_outputs(taken),
                          taken->m,
                          slots,
                          n,
                          (const float *)sp_undo_record_half(taken, SP_RECORD_NUMBERS, false),
                          (const float *)sp_undo_record_half(taken, SP_RECORD_NUMBERS, true),
                          (const double *)sp_undo_record_half(taken, SP_RECORD_MEANS, false),
                          (const double *)sp_undo_record_half(taken, SP_RECORD_MEANS, true),
                          columns,
                          n_bytes};
    if (sp_snapshot_reserve(learner, &kept) < 0
        || (sp_undo_record_shapes(taken) && sp_snapshot_reserve_shapes(learner, event) < 0))
        return -1;
    sp_once_take_back(learner, &kept,
                      (const double *)sp_undo_record_half(taken, SP_RECORD_ONCE, false),
                      (const double *)sp_undo_record_half(taken, SP_RECORD_ONCE, true));
    if (sp_undo_record_shapes(taken))
        sp_snapshot_take_back_shapes(learner, &kept, event, taken->p[SP_RECORD_SHAPES]);
    sp_snapshot_take_back(learner, &kept);
    return 0;
}

/* --- Any step */

SP_API int sp_undo_record_prepare(sp_undo_record *taken, sp_learner *learner, sp_event *event,
                                  ptrdiff_t y, double u)
{
    memset(taken, 0, sizeof(*taken));
    taken->y = y;
    taken->how = sp_undo_kind_of(learner);
    if (u == 0.0 && taken->how != SP_UNDO_MOVES)
        taken->how = SP_UNDO_NONE;
    if (sp_learner_prepare(learner, event, y, u) < 0)
        return -1;
    if (taken->how == SP_UNDO_MOVES)
        sp_moves_measure(taken, learner, event);
    else if (taken->how == SP_UNDO_SNAPSHOT)
        sp_slots_measure(taken, learner, event);
    else if (taken->how == SP_UNDO_LOG) {
        taken->n[SP_RECORD_LOG] = sp_seldom_of(learner)->undo_log_most(learner, event);
        taken->n_parts = 1;
    }
    return 0;
}

SP_API int sp_undo_record_commit(sp_undo_record *taken, sp_learner *learner, sp_event *event,
                                 double u)
{
    const sp_moment moment = sp_undo_moment(learner);
    if (taken->how == SP_UNDO_SNAPSHOT)
        sp_slots_before(taken, learner, event);
    if (taken->how == SP_UNDO_LOG)
        sp_seldom_of(learner)->undo_log_begin(learner, event, u, taken->p[SP_RECORD_LOG]);
    if (sp_learner_commit(learner, event, taken->y, u) < 0)
        return -1;
    if (taken->how == SP_UNDO_MOVES)
        sp_moves_write(taken, event, moment);
    if (taken->how == SP_UNDO_SNAPSHOT)
        sp_slots_after(taken, learner, event, u);
    if (taken->how == SP_UNDO_LOG)
        taken->n[SP_RECORD_LOG]
            = sp_seldom_of(learner)->undo_log_end(learner, event, taken->p[SP_RECORD_LOG]);
    return 0;
}

SP_API int sp_undo_record_find(sp_learner *learner, sp_event *event)
{
    if (sp_learner_score(learner, event) < 0)
        return -1;
    /* a hashed model that was saved has no slots for rows of zeros */
    if (learner->index.bits && sp_learner_open(learner, event) < 0)
        return -1;
    if (sp_undo_kind_of(learner) == SP_UNDO_SNAPSHOT)
        sp_event_close_gaps(event); /* it may have other gaps now */
    return 0;
}

SP_API const char *sp_undo_record_fault(const sp_undo_record *taken, const sp_learner *learner,
                                        const sp_event *event)
{
    if (taken->how == SP_UNDO_NONE)
        return NULL;
    if (taken->how != sp_undo_kind_of(learner) || taken->n_parts < 1)
        return "it is not a step of such a model";
    if (taken->how == SP_UNDO_MOVES)
        return sp_moves_fault(taken, learner, event);
    if (taken->how == SP_UNDO_SNAPSHOT)
        return sp_slots_fault(taken, learner, event);
    return sp_seldom_of(learner)->undo_log_is_sound(learner, event, taken->p[SP_RECORD_LOG],
                                        taken->n[SP_RECORD_LOG])
               ? NULL
               : "its numbers are not a step's";
}

SP_API int sp_undo_record_take_back(const sp_undo_record *taken, bool changed, sp_learner *learner,
                                    sp_event *event)
{
    int failed = 0;
    if (taken->how == SP_UNDO_MOVES)
        failed = sp_moves_back(taken, learner, event);
    else if (taken->how == SP_UNDO_LOG)
        failed = sp_seldom_of(learner)->take_back(learner, event, taken->p[SP_RECORD_LOG]);
    else if (taken->how == SP_UNDO_SNAPSHOT) {
        uint32_t *slots
            = (uint32_t *)sp_malloc((size_t)sp_undo_record_entries(taken) * sizeof(uint32_t) + 1);
        failed = slots == NULL ? -1 : sp_slots_back(taken, learner, event, slots);
        sp_free(slots);
    }
    if (failed)
        return -1;
    if (changed && learner->n_updates > 0)
        learner->n_updates -= 1;
    learner->version += 1;
    return 0;
}
