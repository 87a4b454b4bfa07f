# VotedPerceptron's updates as flat arrays, the way a model file holds them, and back.
#
#     values   float64 [mentions]     update by update, in each by slot
#     slots     uint32  [mentions]
#     sizes    uint32  [updates]      how many of them an update has
#     times    float64 [updates]      rising
#     steps    float64 [turns]        Y u, output by output, in each by update
#     updates  uint32  [turns]        counted from the oldest
#     turns    uint32  [outputs, 2]   how many an output has; whether some have been dropped
#     starts   float64 [outputs]      the intercept before the first of them
#
# Reading trusts nothing: a number is checked before it is used.
#
# Functions in this file: voters_measure, voters_flatten, voters_read (it may fail).

from libc.math cimport fabs
from streamptron.engine.heap cimport calloc, free
from streamptron.engine.types cimport CHUNK_BITS, CHUNK_SLOTS, SLOTS_RESERVED, slot_t, uint32_t
from streamptron.engine.types cimport VALUE_LIMIT
from streamptron.engine.voters cimport (
    Mentions, Voter, Voters, mention_all, turn_push, turns_room, updates_room, voters_room,
    voters_updates)

cdef enum:
    VOTED_MEMORY = 1
    VOTED_WRONG = 2

cdef struct Voted:
    size_t n_mentions
    size_t n_updates
    size_t n_turns
    double* values
    uint32_t* slots
    uint32_t* sizes
    double* times
    double* steps
    uint32_t* updates
    uint32_t* turns
    double* starts


cdef inline void voters_measure(Voted* flat, const Voters* v, Py_ssize_t n_outputs) noexcept nogil:
    """How large the arrays will be."""
    cdef size_t i, k
    cdef Py_ssize_t j
    flat.n_updates = voters_updates(v)
    flat.n_mentions = flat.n_turns = 0
    for j in range(min(n_outputs, v.n_voters)):
        flat.n_turns += v.voters[j].end - v.voters[j].start
    for i in range(v.n_chunks):
        for k in range(<size_t> CHUNK_SLOTS if v.chunks[i] != NULL else 0):
            flat.n_mentions += v.chunks[i][k].end - v.chunks[i][k].start


cdef inline int voters_flatten(Voted* flat, const Voters* v, Py_ssize_t n_outputs) noexcept nogil:
    """Fill the arrays, which are as large as voters_measure has said. -1 without memory."""
    cdef size_t i, k, j, at = 0
    cdef Py_ssize_t o, p
    cdef const Mentions* m
    cdef const Voter* voter
    cdef uint32_t update
    cdef size_t* places = <size_t*> calloc(flat.n_updates + 1, sizeof(size_t))
    if places == NULL:
        return -1
    for i in range(v.n_chunks):
        for k in range(<size_t> CHUNK_SLOTS if v.chunks[i] != NULL else 0):
            m = &v.chunks[i][k]
            for j in range(m.start, m.end):
                places[<uint32_t> (m.mentions[j].update - v.number) + 1] += 1
    for i in range(flat.n_updates):
        flat.sizes[i] = <uint32_t> places[i + 1]
        flat.times[i] = v.updates[v.start + i].time
        places[i + 1] += places[i]
    for i in range(v.n_chunks):
        for k in range(<size_t> CHUNK_SLOTS if v.chunks[i] != NULL else 0):
            m = &v.chunks[i][k]
            for j in range(m.start, m.end):
                update = m.mentions[j].update - v.number
                flat.values[places[update]] = m.mentions[j].x
                flat.slots[places[update]] = <slot_t> (i << CHUNK_BITS | k)
                places[update] += 1
    free(places)
    for o in range(n_outputs):
        flat.turns[2 * o] = flat.turns[2 * o + 1] = 0
        flat.starts[o] = 0.0
        if o >= v.n_voters:
            continue
        voter = &v.voters[o]
        flat.turns[2 * o] = <uint32_t> (voter.end - voter.start)
        flat.turns[2 * o + 1] = voter.cut
        flat.starts[o] = voter.B
        for p in range(voter.start, voter.end):
            flat.steps[at] = voter.turns[p].a
            flat.updates[at] = voter.turns[p].update - v.number
            at += 1
    return 0


cdef inline bint _updates_fault(const Voted* flat, const Voters* v, slot_t n_slots) noexcept nogil:
    cdef size_t i, n = 0
    cdef double last = v.since
    if v.budget and flat.n_updates > v.budget or flat.n_updates >= <size_t> 0xFFFFFFFF:
        return True
    for i in range(flat.n_updates):
        if not last <= flat.times[i] <= v.now:
            return True
        last = flat.times[i]
        n += flat.sizes[i]
    if n != flat.n_mentions:
        return True
    for i in range(flat.n_mentions):
        if (not SLOTS_RESERVED <= flat.slots[i] < n_slots or flat.values[i] == 0.0
                or not fabs(flat.values[i]) <= VALUE_LIMIT):
            return True
    return False


cdef inline bint _turns_fault(const Voted* flat, const Voters* v,
                              Py_ssize_t n_outputs) noexcept nogil:
    cdef size_t at = 0, first
    cdef Py_ssize_t o
    for o in range(n_outputs):
        first = at
        at += flat.turns[2 * o]
        if (at > flat.n_turns or flat.turns[2 * o + 1] > 1 or not fabs(flat.starts[o]) <= 1e200
                or (flat.turns[2 * o + 1] and not v.budget)
                or (flat.starts[o] != 0.0 and (not flat.turns[2 * o + 1] or v.b == 0.0))):
            return True
        while first < at:
            # a sample weight and a class weight are VALUE_LIMIT at most, so sums stay below 1e200
            if (flat.updates[first] >= flat.n_updates or flat.steps[first] == 0.0
                    or not fabs(flat.steps[first]) <= VALUE_LIMIT * VALUE_LIMIT or (
                        first + 1 < at and flat.updates[first] >= flat.updates[first + 1])):
                return True
            first += 1
    return at != flat.n_turns


cdef inline int voters_read(Voters* v, const Voted* flat, Py_ssize_t n_outputs,
                            slot_t n_slots) noexcept nogil:
    """Fill in an untrained one whose clock is set. Returns 0, VOTED_MEMORY or VOTED_WRONG."""
    cdef size_t i, k, at = 0
    cdef Py_ssize_t o
    cdef Voter* voter
    if _updates_fault(flat, v, n_slots) or _turns_fault(flat, v, n_outputs):
        return VOTED_WRONG
    if voters_room(v, n_outputs) < 0 or updates_room(v, flat.n_updates) < 0:
        return VOTED_MEMORY
    for i in range(flat.n_updates):
        if mention_all(v, <uint32_t> i, flat.slots + at, flat.values + at, flat.sizes[i]) < 0:
            return VOTED_MEMORY
        v.updates[i].time = flat.times[i]
        v.updates[i].first = flat.slots[at] if flat.sizes[i] else <slot_t> 0
        v.end += 1
        at += flat.sizes[i]
    at = 0
    for o in range(n_outputs):
        voter = &v.voters[o]
        voter.B = flat.starts[o]
        voter.cut = flat.turns[2 * o + 1]
        if turns_room(v, voter, flat.turns[2 * o]) < 0:
            return VOTED_MEMORY
        for k in range(flat.turns[2 * o]):
            turn_push(v, voter, flat.steps[at], flat.updates[at])
            at += 1
    return 0
