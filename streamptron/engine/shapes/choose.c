#include "shapes/choose.h"

#include "features/loops.h"
#include "memory/heap.h"

#include <string.h>

#define SP_FADE (1.0 - 1.0 / 1024.0)
#define SP_GUESTS_FROM 512.0 /* the least T */
#define SP_GUEST_LEAST 30.0  /* the least S^2 / Z */

SP_PRIVATE ptrdiff_t sp_shapes_most(ptrdiff_t n_labels, sp_slot_type max_features)
{
    ptrdiff_t cells = SP_SHAPES_LABELS / n_labels;
    ptrdiff_t most = SP_SURFACES_MOST;
    if (max_features)
        cells = SP_MIN(cells, (ptrdiff_t)(max_features / 4));
    while (SP_PATCH_CELLS * most * (most - 1) / 2 > cells)
        most -= 1;
    return most > 1 ? most : 0;
}

/* The columns that are watched now: n of them, from *first on, in a ring. */
static ptrdiff_t sp_watched(const sp_shapes *shapes, ptrdiff_t *first)
{
    const ptrdiff_t n = shapes->n_columns;
    *first = 0;
    if (n <= SP_WATCHED_MOST)
        return n;
    *first = (ptrdiff_t)(shapes->n_choices * SP_WATCHED_MOST % (uint64_t)n);
    return SP_WATCHED_MOST;
}

/* The error that the curves leave, as one number: with many labels, half of them against the
   others. */
static double sp_left(const sp_shapes *shapes, const sp_shaped *w)
{
    const int bit = (int)(shapes->n_choices % 5);
    const double *g = w->of[0].g;
    double all[4] = {0.0, 0.0, 0.0, 0.0};
    if (shapes->lanes == 0)
        return *g;
    for (ptrdiff_t k = 0; k < w->n_errors; k++)
        all[k % 4] += k >> bit & 1 ? -g[k] : g[k];
    return sp_lanes_sum(all);
}

static void sp_wonder(sp_shapes *shapes, const sp_shaped *w)
{
    const double r = sp_left(shapes, w);
    double v[SP_WATCHED_MOST];
    double *S = shapes->S;
    ptrdiff_t first;
    const ptrdiff_t n = sp_watched(shapes, &first);
    for (ptrdiff_t i = 0; i < n; i++)
        v[i] = sp_clip(w->v[(first + i) % shapes->n_columns], 2.0);
    shapes->Z = (SP_FADE * SP_FADE) * shapes->Z + r * r;
    for (ptrdiff_t i = 0; i < n; i++) {
        for (ptrdiff_t j = i + 1; j < n; j++, S++)
            *S = SP_FADE * *S + r * (v[i] * v[j]);
    }
}

static void sp_wonder_anew(sp_shapes *shapes)
{
    const ptrdiff_t n = SP_MIN(shapes->n_columns, (ptrdiff_t)SP_WATCHED_MOST);
    shapes->Z = 0.0;
    if (n)
        memset(shapes->S, 0, (size_t)(n * (n - 1) / 2) * sizeof(double));
}

static bool sp_is_chosen(const sp_shapes *shapes, sp_slot_type slot)
{
    for (ptrdiff_t i = 0; i < shapes->n_chosen; i++) {
        if (shapes->chosen[i] == slot)
            return true;
    }
    return false;
}

static double sp_column_rank(const sp_shapes *shapes, sp_slot_type slot)
{
    const ptrdiff_t at = sp_layer_find(&shapes->of[0], slot, slot, 0);
    const sp_layer *surfaces = &shapes->of[1];
    double n = 0.0;
    double squares = 0.0;
    double beta = 0.0;
    bool is_in = sp_is_chosen(shapes, slot);
    for (ptrdiff_t i = 0; at >= 0 && i < SP_HATS; i++) {
        float *cell = shapes->of[0].parts[at].cells + i * sp_cell_width(shapes->lanes);
        const double N = sp_cell_count(sp_cell_c(cell, shapes->lanes), shapes->lanes);
        n += N;
        squares += N * ((double)*cell * (double)*cell);
    }
    for (ptrdiff_t i = 0; i < surfaces->n; i++) {
        const sp_shape *part = &surfaces->parts[i];
        if (sp_shape_is_new(part) || (part->a != slot && part->b != slot))
            continue;
        is_in = is_in || shapes->n_chosen == 0; /* after a merge, nothing is chosen */
        beta = SP_MAX(beta, (double)part->gate.value - SP_GATE_FIRST);
    }
    double rank = n > 0.0 ? sqrt(squares / n) : 0.0;
    if (is_in)
        rank *= 1.1;
    return rank + 3.0 * beta;
}

/* A choice in progress: places of columns. */
typedef struct sp_choice {
    ptrdiff_t n;
    ptrdiff_t of[SP_SURFACES_MOST];
} sp_choice;

static bool sp_choice_has(const sp_choice *choice, ptrdiff_t at)
{
    for (ptrdiff_t i = 0; i < choice->n; i++) {
        if (choice->of[i] == at)
            return true;
    }
    return false;
}

