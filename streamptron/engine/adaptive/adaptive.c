#include "adaptive/adaptive.h"

#include "adaptive/slots.h"
#include "memory/grow.h"

#include <math.h>
#include <string.h>

/* Set the arrays' addresses in the block that starts with D. */
static void sp_adaptive_place(sp_adaptive *a)
{
    a->lnD = a->D + a->room;
    a->rD = a->D + 2 * a->room;
    a->w0 = a->D + 3 * a->room;
    a->G0 = a->D + 4 * a->room;
}

SP_PRIVATE int sp_adaptive_room(sp_adaptive *a, ptrdiff_t n)
{
    ptrdiff_t room = 8 * ((n + n / 2 + 7) / 8);
    ptrdiff_t old = a->room;
    double *numbers;
    if (n <= a->room)
        return 0;
    if (SP_GROW(a->D, SP_ADAPTIVE_NUMBERS * room) < 0)
        return -1;
    numbers = a->D;
    for (ptrdiff_t i = SP_ADAPTIVE_NUMBERS - 1; i > -1; i--) {
        for (ptrdiff_t k = old - 1; k > -1; k--)
            numbers[i * room + k] = numbers[i * old + k];
        for (ptrdiff_t k = old; k < room; k++)
            numbers[i * room + k] = i == 2 ? 1.0 : 0.0;
    }
    a->room = room;
    sp_adaptive_place(a);
    return 0;
}

SP_HOT int sp_adaptive_init(sp_adaptive *a, double eta, double forget, bool watches,
                            bool naive_bayes, bool intercept, int shape)
{
    memset(a, 0, sizeof(sp_adaptive));
    sp_shapes_init(&a->shapes, shape);
    a->eta = eta;
    a->forget = forget;
    a->watches = watches;
    a->naive_bayes = naive_bayes;
    a->intercept = intercept;
    a->positive = 1;
    a->wn = 3.0;
    a->tau = a->Gtau = 1.0;
    return sp_adaptive_room(a, 2);
}

SP_RARE SP_PRIVATE int sp_adaptive_copy(sp_adaptive *to, const sp_adaptive *other)
{
    *to = *other;
    to->D = NULL;
    to->room = 0;
    to->many.tree = NULL;
    to->many.room = 0;
    memset(&to->columns, 0, sizeof(sp_columns));
    const int failed = sp_shapes_copy(&to->shapes, &other->shapes);
    if (sp_alarms_copy(&to->alarms, &other->alarms) < 0 || failed < 0)
        return -1;
    if (other->room == 0)
        return 0;
    if (sp_columns_copy(&to->columns, &other->columns) < 0)
        return -1;
    if (sp_adaptive_room(to, other->n_labels > 2 ? other->n_labels : 2) < 0)
        return -1;
    for (ptrdiff_t i = 0; i < SP_ADAPTIVE_NUMBERS; i++)
        memcpy(to->D + i * to->room, other->D + i * other->room,
               (size_t)SP_MIN(to->room, other->room) * sizeof(double));
    return 0;
}

SP_PRIVATE void sp_adaptive_set_count(sp_adaptive *a, ptrdiff_t k, double D)
{
    a->D[k] = D;
    a->lnD[k] = sp_one_log(a->rows ? 1.0 + D / 3.0 : D + 1.0);
    a->rD[k] = 1.0 / (D + (a->rows ? 10.0 : 1.0));
}

SP_RARE SP_PRIVATE void sp_adaptive_scratch_free(sp_scratch_head *head)
{
    sp_adaptive_scratch *w = (sp_adaptive_scratch *)(void *)head;
    sp_free(w->sums.v);
    sp_free(w->strides);
    sp_free(w->x);
    sp_free(w->slots);
    sp_free(w->entries);
    sp_free(w->is_gap);
    sp_free(w->begun);
    sp_arena_free(&w->names);
    sp_shaped_free(&w->shaped);
}

SP_RARE SP_PRIVATE size_t sp_adaptive_scratch_bytes(const sp_scratch_head *head)
{
    const sp_adaptive_scratch *w = (const sp_adaptive_scratch *)(const void *)head;
    return head->kind->size + (size_t)(3 * w->room) * sizeof(double) + w->names.bytes
           + (size_t)w->slots_room * (sizeof(double) + sizeof(sp_slot_type) + sizeof(uint32_t)
                                     + sizeof(bool))
           + (size_t)(2 * w->begun_room) * sizeof(uint32_t)
           + (size_t)w->strides_room * sizeof(sp_stride) + sp_shaped_bytes(&w->shaped);
}

