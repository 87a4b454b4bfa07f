#include "voted/voters.h"

#include "memory/grow.h"

#include <math.h>
#include <string.h>

SP_PRIVATE sp_mentions *sp_mentions_open(sp_voters *v, sp_slot_type slot)
{
    size_t chunk = slot >> SP_CHUNK_BITS;
    if (chunk >= v->n_chunks) {
        size_t n = chunk + chunk / 2 + 1;
        if (SP_GROW(v->chunks, n) < 0)
            return NULL;
        memset(v->chunks + v->n_chunks, 0, (n - v->n_chunks) * sizeof(sp_mentions *));
        v->bytes += (n - v->n_chunks) * sizeof(sp_mentions *);
        v->n_chunks = n;
    }
    if (v->chunks[chunk] == NULL) {
        v->chunks[chunk] = (sp_mentions *)sp_calloc(SP_CHUNK_SLOTS, sizeof(sp_mentions));
        if (v->chunks[chunk] == NULL)
            return NULL;
        v->bytes += SP_CHUNK_SLOTS * sizeof(sp_mentions);
    }
    return &v->chunks[chunk][slot & SP_CHUNK_MASK];
}

/* Move a feature's mentions to the front of memory for `room` of them. Returns -1 if out of
   memory. */
SP_RARE static int sp_mentions_resize(sp_voters *v, sp_mentions *m, uint32_t room)
{
    if (m->start < m->end)
        memmove(m->mentions, m->mentions + m->start, (m->end - m->start) * sizeof(sp_mention));
    m->end -= m->start;
    m->start = 0;
    if (room == m->room)
        return 0;
    if (SP_GROW(m->mentions, room) < 0)
        return -1;
    if (m->room)
        v->bytes -= sp_heap_bytes(m->room * sizeof(sp_mention));
    v->bytes += sp_heap_bytes(room * sizeof(sp_mention));
    m->room = room;
    return 0;
}

/* Add a mention at the end. NULL if out of memory. */
static sp_mentions *sp_mention_push(sp_voters *v, sp_slot_type slot, double x, uint32_t update)
{
    sp_mentions *m = sp_mentions_open(v, slot);
    sp_mention *mention;
    if (m == NULL)
        return NULL;
    if (m->end == m->room
        && sp_mentions_resize(v, m,
                              m->start > m->room / 2 ? m->room : SP_MAX((uint32_t)1, 2 * m->room))
               < 0)
        return NULL;
    mention = &m->mentions[m->end];
    mention->x = x;
    mention->update = update;
    mention->next = SP_SLOT_NULL;
    m->end += 1;
    return m;
}

/* After the first or last mention was removed: free memory that is not needed. */
static void sp_mention_gone(sp_voters *v, sp_mentions *m)
{
    if (m->start == m->end) {
        v->bytes -= sp_heap_bytes(m->room * sizeof(sp_mention));
        sp_free(m->mentions);
        memset(m, 0, sizeof(sp_mentions));
    } else if (m->room >= 8 && m->end - m->start <= m->room / 4)
        sp_mentions_resize(v, m, m->room / 2); /* if that fails, they are still in order */
}

SP_PRIVATE void sp_mentions_take_back(sp_voters *v, const sp_slot_type *slots, ptrdiff_t n)
{
    sp_mentions *m;
    while (n > 0) {
        n--;
        m = sp_mentions_of(v, slots[n]);
        m->end -= 1;
        sp_mention_gone(v, m);
    }
}

SP_PRIVATE int sp_mention_all(sp_voters *v, uint32_t update, const sp_slot_type *slots,
                              const double *x, ptrdiff_t n)
{
    sp_mentions *m;
    sp_mentions *last = NULL;
    for (ptrdiff_t i = 0; i < n; i++) {
        m = sp_mention_push(v, slots[i], x[i], update);
        if (m == NULL) {
            sp_mentions_take_back(v, slots, i);
            return -1;
        }
        if (last != NULL)
            last->mentions[last->end - 1 - (last == m)].next = slots[i];
        last = m;
    }
    return 0;
}

