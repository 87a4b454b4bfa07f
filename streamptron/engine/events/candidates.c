#include "events/candidates.h"

#include "memory/heap.h"
#include "memory/types.h"
#include "names/key.h"

#include <string.h>

/* Empty the hash table for n entries. Returns its size, a power of two; -1 if out of memory. */
static ptrdiff_t sp_empty_common(sp_event *event, ptrdiff_t n)
{
    ptrdiff_t room = SP_ROOM_LEAST;
    uint32_t *common;
    while (room < 2 * n)
        room *= 2;
    if (room > event->n_common) {
        common = (uint32_t *)sp_malloc((size_t)room * sizeof(uint32_t));
        if (common == NULL)
            return -1;
        sp_free(event->common);
        event->common = common;
        event->n_common = room;
    }
    memset(event->common, 0, (size_t)room * sizeof(uint32_t));
    return room;
}

/* A hash: a number that is the same for entries of the same feature. All of it is in its upper
   half. */
static uint64_t sp_mixed(const sp_event *event, ptrdiff_t i)
{
    const sp_key *key = &event->keys[i];
    uint64_t word;
    if (event->slots[i] != SP_SLOT_NULL)
        word = event->slots[i];
    else {
        /* a long key's word is an address; a column's hash is not known */
        word = sp_key_is_long(key) ? event->hashes[i] : key->lo ^ (key->hi << 7);
    }
    word ^= word >> 32;
    return word * (uint64_t)0x9E3779B97F4A7C15;
}

/* Whether two entries belong to the same feature. */
static bool sp_same(const sp_event *event, ptrdiff_t i, ptrdiff_t j)
{
    if (event->slots[i] != SP_SLOT_NULL || event->slots[j] != SP_SLOT_NULL)
        return event->slots[i] == event->slots[j];
    return sp_key_equal(&event->keys[i], &event->keys[j]);
}

/* Add a candidate's entry to the difference, which ends at `at`. Returns the new end. */
static ptrdiff_t sp_add_signed(sp_event *event, ptrdiff_t from, double sign, ptrdiff_t room,
                               ptrdiff_t at)
{
    uint64_t place = (sp_mixed(event, from) >> 32) & (uint64_t)(room - 1);
    while (event->common[place]) {
        ptrdiff_t i = event->n + event->common[place] - 1;
        if (sp_same(event, i, from)) {
            event->values[i] += sign * event->values[from];
            return at;
        }
        place = (place + 1) & (uint64_t)(room - 1);
    }
    event->common[place] = (uint32_t)(at - event->n + 1);
    event->keys[at] = event->keys[from];
    event->slots[at] = event->slots[from];
    event->hashes[at] = event->hashes[from];
    event->values[at] = sign * event->values[from];
    return at + 1;
}

SP_API ptrdiff_t sp_event_difference(sp_event *event, ptrdiff_t y, ptrdiff_t guess)
{
    ptrdiff_t n = sp_event_last(event, y) - sp_event_first(event, y);
    ptrdiff_t at = event->n;
    ptrdiff_t kept = event->n;
    if (guess >= 0)
        n += sp_event_last(event, guess) - sp_event_first(event, guess);
    ptrdiff_t room = sp_empty_common(event, n);
    if (room < 0 || sp_event_reserve(event, event->n + n) < 0)
        return -1;
    for (ptrdiff_t i = sp_event_first(event, y), end = sp_event_last(event, y); i < end; i++)
        at = sp_add_signed(event, i, 1.0, room, at);
    if (guess >= 0) {
        for (ptrdiff_t i = sp_event_first(event, guess), end = sp_event_last(event, guess); i < end;
             i++)
            at = sp_add_signed(event, i, -1.0, room, at);
    }
    for (ptrdiff_t i = event->n; i < at; i++) {
        event->keys[kept] = event->keys[i];
        event->slots[kept] = event->slots[i];
        event->hashes[kept] = event->hashes[i];
        event->values[kept] = event->values[i];
        kept += event->values[i] != 0.0;
    }
    event->ends[event->n_candidates] = kept;
    return kept - event->n;
}

SP_PRIVATE void sp_event_take_reversed(sp_event *event, ptrdiff_t k, const sp_event *other,
                                       ptrdiff_t i)
{
    ptrdiff_t first = sp_event_first(other, i);
    ptrdiff_t n = sp_event_last(other, i) - first;
    ptrdiff_t at = k ? event->ends[k - 1] : 0;
    if (n) {
        memcpy(event->keys + at, other->keys + first, (size_t)n * sizeof(sp_key));
        memcpy(event->slots + at, other->slots + first, (size_t)n * sizeof(sp_slot_type));
        memcpy(event->hashes + at, other->hashes + first, (size_t)n * sizeof(uint64_t));
    }
    for (ptrdiff_t j = 0; j < n; j++)
        event->values[at + j] = -other->values[first + j];
    event->n_candidates = k + 1;
    event->n = event->n_found = event->ends[k] = at + n;
    event->scored_version = 0;
}
