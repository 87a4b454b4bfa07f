# Pairs of features, made of an event after a door has written it.
#
#     entries    intercept, a, b, c          written by a door
#        | pairs_measure    a's name in canonical bytes, and its field; how many pairs, how large
#        v
#     halves     a  b  c
#        | pairs_write      name and value of each pair, behind the door's entries
#        v
#     entries    intercept, a, b, c, ab, ac, bc
#
# A pair's name is `p` and the canonical bytes of both names (docs/format.md), the lesser first. So
# it is a name like any other to index, files and ceilings: two pairs never share a slot of an exact
# model, and the name says which two it is of. Short ones fit into the key itself. Its value is the
# product of both values. A product that comes to 0 makes no pair, as a value of 0 is no feature.
#
# All features are paired (n_fields == 0), or those of some fields with those of others. The order
# is that of the first half in the event; then by field, as these are numbered; then that of the
# second half in the event. Each two entries are paired once, never with themselves. The intercept
# is not paired.
#
# An event that is too large, or whose largest product is, stays as the door wrote it (event.unfit).
# Both are known before the first pair is made, in time O(features).
#
# Of candidates each gets its own pairs, behind its features; so all of them are written anew:
#
#     a b c | a d               a b c ab ac bc | a d ad
#
# Making a pair costs about as much as finding its weights. So an event that is the last one once
# more keeps its pairs (event.same): predict_one and learn_one make them once.
#
# Functions in this file: pairs_write, pairs_measure; the rest serve these.

from libc.math cimport fabs
from libc.string cimport memcmp, memcpy, memmove
from streamptron.engine.types cimport VALUE_LIMIT, uint8_t, uint64_t, uintptr_t
from streamptron.engine.heap cimport realloc
from streamptron.engine.key cimport (
    KEY_CANONICAL, KEY_FLOAT, KEY_INT, KEY_LONG, KEY_NONE, KEY_STR, Key, canonical_count,
    canonical_int, key_bytes, key_inline_bytes, key_is_long, key_kind, key_length,
    key_text, store8)
from streamptron.engine.arena cimport arena_alloc, arena_reset
from streamptron.engine.event cimport Event, Half, event_reserve

cdef enum:
    FIELDS_MOST = 64

    UNFIT_NUMBER = 1                # why an event is unfit: more pairs than Pairs.most
    UNFIT_SIZE = 2                  # a product beyond VALUE_LIMIT

    HALF_SPARE = 48                 # bytes beside a name: a tag, a number, and 16 to copy too many
    NAMES_AT_ONCE = 4096            # bytes of pairs' names for which room is made at a time

cdef struct Field:
    const uint8_t* p                # its name
    size_t n
    uint64_t partners               # a bit for each field that it is paired with

cdef struct Pairs:                  # what is paired, and how much of it
    uint64_t most                   # pairs of one event
    int n_fields                    # 0: all features, with each other
    const Field* fields


