#include "shapes/mix.h"

#include "features/columns.h"
#include "learner/adaptive.h"
#include "memory/heap.h"
#include "merge/outputs.h"
#include "shapes/choose.h"
#include "shapes/layers.h"
#include "shapes/seen.h"

#include <string.h>

/* The base is the last side. */
typedef struct sp_shapes_merge {
    sp_merge *m;
    sp_shapes *to;
    ptrdiff_t labels;
    double all; /* the events, plus one for each label */
    double *rD;
    sp_shapes *seen;         /* by side, in the form of the merged learner */
    const sp_shape **parts;  /* for each of these the current part, or NULL */
    const float **differing; /* the cells of those that count */
    sp_seen how;
} sp_shapes_merge;

/* --- The sides */

typedef struct sp_mix_names {
    const sp_merge *m;
    const sp_shard *side;
} sp_mix_names;

/* The merged learner's slot of a column that has this place in a side. */
static sp_slot_type sp_mix_slot_of(const void *of, sp_slot_type place)
{
    const sp_mix_names *names = (const sp_mix_names *)of;
    const sp_index *its = &names->side->learner->index;
    const sp_index *to = &names->m->to->index;
    const bool in_file = its->bits != 0 && its->lookup != NULL;
    if (!in_file && (names->side == names->m->base || place < names->side->first))
        return place;
    const sp_key key = in_file ? sp_index_placed(its, place) : sp_shard_key(names->side, place);
    return sp_index_find(to, &key, sp_index_hash(to, &key));
}

/* Bring side k into the form of the merged learner. -1 if out of memory. */
static int sp_shapes_see(sp_shapes_merge *s, int k)
{
    const sp_shard *side = sp_mix_side(s->m, k);
    const sp_mix_names names = {s->m, side};
    sp_seen how = s->how;
    how.slot_of = sp_mix_slot_of;
    how.of = &names;
    how.labels = side->labels;
    how.sign = *side->signs;
    how.positive = side->learner->adaptive.positive;
    return sp_shapes_seen(&s->seen[k], &side->learner->adaptive.shapes, &how);
}

static bool sp_mix_is_column(const sp_learner *to, sp_slot_type slot)
{
    const sp_column *columns = (const sp_column *)(const void *)sp_table_chunk(
        &to->table, SP_BLOCK_COLUMNS, slot >> SP_CHUNK_BITS);
    return columns != NULL && columns[slot & SP_CHUNK_MASK].n > 0.0;
}

/* Make the parts of all sides, without any numbers. -1 if out of memory. */
static int sp_shapes_unite(sp_shapes_merge *s)
{
    for (int k = 0; k <= s->m->n; k++) {
        for (int i = 0; i < s->to->n_layers; i++) {
            const sp_layer *its = &s->seen[k].of[i];
            for (ptrdiff_t p = 0; p < its->n; p++) {
                const sp_shape *part = &its->parts[p];
                if (sp_mix_is_column(s->m->to, part->a) && sp_mix_is_column(s->m->to, part->b)
                    && sp_layer_make(s->to, i, part->a, part->b) == NULL)
                    return -1;
            }
        }
    }
    return 0;
}

/* --- Gates */

static double sp_bounded(double number, double least, double most)
{
    return number < least ? least : number > most ? most : number;
}

static void sp_mix_layer(const sp_shapes_merge *s, int i)
{
    const sp_merge *m = s->m;
    const sp_layer *base = &m->base->learner->adaptive.shapes.of[i];
    double *w_k = m->scratch;
    double *G_k = m->scratch + m->n;
    double w = base->tau;
    double G = base->Gtau;
    for (int k = 0; k < m->n; k++) {
        w_k[k] = m->shards[k].learner->adaptive.shapes.of[i].tau;
        G_k[k] = m->shards[k].learner->adaptive.shapes.of[i].Gtau;
    }
    sp_merge_weight(&w, &G, w_k, G_k, m->n);
    s->to->of[i].tau = sp_bounded(w, 0.0, SP_GATE_MOST_LAYER);
    s->to->of[i].Gtau = sp_bounded(G, SP_GAMMA_LEAST, SP_GAMMA_MOST);
}