/* Room for slots and values of its own. -1 if out of memory. */
static int sp_adaptive_scratch_reserve_own(sp_adaptive_scratch *w, ptrdiff_t n)
{
    ptrdiff_t room = n + n / 2 + 16;
    if (n <= w->slots_room)
        return 0;
    const sp_growing all[] = {
        SP_GROWING(w->x, room),
        SP_GROWING(w->slots, room),
        SP_GROWING(w->entries, room),
        SP_GROWING(w->is_gap, room),
    };
    if (sp_grow_all(all, 4) < 0)
        return -1;
    w->slots_room = room;
    return 0;
}

SP_HOT int sp_adaptive_scratch_reserve(sp_adaptive_scratch *w, ptrdiff_t n, ptrdiff_t columns,
                                       ptrdiff_t outputs)
{
    if (columns && sp_adaptive_scratch_reserve_own(w, n + columns) < 0)
        return -1;
    n += columns;
    if (n > w->room) {
        ptrdiff_t room = n + n / 2 + 16;
        if (SP_GROW(w->sums.v, 3 * room) < 0)
            return -1;
        w->sums.h = w->sums.v + room;
        w->sums.t = w->sums.v + 2 * room;
        w->room = room;
    }
    if (outputs > w->strides_room) {
        ptrdiff_t room = outputs + outputs / 2;
        if (SP_GROW(w->strides, room) < 0)
            return -1;
        w->strides_room = room;
    }
    return 0;
}

static void sp_ask_naive_bayes(const sp_adaptive *a, sp_adaptive_scratch *w)
{
    const sp_sums *s = &w->sums;
    double z[2];
    sp_log_both(s->P, z);
    for (int k = 0; k < 2; k++)
        z[k] = z[k] + (double)s->E[k] * SP_LN2 - ((double)s->used - 1.0) * a->lnD[k];
    w->d = z[a->positive] - z[1 - a->positive];
}

/* Separate an event's entries: first those that are not columns, in order; then all columns. */
static void sp_adaptive_scratch_part(const sp_adaptive *a, const sp_slot_type *slots,
                                     const double *x, ptrdiff_t n, sp_adaptive_scratch *w)
{
    const sp_columns *columns = &a->columns;
    size_t n_columns = (size_t)columns->n;
    ptrdiff_t plain = 0;
    ptrdiff_t near = 0;
    memset(w->x + n, 0, n_columns * sizeof(double));
    memset(w->entries + n, 255, n_columns * sizeof(uint32_t));
    for (ptrdiff_t i = 0; i < n; i++) {
        ptrdiff_t c = sp_columns_at(columns, slots[i], near);
        if (c < 0) {
            w->x[plain] = x[i];
            w->slots[plain] = slots[i];
            w->entries[plain++] = (uint32_t)i;
            continue;
        }
        ptrdiff_t turn = n + sp_columns_turn(columns, c);
        w->x[turn] += x[i]; /* names in one place are one column, with the sum of their values */
        w->entries[turn] = (uint32_t)i;
        near = c + 1;
    }
    memmove(w->x + plain, w->x + n, n_columns * sizeof(double));
    memmove(w->entries + plain, w->entries + n, n_columns * sizeof(uint32_t));
    for (ptrdiff_t c = 0; c < columns->n; c++)
        w->slots[plain + sp_columns_turn(columns, c)] = columns->slots[c];
    w->n_plain = plain;
    w->n = w->n_shown = plain + columns->n;
}

/* v and h of the columns, and their parts of the sums. */
static void sp_weigh_columns(const sp_table *table, sp_adaptive_scratch *w, bool pair)
{
    sp_blocks blocks = sp_table_blocks(table);
    sp_sums *sums = &w->sums;
    for (ptrdiff_t i = w->n_plain; i < w->n; i++) {
        const sp_head *head = sp_head_of(table->blocks->chunks, w->slots[i]);
        double om = head->om == 0.0f ? SP_OM_FIRST : (double)head->om;
        const sp_column *column = sp_column_of(&blocks, w->slots[i]);
        double known;
        double v = sp_column_value(column, w->x[i], &known);
        double h = om * v;
        double hh = h * h;
        double least = om * om;
        const bool gap = w->x[i] == 0.0 && sp_column_is_far(column);
        w->gaps |= gap;
        w->is_gap[i - w->n_plain] = gap;
        sums->squares += hh > least ? hh : least;
        sums->length += fabs(h);
        sums->unknown += hh * known;
        if (pair)
            sums->dot += (double)head->w * h;
        sums->v[i] = v;
        sums->h[i] = h;
        sums->t[i] = 0.0;
    }
}

