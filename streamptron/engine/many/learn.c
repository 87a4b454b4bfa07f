#include "many/learn.h"

#include "features/loops.h"
#include "memory/heap.h"

#include <math.h>
#include <string.h>

#define SP_MANY_AT_ONCE 512 /* labels that tau goes through per event, on average */

/* --- The strides */

/* The sum of all e^score, shifted. Labels that were not met count by their intercepts alone. Those
   of the labels met are in p, still to be divided by the sum. */
static void sp_many_total(const sp_learner *learner, sp_many_scratch *w, bool fresh)
{
    const sp_adaptive *a = &learner->adaptive;
    double best = sp_many_line_of(a, w, w->line_top);
    if (fresh && best < w->begins)
        best = w->begins;
    w->rest = sp_tree_sum(&learner->adaptive.many) - sp_met_sum(w->leaf, w->n_met);
    w->rest = w->rest > 0.0 ? w->rest : 0.0;
    w->shift = sp_leaf(-best);
    sp_exps(w->score, 1.0, best, w->p, w->n_met);
    w->total = w->rest * w->shift + sp_met_sum(w->p, w->n_met);
    if (fresh)
        w->total += sp_one_exp(w->begins - best);
    w->total = w->total > 1.0 ? w->total : 1.0; /* the best label's; it may have been subtracted */
}

/* How surprising the event with label y was, whose probability is p. The labels that were not met
   are many, each with a negligible probability. */
static sp_surprise sp_many_surprise(sp_many_scratch *w, double p)
{
    const double others = w->rest * w->shift / w->total;
    sp_surprise of = {1.0 - p, 0.0, 0.0};
    for (ptrdiff_t i = 0; i < w->n_met; i++) {
        const double missed = 1.0 - w->p[i] / w->total;
        w->E[i] = w->p[i] / w->total * missed;
        w->leaf[i] = missed;
    }
    of.expected = sp_met_sum(w->E, w->n_met) + others;
    for (ptrdiff_t i = 0; i < w->n_met; i++)
        w->E[i] *= w->leaf[i];
    of.variance = sp_met_sum(w->E, w->n_met) + others;
    of.variance = SP_MAX(0.0, of.variance - of.expected * of.expected);
    return of;
}

/* Whether tau learns from this event, going through all labels: with many labels, only from few
   events. */
static bool sp_many_sharpens(const sp_adaptive *a)
{
    const ptrdiff_t one_in = (a->n_labels + SP_MANY_AT_ONCE - 1) / SP_MANY_AT_ONCE;
    return one_in == 1 || fmod(floor(a->T), (double)one_in) == 0.0;
}

/* u d log P(y) / d tau: the labels in U first, then all others. */
static double sp_many_sharper(const sp_adaptive *a, sp_many_scratch *w, ptrdiff_t y, double u)
{
    const double scale = sp_tempering(a) * a->tau;
    const double best = sp_many_score_of(a, w, w->weighed.top) * scale;
    double *score = w->score;
    ptrdiff_t n = w->n_met;
    if (n < a->n_labels) { /* then for all labels */
        score = w->p;
        memcpy(score, w->score, (size_t)n * sizeof(double));
        for (ptrdiff_t k = 0; k < a->n_labels; k++) {
            score[n] = a->w0[k];
            n += !sp_many_met(w, k);
        }
    }
    sp_exps(score, scale, best, w->E, n);
    const double total = sp_met_sum(w->E, n);
    const double expected = sp_met_dot(w->E, score, n) / total;
    return u * ((sp_many_score_of(a, w, y) - expected) * sp_tempering(a));
}

/* The most that sum |X| counts in the stride of the event's label: little while the label is new,
   as all features of its events are then new, too. */
static double sp_many_reach_most(const sp_adaptive *a, ptrdiff_t y)
{
    const double D = y < a->n_labels ? a->D[y] : 0.0;
    return SP_MIN(SP_REACH_MOST, 3.0 * (1.0 + 2.0 * D));
}

/* Add a stride, and entries if it is that of the event's label (g is above 0), or if the error was
   large. */
