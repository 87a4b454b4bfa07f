#include "shapes/layers.h"

#include "features/loops.h"
#include "memory/grow.h"
#include "memory/heap.h"

#include <string.h>

#define SP_SHAPE_LEAST 1e-6    /* a hat or cell that is less near is left out */
#define SP_SHAPE_THR 0.03125   /* a smaller error makes no step */
#define SP_SHAPE_WIDE 0.25     /* a larger error makes entries */
#define SP_SHAPE_COUNT 0x1p20  /* c is halved while N is at least this */

/* --- Scratch */

static void sp_heard_free(sp_heard *heard)
{
    sp_free(heard->patches);
    sp_free(heard->numbers);
    sp_free(heard->paces);
}

SP_PRIVATE void sp_shaped_free(sp_shaped *w)
{
    for (int i = 0; i < SP_LAYERS; i++)
        sp_heard_free(&w->of[i]);
    sp_free(w->final);
    sp_free(w->rD);
    sp_free(w->spare);
    sp_free(w->v);
    sp_free(w->gap);
}

SP_PRIVATE size_t sp_shaped_bytes(const sp_shaped *w)
{
    size_t bytes = (size_t)w->labels_room * 4 * sizeof(double)
                   + (size_t)w->lanes_room * sizeof(double)
                   + (size_t)sp_cell_width(w->lanes_room) * sizeof(float)
                   + (size_t)w->columns_room * (sizeof(double) + sizeof(bool));
    for (int i = 0; i < SP_LAYERS; i++)
        bytes += (size_t)w->of[i].room * sizeof(sp_patch)
                 + (size_t)w->of[i].numbers_room * sizeof(double)
                 + (size_t)w->of[i].paces_room * sizeof(sp_pace);
    return bytes;
}

/* Room for a layer's n patches. -1 if out of memory. */
static int sp_heard_room(sp_heard *heard, ptrdiff_t n, ptrdiff_t outputs)
{
    const ptrdiff_t labels = (outputs + 1 + 3) / 4 * 4; /* one label may be new */
    const ptrdiff_t numbers = 2 * labels + n * labels;
    if (n > heard->room) {
        const ptrdiff_t room = n + n / 2 + 4;
        if (SP_GROW(heard->patches, room) < 0)
            return -1;
        heard->room = room;
    }
    if (numbers > heard->numbers_room) {
        const ptrdiff_t room = numbers + numbers / 2;
        if (SP_GROW(heard->numbers, room) < 0)
            return -1;
        heard->numbers_room = room;
    }
    heard->H = heard->numbers;
    heard->g = heard->numbers + labels;
    heard->s = heard->numbers + 2 * labels;
    if (labels > heard->paces_room) {
        if (SP_GROW(heard->paces, labels) < 0)
            return -1;
        heard->paces_room = labels;
    }
    return 0;
}

SP_PRIVATE int sp_shaped_room(const sp_shapes *shapes, sp_shaped *w, ptrdiff_t n,
                              ptrdiff_t outputs)
{
    const ptrdiff_t labels = (outputs + 2 + 3) / 4 * 4;
    const ptrdiff_t pairs = shapes->n_chosen * (shapes->n_chosen - 1) / 2;
    if (labels > w->labels_room) {
        const ptrdiff_t room = labels + labels / 2 / 4 * 4;
        if (SP_GROW(w->final, 4 * room) < 0)
            return -1;
        w->line = w->final + room;
        w->e = w->final + 2 * room;
        w->d = w->final + 3 * room;
        w->labels_room = room;
    }
    if (n > w->columns_room) {
        const ptrdiff_t room = n + n / 2 + 4;
        const sp_growing all[] = {SP_GROWING(w->v, room), SP_GROWING(w->gap, room)};
        if (sp_grow_all(all, 2) < 0)
            return -1;
        w->columns_room = room;
    }
    if (sp_heard_room(&w->of[0], n, outputs) < 0
        || (shapes->n_layers > SP_SHAPE_CURVE && sp_heard_room(&w->of[1], pairs, outputs) < 0))
        return -1;
    w->outputs = outputs;
    w->n_columns = n;
    return 0;
}

/* --- The patches of an event */

typedef struct sp_grid { /* the first of the two places around a value, and the distance */
    int32_t at;
    double f;
} sp_grid;

