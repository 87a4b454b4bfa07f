/* AdaptiveClassifier's machine, and how it changes with the third label. */

#include "adaptive/machine.h"
#include "adaptive/mix.h"
#include "adaptive/report.h"
#include "linear/linear.h"
#include "many/delta.h"
#include "many/machine.h"
#include "many/mix.h"
#include "many/report.h"
#include "merge/outputs.h"
#include "shapes/mix.h"

/* --- Two labels */

SP_RARE static int sp_adaptive_expect_labels(sp_learner *learner, ptrdiff_t n)
{
    if (sp_adaptive_expect(&learner->adaptive, n, learner->two.positive) < 0)
        return -1;
    return n > 2 ? sp_many_expect(learner, n) : 0;
}

SP_RARE static void sp_adaptive_close(sp_learner *learner)
{
    sp_adaptive_free(&learner->adaptive);
}

SP_RARE static int sp_adaptive_duplicate(sp_learner *to, const sp_learner *other)
{
    return sp_adaptive_copy(&to->adaptive, &other->adaptive);
}

SP_RARE static size_t sp_adaptive_held(const sp_learner *learner)
{
    return sp_adaptive_bytes(&learner->adaptive);
}

SP_RARE static bool sp_adaptive_slots_fault(const sp_learner *learner, sp_slot_type n_slots)
{
    return sp_adaptive_fault(&learner->table, n_slots);
}

static void sp_adaptive_probabilities_of(const sp_learner *learner, const sp_event *event,
                                         sp_answer answer, double *p)
{
    (void)answer;
    sp_adaptive_probabilities(&learner->adaptive, sp_adaptive_scratch_of(event), p);
}

static int sp_adaptive_plan_event(sp_learner *learner, sp_event *event, const sp_entries *row,
                                  bool intercept, ptrdiff_t y, double u)
{
    (void)row;
    (void)intercept;
    sp_adaptive_plan(&learner->adaptive, sp_adaptive_scratch_of(event), y, u);
    return 0;
}

const sp_machine sp_adaptive_machine = {
    .can = SP_CAN_MERGE | SP_CAN_MAP | SP_CAN_PAIR | SP_CAN_UNDO_SNAPSHOT | SP_CAN_WATCH,
    .weight_limit = SP_U_LIMIT,
    .skips_weightless = true,
    .mix_blocks = 1,
    .init = sp_adaptive_open,
    .expect = sp_adaptive_expect_labels,
    .free = sp_adaptive_close,
    .copy = sp_adaptive_duplicate,
    .bytes = sp_adaptive_held,
    .fault = sp_adaptive_wrong,
    .slots_fault = sp_adaptive_slots_fault,
    .ready = sp_adaptive_ready,
    .score = sp_adaptive_score,
    .verdict = sp_linear_verdict,
    .probabilities = sp_adaptive_probabilities_of,
    .plan = sp_adaptive_plan_event,
    .reserve = sp_adaptive_reserve_event,
    .apply = sp_adaptive_apply,
    .split = sp_many_split,
    .weight = sp_adaptive_read,
    .n_shares = sp_adaptive_n_shares,
    .share_at = sp_adaptive_share_at,
    .share_key = sp_adaptive_share_key,
    .shares = sp_adaptive_shares,
    .model_numbers = sp_adaptive_model_numbers,
    .model_numbers_write = sp_adaptive_model_numbers_write,
    .model_numbers_read = sp_adaptive_model_numbers_read,
};

const sp_seldom sp_adaptive_seldom = {
    .mix_reserve = sp_adaptive_mix_reserve,
    .mix_free = sp_adaptive_mix_free,
    .mix_model = sp_adaptive_mix_model,
    .mix_same = sp_mix_same_rows,
    .mix_writes = sp_adaptive_mix_writes,
    .mix_slot = sp_adaptive_mix_slot,
    .mix_beside = sp_shapes_mix,
    .mix_stay = sp_shapes_stay,
    .mixed = sp_shapes_mixed,
};

/* --- More labels */

static bool sp_many_rows_fault(const sp_learner *learner)
{
    return sp_many_fault(learner) != NULL;
}

static void sp_many_probabilities_of(const sp_learner *learner, const sp_event *event,
                                     sp_answer answer, double *p)
{
    (void)answer;
    sp_many_probabilities(&learner->adaptive, sp_many_scratch_of(event), p);
}

const sp_machine sp_many_machine = {
    .can = SP_CAN_MERGE | SP_CAN_MAP | SP_CAN_PAIR | SP_CAN_UNDO_SNAPSHOT | SP_CAN_WATCH,
    .weight_limit = SP_U_LIMIT,
    .row_blocks = 1u | 1u << SP_BLOCK_E,
    .rows = SP_ROWS_MARKS,
    .mix_blocks = 1,
    .free = sp_many_close,
    .copy = sp_many_duplicate,
    .bytes = sp_many_held,
    .fault = sp_many_fault,
    .slots_fault = sp_many_slots_fault,
    .ready = sp_adaptive_ready,
    .score = sp_many_score_event,
    .verdict = sp_linear_verdict,
    .decide = sp_many_decide,
    .probabilities = sp_many_probabilities_of,
    .plan = sp_many_plan,
    .reserve = sp_many_reserve_event,
    .apply = sp_many_apply,
    .commit_split = sp_many_commit_split,
    .revert_split = sp_many_revert_split,
    .weight = sp_many_read,
    .n_shares = sp_adaptive_n_shares,
    .share_at = sp_adaptive_share_at,
    .share_key = sp_adaptive_share_key,
    .shares = sp_many_shares,
    .model_numbers = sp_adaptive_model_numbers,
    .model_numbers_write = sp_adaptive_model_numbers_write,
    .model_numbers_read = sp_many_model_numbers_read,
    .rows_fault = sp_many_rows_fault,
};

const sp_seldom sp_many_seldom = {
    .same_row = sp_many_same_row,
    .overlay_begin = sp_many_overlay_begin,
    .overlay_rows = sp_many_overlay_rows,
    .mix_reserve = sp_many_mix_reserve,
    .mix_free = sp_many_mix_free,
    .mix_model = sp_many_mix_model,
    .mix_same = sp_many_mix_same,
    .mix_writes = sp_adaptive_mix_writes,
    .mix_slot = sp_many_mix_slot,
    .mix_beside = sp_shapes_mix,
    .mix_stay = sp_shapes_stay,
    .mixed = sp_shapes_mixed,
};
