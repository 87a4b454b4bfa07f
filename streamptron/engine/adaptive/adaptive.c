#include "adaptive/adaptive.h"

#include <math.h>
#include <string.h>

static ptrdiff_t sp_fours(ptrdiff_t n)
{
    return (n + 3) / 4;
}

/* Where the arrays lie in the block that starts with D. */
static void sp_adaptive_place(sp_adaptive *a)
{
    a->lnD = a->D + a->room;
    a->rD = a->D + 2 * a->room;
    a->w0 = a->D + 3 * a->room;
    a->G0 = a->D + 4 * a->room;
    a->wn = a->D + 5 * a->room;
    a->Gn = a->D + 6 * a->room;
}

SP_PRIVATE int sp_adaptive_room(sp_adaptive *a, ptrdiff_t n)
{
    ptrdiff_t room = 8 * ((n + n / 2 + 7) / 8);
    ptrdiff_t old = a->room;
    double *numbers;
    if (n <= a->room)
        return 0;
    numbers = (double *)sp_realloc(a->D, (size_t)(room * SP_ADAPTIVE_NUMBERS) * sizeof(double));
    if (numbers == NULL)
        return -1;
    for (ptrdiff_t i = SP_ADAPTIVE_NUMBERS - 1; i > -1; i--) {
        for (ptrdiff_t k = old - 1; k > -1; k--)
            numbers[i * room + k] = numbers[i * old + k];
        for (ptrdiff_t k = old; k < room; k++)
            numbers[i * room + k] = i == 2 ? 1.0 : 0.0;
    }
    a->D = numbers;
    a->room = room;
    sp_adaptive_place(a);
    if (old == 0)
        *a->wn = 3.0;
    return 0;
}

SP_PRIVATE int sp_adaptive_init(sp_adaptive *a, double eta, double forget, bool watches,
                                bool naive_bayes, bool intercept)
{
    memset(a, 0, sizeof(sp_adaptive));
    a->eta = eta;
    a->forget = forget;
    a->watches = watches;
    a->naive_bayes = naive_bayes;
    a->intercept = intercept;
    a->positive = 1;
    a->tau = a->Gtau = 1.0;
    return sp_adaptive_room(a, 2);
}

SP_PRIVATE int sp_adaptive_copy(sp_adaptive *to, const sp_adaptive *other)
{
    *to = *other;
    to->D = NULL;
    to->room = 0;
    memset(&to->columns, 0, sizeof(sp_columns));
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
    a->lnD[k] = sp_log(D + 1.0);
    a->rD[k] = 1.0 / (D + 1.0);
}

static void sp_weighed_free(sp_own *own)
{
    sp_weighed *w = (sp_weighed *)(void *)own;
    sp_free(w->sums.v);
    sp_free(w->score);
    sp_free(w->strides);
    sp_free(w->fours);
    sp_free(w->blocks);
    sp_free(w->x);
    sp_free(w->slots);
    sp_free(w->entries);
    sp_free(w->begun);
    sp_arena_free(&w->bends);
}

static size_t sp_weighed_bytes(const sp_own *own)
{
    const sp_weighed *w = (const sp_weighed *)(const void *)own;
    return sizeof(sp_weighed) + (size_t)(3 * w->room) * sizeof(double) + w->bends.bytes
           + (size_t)w->slots_room * (sizeof(double) + sizeof(sp_slot_type) + sizeof(uint32_t))
           + (size_t)(2 * w->begun_room) * sizeof(uint32_t)
           + (size_t)w->outputs_room * (5 * sizeof(double) + sizeof(sp_stride))
           + (size_t)(w->outputs_room / 4) * sizeof(double **)
           + ((size_t)(w->outputs_room / 2 + 4)) * sizeof(uint32_t) * (w->blocks != NULL);
}

static const sp_own_kind sp_weighed_kind = {
    .size = sizeof(sp_weighed),
    .bytes = sp_weighed_bytes,
    .free = sp_weighed_free,
};

