#include "table/wide.h"

#include "memory/compiler.h"
#include "memory/heap.h"
#include "table/slot.h"

#include <math.h>
#include <string.h>

/* --- One row */

SP_PRIVATE bool sp_wide_is_there(const sp_table *table, const sp_wide *row)
{
    const sp_sparse_rows *rows = sp_wide_rows(table);
    return row->block
           && (!rows->borrowed
               || (size_t)row->block + sp_wide_units(&table->layout, row->n) <= rows->n_lent);
}

SP_RARE SP_PRIVATE bool sp_wide_is_sound(const sp_table *table, const double *fields, size_t n)
{
    const uint32_t *labels = sp_wide_labels(&table->layout, (double *)(uintptr_t)fields, n);
    for (size_t j = 0; j < n; j++) {
        if ((ptrdiff_t)labels[j] >= table->n_outputs || (j && labels[j] <= labels[j - 1]))
            return false;
    }
    return sp_fields_are_sound(&table->layout, fields, n);
}

/* How many labels fit into a block of a class. */
static size_t sp_wide_capacity(const sp_layout *layout, int size)
{
    return (size_t)sp_row_capacity(size) * SP_WIDE_UNIT
           / (sizeof(double) * (size_t)layout->fields + sizeof(uint32_t));
}

/* The place of label k among n, or where it would be inserted. */
static size_t sp_wide_place(const uint32_t *labels, size_t n, uint32_t k)
{
    size_t first = 0;
    while (n > 0) {
        const size_t half = n / 2;
        if (labels[first + half] < k) {
            first += half + 1;
            n -= half + 1;
        } else
            n = half;
    }
    return first;
}

/* The same from `at` on, where all labels before are less than k. Labels rise, so the place is at
   most k - labels[at] further on; near ones are counted, without a branch for each. */
SP_TEMPLATE size_t sp_wide_place_from(const uint32_t *labels, size_t n, size_t at, uint32_t k)
{
    enum { NEAR = 64, TOGETHER = 8 };
    size_t step = 1;
    if (k < n && labels[k] == k) /* then label j is at j for all j <= k */
        return k;
    if (at >= n || labels[at] >= k)
        return at;
    if (k - labels[at] > NEAR) {
        while (at + step < n && labels[at + step] < k) {
            at += step;
            step += step;
        }
        at += 1;
        return at + sp_wide_place(labels + at, SP_MIN(n - at, step), k);
    }
    for (; at + TOGETHER <= n; at += TOGETHER) {
        size_t less = 0;
        for (size_t i = 0; i < TOGETHER; i++)
            less += labels[at + i] < k;
        if (less < TOGETHER)
            return at + less;
    }
    while (at < n && labels[at] < k)
        at++;
    return at;
}

/* The fields of label k in a row that exists. */
static double *sp_wide_look(const sp_table *table, const sp_wide *row, uint32_t k)
{
    double *fields = sp_wide_fields(sp_wide_rows(table), row);
    const uint32_t *labels = sp_wide_labels(&table->layout, fields, row->n);
    const size_t at = sp_wide_place(labels, row->n, k);
    return at < row->n && labels[at] == k ? fields + at * (size_t)table->layout.fields : NULL;
}

SP_PRIVATE double *sp_wide_find(const sp_table *table, sp_slot_type slot, ptrdiff_t output)
{
    if (slot >> SP_CHUNK_BITS >= table->n_chunks)
        return NULL;
    const sp_wide *row = sp_wide_of(table, slot);
    return sp_wide_is_there(table, row) ? sp_wide_look(table, row, (uint32_t)output) : NULL;
}

