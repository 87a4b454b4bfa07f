#include "linear/linear.h"

#include "events/candidates.h"
#include "events/step.h"
#include "memory/heap.h"
#include "table/keep.h"

#include <math.h>

SP_RARE SP_PRIVATE int sp_linear_init(sp_learner *learner, const sp_vectors *vectors,
                                      bool scattered)
{
    learner->rule.newcomer = sp_rule_newcomer(&learner->rule,
                                               vectors->average != SP_AVERAGE_NONE);
    sp_serve_init(&learner->serve, vectors);
    sp_table_init(&learner->table, vectors, sp_rule_keeps(learner->rule.kind),
                  learner->answer == SP_ANSWER_LABELS, scattered);
    return learner->answer == SP_ANSWER_LABELS ? 0 : sp_table_add_outputs(&learner->table, 1);
}

SP_PRIVATE int sp_linear_open(sp_event *event, ptrdiff_t n)
{
    return sp_event_reserve_scores(event, SP_KEPT_KINDS,
                                   (SP_KEPT_KINDS + 1) * SP_MAX(n, (ptrdiff_t)2));
}

SP_PRIVATE int sp_linear_score(sp_learner *learner, sp_event *event)
{
    bool candidates = learner->answer == SP_ANSWER_CANDIDATES;
    ptrdiff_t n = candidates ? event->n_candidates : learner->table.n_outputs;
    if (sp_linear_open(event, n) < 0)
        return -1;
    event->n_scores = n;
    for (ptrdiff_t i = 0, end = candidates ? n : 1; i < end; i++) {
        ptrdiff_t first = sp_event_first(event, i);
        sp_table_scores(&learner->table, event->slots + first, event->values + first,
                        sp_event_last(event, i) - first, n, event->scores + i);
    }
    event->judged = 0;
    return 0;
}

SP_PRIVATE void sp_linear_verdict(const sp_learner *learner, sp_event *event, int kind)
{
    event->verdicts[kind] = sp_verdict_of(sp_learner_decision(event, kind), event->n_scores,
                                          sp_learner_several(learner), &learner->two);
    event->judged |= 1 << kind;
}

SP_PRIVATE void sp_linear_probabilities(const sp_learner *learner, const sp_event *event,
                                        sp_answer answer, double *p)
{
    int kind = answer.kind;
    const double *scores = sp_learner_decision(event, kind);
    if (sp_learner_several(learner))
        sp_calibrate_many(&learner->fits[kind], &learner->serve.scale[kind], answer.verdict->top,
                          scores, event->n_scores, p);
    else if (learner->two.n == 2) {
        double sure = sp_calibrate_two(&learner->fits[kind], &learner->serve.scale[kind], *scores);
        p[learner->two.positive] = sure;
        p[1 - learner->two.positive] = 1.0 - sure;
    } else if (learner->two.n == 1)
        p[0] = 1.0;
}

/* Whether one output's score means another label than y; false before the first label. */
static bool sp_is_wrong(const sp_learner *learner, double score, ptrdiff_t y)
{
    ptrdiff_t answer = sp_two_labels_answer(&learner->two, score);
    return answer >= 0 && answer != y;
}

/* Before the event is learned: note which vectors were right, and how sure they were. For one
   output. */
static void sp_watch_two(sp_learner *learner, const double *scores, ptrdiff_t y, int sparse)
{
    sp_serve *serve = &learner->serve;
    int first = serve->mode == SP_SERVE_BEST ? SP_KEPT_CURRENT : serve->mode;
    int rival = serve->rival;
    bool wrong = sp_is_wrong(learner, scores[SP_KEPT_CURRENT], y);
    bool side = sp_two_labels_side(&learner->two, y);
    bool due = sp_calibrate_due(learner->n_seen, sparse ? sparse : 1);
    bool fresh = sp_calibrate_due(learner->n_seen, 5);
    learner->n_mistakes += wrong;
    if (rival != SP_KEPT_CURRENT) {
        sp_serve_learn(serve,
                       sp_serve_context(serve, fabs(scores[SP_KEPT_CURRENT]), fabs(scores[rival])),
                       wrong, sp_is_wrong(learner, scores[rival], y));
        if (due)
            sp_calibrate_two_learn(&learner->fits[rival], &serve->scale[rival], scores[rival], side,
                                   fresh);
        sp_scale_update(&serve->scale[rival], fabs(scores[rival]));
    }
    if (due)
        sp_calibrate_two_learn(&learner->fits[first], &serve->scale[first], scores[first], side,
                               fresh);
    if (due || !sparse)
        sp_scale_update(&serve->scale[first], fabs(scores[first]));
    if (sp_table_keeps(&learner->table, SP_KEPT_POCKET)
        && sp_serve_challenge(serve, wrong, sp_is_wrong(learner, scores[SP_KEPT_POCKET], y)))
        sp_table_snapshot(&learner->table);
}

