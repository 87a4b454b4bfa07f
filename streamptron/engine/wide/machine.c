#include "wide/machine.h"

#include "linear/linear.h"
#include "memory/grow.h"
#include "memory/heap.h"
#include "table/keep.h"

#include <math.h>
#include <string.h>

/* --- Making and freeing */

SP_PRIVATE bool sp_wide_is_due(const sp_learner *learner, ptrdiff_t n_outputs)
{
    const int kind = learner->rule.kind;
    return learner->answer == SP_ANSWER_LABELS && n_outputs > SP_WIDE_FROM
           && (kind == SP_RULE_MULTICLASS || kind == SP_RULE_MIRA || kind == SP_RULE_AROW);
}

SP_RARE SP_PRIVATE int sp_wide_start(sp_learner *learner)
{
    sp_table wide;
    if (sp_wide_begin(&wide, &learner->table) < 0) {
        sp_wide_drop(&wide);
        return -1;
    }
    sp_table_free(&learner->table);
    learner->table = wide;
    learner->machine = &sp_wide_machine;
    return 0;
}

SP_RARE SP_PRIVATE int sp_wide_reform(sp_learner *learner)
{
    sp_table *before = (sp_table *)sp_malloc(sizeof(sp_table));
    if (before == NULL)
        return -1;
    *before = learner->table;
    if (sp_wide_reformed(&learner->table, before, &learner->index, learner->index.n_slots) < 0) {
        sp_wide_drop(&learner->table);
        learner->table = *before;
        sp_free(before);
        return -1;
    }
    learner->old_form = before;
    learner->machine = &sp_wide_machine;
    return 0;
}

SP_RARE SP_PRIVATE void sp_wide_commit_reform(sp_learner *learner)
{
    sp_table_free(learner->old_form);
    sp_free(learner->old_form);
    learner->old_form = NULL;
}

SP_RARE SP_PRIVATE void sp_wide_revert_reform(sp_learner *learner)
{
    sp_wide_drop(&learner->table);
    learner->table = *learner->old_form;
    learner->machine = &sp_linear_machine;
    learner->version += 1;
    sp_free(learner->old_form);
    learner->old_form = NULL;
}

SP_PRIVATE int sp_wide_reform_now(sp_learner *learner)
{
    if (sp_wide_reform(learner) < 0)
        return -1;
    sp_wide_commit_reform(learner);
    return 0;
}

SP_RARE SP_PRIVATE void sp_wide_close(sp_learner *learner)
{
    sp_rows_free(sp_wide_rows(&learner->table));
    learner->table.arena = NULL;
}

SP_RARE SP_PRIVATE int sp_wide_duplicate(sp_learner *to, const sp_learner *other)
{
    if (!other->table.borrowed) {
        to->table.arena = sp_rows_copy(sp_wide_rows(&other->table));
        return to->table.arena == NULL ? -1 : 0;
    }
    sp_table_free(&to->table);
    return sp_wide_copied(&to->table, &other->table, &other->index, other->index.n_slots);
}

SP_RARE SP_PRIVATE size_t sp_wide_held(const sp_learner *learner)
{
    const sp_sparse_rows *rows = sp_wide_rows(&learner->table);
    return rows == NULL ? 0 : rows->bytes;
}

SP_RARE SP_PRIVATE const char *sp_wide_fault(const sp_learner *learner)
{
    const sp_table *table = &learner->table;
    /* rows in a file are checked when they are read */
    const sp_slot_type n_slots = sp_wide_rows(table)->borrowed ? 0 : learner->index.n_slots;
    for (sp_slot_type slot = 0; slot < n_slots && slot >> SP_CHUNK_BITS < table->n_chunks; slot++) {
        const sp_wide *row = sp_wide_of(table, slot);
        const size_t units = sp_wide_units(&table->layout, row->n);
        if (!row->block && row->n)
            return "a slot has labels and no row";
        if (row->block && (units > sp_row_capacity((int)row->size)
                           || !sp_wide_is_sound(
                               table, sp_wide_fields(sp_wide_rows(table), row), row->n)))
            return "a row has invalid labels, or in no order, or a number that is not finite";
    }
    return NULL;
}