static sp_grid sp_grid_of(double v, double middle, int most)
{
    double t = v * 2.0 + middle;
    t = t < 0.0 ? 0.0 : t > (double)most ? (double)most : t;
    sp_grid grid = {SP_MIN((int)t, most - 1), 0.0};
    grid.f = t - grid.at;
    return grid;
}

static void sp_patch_put(sp_patch *patch, int cell, double value)
{
    if (!(value >= SP_SHAPE_LEAST))
        return;
    patch->cell[patch->n] = cell;
    patch->value[patch->n] = value;
    patch->n += 1;
}

static void sp_write_curves(const sp_shapes *shapes, sp_shaped *w)
{
    sp_heard *heard = &w->of[0];
    ptrdiff_t near = 0;
    heard->n = 0;
    for (ptrdiff_t i = 0; i < w->n_columns; i++) {
        if (w->gap[i])
            continue;
        const sp_grid grid = sp_grid_of(w->v[i], 5.5, SP_HATS - 1);
        sp_patch *patch = &heard->patches[heard->n++];
        patch->a = patch->b = shapes->columns[i];
        patch->n = 0;
        sp_patch_put(patch, grid.at, 1.0 - grid.f);
        sp_patch_put(patch, grid.at + 1, grid.f);
        near = sp_layer_find(&shapes->of[0], patch->a, patch->a, near);
        patch->part = (int32_t)near;
        near += 1;
    }
}

static void sp_write_surface(sp_patch *patch, const sp_grid *a, const sp_grid *b)
{
    const int at = a->at * SP_PATCH_SIDE + b->at;
    patch->n = 0;
    sp_patch_put(patch, at, (1.0 - a->f) * (1.0 - b->f));
    sp_patch_put(patch, at + 1, (1.0 - a->f) * b->f);
    sp_patch_put(patch, at + SP_PATCH_SIDE, a->f * (1.0 - b->f));
    sp_patch_put(patch, at + SP_PATCH_SIDE + 1, a->f * b->f);
}

static void sp_write_surfaces(const sp_shapes *shapes, sp_shaped *w)
{
    sp_heard *heard = &w->of[1];
    sp_grid grids[SP_SURFACES_MOST];
    ptrdiff_t seat[SP_SURFACES_MOST];
    ptrdiff_t n = 0;
    ptrdiff_t at = 0;
    for (ptrdiff_t i = 0; i < w->n_columns && at < shapes->n_chosen; i++) {
        if (shapes->columns[i] != shapes->chosen[at])
            continue;
        if (!w->gap[i]) {
            grids[n] = sp_grid_of(w->v[i], 4.0, SP_PATCH_SIDE - 1);
            seat[n++] = at;
        }
        at++;
    }
    heard->n = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        for (ptrdiff_t j = i + 1; j < n; j++) {
            sp_patch *patch = &heard->patches[heard->n++];
            patch->a = shapes->chosen[seat[i]];
            patch->b = shapes->chosen[seat[j]];
            patch->part = shapes->seats[seat[i] * SP_SURFACES_MOST + seat[j]];
            sp_write_surface(patch, &grids[i], &grids[j]);
        }
    }
}

/* --- The answer */

/* h of a layer's cells, and the sums over them; s is not multiplied by r yet. */
SP_TEMPLATE void sp_hear(const sp_layer *layer, sp_heard *heard, ptrdiff_t outputs, ptrdiff_t lanes,
                         double *squares, double *length)
{
    const ptrdiff_t width = sp_cell_width(lanes);
    double all = 0.0;
    double far = 0.0;
    for (ptrdiff_t p = 0; p < heard->n; p++) {
        sp_patch *patch = &heard->patches[p];
        double *s = heard->s + p * outputs;
        float *cells = patch->part < 0 ? NULL : layer->parts[patch->part].cells;
        for (ptrdiff_t k = 0; k < outputs; k++)
            s[k] = 0.0;
        for (int i = 0; i < patch->n; i++) {
            float *cell = cells == NULL ? NULL : cells + patch->cell[i] * width;
            const double h = (cell == NULL ? 0.125 : (double)*cell) * patch->value[i];
            patch->h[i] = h;
            all += h * h;
            far += h;
            if (cell == NULL)
                continue;
            const float *w = sp_cell_w(cell, lanes);
            for (ptrdiff_t k = 0; k < outputs; k++)
                s[k] += (double)w[k] * h;
        }
    }
    *squares = all;
    *length = far;
}

