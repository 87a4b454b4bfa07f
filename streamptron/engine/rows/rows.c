#include "rows/rows.h"

SP_PRIVATE const sp_entry *sp_row_look(const sp_sparse_rows *rows, const sp_sparse *row,
                                       sp_entry *room)
{
    sp_entry *to = room;
    if (!sp_row_is_there(rows, row))
        return NULL;
    if (!row->dense)
        return sp_rows_at(rows, row->block);
    const sp_dense dense = sp_dense_of(rows, row);
    for (uint64_t labels = *dense.labels; labels; labels &= labels - 1) {
        const uint32_t k = (uint32_t)sp_zeros_below(labels);
        *to++ = sp_dense_numbers(&dense, k);
    }
    return room;
}

SP_PRIVATE sp_entry sp_row_numbers(const sp_sparse_rows *rows, const sp_sparse *row, uint32_t k)
{
    const sp_entry none = {k, 0.0f, 0.0f, 0.0f};
    if (row->dense && sp_row_is_there(rows, row)) {
        const sp_dense dense = sp_dense_of(rows, row);
        return k < dense.lanes ? sp_dense_numbers(&dense, k) : none;
    }
    const sp_entry *entry = sp_row_find(rows, row, k);
    return entry == NULL ? none : *entry;
}

SP_PRIVATE bool sp_row_has(const sp_sparse_rows *rows, const sp_sparse *row, uint32_t k)
{
    if (row->dense && sp_row_is_there(rows, row))
        return k < SP_DENSE_MOST && *sp_dense_of(rows, row).labels >> k & 1;
    return sp_row_find(rows, row, k) != NULL;
}

SP_PRIVATE sp_entry *sp_row_insert(const sp_sparse_rows *rows, sp_sparse *row, uint32_t k)
{
    sp_entry *entries = sp_row_entries(rows, row);
    uint32_t at = sp_row_place(entries, row->n, k);
    if (at < row->n && entries[at].k == k)
        return &entries[at];
    memmove(entries + at + 1, entries + at, (row->n - at) * sizeof(sp_entry));
    memset(&entries[at], 0, sizeof(sp_entry));
    entries[at].k = k;
    row->n += 1;
    return &entries[at];
}

SP_PRIVATE void sp_row_move(sp_sparse_rows *rows, sp_sparse *row, uint32_t block, int size)
{
    sp_entry room[SP_DENSE_MOST];
    if (row->block && !row->dense && size <= (int)row->size) {
        sp_rows_give(rows, block, size);
        return;
    }
    if (row->block) {
        memcpy(sp_rows_at(rows, block), sp_row_look(rows, row, room), row->n * sizeof(sp_entry));
        sp_rows_give(rows, row->block, (int)row->size);
    }
    row->block = block;
    row->size = (uint32_t)size & 63;
    row->dense = 0;
}

SP_PRIVATE void sp_row_make_dense(sp_sparse_rows *rows, sp_sparse *row, uint32_t block, int size)
{
    sp_entry room[SP_DENSE_MOST];
    const sp_dense to = sp_dense_at(rows, block, (uint32_t)size);
    sp_dense_put(&to, sp_row_look(rows, row, room), row->n);
    if (row->block)
        sp_rows_give(rows, row->block, (int)row->size);
    row->block = block;
    row->size = (uint32_t)size & 63;
    row->dense = 1;
}

SP_PRIVATE int sp_row_reserve(sp_sparse_rows *rows, sp_sparse *row, uint32_t n)
{
    if (n == 0 || (row->block && !row->dense && n <= sp_row_capacity((int)row->size)))
        return 0;
    int size = sp_row_size_for(n);
    uint32_t block = sp_rows_take(rows, size);
    if (block == 0)
        return -1;
    sp_row_move(rows, row, block, size);
    return 0;
}

SP_PRIVATE void sp_row_remove(sp_sparse_rows *rows, sp_sparse *row, uint32_t k)
{
    sp_entry *entry = sp_row_find(rows, row, k);
    if (entry == NULL)
        return;
    sp_entry *end = sp_row_entries(rows, row) + row->n;
    memmove(entry, entry + 1, (size_t)(end - entry - 1) * sizeof(sp_entry));
    row->n = (row->n - 1) & SP_ROW_MOST;
    if (row->n == 0)
        sp_row_drop(rows, row);
}

SP_PRIVATE void sp_row_sift(sp_sparse_rows *rows, sp_sparse *row)
{
    sp_entry *entries = sp_row_entries(rows, row);
    uint32_t n = 0;
    if (entries == NULL)
        return;
    for (uint32_t i = 0; i < row->n; i++) {
        if (entries[i].c != 0.0f || entries[i].G != 0.0f)
            entries[n++] = entries[i];
    }
    row->n = n & SP_ROW_MOST;
    if (n == 0)
        sp_row_drop(rows, row);
}

SP_PRIVATE void sp_row_drop(sp_sparse_rows *rows, sp_sparse *row)
{
    if (row->block)
        sp_rows_give(rows, row->block, (int)row->size);
    *row = (sp_sparse){0};
}