SP_PRIVATE double *sp_wide_insert(sp_table *table, sp_wide *row, uint32_t k)
{
    const size_t width = (size_t)table->layout.fields;
    const size_t n = row->n;
    double *fields = sp_wide_fields(sp_wide_rows(table), row);
    uint32_t *labels = sp_wide_labels(&table->layout, fields, n);
    const size_t at = sp_wide_place(labels, n, k);
    if (at < n && labels[at] == k)
        return fields + at * width;
    uint32_t *moved = sp_wide_labels(&table->layout, fields, n + 1);
    memmove(moved + at + 1, labels + at, (n - at) * sizeof(uint32_t));
    memmove(moved, labels, at * sizeof(uint32_t));
    moved[at] = k;
    memmove(fields + (at + 1) * width, fields + at * width, (n - at) * width * sizeof(double));
    memset(fields + at * width, 0, width * sizeof(double));
    /* to the end of the last unit */
    const size_t end = sp_wide_units(&table->layout, n + 1) * SP_WIDE_UNIT;
    uint8_t *behind = (uint8_t *)(moved + n + 1);
    memset(behind, 0, (size_t)((uint8_t *)fields + end - behind));
    row->n = (uint32_t)(n + 1) & SP_WIDE_ROW_MOST;
    return fields + at * width;
}

SP_RARE static double sp_wide_read(const sp_table *table, sp_slot_type slot, ptrdiff_t output,
                                   int kind)
{
    const double *fields = sp_wide_find(table, slot, output);
    if (fields == NULL)
        return 0.0;
    if (kind == SP_KEPT_AVERAGE) {
        const sp_clock clock = {.c = table->c, .s = table->s};
        return sp_average(clock, table->average, fields[0], fields[table->layout.v]);
    }
    if (kind == SP_KEPT_POCKET) {
        const sp_clock clock = {.epoch = table->epoch};
        return sp_pocket_kept(clock, fields, table->layout);
    }
    return fields[0];
}

/* Move a row to the block that was taken for it; or free that block if it is not larger. */
static void sp_wide_settle_room(sp_table *table, sp_wide *row, uint32_t block, int size)
{
    sp_sparse_rows *rows = sp_wide_rows(table);
    if (row->block && size <= (int)row->size) {
        sp_rows_give(rows, block, size);
        return;
    }
    if (row->block) {
        memcpy(sp_rows_at(rows, block), sp_rows_at(rows, row->block),
               sp_wide_units(&table->layout, row->n) * SP_WIDE_UNIT);
        sp_rows_give(rows, row->block, (int)row->size);
    }
    row->block = block;
    row->size = (uint32_t)size & 63;
}

/* Take a block for n labels; size: its class. 0 if out of memory. */
static uint32_t sp_wide_take_block(sp_table *table, size_t n, int *size)
{
    const size_t units = sp_wide_units(&table->layout, n);
    if (n > SP_WIDE_ROW_MOST || units > UINT32_MAX / 4)
        return 0;
    *size = sp_row_size_for((uint32_t)units);
    return sp_rows_take(sp_wide_rows(table), *size);
}

SP_PRIVATE int sp_wide_reserve(sp_table *table, sp_wide *row, size_t n)
{
    int size;
    if (n == 0 || (row->block && n <= sp_wide_capacity(&table->layout, (int)row->size)))
        return 0;
    const uint32_t block = sp_wide_take_block(table, n, &size);
    if (block == 0)
        return -1;
    sp_wide_settle_room(table, row, block, size);
    return 0;
}

SP_RARE SP_PRIVATE int sp_wide_put(sp_table *table, sp_wide *row, const void *fields, size_t n)
{
    *row = (sp_wide){0};
    if (n == 0)
        return 0;
    if (sp_wide_reserve(table, row, n) < 0)
        return -1;
    row->n = (uint32_t)n & SP_WIDE_ROW_MOST;
    memcpy(sp_wide_fields(sp_wide_rows(table), row), fields,
           sp_wide_units(&table->layout, n) * SP_WIDE_UNIT);
    return 0;
}

/* --- Slots: operations for table/table.h */