static void sp_span_add(sp_voters_span *span, bool first, double B)
{
    if (first) {
        span->low = span->high = B;
    } else if (B < span->low)
        span->low = B;
    else if (B > span->high)
        span->high = B;
}

/* Add turn p to its blocks, after all turns before it. */
static void sp_turn_spans(sp_voter *voter, ptrdiff_t p)
{
    double B = voter->turns[p].B;
    sp_span_add(&voter->spans[p >> SP_SPAN_BITS], (p & (SP_SPAN - 1)) == 0, B);
    sp_span_add(&voter->outer[p >> (2 * SP_SPAN_BITS)], (p & (SP_SPANS - 1)) == 0, B);
}

/* Move the turns to the front of voter.turns, which has this room. */
static void sp_turns_settle(sp_voter *voter, sp_turn *from, ptrdiff_t room)
{
    if (voter->start < voter->end)
        memmove(voter->turns, from + voter->start,
                ((size_t)(voter->end - voter->start)) * sizeof(sp_turn));
    voter->end -= voter->start;
    voter->start = 0;
    voter->room = room;
    voter->spans = (sp_voters_span *)(voter->turns + room);
    voter->outer = voter->spans + room / SP_SPAN + 1;
    for (ptrdiff_t p = 0, end = voter->end; p < end; p++)
        sp_turn_spans(voter, p);
}

SP_RARE SP_PRIVATE int sp_turns_room(sp_voters *v, sp_voter *voter, ptrdiff_t n)
{
    sp_turn *old = voter->turns;
    if (voter->end + n <= voter->room)
        return 0;
    if (n <= voter->start && voter->start > voter->room / 2) {
        sp_turns_settle(voter, old, voter->room);
        return 0;
    }
    ptrdiff_t room = SP_MAX((ptrdiff_t)8, SP_MAX(2 * voter->room, voter->end - voter->start + n));
    voter->turns = (sp_turn *)sp_malloc(sp_turns_size(room));
    if (voter->turns == NULL) {
        voter->turns = old;
        return -1;
    }
    v->bytes += sp_turns_size(room) - (old != NULL ? sp_turns_size(voter->room) : 0);
    sp_turns_settle(voter, old, room);
    sp_free(old);
    return 0;
}

SP_PRIVATE void sp_turn_push(sp_voters *v, sp_voter *voter, double a, uint32_t update)
{
    sp_turn *turn = &voter->turns[voter->end];
    turn->a = a;
    turn->B = (voter->end > voter->start ? voter->turns[voter->end - 1].B : voter->B) + a * v->b;
    turn->update = update;
    sp_turn_spans(voter, voter->end);
    voter->end += 1;
}

/* Copy a voter, or with sign -1 its mirror image. -1 if out of memory. */
SP_RARE static int sp_voter_copy(sp_voters *v, sp_voter *to, const sp_voter *other, double sign)
{
    memset(to, 0, sizeof(sp_voter));
    to->B = sign * other->B;
    to->cut = other->cut;
    if (sp_turns_room(v, to, other->end - other->start) < 0)
        return -1;
    for (ptrdiff_t p = other->start, end = other->end; p < end; p++) {
        to->turns[to->end].a = sign * other->turns[p].a;
        to->turns[to->end].B = sign * other->turns[p].B;
        to->turns[to->end].update = other->turns[p].update;
        sp_turn_spans(to, to->end);
        to->end += 1;
    }
    return 0;
}

SP_RARE SP_PRIVATE void sp_voters_free(sp_voters *v)
{
    for (size_t i = 0, end = v->n_chunks; i < end; i++) {
        if (v->chunks[i] != NULL) {
            for (size_t k = 0; k < (size_t)SP_CHUNK_SLOTS; k++)
                sp_free(v->chunks[i][k].mentions);
            sp_free(v->chunks[i]);
        }
    }
    sp_free(v->chunks);
    sp_free(v->updates);
    for (size_t i = 0, end = (size_t)v->n_voters; i < end; i++)
        sp_free(v->voters[i].turns);
    sp_free(v->voters);
    v->chunks = NULL;
    v->updates = NULL;
    v->voters = NULL;
    v->n_chunks = 0;
    v->n_voters = v->start = v->end = v->room = 0;
    v->bytes = 0;
}

