# Texts that are written as events before their turn comes, perhaps by another thread.
#
# To split a text and to hash its words takes about as long as to learn it, and needs nothing of the
# model but the seed of its hash. So one thread writes the texts of a block while another one learns
# those of the block before:
#
#     rows    0, 2     2, 3         5, 2          where the entries of each begin; how many
#     keys    a  b     a  c  d      b  d
#     values  1  1     2  1  1      1  3          and hashes, alike
#
# Taking a row copies its entries into the event in scratch, which is then what text_write would
# have made of the text. A row that has not been written, since there was no memory, is no error:
# its text is written when its turn comes.
#
# The door that owns the texts writes each as an event (text_write) and puts it here.
#
# Functions in this file: ahead_init, ahead_free, ahead_begin and ahead_put (these may fail),
# ahead_has, ahead_take, ahead_leave_out.

from libc.string cimport memcpy, memmove, memset
from streamptron.engine.arena cimport Arena, arena_copy, arena_free, arena_init
from streamptron.engine.event cimport Event, event_begin
from streamptron.engine.heap cimport free, malloc
from streamptron.engine.index cimport Index
from streamptron.engine.key cimport Key, key_is_long, key_length
from streamptron.engine.types cimport uint8_t, uint64_t, uintptr_t

cdef struct Span:
    Py_ssize_t first, n

cdef struct Ahead:
    Span* rows
    Py_ssize_t n_rows               # that are written
    Key* keys                       # with values and hashes in one block of memory
    double* values
    uint64_t* hashes
    Py_ssize_t n
    Py_ssize_t capacity
    Arena text                      # the bytes of long keys
    uint64_t seed_number            # of the hash
    size_t n_replaced               # as text_write counts them


cdef inline void ahead_init(Ahead* ahead) noexcept nogil:
    memset(ahead, 0, sizeof(Ahead))
    arena_init(&ahead.text)


cdef inline void ahead_free(Ahead* ahead) noexcept nogil:
    free(ahead.rows)
    free(ahead.keys)                # and values and hashes
    arena_free(&ahead.text)
    memset(ahead, 0, sizeof(Ahead))


cdef inline int _reserve(Ahead* ahead, Py_ssize_t n) noexcept nogil:
    """Room for n more entries. -1 without memory."""
    cdef Py_ssize_t capacity = ahead.n + n
    cdef Ahead old = ahead[0]
    if capacity <= ahead.capacity:
        return 0
    capacity += capacity // 2
    ahead.keys = <Key*> malloc(capacity * (sizeof(Key) + sizeof(double) + sizeof(uint64_t)))
    if ahead.keys == NULL:
        ahead.keys = old.keys
        return -1
    ahead.values = <double*> (ahead.keys + capacity)
    ahead.hashes = <uint64_t*> (ahead.values + capacity)
    ahead.capacity = capacity
    if old.n:
        memcpy(ahead.keys, old.keys, old.n * sizeof(Key))
        memcpy(ahead.values, old.values, old.n * sizeof(double))
        memcpy(ahead.hashes, old.hashes, old.n * sizeof(uint64_t))
    free(old.keys)
    return 0


cdef inline int ahead_begin(Ahead* ahead, uint64_t seed_number, Py_ssize_t n_rows) noexcept nogil:
    """Room for n_rows rows, hashed with this seed. -1 without memory."""
    if ahead.rows == NULL:
        ahead.rows = <Span*> malloc((n_rows + 1) * sizeof(Span))
        if ahead.rows == NULL:
            return -1
        ahead.seed_number = seed_number
    return 0


cdef inline int ahead_put(Ahead* ahead, const Event* event) noexcept nogil:
    """Keep a written text as the next row. -1 without memory."""
    cdef Py_ssize_t i, at = ahead.n
    cdef Key* key
    cdef uint8_t* held
    if _reserve(ahead, event.n) < 0:
        return -1
    for i in range(event.n):
        key = &ahead.keys[at + i]
        key[0] = event.keys[i]
        if key_is_long(key):
            held = arena_copy(&ahead.text, <const uint8_t*> <uintptr_t> key.lo, key_length(key))
            if held == NULL:
                return -1
            key.lo = <uintptr_t> held
        ahead.values[at + i] = event.values[i]
        ahead.hashes[at + i] = event.hashes[i]
    ahead.rows[ahead.n_rows].first = at
    ahead.rows[ahead.n_rows].n = event.n
    ahead.n_rows += 1
    ahead.n += event.n
    return 0


cdef inline bint ahead_has(const Ahead* ahead, const Index* index, Py_ssize_t r) noexcept nogil:
    """Whether row r is written, with the hash of this index."""
    return r < ahead.n_rows and ahead.seed_number == index.seed_number


cdef inline int ahead_take(const Ahead* ahead, Py_ssize_t r, Event* event, const Index* index,
                           bint intercept) noexcept nogil:
    """Row r as an event, as text_write makes it. -1 without memory."""
    cdef Py_ssize_t first = ahead.rows[r].first, n = ahead.rows[r].n
    if event_begin(event, index, n, intercept) < 0:
        return -1
    event.n_found = event.n
    if n:
        memcpy(event.keys + event.n, ahead.keys + first, n * sizeof(Key))
        memcpy(event.values + event.n, ahead.values + first, n * sizeof(double))
        memcpy(event.hashes + event.n, ahead.hashes + first, n * sizeof(uint64_t))
    event.n += n
    event.n_hashed = event.n
    event.scored_version = 0
    return 0


cdef inline void ahead_leave_out(Ahead* ahead, Py_ssize_t r) noexcept nogil:
    """Take row r out, so that those behind it move up."""
    if r < ahead.n_rows:
        ahead.n_rows -= 1
        memmove(ahead.rows + r, ahead.rows + r + 1, (ahead.n_rows - r) * sizeof(Span))