SP_AVX2_UNLESS_SMALL(void, sp_hear_all,
                     (const sp_layer *layer, sp_heard *heard, ptrdiff_t outputs, ptrdiff_t lanes,
                      double *squares, double *length),
                     (layer, heard, outputs, lanes, squares, length))
{
    if (lanes || outputs == 0) sp_hear(layer, heard, outputs, lanes, squares, length);
    else sp_hear(layer, heard, 1, 0, squares, length);
}

/* A layer's scores H, from the scores of the layer before it. */
static void sp_layer_answer(const sp_shapes *shapes, int i, sp_shaped *w, const double *before)
{
    const sp_layer *layer = &shapes->of[i];
    sp_heard *heard = &w->of[i];
    const ptrdiff_t outputs = w->outputs;
    double squares;
    const ptrdiff_t known = w->known;
    sp_hear_all(layer, heard, known, shapes->lanes, &squares, &heard->length);
    heard->r = squares > 0.0 ? 1.0 / sqrt(squares) : 0.0;
    heard->length *= heard->r;
    memcpy(heard->H, before, (size_t)outputs * sizeof(double));
    for (ptrdiff_t p = 0; p < heard->n; p++) {
        const int32_t part = heard->patches[p].part;
        const double gate = part < 0 ? SP_GATE_FIRST : (double)layer->parts[part].gate.value;
        double *s = heard->s + p * known;
        for (ptrdiff_t k = 0; k < known; k++) {
            s[k] *= heard->r;
            heard->H[k] += gate * s[k];
        }
    }
}

SP_PRIVATE void sp_shapes_answer(const sp_shapes *shapes, const sp_shaping *of, sp_shaped *w)
{
    const double *before = w->line;
    sp_write_curves(shapes, w);
    w->has = w->of[0].n > 0;
    w->bent = false;
    if (!w->has)
        return;
    w->of[1].n = 0;
    /* a label without a lane has no weights; it gets a lane when it is learned */
    w->known = of->two ? 1 : SP_MIN(w->outputs, shapes->lanes);
    if (shapes->n_layers > SP_SHAPE_CURVE)
        sp_write_surfaces(shapes, w);
    memcpy(w->final, w->line, (size_t)w->outputs * sizeof(double));
    for (int i = 0; i < shapes->n_layers; i++) {
        const double share = shapes->of[i].tau / of->tau;
        sp_layer_answer(shapes, i, w, before);
        for (ptrdiff_t k = 0; k < w->outputs; k++) {
            const double way = w->of[i].H[k] - before[k];
            w->bent |= i == 0 && way != 0.0;
            w->final[k] += share * way;
        }
        before = w->of[i].H;
    }
}

SP_PRIVATE double sp_patch_share(const sp_shapes *shapes, const sp_shaping *of, const sp_shaped *w,
                                 int layer, ptrdiff_t i, ptrdiff_t output)
{
    const sp_layer *its = &shapes->of[layer];
    const int32_t part = w->of[layer].patches[i].part;
    if (part < 0 || output >= w->known)
        return 0.0;
    return its->tau / of->tau * (double)its->parts[part].gate.value
           * w->of[layer].s[i * w->known + output];
}

/* --- The aim */

static void sp_aim_at(const sp_shaping *of, sp_heard *heard, double phi, ptrdiff_t k, double g,
                      double u)
{
    const double q = u * fabs(g);
    heard->g[k] = g;
    if (!(q > SP_SHAPE_THR))
        return;
    const double most = SP_REACH_MOST;
    const double eta = heard->length <= most ? of->eta : of->eta * (most / heard->length);
    const double kept = 1.0 - phi * q;
    heard->paces[heard->n_paces++] = (sp_pace){
        .k = k,
        .f = (eta * u) * g,
        .q = q,
        .kept = kept < 0.0 ? 0.0 : kept,
        .makes = of->two || g > 0.0 || q > SP_SHAPE_WIDE,
    };
}

