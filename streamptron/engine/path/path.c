#include "path/path.h"

#include "events/pairs.h"
#include "machine/machine.h"
#include "rows/marks.h"

#include <string.h>

SP_RARE SP_API void sp_learner_free(sp_learner *learner)
{
    sp_index_free(&learner->index);
    sp_table_free(&learner->table);
    sp_machine_free(learner);
}

SP_RARE SP_API int sp_learner_init(sp_learner *learner, sp_rule rule, const sp_vectors *vectors,
                                   bool intercept, sp_slot_type max_features, int hash_bits,
                                   uint64_t hash_seed)
{
    memset(learner, 0, sizeof(sp_learner));
    learner->machine = sp_machine_of_rule(rule.kind);
    learner->rule = rule;
    learner->intercept = intercept;
    learner->answer = sp_rule_answer(&rule);
    sp_two_labels_init(&learner->two, learner->answer == SP_ANSWER_SIGN ? 2 : 0);
    learner->version = 1;
    for (int kind = 0; kind < SP_KEPT_KINDS; kind++)
        sp_calibrator_init(&learner->fits[kind]);
    sp_ceiling_init(&learner->ceiling);
    if (sp_index_init(&learner->index, hash_bits, hash_seed, max_features) < 0)
        return -1;
    /* with a ceiling, slots are used again, and their neighbours are random */
    return learner->machine->init(learner, vectors, max_features != 0);
}

SP_API int sp_learner_score(sp_learner *learner, sp_event *event)
{
    if (learner->pairs != NULL && !event->paired && sp_pairs_write(learner->pairs, event) < 0)
        return -1;
    if (event->scored_version == learner->version) {
        sp_event_open_gaps(event);
        return 0;
    }
    sp_event_close_gaps(event);
    event->n_gaps = 0;
    sp_learner_resolve(learner, event);
    if (learner->machine->score(learner, event) < 0)
        return -1;
    event->scored_version = learner->version;
    return 0;
}

SP_HOT int sp_learner_score_row(sp_learner *learner, sp_event *event, const sp_entries *entries)
{
    if (sp_event_reserve_scores(event, SP_KEPT_KINDS, SP_KEPT_KINDS + 1) < 0)
        return -1;
    sp_table_scores_through(&learner->table, entries, learner->intercept, event->scores);
    event->n_scores = 1;
    event->judged = 0;
    event->scored_version = learner->version;
    return 0;
}

/* The verdict of one kept vector on a scored event. */
static const sp_verdict *sp_learner_verdict(const sp_learner *learner, sp_event *event, int kind)
{
    if (!((event->judged >> kind) & 1))
        learner->machine->verdict(learner, event, kind);
    return &event->verdicts[kind];
}

SP_HOT void sp_learner_judge(const sp_learner *learner, sp_event *event)
{
    for (int kind = 0; kind < SP_KEPT_KINDS; kind++) {
        if (sp_table_keeps(&learner->table, kind))
            sp_learner_verdict(learner, event, kind);
    }
}

SP_API sp_answer sp_learner_answer(const sp_learner *learner, sp_event *event)
{
    sp_answer answer;
    if (learner->serve.mode == SP_SERVE_BEST && learner->serve.rival != SP_KEPT_CURRENT) {
        sp_learner_verdict(learner, event, SP_KEPT_CURRENT);
        sp_learner_verdict(learner, event, learner->serve.rival);
    }
    answer.kind = sp_serve_kind(&learner->serve, event->verdicts);
    answer.verdict = sp_learner_verdict(learner, event, answer.kind);
    return answer;
}

SP_API void sp_learner_decide(const sp_learner *learner, sp_event *event)
{
    sp_machine_decide(learner, event);
}

SP_API int sp_learner_shares(const sp_learner *learner, const sp_event *event, ptrdiff_t output,
                             int kind, double *shares)
{
    return learner->machine->shares(learner, event, output, kind, shares);
}

SP_API ptrdiff_t sp_learner_n_shares(const sp_learner *learner, const sp_event *event)
{
    return sp_machine_n_shares(learner, event);
}

SP_API int sp_learner_share_key(const sp_learner *learner, const sp_event *event, ptrdiff_t i,
                                sp_key *key)
{
    return sp_machine_share_key(learner, event, i, key);
}

