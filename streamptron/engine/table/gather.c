#include "table/gather.h"

#include "memory/heap.h"
#include "memory/pool.h"
#include "names/hash.h"
#include "names/key.h"
#include "table/layout.h"
#include "table/loops.h"

#include <string.h>

/* Copy a slot of another table of the same kind. -1 if out of memory. */
SP_RARE static int sp_copy_row(sp_table *to, const sp_table *other, sp_slot_type slot,
                               sp_slot_type source, sp_slot_type n_slots)
{
    double *row;
    for (uint32_t b = 0, end = (uint32_t)other->n_blocks; b < end; b++) {
        if (source >> SP_CHUNK_BITS >= other->n_chunks
            || sp_table_chunk(other, b, source >> SP_CHUNK_BITS) == NULL)
            continue;
        if (sp_table_reserve_blocks(to, &slot, 1, n_slots, &b, 1) < 0)
            return -1;
        row = sp_table_chunk(to, b, slot >> SP_CHUNK_BITS)
              + (slot & SP_CHUNK_MASK) * (uint32_t)to->width;
        memcpy(row,
               sp_table_chunk(other, b, source >> SP_CHUNK_BITS)
                   + (source & SP_CHUNK_MASK) * (uint32_t)to->width,
               (size_t)to->width * sizeof(double));
        if (to->average == SP_AVERAGE_EXPONENTIAL) {
            double factor = sp_fold_factor(to->fold
                                           - other->blocks[b].folds[source >> SP_CHUNK_BITS]);
            for (int k = 0; k < to->lanes; k++)
                row[k * to->layout.fields + to->layout.v] *= factor;
        }
    }
    return 0;
}

SP_RARE SP_PRIVATE int sp_gather(sp_index *names, sp_table *rows, const sp_index *index,
                                 const sp_table *table, sp_slot_type most, const sp_slot_type *stay,
                                 size_t n)
{
    sp_key key;
    *rows = *table;
    rows->blocks = NULL;
    rows->n_blocks = rows->n_outputs = 0;
    rows->n_chunks = 1;
    rows->bytes = 0;
    sp_pool_init(&rows->pool, table->pool.scattered);
    int failed = sp_index_init(names, 0, index->seed_number, most)
                 | sp_table_add_outputs(rows, table->n_outputs)
                 | sp_table_reserve_places(rows, ((n + 1) >> SP_CHUNK_BITS) + 1, false);
    if (!failed)
        failed = sp_copy_row(rows, table, SP_SLOT_INTERCEPT, SP_SLOT_INTERCEPT, SP_SLOTS_RESERVED);
    for (size_t i = 0; i < n; i++) {
        if (failed)
            break;
        key = *sp_index_key(index, stay[i]);
        sp_slot_type slot = sp_index_insert(names, &key, sp_key_hash(&names->seed, &key));
        failed = slot == SP_SLOT_NULL
                     ? -1
                     : sp_copy_row(rows, table, slot, stay[i], (sp_slot_type)n + SP_SLOTS_RESERVED);
    }
    if (failed) {
        sp_index_free(names);
        sp_table_free(rows);
    }
    return failed;
}