static void sp_many_aim_at(const sp_adaptive *a, sp_many_scratch *w, ptrdiff_t k, double g,
                           double u)
{
    const double least = (double)a->n_labels / SP_MANY_EACH;
    sp_stride *stride = &w->weighed.strides[w->weighed.n_strides];
    ptrdiff_t n = w->weighed.n_strides;
    sp_adaptive_scratch_aim(a, &w->weighed, k, g, u);
    if (w->weighed.n_strides == n)
        return;
    stride->always = stride->f;
    if (g > 0.0)
        stride->f = sp_eta(a, &w->weighed, sp_many_reach_most(a, k)) * u * g;
    if (g > 0.0 || stride->q > SP_MIN(least, SP_MANY_MAKES)) {
        w->adds[w->n_adds++] = (uint32_t)k;
        if (w->few)
            w->making |= (uint64_t)1 << k;
    }
}

/* The strides of labels that were met: those with enough probability for a step, and y. */
static void sp_many_aim_at_met(const sp_adaptive *a, sp_many_scratch *w, ptrdiff_t y, double u)
{
    /* not above the least e^score that makes a step, in spite of rounding */
    const double least = SP_THR * w->total / u * (1.0 - 1e-9);
    const ptrdiff_t mine = y < a->n_labels && sp_many_met(w, y) ? (ptrdiff_t)sp_many_at(w, y) : -1;
    for (ptrdiff_t i = -1; i < w->n_met;) {
        ptrdiff_t next = sp_met_from(w->p, i + 1, w->n_met, least);
        if (i < mine)
            next = SP_MIN(next, mine);
        if (next < w->n_met)
            sp_many_aim_at(a, w, w->met[next], (next == mine ? 1.0 : 0.0) - w->p[next] / w->total,
                           u);
        i = next;
    }
}

/* The strides of labels that were not met: those with enough probability for a step, and y. */
static void sp_many_aim_at_others(const sp_learner *learner, sp_many_scratch *w, ptrdiff_t y,
                                  double u)
{
    const sp_adaptive *a = &learner->adaptive;
    const sp_many *many = &a->many;
    if (w->n_met == a->n_labels)
        return;
    /* not above the least w0 that makes a step, in spite of rounding */
    double least = sp_one_log(SP_THR * w->total / (u * w->shift)) - 1e-9;
    if (least < 1.0 - SP_LEAF_MOST)
        least = -INFINITY;
    for (ptrdiff_t k = sp_tree_from(many, 0, least); k >= 0 && k < a->n_labels;
         k = sp_tree_from(many, k + 1, least)) {
        if (k != y && !sp_many_met(w, k))
            sp_many_aim_at(a, w, k, 0.0 - sp_tree_leaf(many, k) * w->shift / w->total, u);
    }
    if (y < a->n_labels && !sp_many_met(w, y))
        sp_many_aim_at(a, w, y, 1.0 - sp_tree_leaf(many, y) * w->shift / w->total, u);
}

/* The same for curves and surfaces. */
static void sp_many_aim_shapes(const sp_adaptive *a, sp_many_scratch *w, ptrdiff_t y, double u)
{
    sp_shaped *shaped = &w->weighed.shaped;
    const sp_shaping of = sp_adaptive_shaping(a);
    for (int i = 0; i < SP_LAYERS; i++)
        shaped->of[i].sharper = 0.0;
    if (y < a->n_labels && sp_many_sharpens(a))
        w->weighed.sharper = sp_shapes_sharper(&a->shapes, &of, shaped, y, u);
    sp_shapes_aim(&a->shapes, &of, shaped, y, w->begins, u);
}