SP_API void sp_learner_probabilities(const sp_learner *learner, const sp_event *event,
                                     sp_answer answer, double *p)
{
    learner->machine->probabilities(learner, event, answer, p);
}

SP_API const double *sp_event_probabilities(const sp_learner *learner, sp_event *event)
{
    double *p = event->scores + SP_KEPT_KINDS * event->n_scores;
    learner->machine->probabilities(learner, event, sp_learner_answer(learner, event), p);
    return p;
}

/* A third label is not learned after all: let two labels share an output again. */
static void sp_unsplit(sp_learner *learner, sp_event *event)
{
    if (learner->old_form != NULL) {
        learner->machine->revert_split(learner);
        event->scored_version = 0;
    }
}

SP_PRIVATE int sp_learner_plan(sp_learner *learner, sp_event *event, const sp_entries *row,
                               bool intercept, ptrdiff_t y, double u)
{
    int failed = 0;
    if (learner->answer == SP_ANSWER_TWO && y > 1
        && (u > 0.0 || !learner->machine->skips_weightless)) {
        if (learner->machine->split(learner) < 0)
            return -1;
        failed = sp_learner_score(learner, event);
    }
    if (!failed && sp_learner_several(learner))
        sp_learner_judge(learner, event);
    if (!failed)
        failed = learner->machine->plan(learner, event, row, intercept, y, u);
    if (failed)
        sp_unsplit(learner, event);
    return failed;
}

/* Forget the slots of the event's new features, and do not compare the next event with it. */
static void sp_undo(sp_learner *learner, sp_event *event, const sp_index_point *mark)
{
    sp_index_rewind(&learner->index, mark);
    event->n_found = learner->intercept; /* slots that it was given no longer exist */
    event->n_known = 0;
    event->scored_version = 0;
}

static int sp_commit(sp_learner *learner, sp_event *event, ptrdiff_t y, double u)
{
    sp_table *table = &learner->table;
    ptrdiff_t n_outputs = table->n_outputs; /* before any new label */
    sp_index_point mark = sp_index_savepoint(&learner->index);
    sp_ceiling ceiling = learner->ceiling;
    if (learner->machine->reserve(learner, event, y, u) < 0) {
        table->n_outputs = n_outputs;
        sp_ceiling_rewind(&learner->ceiling, &ceiling, &learner->index, event);
        sp_undo(learner, event, &mark);
        return -1;
    }
    /* from here on nothing can fail */
    if (sp_index_is_limited(&learner->index))
        sp_ceiling_settle(&learner->ceiling, &learner->index, table, event);
    learner->machine->apply(learner, event, y, u);
    if (event->n_candidates && event->step.n)
        event->n_found = 0; /* some of the candidates' features may have got slots only now */
    learner->version += 1;
    return 0;
}

SP_API int sp_learner_commit(sp_learner *learner, sp_event *event, ptrdiff_t y, double u)
{
    sp_slot_type n_slots = learner->index.n_slots;
    int failed = sp_commit(learner, event, y, u);
    if (failed)
        sp_unsplit(learner, event);
    else if (learner->old_form != NULL)
        learner->machine->commit_split(learner);
    sp_machine_finish(learner, event, n_slots);
    return failed;
}

SP_HOT int sp_learner_admit(sp_learner *learner, sp_event *event)
{
    sp_index_point mark = sp_index_savepoint(&learner->index);
    bool ticked = false;
    sp_move move;
    move.output = 0;
    if (sp_learner_insert(learner, event, 0, event->n, &ticked) < 0
        || sp_table_reserve(&learner->table, event->slots, event->n, learner->index.n_slots, &move,
                            1)
               < 0) {
        sp_undo(learner, event, &mark);
        return -1;
    }
    return 0;
}

SP_API int sp_learner_prepare(sp_learner *learner, sp_event *event, ptrdiff_t y, double u)
{
    if (sp_learner_score(learner, event) < 0)
        return -1;
    return sp_learner_plan(learner, event, NULL, false, y, u);
}

SP_API void sp_learner_abandon(sp_learner *learner, sp_event *event)
{
    sp_unsplit(learner, event);
    event->scored_version = 0; /* the step has overwritten the scores */
}

