#include "voted/arrays.h"

#include "memory/compiler.h"
#include "memory/heap.h"
#include "names/rising.h"

#include <math.h>

SP_PRIVATE void sp_voters_measure(sp_voted *flat, const sp_voters *v, ptrdiff_t n_outputs)
{
    flat->n_updates = (size_t)sp_voters_updates(v);
    flat->n_mentions = flat->n_turns = 0;
    for (ptrdiff_t j = 0, end = SP_MIN(n_outputs, v->n_voters); j < end; j++)
        flat->n_turns += (size_t)(v->voters[j].end - v->voters[j].start);
    for (size_t i = 0, end = v->n_chunks; i < end; i++) {
        for (size_t k = 0; k < (v->chunks[i] != NULL ? (size_t)SP_CHUNK_SLOTS : 0); k++)
            flat->n_mentions += v->chunks[i][k].end - v->chunks[i][k].start;
    }
}

/* List the mentions, update by update; `places`: how many each update has, then where they
   begin. */
static void sp_mentions_flatten(sp_voted *flat, const sp_voters *v, const sp_index *index,
                                const sp_slot_type *rising, size_t *places)
{
    for (sp_slot_type slot = 0; slot < index->n_slots; slot++) {
        const sp_mentions *m = sp_mentions_of(v, slot);
        for (size_t j = m != NULL ? m->start : 0; m != NULL && j < m->end; j++)
            places[(uint32_t)(m->mentions[j].update - v->number) + 1] += 1;
    }
    for (size_t i = 0; i < flat->n_updates; i++) {
        flat->sizes[i] = (uint32_t)places[i + 1];
        flat->times[i] = v->updates[(size_t)v->start + i].time;
        places[i + 1] += places[i];
    }
    for (sp_slot_type i = 0; i < index->n_slots; i++) {
        const sp_mentions *m = sp_mentions_of(v, rising[i]);
        if (m == NULL)
            continue;
        uint32_t number = sp_index_number(index, rising[i]);
        for (size_t j = m->start; j < m->end; j++) {
            size_t *place = &places[(uint32_t)(m->mentions[j].update - v->number)];
            flat->values[*place] = m->mentions[j].x;
            flat->slots[*place] = number;
            *place += 1;
        }
    }
}

SP_PRIVATE int sp_voters_flatten(sp_voted *flat, const sp_voters *v, const sp_index *index,
                                 ptrdiff_t n_outputs)
{
    size_t at = 0;
    const sp_voter *voter;
    size_t *places = (size_t *)sp_calloc(flat->n_updates + 1, sizeof(size_t));
    sp_slot_type *rising = sp_index_rising(index);
    if (places != NULL && rising != NULL)
        sp_mentions_flatten(flat, v, index, rising, places);
    bool failed = places == NULL || rising == NULL;
    sp_free(places);
    sp_free(rising);
    if (failed)
        return -1;
    for (ptrdiff_t o = 0; o < n_outputs; o++) {
        flat->turns[2 * o] = flat->turns[2 * o + 1] = 0;
        flat->starts[o] = 0.0;
        if (o >= v->n_voters)
            continue;
        voter = &v->voters[o];
        flat->turns[2 * o] = (uint32_t)(voter->end - voter->start);
        flat->turns[2 * o + 1] = voter->cut;
        flat->starts[o] = voter->B;
        for (ptrdiff_t p = voter->start; p < voter->end; p++) {
            flat->steps[at] = voter->turns[p].a;
            flat->updates[at] = voter->turns[p].update - v->number;
            at++;
        }
    }
    return 0;
}

/* `n_slots`: how many slots there are; hashed: how many numbers. */
static bool sp_updates_fault(const sp_voted *flat, const sp_voters *v, sp_slot_type n_slots)
{
    size_t n = 0;
    double last = v->since;
    if ((v->budget && flat->n_updates > v->budget) || flat->n_updates >= (size_t)0xFFFFFFFF)
        return true;
    for (size_t i = 0; i < flat->n_updates; i++) {
        if (!(last <= flat->times[i] && flat->times[i] <= v->now))
            return true;
        last = flat->times[i];
        n += flat->sizes[i];
    }
    if (n != flat->n_mentions)
        return true;
    for (size_t i = 0, end = flat->n_mentions; i < end; i++) {
        if (!(SP_SLOTS_RESERVED <= flat->slots[i] && flat->slots[i] < n_slots)
            || flat->values[i] == 0.0 || !(fabs(flat->values[i]) <= SP_VALUE_LIMIT))
            return true;
    }
    return false;
}