SP_API size_t sp_voters_features(const sp_voters *v)
{
    size_t n = 0;
    for (size_t i = 0, end = v->n_chunks; i < end; i++) {
        for (size_t k = 0; k < (v->chunks[i] != NULL ? (size_t)SP_CHUNK_SLOTS : 0); k++)
            n += v->chunks[i][k].end > v->chunks[i][k].start;
    }
    return n;
}

SP_RARE SP_PRIVATE int sp_voters_room(sp_voters *v, ptrdiff_t n)
{
    ptrdiff_t room = SP_MAX(n, v->n_voters + v->n_voters / 2);
    if (n <= v->n_voters)
        return 0;
    if (SP_GROW(v->voters, room) < 0)
        return -1;
    memset(v->voters + v->n_voters, 0, ((size_t)(room - v->n_voters)) * sizeof(sp_voter));
    v->bytes += ((size_t)(room - v->n_voters)) * sizeof(sp_voter);
    v->n_voters = room;
    return 0;
}

SP_RARE SP_PRIVATE int sp_updates_room(sp_voters *v, ptrdiff_t n)
{
    if (v->end + n <= v->room)
        return 0;
    if (n <= v->start && v->start > v->room / 2) {
        memmove(v->updates, v->updates + v->start,
                (size_t)sp_voters_updates(v) * sizeof(sp_update));
        v->end -= v->start;
        v->start = 0;
        return 0;
    }
    ptrdiff_t room = SP_MAX(2 * v->room, v->end + n + 7);
    if (SP_GROW(v->updates, room) < 0)
        return -1;
    v->bytes += ((size_t)(room - v->room)) * sizeof(sp_update);
    v->room = room;
    return 0;
}

SP_RARE SP_PRIVATE int sp_voters_copy(sp_voters *to, const sp_voters *other)
{
    const sp_mentions *from;
    sp_mentions *m;
    *to = *other;
    to->chunks = NULL;
    to->updates = NULL;
    to->voters = NULL;
    to->n_chunks = 0;
    to->n_voters = to->start = to->end = to->room = 0;
    to->bytes = 0;
    if (sp_voters_room(to, other->n_voters) < 0
        || sp_updates_room(to, sp_voters_updates(other)) < 0)
        return -1;
    if (sp_voters_updates(other))
        memcpy(to->updates, other->updates + other->start,
               (size_t)sp_voters_updates(other) * sizeof(sp_update));
    to->end = sp_voters_updates(other);
    for (ptrdiff_t n = 0, end = other->n_voters; n < end; n++) {
        if (sp_voter_copy(to, &to->voters[n], &other->voters[n], 1.0) < 0)
            return -1;
    }
    for (size_t i = 0, end = other->n_chunks; i < end; i++) {
        for (size_t k = 0, end = other->chunks[i] != NULL ? (size_t)SP_CHUNK_SLOTS : 0; k < end;
             k++) {
            from = &other->chunks[i][k];
            if (from->start == from->end)
                continue;
            m = sp_mentions_open(to, (sp_slot_type)((i << SP_CHUNK_BITS) | k));
            if (m == NULL || sp_mentions_resize(to, m, from->end - from->start) < 0)
                return -1;
            m->end = from->end - from->start;
            memcpy(m->mentions, from->mentions + from->start, m->end * sizeof(sp_mention));
        }
    }
    return 0;
}

SP_PRIVATE int sp_voters_split(sp_voters *v, int positive)
{
    sp_voter mirror;
    if (sp_voters_room(v, 2) < 0)
        return -1;
    if (sp_voter_copy(v, &mirror, &v->voters[0], -1.0) < 0)
        return -1;
    sp_voter voter = v->voters[0];
    v->voters[positive] = voter;
    v->voters[1 - positive] = mirror;
    return 0;
}

