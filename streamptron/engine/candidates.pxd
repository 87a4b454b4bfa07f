# Candidates: events in one scratch, one after the other, of which one is right.
#
# A rule that chooses among candidates moves two of them apart: w += a x_y, w -= a x_guess. Where
# these have features in common, as they mostly do, that would add what it then takes away: it would
# give slots to features that do not matter, and leave rounding errors in their weights. So the two
# are written as one more event, their difference, behind the last candidate:
#
#     candidates     a 1  b 2 | a 1  c 1 | b 3       d = x_1 - x_0     b -2  c 1
#     entries        0     1    2     3    4                           5     6
#
# Its features are in the order of x_y, and then of x_guess; those of the same value in both are not
# there. Which features are the same a small hash table says, in time proportional to the entries of
# both. Entries that have slots are the same feature if their slot is the same: it is one weight.
#
# Functions in this file: event_difference (this may fail), event_take_reversed.

from libc.string cimport memcpy, memset
from streamptron.engine.types cimport SLOT_NULL, slot_t, uint32_t, uint64_t
from streamptron.engine.heap cimport free, malloc
from streamptron.engine.key cimport Key, key_equal, key_is_long
from streamptron.engine.event cimport Event, event_first, event_last, event_reserve

cdef enum:
    ROOM_LEAST = 64


cdef inline Py_ssize_t _empty_common(Event* event, Py_ssize_t n) noexcept nogil:
    """The hash table, empty, for n entries: its size, a power of two; -1 without memory."""
    cdef Py_ssize_t room = ROOM_LEAST
    cdef uint32_t* common
    while room < 2 * n:
        room *= 2
    if room > event.n_common:
        common = <uint32_t*> malloc(room * sizeof(uint32_t))
        if common == NULL:
            return -1
        free(event.common)
        event.common = common
        event.n_common = room
    memset(event.common, 0, room * sizeof(uint32_t))
    return room


cdef inline uint64_t _mixed(const Event* event, Py_ssize_t i) noexcept nogil:
    """A number that is the same for entries of the same feature, all of it in its upper half."""
    cdef const Key* key = &event.keys[i]
    cdef uint64_t word
    if event.slots[i] != SLOT_NULL:
        word = event.slots[i]
    else:
        # the word of a long key is where its bytes are; a column's hash is not known
        word = event.hashes[i] if key_is_long(key) else key.lo ^ (key.hi << 7)
    word ^= word >> 32
    return word * <uint64_t> 0x9E3779B97F4A7C15


cdef inline bint _same(const Event* event, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    """Whether two entries are of the same feature."""
    if event.slots[i] != SLOT_NULL or event.slots[j] != SLOT_NULL:
        return event.slots[i] == event.slots[j]
    return key_equal(&event.keys[i], &event.keys[j])


cdef inline Py_ssize_t _add_signed(Event* event, Py_ssize_t from_, double sign, Py_ssize_t room,
                                   Py_ssize_t at) noexcept nogil:
    """Add a candidate's entry to the difference, which ends at `at`: where it ends then."""
    cdef uint64_t place = (_mixed(event, from_) >> 32) & <uint64_t> (room - 1)
    cdef Py_ssize_t i
    while event.common[place]:
        i = event.n + event.common[place] - 1
        if _same(event, i, from_):
            event.values[i] += sign * event.values[from_]
            return at
        place = (place + 1) & <uint64_t> (room - 1)
    event.common[place] = <uint32_t> (at - event.n + 1)
    event.keys[at] = event.keys[from_]
    event.slots[at] = event.slots[from_]
    event.hashes[at] = event.hashes[from_]
    event.values[at] = sign * event.values[from_]
    return at + 1


cdef inline Py_ssize_t event_difference(Event* event, Py_ssize_t y,
                                        Py_ssize_t guess) noexcept nogil:
    """Write x_y - x_guess behind the candidates: how many entries it has. -1 without memory.

    guess = -1: there is no other one, and it is x_y.

    It is event n_candidates for event_first and event_last. All slots have been looked up.
    """
    cdef Py_ssize_t n = event_last(event, y) - event_first(event, y)
    cdef Py_ssize_t i, at = event.n, kept = event.n
    cdef Py_ssize_t room
    if guess >= 0:
        n += event_last(event, guess) - event_first(event, guess)
    room = _empty_common(event, n)
    if room < 0 or event_reserve(event, event.n + n) < 0:
        return -1
    for i in range(event_first(event, y), event_last(event, y)):
        at = _add_signed(event, i, 1.0, room, at)
    if guess >= 0:
        for i in range(event_first(event, guess), event_last(event, guess)):
            at = _add_signed(event, i, -1.0, room, at)
    for i in range(event.n, at):
        event.keys[kept] = event.keys[i]
        event.slots[kept] = event.slots[i]
        event.hashes[kept] = event.hashes[i]
        event.values[kept] = event.values[i]
        kept += event.values[i] != 0.0
    event.ends[event.n_candidates] = kept
    return kept - event.n


cdef inline void event_take_reversed(Event* event, Py_ssize_t k, const Event* other,
                                     Py_ssize_t i) noexcept nogil:
    """Make candidate i of another event, its values with the other sign, candidate k of this one.

    Its slots are known, there is room, and the candidates before it are there.
    """
    cdef Py_ssize_t j
    cdef Py_ssize_t first = event_first(other, i), n = event_last(other, i) - first
    cdef Py_ssize_t at = event.ends[k - 1] if k else 0
    if n:                           # else there may be no memory
        memcpy(event.keys + at, other.keys + first, n * sizeof(Key))
        memcpy(event.slots + at, other.slots + first, n * sizeof(slot_t))
        memcpy(event.hashes + at, other.hashes + first, n * sizeof(uint64_t))
    for j in range(n):
        event.values[at + j] = -other.values[first + j]
    event.n_candidates = k + 1
    event.n = event.n_found = event.ends[k] = at + n
    event.scored_version = 0
