#include "events/tally.h"

#include "memory/arena.h"
#include "memory/grow.h"

#include <string.h>

SP_PRIVATE sp_tally sp_tally_begin(const sp_event *event, const sp_index *index)
{
    sp_tally tally;
    memset(&tally, 0, sizeof(sp_tally));
    tally.n = event->n;
    tally.seed = index->seed;
    return tally;
}

SP_PRIVATE ptrdiff_t sp_tally_search(const sp_key *keys, uint32_t *buckets, uint64_t mask,
                                     uint64_t at, ptrdiff_t n)
{
    while (buckets[at] != 0) {
        if (sp_key_equal(&keys[buckets[at] - 1], &keys[n]))
            return buckets[at] - 1;
        at = (at + 1) & mask;
    }
    buckets[at] = (uint32_t)n + 1;
    return n;
}

SP_PRIVATE int sp_tally_reserve(sp_tally *tally, sp_buckets *buckets, sp_event *event, ptrdiff_t n)
{
    if (sp_event_reserve(event, tally->n + n + 1) < 0)
        return -1;
    tally->keys = event->keys;
    tally->values = event->values;
    tally->hashes = event->hashes;
    size_t size = 64;
    while (size < (size_t)(2 * (tally->n + n)))
        size *= 2;
    if (size <= tally->mask + 1 && tally->buckets != NULL)
        return 0;
    if (size > buckets->capacity) {
        if (SP_GROW(buckets->p, size) < 0)
            return -1;
        buckets->capacity = size;
    }
    tally->buckets = buckets->p;
    tally->mask = size - 1;
    memset(tally->buckets, 0, size * sizeof(uint32_t));
    for (ptrdiff_t k = event->n; k < tally->n; k++) {
        uint64_t at = tally->hashes[k] & tally->mask;
        while (tally->buckets[at] != 0)
            at = (at + 1) & tally->mask;
        tally->buckets[at] = (uint32_t)k + 1;
    }
    return 0;
}

SP_PRIVATE void sp_tally_end(const sp_tally *tally, sp_event *event)
{
    event->n_found = event->n;
    event->n = tally->n;
    event->n_hashed = tally->n;
    event->scored_version = 0;
}

SP_PRIVATE uint8_t *sp_joint_room(sp_joint *joint, sp_event *event, size_t n)
{
    if (joint->n < n) {
        joint->n = n < 256 ? 4096 : 2 * n;
        joint->p = sp_arena_alloc(&event->text, joint->n);
        if (joint->p == NULL)
            joint->n = 0;
    }
    return joint->p;
}
