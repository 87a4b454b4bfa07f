#include "shapes/arrays.h"

#include "features/head.h"

#include <string.h>

enum {
    SP_SHAPES_HEAD = 8, /* words: columns, chosen, choices, next, Z */
    SP_CHANGED_WORDS = 3, /* a bit per cell */
};

/* Words that are written, read, or only counted: one walk over the numbers does all three. */
typedef struct sp_tape {
    uint32_t *to;         /* NULL: they are counted, or read */
    const uint32_t *from; /* NULL: they are written, or counted */
    size_t at;
    size_t n;
} sp_tape;

/* Behind the end, zeros are read; the reader compares `at` with `n`. */
static void sp_tape_word(sp_tape *words, uint32_t *word)
{
    if (words->to != NULL)
        words->to[words->at] = *word;
    else if (words->from != NULL)
        *word = words->at < words->n ? words->from[words->at] : 0;
    words->at += 1;
}

static void sp_tape_float(sp_tape *words, float *number)
{
    uint32_t word;
    memcpy(&word, number, sizeof(word));
    sp_tape_word(words, &word);
    if (words->from != NULL) /* while writing, others may be reading the number */
        memcpy(number, &word, sizeof(word));
}

static void sp_tape_two(sp_tape *words, uint64_t *both)
{
    uint32_t low = (uint32_t)*both;
    uint32_t high = (uint32_t)(*both >> 32);
    sp_tape_word(words, &low);
    sp_tape_word(words, &high);
    if (words->from != NULL)
        *both = low | (uint64_t)high << 32;
}

static void sp_tape_double(sp_tape *words, double *number)
{
    uint64_t bits = sp_bits_of(*number);
    sp_tape_two(words, &bits);
    if (words->from != NULL)
        *number = sp_from_bits(bits);
}

static void sp_put_word(sp_tape *words, uint32_t word)
{
    sp_tape_word(words, &word);
}

static uint32_t sp_get_word(sp_tape *words)
{
    uint32_t word = 0;
    sp_tape_word(words, &word);
    return word;
}

static size_t sp_watched_pairs(const sp_shapes *shapes)
{
    const size_t n = (size_t)SP_MIN(shapes->n_columns, (ptrdiff_t)SP_WATCHED_MOST);
    return shapes->n_layers < SP_SHAPE_AUTO || n == 0 ? 0 : n * (n - 1) / 2;
}

/* The part in a base that has the same columns; NULL: there is none. */
static const sp_shape *sp_shape_before(const sp_shapes *since, int layer, const sp_shape *part)
{
    const ptrdiff_t at = sp_layer_find(&since->of[layer], part->a, part->b, 0);
    return at < 0 ? NULL : &since->of[layer].parts[at];
}

static void sp_tape_cell(sp_tape *words, float *cell, ptrdiff_t lanes, ptrdiff_t n_labels)
{
    const ptrdiff_t outputs = lanes ? n_labels : 1;
    sp_tape_float(words, cell);
    for (ptrdiff_t k = 0; k < n_labels; k++)
        sp_tape_float(words, &sp_cell_c(cell, lanes)[k]);
    for (ptrdiff_t k = 0; k < outputs; k++)
        sp_tape_float(words, &sp_cell_w(cell, lanes)[k]);
    for (ptrdiff_t k = 0; k < outputs; k++)
        sp_tape_float(words, &sp_cell_G(cell, lanes)[k]);
}

/* A part's gate and cells. With a base: which cells have changed, and only these. */
static void sp_tape_part(sp_tape *words, sp_shape *part, int layer, ptrdiff_t lanes,
                         ptrdiff_t n_labels, const sp_shapes *since, uint32_t *changed)
{
    sp_tape_float(words, &part->gate.value);
    sp_tape_float(words, &part->gate.Gamma);
    for (int i = 0; i < SP_CHANGED_WORDS && since != NULL; i++)
        sp_tape_word(words, &changed[i]);
    for (ptrdiff_t i = 0; i < sp_layer_cells(layer); i++) {
        if (since == NULL || changed[i / 32] >> i % 32 & 1)
            sp_tape_cell(words, part->cells + i * sp_cell_width(lanes), lanes, n_labels);
    }
}

