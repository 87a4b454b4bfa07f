# Candidates: events in one scratch, one after the other, of which one is right.
#
# A rule that chooses among candidates moves two of them apart: w += a x_y, w -= a x_guess. Where
# these have features in common, which they mostly do, that would add what it then takes away, give
# rows to features that do not matter, and leave the weights with the rounding errors. So the two
# are written as one more event, their difference, behind the last candidate:
#
#     candidates     a 1  b 2 | a 1  c 1 | b 3       d = x_1 - x_0     b -2  c 1
#     entries        0     1    2     3    4                           5     6
#
# Its features are in the order of x_y, and then of x_guess; those of the same value in both are not
# there. Which features are the same is found through a small table of slots, in time proportional
# to the entries of both. Entries that have rows are the same if the rows are: then they are one
# weight.
#
# Functions in this file: event_difference (this may fail), event_take_reversed.

from libc.string cimport memcpy, memset
from streamptron.engine.types cimport ROW_NULL, row_t, uint32_t, uint64_t
from streamptron.engine.heap cimport free, malloc
from streamptron.engine.key cimport Key, key_equal, key_is_long
from streamptron.engine.event cimport Event, event_first, event_last, event_reserve

cdef enum:
    SLOTS_LEAST = 64


cdef inline int _reserve_slots(Event* event, Py_ssize_t n) noexcept nogil:
    """At least twice as many slots as there are entries, a power of two; -1 without memory."""
    cdef Py_ssize_t room = SLOTS_LEAST
    cdef uint32_t* slots
    while room < 2 * n:
        room *= 2
    if room > event.n_slots:
        slots = <uint32_t*> malloc(room * sizeof(uint32_t))
        if slots == NULL:
            return -1
        free(event.slots)
        event.slots = slots
        event.n_slots = room
    return 0


cdef inline uint64_t _mixed(const Event* event, Py_ssize_t i) noexcept nogil:
    """A number that is the same for entries of the same feature, all of it in its upper half."""
    cdef const Key* key = &event.keys[i]
    cdef uint64_t word
    if event.rows[i] != ROW_NULL:
        word = event.rows[i]
    else:
        # the word of a long key is where its bytes are; a column's hash is not known
        word = event.hashes[i] if key_is_long(key) else key.lo ^ (key.hi << 7)
    word ^= word >> 32
    return word * <uint64_t> 0x9E3779B97F4A7C15


cdef inline bint _same(const Event* event, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    """Whether two entries are of the same feature."""
    if event.rows[i] != ROW_NULL or event.rows[j] != ROW_NULL:
        return event.rows[i] == event.rows[j]
    return key_equal(&event.keys[i], &event.keys[j])


cdef inline Py_ssize_t _add_signed(Event* event, Py_ssize_t from_, double sign, Py_ssize_t n_slots,
                                   Py_ssize_t at) noexcept nogil:
    """Add a candidate's entry to the difference, which ends at `at`: where it ends then."""
    cdef uint64_t slot = (_mixed(event, from_) >> 32) & <uint64_t> (n_slots - 1)
    cdef Py_ssize_t i
    while event.slots[slot]:
        i = event.n + event.slots[slot] - 1
        if _same(event, i, from_):
            event.values[i] += sign * event.values[from_]
            return at
        slot = (slot + 1) & <uint64_t> (n_slots - 1)
    event.slots[slot] = <uint32_t> (at - event.n + 1)
    event.keys[at] = event.keys[from_]
    event.rows[at] = event.rows[from_]
    event.hashes[at] = event.hashes[from_]
    event.values[at] = sign * event.values[from_]
    return at + 1


cdef inline Py_ssize_t event_difference(Event* event, Py_ssize_t y,
                                        Py_ssize_t guess) noexcept nogil:
    """Write x_y - x_guess behind the candidates: how many entries it has. -1 without memory.

    guess = -1: there is no other one, and it is x_y.

    It is event n_candidates for event_first and event_last. All rows have been looked up.
    """
    cdef Py_ssize_t n = event_last(event, y) - event_first(event, y)
    cdef Py_ssize_t i, at = event.n, kept = event.n
    cdef Py_ssize_t n_slots = SLOTS_LEAST
    if guess >= 0:
        n += event_last(event, guess) - event_first(event, guess)
    if _reserve_slots(event, n) < 0 or event_reserve(event, event.n + n) < 0:
        return -1
    while n_slots < 2 * n:
        n_slots *= 2
    memset(event.slots, 0, n_slots * sizeof(uint32_t))
    for i in range(event_first(event, y), event_last(event, y)):
        at = _add_signed(event, i, 1.0, n_slots, at)
    if guess >= 0:
        for i in range(event_first(event, guess), event_last(event, guess)):
            at = _add_signed(event, i, -1.0, n_slots, at)
    for i in range(event.n, at):
        event.keys[kept] = event.keys[i]
        event.rows[kept] = event.rows[i]
        event.hashes[kept] = event.hashes[i]
        event.values[kept] = event.values[i]
        kept += event.values[i] != 0.0
    event.ends[event.n_candidates] = kept
    return kept - event.n


cdef inline void event_take_reversed(Event* event, Py_ssize_t k, const Event* other,
                                     Py_ssize_t i) noexcept nogil:
    """Make candidate i of another event, its values with the other sign, candidate k of this one.

    Its rows are known, there is room, and the candidates before it are there.
    """
    cdef Py_ssize_t j
    cdef Py_ssize_t first = event_first(other, i), n = event_last(other, i) - first
    cdef Py_ssize_t at = event.ends[k - 1] if k else 0
    memcpy(event.keys + at, other.keys + first, n * sizeof(Key))
    for j in range(n):
        event.values[at + j] = -other.values[first + j]
    memcpy(event.rows + at, other.rows + first, n * sizeof(row_t))
    memcpy(event.hashes + at, other.hashes + first, n * sizeof(uint64_t))
    event.n_candidates = k + 1
    event.n = event.n_found = event.ends[k] = at + n
    event.scored_version = 0
