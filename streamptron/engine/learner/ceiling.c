#include "learner/ceiling.h"

#include "memory/compiler.h"
#include "names/key.h"

/* Prefetch what will be read of the slots that the hand looks at next time. */
static void sp_ceiling_prefetch(const sp_index *index, const sp_table *table, sp_slot_type hand)
{
    sp_slot_type n = SP_MIN((sp_slot_type)SP_LOOKS, SP_CHUNK_SLOTS - (hand & SP_CHUNK_MASK));
    sp_prefetch_lines(sp_index_stamp(index, hand), n * sizeof(uint32_t));
    sp_prefetch_lines(sp_index_tag(index, hand), n * sizeof(uint32_t));
    sp_prefetch_lines(sp_index_key(index, hand), n * sizeof(sp_key));
    sp_table_prefetch(table, hand, n);
}

/* The slot of the feature to evict; the null slot if all are in the current event. */
static sp_slot_type sp_leaving(sp_ceiling *ceiling, const sp_index *index, const sp_table *table)
{
    sp_slot_type slots[SP_LOOKS];
    double ages[SP_LOOKS];
    double sizes[SP_LOOKS];
    sp_slot_type steps = index->n_slots - SP_SLOTS_RESERVED;
    uint32_t *stamp;
    int best = 0;
    int n = 0;
    while (steps && n < SP_LOOKS) {
        sp_slot_type slot = ceiling->hand;
        ceiling->hand = slot + 1 < index->n_slots ? slot + 1 : (sp_slot_type)SP_SLOTS_RESERVED;
        steps--;
        stamp = sp_index_stamp(index, slot);
        uint32_t age = ceiling->clock - *stamp;
        if (age == 0)
            continue;
        if (age > SP_AGE_MAX) {
            age = SP_AGE_MAX;
            *stamp = ceiling->clock - age;
        }
        slots[n] = slot;
        ages[n] = age;
        n++;
    }
    if (n == 0)
        return SP_SLOT_NULL;
    sp_table_sizes(table, slots, n, sizes);
    sp_ceiling_prefetch(index, table, ceiling->hand);
    double least = sizes[0] * sizes[0] / ages[0];
    for (int i = 1; i < n; i++) {
        double loss = sizes[i] * sizes[i] / ages[i];
        best = loss < least ? i : best;
        least = loss < least ? loss : least;
    }
    return slots[best];
}

/* Remove the index entries of evicted keys that are still there. */
static void sp_ceiling_forget(sp_index *index, sp_event *event)
{
    const sp_gone *gone;
    while (event->n_forgotten < event->n_gone) {
        gone = &event->gone[event->n_forgotten];
        if (gone->key.hi)
            sp_index_forget(index, gone);
        event->n_forgotten += 1;
    }
}

/* Advance the clock and stamp the event's features, so that none of them is evicted.

   -1 if out of memory. */
static int sp_tick(sp_ceiling *ceiling, const sp_index *index, sp_event *event)
{
    sp_gone *gone;
    if (sp_event_reserve_gone(event) < 0)
        return -1;
    ceiling->clock += 1;
    for (ptrdiff_t i = 0, end = sp_event_extent(event); i < end; i++) {
        if (event->slots[i] >= SP_SLOTS_RESERVED) {
            gone = &event->gone[event->n_gone];
            event->n_gone += 1;
            gone->entry = event->slots[i];
            gone->key.lo = gone->key.hi = 0;
            gone->stamp = *sp_index_stamp(index, event->slots[i]);
            *sp_index_stamp(index, event->slots[i]) = ceiling->clock;
        }
    }
    event->n_forgotten = event->n_gone;
    return 0;
}

SP_HOT int sp_ceiling_insert(sp_ceiling *ceiling, sp_index *index, const sp_table *table,
                             sp_event *event, ptrdiff_t first, ptrdiff_t last, bool *ticked)
{
    sp_slot_type slot;
    sp_gone *gone;
    bool any = true; /* whether a feature can be evicted */
    for (ptrdiff_t i = first; i < last; i++) {
        if (event->slots[i] != SP_SLOT_NULL)
            continue;
        event->slots[i] = sp_index_find(index, &event->keys[i], event->hashes[i]);
        if (event->slots[i] != SP_SLOT_NULL)
            continue;
        if (index->n_slots < index->max_slots) {
            slot = sp_index_insert(index, &event->keys[i], event->hashes[i]);
            if (slot == SP_SLOT_NULL)
                return -1;
        } else {
            if (!*ticked && sp_tick(ceiling, index, event) < 0)
                return -1;
            *ticked = true;
            slot = any ? sp_leaving(ceiling, index, table) : (sp_slot_type)SP_SLOT_NULL;
            any = slot != SP_SLOT_NULL;
            if (any) {
                if (event->n_gone - event->n_forgotten == SP_GONE_MAX)
                    sp_ceiling_forget(index, event);
                gone = &event->gone[event->n_gone];
                if (sp_index_replace(index, slot, &event->keys[i], event->hashes[i], gone) < 0)
                    return -1;
                gone->stamp = *sp_index_stamp(index, slot);
                event->n_gone += 1;
            }
            ceiling->n_evicted += 1;
        }
        if (slot != SP_SLOT_NULL)
            *sp_index_stamp(index, slot) = ceiling->clock;
        event->slots[i] = slot;
    }
    return 0;
}

SP_HOT void sp_ceiling_settle(const sp_ceiling *ceiling, sp_index *index, sp_table *table,
                              sp_event *event)
{
    sp_ceiling_forget(index, event);
    for (ptrdiff_t i = 0, end = event->n_gone; i < end; i++) {
        if (event->gone[i].key.hi) {
            sp_table_clear(table, (sp_slot_type)event->gone[i].entry);
            sp_index_drop(index, &event->gone[i].key);
        }
    }
    event->n_gone = event->n_forgotten = 0;
    for (ptrdiff_t i = 0, end = event->n; i < end; i++) {
        if (event->slots[i] >= SP_SLOTS_RESERVED)
            *sp_index_stamp(index, event->slots[i]) = ceiling->clock;
    }
}

SP_HOT void sp_ceiling_rewind(sp_ceiling *ceiling, const sp_ceiling *before, sp_index *index,
                              sp_event *event)
{
    const sp_gone *gone;
    while (event->n_gone) {
        event->n_gone -= 1;
        gone = &event->gone[event->n_gone];
        if (gone->key.hi)
            sp_index_restore(index, gone, event->n_gone < event->n_forgotten);
        *sp_index_stamp(index, (sp_slot_type)gone->entry) = gone->stamp;
    }
    event->n_forgotten = 0;
    *ceiling = *before;
}
