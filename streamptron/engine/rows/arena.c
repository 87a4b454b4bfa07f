#include "rows/arena.h"

#include "memory/grow.h"
#include "memory/heap.h"

/* Each about half as large again as the one before. */
static const uint32_t sp_row_capacities[SP_ROW_CLASSES] = {
    1,       2,       3,       4,       6,        9,        13,       19,
    28,      42,      63,      94,      141,      211,      316,      474,
    711,     1066,    1599,    2398,    3597,     5395,     8092,     12138,
    18207,   27310,   40965,   61447,   92170,    138255,   207382,   311073,
    466609,  699913,  1049869, 1574803, 2362204,  3543306,  5314959,  7972438,
    11958657, 17937985, 26906977, 40360465, 60540697, 90811045, 136216567, 204324850,
};

SP_PRIVATE uint32_t sp_row_capacity(int size)
{
    return sp_row_capacities[size];
}

SP_PRIVATE int sp_row_size_for(uint32_t n)
{
    int size = 0;
    while (sp_row_capacities[size] < n)
        size++;
    return size;
}

SP_RARE SP_PRIVATE sp_sparse_rows *sp_rows_open(void)
{
    sp_sparse_rows *rows = (sp_sparse_rows *)sp_calloc(1, sizeof(sp_sparse_rows));
    if (rows != NULL)
        rows->bytes = sizeof(sp_sparse_rows);
    return rows;
}

SP_RARE SP_PRIVATE void sp_rows_free(sp_sparse_rows *rows)
{
    if (rows == NULL)
        return;
    for (size_t i = 0; !rows->borrowed && i < rows->n_segments; i += rows->owns[i])
        sp_free(rows->segments[i]);
    sp_free(rows->segments);
    sp_free(rows->owns);
    sp_free(rows);
}

/* Open n adjacent segments. -1 if out of memory. */
SP_RARE static int sp_rows_grow(sp_sparse_rows *rows, size_t n)
{
    size_t room = rows->n_segments + n;
    size_t bytes = n * SP_SEGMENT_ENTRIES * sizeof(sp_entry);
    sp_entry *made;
    if (room << SP_SEGMENT_BITS > UINT32_MAX)
        return -1;
    if (room > rows->room) {
        room += room / 2;
        const sp_growing all[] = {
            SP_GROWING(rows->segments, room),
            SP_GROWING(rows->owns, room),
        };
        if (sp_grow_all(all, 2) < 0)
            return -1;
        rows->bytes += (room - rows->room) * (sizeof(sp_entry *) + sizeof(size_t));
        rows->room = room;
    }
    made = (sp_entry *)sp_malloc(bytes);
    if (made == NULL)
        return -1;
    for (size_t i = 0; i < n; i++) {
        rows->segments[rows->n_segments + i] = made + i * SP_SEGMENT_ENTRIES;
        rows->owns[rows->n_segments + i] = i == 0 ? n : 0;
    }
    rows->n_segments += n;
    rows->bytes += bytes;
    return 0;
}

SP_PRIVATE sp_sparse_rows *sp_rows_borrow(const sp_entry *entries, size_t n)
{
    sp_sparse_rows *rows = sp_rows_open();
    size_t segments = (n + SP_SEGMENT_ENTRIES - 1) >> SP_SEGMENT_BITS;
    if (rows == NULL)
        return NULL;
    rows->borrowed = true;
    rows->n_lent = n;
    rows->segments = (sp_entry **)sp_malloc((segments + 1) * sizeof(sp_entry *));
    if (rows->segments == NULL) {
        sp_rows_free(rows);
        return NULL;
    }
    for (size_t i = 0; i < segments; i++)
        rows->segments[i] = (sp_entry *)(uintptr_t)(entries + (i << SP_SEGMENT_BITS));
    rows->n_segments = segments;
    rows->bytes += (segments + 1) * sizeof(sp_entry *);
    return rows;
}

SP_RARE SP_PRIVATE sp_sparse_rows *sp_rows_copy(const sp_sparse_rows *other)
{
    sp_sparse_rows *rows = sp_rows_open();
    if (rows == NULL)
        return NULL;
    for (size_t i = 0; i < other->n_segments; i += other->owns[i]) {
        if (sp_rows_grow(rows, other->owns[i]) < 0) {
            sp_rows_free(rows);
            return NULL;
        }
        memcpy(rows->segments[i], other->segments[i],
               other->owns[i] * SP_SEGMENT_ENTRIES * sizeof(sp_entry));
    }
    rows->next = other->next;
    rows->limit = other->limit;
    memcpy(rows->free, other->free, sizeof(rows->free));
    return rows;
}

SP_PRIVATE void sp_rows_give(sp_sparse_rows *rows, uint32_t block, int size)
{
    sp_rows_at(rows, block)->k = rows->free[size];
    rows->free[size] = block;
}

/* Give the rest of the current segment to rows of the classes that fit into it. */
static void sp_rows_use_up(sp_sparse_rows *rows)
{
    while (rows->next < rows->limit) {
        int size = sp_row_size_for(rows->limit - rows->next + 1) - 1;
        sp_rows_give(rows, rows->next, size);
        rows->next += sp_row_capacity(size);
    }
}

SP_PRIVATE uint32_t sp_rows_take(sp_sparse_rows *rows, int size)
{
    uint32_t n = sp_row_capacity(size);
    uint32_t block = rows->free[size];
    if (block) {
        rows->free[size] = sp_rows_at(rows, block)->k;
        return block;
    }
    if (n > SP_SEGMENT_ENTRIES / 2) {
        size_t first = rows->n_segments;
        size_t several = (n + SP_SEGMENT_ENTRIES - 1) >> SP_SEGMENT_BITS;
        if (first == 0) { /* block 0 stays unused: 0 means no block */
            first = 1;
            if (sp_rows_grow(rows, 1) < 0)
                return 0;
            rows->next = 1;
            rows->limit = SP_SEGMENT_ENTRIES;
        }
        return sp_rows_grow(rows, several) < 0 ? 0 : (uint32_t)(first << SP_SEGMENT_BITS);
    }
    if (rows->limit - rows->next < n) {
        uint32_t first = (uint32_t)(rows->n_segments << SP_SEGMENT_BITS);
        if (sp_rows_grow(rows, 1) < 0)
            return 0;
        sp_rows_use_up(rows);
        rows->next = SP_MAX(first, (uint32_t)1);
        rows->limit = first + SP_SEGMENT_ENTRIES;
    }
    block = rows->next;
    rows->next += n;
    return block;
}