static ptrdiff_t sp_wide_blocks_for(const sp_table *table, ptrdiff_t n_outputs)
{
    (void)table, (void)n_outputs;
    return 1;
}

SP_RARE static double sp_wide_size(const sp_table *table, sp_slot_type slot)
{
    const sp_wide *row = sp_wide_of(table, slot);
    const sp_clock clock = {.c = table->c, .s = table->s, .epoch = table->epoch};
    const sp_layout *layout = &table->layout;
    double size = 0.0;
    if (!sp_wide_is_there(table, row))
        return size;
    const double *field = sp_wide_fields(sp_wide_rows(table), row);
    for (uint32_t j = 0; j < row->n; j++, field += layout->fields) {
        size = SP_MAX(size, fabs(field[0]));
        if (table->average != SP_AVERAGE_NONE)
            size = SP_MAX(size, fabs(sp_average(clock, table->average, field[0],
                                                field[layout->v])));
        if (layout->p >= 0)
            size = SP_MAX(size, fabs(sp_pocket_kept(clock, field, *layout)));
    }
    return size;
}

SP_RARE static void sp_wide_clear(sp_table *table, sp_slot_type slot)
{
    sp_wide *row = sp_wide_of(table, slot);
    if (row->block == 0)
        return;
    sp_rows_give(sp_wide_rows(table), row->block, (int)row->size);
    *row = (sp_wide){0};
}

static const double *sp_wide_field(const sp_table *table, sp_slot_type slot, ptrdiff_t output)
{
    return sp_wide_find(table, slot, output);
}

static const sp_slot_kind sp_wide_slots = {
    .blocks_for = sp_wide_blocks_for,
    .read = sp_wide_read,
    .size = sp_wide_size,
    .field = sp_wide_field,
    .clear = sp_wide_clear,
};

/* --- An event */

/* sums[k] += x times a field of each of n labels; the fields are `width` numbers apart. */
SP_TEMPLATE void sp_wide_sum(double *sums, const uint32_t *labels, const double *field, size_t n,
                             double x, const size_t width)
{
    for (size_t j = 0; j < n; j++)
        sums[labels[j]] += x * field[j * width];
}

/* The same for a row that has all labels. */
SP_TEMPLATE void sp_wide_sum_all(double *sums, const double *field, size_t n, double x,
                                 const size_t width)
{
    for (size_t j = 0; j < n; j++)
        sums[j] += x * field[j * width];
}

static void sp_wide_sum_field(double *sums, const uint32_t *labels, const double *field, size_t n,
                              double x, size_t width, bool all)
{
    if (all && width == 2)
        sp_wide_sum_all(sums, field, n, x, 2);
    else if (all)
        sp_wide_sum_all(sums, field, n, x, width);
    else if (width == 2)
        sp_wide_sum(sums, labels, field, n, x, 2);
    else
        sp_wide_sum(sums, labels, field, n, x, width);
}

/* The most common row: weight and averaging term of each label in one pass. */
static void sp_wide_sum_pairs(double *sums, double *terms, const uint32_t *labels,
                              const double *field, size_t n, double x)
{
    for (size_t j = 0; j < n; j++) {
        sums[labels[j]] += x * field[2 * j];
        terms[labels[j]] += x * field[2 * j + 1];
    }
}

/* Whether the labels of a row, which is in a file, are below n_scores. */
static bool sp_wide_are_labels(const uint32_t *labels, size_t n, ptrdiff_t n_scores)
{
    for (size_t j = 0; j < n; j++) {
        if ((ptrdiff_t)labels[j] >= n_scores)
            return false;
    }
    return true;
}

static void sp_wide_sum_pocket(const sp_table *table, double *sums, const uint32_t *labels,
                               const double *field, size_t n, double x)
{
    const sp_clock clock = {.epoch = table->epoch};
    for (size_t j = 0; j < n; j++, field += table->layout.fields)
        sums[labels[j]] += x * sp_pocket_kept(clock, field, table->layout);
}