/* Room for slots and values of its own. -1 without memory. */
static int sp_weighed_reserve_own(sp_weighed *w, ptrdiff_t n)
{
    ptrdiff_t room = n + n / 2 + 16;
    void *p;
    if (n <= w->slots_room)
        return 0;
    p = sp_realloc(w->x, (size_t)room * sizeof(double));
    if (p == NULL)
        return -1;
    w->x = (double *)p;
    p = sp_realloc(w->slots, (size_t)room * sizeof(sp_slot_type));
    if (p == NULL)
        return -1;
    w->slots = (sp_slot_type *)p;
    p = sp_realloc(w->entries, (size_t)room * sizeof(uint32_t));
    if (p == NULL)
        return -1;
    w->entries = (uint32_t *)p;
    w->slots_room = room;
    return 0;
}

SP_PRIVATE int sp_weighed_reserve(sp_event *event, ptrdiff_t n, ptrdiff_t columns,
                                  ptrdiff_t outputs)
{
    sp_weighed *w = (sp_weighed *)(void *)sp_event_own(event, &sp_weighed_kind);
    if (w == NULL || (columns && sp_weighed_reserve_own(w, n + columns) < 0))
        return -1;
    n += columns;
    ptrdiff_t room = n + n / 2 + 16;
    void *p;
    if (n > w->room) {
        p = sp_realloc(w->sums.v, (size_t)(3 * room) * sizeof(double));
        if (p == NULL)
            return -1;
        w->sums.v = (double *)p;
        w->sums.h = w->sums.v + room;
        w->sums.t = w->sums.v + 2 * room;
        w->room = room;
    }
    if (outputs > w->outputs_room) {
        room = 4 * sp_fours(outputs + outputs / 2);
        p = sp_realloc(w->strides, (size_t)room * sizeof(sp_stride));
        if (p == NULL)
            return -1;
        w->strides = (sp_stride *)p;
        p = sp_realloc(w->fours, (size_t)(room / 4) * sizeof(double **));
        if (p == NULL)
            return -1;
        w->fours = (double ***)p;
        p = sp_realloc(w->blocks, ((size_t)(room / 2 + 4)) * sizeof(uint32_t));
        if (p == NULL)
            return -1;
        w->blocks = (uint32_t *)p;
        p = sp_realloc(w->score, (size_t)(5 * room) * sizeof(double));
        if (p == NULL)
            return -1;
        w->score = (double *)p;
        w->d = w->score + room;
        w->V = w->score + 2 * room;
        w->P = w->score + 3 * room;
        w->E = w->score + 4 * room;
        w->outputs_room = room;
    }
    return 0;
}

static double sp_clip2(double x)
{
    return x > 2.0 ? 2.0 : x < -2.0 ? -2.0 : x;
}

static double sp_max_of(const double *numbers, ptrdiff_t n)
{
    double most = numbers[0];
    for (ptrdiff_t k = 1; k < n; k++)
        most = numbers[k] > most ? numbers[k] : most;
    return most;
}

static void sp_ask_naive_bayes_pair(const sp_adaptive *a, sp_weighed *w)
{
    const sp_sums *s = &w->sums;
    double z[2];
    for (int k = 0; k < 2; k++)
        z[k] = sp_log(s->P[k]) + (double)s->E[k] * SP_LN2 - ((double)s->used - 1.0) * a->lnD[k];
    *w->d = z[a->positive] - z[1 - a->positive];
}

/* d of each place; z is there before. */
static void sp_ask_naive_bayes(const sp_adaptive *a, sp_weighed *w)
{
    ptrdiff_t n = a->n_labels;
    double *z = w->d;
    sp_logs(w->P, w->E, a->lnD, (double)w->sums.used - 1.0, z, n);
    w->best = 0;
    for (ptrdiff_t k = 1; k < n; k++) {
        if (z[k] > z[w->best])
            w->best = k;
    }
    w->second = w->best == 0 ? 1 : 0;
    for (ptrdiff_t k = 0; k < n; k++) {
        if (k != w->best && z[k] > z[w->second])
            w->second = k;
    }
    double best = z[w->best];
    double second = z[w->second];
    for (ptrdiff_t k = 0; k < n; k++)
        z[k] -= best;
    w->d[w->best] = best - second;
}

/* Where the places of n labels are: how many blocks. */
static ptrdiff_t sp_find_fours(const sp_table *table, sp_weighed *w, ptrdiff_t n)
{
    for (ptrdiff_t b = 0, end = sp_fours(n); b < end; b++)
        w->fours[b] = table->blocks[sp_places_block(4 * b)].chunks;
    return sp_fours(n);
}