typedef struct sp_shapes_head {
    uint32_t n_columns;
    uint32_t n_chosen;
    uint64_t n_choices;
    double next;
    double Z;
} sp_shapes_head;

static void sp_tape_head(sp_tape *words, sp_shapes_head *head)
{
    sp_tape_word(words, &head->n_columns);
    sp_tape_word(words, &head->n_chosen);
    sp_tape_two(words, &head->n_choices);
    sp_tape_double(words, &head->next);
    sp_tape_double(words, &head->Z);
}

/* A layer's own numbers. */
static void sp_tape_layer(sp_tape *words, sp_layer *layer)
{
    double drift[SP_DRIFT_NUMBERS];
    sp_drift_read(&layer->drift, drift);
    sp_tape_double(words, &layer->tau);
    sp_tape_double(words, &layer->Gtau);
    for (int k = 0; k < SP_DRIFT_NUMBERS; k++)
        sp_tape_double(words, &drift[k]);
    if (words->from != NULL)
        sp_drift_write(&layer->drift, drift);
}

/* --- Writing */

static bool sp_cell_is_new(const float *cell, ptrdiff_t lanes)
{
    bool is = *cell == SP_CELL_OM_FIRST;
    for (ptrdiff_t i = 1; i < sp_cell_width(lanes) && is; i++) {
        uint32_t bits; /* as bits, since -0.0 is not new */
        memcpy(&bits, &cell[i], sizeof(bits));
        is = bits == 0;
    }
    return is;
}

/* Which cells differ from a base's, a bit each; the part may be new. */
static void sp_cells_changed(const sp_shape *part, const sp_shape *was, int layer, ptrdiff_t lanes,
                             uint32_t *changed)
{
    const size_t bytes = (size_t)sp_cell_width(lanes) * sizeof(float);
    memset(changed, 0, SP_CHANGED_WORDS * sizeof(uint32_t));
    for (ptrdiff_t i = 0; i < sp_layer_cells(layer); i++) {
        const float *cell = part->cells + i * sp_cell_width(lanes);
        const bool is = was == NULL
                            ? !sp_cell_is_new(cell, lanes)
                            : memcmp(cell, was->cells + i * sp_cell_width(lanes), bytes) != 0;
        changed[i / 32] |= (uint32_t)is << i % 32;
    }
}

/* The parts of a layer, by the places of their columns in `from`: each column with those behind it,
   or with itself. */
static void sp_put_parts(sp_tape *words, const sp_shapes *shapes, int layer, ptrdiff_t n_labels,
                         const sp_shapes *since)
{
    const sp_layer *of = &shapes->of[layer];
    const sp_slot_type *from = layer ? shapes->chosen : shapes->columns;
    const ptrdiff_t n = layer ? shapes->n_chosen : shapes->n_columns;
    uint32_t changed[SP_CHANGED_WORDS];
    ptrdiff_t near = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        for (ptrdiff_t j = layer ? i + 1 : i; j < (layer ? n : i + 1); j++, near++) {
            near = sp_layer_find(of, from[i], from[j], near);
            if (near < 0 || sp_shape_is_new(&of->parts[near]))
                continue;
            sp_shape *part = &of->parts[near];
            sp_put_word(words, (uint32_t)i);
            sp_put_word(words, (uint32_t)j);
            if (since != NULL)
                sp_cells_changed(part, sp_shape_before(since, layer, part), layer, shapes->lanes,
                                 changed);
            sp_tape_part(words, part, layer, shapes->lanes, n_labels, since, changed);
        }
    }
}

static uint32_t sp_parts_learned(const sp_layer *layer)
{
    uint32_t n = 0;
    for (ptrdiff_t i = 0; i < layer->n; i++)
        n += !sp_shape_is_new(&layer->parts[i]);
    return n;
}

