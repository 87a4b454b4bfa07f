#include "merge/shard.h"

#include "memory/compiler.h"
#include "table/layout.h"
#include "table/slot.h"
#include "table/table.h"
#include "table/wide.h"

#include <string.h>

SP_PRIVATE sp_key sp_shard_key(const sp_shard *shard, sp_slot_type slot)
{
    const sp_index *index = &shard->learner->index;
    sp_key key;
    if (shard->keys == NULL && index->lookup == NULL && index->bits == 0)
        key = *sp_index_key(index, slot);
    else if (shard->keys == NULL)
        key = sp_index_stored(index, slot);
    else if (slot < shard->keys_from)
        return sp_index_stored(shard->base, slot);
    else
        key = shard->keys[slot - shard->keys_from];
    if (sp_key_kind(&key) == SP_KEY_OBJECT && shard->ordinals != NULL) {
        if (key.lo >= shard->n_objects)
            return sp_key_word(SP_KEY_NONE, 0);
        key.lo = shard->ordinals[key.lo];
    }
    return key;
}

SP_APART SP_PRIVATE sp_slot_type sp_shard_place(const sp_shard *shard, sp_slot_type slot)
{
    return sp_index_place(&shard->learner->index, slot);
}

/* Whether the names of a shard and the base can be compared as bytes. */
static bool sp_has_short_names(const sp_shard *shard, const sp_index *base)
{
    return shard->keys == NULL && shard->ordinals == NULL && base->lookup == NULL
           && shard->learner->index.lookup == NULL && base->bits == 0;
}

/* The first slot from shard.first on whose name differs from the base's. */
static sp_slot_type sp_prefix(const sp_shard *shard, const sp_index *base)
{
    sp_slot_type slot = shard->first;
    sp_slot_type n = SP_MIN(shard->n_slots, base->n_slots);
    sp_key theirs, ours;
    while (slot < n) {
        theirs = sp_shard_key(shard, slot);
        ours = sp_index_stored(base, slot);
        if (!sp_key_equal(&theirs, &ours))
            return slot;
        slot++;
    }
    return n;
}

SP_PRIVATE void sp_names_prefixes(sp_shard *shards, int n, const sp_index *base)
{
    sp_slot_type slot = SP_SLOTS_RESERVED;
    for (int k = 0; k < n; k++)
        shards[k].first = slot;
    while (slot < base->n_slots) {
        sp_slot_type last = (slot | SP_CHUNK_MASK) + 1;
        for (int k = 0; k < n; k++) {
            if (shards[k].first == slot && last <= SP_MIN(shards[k].n_slots, base->n_slots)
                && sp_has_short_names(&shards[k], base)
                && memcmp(sp_index_key(&shards[k].learner->index, slot), sp_index_key(base, slot),
                          (last - slot) * sizeof(sp_key))
                       == 0)
                shards[k].first = last;
        }
        slot = last;
    }
    for (int k = 0; k < n; k++)
        shards[k].first = sp_prefix(&shards[k], base);
}

/* Hash and look up n names of a shard from `first` on. Returns how many are new; -1: a name is
   invalid. */
static ptrdiff_t sp_names_look(const sp_shard *shard, const sp_index *names, size_t n,
                               uint64_t *hashes)
{
    sp_key keys[SP_NAMES_BATCH];
    const uint64_t *starts[SP_NAMES_BATCH];
    ptrdiff_t new = 0;
    for (size_t at = 0; at < n; at += SP_NAMES_BATCH) {
        const size_t some = SP_MIN((size_t)SP_NAMES_BATCH, n - at);
        sp_slot_type *slots = shard->merged + at;
        for (size_t i = 0; i < some; i++) {
            keys[i] = sp_shard_key(shard, shard->first + (sp_slot_type)(at + i));
            if (sp_key_kind(&keys[i]) == SP_KEY_NONE)
                return -1;
            hashes[at + i] = sp_index_hash(names, &keys[i]);
        }
        sp_index_find_all(names, keys, (ptrdiff_t)some, hashes + at, starts, slots, true);
        for (size_t i = 0; i < some; i++)
            new += slots[i] == SP_SLOT_NULL;
    }
    return new;
}