SP_PRIVATE int sp_voters_write(sp_voters *v, const sp_slot_type *slots, const double *x,
                               ptrdiff_t n, const sp_step *step, ptrdiff_t n_outputs)
{
    if (sp_voters_room(v, n_outputs) < 0)
        return -1;
    if (step->n == 0)
        return 0;
    if (sp_voters_updates(v) == (ptrdiff_t)0xFFFFFFFF || sp_updates_room(v, 1) < 0)
        return -1;
    for (int k = 0, end = step->n; k < end; k++) {
        if (sp_turns_room(v, &v->voters[step->moves[k].output], 1) < 0)
            return -1;
    }
    return sp_mention_all(v, v->number + (uint32_t)sp_voters_updates(v), slots, x, n);
}

/* Drop the oldest update, and with it the votes of the vectors before it. */
static void sp_drop(sp_voters *v)
{
    sp_update *update = &v->updates[v->start];
    sp_slot_type slot = update->first;
    sp_mentions *m;
    sp_voter *voter;
    while (slot != SP_SLOT_NULL) {
        m = sp_mentions_of(v, slot);
        slot = m->mentions[m->start].next;
        m->start += 1;
        sp_mention_gone(v, m);
    }
    for (ptrdiff_t k = 0; k < v->n_voters; k++) {
        voter = &v->voters[k];
        if (voter->start < voter->end && voter->turns[voter->start].update == v->number) {
            voter->B = voter->turns[voter->start].B;
            voter->start += 1;
            voter->cut = true;
        }
    }
    v->since = update->time;
    v->start += 1;
    v->number += 1;
}

SP_PRIVATE void sp_voters_apply(sp_voters *v, const sp_slot_type *slots, ptrdiff_t n,
                                const sp_step *step, double u)
{
    uint32_t number = v->number + (uint32_t)sp_voters_updates(v);
    sp_update *update;
    if (step->n) {
        update = &v->updates[v->end];
        update->time = v->now;
        update->first = n ? *slots : (sp_slot_type)SP_SLOT_NULL;
        v->end += 1;
        for (int k = 0, end = step->n; k < end; k++)
            sp_turn_push(v, &v->voters[step->moves[k].output], step->moves[k].a, number);
        if (v->budget && sp_voters_updates(v) > (ptrdiff_t)v->budget)
            sp_drop(v);
    }
    v->now += u;
}

/* NULL, or what is wrong with a feature's mentions. Counts them, and their memory. */
static const char *sp_mentions_fault(const sp_voters *v, sp_slot_type n_slots, size_t *n,
                                     size_t *bytes)
{
    const sp_mentions *m;
    for (size_t i = 0, end = v->n_chunks; i < end; i++) {
        for (size_t k = 0, end = v->chunks[i] != NULL ? (size_t)SP_CHUNK_SLOTS : 0; k < end; k++) {
            m = &v->chunks[i][k];
            *bytes += m->room ? sp_heap_bytes(m->room * sizeof(sp_mention)) : 0;
            if (m->start > m->end || m->end > m->room)
                return "a feature has more mentions than room";
            if (m->start < m->end
                && !((size_t)SP_SLOTS_RESERVED <= ((i << SP_CHUNK_BITS) | k)
                     && ((i << SP_CHUNK_BITS) | k) < (size_t)n_slots))
                return "a slot that is not in use is mentioned";
            uint32_t last = 0;
            for (uint32_t j = m->start, end = m->end; j < end; j++) {
                uint32_t update = m->mentions[j].update - v->number;
                if (update < last || update >= (size_t)sp_voters_updates(v))
                    return "a feature's mentions are not in order";
                if (m->mentions[j].x == 0.0 || !isfinite(m->mentions[j].x))
                    return "a mention has no value";
                last = update;
            }
            *n += m->end - m->start;
        }
    }
    return NULL;
}