SP_PRIVATE void sp_many_aim(const sp_learner *learner, sp_many_scratch *w, ptrdiff_t y, double u)
{
    const sp_adaptive *a = &learner->adaptive;
    const bool fresh = y == a->n_labels;
    double p;
    w->weighed.n_strides = 0;
    w->n_adds = 0;
    w->making = 0;
    w->weighed.sharper = 0.0;
    if (u == 0.0)
        return;
    w->begins = sp_many_begins(a);
    if (w->weighed.shaped.has)
        sp_many_aim_shapes(a, w, y, u);
    else if (!fresh && sp_many_sharpens(a))
        w->weighed.sharper = sp_many_sharper(a, w, y, u);
    sp_many_total(learner, w, fresh);
    sp_many_aim_at_met(a, w, y, u);
    sp_many_aim_at_others(learner, w, y, u);
    if (fresh) {
        double best = sp_many_line_of(a, w, w->line_top);
        p = sp_one_exp(w->begins - SP_MAX(best, w->begins)) / w->total;
        sp_many_aim_at(a, w, y, 1.0 - p, u);
    } else if (a->watches) {
        p = sp_many_met(w, y) ? w->p[sp_many_at(w, y)] / w->total
                              : sp_tree_leaf(&learner->adaptive.many, y) * w->shift / w->total;
        w->weighed.surprise = sp_many_surprise(w, p);
    }
}

/* --- Blocks for rows */

SP_PRIVATE void sp_many_release(sp_sparse_rows *rows, sp_many_scratch *w)
{
    for (ptrdiff_t i = 0; i < w->n_claims; i++) {
        if (w->claims[i].block)
            sp_rows_give(rows, w->claims[i].block, w->claims[i].size);
    }
    w->n_claims = 0;
}

/* The most entries that a row will have; `labels`: those that it has, if they are known. */
static uint32_t sp_many_needed(const sp_sparse_rows *rows, const sp_many_scratch *w,
                               const sp_sparse *row,
                               ptrdiff_t y, bool steps, const uint64_t *labels)
{
    uint32_t n = row->n;
    if (labels != NULL)
        return n + sp_ones((w->making | (uint64_t)1 << y) & ~*labels);
    n += !sp_row_has(rows, row, (uint32_t)y);
    for (ptrdiff_t j = 0; steps && j < w->n_adds; j++)
        n += (ptrdiff_t)w->adds[j] != y && !sp_row_has(rows, row, w->adds[j]);
    return n;
}

/* Take a block for a row that will have n entries, if it needs one. `labels`: if the row will be
   dense, for how many; otherwise 0. -1 if out of memory. */
static int sp_many_claim(sp_sparse_rows *rows, sp_many_scratch *w, ptrdiff_t entry, bool e,
                         const sp_sparse *row, uint32_t n, ptrdiff_t labels)
{
    if (row->block && row->dense == (labels > 0)
        && (labels ? labels <= sp_dense_lanes[row->size] : n <= sp_row_capacity((int)row->size)))
        return 0;
    sp_claim claim = {.entry = (uint32_t)entry, .e = e, .dense = labels > 0};
    claim.size = labels ? sp_dense_size_for(labels) : sp_row_size_for(n);
    claim.block = sp_rows_take(rows, claim.size);
    if (claim.block == 0)
        return -1;
    w->claims[w->n_claims++] = claim;
    return 0;
}

SP_PRIVATE int sp_many_reserve(sp_learner *learner, const sp_event *event, sp_many_scratch *w,
                               ptrdiff_t y)
{
    const sp_sparse none = {0};
    const sp_table *table = &learner->table;
    const sp_adaptive_scratch *weighed = &w->weighed;
    const sp_slot_type *slots = sp_adaptive_scratch_slots(weighed, event);
    sp_sparse_rows *rows = sp_many_rows(table);
    const ptrdiff_t n_labels = SP_MAX(learner->adaptive.n_labels, y + 1);
    int failed = 0;
    w->n_claims = 0;
    for (ptrdiff_t i = 0; i < weighed->n && !failed; i++) {
        const sp_row_seen *seen = &w->rows[i];
        const sp_sparse *row = &none; /* used for a slot that changes hands, too */
        if (slots[i] == SP_SLOT_NULL)
            continue;
        if (w->few && i < weighed->n_plain && !seen->thick
            && !((w->making | (uint64_t)1 << y) & ~seen->labels))
            continue;
        if (!seen->fresh)
            row = &sp_head_of(table->blocks->chunks, slots[i])->row;
        const uint64_t *labels = w->few ? &seen->labels : NULL;
        const uint32_t n = sp_many_needed(rows, w, row, y, true, labels);
        const bool dense = w->few && (row->dense || n >= w->thick);
        failed = sp_many_claim(rows, w, i, false, row, n, dense ? n_labels : 0);
        if (!failed && weighed->n_plain <= i && i < weighed->n_shown
            && weighed->sums.v[i] != 0.0) {
            row = &sp_many_e(table, slots[i])->row;
            failed = sp_many_claim(rows, w, i, true, row,
                                   sp_many_needed(rows, w, row, y, false, NULL), 0);
        }
    }
    if (failed)
        sp_many_release(rows, w);
    return failed;
}

