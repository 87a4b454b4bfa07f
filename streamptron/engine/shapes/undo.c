#include "shapes/undo.h"

#include "features/undo.h"

#include <string.h>

#define SP_SNAPSHOT_W_MOST 1e30f /* limits for om and w from outside, */
#define SP_SNAPSHOT_G_MOST 1e37f /* and for G */

enum {
    SP_SNAPSHOT_LAYER = 2 + SP_DRIFT_NUMBERS, /* tau, Gtau, the watch's */
    SP_SNAPSHOT_CELL_OM = 0,                  /* a cell's numbers, in this order */
    SP_SNAPSHOT_CELL_C,
    SP_SNAPSHOT_CELL_FIRST, /* then w and G of each output that steps */
};

typedef struct sp_snapshot_patch {
    uint32_t a; /* its columns, among the step's */
    uint32_t b;
    uint32_t n; /* cells; 0: the step's own choice has dropped it */
    uint8_t cell[4];
    sp_gate before;
    sp_gate after;
} sp_snapshot_patch;

/* Where everything is in the bytes of a step. */
typedef struct sp_snapshot_spots {
    uint64_t layers;
    uint64_t columns;
    uint64_t outputs[SP_LAYERS];
    uint64_t patches[SP_LAYERS];
    uint64_t numbers[SP_LAYERS];
    uint64_t row[SP_LAYERS]; /* bytes of a part's numbers before the step, and after it */
    uint64_t end;
} sp_snapshot_spots;

/* The most cells that a part of this layer has in an event. */
static uint32_t sp_patch_cells(int layer)
{
    return layer ? 4 : 2;
}

static uint64_t sp_even(uint64_t n)
{
    return n + (n & 1);
}

/* Counts have 32 bits: sizes of at most 48 bytes for each do not overflow; a part's numbers may. */
static sp_snapshot_spots sp_snapshot_spots_of(const sp_snapshot_shapes *kept)
{
    sp_snapshot_spots at;
    uint64_t end = sizeof(sp_snapshot_shapes);
    at.layers = end;
    end += (uint64_t)kept->n_layers * (2 * SP_SNAPSHOT_LAYER * sizeof(double));
    at.columns = end;
    end += sp_even(kept->n_columns) * sizeof(uint32_t);
    for (int i = 0; i < SP_LAYERS; i++) {
        at.outputs[i] = end;
        end += sp_even(kept->m[i]) * sizeof(uint32_t);
        at.row[i] = (uint64_t)sp_patch_cells(i)
                    * (SP_SNAPSHOT_CELL_FIRST + 2 * (uint64_t)kept->m[i]) * sizeof(float);
    }
    for (int i = 0; i < SP_LAYERS; i++) {
        at.patches[i] = end;
        end += (uint64_t)kept->n[i] * sizeof(sp_snapshot_patch);
    }
    for (int i = 0; i < SP_LAYERS; i++) {
        at.numbers[i] = end;
        end += kept->n[i] * (2 * at.row[i]);
    }
    at.end = end;
    return at;
}

static sp_snapshot_shapes sp_snapshot_shapes_read(const uint8_t *p)
{
    sp_snapshot_shapes kept;
    memcpy(&kept, p, sizeof(kept));
    return kept;
}

/* A layer's own numbers, before the step or after it. */
static double *sp_snapshot_layer(uint8_t *p, const sp_snapshot_spots *at, int layer, bool after)
{
    return (double *)(void *)(p + at->layers) + (2 * layer + after) * SP_SNAPSHOT_LAYER;
}

static uint32_t *sp_snapshot_layer_outputs(uint8_t *p, const sp_snapshot_spots *at, int layer)
{
    return (uint32_t *)(void *)(p + at->outputs[layer]);
}

static sp_snapshot_patch *sp_snapshot_layer_patches(uint8_t *p, const sp_snapshot_spots *at,
                                                    int layer)
{
    return (sp_snapshot_patch *)(void *)(p + at->patches[layer]);
}

/* The numbers of the cells of part i. */
static float *sp_snapshot_row(uint8_t *p, const sp_snapshot_spots *at, int layer, uint64_t i,
                              bool after)
{
    return (float *)(void *)(p + at->numbers[layer] + (2 * i + after) * at->row[layer]);
}

/* --- Written down */

