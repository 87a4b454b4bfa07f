#include "shapes/shapes.h"

#include "memory/grow.h"
#include "memory/heap.h"

#include <string.h>

SP_RARE SP_PRIVATE void sp_shapes_init(sp_shapes *shapes, int n_layers)
{
    memset(shapes, 0, sizeof(sp_shapes));
    shapes->n_layers = n_layers;
    for (int i = 0; i < n_layers; i++) {
        shapes->of[i].tau = SP_GATE_FIRST;
        shapes->of[i].Gtau = 1.0;
    }
}

static bool sp_layer_is_new(const sp_layer *layer)
{
    double drift[SP_DRIFT_NUMBERS];
    bool is = layer->tau == SP_GATE_FIRST && layer->Gtau == 1.0;
    sp_drift_read(&layer->drift, drift);
    for (int i = 0; i < SP_DRIFT_NUMBERS; i++)
        is &= drift[i] == 0.0;
    for (ptrdiff_t i = 0; i < layer->n; i++)
        is &= sp_shape_is_new(&layer->parts[i]);
    return is;
}

SP_PRIVATE bool sp_shapes_are_new(const sp_shapes *shapes)
{
    bool are = shapes->n_chosen == 0 && shapes->n_choices == 0;
    for (int i = 0; i < shapes->n_layers; i++)
        are = are && sp_layer_is_new(&shapes->of[i]);
    return are;
}

static void sp_layer_free(sp_layer *layer)
{
    for (ptrdiff_t i = 0; i < layer->n; i++)
        sp_free(layer->parts[i].cells);
    sp_free(layer->parts);
    layer->parts = NULL;
    layer->n = layer->room = 0;
}

SP_RARE SP_PRIVATE void sp_shapes_free(sp_shapes *shapes)
{
    for (int i = 0; i < shapes->n_layers; i++)
        sp_layer_free(&shapes->of[i]);
    sp_free(shapes->columns);
    sp_free(shapes->rank);
    sp_free(shapes->S);
    sp_shapes_init(shapes, shapes->n_layers);
}

/* How many pairs of columns are watched. */
static size_t sp_watched_room(ptrdiff_t n)
{
    n = SP_MIN(n, (ptrdiff_t)SP_WATCHED_MOST);
    return (size_t)(n * (n - 1) / 2);
}

SP_RARE SP_PRIVATE size_t sp_shapes_bytes(const sp_shapes *shapes)
{
    size_t bytes = (size_t)shapes->room * (sizeof(sp_slot_type) + sizeof(double));
    if (shapes->S != NULL)
        bytes += sp_watched_room(shapes->room) * sizeof(double);
    for (int i = 0; i < shapes->n_layers; i++) {
        const sp_layer *layer = &shapes->of[i];
        bytes += (size_t)layer->room * sizeof(sp_shape)
                 + (size_t)layer->n * sp_shape_floats(i, shapes->lanes) * sizeof(float);
    }
    return bytes;
}

/* Room for exactly so many columns, which are more than before. -1 if out of memory. */
SP_RARE static int sp_shapes_grow(sp_shapes *shapes, ptrdiff_t room)
{
    const size_t watched = sp_watched_room(shapes->room);
    const sp_growing all[] = {
        SP_GROWING(shapes->columns, room),
        SP_GROWING(shapes->rank, room),
        SP_GROWING(shapes->S, sp_watched_room(room)),
    };
    if (sp_grow_all(all, shapes->n_layers > SP_SHAPE_CURVE ? 3 : 2) < 0)
        return -1;
    if (shapes->S != NULL)
        memset(shapes->S + watched, 0, (sp_watched_room(room) - watched) * sizeof(double));
    shapes->room = room;
    return 0;
}

SP_PRIVATE int sp_shapes_room(sp_shapes *shapes, ptrdiff_t n)
{
    return n <= shapes->room ? 0 : sp_shapes_grow(shapes, n + n / 2 + 8);
}

/* A block of cells that have learned nothing. NULL if out of memory. */
SP_RARE static float *sp_cells_open(int layer, ptrdiff_t lanes)
{
    float *cells = (float *)sp_calloc(sp_shape_floats(layer, lanes), sizeof(float));
    const ptrdiff_t width = sp_cell_width(lanes);
    for (ptrdiff_t i = 0; cells != NULL && i < sp_layer_cells(layer); i++)
        cells[i * width] = SP_CELL_OM_FIRST;
    return cells;
}