/* Move rows to the blocks that were taken for them; columns that the ceiling has evicted need
   none. */
static void sp_many_move(const sp_table *table, const sp_slot_type *slots, sp_many_scratch *w)
{
    sp_sparse_rows *rows = sp_many_rows(table);
    for (ptrdiff_t i = 0; i < w->n_claims; i++) {
        sp_claim *claim = &w->claims[i];
        const sp_slot_type slot = slots[claim->entry];
        if (slot == SP_SLOT_NULL)
            continue;
        (claim->dense ? sp_row_make_dense : sp_row_move)(
            rows, claim->e ? &sp_many_e(table, slot)->row
                           : &sp_head_of(table->blocks->chunks, slot)->row,
            claim->block, claim->size);
        claim->block = 0;
    }
    sp_many_release(rows, w);
}

/* --- The step */

/* m, how far labels usually are from the best one: the mean of Z - z over all K, and a K-th of the
   best one's lead. */
static void sp_many_learn_usual_odds(sp_adaptive *a, const sp_many_scratch *w)
{
    if (w->n_met == 0)
        return;
    const double lead = w->largest - sp_met_second(w->z, w->n_met, a->n_labels - w->n_met);
    const double usual
        = w->largest + (lead - sp_met_sum(w->z, w->n_met)) / (double)a->n_labels;
    a->nm = SP_MIN(a->nm + 1.0, SP_ODDS_WINDOW);
    a->m += (SP_MAX(0.0, usual) - a->m) / a->nm;
}

/* b, a label's usual score, without naive Bayes, in an event of another label. */
static void sp_many_learn_usual_score(sp_adaptive *a, const sp_many_scratch *w, ptrdiff_t y)
{
    double others = sp_met_sum(w->plain, w->n_met);
    ptrdiff_t n = w->n_met;
    if (y < a->n_labels && sp_many_met(w, y)) {
        others -= w->plain[sp_many_at(w, y)];
        n -= 1;
    }
    if (n > 0)
        a->many.b += (others / (double)n - a->many.b) / SP_MANY_USUAL;
}

/* Take the strides in the intercepts. */
static void sp_many_go_always(sp_adaptive *a, const sp_adaptive_scratch *weighed)
{
    const ptrdiff_t n = a->intercept ? weighed->n_strides : 0;
    const bool at_once = 4 * n >= a->many.room; /* if there are many, one pass over the tree */
    for (ptrdiff_t j = 0; j < n; j++) {
        const sp_stride *stride = &weighed->strides[j];
        const ptrdiff_t k = stride->k;
        a->G0[k] = a->G0[k] * stride->kept + stride->q;
        a->w0[k] += stride->always / sqrt(a->G0[k] + SP_P0);
        (at_once ? sp_tree_put : sp_tree_set)(&a->many, k, a->w0[k]);
    }
    if (n && at_once)
        sp_tree_join_all(&a->many);
}