SP_API int sp_learner_learn(sp_learner *learner, sp_event *event, ptrdiff_t y, double u)
{
    if (sp_learner_prepare(learner, event, y, u) < 0)
        return -1;
    return sp_learner_commit(learner, event, y, u);
}

SP_API double sp_learner_weight(const sp_learner *learner, sp_slot_type slot, ptrdiff_t output,
                                int kind)
{
    return sp_machine_weight(learner, slot, output, kind);
}

SP_RARE SP_API size_t sp_learner_bytes(const sp_learner *learner)
{
    const sp_index *index = &learner->index;
    return index->bytes + index->pool.bytes + index->long_keys.bytes + learner->table.bytes
           + learner->table.pool.bytes + sp_machine_bytes(learner);
}

SP_RARE SP_API int sp_learner_copy(sp_learner *to, const sp_learner *other)
{
    *to = *other;
    int failed = sp_index_copy(&to->index, &other->index);
    /* the copy must own all that it has before it can be freed */
    failed += sp_table_copy(&to->table, &other->table);
    return sp_machine_copy(to, other) + failed;
}

SP_RARE SP_API int sp_learner_expect(sp_learner *learner, ptrdiff_t n, int positive)
{
    learner->two.positive = positive;
    learner->two.n = (int)SP_MIN(n, (ptrdiff_t)2);
    return sp_machine_expect(learner, n);
}

SP_RARE SP_API int sp_learner_split(sp_learner *learner, const sp_rule *rule)
{
    double paces[SP_KEPT_KINDS];
    for (int kind = 0; kind < SP_KEPT_KINDS; kind++)
        paces[kind] = sp_calibrator_pace(&learner->fits[kind]);
    if (learner->machine->split(learner) < 0)
        return -1;
    learner->machine->commit_split(learner);
    for (int kind = 0; kind < SP_KEPT_KINDS; kind++)
        learner->fits[kind].GA = paces[kind];
    sp_two_labels_init(&learner->two, 0);
    learner->rule = *rule;
    return 0;
}

SP_API int sp_learner_expect_outputs(sp_learner *learner, ptrdiff_t n)
{
    const ptrdiff_t before = learner->table.n_outputs;
    if (sp_table_add_outputs(&learner->table, n - before) == 0 && sp_machine_ready(learner) == 0)
        return 0;
    learner->table.n_outputs = before;
    return -1;
}

SP_API int sp_learner_begin_from(sp_learner *learner, sp_event *event, ptrdiff_t output,
                                 double intercept)
{
    return learner->machine->begin_from(learner, event, output, intercept);
}

SP_HOT void sp_learner_commit_row(sp_learner *learner, const sp_event *event,
                                  const sp_entries *entries, ptrdiff_t y)
{
    learner->machine->apply_row(learner, event, entries, y);
    learner->version += 1;
}

SP_RARE SP_PRIVATE bool sp_learner_slots_fault(const sp_learner *learner)
{
    return sp_machine_slots_fault(learner, learner->index.n_slots);
}

SP_API int sp_learner_expect_rows(sp_learner *learner)
{
    if (learner->machine->expect_rows != NULL)
        return learner->machine->expect_rows(learner);
    return learner->machine->rows == SP_ROWS_NONE ? SP_MARKS_WRONG : 0;
}

SP_API int sp_learner_ready(sp_learner *learner)
{
    return sp_machine_ready(learner);
}

SP_API sp_model_numbers sp_learner_model_numbers(const sp_learner *learner)
{
    return sp_machine_model_numbers(learner);
}

SP_API void sp_learner_model_numbers_write(const sp_learner *learner, double *numbers)
{
    sp_machine_model_numbers_write(learner, numbers);
}

SP_API const char *sp_learner_model_numbers_read(sp_learner *learner, const double *numbers)
{
    return sp_machine_model_numbers_read(learner, numbers);
}

SP_API const char *sp_learner_fault(const sp_learner *learner)
{
    const char *fault = sp_index_fault(&learner->index);
    if (fault == NULL)
        fault = sp_table_fault(&learner->table, learner->index.n_slots);
    return fault == NULL ? sp_machine_fault(learner) : fault;
}