SP_HOT void sp_adaptive_weigh(const sp_adaptive *a, const sp_table *table, const sp_event *event,
                              sp_adaptive_scratch *w)
{
    bool pair = !a->rows;
    w->n_plain = w->n_shown = w->n = event->n;
    w->gaps = false;
    if (a->columns.n)
        sp_adaptive_scratch_part(a, event->slots, event->values, event->n, w);
    sp_heads(table->blocks->chunks, sp_adaptive_scratch_slots(w, event),
             sp_adaptive_scratch_values(w, event),
             w->n_plain, a->T, &w->sums, pair, a->naive_bayes);
    if (w->n > w->n_plain)
        sp_weigh_columns(table, w, pair);
}

SP_HOT int sp_adaptive_open_gaps(const sp_adaptive *a, const sp_table *table,
                                 const sp_index *index, sp_event *event, sp_adaptive_scratch *w)
{
    const ptrdiff_t first = event->n;
    const ptrdiff_t at = w->n_plain;
    const sp_present columns = {w->slots + at, w->is_gap, w->n - at};
    if (sp_gaps_write(index, &columns, &w->names, w->entries + w->n, event) < 0)
        return -1;
    for (ptrdiff_t i = first; i < event->n; i++) {
        w->x[w->n] = event->values[i];
        w->slots[w->n++] = event->slots[i];
    }
    sp_gaps_weigh(table->blocks->chunks, w->slots, w->x, w->n_shown, w->n, a->T, &w->sums,
                   !a->rows, a->naive_bayes);
    return 0;
}

SP_PRIVATE int sp_adaptive_shape(const sp_adaptive *a, sp_adaptive_scratch *w)
{
    const sp_shapes *shapes = &a->shapes;
    ptrdiff_t at = w->n_plain;
    w->shaped.has = w->shaped.bent = false;
    if (shapes->n_columns == 0)
        return 0;
    if (sp_shaped_room(shapes, &w->shaped, shapes->n_columns, sp_adaptive_outputs(a)) < 0)
        return -1;
    for (ptrdiff_t i = 0; i < shapes->n_columns; i++, at++) {
        while (w->slots[at] != shapes->columns[i])
            at++;
        w->shaped.v[i] = w->sums.v[at];
        w->shaped.gap[i] = w->is_gap[at - w->n_plain];
    }
    return 0;
}

SP_PRIVATE void sp_adaptive_list_shapes(sp_adaptive *a, const sp_index *index)
{
    sp_shapes *shapes = &a->shapes;
    const sp_columns *columns = &a->columns;
    ptrdiff_t n = 0;
    if (shapes->n_layers == 0)
        return;
    for (ptrdiff_t i = 0; i < columns->n; i++)
        shapes->columns[sp_columns_turn(columns, i)] = columns->slots[i];
    for (ptrdiff_t i = 0; i < columns->n; i++) {
        const sp_key name = sp_index_placed(index, shapes->columns[i]);
        if (sp_has_hidden(&name))
            shapes->columns[n++] = shapes->columns[i];
    }
    shapes->n_columns = n;
}

SP_PRIVATE void sp_adaptive_settle(sp_adaptive *a, const sp_index *index, const sp_shaped *shaped,
                                   sp_slot_type max_features)
{
    const bool changed = a->columns.stale;
    if (changed) {
        sp_columns_settle(&a->columns, index);
        sp_adaptive_list_shapes(a, index);
    }
    if (changed || (shaped != NULL && shaped->has))
        sp_shapes_choose(&a->shapes, shaped, a->T,
                         sp_shapes_most(sp_adaptive_places(a), max_features), changed);
}

