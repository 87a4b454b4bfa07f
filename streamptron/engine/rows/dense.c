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

SP_PRIVATE void sp_dense_put(const sp_dense *to, const sp_entry *entries, uint32_t n)
{
    memset(to->w, 0, 3 * to->lanes * sizeof(float) + sizeof(uint64_t));
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t k = entries[i].k;
        to->c[k] = entries[i].c;
        to->w[2 * k] = entries[i].w;
        to->w[2 * k + 1] = entries[i].G;
        *to->labels |= (uint64_t)1 << k;
    }
}

SP_PRIVATE void sp_dense_add(const sp_sparse_rows *rows, sp_sparse *row, uint32_t k)
{
    *sp_dense_of(rows, row).labels |= (uint64_t)1 << k;
    row->n = sp_ones(*sp_dense_of(rows, row).labels) & SP_ROW_MOST;
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