static sp_snapshot_shapes sp_snapshot_shapes_of(const sp_shapes *shapes, const sp_shaped *w)
{
    sp_snapshot_shapes kept = {.n_layers = (uint32_t)shapes->n_layers,
                           .n_columns = (uint32_t)w->of[0].n};
    for (int i = 0; i < shapes->n_layers; i++) {
        kept.n[i] = (uint32_t)w->of[i].n;
        kept.m[i] = (uint32_t)w->of[i].n_paces;
    }
    return kept;
}

SP_PRIVATE size_t sp_snapshot_shapes_bytes(const sp_shapes *shapes, const sp_shaped *w)
{
    const sp_snapshot_shapes kept = sp_snapshot_shapes_of(shapes, w);
    return (size_t)sp_snapshot_spots_of(&kept).end;
}

SP_PRIVATE uint32_t *sp_snapshot_shapes_columns(uint8_t *p)
{
    const sp_snapshot_shapes kept = sp_snapshot_shapes_read(p);
    return (uint32_t *)(void *)(p + sp_snapshot_spots_of(&kept).columns);
}

static void sp_snapshot_layer_fill(const sp_layer *layer, double *to)
{
    to[0] = layer->tau;
    to[1] = layer->Gtau;
    sp_drift_read(&layer->drift, to + 2);
}

/* A cell's numbers; those of a new cell if it is NULL, and for labels without lanes. */
static void sp_snapshot_cell_fill(float *cell, ptrdiff_t lanes, ptrdiff_t y, const uint32_t *k,
                                  uint32_t m, float *to)
{
    const ptrdiff_t known = cell == NULL ? 0 : sp_cell_outputs(lanes);
    to[SP_SNAPSHOT_CELL_OM] = cell == NULL ? SP_CELL_OM_FIRST : *cell;
    to[SP_SNAPSHOT_CELL_C]
        = cell != NULL && y < sp_cell_labels(lanes) ? sp_cell_c(cell, lanes)[y] : 0.0f;
    to += SP_SNAPSHOT_CELL_FIRST;
    for (uint32_t j = 0; j < m; j++, to += 2) {
        const bool there = (ptrdiff_t)k[j] < known;
        to[0] = there ? sp_cell_w(cell, lanes)[k[j]] : 0.0f;
        to[1] = there ? sp_cell_G(cell, lanes)[k[j]] : 0.0f;
    }
}

/* A gate that has learned nothing counts as having Gamma 1. */
static sp_gate sp_snapshot_gate(const sp_shape *part)
{
    sp_gate gate = {(float)SP_GATE_FIRST, 1.0f};
    if (part != NULL) {
        gate.value = part->gate.value;
        gate.Gamma = sp_shape_is_new(part) ? 1.0f : part->gate.Gamma;
    }
    return gate;
}

/* Find the columns of the surfaces. Curves and surfaces have the same order. */
static void sp_snapshot_name_surfaces(const sp_shaped *w, sp_snapshot_patch *patches)
{
    const sp_heard *curves = &w->of[0];
    const sp_heard *heard = &w->of[1];
    uint32_t a = 0;
    uint32_t b = 0;
    for (ptrdiff_t i = 0; i < heard->n; i++) {
        const sp_patch *patch = &heard->patches[i];
        if (i == 0 || curves->patches[a].a != patch->a) {
            while (curves->patches[a].a != patch->a)
                a++;
            b = a;
        }
        while (curves->patches[b].a != patch->b)
            b++;
        patches[i].a = a;
        patches[i].b = b;
    }
}

SP_PRIVATE void sp_snapshot_shapes_before(const sp_shapes *shapes, const sp_shaped *w, ptrdiff_t y,
                                          uint8_t *p)
{
    const sp_snapshot_shapes kept = sp_snapshot_shapes_of(shapes, w);
    const sp_snapshot_spots at = sp_snapshot_spots_of(&kept);
    const ptrdiff_t width = sp_cell_width(shapes->lanes);
    memset(p, 0, (size_t)at.end);
    memcpy(p, &kept, sizeof(kept));
    for (int layer = 0; layer < shapes->n_layers; layer++) {
        const sp_heard *heard = &w->of[layer];
        const uint32_t m = kept.m[layer];
        uint32_t *k = sp_snapshot_layer_outputs(p, &at, layer);
        sp_snapshot_patch *to = sp_snapshot_layer_patches(p, &at, layer);
        sp_snapshot_layer_fill(&shapes->of[layer], sp_snapshot_layer(p, &at, layer, false));
        for (uint32_t j = 0; j < m; j++)
            k[j] = (uint32_t)heard->paces[j].k;
        for (uint32_t i = 0; i < kept.n[layer]; i++) {
            const sp_patch *patch = &heard->patches[i];
            const sp_shape *part
                = patch->part < 0 ? NULL : &shapes->of[layer].parts[patch->part];
            float *numbers = sp_snapshot_row(p, &at, layer, i, false);
            to[i].a = to[i].b = i;
            to[i].n = (uint32_t)patch->n;
            to[i].before = sp_snapshot_gate(part);
            for (int c = 0; c < patch->n; c++, numbers += SP_SNAPSHOT_CELL_FIRST + 2 * m) {
                to[i].cell[c] = (uint8_t)patch->cell[c];
                sp_snapshot_cell_fill(part == NULL ? NULL : part->cells + patch->cell[c] * width,
                                      shapes->lanes, y, k, m, numbers);
            }
        }
    }
    if (shapes->n_layers > SP_SHAPE_CURVE)
        sp_snapshot_name_surfaces(w, sp_snapshot_layer_patches(p, &at, 1));
}