/* How surprising label y was, given P of each label. */
static sp_surprise sp_surprised(const double *p, ptrdiff_t n, ptrdiff_t y)
{
    double expected[4] = {0.0, 0.0, 0.0, 0.0};
    double squares[4] = {0.0, 0.0, 0.0, 0.0};
    for (ptrdiff_t k = 0; k < n; k++) {
        const double missed = p[k] * (1.0 - p[k]);
        expected[k % 4] += missed;
        squares[k % 4] += missed * (1.0 - p[k]);
    }
    sp_surprise of = {1.0 - p[y], sp_lanes_sum(expected), sp_lanes_sum(squares)};
    of.variance = SP_MAX(0.0, of.variance - of.expected * of.expected);
    return of;
}

static void sp_layer_aim(const sp_layer *layer, const sp_shaping *of, sp_shaped *w, int i,
                         ptrdiff_t y, double begins, double u)
{
    sp_heard *heard = &w->of[i];
    const double phi = of->watches ? sp_drift_forget(&layer->drift) : of->forget;
    heard->n_paces = 0;
    if (of->two) {
        const double is = y == of->positive ? 1.0 : 0.0;
        const double p = sp_sigmoid(heard->H[0]);
        const double both[2] = {1.0 - p, p};
        heard->surprise = sp_surprised(both, 2, y == of->positive);
        sp_aim_at(of, heard, phi, 0, is - p, u);
        return;
    }
    const ptrdiff_t n = SP_MAX(w->outputs, y + 1);
    if (y == w->outputs)
        heard->H[y] = begins;
    sp_exps(heard->H, 1.0, sp_met_most(heard->H, n, heard->H[0]), w->e, n);
    const double total = sp_met_sum(w->e, n);
    for (ptrdiff_t k = 0; k < n; k++)
        w->e[k] /= total;
    heard->surprise = sp_surprised(w->e, n, y);
    for (ptrdiff_t k = 0; k < n; k++)
        sp_aim_at(of, heard, phi, k, (k == y ? 1.0 : 0.0) - w->e[k], u);
}

SP_PRIVATE void sp_shapes_aim(const sp_shapes *shapes, const sp_shaping *of, sp_shaped *w,
                              ptrdiff_t y, double begins, double u)
{
    w->n_errors = of->two ? 1 : SP_MAX(w->outputs, y + 1);
    for (int i = 0; i < shapes->n_layers; i++)
        sp_layer_aim(&shapes->of[i], of, w, i, y, begins, u);
}

SP_PRIVATE double sp_shapes_sharper(const sp_shapes *shapes, const sp_shaping *of, sp_shaped *w,
                                    ptrdiff_t y, double u)
{
    const double scale = of->tempering * of->tau;
    const ptrdiff_t n = w->outputs;
    double p[1];
    double total = 1.0;
    double sharper = 0.0;
    const double *e = p;
    if (of->two)
        p[0] = sp_sigmoid((w->final[0] * of->tempering) * of->tau);
    else {
        const double best = sp_met_most(w->final, n, w->final[0]) * scale;
        sp_exps(w->final, scale, best, w->e, n);
        total = sp_met_sum(w->e, n);
        e = w->e;
    }
    for (int i = -1; i < shapes->n_layers; i++) {
        const double *H = i < 0 ? w->line : w->of[i].H;
        const double *before = i < 0 ? NULL : i == 0 ? w->line : w->of[i - 1].H;
        double *d = w->d;
        for (ptrdiff_t k = 0; k < n; k++)
            d[k] = before == NULL ? H[k] : H[k] - before[k];
        double g;
        if (of->two)
            g = u * ((d[0] * of->tempering) * ((y == of->positive ? 1.0 : 0.0) - *e));
        else
            g = u * ((d[y] - sp_met_dot(e, d, n) / total) * of->tempering);
        if (i < 0)
            sharper = g;
        else
            w->of[i].sharper = g;
    }
    return sharper;
}

/* --- Memory for the step */

SP_PRIVATE int sp_shaped_lanes(const sp_shapes *shapes, sp_shaped *w)
{
    const ptrdiff_t labels = sp_cell_labels(shapes->lanes);
    if (labels <= w->lanes_room)
        return 0;
    if (SP_GROW(w->rD, labels) < 0 || SP_GROW(w->spare, sp_cell_width(labels)) < 0)
        return -1;
    memset(w->spare, 0, (size_t)sp_cell_width(labels) * sizeof(float));
    w->lanes_room = labels;
    return 0;
}