/* The event's entries that are no columns, in its order, and all columns behind them. */
static void sp_weighed_part(const sp_adaptive *a, const sp_slot_type *slots, const double *x,
                            ptrdiff_t n, sp_weighed *w)
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
        w->x[turn] += x[i]; /* names that share a place are one column, whose value is their sum */
        w->entries[turn] = (uint32_t)i;
        near = c + 1;
    }
    memmove(w->x + plain, w->x + n, n_columns * sizeof(double));
    memmove(w->entries + plain, w->entries + n, n_columns * sizeof(uint32_t));
    for (ptrdiff_t c = 0; c < columns->n; c++)
        w->slots[plain + sp_columns_turn(columns, c)] = columns->slots[c];
    w->n_plain = plain;
    w->n = w->n_unbent = plain + columns->n;
}

/* v and h of the columns, and what they add to the sums. */
static void sp_weigh_columns(const sp_table *table, sp_weighed *w, bool pair)
{
    sp_blocks blocks = sp_table_blocks(table);
    sp_sums *sums = &w->sums;
    for (ptrdiff_t i = w->n_plain; i < w->n; i++) {
        const sp_head *head = sp_head_of(table->blocks->chunks, w->slots[i]);
        double om = head->om == 0.0f ? SP_OM_FIRST : (double)head->om;
        double known;
        double v = sp_column_value(sp_column_of(&blocks, w->slots[i]), w->x[i], &known);
        double h = om * v;
        double hh = h * h;
        double least = om * om;
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

SP_PRIVATE void sp_adaptive_weigh(const sp_adaptive *a, const sp_table *table,
                                  const sp_event *event, sp_weighed *w)
{
    bool pair = sp_adaptive_is_pair(a);
    w->n_plain = w->n_unbent = w->n = event->n;
    if (a->columns.n)
        sp_weighed_part(a, event->slots, event->values, event->n, w);
    sp_heads(table->blocks->chunks, sp_weighed_slots(w, event), sp_weighed_values(w, event),
             w->n_plain, a->T, &w->sums, pair, a->naive_bayes);
    sp_weigh_columns(table, w, pair);
}

SP_PRIVATE int sp_adaptive_bend(const sp_adaptive *a, const sp_table *table, const sp_index *index,
                                sp_event *event, sp_weighed *w)
{
    ptrdiff_t first = event->n;
    ptrdiff_t at = w->n_plain;
    if (sp_bends_write(index, w->slots + at, w->sums.v + at, w->n - at, &w->bends,
                       w->entries + w->n, event)
        < 0)
        return -1;
    for (ptrdiff_t i = first; i < event->n; i++) {
        w->x[w->n] = event->values[i];
        w->slots[w->n++] = event->slots[i];
    }
    sp_bends_weigh(table->blocks->chunks, w->slots, w->x, w->n_unbent, w->n, a->T, &w->sums,
                   sp_adaptive_is_pair(a), a->naive_bayes);
    return 0;
}

SP_PRIVATE void sp_adaptive_answer(const sp_adaptive *a, const sp_table *table,
                                   const sp_event *event, sp_weighed *w)
{
    ptrdiff_t outputs = sp_adaptive_outputs(a);
    bool pair = sp_adaptive_is_pair(a);
    double m = a->m > 0.0 ? a->m : 1.0;
    w->r = w->sums.squares > 0.0 ? 1.0 / sqrt(w->sums.squares) : 0.0;
    w->length = w->sums.length * w->r;
    w->unknown = w->sums.unknown * w->r * w->r;
    if (pair) {
        w->score[0] = w->sums.dot * w->r;
        w->V[0] = 0.0;
        if (a->naive_bayes)
            sp_ask_naive_bayes_pair(a, w);
    } else {
        if (w->n && !a->naive_bayes)
            memset(w->sums.t, 0, (size_t)w->n * sizeof(double));
        sp_speak(w->fours, sp_find_fours(table, w, outputs), table->blocks->chunks,
                 sp_weighed_slots(w, event), &w->sums, w->n, a->positive, w->score, w->P, w->E);
        for (ptrdiff_t k = 0; k < outputs; k++) {
            w->score[k] *= w->r;
            w->V[k] = 0.0;
        }
        if (a->naive_bayes)
            sp_ask_naive_bayes(a, w);
    }
    if (a->intercept) {
        for (ptrdiff_t k = 0; k < outputs; k++)
            w->score[k] += a->w0[k];
    }
    if (a->naive_bayes) {
        for (ptrdiff_t k = 0; k < outputs; k++) {
            w->V[k] = sp_clip2(w->d[k] / m);
            w->score[k] += a->wn[k] * w->V[k];
        }
    }
}

/* Scores count for less while little has been seen: probabilities are closer to equal. */
static double sp_tempering(const sp_adaptive *a)
{
    return a->T / (a->T + 10.0);
}

SP_PRIVATE ptrdiff_t sp_adaptive_best(const sp_adaptive *a, const sp_weighed *w)
{
    ptrdiff_t best = 0;
    if (a->n_labels < 2)
        return a->n_labels - 1;
    if (a->n_labels == 2)
        return w->score[0] > 0.0 ? a->positive : 1 - a->positive;
    for (ptrdiff_t k = 1; k < a->n_labels; k++) {
        if (w->score[k] > w->score[best])
            best = k;
    }
    return best;
}

SP_PRIVATE void sp_adaptive_decide(const sp_adaptive *a, const sp_weighed *w, double *decision)
{
    double tempering = sp_tempering(a);
    if (sp_adaptive_is_pair(a)) {
        decision[0] = w->score[0] * tempering / (1.0 + 2.0 * w->unknown);
        return;
    }
    for (ptrdiff_t k = 0; k < a->n_labels; k++)
        decision[k] = w->score[k] * tempering;
}

static void sp_softmax(const double *score, double scale, double *p, ptrdiff_t n)
{
    double total = 0.0;
    sp_exps(score, scale, sp_max_of(score, n) * scale, p, n);
    for (ptrdiff_t k = 0; k < n; k++)
        total += p[k];
    for (ptrdiff_t k = 0; k < n; k++)
        p[k] /= total;
}

SP_PRIVATE void sp_adaptive_probabilities(const sp_adaptive *a, const sp_weighed *w, double *p)
{
    if (a->n_labels == 1)
        p[0] = 1.0;
    else if (a->n_labels == 2) {
        p[a->positive] = sp_sigmoid(*w->score * (sp_tempering(a) * a->tau));
        p[1 - a->positive] = sp_sigmoid(-*w->score * (sp_tempering(a) * a->tau));
    } else if (a->n_labels)
        sp_softmax(w->score, sp_tempering(a) * a->tau, p, a->n_labels);
}

/* Two softmaxes of the same scores, side by side: p of these, q of `scale` times them. */
static void sp_softmax_twice(const double *score, double best, double scale, double *p, double *q,
                             ptrdiff_t n)
{
    double total = 0.0, total_q = 0.0;
    sp_exps(score, 1.0, best, p, n);
    sp_exps(score, scale, best * scale, q, n);
    for (ptrdiff_t k = 0; k < n; k++) {
        total += p[k];
        total_q += q[k];
    }
    for (ptrdiff_t k = 0; k < n; k++) {
        p[k] /= total;
        q[k] /= total_q;
    }
}

/* tau, by the probabilities before the label is learned. */
static void sp_learn_tau(sp_adaptive *a, double g)
{
    a->Gtau += g * g;
    a->tau += (0.1 * g) / sqrt(a->Gtau);
    a->tau = a->tau < SP_TAU_LEAST ? SP_TAU_LEAST : a->tau > SP_TAU_MOST ? SP_TAU_MOST : a->tau;
}

/* How far an event with these probabilities was to be expected with label y. */
static sp_surprise sp_surprise_of(const double *p, ptrdiff_t n, ptrdiff_t y)
{
    sp_surprise of = {1.0 - p[y], 0.0, 0.0};
    for (ptrdiff_t k = 0; k < n; k++) {
        double missed = p[k] * (1.0 - p[k]);
        of.expected += missed;
        of.variance += missed * (1.0 - p[k]);
    }
    of.variance = SP_MAX(0.0, of.variance - of.expected * of.expected);
    return of;
}

/* The stride of output k, if its error is worth one. */
static void sp_adaptive_aim_at(const sp_adaptive *a, sp_weighed *w, ptrdiff_t k, double g, double u)
{
    double q = u * fabs(g);
    double eta = w->length <= 12.0 ? a->eta : a->eta * (12.0 / w->length);
    sp_stride *stride = &w->strides[w->n_strides];
    if (!(q > 0.0078125))
        return;
    stride->k = k;
    stride->q = q;
    stride->kept = 1.0 - (a->watches ? sp_drift_forget(&a->drift) : a->forget) * q;
    if (stride->kept < 0.0)
        stride->kept = 0.0;
    stride->f = eta * u * g;
    w->n_strides += 1;
}

/* The stride of two labels' one output. */
static void sp_adaptive_aim_pair(const sp_adaptive *a, sp_weighed *w, ptrdiff_t y, double u)
{
    double p = sp_sigmoid(w->score[0]);
    double s = w->score[0] * sp_tempering(a);
    double is = y == a->positive ? 1.0 : 0.0;
    const double both[2] = {1.0 - p, p};
    if (a->watches)
        w->surprise = sp_surprise_of(both, 2, y == a->positive);
    if (a->n_labels == 2)
        w->sharper = u * (s * (is - sp_sigmoid(s * a->tau)));
    sp_adaptive_aim_at(a, w, 0, is - p, u);
}

/* Give the scores of an event to a new label's outputs. Returns how many there are. */
static ptrdiff_t sp_adaptive_widen(const sp_adaptive *a, sp_weighed *w)
{
    ptrdiff_t n = a->n_labels;
    if (n == 2) {
        double score = 0.5 * w->score[0];
        double V = w->V[0];
        w->score[a->positive] = score;
        w->score[1 - a->positive] = -score;
        w->V[a->positive] = V;
        w->V[1 - a->positive] = -V;
    }
    w->score[n] = 0.0;
    w->V[n] = 0.0;
    return n + 1;
}

SP_API void sp_adaptive_aim(const sp_adaptive *a, sp_weighed *w, ptrdiff_t y, double u)
{
    ptrdiff_t n = a->n_labels;
    double scale = sp_tempering(a);
    double expected = 0.0;
    w->n_strides = 0;
    if (u == 0.0)
        return;
    if (n + (y == n) <= 2) {
        sp_adaptive_aim_pair(a, w, y, u);
        return;
    }
    if (y == n) {
        n = sp_adaptive_widen(a, w);
        sp_softmax(w->score, 1.0, w->P, n);
    } else {
        sp_softmax_twice(w->score, w->score[w->top], scale * a->tau, w->P, w->E, n);
        for (ptrdiff_t k = 0; k < n; k++)
            expected += w->E[k] * w->score[k];
        w->sharper = u * ((w->score[y] - expected) * scale);
    }
    if (a->watches)
        w->surprise = sp_surprise_of(w->P, n, y);
    for (ptrdiff_t k = 0; k < n; k++)
        sp_adaptive_aim_at(a, w, k, (k == y ? 1.0 : 0.0) - w->P[k], u);
}

SP_PRIVATE ptrdiff_t sp_adaptive_blocks(const sp_table *table, sp_weighed *w, ptrdiff_t y)
{
    ptrdiff_t n = 1;
    w->blocks[0] = 0;
    if (table->n_outputs == 1)
        return n;
    w->blocks[1] = (uint32_t)sp_places_block(0);
    w->blocks[2] = (uint32_t)sp_G_block(0);
    w->blocks[3] = (uint32_t)sp_places_block(y);
    n = 4;
    for (ptrdiff_t i = 0, end = w->n_strides; i < end; i++) {
        ptrdiff_t k = w->strides[i].k;
        if (i == 0 || sp_places_block(k) != sp_places_block(w->strides[i - 1].k)) {
            w->blocks[n] = (uint32_t)sp_places_block(k);
            w->blocks[n + 1] = (uint32_t)sp_G_block(k);
            n += 2;
        }
    }
    return n;
}

/* m, the usual |d|; of the outputs before a new label. */
static void sp_learn_usual_odds(sp_adaptive *a, const sp_weighed *w)
{
    double mean = 0.0;
    ptrdiff_t n = sp_adaptive_outputs(a);
    for (ptrdiff_t k = 0; k < n; k++)
        mean += fabs(w->d[k]);
    mean /= (double)n;
    a->nm = SP_MIN(a->nm + 1.0, 1024.0);
    a->m += (mean - a->m) / a->nm;
}

/* Add a label; there is room for it. */
static void sp_meet(sp_adaptive *a)
{
    ptrdiff_t n = a->n_labels;
    int p = a->positive;
    double mean = 0.0;
    a->n_labels = n + 1;
    if (n < 2)
        return;
    if (n == 2) {
        double half = 0.5 * a->w0[0];
        a->w0[p] = half;
        a->w0[1 - p] = -half;
        a->G0[1] = a->G0[0];
        a->wn[0] = a->wn[1] = 0.5 * a->wn[0]; /* the Vs are opposite already */
        a->Gn[1] = a->Gn[0];
    }
    for (ptrdiff_t k = 0; k < n; k++)
        mean += a->wn[k];
    a->wn[n] = mean / (double)n;
    a->w0[n] = a->G0[n] = a->Gn[n] = 0.0;
}

SP_PRIVATE int sp_adaptive_begin(const sp_adaptive *a, const sp_table *table, const sp_event *event,
                                 sp_weighed *w)
{
    const sp_slot_type *slots = sp_weighed_slots(w, event);
    const double *x = sp_weighed_values(w, event);
    w->n_begun = 0;
    if (!w->sums.begins)
        return 0;
    if (w->n_plain > w->begun_room) {
        void *p = sp_realloc(w->begun, (size_t)(2 * w->n_plain) * sizeof(uint32_t));
        if (p == NULL)
            return -1;
        w->begun = (uint32_t *)p;
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

/* New columns: the value that they always had counts as one event. */
static void sp_begin_columns(sp_adaptive *a, const sp_table *table, const sp_weighed *w,
                             const double *x, double u)
{
    sp_blocks blocks = sp_table_blocks(table);
    double known;
    for (ptrdiff_t i = 0; i < w->n_begun; i++) {
        sp_slot_type slot = w->begun[w->begun_room + i];
        sp_column *column = sp_column_of(&blocks, slot);
        if (column->n == 0.0) {
            column->a = sp_head_of(table->blocks->chunks, slot)->s;
            column->b = 0.0;
            column->n = column->since = 1.0;
            sp_columns_add(&a->columns, slot);
            sp_column_count(column, x[w->begun[i]], u, &known);
        }
    }
}

/* The place in a slot of label y's count. */
static float *sp_count_place(const sp_adaptive *a, const sp_blocks *blocks, sp_head *head,
                             sp_slot_type slot, ptrdiff_t y)
{
    return sp_adaptive_is_pair(a) ? &head->of.c[y] : &sp_places_at(*blocks, slot, y)->c[y % 4];
}

/* What a column counts as a feature that may be none some day. */
static void sp_count_plain(const sp_adaptive *a, const sp_table *table, sp_weighed *w,
                           sp_slot_type slot, double x, ptrdiff_t y, double u, double all)
{
    sp_blocks blocks = sp_table_blocks(table);
    sp_head *head = sp_head_of(table->blocks->chunks, slot);
    double s = fabs(head->s);
    double v = x > 0.0 ? 1.0 : -1.0;
    double sum, squares, known, share;
    if (fabs(x) != s) {
        sp_divided(1.0, (double)head->cnt + 1.0, u, (double)head->cnt + u, &known, &share);
        v = sp_clip(x / sp_moved(s, fabs(x), known), SP_MOST);
        s = sp_moved(s, fabs(x), share);
    }
    double halved = sp_count_as(head, x, s, u, all);
    float *c = sp_count_place(a, &blocks, head, slot, y);
    *c = (float)(((double)*c + u * v) * halved);
    if (sp_adaptive_is_pair(a)) {
        head->of.c[1 - y] = (float)((double)head->of.c[1 - y] * halved);
        return;
    }
    ptrdiff_t n = sp_find_fours(table, w, a->n_labels);
    if (halved != 1.0)
        sp_halve(w->fours, n, slot, y, halved);
    sp_chi_sums(w->fours, n, slot, a->rD, &sum, &squares);
    head->of.N = sum;
}

/* One event more of a column. Returns whether it still is one. */
static bool sp_count_column(const sp_adaptive *a, const sp_blocks *blocks, sp_slot_type slot,
                            double x, double v, ptrdiff_t y, double u, double all)
{
    sp_head *head = sp_head_of(sp_chunks(*blocks, 0), slot);
    sp_column *column = sp_column_of(blocks, slot);
    ptrdiff_t places = sp_adaptive_places(a);
    float *e = sp_column_e(blocks, slot, y);
    double sum, squares, known;
    double halved = sp_column_count(column, x, u, &known);
    *e = (float)(((double)*e + u * v) * halved);
    if (halved != 1.0)
        sp_column_halve(blocks, slot, places, y, halved);
    sp_column_sums(blocks, slot, places, a->rD, &sum, &squares);
    head->om = sp_om_known(known, all, squares, sum);
    if (4.0 * column->n >= column->since + 1.0)
        return true;
    sp_column_clear(blocks, slot, places);
    return false;
}

/* The step of one output in a slot. */
static void sp_stride_one(sp_head *head, const sp_stride *stride, double X)
{
    head->G = (float)((double)head->G * stride->kept + stride->q * (X * X));
    head->w = (float)((double)head->w + (stride->f * X) / sqrt((double)head->G + SP_P0));
}

/* Learn the columns of an event, after its other features. */
static void sp_learn_columns(sp_adaptive *a, const sp_table *table, sp_weighed *w, ptrdiff_t y,
                             double u)
{
    sp_blocks blocks = sp_table_blocks(table);
    double all = a->T + (double)sp_adaptive_places(a);
    bool sift = false;
    for (ptrdiff_t i = w->n_plain; i < w->n_unbent; i++) {
        sp_slot_type slot = w->slots[i];
        if (slot == SP_SLOT_NULL) {
            sift = true;
            continue;
        }
        if (sp_adaptive_is_pair(a) && w->n_strides)
            sp_stride_one(sp_head_of(table->blocks->chunks, slot), w->strides, w->sums.h[i] * w->r);
        if (w->x[i] != 0.0)
            sp_count_plain(a, table, w, slot, w->x[i], y, u, all);
        sift |= !sp_count_column(a, &blocks, slot, w->x[i], w->sums.v[i], y, u, all);
    }
    for (ptrdiff_t i = 0; i < w->n_begun; i++)
        sp_head_of(table->blocks->chunks, w->begun[w->begun_room + i])->om = (float)SP_OM_FIRST;
    if (sift)
        sp_columns_sift(&a->columns, &blocks);
}

/* Columns that the ceiling has let go are the null slot's now. */
static void sp_leave_evicted(const sp_table *table, sp_weighed *w)
{
    sp_blocks blocks = sp_table_blocks(table);
    for (ptrdiff_t i = w->n_plain; i < w->n_unbent; i++) {
        if (sp_column_of(&blocks, w->slots[i])->n == 0.0)
            w->slots[i] = SP_SLOT_NULL;
    }
}

/* What is kept once: intercepts, the weights of naive Bayes, the label's count. */
static void sp_learn_once(sp_adaptive *a, const sp_weighed *w, ptrdiff_t y, double u)
{
    for (ptrdiff_t i = 0; i < w->n_strides; i++) {
        const sp_stride *stride = &w->strides[i];
        ptrdiff_t k = stride->k;
        if (a->intercept) {
            a->G0[k] = a->G0[k] * stride->kept + stride->q;
            a->w0[k] += stride->f / sqrt(a->G0[k] + 9.5367431640625e-07);
        }
        if (a->naive_bayes) {
            double V = w->V[k];
            a->Gn[k] += stride->q * (V * V);
            a->wn[k] += stride->f * V / sqrt(a->Gn[k] + 1.0);
        }
    }
    a->T += u;
    sp_adaptive_set_count(a, y, a->D[y] + u);
}

/* Learn entries that are no columns, from first to last, not included: the counts, and of two
   labels the step. */
static void sp_learn_entries(const sp_adaptive *a, const sp_table *table, const sp_event *event,
                             sp_weighed *w, ptrdiff_t first, ptrdiff_t last, ptrdiff_t y, double u)
{
    if (first == last) /* there may be no arrays at all */
        return;
    const sp_slot_type *slots = sp_weighed_slots(w, event) + first;
    const double *x = sp_weighed_values(w, event) + first;
    const sp_stride none = {.q = 0.0, .f = 0.0};
    sp_sums sums = w->sums;
    sums.v += first;
    sums.h += first;
    if (sp_adaptive_is_pair(a))
        sp_learn_pair(table->blocks->chunks, slots, x, last - first, &sums, w->r,
                      w->n_strides ? w->strides : &none, (int)y, u, a->T + 2.0, a->rD);
    else
        sp_count_many(table->blocks->chunks, w->fours, sp_find_fours(table, w, a->n_labels), slots,
                      x, last - first, &sums, y, u, a->T + (double)a->n_labels, a->rD);
}

SP_PRIVATE void sp_adaptive_learn(sp_adaptive *a, sp_table *table, const sp_event *event,
                                  sp_weighed *w, ptrdiff_t y, double u)
{
    sp_blocks blocks = sp_table_blocks(table);
    const sp_slot_type *slots = sp_weighed_slots(w, event);
    sp_leave_evicted(table, w);
    if (a->n_labels > 1 && y < a->n_labels)
        sp_learn_tau(a, w->sharper);
    if (a->naive_bayes)
        sp_learn_usual_odds(a, w);
    if (y == a->n_labels)
        sp_meet(a); /* nobody expected it: drift of what is known is watched */
    else if (a->watches)
        sp_drift_see(&a->drift, &w->surprise, u);
    sp_begin_columns(a, table, w, sp_weighed_values(w, event), u);
    sp_learn_once(a, w, y, u);
    if (!sp_adaptive_is_pair(a)) {
        sp_deal_all(&blocks, slots, w->n, a->positive);
        for (ptrdiff_t i = 0; i < w->n_strides; i += SP_STRIDES)
            sp_stride_many(&blocks, slots, w->n, &w->sums, w->r, w->strides + i,
                           (int)SP_MIN(w->n_strides - i, (ptrdiff_t)SP_STRIDES));
    }
    sp_learn_entries(a, table, event, w, 0, w->n_plain, y, u);
    if (w->n > w->n_unbent)
        sp_learn_entries(a, table, event, w, w->n_unbent, w->n, y, u);
    if (w->n > w->n_plain || w->n_begun)
        sp_learn_columns(a, table, w, y, u);
}

SP_PRIVATE double sp_adaptive_share(const sp_adaptive *a, const sp_table *table,
                                    const sp_weighed *w, ptrdiff_t output, ptrdiff_t i,
                                    const sp_event *event)
{
    sp_blocks blocks = sp_table_blocks(table);
    const sp_slot_type *slots = sp_weighed_slots(w, event);
    const double *x = sp_weighed_values(w, event);
    ptrdiff_t k = output;
    ptrdiff_t rival;
    double scale = sp_tempering(a);
    double share;
    if (sp_adaptive_is_pair(a)) {
        k = a->positive;
        rival = 1 - k;
        scale = scale / (1.0 + 2.0 * w->unknown);
    } else
        rival = output == w->best ? w->second : w->best;
    if (i < 0)
        share = a->intercept ? a->w0[output] : 0.0;
    else
        share = sp_adaptive_weight(a, table, slots[i], output) * (w->sums.h[i] * w->r);
    if (a->naive_bayes && w->d[output] != 0.0) {
        double factor = a->wn[output] * w->V[output] / w->d[output];
        if (i < 0)
            return (share + factor * (a->lnD[k] - a->lnD[rival])) * scale;
        bool column = w->n_plain <= i && i < w->n_unbent;
        double t = !column && slots[i] >> SP_CHUNK_BITS < table->n_chunks
                       ? sp_odds_of(&blocks, slots[i], x[i], a->T, table->n_outputs)
                       : 0.0;
        if (t > 0.0) {
            double odds = sp_log(1.0 + sp_count_of(&blocks, slots[i], k, table->n_outputs) * t);
            double against = sp_log(1.0
                                    + sp_count_of(&blocks, slots[i], rival, table->n_outputs) * t);
            share += factor * (odds - a->lnD[k] - (against - a->lnD[rival]));
        }
    }
    return share * scale;
}

SP_API void sp_adaptive_spread(const sp_table *table, sp_slot_type slot, double *mean,
                               double *variance)
{
    sp_blocks blocks = sp_table_blocks(table);
    const sp_column *column = sp_column_of(&blocks, slot);
    sp_column_spread(column->a, column->b, column->n / column->since, mean, variance);
}

SP_API bool sp_adaptive_fault(const sp_table *table, sp_slot_type n_slots)
{
    sp_blocks blocks = sp_table_blocks(table);
    for (sp_slot_type slot = 0; slot < n_slots; slot++) {
        if (slot >> SP_CHUNK_BITS >= table->n_chunks)
            break;
        if (sp_slot_fault(&blocks, slot, table->n_outputs)
            || sp_column_fault(&blocks, slot, SP_MAX(table->n_outputs, (ptrdiff_t)2)))
            return true;
    }
    return false;
}