enum { SP_WIDE_AHEAD = 2 };

/* Prefetch the beginning of a row. */
static inline void sp_wide_fetch(const sp_table *table, sp_slot_type slot)
{
    const sp_wide *row = sp_wide_of(table, slot);
    if (row->n == 0)
        return;
    const uint8_t *fields = (const uint8_t *)sp_wide_fields(sp_wide_rows(table), row);
    for (size_t at = 0; at < 256; at += 64)
        sp_prefetch(fields + at);
}

SP_PRIVATE bool sp_wide_score(const sp_table *table, const sp_slot_type *slots, const double *x,
                              ptrdiff_t n, ptrdiff_t n_scores, double *scores)
{
    const sp_layout *layout = &table->layout;
    const sp_sparse_rows *rows = sp_wide_rows(table);
    const size_t width = (size_t)layout->fields;
    const bool averages = table->average != SP_AVERAGE_NONE;
    double *terms = scores + SP_KEPT_AVERAGE * n_scores;
    double *pocket = scores + SP_KEPT_POCKET * n_scores;
    memset(scores, 0, (size_t)n_scores * sizeof(double));
    if (averages)
        memset(terms, 0, (size_t)n_scores * sizeof(double));
    if (layout->p >= 0)
        memset(pocket, 0, (size_t)n_scores * sizeof(double));
    for (ptrdiff_t i = 0; i < n; i++) {
        const sp_wide *row = sp_wide_of(table, slots[i]);
        if (i + SP_WIDE_AHEAD < n && !rows->borrowed)
            sp_wide_fetch(table, slots[i + SP_WIDE_AHEAD]);
        if (row->n == 0)
            continue;
        if (!sp_wide_is_there(table, row))
            return false;
        double *fields = sp_wide_fields(rows, row);
        const uint32_t *labels = sp_wide_labels(layout, fields, row->n);
        const bool all = (ptrdiff_t)row->n == n_scores && !rows->borrowed;
        if (rows->borrowed && !sp_wide_are_labels(labels, row->n, n_scores))
            return false;
        if (averages && width == 2 && !all)
            sp_wide_sum_pairs(scores, terms, labels, fields, row->n, x[i]);
        else {
            sp_wide_sum_field(scores, labels, fields, row->n, x[i], width, all);
            if (averages)
                sp_wide_sum_field(terms, labels, fields + layout->v, row->n, x[i], width, all);
        }
        if (layout->p >= 0)
            sp_wide_sum_pocket(table, pocket, labels, fields, row->n, x[i]);
    }
    const sp_clock clock = {.c = table->c, .s = table->s};
    if (table->average == SP_AVERAGE_UNIFORM) {
        for (ptrdiff_t k = 0; k < n_scores; k++)
            terms[k] = sp_average(clock, SP_AVERAGE_UNIFORM, scores[k], terms[k]);
    } else if (averages) {
        for (ptrdiff_t k = 0; k < n_scores; k++)
            terms[k] = sp_average(clock, SP_AVERAGE_EXPONENTIAL, scores[k], terms[k]);
    }
    return true;
}

SP_PRIVATE void sp_wide_second(const sp_table *table, const sp_entries *entries, sp_move *move,
                               ptrdiff_t m)
{
    const double nothing[SP_KEEP_MOST] = {0.0};
    const sp_layout *layout = &table->layout;
    for (ptrdiff_t j = 0; j < m; j++)
        move[j].second = 0.0;
    for (ptrdiff_t i = 0; i < entries->n; i++) {
        const sp_wide *row = sp_wide_of(table, entries->slots[i]);
        const double share = sp_keep_share(layout->keep, entries->x[i], nothing);
        double *fields = row->n ? sp_wide_fields(sp_wide_rows(table), row) : NULL;
        const uint32_t *labels = row->n ? sp_wide_labels(layout, fields, row->n) : NULL;
        size_t at = 0;
        for (ptrdiff_t j = 0; j < m; j++) {
            const uint32_t k = (uint32_t)move[j].output;
            at = sp_wide_place_from(labels, row->n, at, k);
            move[j].second += at < row->n && labels[at] == k
                                  ? sp_keep_share(layout->keep, entries->x[i],
                                                  fields + at * (size_t)layout->fields + layout->k)
                                  : share;
        }
    }
}

