#include "exchange/mix_rows.h"

#include "machine/machine.h"

#include "features/head.h"
#include "learner/learner.h"
#include "memory/pool.h"
#include "memory/types.h"
#include "merge/outputs.h"
#include "merge/shard.h"
#include "merge/terms.h"
#include "names/index.h"
#include "table/layout.h"
#include "table/slot.h"
#include "table/table.h"

#include <string.h>

/* Whether a whole chunk of slots is the same in a shard and the base. */
static bool sp_same_chunk(const sp_merge *m, const sp_shard *shard, size_t chunk)
{
    const sp_table *its = &shard->learner->table;
    const sp_table *base = &m->base->learner->table;
    const bool flat = sp_machine_is_comparable_bytewise(shard->learner, m->base->learner);
    const double *theirs;
    const double *ours;
    if (!(sp_shard_is_aligned(shard, chunk) && sp_shard_is_aligned(m->base, chunk)))
        return false;
    if (its->lanes != base->lanes)
        return false;
    for (ptrdiff_t b = 0, end = SP_MAX(its->n_blocks, base->n_blocks); b < end; b++) {
        theirs = sp_shard_chunk(shard, b, chunk);
        ours = sp_shard_chunk(m->base, b, chunk);
        if (theirs != ours && (!flat || memcmp(theirs, ours, sp_chunk_bytes(its)) != 0))
            return false;
        if (its->average == SP_AVERAGE_EXPONENTIAL && b < its->n_blocks && b < base->n_blocks
            && chunk < its->n_chunks && chunk < base->n_chunks
            && its->blocks[b].folds[chunk] != base->blocks[b].folds[chunk])
            return false;
    }
    return true;
}

/* Whether a shard has touched a feature: its row differs from the base's in some bit. */
static bool sp_differs(const sp_merge *m, const sp_shard *shard, sp_slot_type own,
                       sp_slot_type slot)
{
    return !m->seldom->mix_same(m, shard, own, sp_base_slot(m, slot));
}

/* Whether a shard has touched one of these features. */
static bool sp_differs_somewhere(const sp_merge *m, const sp_shard *shard, sp_slot_type first,
                                 sp_slot_type last)
{
    if (first >= shard->first) {
        first = SP_MAX(first, shard->own_from);
        last = SP_MIN(last, shard->own_from + shard->n_own);
    }
    for (sp_slot_type slot = SP_MAX(first, (sp_slot_type)1); slot < last; slot++) {
        sp_slot_type own = sp_source_own(shard, slot);
        if (own != SP_SLOT_NULL && sp_differs(m, shard, own, slot))
            return true;
    }
    return false;
}

/* Prefetch the shards' rows for a slot that comes soon. A shard with another order of names may
   have them anywhere in its table. */
static void sp_mix_prefetch(const sp_merge *m, sp_slot_type slot)
{
    for (int i = 0; i < m->n_parts; i++) {
        const sp_shard *shard = &m->shards[m->parts[i].k];
        const sp_slot_type own = sp_source_own(shard, slot);
        for (ptrdiff_t b = 0; b < shard->learner->table.n_blocks; b++) {
            const double *row = sp_shard_row(shard, b, own);
            sp_prefetch(row);
            sp_prefetch(row + shard->learner->table.width - 1);
        }
    }
}

/* Merge one row. Its chunks exist wherever a shard has written. -1 if out of memory. */
static int sp_mix_slot(sp_merge *m, sp_slot_type slot)
{
    const sp_shard *shard;
    sp_mix_prefetch(m, slot + SP_AHEAD);
    m->n_touched = 0;
    for (int i = 0, end = m->n_parts; i < end; i++) {
        shard = &m->shards[m->parts[i].k];
        sp_slot_type own = sp_source_own(shard, slot);
        if (own != SP_SLOT_NULL && sp_differs(m, shard, own, slot)) {
            m->touched[m->n_touched] = (sp_mix_part){.k = m->parts[i].k, .slot = own};
            m->n_touched += 1;
        }
    }
    m->touched[m->n_touched] = (sp_mix_part){.k = m->n, .slot = sp_base_slot(m, slot)};
    return m->seldom->mix_slot(m, slot);
}

/* Make the chunks that may be written. -1 if out of memory. */
static int sp_make_chunks(sp_merge *m, size_t chunk)
{
    sp_slot_type slot = (sp_slot_type)(chunk << SP_CHUNK_BITS);
    for (uint32_t b = 0, end = (uint32_t)m->to->table.n_blocks; b < end; b++) {
        if (m->seldom->mix_writes(m, b, chunk)
            && sp_table_reserve_blocks(&m->to->table, &slot, 1, m->n_slots, &b, 1) < 0)
            return -1;
    }
    return 0;
}

/* Copy an untouched chunk from the base. False if the base has its slots in another order, or keeps
   something of them elsewhere. */
