#include "adaptive/machine.h"

#include "shapes/arrays.h"

static ptrdiff_t sp_adaptive_blocks_for(const sp_table *table, ptrdiff_t n_outputs)
{
    (void)table; /* all tables are alike */
    (void)n_outputs;
    return SP_HEAD_BLOCKS;
}

SP_RARE static double sp_adaptive_size(const sp_table *table, sp_slot_type slot)
{
    const sp_head *head = sp_head_of(table->blocks->chunks, slot);
    return sp_size(head, fabs((double)head->w));
}

/* The slots of an AdaptiveClassifier with up to two labels. */
static const sp_slot_kind sp_adaptive_slots = {
    .blocks_for = sp_adaptive_blocks_for,
    .size = sp_adaptive_size,
};

SP_RARE SP_HOT int sp_adaptive_open(sp_learner *learner, const sp_vectors *vectors, bool scattered)
{
    (void)vectors; /* there is one vector */
    const sp_rule *rule = &learner->rule;
    sp_table *table = &learner->table;
    sp_serve_init(&learner->serve, &sp_current_alone);
    if (sp_adaptive_init(&learner->adaptive, rule->eta, rule->forget, rule->watches,
                         rule->naive_bayes, rule->intercept, rule->shape)
        < 0)
        return -1;
    learner->adaptive.columns.hashed = learner->index.bits != 0;
    sp_table_init(table, &sp_current_alone, SP_KEEP_NONE, false, scattered);
    table->kind = &sp_adaptive_slots;
    table->width = SP_HEAD_WIDTH;
    return sp_table_add_outputs(table, 1);
}

SP_RARE SP_PRIVATE int sp_adaptive_ready(sp_learner *learner)
{
    sp_adaptive *a = &learner->adaptive;
    if (sp_columns_list(&a->columns, &learner->table, &learner->index) < 0
        || sp_shapes_room(&a->shapes, a->columns.n) < 0)
        return -1;
    sp_adaptive_list_shapes(a, &learner->index);
    sp_shapes_seat(&a->shapes);
    return 0;
}

SP_RARE SP_PRIVATE const char *sp_adaptive_wrong(const sp_learner *learner)
{
    const sp_adaptive *a = &learner->adaptive;
    const char *wrong = sp_columns_fault(&a->columns, &learner->table, &learner->index);
    return wrong == NULL ? sp_shapes_fault(&a->shapes, sp_adaptive_places(a)) : wrong;
}

static const sp_scratch_kind sp_adaptive_scratch_kind = {
    .size = sizeof(sp_adaptive_scratch),
    .bytes = sp_adaptive_scratch_bytes,
    .free = sp_adaptive_scratch_free,
};

SP_PRIVATE int sp_adaptive_scratch_read(sp_learner *learner, sp_event *event,
                                        const sp_scratch_kind *kind, ptrdiff_t outputs)
{
    const sp_adaptive *adaptive = &learner->adaptive;
    sp_adaptive_scratch *w = (sp_adaptive_scratch *)(void *)sp_event_scratch(event, kind);
    ptrdiff_t columns = adaptive->columns.n;
    columns += columns; /* for each, there may be a gap */
    if (w == NULL || sp_adaptive_scratch_reserve(w, event->n, columns, outputs) < 0)
        return -1;
    sp_adaptive_weigh(adaptive, &learner->table, event, w);
    if (sp_adaptive_shape(adaptive, w) < 0)
        return -1;
    if (!w->gaps)
        return 0;
    return sp_adaptive_open_gaps(adaptive, &learner->table, &learner->index, event, w);
}

SP_HOT int sp_adaptive_score(sp_learner *learner, sp_event *event)
{
    const sp_adaptive *adaptive = &learner->adaptive;
    if (sp_event_reserve_scores(event, SP_KEPT_KINDS, (SP_KEPT_KINDS + 1) * 2) < 0
        || sp_adaptive_scratch_read(learner, event, &sp_adaptive_scratch_kind, 1) < 0)
        return -1;
    sp_adaptive_scratch *w = sp_adaptive_scratch_of(event);
    event->n_scores = 1;
    sp_adaptive_answer(adaptive, w);
    event->scores[0] = sp_adaptive_rank(adaptive, w);
    w->top = sp_adaptive_best(adaptive, w, event->scores[0], learner->n_seen);
    event->verdicts[SP_KEPT_CURRENT].best = w->top;
    event->judged = 1 << SP_KEPT_CURRENT;
    return 0;
}