/* Moves that go through a row together; more are taken in several turns. */
enum { SP_WIDE_REFORM = 256 };

/* A bit in the place of a label that a row does not have yet. */
static const uint32_t SP_WIDE_NEW = (uint32_t)1 << 31;

/* Find the places of the labels of the first of m moves, as they will be once a row has them all;
   and how many are missing in it. Returns how many moves that are. */
static ptrdiff_t sp_wide_places(const sp_table *table, const sp_wide *row, const sp_move *move,
                                ptrdiff_t m, uint32_t *places, size_t *missing)
{
    const uint32_t *labels = sp_wide_labels(
        &table->layout, sp_wide_fields(sp_wide_rows(table), row), row->n);
    size_t at = 0;
    *missing = 0;
    m = SP_MIN(m, SP_WIDE_REFORM);
    for (ptrdiff_t j = 0; j < m; j++) {
        at = sp_wide_place_from(labels, row->n, at, (uint32_t)move[j].output);
        const bool new = at == row->n || labels[at] != (uint32_t)move[j].output;
        places[j] = (uint32_t)(at + *missing) | (new ? SP_WIDE_NEW : 0);
        *missing += new;
    }
    return m;
}

/* How many labels a row will need room for; 0: it has room enough. */
static size_t sp_wide_need(const sp_table *table, sp_slot_type slot, bool fresh,
                           const sp_move *move, ptrdiff_t m)
{
    if (fresh || slot >> SP_CHUNK_BITS >= table->n_chunks)
        return (size_t)m;
    const sp_wide *row = sp_wide_of(table, slot);
    if (row->block == 0)
        return (size_t)m;
    const size_t capacity = sp_wide_capacity(&table->layout, (int)row->size);
    if (row->n + (size_t)m <= capacity)
        return 0;
    uint32_t places[SP_WIDE_REFORM];
    size_t need = row->n;
    size_t missing;
    for (ptrdiff_t j = 0; j < m; need += missing)
        j += sp_wide_places(table, row, move + j, m - j, places, &missing);
    return need <= capacity ? 0 : need;
}

static void sp_wide_give_rooms(sp_table *table, sp_wide_room *rooms, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        if (rooms[i].block)
            sp_rows_give(sp_wide_rows(table), rooms[i].block, rooms[i].size);
        rooms[i].block = 0;
    }
}

SP_PRIVATE int sp_wide_make_rooms(sp_table *table, const sp_slot_type *slots, ptrdiff_t n,
                                  sp_slot_type n_slots, const sp_move *move, ptrdiff_t m,
                                  sp_wide_room *rooms)
{
    const uint32_t first = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        rooms[i].block = 0;
        const size_t need = slots[i] == SP_SLOT_NULL
                                ? 0
                                : sp_wide_need(table, slots[i], rooms[i].fresh, move, m);
        if (need == 0)
            continue;
        rooms[i].block = sp_wide_take_block(table, need, &rooms[i].size);
        if (rooms[i].block == 0) {
            sp_wide_give_rooms(table, rooms, i);
            return -1;
        }
    }
    if (sp_table_reserve_blocks(table, slots, n, n_slots, &first, 1) == 0)
        return 0;
    sp_wide_give_rooms(table, rooms, n);
    return -1;
}

SP_PRIVATE void sp_wide_use_room(sp_table *table, sp_slot_type slot, sp_wide_room *room)
{
    if (room->block)
        sp_wide_settle_room(table, sp_wide_of(table, slot), room->block, room->size);
    room->block = 0;
}