SP_PRIVATE void sp_adaptive_scratch_settle(sp_adaptive_scratch *w)
{
    w->r = w->sums.squares > 0.0 ? 1.0 / sqrt(w->sums.squares) : 0.0;
    w->length = w->sums.length * w->r;
    w->unknown = w->sums.unknown * w->r * w->r;
}

SP_HOT void sp_adaptive_answer(const sp_adaptive *a, sp_adaptive_scratch *w)
{
    double m = a->m > 0.0 ? a->m : 1.0;
    sp_adaptive_scratch_settle(w);
    w->score = w->sums.dot * w->r;
    w->V = 0.0;
    if (a->naive_bayes)
        sp_ask_naive_bayes(a, w);
    if (a->intercept)
        w->score += *a->w0;
    if (a->naive_bayes) {
        w->V = sp_clip(w->d / m, 2.0);
        w->score += a->wn * w->V;
    }
    w->line = w->score;
    if (a->shapes.n_columns) {
        const sp_shaping of = sp_adaptive_shaping(a);
        *w->shaped.line = w->line;
        sp_shapes_answer(&a->shapes, &of, &w->shaped);
        if (w->shaped.has)
            w->score = *w->shaped.final;
    }
}

SP_HOT ptrdiff_t sp_adaptive_best(const sp_adaptive *a, const sp_adaptive_scratch *w, double rank,
                                  uint64_t n_seen)
{
    if (a->n_labels < 2)
        return a->n_labels - 1;
    if (a->alarms.n) {
        const double bar = sp_alarms_of_two(&a->alarms, a->positive, n_seen);
        return rank > bar ? a->positive : 1 - a->positive;
    }
    return w->score > 0.0 ? a->positive : 1 - a->positive;
}

SP_HOT double sp_adaptive_rank(const sp_adaptive *a, const sp_adaptive_scratch *w)
{
    return w->score * sp_tempering(a) / (1.0 + 2.0 * w->unknown);
}

SP_HOT void sp_adaptive_probabilities(const sp_adaptive *a, const sp_adaptive_scratch *w,
                                      double *p)
{
    if (a->n_labels == 1)
        p[0] = 1.0;
    else if (a->n_labels == 2) {
        const double tempered = w->score * (sp_tempering(a) * a->tau);
        double both[2];
        sp_sigmoid_both(tempered, -tempered, both);
        p[a->positive] = both[0];
        p[1 - a->positive] = both[1];
    }
}

SP_PRIVATE void sp_learn_tau(sp_adaptive *a, const sp_adaptive_scratch *w)
{
    const double g = w->sharper;
    /* what curves add must count, too, so tau must be able to grow */
    const double rate = w->shaped.has && w->shaped.bent ? 0.3 : 0.1;
    a->Gtau += g * g;
    a->tau += (rate * g) / sqrt(a->Gtau);
    a->tau = a->tau < SP_TAU_LEAST ? SP_TAU_LEAST : a->tau > SP_TAU_MOST ? SP_TAU_MOST : a->tau;
    for (int i = 0; w->shaped.has && i < a->shapes.n_layers; i++)
        sp_layer_step(&a->shapes.of[i], w->shaped.of[i].sharper);
}

/* How surprising an event with label y was. */
static sp_surprise sp_surprise_of(const double *p, ptrdiff_t y)
{
    sp_surprise of = {1.0 - p[y], 0.0, 0.0};
    for (int k = 0; k < 2; k++) {
        double missed = p[k] * (1.0 - p[k]);
        of.expected += missed;
        of.variance += missed * (1.0 - p[k]);
    }
    of.variance = SP_MAX(0.0, of.variance - of.expected * of.expected);
    return of;
}

SP_PRIVATE void sp_adaptive_scratch_aim(const sp_adaptive *a, sp_adaptive_scratch *w, ptrdiff_t k,
                                        double g, double u)
{
    double q = u * fabs(g);
    sp_stride *stride = &w->strides[w->n_strides];
    if (!(q > SP_THR))
        return;
    stride->k = k;
    stride->q = q;
    stride->kept = 1.0 - (a->watches ? sp_drift_forget(&a->drift) : a->forget) * q;
    if (stride->kept < 0.0)
        stride->kept = 0.0;
    stride->f = sp_eta(a, w, SP_REACH_MOST) * u * g;
    w->n_strides += 1;
}

