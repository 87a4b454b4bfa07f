#include "exchange/reshaped.h"

#include "adaptive/adaptive.h"
#include "adaptive/gaps.h"
#include "features/columns.h"
#include "memory/heap.h"
#include "shapes/seen.h"

#include <stdlib.h>

/* A shard that continues from a base. */
typedef struct sp_going_on {
    const sp_shard *shard;
    const sp_index *base;
} sp_going_on;

/* The shard's slot of the column that has a place in the base; the null slot: it has none. */
static sp_slot_type sp_slot_since(const void *of, sp_slot_type place)
{
    const sp_shard *shard = ((const sp_going_on *)of)->shard;
    const sp_index *its = &shard->learner->index;
    const sp_key ours = sp_index_placed(((const sp_going_on *)of)->base, place);
    if (its->bits)
        return shard->keys != NULL ? place : sp_index_find(its, &ours, sp_index_hash(its, &ours));
    if (place >= shard->n_slots)
        return SP_SLOT_NULL;
    const sp_key theirs = sp_shard_key(shard, place);
    return sp_key_equal(&theirs, &ours) ? place : (sp_slot_type)SP_SLOT_NULL;
}

/* The base's parts, in the form of a learner that continues from it. -1 if out of memory. */
static int sp_shapes_since(sp_shapes *was, const sp_adaptive *a, const sp_shard *shard,
                           const sp_learner *base)
{
    const sp_going_on of = {shard, &base->index};
    const sp_seen how = {
        .slot_of = sp_slot_since,
        .of = &of,
        .lanes = a->shapes.lanes,
        .n_labels = sp_adaptive_places(a),
        .sign = 1.0,
        .positive = base->adaptive.positive,
    };
    return sp_shapes_seen(was, &base->adaptive.shapes, &how);
}

SP_PRIVATE ptrdiff_t sp_reshaped_measure(const sp_shard *shard, const sp_shard *base,
                                         sp_shapes *was)
{
    const sp_adaptive *a = &shard->learner->adaptive;
    if (sp_shapes_are_new(&a->shapes))
        return 0;
    if (sp_shapes_since(was, a, shard, base->learner) < 0)
        return -1;
    return (ptrdiff_t)sp_shapes_measure(&a->shapes, sp_adaptive_places(a), was);
}

SP_PRIVATE void sp_reshaped_write(const sp_shard *shard, const sp_shapes *was, uint32_t *words)
{
    const sp_adaptive *a = &shard->learner->adaptive;
    sp_shapes_write(&a->shapes, sp_adaptive_places(a), was, words);
}

SP_PRIVATE ptrdiff_t sp_reshaped_all(const sp_learner *learner, uint32_t **words)
{
    const sp_adaptive *a = &learner->adaptive;
    *words = NULL;
    if (sp_shapes_are_new(&a->shapes))
        return 0;
    const size_t n = sp_shapes_measure(&a->shapes, sp_adaptive_places(a), NULL);
    *words = (uint32_t *)sp_malloc(n * sizeof(uint32_t));
    if (*words == NULL)
        return -1;
    sp_shapes_write(&a->shapes, sp_adaptive_places(a), NULL, *words);
    return (ptrdiff_t)n;
}

/* --- Laying over a base */

typedef struct sp_numbered { /* a column, and the number that decides its turn in sums */
    uint64_t number;
    sp_slot_type slot;
} sp_numbered;

static int sp_by_number(const void *a, const void *b)
{
    const uint64_t x = ((const sp_numbered *)a)->number;
    const uint64_t y = ((const sp_numbered *)b)->number;
    return (x > y) - (x < y);
}

/* List the columns that may have shapes. If `all` is NULL, only count them. */
static ptrdiff_t sp_laid_columns(const sp_shard *shard, sp_numbered *all)
{
    const sp_table *table = &shard->learner->table;
    ptrdiff_t n = 0;
    for (size_t chunk = 0; chunk < table->n_chunks; chunk++) {
        const double *rows = sp_shard_chunk(shard, SP_BLOCK_COLUMNS, chunk);
        if (rows == table->zeros)
            continue;
        for (sp_slot_type i = 0; i < SP_CHUNK_SLOTS; i++) {
            const sp_slot_type slot = (sp_slot_type)(chunk << SP_CHUNK_BITS) + i;
            if (slot >= shard->n_slots
                || !(((const sp_column *)(const void *)rows)[i].n > 0.0))
                continue;
            const sp_key key = sp_shard_key(shard, slot);
            if (!sp_has_hidden(&key))
                continue;
            if (all != NULL)
                all[n] = (sp_numbered){shard->learner->index.bits ? key.lo : slot, slot};
            n++;
        }
    }
    return n;
}

/* Make the list of columns that may have shapes. -1 if out of memory. */
static int sp_laid_list(sp_shapes *shapes, const sp_shard *shard)
{
    const ptrdiff_t n = sp_laid_columns(shard, NULL);
    if (n == 0)
        return 0;
    sp_numbered *all = (sp_numbered *)sp_malloc((size_t)n * sizeof(sp_numbered));
    if (all == NULL || sp_shapes_room(shapes, n) < 0) {
        sp_free(all);
        return -1;
    }
    sp_laid_columns(shard, all);
    if (shard->learner->index.bits)
        qsort(all, (size_t)n, sizeof(sp_numbered), sp_by_number);
    for (shapes->n_columns = 0; shapes->n_columns < n; shapes->n_columns++)
        shapes->columns[shapes->n_columns] = all[shapes->n_columns].slot;
    sp_free(all);
    return 0;
}

SP_PRIVATE int sp_reshaped_overlay(sp_learner *learner, const sp_shard *shard,
                                   const sp_learner *base, const uint32_t *words, size_t n)
{
    sp_adaptive *a = &learner->adaptive;
    sp_shapes was = {0};
    int fault = 0;
    if (n == 0)
        return 0;
    if ((a->rows && sp_shapes_lanes(&a->shapes, a->n_labels) < 0)
        || sp_laid_list(&a->shapes, shard) < 0 || sp_shapes_since(&was, a, shard, base) < 0)
        fault = SP_SHARD_MEMORY;
    if (!fault)
        fault = sp_shapes_read(&a->shapes, sp_adaptive_places(a), &was, words, n);
    sp_shapes_free(&was);
    return fault == SP_SHAPES_WRONG ? SP_SHARD_NUMBER : fault;
}
