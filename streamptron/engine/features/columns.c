#include "features/columns.h"

#include "memory/grow.h"
#include "memory/heap.h"
#include "names/lookup.h"

#include <string.h>

SP_PRIVATE void sp_column_clear(const sp_blocks *blocks, sp_slot_type slot)
{
    float *e = sp_column_e(blocks, slot);
    memset(sp_column_of(blocks, slot), 0, sizeof(sp_column));
    for (int k = 0; k < 2; k++) {
        if (e[k] != 0.0f) /* a 0 may be in the chunk of zeros, which is never written */
            e[k] = 0.0f;
    }
}

SP_PRIVATE void sp_columns_free(sp_columns *columns)
{
    sp_free(columns->slots);
    sp_free(columns->turns);
    memset(columns, 0, sizeof(sp_columns));
}

SP_RARE SP_PRIVATE int sp_columns_room(sp_columns *columns, ptrdiff_t n)
{
    ptrdiff_t room = n + n / 2 + 8;
    if (n <= columns->room)
        return 0;
    if (SP_GROW(columns->slots, room) < 0)
        return -1;
    if (columns->hashed) {
        if (SP_GROW(columns->turns, 2 * room) < 0)
            return -1;
    }
    columns->room = room;
    return 0;
}

SP_PRIVATE int sp_columns_copy(sp_columns *to, const sp_columns *other)
{
    memset(to, 0, sizeof(sp_columns));
    to->hashed = other->hashed;
    to->stale = other->stale;
    if (sp_columns_room(to, other->n) < 0)
        return -1;
    for (to->n = 0; to->n < other->n; to->n++)
        to->slots[to->n] = other->slots[to->n];
    if (to->hashed && to->n)
        memcpy(to->turns, other->turns, (size_t)(2 * to->n) * sizeof(uint32_t));
    return 0;
}

/* A column's place in the order of sums. */
static uint32_t sp_column_number(const sp_columns *columns, const sp_index *index, uint32_t at)
{
    /* in a file that is used in place, places rise with numbers */
    return index->lookup != NULL ? columns->slots[at] : sp_index_number(index, columns->slots[at]);
}

/* A column's place in the order of the list. */
static uint32_t sp_column_slot(const sp_columns *columns, const sp_index *index, uint32_t slot)
{
    (void)columns, (void)index;
    return slot;
}

/* Shell sort of n columns, by one number each. */
SP_TEMPLATE void sp_columns_sort(const sp_columns *columns, const sp_index *index,
                                 uint32_t (*of)(const sp_columns *, const sp_index *, uint32_t),
                                 uint32_t *order, uint32_t n)
{
    for (uint32_t gap = n / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11) {
        for (uint32_t i = gap; i < n; i++) {
            const uint32_t at = order[i];
            const uint32_t number = of(columns, index, at);
            uint32_t k = i;
            for (; k >= gap && of(columns, index, order[k - gap]) > number; k -= gap)
                order[k] = order[k - gap];
            order[k] = at;
        }
    }
}

SP_PRIVATE void sp_columns_settle(sp_columns *columns, const sp_index *index)
{
    const uint32_t n = (uint32_t)columns->n;
    const bool stale = columns->stale;
    columns->stale = false;
    if (!(columns->hashed && stale && n))
        return;
    uint32_t *order = columns->turns + n;
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    sp_columns_sort(columns, index, sp_column_number, order, n);
    for (uint32_t i = 0; i < n; i++)
        columns->turns[order[i]] = i;
}

SP_PRIVATE void sp_columns_add(sp_columns *columns, sp_slot_type slot)
{
    ptrdiff_t at = columns->n;
    if (sp_columns_at(columns, slot, at) >= 0)
        return;
    for (; at > 0 && columns->slots[at - 1] > slot; at--)
        columns->slots[at] = columns->slots[at - 1];
    columns->slots[at] = slot;
    columns->n++;
    columns->stale = true;
}

SP_PRIVATE void sp_columns_append(sp_columns *columns, sp_slot_type slot)
{
    columns->slots[columns->n++] = slot;
    columns->stale = true;
}

SP_PRIVATE void sp_columns_rise(sp_columns *columns, ptrdiff_t first)
{
    sp_slot_type *slots = columns->slots;
    const ptrdiff_t n = columns->n;
    while (first < n && (first == 0 || slots[first - 1] < slots[first]))
        first++;
    if (first < n)
        sp_columns_sort(columns, NULL, sp_column_slot, slots, (uint32_t)n);
}