cdef inline int _halves_reserve(Event* event, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t capacity = n + n // 2 + 16
    cdef void* p
    if event.members != NULL and n <= event.halves_capacity:
        return 0
    p = realloc(event.halves, capacity * sizeof(Half))
    if p == NULL:
        return -1
    event.halves = <Half*> p
    p = realloc(event.members, (capacity + FIELDS_MOST + 1) * sizeof(Py_ssize_t))
    if p == NULL:
        return -1
    event.members = <Py_ssize_t*> p
    event.field_starts = event.members + capacity
    event.halves_capacity = capacity
    return 0


# --- Halves

cdef inline uint8_t* _name_write(uint8_t* p, const Key* key) noexcept nogil:
    """Write a name's canonical bytes as part of a pair's. Returns their end."""
    cdef uint64_t kind = key_kind(key) & ~<uint64_t> KEY_LONG
    cdef size_t n = key_length(key)
    if kind == KEY_INT:
        if key.lo >> 63:
            return canonical_int(p, True, 0 - key.lo, 0)
        return canonical_int(p, False, key.lo, 0)
    if kind == KEY_FLOAT:
        p[0] = c'f'
        store8(p + 1, key.lo)
        return p + 9
    if kind != KEY_CANONICAL:
        p = canonical_count(p, c's' if kind == KEY_STR else c'b', n)
    if key_is_long(key):
        memcpy(p, key_bytes(key), n)
    else:
        key_inline_bytes(key, p)
    return p + n


cdef inline int _field_of(const Pairs* pairs, const Key* key) noexcept nogil:
    """The number of a feature's field; -1 for none. It is the longest whose name fits.

    A field's features are the one of this very name, and those that go on with `:`, `=` or `^`.
    """
    cdef uint8_t inside[16]
    cdef const uint8_t* p = inside
    cdef const Field* field
    cdef size_t n = key_length(key), longest = 0
    cdef int i, found = -1
    if key_kind(key) & ~<uint64_t> KEY_LONG != KEY_STR:
        return -1
    if key_is_long(key):
        p = key_bytes(key)
    else:
        key_inline_bytes(key, inside)
    for i in range(pairs.n_fields):
        field = &pairs.fields[i]
        if field.n <= n and field.n > longest and memcmp(p, field.p, field.n) == 0 and (
                field.n == n or p[field.n] == c':' or p[field.n] == c'='
                or p[field.n] == c'^'):
            found = i
            longest = field.n
    return found


cdef inline int _half_write(Event* event, Half* half, Py_ssize_t at, int field) noexcept nogil:
    """-1 without memory."""
    cdef const Key* key = &event.keys[at]
    cdef uint8_t* p = arena_alloc(&event.names, key_length(key) + HALF_SPARE)
    cdef int i
    if p == NULL:
        return -1
    half.p = p
    half.n = _name_write(p, key) - p
    half.at = at
    half.field = field
    half.head = 0
    for i in range(8):
        half.head = half.head << 8 | p[i]
    return 0


cdef inline int _measure(const Pairs* pairs, Event* event, Py_ssize_t first,
                         Py_ssize_t last) noexcept nogil:
    """The same as pairs_measure, of the entries from first to last, not included."""
    cdef bint all_ = pairs.n_fields == 0
    cdef int n_fields = 1 if all_ else pairs.n_fields
    cdef uint64_t partners, n_pairs = 0
    cdef double largest[FIELDS_MOST]
    cdef double second[FIELDS_MOST]
    cdef double value, most = 0.0
    cdef Py_ssize_t* ends
    cdef Py_ssize_t i, n = 0
    cdef uint64_t a, b
    cdef int f, g
    if _halves_reserve(event, last - first) < 0:
        return -1
    ends = event.field_starts
    for f in range(n_fields + 1):
        ends[f] = 0
        if f < n_fields:
            largest[f] = second[f] = 0.0
    for i in range(first, last):
        f = 0 if all_ else _field_of(pairs, &event.keys[i])
        if f < 0 or key_kind(&event.keys[i]) == KEY_NONE:   # the intercept
            continue
        if _half_write(event, &event.halves[n], i, f) < 0:
            return -1
        n += 1
        ends[f] += 1
        value = fabs(event.values[i])
        second[f] = max(second[f], min(value, largest[f]))
        largest[f] = max(value, largest[f])
    event.n_halves = n
    for f in range(n_fields):
        partners = 1 if all_ else pairs.fields[f].partners
        for g in range(f, n_fields):
            if partners >> g & 1:
                a, b = ends[f], ends[g]
                n_pairs += a * b if f != g else a * (a - 1) // 2 if a else 0
                most = max(most, largest[f] * (second[f] if f == g else largest[g]))
    event.n_pairs = n_pairs
    event.most_pairs = pairs.most
    if n_pairs > pairs.most:
        event.unfit = UNFIT_NUMBER
        return -1
    if most > VALUE_LIMIT:
        event.unfit = UNFIT_SIZE
        return -1
    # each field's halves, in their order, one field after the other
    for f in range(1, n_fields):
        ends[f] += ends[f - 1]
    for i in range(n - 1, -1, -1):
        f = event.halves[i].field
        ends[f] -= 1
        event.members[ends[f]] = i
    ends[n_fields] = n              # and so each field now starts at ends[f]
    return 0


cdef inline int pairs_measure(const Pairs* pairs, Event* event) noexcept nogil:
    """Find the halves of an event's pairs, and check that these are neither too many nor too large.

    -1 without memory, or if they are: event.unfit says which.
    """
    event.unfit = 0
    arena_reset(&event.names)
    return _measure(pairs, event, 0, event.n)


# --- Pairs

cdef inline bint _is_before(const Half* a, const Half* b) noexcept nogil:
    """Whether a pair's name begins with a. No name is the beginning of another's bytes."""
    if a.head == b.head:
        return memcmp(a.p, b.p, min(a.n, b.n)) <= 0
    return a.head < b.head


cdef inline void _copy(uint8_t* to, const uint8_t* from_, size_t n) noexcept nogil:
    """Copy n bytes, and of short ones all sixteen, which takes no loop."""
    memcpy(to, from_, 16)
    if n > 16:
        memcpy(to + 16, from_ + 16, n - 16)


cdef inline Py_ssize_t _pairs_make(const Pairs* pairs, Event* event, Py_ssize_t at) noexcept nogil:
    """Write the pairs of measured halves, from entry `at` on: where they end. -1 without memory."""
    cdef int n_fields = max(pairs.n_fields, 1)
    cdef Py_ssize_t first[FIELDS_MOST]
    cdef const Half* halves = event.halves
    cdef const Py_ssize_t* members = event.members
    cdef const Py_ssize_t* starts = event.field_starts
    cdef const Half* a
    cdef const Half* b
    cdef const Half* lesser
    cdef const Half* greater
    cdef Key* keys = event.keys
    cdef double* values = event.values
    cdef uint8_t* p = NULL
    cdef size_t n, left = 0
    cdef uint64_t partners
    cdef Py_ssize_t i, k, done = at
    cdef double value
    cdef int f
    for f in range(n_fields):
        first[f] = starts[f]
    for i in range(event.n_halves):
        a = &halves[i]
        first[a.field] += 1         # what comes before has been paired with this one
        partners = pairs.fields[a.field].partners if pairs.n_fields else 1
        for f in range(n_fields):
            if not partners >> f & 1:
                continue
            for k in range(first[f], starts[f + 1]):
                b = &halves[members[k]]
                value = values[a.at] * values[b.at]
                n = 1 + a.n + b.n
                if left < n + 16:
                    left = max(<size_t> NAMES_AT_ONCE, n + 16)
                    p = arena_alloc(&event.names, left)
                    if p == NULL:
                        return -1
                lesser, greater = (a, b) if _is_before(a, b) else (b, a)
                p[0] = c'p'
                _copy(p + 1, lesser.p, lesser.n)
                _copy(p + 1 + lesser.n, greater.p, greater.n)
                keys[at].lo = <uint64_t> <uintptr_t> p
                keys[at].hi = n
                values[at] = value
                at += value != 0.0
                p += n
                left -= n
        # only now, as a load that spans several stores waits for the last of them
        while done < at:
            keys[done] = key_text(
                KEY_CANONICAL, <const uint8_t*> <uintptr_t> keys[done].lo, keys[done].hi)
            done += 1
    return at


cdef inline int _candidates_write(const Pairs* pairs, Event* event) noexcept nogil:
    """The same as pairs_write, of each candidate. The next ones are not compared with these."""
    cdef Py_ssize_t i, k, n, first = 0, start = event.n, at = event.n
    event.unfit = 0
    event.scored_version = 0
    arena_reset(&event.names)
    for i in range(event.n_candidates):
        n = event.ends[i] - first
        if _measure(pairs, event, first, first + n) < 0:
            event.unfit_candidate = i
            return -1
        if event_reserve(event, at + n + <Py_ssize_t> event.n_pairs) < 0:
            return -1
        memcpy(event.keys + at, event.keys + first, n * sizeof(Key))
        memcpy(event.values + at, event.values + first, n * sizeof(double))
        for k in range(event.n_halves):
            event.halves[k].at += at - first
        first += n
        at = _pairs_make(pairs, event, at + n)
        if at < 0:
            return -1
        event.ends[i] = at - start
    memmove(event.keys, event.keys + start, (at - start) * sizeof(Key))
    memmove(event.values, event.values + start, (at - start) * sizeof(double))
    event.n = at - start
    event.n_found = event.n_longs = event.n_given = 0
    event.paired = True
    return 0


cdef inline int pairs_write(const Pairs* pairs, Event* event) noexcept nogil:
    """Add the pairs of an event, once. -1 without memory, or if it is unfit (see event.unfit)."""
    cdef Py_ssize_t at, n = event.n
    if event.n_candidates:
        return _candidates_write(pairs, event)
    if event.same and event.n_last_paired:
        event.n = event.n_found = event.n_last_paired
    else:
        if pairs_measure(pairs, event) < 0 or (
                event_reserve(event, n + <Py_ssize_t> event.n_pairs) < 0):
            return -1
        at = _pairs_make(pairs, event, n)
        if at < 0:
            return -1
        event.n = at
    event.n_given = n
    event.paired = True
    return 0