/* Move n items of a size to a place at or behind the old one, last items first, and leave gaps for
   the labels that a row does not have. */
SP_RARE static void sp_wide_spread(uint8_t *to, const uint8_t *from, size_t size, size_t n,
                                   const uint32_t *places, ptrdiff_t m, size_t missing)
{
    while (missing > 0) {
        m--;
        if (!(places[m] & SP_WIDE_NEW))
            continue;
        const size_t behind = (places[m] & ~SP_WIDE_NEW) + 1;
        const size_t first = behind - missing;
        memmove(to + behind * size, from + first * size, (n - first) * size);
        n = first;
        missing--;
    }
    memmove(to, from, n * size);
}

/* Make the missing entries of m moves in a row that has room. First the row's labels move, then its
   fields, which end up where labels were. */
static void sp_wide_make(sp_table *table, sp_wide *row, const sp_move *move, ptrdiff_t m,
                         uint32_t *places, size_t missing)
{
    const size_t width = (size_t)table->layout.fields;
    const size_t size = width * sizeof(double);
    const size_t n = row->n + missing;
    double *fields = sp_wide_fields(sp_wide_rows(table), row);
    const uint32_t *labels = sp_wide_labels(&table->layout, fields, row->n);
    uint32_t *made = sp_wide_labels(&table->layout, fields, n);
    sp_wide_spread((uint8_t *)made, (const uint8_t *)labels, sizeof(uint32_t), row->n, places, m,
                   missing);
    sp_wide_spread((uint8_t *)fields, (const uint8_t *)fields, size, row->n, places, m, missing);
    for (ptrdiff_t j = 0; j < m; j++) {
        if (!(places[j] & SP_WIDE_NEW))
            continue;
        places[j] &= ~SP_WIDE_NEW;
        made[places[j]] = (uint32_t)move[j].output;
        memset(fields + places[j] * width, 0, size);
    }
    const size_t end = sp_wide_units(&table->layout, n) * SP_WIDE_UNIT;
    memset(made + n, 0, (size_t)((uint8_t *)fields + end - (uint8_t *)(made + n)));
    row->n = (uint32_t)n & SP_WIDE_ROW_MOST;
}

/* For each move, at its place: w += a x, and what average, pocket and rule need for it. */
SP_TEMPLATE void sp_wide_add(const sp_clock clock, double *fields, const uint32_t *places, double x,
                             const sp_move *move, ptrdiff_t m, double r, const int average,
                             const sp_layout layout)
{
    for (ptrdiff_t j = 0; j < m; j++) {
        const sp_lanes step = {1, {0}, {move[j].a}, {move[j].second}, r};
        double *field = fields + places[j] * (size_t)layout.fields;
        sp_add_slot(clock, field, x, &step, 1, 1, average, layout);
    }
}

SP_PRIVATE void sp_wide_move(sp_table *table, const sp_entries *entries, const sp_move *move,
                             ptrdiff_t m, double r, sp_wide_room *rooms)
{
    const sp_clock now = {table->average, table->c, table->s, table->fold, table->epoch};
    const sp_clock *clock = &now;
    const sp_layout *layout = &table->layout;
    uint32_t places[SP_WIDE_REFORM];
    size_t missing;
    for (ptrdiff_t i = 0; i < entries->n; i++) {
        if (entries->slots[i] == SP_SLOT_NULL || m == 0)
            continue;
        sp_wide *row = sp_wide_of(table, entries->slots[i]);
        sp_wide_use_room(table, entries->slots[i], &rooms[i]);
        double *fields = sp_wide_fields(sp_wide_rows(table), row);
        for (ptrdiff_t j = 0, end; j < m; j = end) {
            end = j + sp_wide_places(table, row, move + j, m - j, places, &missing);
            if (missing)
                sp_wide_make(table, row, move + j, end - j, places, missing);
#define CALL(average, layout) \
    sp_wide_add(*clock, fields, places, entries->x[i], move + j, end - j, r, average, layout)
            SP_EVERY_LAYOUT(CALL)
#undef CALL
        }
    }
}