static void sp_shapes_put(const sp_shapes *shapes, ptrdiff_t n_labels, const sp_shapes *since,
                          sp_tape *words)
{
    sp_shapes_head head = {(uint32_t)shapes->n_columns, (uint32_t)shapes->n_chosen,
                           shapes->n_choices, shapes->next, shapes->Z};
    sp_tape_head(words, &head);
    for (ptrdiff_t i = 0, at = 0; i < shapes->n_chosen; i++, at++) {
        while (shapes->columns[at] != shapes->chosen[i])
            at++;
        sp_put_word(words, (uint32_t)at);
    }
    for (size_t i = 0, n = sp_watched_pairs(shapes); i < n; i++)
        sp_tape_double(words, &shapes->S[i]);
    for (int i = 0; i < shapes->n_layers; i++) {
        sp_layer layer = shapes->of[i];
        sp_tape_layer(words, &layer);
        sp_put_word(words, sp_parts_learned(&layer));
        sp_put_parts(words, shapes, i, n_labels, since);
    }
}

SP_API size_t sp_shapes_measure(const sp_shapes *shapes, ptrdiff_t n_labels,
                                const sp_shapes *since)
{
    sp_tape words = {0};
    sp_shapes_put(shapes, n_labels, since, &words);
    return words.at;
}

SP_API void sp_shapes_write(const sp_shapes *shapes, ptrdiff_t n_labels, const sp_shapes *since,
                            uint32_t *words)
{
    sp_tape to = {.to = words};
    sp_shapes_put(shapes, n_labels, since, &to);
}

/* --- Reading */

static bool sp_is_from(double number, double low, double high)
{
    return low <= number && number <= high;
}

static bool sp_cell_is_sound(float *cell, ptrdiff_t lanes, ptrdiff_t n_labels)
{
    bool sound = sp_is_from((double)*cell, SP_OM_FIRST, 1e30);
    for (ptrdiff_t k = 0; k < n_labels; k++)
        sound &= sp_is_from((double)sp_cell_c(cell, lanes)[k], 0.0, SP_COUNT_MOST);
    for (ptrdiff_t k = 0; k < (lanes ? n_labels : 1); k++)
        sound &= sp_is_from((double)sp_cell_w(cell, lanes)[k], -0x1p120, 0x1p120)
                 && sp_is_from((double)sp_cell_G(cell, lanes)[k], 0.0, 1e38);
    return sound;
}

static bool sp_part_is_sound(const sp_shape *part, int layer, ptrdiff_t lanes, ptrdiff_t n_labels)
{
    bool sound = sp_is_from((double)part->gate.value, 0.0, SP_GATE_MOST)
                 && sp_is_from((double)part->gate.Gamma, SP_GAMMA_LEAST, 1e38);
    for (ptrdiff_t i = 0; i < sp_layer_cells(layer) && sound; i++)
        sound = sp_cell_is_sound(part->cells + i * sp_cell_width(lanes), lanes, n_labels);
    return sound;
}

static bool sp_layer_is_sound(const sp_layer *layer)
{
    double drift[SP_DRIFT_NUMBERS];
    sp_drift_read(&layer->drift, drift);
    return sp_is_from(layer->tau, 0.0, SP_GATE_MOST_LAYER)
           && sp_is_from(layer->Gtau, SP_GAMMA_LEAST, 1e300) && sp_drift_is_sound(drift);
}

/* Read a part. False: it has bits for cells that do not exist. */
static bool sp_get_part(sp_tape *words, sp_shape *part, int layer, ptrdiff_t lanes,
                        ptrdiff_t n_labels, const sp_shapes *since)
{
    const ptrdiff_t cells = sp_layer_cells(layer);
    uint32_t changed[SP_CHANGED_WORDS] = {0};
    const sp_shape *was = since == NULL ? NULL : sp_shape_before(since, layer, part);
    if (was != NULL)
        memcpy(part->cells, was->cells, sp_shape_floats(layer, lanes) * sizeof(float));
    sp_tape_part(words, part, layer, lanes, n_labels, since, changed);
    for (ptrdiff_t i = cells; i < 32 * SP_CHANGED_WORDS && since != NULL; i++) {
        if (changed[i / 32] >> i % 32 & 1)
            return false;
    }
    return true;
}