SP_PRIVATE int sp_names_find(sp_shard *shard, sp_index *names)
{
    const size_t n = shard->n_slots - SP_MIN(shard->first, shard->n_slots);
    if (n == 0)
        return 0;
    uint64_t *hashes = (uint64_t *)sp_malloc(n * sizeof(uint64_t));
    shard->merged = (sp_slot_type *)sp_malloc(n * sizeof(sp_slot_type));
    int fault = hashes == NULL || shard->merged == NULL ? SP_SHARD_MEMORY : 0;
    const ptrdiff_t new = fault ? 0 : sp_names_look(shard, names, n, hashes);
    if (new < 0)
        fault = SP_SHARD_NAMES;
    else if (new && sp_index_expect(names, (size_t)new) < 0)
        fault = SP_SHARD_MEMORY;
    for (size_t i = 0; !fault && i < n; i++) {
        sp_index_prefetch(names, hashes[SP_MIN(i + SP_NAMES_AHEAD, n - 1)]);
        if (shard->merged[i] != SP_SLOT_NULL)
            continue;
        const sp_key key = sp_shard_key(shard, shard->first + (sp_slot_type)i);
        shard->merged[i] = sp_index_insert(names, &key, hashes[i]);
        if (shard->merged[i] == SP_SLOT_NULL)
            fault = SP_SHARD_MEMORY;
    }
    sp_free(hashes);
    return fault;
}

SP_PRIVATE int sp_names_invert(sp_shard *shard)
{
    sp_slot_type least = SP_SLOT_MAX;
    sp_slot_type last = 0;
    sp_slot_type n = shard->n_slots - shard->first;
    shard->own_from = shard->n_own = 0;
    if (n == 0)
        return 0;
    for (sp_slot_type slot = 0; slot < n; slot++) {
        least = SP_MIN(least, shard->merged[slot]);
        last = SP_MAX(last, shard->merged[slot]);
    }
    if (least < shard->first)
        return SP_SHARD_TWICE;
    shard->own = (sp_slot_type *)sp_calloc(last - least + 1, sizeof(sp_slot_type));
    if (shard->own == NULL)
        return SP_SHARD_MEMORY;
    shard->own_from = least;
    shard->n_own = last - least + 1;
    for (sp_slot_type slot = 0; slot < n; slot++) {
        sp_slot_type at = shard->merged[slot] - least;
        if (shard->own[at] != SP_SLOT_NULL)
            return SP_SHARD_TWICE;
        shard->own[at] = shard->first + slot;
    }
    sp_free(shard->merged);
    shard->merged = NULL;
    return 0;
}

SP_PRIVATE const double *sp_shard_field(const sp_shard *shard, sp_slot_type slot, ptrdiff_t output,
                                        double *sign)
{
    const sp_table *table = &shard->learner->table;
    ptrdiff_t own = shard->outputs[output];
    if (own < 0)
        return NULL;
    *sign = shard->signs[output];
    return sp_table_field(table, sp_shard_place(shard, slot), own);
}

SP_PRIVATE double sp_shard_factor(const sp_shard *shard, sp_slot_type slot, ptrdiff_t output,
                                  uint32_t fold)
{
    const sp_table *table = &shard->learner->table;
    ptrdiff_t own = shard->outputs[output];
    slot = sp_shard_place(shard, slot);
    if (table->average != SP_AVERAGE_EXPONENTIAL || own < 0
        || slot >> SP_CHUNK_BITS >= table->n_chunks)
        return 1.0;
    return sp_fold_factor(fold - sp_table_folds(table, slot, own));
}

SP_PRIVATE void sp_forms_free(sp_forms *forms)
{
    for (int k = 0; forms->shadows != NULL && k < forms->n; k++) {
        if (forms->shadows[k].table.arena != NULL)
            sp_wide_drop(&forms->shadows[k].table);
    }
    sp_free(forms->shadows);
    forms->shadows = NULL;
}