SP_PRIVATE void sp_wide_fold(const sp_table *table, uint32_t folds)
{
    const double factor = exp2(-(double)SP_FOLD_BITS);
    for (size_t chunk = 0; chunk < table->n_chunks; chunk++) {
        const sp_wide *slots = sp_wide_of(table, (sp_slot_type)(chunk << SP_CHUNK_BITS));
        for (int i = 0; i < SP_CHUNK_SLOTS; i++) {
            double *field = slots[i].n ? sp_wide_fields(sp_wide_rows(table), &slots[i]) : NULL;
            for (uint32_t j = 0; j < slots[i].n; j++, field += table->layout.fields) {
                for (uint32_t k = 0; k < folds && field[table->layout.v] != 0.0; k++)
                    field[table->layout.v] *= factor;
            }
        }
    }
}

SP_PRIVATE void sp_wide_tick(sp_table *table)
{
    const uint32_t before = table->fold;
    sp_table_tick(table);
    if (table->fold != before)
        sp_wide_fold(table, 1);
}

/* --- Tables */

SP_PRIVATE int sp_wide_begin(sp_table *to, const sp_table *like)
{
    *to = *like;
    to->kind = &sp_wide_slots;
    to->blocks = NULL;
    to->n_blocks = to->n_outputs = 0;
    to->bytes = 0;
    to->lanes = 0;
    to->width = 1;
    to->borrowed = false;
    sp_pool_init(&to->pool, like->pool.scattered);
    to->arena = sp_rows_open();
    return to->arena == NULL ? -1 : sp_table_add_outputs(to, like->n_outputs);
}

SP_RARE SP_PRIVATE void sp_wide_drop(sp_table *table)
{
    sp_rows_free(sp_wide_rows(table));
    table->arena = NULL;
    sp_table_free(table);
}

/* Copy to `fields` and `labels` the row of a slot that has four labels in each block; there is room
   for all labels. Returns how many there are. */
static size_t sp_wide_collect(const sp_table *dense, const uint32_t *blocks, size_t n_blocks,
                              sp_slot_type slot, double *fields, uint32_t *labels)
{
    const size_t width = (size_t)dense->layout.fields;
    size_t n = 0;
    for (size_t b = 0; b < n_blocks; b++) {
        const double *field = sp_lane(dense, slot, (ptrdiff_t)blocks[b] * dense->lanes);
        double factor = 1.0;
        if (dense->average == SP_AVERAGE_EXPONENTIAL)
            factor = sp_fold_factor(dense->fold
                                    - dense->blocks[blocks[b]].folds[slot >> SP_CHUNK_BITS]);
        for (int lane = 0; lane < dense->lanes; lane++, field += width) {
            if (sp_wide_is_nothing(&dense->layout, field))
                continue;
            memcpy(fields + n * width, field, width * sizeof(double));
            if (dense->layout.v >= 0)
                fields[n * width + (size_t)dense->layout.v] *= factor;
            labels[n++] = blocks[b] * (uint32_t)dense->lanes + (uint32_t)lane;
        }
    }
    return n;
}

/* List the blocks of a chunk that have been written. */
static size_t sp_wide_written(const sp_table *dense, size_t chunk, uint32_t *blocks)
{
    size_t n = 0;
    for (ptrdiff_t b = 0; b < dense->n_blocks; b++) {
        if (sp_table_chunk(dense, b, chunk) != NULL)
            blocks[n++] = (uint32_t)b;
    }
    return n;
}

/* Scratch to convert one row after another. */
typedef struct sp_wide_reforming {
    double *fields;
    uint32_t *labels;
    uint32_t *blocks;
} sp_wide_reforming;