SP_PRIVATE void sp_columns_sift(sp_columns *columns, const sp_blocks *blocks)
{
    ptrdiff_t n = 0;
    for (ptrdiff_t i = 0; i < columns->n; i++) {
        if (sp_column_of(blocks, columns->slots[i])->n > 0.0)
            columns->slots[n++] = columns->slots[i];
    }
    columns->stale |= n < columns->n;
    columns->n = n;
}

/* How many rows a chunk has; if a file is used in place, there may be fewer than slots. */
static sp_slot_type sp_rows_in(const sp_table *table, const sp_index *index, size_t chunk)
{
    sp_slot_type first = (sp_slot_type)chunk << SP_CHUNK_BITS;
    if (!table->borrowed)
        return SP_CHUNK_SLOTS;
    if (index->bits)
        return (sp_slot_type)sp_bits_count(&index->lookup->stored[4 * chunk]);
    return SP_MIN(index->n_slots - SP_MIN(index->n_slots, first), (sp_slot_type)SP_CHUNK_SLOTS);
}

/* The slot of the first column from `slot` on; -1: there are no more. */
static int64_t sp_columns_from(const sp_table *table, const sp_index *index, int64_t slot)
{
    for (size_t chunk = (size_t)slot >> SP_CHUNK_BITS; chunk < table->n_chunks; chunk++) {
        const sp_column *records = (const sp_column *)(const void *)sp_table_chunk(
            table, SP_BLOCK_COLUMNS, chunk);
        const int64_t rows = records == NULL ? 0 : (int64_t)sp_rows_in(table, index, chunk);
        const int64_t first = (int64_t)chunk << SP_CHUNK_BITS;
        for (int64_t i = SP_MAX(slot - first, 0); i < rows; i++) {
            if (records[i].n > 0.0)
                return first + i;
        }
    }
    return -1;
}

SP_PRIVATE int sp_columns_list(sp_columns *columns, const sp_table *table, const sp_index *index)
{
    int64_t slot = -1;
    columns->n = 0;
    while ((slot = sp_columns_from(table, index, slot + 1)) >= 0) {
        if (sp_columns_room(columns, columns->n + 1) < 0)
            return -1;
        columns->slots[columns->n++] = (sp_slot_type)slot;
    }
    columns->stale = true;
    sp_columns_settle(columns, index);
    return 0;
}

SP_PRIVATE const char *sp_columns_fault(const sp_columns *columns, const sp_table *table,
                                        const sp_index *index)
{
    int64_t slot = -1;
    ptrdiff_t n = 0;
    while ((slot = sp_columns_from(table, index, slot + 1)) >= 0) {
        if (n == columns->n || columns->slots[n] != (sp_slot_type)slot)
            return "a column is not in the list of columns";
        n++;
    }
    for (ptrdiff_t i = 0; columns->hashed && i < n; i++) {
        if (columns->stale || columns->turns[columns->turns[n + i]] != (uint32_t)i
            || (i > 0
                && sp_column_number(columns, index, columns->turns[n + i - 1])
                       >= sp_column_number(columns, index, columns->turns[n + i])))
            return "the columns are not summed in the order of their numbers";
    }
    return n == columns->n ? NULL : "the list of columns names a feature that is not a column";
}

SP_PRIVATE bool sp_record_fault(const sp_column *column)
{
    if (column->n == 0.0)
        return column->a != 0.0 || column->b != 0.0 || column->since != 0.0;
    return !(fabs(column->a) <= SP_MEAN_LIMIT && column->b >= 0.0 && column->b <= SP_COLUMN_B_MOST
             && column->n > 0.0 && column->n <= SP_COUNT_MOST && column->since > 0.0
             && column->since <= SP_COUNT_MOST);
}

SP_PRIVATE bool sp_column_fault(const sp_column *column, const float *e)
{
    if (sp_record_fault(column))
        return true;
    for (int k = 0; k < 8; k++) {
        if (!(e[k] >= -0x1p120f && e[k] <= 0x1p120f)
            || (e[k] != 0.0f && (column->n == 0.0 || k >= 2)))
            return true;
    }
    return false;
}