static bool sp_voted_turns_fault(const sp_voted *flat, const sp_voters *v, ptrdiff_t n_outputs)
{
    size_t at = 0;
    for (ptrdiff_t o = 0; o < n_outputs; o++) {
        size_t first = at;
        at += flat->turns[2 * o];
        if (at > flat->n_turns || flat->turns[2 * o + 1] > 1 || !(fabs(flat->starts[o]) <= 1e200)
            || (flat->turns[2 * o + 1] && !v->budget)
            || (flat->starts[o] != 0.0 && (!flat->turns[2 * o + 1] || v->b == 0.0)))
            return true;
        while (first < at) {
            /* a sample weight and a class weight are SP_VALUE_LIMIT at most, so sums stay below
               1e200 */
            if (flat->updates[first] >= flat->n_updates || flat->steps[first] == 0.0
                || !(fabs(flat->steps[first]) <= SP_VALUE_LIMIT * SP_VALUE_LIMIT)
                || (first + 1 < at && flat->updates[first] >= flat->updates[first + 1]))
                return true;
            first++;
        }
    }
    return at != flat->n_turns;
}

/* Find the slots of all mentions, which have been checked. -1 if out of memory. */
static int sp_voted_find(const sp_voted *flat, sp_index *index, sp_table *table,
                         sp_slot_type *slots)
{
    const sp_wanted nothing = {NULL, 0, NULL, 0};
    for (size_t i = 0; i < flat->n_mentions; i++) {
        slots[i] = flat->slots[i];
        if (index->bits == 0)
            continue;
        const sp_key key = sp_key_word(SP_KEY_INT, flat->slots[i]);
        const uint64_t h = sp_index_hash(index, &key);
        slots[i] = sp_index_insert(index, &key, h);
        if (slots[i] == SP_SLOT_NULL)
            return -1;
    }
    return sp_table_reserve_all(table, index->n_slots, &nothing, 1); /* room for all slots */
}

/* Read the updates, whose features have these slots. -1 if out of memory. */
static int sp_updates_read(sp_voters *v, const sp_voted *flat, const sp_slot_type *slots)
{
    size_t at = 0;
    for (size_t i = 0, end = flat->n_updates; i < end; i++) {
        if (sp_mention_all(v, (uint32_t)i, slots + at, flat->values + at, flat->sizes[i]) < 0)
            return -1;
        v->updates[i].time = flat->times[i];
        v->updates[i].first = flat->sizes[i] ? slots[at] : (sp_slot_type)SP_SLOT_NULL;
        v->end += 1;
        at += flat->sizes[i];
    }
    return 0;
}

SP_PRIVATE int sp_voters_read(sp_voters *v, const sp_voted *flat, ptrdiff_t n_outputs,
                              sp_index *index, sp_table *table)
{
    size_t at = 0;
    sp_voter *voter;
    if (sp_updates_fault(flat, v, index->bits ? sp_index_numbers(index) : index->n_slots)
        || sp_voted_turns_fault(flat, v, n_outputs))
        return SP_VOTED_WRONG;
    if (sp_voters_room(v, n_outputs) < 0 || sp_updates_room(v, (ptrdiff_t)flat->n_updates) < 0)
        return SP_VOTED_MEMORY;
    sp_slot_type *slots = (sp_slot_type *)sp_malloc((flat->n_mentions + 1) * sizeof(sp_slot_type));
    bool failed = slots == NULL || sp_voted_find(flat, index, table, slots) < 0
                  || sp_updates_read(v, flat, slots) < 0;
    sp_free(slots);
    if (failed)
        return SP_VOTED_MEMORY;
    for (ptrdiff_t o = 0; o < n_outputs; o++) {
        voter = &v->voters[o];
        voter->B = flat->starts[o];
        voter->cut = flat->turns[2 * o + 1];
        if (sp_turns_room(v, voter, flat->turns[2 * o]) < 0)
            return SP_VOTED_MEMORY;
        for (size_t k = 0, end = flat->turns[2 * o]; k < end; k++) {
            sp_turn_push(v, voter, flat->steps[at], flat->updates[at]);
            at++;
        }
    }
    return 0;
}