static bool sp_keep_chunk(sp_merge *m, size_t chunk, int *failed)
{
    sp_table *to = &m->to->table;
    const sp_table *base = &m->base->learner->table;
    sp_slot_type slot = (sp_slot_type)(chunk << SP_CHUNK_BITS);
    size_t n = SP_MIN((size_t)SP_CHUNK_SLOTS, m->n_slots - (chunk << SP_CHUNK_BITS));
    *failed = 0;
    if (to->arena != NULL || !sp_shard_is_aligned(m->base, chunk))
        return false;
    for (uint32_t b = 0, end = (uint32_t)base->n_blocks; b < end; b++) {
        if (chunk >= base->n_chunks || base->blocks[b].chunks[chunk] == base->zeros)
            continue;
        if (sp_table_reserve_blocks(to, &slot, 1, m->n_slots, &b, 1) < 0) {
            *failed = -1;
            return true;
        }
        memcpy(sp_table_chunk(to, b, chunk), base->blocks[b].chunks[chunk],
               n * (size_t)to->width * sizeof(double));
        if (to->average == SP_AVERAGE_EXPONENTIAL)
            sp_table_set_folds(&to->blocks[b], chunk, base->blocks[b].folds[chunk]);
    }
    return true;
}

/* The slots of a chunk of the merged learner, as the base or a shard has them, with two numbers
   each: in place, or gathered into `room`. What a shard does not have is as in the base. */
static const double *sp_gather_chunk(const sp_merge *m, int k, size_t chunk, const double *base,
                                     double *room)
{
    const sp_shard *side = sp_mix_side(m, k);
    sp_slot_type slot = (sp_slot_type)(chunk << SP_CHUNK_BITS);
    if (sp_shard_is_aligned(side, chunk))
        return sp_shard_chunk(side, 0, chunk);
    for (int i = 0; i < SP_CHUNK_SLOTS; i++, slot++) {
        const sp_slot_type own = sp_side_slot(m, k, slot);
        const double *row = own == SP_SLOT_NULL && base != NULL ? base + 2 * i
                                                                : sp_shard_row(side, 0, own);
        memcpy(room + 2 * i, row, 2 * sizeof(double));
    }
    return room;
}

/* The most common chunk, merged all at once: one weight and its uniform average. False for any
   other. */
static bool sp_mix_terms(sp_merge *m, size_t chunk)
{
    double *room = m->gathered;
    if (room == NULL || !m->base->plain)
        return false;
    for (int i = 0, end = m->n_parts; i < end; i++) {
        if (!m->shards[m->parts[i].k].plain)
            return false;
    }
    const double *base = sp_gather_chunk(m, m->n, chunk, NULL, room);
    for (int i = 0, end = m->n_parts; i < end; i++) {
        const sp_shard *shard = &m->shards[m->parts[i].k];
        room += 2 * SP_CHUNK_SLOTS;
        m->terms[i].slots = sp_gather_chunk(m, m->parts[i].k, chunk, base, room);
        m->terms[i].c = shard->learner->table.c;
        m->terms[i].n = shard->n;
    }
    if (!sp_merge_terms(base, m->c0, m->terms, m->n_parts, m->N,
                        sp_table_chunk(&m->to->table, 0, chunk), SP_CHUNK_SLOTS))
        m->sound = false;
    return true;
}

/* Merge one chunk. -1 if out of memory. */
static int sp_mix_chunk(sp_merge *m, size_t chunk)
{
    sp_slot_type slot = (sp_slot_type)(chunk << SP_CHUNK_BITS);
    sp_slot_type last = SP_MIN(slot + SP_CHUNK_SLOTS, m->n_slots);
    int failed;
    m->n_parts = 0;
    for (int k = 0, end = m->to->table.width == 2 ? m->n : 0; k < end; k++)
        sp_table_prefetch(&m->shards[k].learner->table, slot + SP_CHUNK_SLOTS, SP_CHUNK_SLOTS);
    for (int k = 0, end = m->n; k < end; k++) {
        if (!sp_same_chunk(m, &m->shards[k], chunk)
            && (sp_shard_is_aligned(&m->shards[k], chunk)
                || sp_differs_somewhere(m, &m->shards[k], slot, last))) {
            m->parts[m->n_parts].k = k;
            m->n_parts += 1;
        }
    }
    if (m->n_parts == 0 && sp_keep_chunk(m, chunk, &failed))
        return failed;
    if (m->to->table.n_blocks == 0)
        return 0;
    if (sp_make_chunks(m, chunk) < 0)
        return -1;
    if (sp_table_chunk(&m->to->table, 0, chunk) != NULL && sp_mix_terms(m, chunk))
        return 0;
    m->sound = false; /* whether it is sound is not known */
    for (slot = SP_MAX(slot, (sp_slot_type)1); slot < last; slot++) {
        if (sp_mix_slot(m, slot) < 0)
            return -1;
    }
    return 0;
}

SP_PRIVATE int sp_mix_rows(sp_merge *m)
{
    sp_table *to = &m->to->table;
    const sp_machine *machine = m->to->machine;
    const sp_table *base = &m->base->learner->table;
    size_t chunks = ((m->n_slots - 1) >> SP_CHUNK_BITS) + 1;
    const size_t new
        = (chunks - SP_MIN(chunks, base->n_chunks))
          * (size_t)(machine->mix_blocks > 0 ? machine->mix_blocks : to->n_blocks);
    if (sp_table_reserve_places(to, chunks, to->is_full_size) < 0
        || sp_pool_reserve(&to->pool, base->pool.used + new * sp_pool_block(sp_chunk_bytes(to)))
               < 0)
        return -1;
    for (size_t chunk = 0; chunk < chunks; chunk++) {
        if (sp_mix_chunk(m, chunk) < 0)
            return -1;
    }
    return 0;
}
