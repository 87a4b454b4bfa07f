#include "adaptive/columns.h"

#include "memory/heap.h"
#include "names/lookup.h"

#include <string.h>

SP_PRIVATE void sp_column_clear(const sp_blocks *blocks, sp_slot_type slot)
{
    float *e = sp_column_e(blocks, slot);
    memset(sp_column_of(blocks, slot), 0, sizeof(sp_column));
    for (int k = 0; k < 2; k++) {
        if (e[k] != 0.0f) /* what is 0 may lie in zeros that are never written */
            e[k] = 0.0f;
    }
}

SP_PRIVATE void sp_columns_free(sp_columns *columns)
{
    sp_free(columns->slots);
    memset(columns, 0, sizeof(sp_columns));
}

SP_PRIVATE int sp_columns_room(sp_columns *columns, ptrdiff_t n)
{
    ptrdiff_t room = n + n / 2 + 8;
    if (n <= columns->room)
        return 0;
    void *slots = sp_realloc(columns->slots, (size_t)room * sizeof(sp_slot_type));
    if (slots == NULL)
        return -1;
    columns->slots = (sp_slot_type *)slots;
    columns->room = room;
    return 0;
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
}

SP_PRIVATE void sp_columns_sift(sp_columns *columns, const sp_blocks *blocks)
{
    ptrdiff_t n = 0;
    for (ptrdiff_t i = 0; i < columns->n; i++) {
        if (sp_column_of(blocks, columns->slots[i])->n > 0.0)
            columns->slots[n++] = columns->slots[i];
    }
    columns->n = n;
}

/* How many rows a chunk has: in a file that is used in place, perhaps fewer than slots. */
static sp_slot_type sp_rows_in(const sp_table *table, const sp_index *index, size_t chunk)
{
    sp_slot_type first = (sp_slot_type)chunk << SP_CHUNK_BITS;
    if (!table->borrowed)
        return SP_CHUNK_SLOTS;
    if (index->bits)
        return (sp_slot_type)sp_bits_count(&index->lookup->stored[4 * chunk]);
    return SP_MIN(index->n_slots - SP_MIN(index->n_slots, first), (sp_slot_type)SP_CHUNK_SLOTS);
}

/* The first column's slot from `slot` on; -1: there are no more. */
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
    return n == columns->n ? NULL : "the list of columns has one that is none";
}

SP_PRIVATE bool sp_record_fault(const sp_column *column)
{
    if (column->n == 0.0)
        return column->a != 0.0 || column->b != 0.0 || column->since != 0.0;
    return !(fabs(column->a) <= SP_VALUE_LIMIT && column->b >= 0.0 && column->b <= SP_COLUMN_B_MOST
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
