#include "rows/dense.h"

#include <string.h>

SP_PRIVATE int sp_dense_size_for(ptrdiff_t labels)
{
    int size = 0;
    while (sp_dense_lanes[size] < labels)
        size++;
    return size;
}

SP_PRIVATE uint32_t sp_dense_from(ptrdiff_t labels)
{
    return sp_row_capacity(sp_dense_size_for(labels) - 2) + 1;
}

static sp_entry sp_dense_numbers(const sp_dense *dense, uint32_t k)
{
    return (sp_entry){k, dense->c[k], dense->w[2 * k], dense->w[2 * k + 1]};
}

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

SP_PRIVATE void sp_dense_fill(sp_sparse_rows *rows, sp_sparse *row, uint32_t block, int size)
{
    sp_entry room[SP_DENSE_MOST];
    const sp_dense to = sp_dense_at(rows, block, (uint32_t)size);
    const sp_entry *entries = sp_row_look(rows, row, room);
    memset(to.w, 0, 3 * to.lanes * sizeof(float) + sizeof(uint64_t));
    for (uint32_t i = 0; i < row->n; i++) {
        const uint32_t k = entries[i].k;
        to.c[k] = entries[i].c;
        to.w[2 * k] = entries[i].w;
        to.w[2 * k + 1] = entries[i].G;
        *to.labels |= (uint64_t)1 << k;
    }
    if (row->block)
        sp_rows_give(rows, row->block, (int)row->size);
    row->block = block;
    row->size = (uint32_t)size & 63;
    row->dense = 1;
}

SP_PRIVATE void sp_dense_add(const sp_sparse_rows *rows, sp_sparse *row, uint32_t k)
{
    *sp_dense_of(rows, row).labels |= (uint64_t)1 << k;
    row->n = sp_ones(*sp_dense_of(rows, row).labels) & SP_ROW_MOST;
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

SP_PRIVATE bool sp_dense_fault(const sp_sparse_rows *rows, const sp_sparse *row)
{
    if (row->block == 0 || row->size >= SP_DENSE_SIZES || rows->borrowed)
        return true;
    const sp_dense dense = sp_dense_of(rows, row);
    bool fault = sp_ones(*dense.labels) != row->n;
    for (uint32_t k = 0; k < SP_DENSE_MOST; k++) {
        const bool there = *dense.labels >> k & 1;
        if (k >= dense.lanes)
            fault |= there;
        else if (!there)
            fault |= dense.c[k] != 0.0f || dense.w[2 * k] != 0.0f || dense.w[2 * k + 1] != 0.0f;
    }
    return fault;
}