SP_HOT void sp_adaptive_plan(const sp_adaptive *a, sp_adaptive_scratch *w, ptrdiff_t y, double u)
{
    const double s = w->score * sp_tempering(a);
    const double is = y == a->positive ? 1.0 : 0.0;
    double sigmoids[2]; /* of the line's score, and of the tempered and sharpened score */
    w->n_strides = 0;
    if (u == 0.0)
        return;
    sp_sigmoid_both(w->line, s * a->tau, sigmoids);
    const double p = sigmoids[0];
    const double both[2] = {1.0 - p, p};
    if (a->watches)
        w->surprise = sp_surprise_of(both, y == a->positive);
    if (a->n_labels == 2)
        w->sharper = u * ((w->line * sp_tempering(a)) * (is - sigmoids[1]));
    sp_adaptive_scratch_aim(a, w, 0, is - p, u);
    if (w->shaped.has) {
        const sp_shaping of = sp_adaptive_shaping(a);
        sp_shapes_aim(&a->shapes, &of, &w->shaped, y, 0.0, u);
        if (a->n_labels == 2)
            sp_shapes_sharper(&a->shapes, &of, &w->shaped, y, u);
    }
}

/* m, the usual |d|. */
static void sp_learn_usual_odds(sp_adaptive *a, const sp_adaptive_scratch *w)
{
    a->nm = SP_MIN(a->nm + 1.0, SP_ODDS_WINDOW);
    a->m += (fabs(w->d) - a->m) / a->nm;
}

SP_HOT int sp_adaptive_begin(const sp_adaptive *a, const sp_table *table, const sp_event *event,
                             sp_adaptive_scratch *w)
{
    const sp_slot_type *slots = sp_adaptive_scratch_slots(w, event);
    const double *x = sp_adaptive_scratch_values(w, event);
    w->n_begun = 0;
    if (!w->sums.begins)
        return 0;
    if (w->n_plain > w->begun_room) {
        if (SP_GROW(w->begun, 2 * w->n_plain) < 0)
            return -1;
        w->begun_room = w->n_plain;
    }
    for (ptrdiff_t i = 0; i < w->n_plain; i++) {
        if (sp_begins(sp_head_of(table->blocks->chunks, slots[i]), x[i], a->T)) {
            w->begun[w->n_begun] = (uint32_t)i;
            w->begun[w->begun_room + w->n_begun] = slots[i];
            w->n_begun++;
        }
    }
    return 0;
}

SP_PRIVATE void sp_begin_columns(sp_adaptive *a, const sp_table *table,
                                 const sp_adaptive_scratch *w,
                             const double *x, double u)
{
    sp_blocks blocks = sp_table_blocks(table);
    const ptrdiff_t first = a->columns.n;
    double known;
    for (ptrdiff_t i = 0; i < w->n_begun; i++) {
        sp_slot_type slot = w->begun[w->begun_room + i];
        sp_column *column = sp_column_of(&blocks, slot);
        if (column->n == 0.0) {
            column->a = sp_head_of(table->blocks->chunks, slot)->s;
            column->b = 0.0;
            column->n = column->since = 1.0;
            sp_columns_append(&a->columns, slot);
            sp_column_count(column, x[w->begun[i]], u, &known);
        }
    }
    sp_columns_rise(&a->columns, first);
}

SP_PRIVATE double sp_column_count_plain(sp_head *head, double x, double u, double all, double *v)
{
    double s = fabs(head->s);
    double known, share;
    *v = x > 0.0 ? 1.0 : -1.0;
    if (fabs(x) != s) {
        sp_divided(1.0, (double)head->cnt + 1.0, u, (double)head->cnt + u, &known, &share);
        *v = sp_clip(x / sp_moved(s, fabs(x), known), SP_MOST);
        s = sp_moved(s, fabs(x), share);
    }
    return sp_count_as(head, x, s, u, all);
}

/* Count a column as a feature, too, as it may stop being a column. */
static void sp_count_plain(sp_head *head, double x, ptrdiff_t y, double u, double all)
{
    double v;
    double halved = sp_column_count_plain(head, x, u, all, &v);
    head->of.c[y] = (float)(((double)head->of.c[y] + u * v) * halved);
    head->of.c[1 - y] = (float)((double)head->of.c[1 - y] * halved);
}