/* If counts were halved, pretend that the step has not changed them. */
static void sp_snapshot_halved(float *before, const float *after, double added)
{
    if (after[SP_SNAPSHOT_CELL_C] == (float)((double)before[SP_SNAPSHOT_CELL_C] + added))
        return;
    before[SP_SNAPSHOT_CELL_OM] = after[SP_SNAPSHOT_CELL_OM];
    before[SP_SNAPSHOT_CELL_C] = after[SP_SNAPSHOT_CELL_C];
}

SP_PRIVATE void sp_snapshot_shapes_after(const sp_shapes *shapes, const sp_shaped *w, ptrdiff_t y,
                                         double u, uint8_t *p)
{
    const sp_snapshot_shapes kept = sp_snapshot_shapes_read(p);
    const sp_snapshot_spots at = sp_snapshot_spots_of(&kept);
    const ptrdiff_t width = sp_cell_width(shapes->lanes);
    for (int layer = 0; layer < shapes->n_layers; layer++) {
        const sp_heard *heard = &w->of[layer];
        const uint32_t m = kept.m[layer];
        const uint32_t *k = sp_snapshot_layer_outputs(p, &at, layer);
        sp_snapshot_patch *to = sp_snapshot_layer_patches(p, &at, layer);
        sp_snapshot_layer_fill(&shapes->of[layer], sp_snapshot_layer(p, &at, layer, true));
        for (uint32_t i = 0; i < kept.n[layer]; i++) {
            const sp_patch *patch = &heard->patches[i];
            const ptrdiff_t found
                = sp_layer_find(&shapes->of[layer], patch->a, patch->b, patch->part);
            const sp_shape *part = found < 0 ? NULL : &shapes->of[layer].parts[found];
            float *before = sp_snapshot_row(p, &at, layer, i, false);
            float *after = sp_snapshot_row(p, &at, layer, i, true);
            to[i].after = sp_snapshot_gate(part);
            if (part == NULL)
                to[i].n = 0;
            for (uint32_t c = 0; c < to[i].n; c++) {
                sp_snapshot_cell_fill(part->cells + patch->cell[c] * width, shapes->lanes, y, k, m,
                                      after);
                sp_snapshot_halved(before, after, u * patch->value[c]);
                before += SP_SNAPSHOT_CELL_FIRST + 2 * m;
                after += SP_SNAPSHOT_CELL_FIRST + 2 * m;
            }
        }
    }
}

/* --- Checked */

static bool sp_is_sound_gate(const sp_gate *gate)
{
    return gate->value >= 0.0f && gate->value <= (float)SP_GATE_MOST
           && (double)gate->Gamma >= SP_GAMMA_LEAST && gate->Gamma <= (float)SP_GAMMA_MOST;
}

static bool sp_is_sound_layer(const double *numbers)
{
    return numbers[0] >= 0.0 && numbers[0] <= SP_GATE_MOST_LAYER && numbers[1] >= SP_GAMMA_LEAST
           && numbers[1] <= SP_GAMMA_MOST && sp_drift_is_sound(numbers + 2);
}

static bool sp_is_sound_cell(const float *numbers, uint32_t m)
{
    if (!(numbers[SP_SNAPSHOT_CELL_OM] >= SP_CELL_OM_FIRST
          && numbers[SP_SNAPSHOT_CELL_OM] <= SP_SNAPSHOT_W_MOST
          && numbers[SP_SNAPSHOT_CELL_C] >= 0.0f && numbers[SP_SNAPSHOT_CELL_C]
          <= (float)SP_COUNT_MOST))
        return false;
    numbers += SP_SNAPSHOT_CELL_FIRST;
    for (uint32_t j = 0; j < m; j++, numbers += 2) {
        if (!(fabsf(numbers[0]) <= SP_SNAPSHOT_W_MOST && numbers[1] >= 0.0f
              && numbers[1] <= SP_SNAPSHOT_G_MOST))
            return false;
    }
    return true;
}

