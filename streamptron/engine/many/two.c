#include "many/two.h"

#include "many/many.h"

#include <string.h>

SP_PRIVATE uint32_t sp_two_entries(uint32_t block, const double *slot, int positive,
                                   sp_entry *entries)
{
    const sp_head *head = (const sp_head *)(const void *)slot;
    float c[2];
    uint32_t n = 0;
    memcpy(c, block == 0 ? (const void *)head->of.c : (const void *)slot, sizeof(c));
    for (uint32_t k = 0; k < 2; k++) {
        sp_entry *entry = &entries[n];
        entry->k = k;
        entry->c = c[k];
        entry->w = entry->G = 0.0f;
        if (block == 0) {
            entry->w = (float)((int)k == positive ? 0.5 * (double)head->w : -0.5 * (double)head->w);
            entry->G = head->G;
        }
        n += entry->c != 0.0f || entry->G != 0.0f;
    }
    return n;
}

SP_PRIVATE uint32_t sp_many_look(const sp_learner *learner, uint32_t block, const double *slot,
                                 sp_entry *room, const sp_entry **entries)
{
    const sp_sparse *row = &((const sp_head *)(const void *)slot)->row;
    *entries = room;
    if (!learner->adaptive.rows)
        return sp_two_entries(block, slot, learner->adaptive.positive, room);
   *entries = sp_row_look(sp_many_rows(&learner->table), row, room);
    return *entries == NULL ? 0 : row->n;
}