/* Count an event in a column. Returns whether it is still one. */
static bool sp_count_column(const sp_adaptive *a, const sp_blocks *blocks, sp_slot_type slot,
                            double x, double v, ptrdiff_t y, double u, double all)
{
    sp_head *head = sp_head_of(sp_chunks(*blocks, 0), slot);
    sp_column *column = sp_column_of(blocks, slot);
    float *e = sp_column_e(blocks, slot);
    double sum, squares, known;
    double halved = sp_column_count(column, x, u, &known);
    e[y] = (float)(((double)e[y] + u * v) * halved);
    if (halved != 1.0 && e[1 - y] != 0.0f) /* a 0 may be in zeros that are never written */
        e[1 - y] = (float)((double)e[1 - y] * halved);
    sp_column_sums(e, a->rD, &sum, &squares);
    head->om = sp_om_known(known, all, squares, sum);
    if (sp_column_lasts(column))
        return true;
    sp_column_clear(blocks, slot);
    return false;
}

/* Take one output's step in a slot. */
static void sp_stride_one(sp_head *head, const sp_stride *stride, double X)
{
    head->G = (float)((double)head->G * stride->kept + stride->q * (X * X));
    head->w = (float)((double)head->w + (stride->f * X) / sqrt((double)head->G + SP_P0));
}

SP_PRIVATE void sp_begun_settle(const sp_table *table, const sp_adaptive_scratch *w)
{
    for (ptrdiff_t i = 0; i < w->n_begun; i++)
        sp_head_of(table->blocks->chunks, w->begun[w->begun_room + i])->om = (float)SP_OM_FIRST;
}

/* Learn the columns of an event, after all its other features. */
static void sp_learn_columns(sp_adaptive *a, const sp_table *table, sp_adaptive_scratch *w,
                             ptrdiff_t y, double u)
{
    sp_blocks blocks = sp_table_blocks(table);
    double all = a->T + 2.0;
    bool sift = false;
    for (ptrdiff_t i = w->n_plain; i < w->n_shown; i++) {
        sp_slot_type slot = w->slots[i];
        if (slot == SP_SLOT_NULL) {
            sift = true;
            continue;
        }
        if (w->n_strides)
            sp_stride_one(sp_head_of(table->blocks->chunks, slot), w->strides, w->sums.h[i] * w->r);
        if (w->x[i] != 0.0)
            sp_count_plain(sp_head_of(table->blocks->chunks, slot), w->x[i], y, u, all);
        sift |= !sp_count_column(a, &blocks, slot, w->x[i], w->sums.v[i], y, u, all);
    }
    sp_begun_settle(table, w);
    if (sift)
        sp_columns_sift(&a->columns, &blocks);
}

SP_PRIVATE void sp_leave_evicted(const sp_table *table, sp_adaptive_scratch *w)
{
    sp_blocks blocks = sp_table_blocks(table);
    for (ptrdiff_t i = w->n_plain; i < w->n_shown; i++) {
        if (sp_column_of(&blocks, w->slots[i])->n == 0.0)
            w->slots[i] = SP_SLOT_NULL;
    }
}

/* What is kept once per model: the intercept, the weight of naive Bayes, the label's count. */
static void sp_learn_once(sp_adaptive *a, const sp_adaptive_scratch *w, ptrdiff_t y, double u)
{
    for (ptrdiff_t i = 0; i < w->n_strides; i++) {
        const sp_stride *stride = &w->strides[i];
        if (a->intercept) {
            *a->G0 = *a->G0 * stride->kept + stride->q;
            *a->w0 += stride->f / sqrt(*a->G0 + SP_P0);
        }
        if (a->naive_bayes) {
            a->Gn += stride->q * (w->V * w->V);
            a->wn += stride->f * w->V / sqrt(a->Gn + 1.0);
        }
    }
    a->T += u;
    sp_adaptive_set_count(a, y, a->D[y] + u);
}

/* Learn n entries that are not columns: counts and the step. `sums`: their parts of w's sums. */
static void sp_learn_entries(const sp_adaptive *a, const sp_table *table,
                             const sp_adaptive_scratch *w,
                             const sp_slot_type *slots, const double *x, ptrdiff_t n,
                             const sp_sums *sums, ptrdiff_t y, double u)
{
    const sp_stride none = {.q = 0.0, .f = 0.0};
    sp_learn_pair(table->blocks->chunks, slots, x, n, sums, w->r,
                  w->n_strides ? w->strides : &none, (int)y, u, a->T + 2.0, a->rD);
}