static void sp_mix_gate(const sp_shapes_merge *s, sp_gate *gate)
{
    const sp_merge *m = s->m;
    const sp_shape *base = s->parts[m->n];
    double *w_k = m->scratch;
    double *G_k = m->scratch + m->n;
    double w = base == NULL ? SP_GATE_FIRST : (double)base->gate.value;
    double G = base == NULL ? 1.0 : (double)base->gate.Gamma;
    int n = 0;
    for (int k = 0; k < m->n; k++) {
        if (s->parts[k] == NULL)
            continue;
        w_k[n] = (double)s->parts[k]->gate.value;
        G_k[n++] = (double)s->parts[k]->gate.Gamma;
    }
    if (n)
        sp_merge_weight(&w, &G, w_k, G_k, n);
    gate->value = (float)sp_bounded(w, 0.0, SP_GATE_MOST);
    gate->Gamma = (float)sp_bounded(G, SP_GAMMA_LEAST, SP_GAMMA_MOST);
}

/* --- Hats and cells */

static bool sp_cells_differ(const float *one, const float *other, ptrdiff_t width)
{
    for (ptrdiff_t i = 1; i < width; i++) { /* not om, which also depends on other events */
        if (one[i] != other[i])
            return true;
    }
    return false;
}

/* Merge n shards' versions of a cell into the base's, which is in `to`. */
static void sp_mix_cell(const sp_shapes_merge *s, float *to, int n)
{
    const ptrdiff_t lanes = s->how.lanes;
    float *c = sp_cell_c(to, lanes);
    double *w_k = s->m->scratch;
    double *G_k = s->m->scratch + s->m->n;
    for (ptrdiff_t j = 0; j < s->labels; j++) {
        const double c0 = (double)c[j];
        const ptrdiff_t at = c + j - to;
        double count = c0;
        double loss = 0.0;
        for (int k = 0; k < n; k++)
            sp_merge_count(&count, &loss, c0, (double)s->differing[k][at]);
        count += loss;
        c[j] = (float)SP_MAX(count, 0.0);
    }
    for (ptrdiff_t j = 0; j < (lanes ? s->labels : 1); j++) {
        float *w_j = sp_cell_w(to, lanes) + j;
        float *G_j = sp_cell_G(to, lanes) + j;
        double w = (double)*w_j;
        double G = (double)*G_j;
        for (int k = 0; k < n; k++) {
            w_k[k] = (double)s->differing[k][w_j - to];
            G_k[k] = (double)s->differing[k][G_j - to];
        }
        sp_merge_weight(&w, &G, w_k, G_k, n);
        *w_j = (float)w;
        *G_j = (float)G;
    }
}

static void sp_mix_shape(const sp_shapes_merge *s, int layer, sp_shape *to)
{
    const int sides = s->m->n;
    const ptrdiff_t width = sp_cell_width(s->how.lanes);
    const size_t bytes = (size_t)width * sizeof(float);
    for (int k = 0; k <= sides; k++) {
        const ptrdiff_t at = sp_layer_find(&s->seen[k].of[layer], to->a, to->b, 0);
        s->parts[k] = at < 0 ? NULL : &s->seen[k].of[layer].parts[at];
    }
    sp_mix_gate(s, &to->gate);
    for (ptrdiff_t i = 0; i < sp_layer_cells(layer); i++) {
        float *cell = to->cells + i * width;
        int n = 0;
        if (s->parts[sides] != NULL)
            memcpy(cell, s->parts[sides]->cells + i * width, bytes);
        for (int k = 0; k < sides; k++) {
            if (s->parts[k] != NULL && sp_cells_differ(s->parts[k]->cells + i * width, cell, width))
                s->differing[n++] = s->parts[k]->cells + i * width;
        }
        if (n == 1)
            memcpy(cell, *s->differing, bytes);
        else if (n)
            sp_mix_cell(s, cell, n);
        if (n)
            sp_cell_keep(cell, s->how.lanes, s->all, s->rD);
    }
}

/* --- All of it */