/* Learn naive Bayes' weight, from all labels together. */
static void sp_many_learn_bayes(sp_adaptive *a, const sp_many_scratch *w)
{
    double squares = 0.0;
    double step = 0.0;
    for (ptrdiff_t i = 0; i < w->weighed.n_strides; i++) {
        const sp_stride *stride = &w->weighed.strides[i];
        if (stride->k >= a->n_labels || !sp_many_met(w, stride->k))
            continue;
        double V = w->V[sp_many_at(w, stride->k)];
        squares += stride->q * (V * V);
        step += stride->f * V;
    }
    a->Gn += squares;
    a->wn += step / sqrt(a->Gn + 1.0);
}

SP_PRIVATE void sp_many_settle_row(const sp_adaptive *a, const sp_sparse_rows *rows, sp_head *head,
                                   double known, double all)
{
    double sum, squares;
    sp_many_sums(rows, &head->row, a->rD, &sum, &squares);
    head->of.N = sum;
    head->om = sp_om_known(known, all, squares, sum);
}

/* Halve all c of a row except one. */
static void sp_many_halve(const sp_sparse_rows *rows, const sp_sparse *row, double halved,
                          const float *counted)
{
    float *c = row->dense ? sp_dense_of(rows, row).c : &sp_rows_at(rows, row->block)->c;
    const uint32_t n = row->dense ? sp_dense_lanes[row->size] : row->n;
    for (uint32_t i = 0; i < n; i++, c += row->dense ? 1 : sizeof(sp_entry) / sizeof(float)) {
        if (c != counted)
            *c = (float)((double)*c * halved);
    }
}

/* Add to c of label y in a row, which may not have y yet, and halve all. */
SP_TEMPLATE void sp_many_count_in(const sp_sparse_rows *rows, sp_sparse *row, ptrdiff_t y,
                                  double uv, double halved)
{
    float *counted;
    if (!row->dense)
        counted = &sp_row_insert(rows, row, (uint32_t)y)->c;
    else {
        sp_dense_add(rows, row, (uint32_t)y);
        counted = sp_dense_of(rows, row).c + y;
    }
    *counted = (float)(((double)*counted + uv) * halved);
    if (halved != 1.0)
        sp_many_halve(rows, row, halved, counted);
}

/* --- The rows of an event */

/* Take the steps in a row. Which labels it has is unpredictable, so there is no branch. */
SP_TEMPLATE void sp_many_step_in(const sp_sparse_rows *rows, sp_sparse *row,
                                 const sp_many_scratch *w, double X)
{
    const sp_adaptive_scratch *weighed = &w->weighed;
    sp_moves moves;
    for (ptrdiff_t j = 0; j < w->n_adds; j++)
        sp_row_insert(rows, row, w->adds[j]);
    for (ptrdiff_t j = 0; row->n && j < weighed->n_strides;) {
        sp_entry *const entries = sp_rows_at(rows, row->block);
        const ptrdiff_t last = SP_MIN(weighed->n_strides, j + SP_MOVES);
        for (moves.n = 0; j < last; j++) {
            const sp_stride *stride = &weighed->strides[j];
            uint32_t at = sp_row_place(entries, row->n, (uint32_t)stride->k);
            at -= at == row->n;
            moves.w[moves.n] = &entries[at].w;
            moves.kept[moves.n] = stride->kept;
            moves.grown[moves.n] = stride->q * (X * X);
            moves.far[moves.n] = stride->f * X;
            moves.n += entries[at].k == (uint32_t)stride->k;
        }
        sp_moves_take(&moves);
    }
}

/* Few labels: add entries for these labels, which the row does not have. */
SP_TEMPLATE void sp_few_add(const sp_sparse_rows *rows, sp_sparse *row, uint64_t labels)
{
    for (; labels; labels &= labels - 1) {
        const uint32_t k = (uint32_t)sp_zeros_below(labels);
        if (row->dense)
            sp_dense_add(rows, row, k);
        else
            sp_row_insert(rows, row, k);
    }
}