/* The same for any number of choices; event.n_scores of them existed when the event was judged. */
static void sp_watch_many(sp_learner *learner, const sp_event *event, ptrdiff_t y, int sparse)
{
    ptrdiff_t n = event->n_scores;
    sp_serve *serve = &learner->serve;
    const sp_verdict *verdict;
    const double *scores;
    bool wrong[SP_KEPT_KINDS];
    bool due = sp_calibrate_due(learner->n_seen, sparse ? sparse : 3);
    for (int kind = 0; kind < SP_KEPT_KINDS; kind++) {
        if (sp_table_keeps(&learner->table, kind)) {
            verdict = &event->verdicts[kind];
            /* before the first label there is no prediction, so no mistake */
            wrong[kind] = verdict->best != y && verdict->best >= 0;
        }
    }
    learner->n_mistakes += wrong[SP_KEPT_CURRENT];
    if (serve->rival != SP_KEPT_CURRENT)
        sp_serve_learn(serve,
                       sp_serve_context(serve, event->verdicts[SP_KEPT_CURRENT].margin,
                                        event->verdicts[serve->rival].margin),
                       wrong[SP_KEPT_CURRENT], wrong[serve->rival]);
    for (int kind = 0; kind < SP_KEPT_KINDS; kind++) {
        if (n >= 2 && sp_serve_can_answer(serve, kind) && (due || !sparse)) {
            verdict = &event->verdicts[kind];
            scores = event->scores + kind * n;
            if (due && y < n)
                sp_calibrate_many_learn(&learner->fits[kind], &serve->scale[kind], verdict->top,
                                        scores, n, y);
            sp_scale_update(&serve->scale[kind], verdict->size);
        }
    }
    if (sp_table_keeps(&learner->table, SP_KEPT_POCKET)
        && sp_serve_challenge(serve, wrong[SP_KEPT_CURRENT], wrong[SP_KEPT_POCKET]))
        sp_table_snapshot(&learner->table);
}

/* Combine the moves of two candidates that move apart: by their difference. -1 if out of memory. */
static int sp_draw_difference(const sp_learner *learner, sp_event *event, double u)
{
    sp_step *step = &event->step;
    sp_move *move = &step->moves[0];
    bool right = move->a <= 0.0; /* which of the two is the right choice's */
    ptrdiff_t n = sp_event_difference(event, step->moves[right].output, step->moves[!right].output);
    if (n < 0)
        return -1;
    step->n = n > 0; /* equal candidates teach nothing */
    step->event = event->n_candidates;
    move->output = 0;
    move->a = fabs(move->a);
    move->second = sp_squares(event->values + event->n, n, false);
    if (n)
        sp_rule_settle(&learner->rule, u, step);
    return 0;
}

SP_RARE SP_PRIVATE int sp_linear_split(sp_learner *learner)
{
    sp_table *before = (sp_table *)sp_malloc(sizeof(sp_table));
    if (before == NULL)
        return -1;
    *before = learner->table;
    if (sp_table_split(&learner->table, before, learner->two.positive) < 0) {
        sp_table_free(&learner->table);
        learner->table = *before;
        sp_free(before);
        return -1;
    }
    learner->old_form = before;
    learner->answer = SP_ANSWER_LABELS;
    learner->version += 1;
    return 0;
}

SP_RARE SP_PRIVATE void sp_linear_commit_split(sp_learner *learner)
{
    for (int kind = 0; kind < SP_KEPT_KINDS; kind++)
        sp_calibrator_split(&learner->fits[kind]);
    sp_table_free(learner->old_form);
    sp_free(learner->old_form);
    learner->old_form = NULL;
}

SP_RARE SP_PRIVATE void sp_linear_revert_split(sp_learner *learner)
{
    sp_table_free(&learner->table);
    learner->table = *learner->old_form;
    learner->answer = SP_ANSWER_TWO;
    learner->version += 1;
    sp_free(learner->old_form);
    learner->old_form = NULL;
}

SP_PRIVATE int sp_linear_plan(sp_learner *learner, sp_event *event, const sp_entries *row,
                              bool intercept, ptrdiff_t y, double u)
{
    sp_entries own;
    sp_step *step = &event->step;
    if (sp_step_reserve(step, event->n_scores + 2) < 0)
        return -1;
    sp_step_begin(step);
    if (!sp_learner_several(learner))
        y = sp_two_labels_side(&learner->two, y);
    if (row == NULL) {
        own = sp_entries_of(event->slots, event->values, event->n);
        row = &own;
    }
    sp_rule_step(&learner->rule, learner->answer, event->scores, event->n_scores, y, u, row->x,
                 row->n, intercept, step);
    if (step->n && learner->answer == SP_ANSWER_CANDIDATES)
        return sp_draw_difference(learner, event, u);
    if (step->n && learner->table.layout.keep != SP_KEEP_NONE) {
        sp_table_second(&learner->table, row, intercept, step->moves, step->n);
        sp_rule_settle(&learner->rule, u, step);
    }
    return 0;
}