SP_RARE static int sp_wide_reform_rows(sp_table *to, const sp_table *dense, const sp_index *index,
                                       sp_slot_type n_slots, const sp_wide_reforming *turn)
{
    const uint32_t first = 0;
    size_t chunk = SIZE_MAX;
    size_t n_blocks = 0;
    for (sp_slot_type at = SP_SLOT_INTERCEPT; at < n_slots; at++) {
        const sp_slot_type slot = sp_index_place(index, at);
        if (slot >> SP_CHUNK_BITS >= dense->n_chunks)
            continue;
        if (slot >> SP_CHUNK_BITS != chunk) {
            chunk = slot >> SP_CHUNK_BITS;
            n_blocks = sp_wide_written(dense, chunk, turn->blocks);
        }
        const size_t n = sp_wide_collect(dense, turn->blocks, n_blocks, slot, turn->fields,
                                         turn->labels);
        if (n == 0)
            continue;
        if (sp_table_reserve_blocks(to, &slot, 1, slot + 1, &first, 1) < 0)
            return -1;
        sp_wide *row = sp_wide_of(to, slot);
        if (sp_wide_reserve(to, row, n) < 0)
            return -1;
        double *fields = sp_wide_fields(sp_wide_rows(to), row);
        memset(fields, 0, sp_wide_units(&to->layout, n) * SP_WIDE_UNIT);
        memcpy(fields, turn->fields, n * (size_t)to->layout.fields * sizeof(double));
        memcpy(sp_wide_labels(&to->layout, fields, n), turn->labels, n * sizeof(uint32_t));
        row->n = (uint32_t)n & SP_WIDE_ROW_MOST;
    }
    return 0;
}

SP_RARE SP_PRIVATE int sp_wide_reformed(sp_table *to, const sp_table *dense, const sp_index *index,
                                        sp_slot_type n_slots)
{
    const size_t labels = (size_t)(dense->n_blocks * dense->lanes);
    sp_wide_reforming turn = {NULL, NULL, NULL};
    if (sp_wide_begin(to, dense) < 0
        || sp_table_reserve_places(to, dense->n_chunks, dense->is_full_size) < 0)
        return -1;
    turn.fields = (double *)sp_malloc((labels + 1) * (size_t)dense->layout.fields * sizeof(double));
    turn.labels = (uint32_t *)sp_malloc((labels + 1) * sizeof(uint32_t));
    turn.blocks = (uint32_t *)sp_malloc(((size_t)dense->n_blocks + 1) * sizeof(uint32_t));
    int failed = -1;
    if (turn.fields != NULL && turn.labels != NULL && turn.blocks != NULL)
        failed = sp_wide_reform_rows(to, dense, index, n_slots, &turn);
    sp_free(turn.fields);
    sp_free(turn.labels);
    sp_free(turn.blocks);
    return failed;
}

SP_RARE SP_PRIVATE int sp_wide_copied(sp_table *to, const sp_table *other, const sp_index *index,
                                      sp_slot_type n_slots)
{
    const uint32_t first = 0;
    if (sp_wide_begin(to, other) < 0
        || sp_table_reserve_places(to, other->n_chunks, other->is_full_size) < 0)
        return -1;
    for (sp_slot_type at = SP_SLOT_INTERCEPT; at < n_slots; at++) {
        const sp_slot_type slot = sp_index_place(index, at);
        if (slot >> SP_CHUNK_BITS >= other->n_chunks)
            continue;
        const sp_wide *row = sp_wide_of(other, slot);
        if (row->n == 0 || !sp_wide_is_there(other, row))
            continue;
        if (sp_table_reserve_blocks(to, &slot, 1, slot + 1, &first, 1) < 0
            || sp_wide_put(to, sp_wide_of(to, slot),
                           sp_wide_fields(sp_wide_rows(other), row), row->n)
                   < 0)
            return -1;
    }
    return 0;
}