/* Whether part i of a layer can come from a step. A step's counts never fall. */
static bool sp_is_sound_patch(uint8_t *p, const sp_snapshot_spots *at,
                              const sp_snapshot_shapes *kept, int layer, uint64_t i)
{
    const sp_snapshot_patch *patch = sp_snapshot_layer_patches(p, at, layer) + i;
    const uint32_t m = kept->m[layer];
    const float *before = sp_snapshot_row(p, at, layer, i, false);
    const float *after = sp_snapshot_row(p, at, layer, i, true);
    if (patch->a >= kept->n_columns || patch->b >= kept->n_columns
        || (layer ? patch->a >= patch->b : patch->a != patch->b)
        || patch->n > sp_patch_cells(layer) || !sp_is_sound_gate(&patch->before)
        || !sp_is_sound_gate(&patch->after))
        return false;
    for (uint32_t c = 0; c < patch->n; c++) {
        if (patch->cell[c] >= sp_layer_cells(layer) || !sp_is_sound_cell(before, m)
            || !sp_is_sound_cell(after, m) || after[SP_SNAPSHOT_CELL_C] <
            before[SP_SNAPSHOT_CELL_C]) return false;
        before += SP_SNAPSHOT_CELL_FIRST + 2 * m;
        after += SP_SNAPSHOT_CELL_FIRST + 2 * m;
    }
    return true;
}

/* Whether the counts match the number of bytes. */
static bool sp_snapshot_shapes_fit(const sp_snapshot_shapes *kept, size_t bytes)
{
    const sp_snapshot_spots at = sp_snapshot_spots_of(kept);
    for (int i = 0; i < SP_LAYERS; i++) {
        if (kept->n[i] > bytes / (2 * at.row[i]))
            return false;
    }
    return at.end == bytes;
}

SP_PRIVATE bool sp_snapshot_shapes_are_sound(uint8_t *p, size_t bytes, int n_layers, ptrdiff_t n,
                                             ptrdiff_t outputs)
{
    if (bytes < sizeof(sp_snapshot_shapes))
        return false;
    const sp_snapshot_shapes kept = sp_snapshot_shapes_read(p);
    if (kept.n_layers != (uint32_t)n_layers || !sp_snapshot_shapes_fit(&kept, bytes)
        || (n_layers < SP_SHAPE_AUTO && (kept.n[1] || kept.m[1])))
        return false;
    const sp_snapshot_spots at = sp_snapshot_spots_of(&kept);
    const uint32_t *columns = (const uint32_t *)(const void *)(p + at.columns);
    for (uint32_t i = 0; i < kept.n_columns; i++) {
        if ((ptrdiff_t)columns[i] >= n)
            return false;
    }
    for (int layer = 0; layer < n_layers; layer++) {
        const uint32_t *k = sp_snapshot_layer_outputs(p, &at, layer);
        if (!sp_is_sound_layer(sp_snapshot_layer(p, &at, layer, false))
            || !sp_is_sound_layer(sp_snapshot_layer(p, &at, layer, true)))
            return false;
        for (uint32_t j = 0; j < kept.m[layer]; j++) {
            if ((ptrdiff_t)k[j] >= outputs || (j && k[j] <= k[j - 1]))
                return false;
        }
        for (uint32_t i = 0; i < kept.n[layer]; i++) {
            if (!sp_is_sound_patch(p, &at, &kept, layer, i))
                return false;
        }
    }
    return true;
}

/* --- Taken back */

static double sp_shape_bounded(double number, double low, double high)
{
    return number > low ? SP_MIN(number, high) : low;
}

static void sp_layer_back(sp_layer *layer, const double *before, const double *after)
{
    double drift[SP_DRIFT_NUMBERS];
    layer->tau = sp_shape_bounded(sp_back_number(layer->tau, before[0], after[0]), 0.0,
                           SP_GATE_MOST_LAYER);
    layer->Gtau = sp_shape_bounded(sp_back_number(layer->Gtau, before[1], after[1]), SP_GAMMA_LEAST,
                            SP_GAMMA_MOST);
    sp_drift_read(&layer->drift, drift);
    if (memcmp(drift, after + 2, sizeof drift) == 0)
        sp_drift_write(&layer->drift, before + 2);
}