SP_PRIVATE void sp_linear_move(sp_learner *learner, const sp_event *event)
{
    const sp_step *step = &event->step;
    sp_entries entries;
    ptrdiff_t first = sp_event_first(event, step->event);
    ptrdiff_t end = sp_event_last(event, step->event);
    ptrdiff_t last = end;
    while (first < end) {
        if (sp_index_is_limited(&learner->index)) {
            last = first;
            while (last < end && event->slots[last] != SP_SLOT_NULL)
                last++;
        }
        entries = sp_entries_of(event->slots + first, event->values + first, last - first);
        sp_table_add(&learner->table, &entries, false, step->moves, step->n, step->r);
        first = last + 1;
    }
}

SP_PRIVATE int sp_linear_admit(sp_learner *learner, sp_event *event, ptrdiff_t y)
{
    const sp_step *step = &event->step;
    bool ticked = false;
    if (learner->answer == SP_ANSWER_LABELS && y == learner->table.n_outputs
        && sp_table_add_outputs(&learner->table, 1) < 0)
        return -1;
    if (step->n == 0)
        return 0;
    return sp_learner_insert(learner, event, sp_event_first(event, step->event),
                             sp_event_last(event, step->event), &ticked);
}

SP_PRIVATE int sp_linear_reserve_moves(sp_learner *learner, sp_event *event)
{
    const sp_step *step = &event->step;
    ptrdiff_t first = sp_event_first(event, step->event);
    if (step->n == 0)
        return 0;
    return sp_table_reserve(&learner->table, event->slots + first,
                            sp_event_last(event, step->event) - first, learner->index.n_slots,
                            step->moves, step->n);
}

/* Room for a newcomer's intercept, if the step does not change it. */
static int sp_linear_reserve_lead(sp_learner *learner, ptrdiff_t y)
{
    sp_slot_type lead = SP_SLOT_INTERCEPT;
    sp_move move = {.output = y};
    return sp_table_reserve(&learner->table, &lead, 1, learner->index.n_slots, &move, 1);
}

SP_HOT int sp_linear_reserve_event(sp_learner *learner, sp_event *event, ptrdiff_t y)
{
    bool newcomer = learner->answer == SP_ANSWER_LABELS && y == learner->table.n_outputs;
    if (sp_linear_admit(learner, event, y) < 0)
        return -1;
    if (event->step.n == 0 && newcomer && learner->rule.newcomer != 0.0)
        return sp_linear_reserve_lead(learner, y);
    return sp_linear_reserve_moves(learner, event);
}

SP_PRIVATE void sp_linear_watch(sp_learner *learner, const sp_event *event, ptrdiff_t y, int sparse)
{
    if (sp_learner_several(learner))
        sp_watch_many(learner, event, y, sparse);
    else
        sp_watch_two(learner, event->scores, y, sparse);
    learner->n_seen += 1;
    if (learner->answer == SP_ANSWER_TWO)
        sp_two_labels_meet(&learner->two, y);
}

SP_HOT void sp_linear_apply(sp_learner *learner, const sp_event *event, const sp_entries *row,
                            ptrdiff_t y)
{
    double newcomer = learner->rule.newcomer;
    sp_linear_watch(learner, event, y, 0);
    if (newcomer != 0.0 && learner->answer == SP_ANSWER_LABELS && y == event->n_scores)
        sp_table_write(&learner->table, SP_SLOT_INTERCEPT, y, newcomer);
    if (event->step.n) {
        learner->n_updates += 1;
        if (row == NULL)
            sp_linear_move(learner, event);
        else
            sp_table_add(&learner->table, row, learner->intercept, event->step.moves, 1,
                         event->step.r);
    }
    sp_table_tick(&learner->table);
}

SP_RARE SP_PRIVATE int sp_linear_begin_from(sp_learner *learner, sp_event *event, ptrdiff_t output,
                                            double intercept)
{
    const sp_move move = {.output = output};
    sp_table *table = &learner->table;
    if (sp_table_reserve(table, event->slots, event->n, learner->index.n_slots, &move, 1) < 0)
        return -1;
    for (ptrdiff_t i = 0; i < event->n; i++)
        sp_table_write(table, event->slots[i], output, event->values[i]);
    if (learner->intercept)
        sp_table_write(table, SP_SLOT_INTERCEPT, output, intercept);
    return 0;
}
