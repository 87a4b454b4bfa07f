/* The linear machine, and how it takes the form for many labels. */

#include "linear/linear.h"
#include "linear/report.h"
#include "merge/outputs.h"
#include "wide/arrays.h"
#include "wide/machine.h"
#include "wide/mix.h"

/* With label y, a linear learner may have enough labels for the wide form. */
static int sp_linear_reserve_or_reform(sp_learner *learner, sp_event *event, ptrdiff_t y, double u)
{
    if (y != learner->table.n_outputs || learner->old_form != NULL
        || !sp_wide_is_due(learner, y + 1))
        return sp_linear_reserve_event(learner, event, y);
    if (sp_wide_reform(learner) < 0)
        return -1;
    return sp_wide_reserve_event(learner, event, y, u);
}

static void sp_linear_apply_event(sp_learner *learner, sp_event *event, ptrdiff_t y, double u)
{
    (void)u; /* the step contains it */
    sp_linear_apply(learner, event, NULL, y);
}

static int sp_linear_ready(sp_learner *learner)
{
    const sp_table *table = &learner->table;
    return !table->borrowed && sp_wide_is_due(learner, table->n_outputs)
               ? sp_wide_reform_now(learner)
               : 0;
}

/* A delta has the form of the learner or of its base, whichever is wide. */
static int sp_wide_delta_form(sp_forms *forms, sp_shard *shard, int n, const sp_shard **base)
{
    return sp_wide_one_form(forms, shard, n, base, n ? shard->learner->two.positive : -1, false);
}

enum {
    SP_CAN_ALL = SP_CAN_MERGE | SP_CAN_MAP | SP_CAN_PAIR | SP_CAN_START | SP_CAN_DRAW | SP_CAN_ROWS
                 | SP_HAS_INTERCEPT,
};

const sp_machine sp_linear_machine = {
    .can = SP_CAN_ALL,
    .init = sp_linear_init,
    .ready = sp_linear_ready,
    .score = sp_linear_score,
    .verdict = sp_linear_verdict,
    .probabilities = sp_linear_probabilities,
    .plan = sp_linear_plan,
    .reserve = sp_linear_reserve_or_reform,
    .apply = sp_linear_apply_event,
    .reserve_moves = sp_linear_reserve_moves,
    .move = sp_linear_move,
    .begin_from = sp_linear_begin_from,
    .split = sp_linear_split,
    .commit_split = sp_linear_commit_split,
    .revert_split = sp_linear_revert_split,
    .apply_row = sp_linear_apply,
    .shares = sp_linear_shares,
    .expect_rows = sp_learner_widen,
};

const sp_seldom sp_linear_seldom = {
    .one_form = sp_wide_delta_form,
    .mix_form = sp_wide_mix_form,
    .mix_same = sp_weights_mix_same,
    .mix_writes = sp_mix_writes,
    .mix_slot = sp_weights_mix_slot,
};

const sp_machine sp_wide_machine = {
    .can = SP_CAN_ALL,
    .row_blocks = 1,
    .rows = SP_ROWS_ENTRIES,
    .free = sp_wide_close,
    .copy = sp_wide_duplicate,
    .bytes = sp_wide_held,
    .fault = sp_wide_fault,
    .score = sp_wide_score_event,
    .verdict = sp_linear_verdict,
    .probabilities = sp_linear_probabilities,
    .plan = sp_wide_plan,
    .reserve = sp_wide_reserve_event,
    .apply = sp_wide_apply,
    .reserve_moves = sp_wide_reserve_moves,
    .move = sp_wide_move_event,
    .begin_from = sp_wide_begin_from,
    .commit_split = sp_wide_commit_reform,
    .revert_split = sp_wide_revert_reform,
    .shares = sp_linear_shares,
    .rows_measure = sp_entries_measure,
    .rows_write = sp_entries_write,
    .rows_read = sp_entries_read,
};

const sp_seldom sp_wide_seldom = {
    .same_row = sp_wide_same_row,
    .marks = sp_wide_marks,
    .clear_addresses = sp_wide_clear_addresses,
    .overlay_begin = sp_wide_overlay_begin,
    .overlay_rows = sp_wide_overlay_rows,
    .one_form = sp_wide_delta_form,
    .mix_form = sp_wide_mix_form,
    .mix_reserve = sp_wide_mix_reserve,
    .mix_free = sp_wide_mix_free,
    .mix_same = sp_wide_mix_same,
    .mix_writes = sp_mix_writes,
    .mix_slot = sp_wide_mix_slot,
};
