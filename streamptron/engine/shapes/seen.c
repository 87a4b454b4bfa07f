#include "shapes/seen.h"

#include <string.h>

SP_PRIVATE void sp_cell_seen(float *to, float *cell, ptrdiff_t lanes, const sp_seen *how)
{
    memset(to, 0, (size_t)sp_cell_width(how->lanes) * sizeof(float));
    *to = SP_CELL_OM_FIRST;
    if (cell == NULL)
        return;
    *to = *cell;
    for (ptrdiff_t k = 0; k < how->n_labels; k++) {
        const ptrdiff_t own = how->labels == NULL ? k : how->labels[k];
        if (own < 0 || own >= sp_cell_labels(lanes))
            continue;
        sp_cell_c(to, how->lanes)[k] = sp_cell_c(cell, lanes)[own];
        if (how->lanes == 0)
            continue;
        const double w = sp_cell_w(cell, lanes)[lanes ? own : 0];
        sp_cell_w(to, how->lanes)[k]
            = (float)(lanes ? w : own == how->positive ? 0.5 * w : -0.5 * w);
        sp_cell_G(to, how->lanes)[k] = sp_cell_G(cell, lanes)[lanes ? own : 0];
    }
    if (how->lanes)
        return;
    const float w = *sp_cell_w(cell, lanes);
    *sp_cell_w(to, 0) = how->sign < 0.0 ? 0.0f - w : w;
    *sp_cell_G(to, 0) = *sp_cell_G(cell, lanes);
}

/* Add another learner's part in this form. -1 if out of memory. */
static int sp_part_seen(sp_shapes *to, int layer, const sp_shape *other, ptrdiff_t lanes,
                        const sp_seen *how)
{
    sp_slot_type a = how->slot_of(how->of, other->a);
    sp_slot_type b = layer ? how->slot_of(how->of, other->b) : a;
    if (a == SP_SLOT_NULL || b == SP_SLOT_NULL)
        return 0;
    const bool turned = how->by_slot && a > b;
    sp_shape *part = turned ? sp_layer_make(to, layer, b, a) : sp_layer_make(to, layer, a, b);
    if (part == NULL)
        return -1;
    part->gate = other->gate;
    for (ptrdiff_t i = 0; i < sp_layer_cells(layer); i++) {
        const ptrdiff_t at = turned ? i % SP_PATCH_SIDE * SP_PATCH_SIDE + i / SP_PATCH_SIDE : i;
        sp_cell_seen(part->cells + at * sp_cell_width(how->lanes),
                     other->cells + i * sp_cell_width(lanes), lanes, how);
    }
    return 0;
}

SP_PRIVATE int sp_shapes_seen(sp_shapes *to, const sp_shapes *other, const sp_seen *how)
{
    sp_shapes_init(to, other->n_layers);
    to->lanes = how->lanes;
    for (int i = 0; i < other->n_layers; i++) {
        for (ptrdiff_t k = 0; k < other->of[i].n; k++) {
            const sp_shape *part = &other->of[i].parts[k];
            if (!sp_shape_is_new(part) && sp_part_seen(to, i, part, other->lanes, how) < 0)
                return -1;
        }
    }
    return 0;
}