/* Few labels: take the steps in a row that has these labels. */
SP_TEMPLATE void sp_few_step_in(const sp_sparse_rows *rows, const sp_sparse *row, uint64_t labels,
                                const sp_march *march, double X)
{
    uint64_t left = labels & march->labels;
    if (left == 0)
        return;
    sp_entry *const entries = sp_rows_at(rows, row->block);
    float *const w = row->dense ? (float *)(void *)entries : &entries->w;
    if (row->dense && march->lanes <= sp_dense_lanes[row->size]) {
        sp_dense_step(w, labels, march, X);
        return;
    }
    for (; left; left &= left - 1) {
        const int k = sp_zeros_below(left);
        const int i = march->of[k];
        const uint64_t before = labels & (((uint64_t)1 << k) - 1);
        sp_step1(row->dense ? w + 2 * k : w + 4 * sp_ones(before), march->kept[i],
                 march->q[i] * (X * X), march->f[i] * X);
    }
}

/* Few labels: the same as sp_many_count_in, for a row that has these labels. */
SP_TEMPLATE void sp_few_count_in(const sp_sparse_rows *rows, const sp_sparse *row, uint64_t labels,
                                 ptrdiff_t y, double uv, double halved)
{
    const uint64_t before = labels & (((uint64_t)1 << y) - 1);
    float *counted = row->dense ? sp_dense_of(rows, row).c + y
                                : &sp_rows_at(rows, row->block)[sp_ones(before)].c;
    *counted = (float)(((double)*counted + uv) * halved);
    if (halved != 1.0)
        sp_many_halve(rows, row, halved, counted);
}

/* sp_dues_settle is long, so it is compiled once. */
SP_AVX2_UNLESS_SMALL(void, sp_many_settle,
         (sp_dues *dues, const sp_sparse_rows *rows, const double *rD, double all),
         (dues, rows, rD, all))
{
    sp_dues_settle(dues, rows, rD, all);
}

/* Take the steps in all rows, and count the entries that are not columns. */
SP_AVX2_UNLESS_SMALL(void, sp_many_learn_rows,
         (sp_learner *learner, const sp_event *event, const sp_many_scratch *w, ptrdiff_t y,
          double u),
         (learner, event, w, y, u))
{
    const sp_adaptive *a = &learner->adaptive;
    const sp_adaptive_scratch *weighed = &w->weighed;
    const sp_sparse_rows *rows = sp_many_rows(&learner->table);
    const sp_slot_type *slots = sp_adaptive_scratch_slots(weighed, event);
    const double *x = sp_adaptive_scratch_values(weighed, event);
    const double all = a->T + (double)a->n_labels;
    sp_march march;
    sp_dues dues;
    sp_dues_begin(&dues);
    sp_march_begin(&march, weighed->strides, w->few ? weighed->n_strides : 0);
    for (ptrdiff_t i = 0; i < weighed->n; i++) {
        const bool counts = i < weighed->n_plain || i >= weighed->n_shown;
        if (slots[i] != SP_SLOT_NULL) {
            const double X = weighed->sums.h[i] * weighed->r;
            const double uv = u * weighed->sums.v[i];
            sp_head *head = sp_head_of(learner->table.blocks->chunks, slots[i]);
            uint64_t labels = 0;
            if (w->few) {
                const uint64_t needed = (X == 0.0 ? 0 : w->making) | (uint64_t)counts << y;
                labels = w->rows[i].labels | needed;
                sp_few_add(rows, &head->row, needed & ~w->rows[i].labels);
                if (X != 0.0)
                    sp_few_step_in(rows, &head->row, labels, &march, X);
            } else if (X != 0.0 && weighed->n_strides)
                sp_many_step_in(rows, &head->row, w, X);
            if (counts) {
                const double halved = sp_count(head, x[i], u, all);
                if (w->few)
                    sp_few_count_in(rows, &head->row, labels, y, uv, halved);
                else
                    sp_many_count_in(rows, &head->row, y, uv, halved);
                dues.head[dues.n] = head;
                dues.n += 1;
            }
        }
        if (dues.n == 4)
            sp_many_settle(&dues, rows, a->rD, all);
    }
    while (dues.n || dues.n_summed)
        sp_many_settle(&dues, rows, a->rD, all);
}