/* Room for all this. -1 if out of memory. */
static int sp_shapes_mix_reserve(sp_shapes_merge *s)
{
    const sp_adaptive *to = &s->m->to->adaptive;
    const size_t sides = (size_t)s->m->n + 1;
    const ptrdiff_t lanes = sp_cell_labels(s->how.lanes);
    s->seen = (sp_shapes *)sp_calloc(sides, sizeof(sp_shapes));
    s->parts = (const sp_shape **)sp_calloc(sides, sizeof(sp_shape *));
    s->differing = (const float **)sp_calloc(sides, sizeof(float *));
    s->rD = (double *)sp_calloc((size_t)lanes, sizeof(double));
    if (s->seen == NULL || s->parts == NULL || s->differing == NULL || s->rD == NULL)
        return -1;
    for (ptrdiff_t k = 0; k < s->labels; k++)
        s->rD[k] = 1.0 / (to->D[k] + 1.0);
    for (int k = 0; k <= s->m->n; k++) {
        if (sp_shapes_see(s, k) < 0)
            return -1;
    }
    return sp_shapes_unite(s);
}

static void sp_shapes_mix_free(sp_shapes_merge *s)
{
    for (int k = 0; s->seen != NULL && k <= s->m->n; k++)
        sp_shapes_free(&s->seen[k]);
    sp_free(s->seen);
    sp_free(s->parts);
    sp_free(s->differing);
    sp_free(s->rD);
}

SP_PRIVATE int sp_shapes_mix(sp_merge *m)
{
    sp_adaptive *a = &m->to->adaptive;
    sp_shapes_merge s = {.m = m, .to = &a->shapes, .labels = sp_adaptive_places(a)};
    if (a->shapes.n_layers == 0)
        return 0;
    s.all = a->T + (double)s.labels;
    s.how.by_slot = m->to->index.bits == 0;
    s.how.lanes = a->shapes.lanes;
    s.how.n_labels = s.labels;
    const int failed = sp_shapes_mix_reserve(&s);
    for (int i = 0; i < a->shapes.n_layers && !failed; i++) {
        sp_mix_layer(&s, i);
        for (ptrdiff_t k = 0; k < a->shapes.of[i].n; k++)
            sp_mix_shape(&s, i, &a->shapes.of[i].parts[k]);
    }
    for (int k = 0; k < m->n; k++)
        a->shapes.n_choices
            = SP_MAX(a->shapes.n_choices, m->shards[k].learner->adaptive.shapes.n_choices);
    sp_shapes_mix_free(&s);
    return failed;
}

/* The place of a slot among n rising ones; n: it is not there. */
static size_t sp_stay_at(const sp_slot_type *stay, size_t n, sp_slot_type slot)
{
    size_t first = 0;
    size_t last = n;
    while (first < last) {
        const size_t middle = (first + last) / 2;
        if (stay[middle] < slot)
            first = middle + 1;
        else
            last = middle;
    }
    return first < n && stay[first] == slot ? first : n;
}

SP_PRIVATE void sp_shapes_stay(sp_learner *to, const sp_slot_type *stay, size_t n)
{
    for (int i = 0; i < to->adaptive.shapes.n_layers; i++) {
        sp_layer *layer = &to->adaptive.shapes.of[i];
        ptrdiff_t left = 0;
        for (ptrdiff_t k = 0; k < layer->n; k++) {
            sp_shape part = layer->parts[k];
            const size_t a = sp_stay_at(stay, n, part.a);
            const size_t b = sp_stay_at(stay, n, part.b);
            if (a == n || b == n) {
                sp_free(part.cells);
                continue;
            }
            part.a = SP_SLOTS_RESERVED + (sp_slot_type)a;
            part.b = SP_SLOTS_RESERVED + (sp_slot_type)b;
            layer->parts[left++] = part;
        }
        layer->n = left;
    }
}

SP_PRIVATE void sp_shapes_mixed(sp_learner *to)
{
    sp_adaptive *a = &to->adaptive;
    const ptrdiff_t most = sp_shapes_most(sp_adaptive_places(a), sp_index_ceiling(&to->index));
    if (a->shapes.n_layers)
        sp_shapes_choose(&a->shapes, NULL, a->T, most, true);
}