SP_PRIVATE int sp_shapes_reserve(sp_shapes *shapes, const sp_shaping *of, sp_shaped *w, ptrdiff_t y)
{
    w->made = false;
    if (!of->two && sp_shapes_lanes(shapes, SP_MAX(of->n_labels, y + 1)) < 0)
        return -1;
    if (!w->has)
        return 0;
    if (sp_shaped_lanes(shapes, w) < 0)
        return -1;
    for (int i = 0; i < shapes->n_layers; i++) {
        for (ptrdiff_t p = 0; p < w->of[i].n; p++) {
            const sp_patch *patch = &w->of[i].patches[p];
            if (patch->part >= 0)
                continue;
            if (sp_layer_make(shapes, i, patch->a, patch->b) == NULL)
                return -1;
            w->made = true;
        }
    }
    if (!w->made)
        return 0;
    for (int i = 0; i < shapes->n_layers; i++) {
        ptrdiff_t near = 0;
        for (ptrdiff_t p = 0; p < w->of[i].n; p++) {
            sp_patch *patch = &w->of[i].patches[p];
            near = sp_layer_find(&shapes->of[i], patch->a, patch->b, near);
            patch->part = (int32_t)near;
            near += 1;
        }
    }
    return 0;
}

/* --- The step */

SP_PRIVATE double sp_cell_count(const float *c, ptrdiff_t lanes)
{
    double all[4] = {0.0, 0.0, 0.0, 0.0};
    for (ptrdiff_t k = 0, n = sp_cell_labels(lanes); k < n; k++)
        all[k % 4] += (double)c[k];
    return sp_lanes_sum(all);
}

SP_API double sp_shape_met(const sp_shapes *shapes, int layer, ptrdiff_t part, ptrdiff_t cell)
{
    float *cells = shapes->of[layer].parts[part].cells;
    return sp_cell_count(
        sp_cell_c(cells + cell * sp_cell_width(shapes->lanes), shapes->lanes), shapes->lanes);
}

SP_TEMPLATE void sp_cell_sums(const float *c, ptrdiff_t labels, const double *rD, double *N,
                              double *squares)
{
    double all[4] = {0.0, 0.0, 0.0, 0.0};
    double of_squares[4] = {0.0, 0.0, 0.0, 0.0};
    for (ptrdiff_t k = 0; k < labels; k += 4) {
        for (int i = 0; i < 4 && k + i < labels; i++) {
            const double c_k = (double)c[k + i];
            all[i] += c_k;
            of_squares[i] += (c_k * c_k) * rD[k + i];
        }
    }
    *N = sp_lanes_sum(all);
    *squares = sp_lanes_sum(of_squares);
}

SP_PRIVATE float sp_cell_om(const float *c, ptrdiff_t lanes, double all, const double *rD)
{
    double N;
    double squares;
    sp_cell_sums(c, sp_cell_labels(lanes), rD, &N, &squares);
    return sp_om_known(1.0 / (N + 1.0), all, squares, N);
}

/* Halve the counts of a cell as long as they are too large. */
static void sp_cell_halve(float *c, ptrdiff_t lanes)
{
    double halved = 1.0;
    const double N = sp_cell_count(c, lanes);
    while (N * halved >= SP_SHAPE_COUNT)
        halved *= 0.5;
    for (ptrdiff_t k = 0, n = sp_cell_labels(lanes); k < n; k++)
        c[k] = (float)((double)c[k] * halved);
}

SP_PRIVATE void sp_cell_keep(float *cell, ptrdiff_t lanes, double all, const double *rD)
{
    sp_cell_halve(sp_cell_c(cell, lanes), lanes);
    *cell = sp_cell_om(sp_cell_c(cell, lanes), lanes, all, rD);
}

/* Take one step with the weights of four cells. */
SP_TEMPLATE void sp_cells_move(float *const *w, float *const *G, const double *X,
                               const sp_pace *pace)
{
    double grown[4];
    double far[4];
    for (int i = 0; i < 4; i++) {
        grown[i] = (double)(float)((double)*G[i] * pace->kept + pace->q * (X[i] * X[i]));
        far[i] = (pace->f * X[i]) / sqrt(grown[i] + SP_P0);
    }
    for (int i = 0; i < 4; i++) {
        if (!(pace->makes || *G[i] > 0.0f))
            continue;
        *G[i] = (float)grown[i];
        *w[i] = (float)((double)*w[i] + far[i]);
    }
}