/* Count an event in a column. Returns whether it is still one. */
static bool sp_many_count_column(sp_learner *learner, sp_slot_type slot, double x, double v,
                                 ptrdiff_t y, double u)
{
    const sp_adaptive *a = &learner->adaptive;
    const sp_blocks blocks = sp_table_blocks(&learner->table);
    const double all = a->T + (double)a->n_labels;
    sp_sparse_rows *rows = sp_many_rows(&learner->table);
    sp_head *head = sp_head_of(learner->table.blocks->chunks, slot);
    sp_head *e = sp_many_e(&learner->table, slot);
    sp_column *column = sp_column_of(&blocks, slot);
    double sum, squares, known;
    if (x != 0.0) {
        double plain;
        double halved = sp_column_count_plain(head, x, u, all, &plain);
        sp_many_count_in(rows, &head->row, y, u * plain, halved);
        sp_many_sums(rows, &head->row, a->rD, &head->of.N, &squares);
    }
    double halved = sp_column_count(column, x, u, &known);
    if (v != 0.0) /* a gap makes no entry */
        sp_many_count_in(rows, &e->row, y, u * v, halved);
    else if (halved != 1.0 && e->row.n)
        sp_many_halve(rows, &e->row, halved, NULL);
    sp_many_sums(rows, &e->row, a->rD, &sum, &squares);
    head->om = sp_om_known(known, all, squares, sum);
    if (sp_column_lasts(column))
        return true;
    memset(column, 0, sizeof(sp_column));
    sp_row_drop(rows, &e->row);
    return false;
}

/* Learn the columns of an event, after its other features. */
static void sp_many_learn_columns(sp_learner *learner, sp_many_scratch *w, ptrdiff_t y, double u)
{
    const sp_adaptive_scratch *weighed = &w->weighed;
    const sp_blocks blocks = sp_table_blocks(&learner->table);
    bool sift = false;
    for (ptrdiff_t i = weighed->n_plain; i < weighed->n_shown; i++) {
        sift |= weighed->slots[i] == SP_SLOT_NULL
                || !sp_many_count_column(learner, weighed->slots[i], weighed->x[i],
                                         weighed->sums.v[i], y, u);
    }
    sp_begun_settle(&learner->table, weighed);
    if (sift)
        sp_columns_sift(&learner->adaptive.columns, &blocks);
}

SP_PRIVATE void sp_many_learn(sp_learner *learner, const sp_event *event, sp_many_scratch *w,
                              ptrdiff_t y, double u)
{
    sp_adaptive *a = &learner->adaptive;
    sp_adaptive_scratch *weighed = &w->weighed;
    const sp_slot_type *slots = sp_adaptive_scratch_slots(weighed, event);
    const ptrdiff_t n = a->n_labels;
    sp_leave_evicted(&learner->table, weighed);
    sp_many_move(&learner->table, slots, w);
    if (y < n && sp_many_sharpens(a))
        sp_learn_tau(a, weighed);
    if (a->naive_bayes)
        sp_many_learn_usual_odds(a, w);
    sp_many_learn_usual_score(a, w, y);
    if (y < n && a->watches)
        sp_drift_see(&a->drift, &weighed->surprise, u);
    if (a->naive_bayes)
        sp_many_learn_bayes(a, w);
    if (y == n) {
        a->n_labels = n + 1;
        a->w0[y] = w->begins;
        a->G0[y] = SP_MANY_G0;
        sp_tree_set(&learner->adaptive.many, y, w->begins);
    }
    sp_begin_columns(a, &learner->table, weighed, sp_adaptive_scratch_values(weighed, event), u);
    sp_many_go_always(a, weighed);
    a->T += u;
    sp_adaptive_set_count(a, y, a->D[y] + u);
    sp_many_learn_rows(learner, event, w, y, u);
    if (weighed->n > weighed->n_plain || weighed->n_begun)
        sp_many_learn_columns(learner, w, y, u);
    if (weighed->shaped.has) {
        const sp_shaping of = sp_adaptive_shaping(a);
        sp_shapes_learn(&a->shapes, &of, &weighed->shaped, y, u, y < n, a->D, a->T);
    }
}
