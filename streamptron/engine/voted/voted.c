#include "voted/voted.h"

#include "linear/linear.h"
#include "voted/gather.h"
#include "voted/report.h"
#include "voted/vote.h"
#include "voted/voters.h"

enum {
    SP_VOTES_DUE = 3, /* one event in 2^3 counts for probabilities: votes cost the most */
};

SP_RARE static int sp_voted_init(sp_learner *learner, const sp_vectors *vectors, bool scattered)
{
    static const sp_vectors its = {SP_AVERAGE_NONE, 1.0, false, SP_KEPT_VOTE};
    (void)vectors;
    sp_voters_init(&learner->voters, learner->intercept);
    return sp_linear_init(learner, &its, scattered);
}

/* Count the votes on a scored event, and judge them; with a kernel, also compute the scores. */
static void sp_count_votes(const sp_learner *learner, sp_event *event)
{
    ptrdiff_t first = learner->intercept;
    double *votes = event->scores + SP_KEPT_VOTE * event->n_scores;
    sp_voters_count(&learner->voters, event->slots + first, event->values + first, event->n - first,
                    sp_voted_scratch_of(event), event->n_scores, event->scores, votes);
    event->verdicts[SP_KEPT_VOTE] = sp_verdict_of(votes, event->n_scores,
                                                  sp_learner_several(learner), &learner->two);
    event->judged |= 1 << SP_KEPT_VOTE;
}

static int sp_voted_score(sp_learner *learner, sp_event *event)
{
    if (sp_voted_scratch_reserve(event, &learner->voters) < 0)
        return -1;
    if (learner->voters.degree == 1)
        return sp_linear_score(learner, event);
    if (sp_linear_open(event, learner->table.n_outputs) < 0)
        return -1;
    event->n_scores = learner->table.n_outputs;
    event->judged = 0;
    sp_count_votes(learner, event);
    return 0;
}

static void sp_voted_verdict(const sp_learner *learner, sp_event *event, int kind)
{
    if (kind == SP_KEPT_VOTE)
        sp_count_votes(learner, event);
    else
        sp_linear_verdict(learner, event, kind);
}

static int sp_voted_plan(sp_learner *learner, sp_event *event, const sp_entries *row,
                         bool intercept, ptrdiff_t y, double u)
{
    if (sp_calibrate_due(learner->n_seen, SP_VOTES_DUE) && !((event->judged >> SP_KEPT_VOTE) & 1))
        sp_count_votes(learner, event);
    return sp_linear_plan(learner, event, row, intercept, y, u);
}

static int sp_voted_reserve_event(sp_learner *learner, sp_event *event, ptrdiff_t y, double u)
{
    (void)u; /* the step contains it */
    ptrdiff_t own = learner->intercept; /* votes count it separately */
    if (sp_linear_admit(learner, event, y) < 0)
        return -1;
    if (sp_voters_write(&learner->voters, event->slots + own, event->values + own, event->n - own,
                        &event->step, learner->table.n_outputs)
        < 0)
        return -1;
    if (learner->voters.degree > 1 || sp_linear_reserve_moves(learner, event) == 0)
        return 0;
    sp_mentions_take_back(&learner->voters, event->slots + own, event->n - own);
    return -1;
}

static void sp_voted_apply(sp_learner *learner, sp_event *event, ptrdiff_t y, double u)
{
    sp_linear_watch(learner, event, y, SP_VOTES_DUE);
    sp_voters_apply(&learner->voters, event->slots + learner->intercept,
                    event->n - learner->intercept, &event->step, u);
    if (event->step.n) {
        learner->n_updates += 1;
        if (learner->voters.degree == 1)
            sp_linear_move(learner, event);
    }
    sp_table_tick(&learner->table);
}

/* With a budget: remove features of which nothing is left. `n_slots`: how many there were
   before. */
static void sp_voted_finish(sp_learner *learner, sp_event *event, sp_slot_type n_slots)
{
    if (learner->voters.budget && !learner->index.bits /* hashed, they are bounded */
        && sp_gather_due(n_slots, learner->index.n_slots))
        sp_gather_voters(&learner->index, &learner->table, &learner->voters, event);
}

SP_RARE static int sp_voted_split(sp_learner *learner)
{
    if (sp_linear_split(learner) < 0)
        return -1;
    if (sp_voters_split(&learner->voters, learner->two.positive) == 0)
        return 0;
    sp_linear_revert_split(learner);
    return -1;
}

SP_RARE static void sp_voted_revert_split(sp_learner *learner)
{
    sp_linear_revert_split(learner);
    sp_voters_unsplit(&learner->voters, learner->two.positive);
}

/* --- The machine */

SP_RARE static void sp_voted_free(sp_learner *learner)
{
    sp_voters_free(&learner->voters);
}

SP_RARE static int sp_voted_copy(sp_learner *to, const sp_learner *other)
{
    return sp_voters_copy(&to->voters, &other->voters);
}

SP_RARE static size_t sp_voted_bytes(const sp_learner *learner)
{
    return sp_voters_bytes(&learner->voters);
}

SP_RARE static const char *sp_voted_fault(const sp_learner *learner)
{
    return sp_voters_fault(&learner->voters, learner->table.n_outputs, learner->index.n_slots);
}

const sp_machine sp_voted_machine = {
    .can = SP_HAS_INTERCEPT | SP_CAN_VOTE,
    .init = sp_voted_init,
    .free = sp_voted_free,
    .copy = sp_voted_copy,
    .bytes = sp_voted_bytes,
    .fault = sp_voted_fault,
    .score = sp_voted_score,
    .verdict = sp_voted_verdict,
    .probabilities = sp_linear_probabilities,
    .plan = sp_voted_plan,
    .reserve = sp_voted_reserve_event,
    .apply = sp_voted_apply,
    .finish = sp_voted_finish,
    .split = sp_voted_split,
    .commit_split = sp_linear_commit_split,
    .revert_split = sp_voted_revert_split,
    .shares = sp_voted_shares,
    .model_numbers = sp_voted_model_numbers,
    .model_numbers_write = sp_voted_model_numbers_write,
    .model_numbers_read = sp_voted_model_numbers_read,
};