/* Learn a patch: first its weights, then its counts. The spare cell replaces those that it
   lacks. */
SP_TEMPLATE void sp_patch_learn(float *cells, const sp_patch *patch, const sp_heard *heard,
                                ptrdiff_t lanes, ptrdiff_t y, double u, double all,
                                const double *rD, float *spare)
{
    float *cell[4], *w[4], *G[4];
    double X[4], N[4], squares[4], om[4];
    for (int i = 0; i < 4; i++) {
        const bool there = i < patch->n;
        cell[i] = there ? cells + patch->cell[i] * sp_cell_width(lanes) : spare;
        X[i] = there ? patch->h[i] * heard->r : 0.0;
    }
    for (ptrdiff_t j = 0; j < heard->n_paces; j++) {
        for (int i = 0; i < 4; i++) {
            w[i] = sp_cell_w(cell[i], lanes) + heard->paces[j].k;
            G[i] = sp_cell_G(cell[i], lanes) + heard->paces[j].k;
        }
        sp_cells_move(w, G, X, &heard->paces[j]);
    }
    for (int i = 0; i < patch->n; i++) {
        float *c = sp_cell_c(cell[i], lanes);
        c[y] = (float)((double)c[y] + u * patch->value[i]);
        sp_cell_sums(c, sp_cell_labels(lanes), rD, &N[i], &squares[i]);
        if (N[i] >= SP_SHAPE_COUNT) {
            sp_cell_halve(c, lanes);
            sp_cell_sums(c, sp_cell_labels(lanes), rD, &N[i], &squares[i]);
        }
    }
    for (int i = patch->n; i < 4; i++)
        N[i] = squares[i] = 0.0;
    for (int i = 0; i < 4; i++)
        om[i] = (double)sp_om_known(1.0 / (N[i] + 1.0), all, squares[i], N[i]);
    for (int i = 0; i < patch->n; i++)
        *cell[i] = (float)om[i];
}

SP_AVX2_UNLESS_SMALL(void, sp_patches_learn,
                     (const sp_layer *layer, const sp_heard *heard, ptrdiff_t lanes, ptrdiff_t y,
                      double u, double all, const double *rD, float *spare),
                     (layer, heard, lanes, y, u, all, rD, spare))
{
    for (ptrdiff_t p = 0; p < heard->n; p++) {
        const sp_patch *patch = &heard->patches[p];
        float *cells = layer->parts[patch->part].cells;
        if (lanes) sp_patch_learn(cells, patch, heard, lanes, y, u, all, rD, spare);
        else sp_patch_learn(cells, patch, heard, 0, y, u, all, rD, spare);
    }
}

SP_PRIVATE void sp_shaped_weigh_labels(const sp_shapes *shapes, sp_shaped *w, ptrdiff_t labels,
                                       const double *D)
{
    for (ptrdiff_t k = 0, n = sp_cell_labels(shapes->lanes); k < n; k++)
        w->rD[k] = k < labels ? 1.0 / (D[k] + 1.0) : 0.0;
}

/* Learn the gates of the event's parts. */
static void sp_gates_learn(const sp_layer *layer, const sp_heard *heard, ptrdiff_t outputs,
                           double u)
{
    for (ptrdiff_t p = 0; p < heard->n; p++) {
        const double *s = heard->s + p * outputs;
        const double way = outputs == 1 ? *heard->g * *s : sp_met_dot(heard->g, s, outputs);
        sp_gate_step(&layer->parts[heard->patches[p].part].gate, u * way);
    }
}

SP_PRIVATE void sp_shapes_learn(sp_shapes *shapes, const sp_shaping *of, sp_shaped *w, ptrdiff_t y,
                                double u, bool known, const double *D, double T)
{
    const ptrdiff_t labels = of->two ? 2 : SP_MAX(of->n_labels, y + 1);
    const double all = T + (double)labels;
    sp_shaped_weigh_labels(shapes, w, labels, D);
    for (int i = 0; i < shapes->n_layers; i++) {
        sp_layer *layer = &shapes->of[i];
        if (of->watches && known)
            sp_drift_see(&layer->drift, &w->of[i].surprise, u);
        sp_gates_learn(layer, &w->of[i], w->known, u);
        sp_patches_learn(layer, &w->of[i], shapes->lanes, y, u, all, w->rD, w->spare);
    }
}