/* Add the columns of highest rank, of equal ones the first, until there are `most`. */
static void sp_choose_by_rank(const sp_shapes *shapes, sp_choice *choice, ptrdiff_t most)
{
    while (choice->n < most) {
        ptrdiff_t best = -1;
        for (ptrdiff_t i = 0; i < shapes->n_columns; i++) {
            if ((best < 0 || shapes->rank[i] > shapes->rank[best]) && !sp_choice_has(choice, i))
                best = i;
        }
        choice->of[choice->n++] = best;
    }
}

/* Add pairs of columns that are informative only together. */
static void sp_choose_guests(const sp_shapes *shapes, sp_choice *choice, ptrdiff_t most)
{
    ptrdiff_t first;
    const ptrdiff_t n = sp_watched(shapes, &first);
    while (choice->n < most) {
        const double *S = shapes->S;
        double largest = SP_GUEST_LEAST * shapes->Z;
        ptrdiff_t a = -1;
        ptrdiff_t b = -1;
        for (ptrdiff_t i = 0; i < n; i++) {
            const ptrdiff_t one = (first + i) % shapes->n_columns;
            const int in = !sp_choice_has(choice, one);
            for (ptrdiff_t j = i + 1; j < n; j++, S++) {
                if (!(*S * *S > largest))
                    continue;
                const ptrdiff_t other = (first + j) % shapes->n_columns;
                const int come = in + !sp_choice_has(choice, other);
                if (come == 0 || come > most - choice->n)
                    continue;
                largest = *S * *S;
                a = one;
                b = other;
            }
        }
        if (a < 0)
            return;
        if (!sp_choice_has(choice, a))
            choice->of[choice->n++] = a;
        if (!sp_choice_has(choice, b))
            choice->of[choice->n++] = b;
    }
}

/* Drop the surfaces of columns that are not chosen. */
static void sp_forget_surfaces(sp_shapes *shapes)
{
    sp_layer *layer = &shapes->of[1];
    ptrdiff_t n = 0;
    for (ptrdiff_t i = 0; i < layer->n; i++) {
        const sp_shape *part = &layer->parts[i];
        if (sp_is_chosen(shapes, part->a) && sp_is_chosen(shapes, part->b))
            layer->parts[n++] = *part;
        else
            sp_free(part->cells);
    }
    layer->n = n;
}

/* Drop the curves of slots that are not columns any more. */
static void sp_forget_curves(sp_shapes *shapes)
{
    sp_layer *layer = &shapes->of[0];
    const ptrdiff_t columns = shapes->n_columns;
    ptrdiff_t n = 0;
    ptrdiff_t near = 0; /* both lists rise, if names are not hashed */
    for (ptrdiff_t i = 0; i < layer->n; i++) {
        bool lasts = false;
        for (ptrdiff_t k = 0; k < columns && !lasts; k++) {
            near = near + 1 < columns ? near + 1 : 0;
            lasts = shapes->columns[near] == layer->parts[i].a;
        }
        if (lasts)
            layer->parts[n++] = layer->parts[i];
        else
            sp_free(layer->parts[i].cells);
    }
    layer->n = n;
}

SP_PRIVATE void sp_shapes_seat(sp_shapes *shapes)
{
    for (ptrdiff_t i = 0; i < shapes->n_chosen; i++) {
        for (ptrdiff_t j = i + 1; j < shapes->n_chosen; j++)
            shapes->seats[i * SP_SURFACES_MOST + j] = (int16_t)sp_layer_find(
                &shapes->of[1], shapes->chosen[i], shapes->chosen[j], 0);
    }
}

SP_PRIVATE void sp_shapes_choose(sp_shapes *shapes, const sp_shaped *w, double T, ptrdiff_t most,
                                 bool changed)
{
    const ptrdiff_t n = shapes->n_columns;
    sp_choice choice = {0};
    if (changed)
        sp_forget_curves(shapes);
    if (shapes->n_layers < SP_SHAPE_AUTO)
        return;
    if (changed)
        sp_wonder_anew(shapes);
    else if (n > most)
        sp_wonder(shapes, w);
    if (!changed && shapes->n_chosen <= most && (n <= most || shapes->next > T)) {
        if (w->made)
            sp_shapes_seat(shapes);
        return;
    }
    if (n <= most) {
        for (; choice.n < n; choice.n++)
            choice.of[choice.n] = choice.n;
    } else {
        for (ptrdiff_t i = 0; i < n; i++)
            shapes->rank[i] = sp_column_rank(shapes, shapes->columns[i]);
        const bool guests = T >= SP_GUESTS_FROM;
        sp_choose_by_rank(shapes, &choice, guests ? SP_MAX(most - 2, (ptrdiff_t)0) : most);
        if (guests)
            sp_choose_guests(shapes, &choice, most);
        sp_choose_by_rank(shapes, &choice, most);
        shapes->n_choices += 1;
        shapes->next = T + (guests ? 512.0 : 32.0);
        if (n > SP_WATCHED_MOST)
            sp_wonder_anew(shapes);
    }
    shapes->n_chosen = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        if (sp_choice_has(&choice, i))
            shapes->chosen[shapes->n_chosen++] = shapes->columns[i];
    }
    sp_forget_surfaces(shapes);
    sp_shapes_seat(shapes);
}