/* --- The path of an event */

typedef struct sp_wide_scratch {
    sp_scratch_head head;
    sp_wide_room *rooms; /* by entry */
    sp_wide_room lead;   /* for a newcomer's intercept, if the step does not change it */
    ptrdiff_t capacity;
} sp_wide_scratch;

static size_t sp_wide_scratch_bytes(const sp_scratch_head *head)
{
    const sp_wide_scratch *w = (const sp_wide_scratch *)(const void *)head;
    return sizeof(sp_wide_scratch) + (size_t)w->capacity * sizeof(sp_wide_room);
}

static void sp_wide_scratch_free(sp_scratch_head *head)
{
    sp_free(((sp_wide_scratch *)(void *)head)->rooms);
}

static const sp_scratch_kind sp_wide_scratch_kind = {
    .size = sizeof(sp_wide_scratch),
    .bytes = sp_wide_scratch_bytes,
    .free = sp_wide_scratch_free,
};

/* Note which entries have no slot yet: what is in the slots that they get does not belong to them.
   NULL if out of memory. */
static sp_wide_room *sp_wide_note_fresh(sp_event *event)
{
    sp_wide_scratch *w = (sp_wide_scratch *)(void *)sp_event_scratch(event, &sp_wide_scratch_kind);
    if (w == NULL)
        return NULL;
    if (event->n > w->capacity || w->rooms == NULL) {
        const ptrdiff_t room = event->n + event->n / 2 + 16;
        if (SP_GROW(w->rooms, room) < 0)
            return NULL;
        w->capacity = room;
    }
    for (ptrdiff_t i = 0; i < event->n; i++)
        w->rooms[i] = (sp_wide_room){.fresh = event->slots[i] == SP_SLOT_NULL};
    return w->rooms;
}

static sp_wide_scratch *sp_wide_scratch_of(const sp_event *event)
{
    return (sp_wide_scratch *)(void *)event->scratch;
}

SP_PRIVATE int sp_wide_score_event(sp_learner *learner, sp_event *event)
{
    const ptrdiff_t n = learner->table.n_outputs;
    if (sp_linear_open(event, n) < 0)
        return -1;
    event->n_scores = n;
    bool good = sp_wide_score(&learner->table, event->slots, event->values, event->n, n,
                              event->scores);
    for (ptrdiff_t k = 0; !good && k < SP_KEPT_KINDS * n; k++)
        event->scores[k] = NAN;
    event->judged = 0;
    return 0;
}

SP_PRIVATE int sp_wide_plan(sp_learner *learner, sp_event *event, const sp_entries *row,
                            bool intercept, ptrdiff_t y, double u)
{
    (void)row; /* with many labels, there is none */
    (void)intercept;
    sp_step *step = &event->step;
    if (sp_step_reserve(step, event->n_scores + 2) < 0)
        return -1;
    sp_step_begin(step);
    sp_rule_step(&learner->rule, learner->answer, event->scores, event->n_scores, y, u,
                 event->values, event->n, false, step);
    if (step->n && learner->table.layout.keep != SP_KEEP_NONE) {
        const sp_entries own = sp_entries_of(event->slots, event->values, event->n);
        sp_wide_second(&learner->table, &own, step->moves, step->n);
        sp_rule_settle(&learner->rule, u, step);
    }
    return 0;
}

/* Make chunks and rows for the step, whose features have slots. -1 if out of memory. */
static int sp_wide_reserve_step(sp_learner *learner, const sp_event *event)
{
    if (event->step.n == 0)
        return 0;
    return sp_wide_make_rooms(&learner->table, event->slots, event->n, learner->index.n_slots,
                              event->step.moves, event->step.n, sp_wide_scratch_of(event)->rooms);
}