/* Follow the features of every update; met[slot]: how many of its mentions were met. */
static const char *sp_updates_walk(const sp_voters *v, size_t n_mentions, uint32_t *met)
{
    const sp_mentions *m;
    const sp_mention *mention;
    double time = v->since;
    for (ptrdiff_t k = v->start, end = v->end; k < end; k++) {
        if (!(time <= v->updates[k].time && v->updates[k].time <= v->now))
            return "the updates are not in the order of their times";
        time = v->updates[k].time;
        sp_slot_type slot = v->updates[k].first;
        while (slot != SP_SLOT_NULL) {
            m = sp_mentions_of(v, slot);
            if (m == NULL || m->start + met[slot] >= m->end)
                return "an update has a feature that does not mention it";
            mention = &m->mentions[m->start + met[slot]];
            if (mention->update - v->number != (uint32_t)(k - v->start))
                return "an update has a feature that does not mention it";
            met[slot] += 1;
            n_mentions--;
            slot = mention->next;
        }
    }
    if (n_mentions)
        return "a mention is of no update";
    return NULL;
}

/* NULL, or what is wrong with a label's turns. */
static const char *sp_turns_fault(const sp_voters *v, const sp_voter *voter)
{
    double B = voter->B;
    const sp_turn *turn;
    if (!(0 <= voter->start && voter->start <= voter->end && voter->end <= voter->room))
        return "a label has more turns than room";
    if ((voter->cut && !v->budget) || (voter->B != 0.0 && !voter->cut))
        return "a label has lost turns that were not dropped";
    for (ptrdiff_t p = voter->start, end = voter->end; p < end; p++) {
        turn = &voter->turns[p];
        if (turn->update - v->number >= (size_t)sp_voters_updates(v)
            || (p > voter->start
                && turn->update - v->number <= voter->turns[p - 1].update - v->number))
            return "a label's turns are not in order";
        if (turn->a == 0.0 || !isfinite(turn->a) || turn->B != B + turn->a * v->b)
            return "an intercept is not the sum of the steps up to it";
        B = turn->B;
    }
    /* a block's bounds also include the B of turns that have been dropped since */
    for (ptrdiff_t p = 0, end = voter->end; p < end; p++) {
        for (ptrdiff_t size = 0; size < 2; size++) {
            sp_voters_span span = size ? voter->outer[p >> (2 * SP_SPAN_BITS)]
                                       : voter->spans[p >> SP_SPAN_BITS];
            if (!(span.low <= voter->turns[p].B && voter->turns[p].B <= span.high))
                return "an intercept is not within its block's";
        }
    }
    return NULL;
}

SP_PRIVATE const char *sp_voters_fault(const sp_voters *v, ptrdiff_t n_outputs,
                                       sp_slot_type n_slots)
{
    size_t n_mentions = 0;
    size_t bytes = v->n_chunks * sizeof(sp_mentions *) + (size_t)v->room * sizeof(sp_update)
                   + (size_t)v->n_voters * sizeof(sp_voter);
    const char *fault = sp_mentions_fault(v, n_slots, &n_mentions, &bytes);
    uint32_t *met;
    if (fault != NULL)
        return fault;
    if (!(0 <= v->start && v->start <= v->end && v->end <= v->room)
        || (v->budget && sp_voters_updates(v) > (ptrdiff_t)v->budget))
        return "there are more updates than there may be";
    met = (uint32_t *)sp_calloc(v->n_chunks * SP_CHUNK_SLOTS + 1, sizeof(uint32_t));
    if (met == NULL)
        return "there is no memory to check the updates";
    fault = sp_updates_walk(v, n_mentions, met);
    sp_free(met);
    for (ptrdiff_t k = 0, end = v->n_voters; k < end; k++) {
        if (fault == NULL)
            fault = sp_turns_fault(v, &v->voters[k]);
        if (fault == NULL && k >= n_outputs && v->voters[k].end > v->voters[k].start)
            fault = "a label that is not there has turns";
        bytes += v->voters[k].turns != NULL ? sp_turns_size(v->voters[k].room) : 0;
    }
    for (size_t i = 0; i < v->n_chunks; i++)
        bytes += v->chunks[i] != NULL ? SP_CHUNK_SLOTS * sizeof(sp_mentions) : 0;
    if (fault == NULL && bytes != v->bytes)
        fault = "the updates' memory is not what has been counted";
    return fault;
}