/* The place of the part with these columns, or where it would be. */
static ptrdiff_t sp_layer_place(const sp_layer *layer, sp_slot_type a, sp_slot_type b)
{
    const uint64_t key = (uint64_t)a << 32 | b;
    ptrdiff_t first = 0;
    ptrdiff_t last = layer->n;
    while (first < last) {
        const ptrdiff_t middle = (first + last) / 2;
        if (((uint64_t)layer->parts[middle].a << 32 | layer->parts[middle].b) < key)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

SP_PRIVATE ptrdiff_t sp_layer_find(const sp_layer *layer, sp_slot_type a, sp_slot_type b,
                                   ptrdiff_t near)
{
    if (near >= layer->n || layer->parts[near].a != a || layer->parts[near].b != b)
        near = sp_layer_place(layer, a, b);
    return near < layer->n && layer->parts[near].a == a && layer->parts[near].b == b ? near : -1;
}

SP_RARE SP_PRIVATE sp_shape *sp_layer_make(sp_shapes *shapes, int layer, sp_slot_type a,
                                           sp_slot_type b)
{
    sp_layer *of = &shapes->of[layer];
    const ptrdiff_t at = sp_layer_place(of, a, b);
    if (at < of->n && of->parts[at].a == a && of->parts[at].b == b)
        return &of->parts[at];
    if (of->n == of->room) {
        const ptrdiff_t room = of->n + of->n / 2 + 8;
        if (SP_GROW(of->parts, room) < 0)
            return NULL;
        of->room = room;
    }
    float *cells = sp_cells_open(layer, shapes->lanes);
    if (cells == NULL)
        return NULL;
    memmove(of->parts + at + 1, of->parts + at, (size_t)(of->n - at) * sizeof(sp_shape));
    of->parts[at] = (sp_shape){a, b, {(float)SP_GATE_FIRST, 0.0f}, cells};
    of->n += 1;
    return &of->parts[at];
}

/* Copy a part's cells into another form. `signs`: of outputs 0 and 1, if two labels shared one. */
static void sp_cells_reform(float *to, ptrdiff_t lanes, float *from, ptrdiff_t were, int layer,
                            const double *signs)
{
    const size_t labels = (size_t)sp_cell_labels(were);
    const size_t outputs = (size_t)sp_cell_outputs(were);
    for (ptrdiff_t i = 0; i < sp_layer_cells(layer); i++) {
        *to = *from;
        memcpy(sp_cell_c(to, lanes), sp_cell_c(from, were), labels * sizeof(float));
        for (size_t k = 0; k < (signs == NULL ? outputs : 2); k++) {
            const double w = sp_cell_w(from, were)[signs == NULL ? k : 0];
            sp_cell_w(to, lanes)[k] = (float)(signs == NULL ? w : signs[k] * w);
            sp_cell_G(to, lanes)[k] = sp_cell_G(from, were)[signs == NULL ? k : 0];
        }
        to += sp_cell_width(lanes);
        from += sp_cell_width(were);
    }
}

/* Copy a layer's parts into the form with so many lanes. -1 if out of memory. */
static int sp_layer_reform(sp_layer *to, const sp_layer *other, int layer, ptrdiff_t lanes,
                           ptrdiff_t were, const double *signs)
{
    *to = *other;
    to->parts = NULL;
    to->n = to->room = 0;
    if (SP_GROW(to->parts, SP_MAX(other->n, (ptrdiff_t)1)) < 0)
        return -1;
    to->room = SP_MAX(other->n, (ptrdiff_t)1);
    for (; to->n < other->n; to->n++) {
        sp_shape *part = &to->parts[to->n];
        *part = other->parts[to->n];
        part->cells = sp_cells_open(layer, lanes);
        if (part->cells == NULL)
            return -1;
        sp_cells_reform(part->cells, lanes, other->parts[to->n].cells, were, layer, signs);
    }
    return 0;
}

/* Copy all layers into that form, with the same room. -1 if out of memory. */
SP_RARE static int sp_shapes_reform(sp_shapes *to, const sp_shapes *other, ptrdiff_t lanes,
                                    const double *signs)
{
    *to = *other;
    to->columns = NULL;
    to->rank = to->S = NULL;
    to->room = 0;
    to->lanes = lanes;
    for (int i = 0; i < other->n_layers; i++)
        memset(&to->of[i], 0, sizeof(sp_layer));
    if (other->n_layers == 0)
        return 0;
    if (other->room && sp_shapes_grow(to, other->room) < 0)
        return -1;
    if (other->n_columns) {
        memcpy(to->columns, other->columns, (size_t)other->n_columns * sizeof(sp_slot_type));
        if (to->S != NULL)
            memcpy(to->S, other->S, sp_watched_room(other->n_columns) * sizeof(double));
    }
    for (int i = 0; i < other->n_layers; i++) {
        if (sp_layer_reform(&to->of[i], &other->of[i], i, lanes, other->lanes, signs) < 0)
            return -1;
    }
    return 0;
}

SP_PRIVATE int sp_shapes_copy(sp_shapes *to, const sp_shapes *other)
{
    return sp_shapes_reform(to, other, other->lanes, NULL);
}

SP_PRIVATE int sp_shapes_split(sp_shapes *to, const sp_shapes *pair, int positive)
{
    const double signs[2] = {positive ? -0.5 : 0.5, positive ? 0.5 : -0.5};
    return sp_shapes_reform(to, pair, 4, signs);
}

SP_RARE SP_PRIVATE int sp_shapes_lanes(sp_shapes *shapes, ptrdiff_t n)
{
    sp_shapes wider;
    const ptrdiff_t lanes = (n + n / 4 + 3) / 4 * 4;
    if (n <= shapes->lanes || shapes->n_layers == 0)
        return 0;
    if (sp_shapes_reform(&wider, shapes, lanes, NULL) < 0) {
        sp_shapes_free(&wider);
        return -1;
    }
    sp_shapes_free(shapes);
    *shapes = wider;
    return 0;
}