static void sp_gate_back(sp_shape *part, const sp_gate *before, const sp_gate *after)
{
    const sp_gate now = sp_snapshot_gate(part);
    const double value = sp_back_number((double)now.value, (double)before->value,
                                        (double)after->value);
    const double Gamma = sp_back_number((double)now.Gamma, (double)before->Gamma,
                                        (double)after->Gamma);
    part->gate.value = (float)sp_shape_bounded(value, 0.0, SP_GATE_MOST);
    part->gate.Gamma = (float)sp_shape_bounded(Gamma, SP_GAMMA_LEAST, SP_GAMMA_MOST);
}

/* Restore w and G of output k. */
static void sp_output_back(float *cell, ptrdiff_t lanes, ptrdiff_t k, float share,
                           const float *before, const float *after)
{
    float *w = sp_cell_w(cell, lanes) + k;
    float *G = sp_cell_G(cell, lanes) + k;
    *w = sp_back(*w, share * before[0], share * after[0]);
    *G = sp_back_count(*G, before[1], after[1]);
}

static void sp_cell_back(float *cell, ptrdiff_t lanes, const sp_unshaping *of, const uint32_t *k,
                         uint32_t m, const float *before, const float *after, const double *rD)
{
    float *c = sp_cell_c(cell, lanes) + of->y;
    const bool same = *cell == after[SP_SNAPSHOT_CELL_OM] && *c == after[SP_SNAPSHOT_CELL_C];
    for (uint32_t j = 0; j < m; j++) {
        const float *b = before + SP_SNAPSHOT_CELL_FIRST + 2 * j;
        const float *a = after + SP_SNAPSHOT_CELL_FIRST + 2 * j;
        if (!of->one || lanes == 0)
            sp_output_back(cell, lanes, k[j], 1.0f, b, a);
        else {
            sp_output_back(cell, lanes, of->positive, 0.5f, b, a);
            sp_output_back(cell, lanes, 1 - of->positive, -0.5f, b, a);
        }
    }
    *c = sp_back_count(*c, before[SP_SNAPSHOT_CELL_C], after[SP_SNAPSHOT_CELL_C]);
    *cell = same ? before[SP_SNAPSHOT_CELL_OM]
                 : sp_cell_om(sp_cell_c(cell, lanes), lanes, of->T + (double)of->n_labels, rD);
}

SP_PRIVATE void sp_shapes_take_back(sp_shapes *shapes, const sp_unshaping *of, sp_shaped *w,
                                    uint8_t *p)
{
    const sp_snapshot_shapes kept = sp_snapshot_shapes_read(p);
    const sp_snapshot_spots at = sp_snapshot_spots_of(&kept);
    const uint32_t *columns = (const uint32_t *)(const void *)(p + at.columns);
    const ptrdiff_t lanes = shapes->lanes;
    sp_shaped_weigh_labels(shapes, w, of->n_labels, of->D);
    for (int layer = 0; layer < shapes->n_layers; layer++) {
        sp_layer *its = &shapes->of[layer];
        const uint32_t m = kept.m[layer];
        const uint32_t *k = sp_snapshot_layer_outputs(p, &at, layer);
        const sp_snapshot_patch *patches = sp_snapshot_layer_patches(p, &at, layer);
        ptrdiff_t near = 0;
        sp_layer_back(its, sp_snapshot_layer(p, &at, layer, false),
                      sp_snapshot_layer(p, &at, layer, true));
        for (uint32_t i = 0; i < kept.n[layer]; i++) {
            const sp_slot_type a = of->slots[columns[patches[i].a]];
            const sp_slot_type b = of->slots[columns[patches[i].b]];
            const float *before = sp_snapshot_row(p, &at, layer, i, false);
            const float *after = sp_snapshot_row(p, &at, layer, i, true);
            const ptrdiff_t found = patches[i].n ? sp_layer_find(its, a, b, near) : -1;
            if (found < 0)
                continue;
            near = found + 1;
            sp_gate_back(&its->parts[found], &patches[i].before, &patches[i].after);
            for (uint32_t c = 0; c < patches[i].n; c++) {
                sp_cell_back(its->parts[found].cells + patches[i].cell[c] * sp_cell_width(lanes),
                             lanes, of, k, m, before, after, w->rD);
                before += SP_SNAPSHOT_CELL_FIRST + 2 * m;
                after += SP_SNAPSHOT_CELL_FIRST + 2 * m;
            }
        }
    }
}
