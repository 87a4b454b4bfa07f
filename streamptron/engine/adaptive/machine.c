#include "adaptive/machine.h"

static ptrdiff_t sp_adaptive_blocks_for(const sp_table *table, ptrdiff_t n_outputs)
{
    (void)table; /* all are alike */
    return sp_blocks_for(n_outputs);
}

static double sp_adaptive_size(const sp_table *table, sp_slot_type slot)
{
    sp_blocks blocks = sp_table_blocks(table);
    return sp_size(&blocks, slot, table->n_outputs);
}

/* The slots of AdaptiveClassifier: a head, and four places a block. */
static const sp_slot_kind sp_adaptive_slots = {
    .weights = false,
    .blocks_for = sp_adaptive_blocks_for,
    .size = sp_adaptive_size,
};

SP_PRIVATE int sp_adaptive_open(sp_learner *learner, int average, bool pocket, int serve,
                                bool scattered)
{
    const sp_rule *rule = &learner->rule;
    sp_table *table = &learner->table;
    sp_serve_init(&learner->serve, serve, average, pocket);
    if (sp_adaptive_init(&learner->adaptive, rule->eta, rule->forget, rule->watches,
                         rule->naive_bayes, rule->intercept)
        < 0)
        return -1;
    learner->adaptive.columns.hashed = learner->index.bits != 0;
    sp_table_init(table, SP_AVERAGE_NONE, 1.0, false, SP_KEEP_NONE, false, scattered);
    table->kind = &sp_adaptive_slots;
    table->width = SP_HEAD_WIDTH;
    return sp_table_add_outputs(table, 1);
}

SP_PRIVATE int sp_adaptive_ready(sp_learner *learner)
{
    return sp_columns_list(&learner->adaptive.columns, &learner->table, &learner->index);
}

SP_PRIVATE int sp_adaptive_score(sp_learner *learner, sp_event *event)
{
    const sp_adaptive *adaptive = &learner->adaptive;
    ptrdiff_t n = learner->table.n_outputs;
    ptrdiff_t columns = adaptive->columns.n;
    bool bends = learner->rule.bends && columns;
    if (bends)
        columns += SP_BENDS_OF_COLUMN * columns;
    if (sp_event_reserve_scores(event, SP_KEPT_KINDS, (SP_KEPT_KINDS + 1) * SP_MAX(n, (ptrdiff_t)2))
            < 0
        || sp_weighed_reserve(event, event->n, columns, n + 2) < 0)
        return -1;
    sp_weighed *w = sp_weighed_of(event);
    event->n_scores = n;
    sp_adaptive_weigh(adaptive, &learner->table, event, w);
    if (bends && sp_adaptive_bend(adaptive, &learner->table, &learner->index, event, w) < 0)
        return -1;
    sp_adaptive_answer(adaptive, &learner->table, event, w);
    sp_adaptive_decide(adaptive, w, event->scores);
    w->top = sp_adaptive_best(adaptive, w);
    event->verdicts[SP_KEPT_CURRENT].best = w->top;
    event->judged = 1 << SP_KEPT_CURRENT;
    return 0;
}

/* Chunks for all that the step for label y writes: those of columns are made where they are. */
static int sp_adaptive_reserve_chunks(sp_learner *learner, const sp_event *event, ptrdiff_t y)
{
    sp_table *table = &learner->table;
    sp_weighed *w = sp_weighed_of(event);
    const uint32_t of_columns[2] = {(uint32_t)sp_e_block(y), SP_BLOCK_COLUMNS};
    const sp_slot_type *slots = sp_weighed_slots(w, event);
    sp_wanted wanted[3] = {{slots, w->n, w->blocks, sp_adaptive_blocks(table, w, y)}};
    int n = 1;
    if (w->n > w->n_plain)
        wanted[n++] = (sp_wanted){slots + w->n_plain, w->n_unbent - w->n_plain, of_columns, 1};
    if (w->n_begun)
        wanted[n++] = (sp_wanted){w->begun + w->begun_room, w->n_begun, of_columns, 2};
    return sp_table_reserve_all(table, learner->index.n_slots, wanted, n);
}

/* New features have got their slots. */
static void sp_weighed_refresh(sp_weighed *w, const sp_event *event)
{
    for (ptrdiff_t i = 0; w->n > w->n_plain && i < w->n_plain; i++)
        w->slots[i] = event->slots[w->entries[i]];
    for (ptrdiff_t i = w->n_unbent; i < w->n; i++)
        w->slots[i] = event->slots[event->n - (w->n - i)];
}

/* Whether there are entries without a slot. No branch, so that several are looked at at once. */
static bool sp_has_new(const sp_event *event)
{
    bool new = false;
    for (ptrdiff_t i = 0; i < event->n; i++)
        new |= event->slots[i] == SP_SLOT_NULL;
    return new;
}

SP_PRIVATE int sp_adaptive_reserve(sp_learner *learner, sp_event *event, ptrdiff_t y, double u)
{
    sp_adaptive *adaptive = &learner->adaptive;
    sp_table *table = &learner->table;
    sp_weighed *w = sp_weighed_of(event);
    bool ticked = false;
    if (u == 0.0)
        return 0;
    if (sp_adaptive_begin(adaptive, table, event, w) < 0)
        return -1;
    if ((sp_index_is_limited(&learner->index) || sp_has_new(event))
        && sp_learner_insert(learner, event, 0, event->n, &ticked) < 0)
        return -1;
    sp_weighed_refresh(w, event);
    if (sp_adaptive_room(adaptive, y + 1) < 0
        || sp_columns_room(&adaptive->columns, adaptive->columns.n + w->n_begun) < 0)
        return -1;
    if (y == adaptive->n_labels && y >= 2 && sp_table_add_outputs(table, y == 2 ? 2 : 1) < 0)
        return -1;
    return sp_adaptive_reserve_chunks(learner, event, y);
}

SP_PRIVATE void sp_adaptive_take(sp_learner *learner, sp_event *event, ptrdiff_t y, double u)
{
    ptrdiff_t best = event->verdicts[SP_KEPT_CURRENT].best;
    learner->n_seen += 1;
    learner->n_mistakes += best >= 0 && best != y;
    if (u == 0.0)
        return;
    learner->n_updates += sp_weighed_of(event)->n_strides > 0;
    sp_adaptive_learn(&learner->adaptive, &learner->table, event, sp_weighed_of(event), y, u);
    sp_columns_settle(&learner->adaptive.columns, &learner->index);
    if (learner->adaptive.n_labels <= 2)
        sp_two_labels_meet(&learner->two, y);
    else
        learner->answer = SP_ANSWER_LABELS;
}

SP_PRIVATE double sp_adaptive_read(const sp_learner *learner, sp_slot_type slot, ptrdiff_t output)
{
    if (slot == SP_SLOT_INTERCEPT)
        return learner->adaptive.w0[output];
    return sp_adaptive_weight(&learner->adaptive, &learner->table, slot, output);
}