SP_PRIVATE int sp_adaptive_scratch_chunks(sp_learner *learner, const sp_event *event)
{
    const uint32_t of_heads = 0;
    const uint32_t of_columns[2] = {SP_BLOCK_COLUMNS, SP_BLOCK_E};
    const sp_adaptive_scratch *w = sp_adaptive_scratch_of(event);
    const sp_slot_type *slots = sp_adaptive_scratch_slots(w, event);
    const sp_slot_type n_slots = learner->index.n_slots;
    sp_wanted wanted[3] = {{slots, w->n, &of_heads, 1}};
    int n = 1;
    if (w->n == w->n_plain && !w->n_begun && sp_table_is_made(&learner->table, n_slots))
        return 0;
    if (w->n > w->n_plain)
        wanted[n++] = (sp_wanted){slots + w->n_plain, w->n_shown - w->n_plain, of_columns, 2};
    if (w->n_begun)
        wanted[n++] = (sp_wanted){w->begun + w->begun_room, w->n_begun, of_columns, 2};
    return sp_table_reserve_all(&learner->table, n_slots, wanted, n);
}

/* Read the slots again, as new features have got theirs. */
static void sp_adaptive_scratch_refresh(sp_adaptive_scratch *w, const sp_event *event)
{
    for (ptrdiff_t i = 0; w->n > w->n_plain && i < w->n_plain; i++)
        w->slots[i] = event->slots[w->entries[i]];
    for (ptrdiff_t i = w->n_shown; i < w->n; i++)
        w->slots[i] = event->slots[event->n - (w->n - i)];
}

SP_PRIVATE int sp_adaptive_scratch_reserve_entries(sp_learner *learner, sp_event *event,
                                                   ptrdiff_t y)
{
    sp_adaptive *adaptive = &learner->adaptive;
    sp_adaptive_scratch *w = sp_adaptive_scratch_of(event);
    bool ticked = false;
    if (sp_adaptive_begin(adaptive, &learner->table, event, w) < 0)
        return -1;
    if (sp_learner_insert(learner, event, 0, event->n, &ticked) < 0)
        return -1;
    sp_adaptive_scratch_refresh(w, event);
    if (y >= adaptive->room && sp_adaptive_room(adaptive, y + 1) < 0)
        return -1;
    const ptrdiff_t columns = adaptive->columns.n + w->n_begun;
    const sp_shaping of = sp_adaptive_shaping(adaptive);
    if (adaptive->shapes.n_layers && columns
        && (sp_shapes_room(&adaptive->shapes, columns) < 0
            || sp_shapes_reserve(&adaptive->shapes, &of, &w->shaped, y) < 0))
        return -1;
    return w->n_begun ? sp_columns_room(&adaptive->columns, columns) : 0;
}

SP_HOT int sp_adaptive_reserve_event(sp_learner *learner, sp_event *event, ptrdiff_t y, double u)
{
    if (u == 0.0)
        return 0;
    return sp_adaptive_scratch_reserve_entries(learner, event,
                                               y) < 0 ? -1 : sp_adaptive_scratch_chunks(learner,
                                                                                        event);
}

SP_HOT void sp_adaptive_apply(sp_learner *learner, sp_event *event, ptrdiff_t y, double u)
{
    ptrdiff_t best = event->verdicts[SP_KEPT_CURRENT].best;
    learner->n_seen += 1;
    learner->n_mistakes += best >= 0 && best != y;
    if (u == 0.0)
        return;
    sp_adaptive_scratch *w = sp_adaptive_scratch_of(event);
    learner->n_updates += w->n_strides > 0 || sp_shaped_steps(&w->shaped);
    sp_alarms_learn(&learner->adaptive.alarms, learner->adaptive.n_labels, best, y);
    sp_adaptive_learn(&learner->adaptive, &learner->table, event, w, y, u);
    sp_adaptive_settle(&learner->adaptive, &learner->index, &w->shaped,
                       sp_index_ceiling(&learner->index));
    sp_two_labels_meet(&learner->two, y);
}

SP_RARE SP_HOT double sp_adaptive_read(const sp_learner *learner, sp_slot_type slot,
                                       ptrdiff_t output, int kind)
{
    (void)output; /* there is one output, */
    (void)kind;   /* and one vector */
    if (slot == SP_SLOT_INTERCEPT)
        return *learner->adaptive.w0;
    return sp_adaptive_weight(&learner->table, slot);
}