/* Read the parts of a layer. 0, or what is wrong. */
static int sp_get_parts(sp_tape *words, sp_shapes *shapes, int layer, ptrdiff_t n_labels,
                        const sp_shapes *since)
{
    const sp_slot_type *from = layer ? shapes->chosen : shapes->columns;
    const uint64_t n = (uint64_t)(layer ? shapes->n_chosen : shapes->n_columns);
    uint64_t before = 0;
    for (uint32_t left = sp_get_word(words); left; left--) {
        const uint64_t i = sp_get_word(words);
        const uint64_t j = sp_get_word(words);
        if (words->at >= words->n || j >= n || (layer ? i >= j : i != j)
            || (i << 32 | j) + 1 <= before)
            return SP_SHAPES_WRONG;
        before = (i << 32 | j) + 1;
        sp_shape *part = sp_layer_make(shapes, layer, from[i], from[j]);
        if (part == NULL)
            return SP_SHAPES_MEMORY;
        if (!sp_get_part(words, part, layer, shapes->lanes, n_labels, since)
            || !sp_part_is_sound(part, layer, shapes->lanes, n_labels))
            return SP_SHAPES_WRONG;
    }
    return 0;
}

/* Read the columns that have surfaces. False: they are invalid. */
static bool sp_get_chosen(sp_tape *words, sp_shapes *shapes, uint32_t n)
{
    if (shapes->n_layers < SP_SHAPE_AUTO)
        return n == 0;
    if (n > (uint32_t)SP_MIN(shapes->n_columns, (ptrdiff_t)SP_SURFACES_MOST))
        return false;
    for (uint32_t i = 0, before = 0; i < n; i++) {
        const uint32_t at = sp_get_word(words);
        if (at < before || at >= (uint32_t)shapes->n_columns)
            return false;
        before = at + 1;
        shapes->chosen[shapes->n_chosen++] = shapes->columns[at];
    }
    return true;
}

static int sp_get_layer(sp_tape *words, sp_shapes *shapes, int i, ptrdiff_t n_labels,
                        const sp_shapes *since)
{
    sp_layer *layer = &shapes->of[i];
    sp_tape_layer(words, layer);
    return sp_layer_is_sound(layer) ? sp_get_parts(words, shapes, i, n_labels, since)
                                    : SP_SHAPES_WRONG;
}

SP_API int sp_shapes_read(sp_shapes *shapes, ptrdiff_t n_labels, const sp_shapes *since,
                          const uint32_t *words, size_t n)
{
    sp_tape from = {.from = words, .n = n};
    sp_shapes_head head = {0};
    sp_tape_head(&from, &head);
    shapes->n_choices = head.n_choices;
    shapes->next = head.next;
    shapes->Z = head.Z;
    if (head.n_columns != (uint32_t)shapes->n_columns || !sp_is_from(head.next, 0.0, 1e300)
        || !sp_is_from(head.Z, 0.0, 1e300) || !sp_get_chosen(&from, shapes, head.n_chosen)
        || n < SP_SHAPES_HEAD || sp_watched_pairs(shapes) > (n - SP_SHAPES_HEAD) / 2)
        return SP_SHAPES_WRONG;
    for (size_t i = 0, end = sp_watched_pairs(shapes); i < end; i++) {
        sp_tape_double(&from, &shapes->S[i]);
        if (!sp_is_from(shapes->S[i], -1e300, 1e300))
            return SP_SHAPES_WRONG;
    }
    for (int i = 0; i < shapes->n_layers; i++) {
        const int fault = sp_get_layer(&from, shapes, i, n_labels, since);
        if (fault)
            return fault;
    }
    if (from.at != n)
        return SP_SHAPES_WRONG;
    sp_shapes_seat(shapes);
    return 0;
}

SP_PRIVATE const char *sp_shapes_fault(const sp_shapes *shapes, ptrdiff_t n_labels)
{
    const bool parts = shapes->of[0].n || shapes->of[1].n;
    if (shapes->n_chosen > SP_SURFACES_MOST || (parts && shapes->lanes && shapes->lanes < n_labels))
        return "there are more surfaces than there may be";
    for (int i = 0; i < shapes->n_layers; i++) {
        const sp_layer *layer = &shapes->of[i];
        if (!sp_layer_is_sound(layer))
            return "a gate of curves or surfaces is invalid";
        for (ptrdiff_t k = 0; k < layer->n; k++) {
            if (!sp_shape_is_new(&layer->parts[k])
                && !sp_part_is_sound(&layer->parts[k], i, shapes->lanes, n_labels))
                return "a curve or surface has an invalid number";
        }
    }
    return NULL;
}