/* Whether the intercept of label y begins at a value other than 0. */
static bool sp_wide_leads(const sp_learner *learner, const sp_event *event, ptrdiff_t y)
{
    return y == event->n_scores && learner->rule.newcomer != 0.0;
}

SP_PRIVATE int sp_wide_reserve_event(sp_learner *learner, sp_event *event, ptrdiff_t y, double u)
{
    (void)u; /* the step contains it */
    const sp_slot_type lead = SP_SLOT_INTERCEPT;
    const sp_move move = {.output = y};
    if (sp_wide_note_fresh(event) == NULL || sp_linear_admit(learner, event, y) < 0)
        return -1;
    if (event->step.n == 0 && sp_wide_leads(learner, event, y)) {
        sp_wide_scratch_of(event)->lead.fresh = false;
        return sp_wide_make_rooms(&learner->table, &lead, 1, learner->index.n_slots, &move, 1,
                                  &sp_wide_scratch_of(event)->lead);
    }
    return sp_wide_reserve_step(learner, event);
}

SP_PRIVATE int sp_wide_reserve_moves(sp_learner *learner, sp_event *event)
{
    return sp_wide_note_fresh(event) == NULL ? -1 : sp_wide_reserve_step(learner, event);
}

SP_PRIVATE void sp_wide_move_event(sp_learner *learner, const sp_event *event)
{
    const sp_step *step = &event->step;
    const sp_entries entries = sp_entries_of(event->slots, event->values, event->n);
    sp_wide_move(&learner->table, &entries, step->moves, step->n, step->r,
                 sp_wide_scratch_of(event)->rooms);
}

/* Let a newcomer's intercept begin where the rule says; the step then moves it by y's share. */
static void sp_wide_lead(sp_learner *learner, const sp_event *event, ptrdiff_t y)
{
    sp_table *table = &learner->table;
    sp_wide_scratch *w = sp_wide_scratch_of(event);
    sp_wide_room *room = &w->lead;
    for (ptrdiff_t i = 0; event->step.n && i < event->n; i++) {
        if (event->slots[i] == SP_SLOT_INTERCEPT)
            room = &w->rooms[i];
    }
    sp_wide_use_room(table, SP_SLOT_INTERCEPT, room);
    *sp_wide_insert(table, sp_wide_of(table, SP_SLOT_INTERCEPT), (uint32_t)y)
        = learner->rule.newcomer;
}

SP_PRIVATE void sp_wide_apply(sp_learner *learner, sp_event *event, ptrdiff_t y, double u)
{
    (void)u;
    sp_linear_watch(learner, event, y, 0);
    if (sp_wide_leads(learner, event, y))
        sp_wide_lead(learner, event, y);
    if (event->step.n) {
        learner->n_updates += 1;
        sp_wide_move_event(learner, event);
    }
    sp_wide_tick(&learner->table);
}

/* --- Its weights */

SP_RARE SP_PRIVATE int sp_wide_begin_from(sp_learner *learner, sp_event *event, ptrdiff_t output,
                                          double intercept)
{
    const sp_move move = {.output = output};
    sp_table *table = &learner->table;
    sp_wide_room *rooms = sp_wide_note_fresh(event);
    if (rooms == NULL
        || sp_wide_make_rooms(table, event->slots, event->n, learner->index.n_slots, &move, 1,
                              rooms)
               < 0)
        return -1;
    for (ptrdiff_t i = 0; i < event->n; i++) {
        const sp_entries one = sp_entries_of(event->slots + i, event->values + i, 1);
        sp_wide_move(table, &one, &move, 1, 0.0, rooms + i); /* a move by 0 makes the entry */
        *sp_wide_find(table, event->slots[i], output) = event->slots[i] == SP_SLOT_INTERCEPT
                                                            ? intercept
                                                            : event->values[i];
    }
    return 0;
}