/* The same for the gaps, which are behind the columns. */
static void sp_learn_gaps(const sp_adaptive *a, const sp_table *table, const sp_adaptive_scratch *w,
                           ptrdiff_t y, double u)
{
    sp_sums sums = w->sums;
    sums.v += w->n_shown;
    sums.h += w->n_shown;
    sp_learn_entries(a, table, w, w->slots + w->n_shown, w->x + w->n_shown, w->n - w->n_shown,
                     &sums, y, u);
}

SP_HOT void sp_adaptive_learn(sp_adaptive *a, sp_table *table, const sp_event *event,
                              sp_adaptive_scratch *w, ptrdiff_t y, double u)
{
    const bool known = y < a->n_labels;
    sp_leave_evicted(table, w);
    if (a->n_labels > 1 && known)
        sp_learn_tau(a, w);
    if (a->naive_bayes)
        sp_learn_usual_odds(a, w);
    if (!known)
        a->n_labels += 1; /* drift is watched only in known labels, which can be expected */
    else if (a->watches)
        sp_drift_see(&a->drift, &w->surprise, u);
    if (w->n_begun)
        sp_begin_columns(a, table, w, sp_adaptive_scratch_values(w, event), u);
    sp_learn_once(a, w, y, u);
    if (w->n_plain) /* otherwise there may not be any arrays */
        sp_learn_entries(a, table, w, sp_adaptive_scratch_slots(w, event),
                         sp_adaptive_scratch_values(w, event), w->n_plain, &w->sums, y, u);
    if (w->n > w->n_shown)
        sp_learn_gaps(a, table, w, y, u);
    if (w->n > w->n_plain || w->n_begun)
        sp_learn_columns(a, table, w, y, u);
    if (w->shaped.has) {
        const sp_shaping of = sp_adaptive_shaping(a);
        sp_shapes_learn(&a->shapes, &of, &w->shaped, y, u, known, a->D, a->T);
    }
}

SP_RARE SP_PRIVATE double sp_adaptive_share(const sp_adaptive *a, const sp_table *table,
                                            const sp_adaptive_scratch *w, ptrdiff_t i,
                                            const sp_event *event)
{
    const sp_slot_type *slots = sp_adaptive_scratch_slots(w, event);
    const double *x = sp_adaptive_scratch_values(w, event);
    int k = a->positive;
    double scale = sp_tempering(a) / (1.0 + 2.0 * w->unknown);
    double share;
    if (i < 0)
        share = a->intercept ? *a->w0 : 0.0;
    else
        share = sp_adaptive_weight(table, slots[i]) * (w->sums.h[i] * w->r);
    if (a->naive_bayes && w->d != 0.0) {
        double factor = a->wn * w->V / w->d;
        if (i < 0)
            return (share + factor * (a->lnD[k] - a->lnD[1 - k])) * scale;
        bool column = w->n_plain <= i && i < w->n_shown;
        const sp_head *head = sp_table_head(table, slots[i]);
        double t = column ? 0.0 : sp_odds_of(head, x[i], a->T);
        if (t > 0.0) {
            double odds = sp_one_log(1.0 + (double)head->of.c[k] * t);
            double against = sp_one_log(1.0 + (double)head->of.c[1 - k] * t);
            share += factor * (odds - a->lnD[k] - (against - a->lnD[1 - k]));
        }
    }
    return share * scale;
}

SP_RARE SP_API bool sp_adaptive_fault(const sp_table *table, sp_slot_type n_slots)
{
    sp_blocks blocks = sp_table_blocks(table);
    for (sp_slot_type slot = 0; slot < n_slots; slot++) {
        if (slot >> SP_CHUNK_BITS >= table->n_chunks)
            break;
        const size_t chunk = slot >> SP_CHUNK_BITS;
        const bool columns = sp_chunks(blocks, SP_BLOCK_COLUMNS)[chunk] != table->zeros
                             || sp_chunks(blocks, SP_BLOCK_E)[chunk] != table->zeros;
        if (sp_slot_fault(sp_head_of(table->blocks->chunks, slot))
            || (columns
                && sp_column_fault(sp_column_of(&blocks, slot), sp_column_e(&blocks, slot))))
            return true;
    }
    return false;
}
