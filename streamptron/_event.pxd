# An event in scratch: what a door writes and the path reads.
#
#     keys[i]    the feature's name          written by a door
#     values[i]  its value, finite, not 0    written by a door
#     rows[i]    where its weights are       found by the index
#     hashes[i]  of keys[i]                  kept for inserting the feature later
#
# Entry 0 is the intercept where the learner has one.
#
# The scratch remembers the last event. predict_one and learn_one are usually asked about the same one in
# turn, so a door compares as it writes, and only the entries that differ are looked up again.
# The memory is exact: it compares keys by value, and is dropped when the index has grown meanwhile.

from libc.stdlib cimport free, realloc
from streamptron._types cimport ROW_INTERCEPT, ROW_NULL, row_t, uint32_t, uint64_t
from streamptron._key cimport KEY_NONE, Key, key_equal, key_is_long, key_word
from streamptron._arena cimport Arena, arena_free, arena_init, arena_reset
from streamptron._index cimport Index, index_key

cdef struct Event:
    Py_ssize_t n
    Py_ssize_t capacity
    Key* keys
    double* values
    row_t* rows
    uint64_t* hashes
    uint32_t* todo              # entries to look up
    Py_ssize_t n_todo
    Py_ssize_t n_last           # entries of the last event, to compare with
    Py_ssize_t n_known          # entries that the next event may be compared with
    uint64_t index_rows         # n_rows of the index when the rows were found
    bint has_long               # some key's bytes are the caller's
    Arena text                  # bytes of keys that the door had to encode
    # what the path made of it
    double* scores              # by kept vector, then by output
    Py_ssize_t scores_capacity
    uint64_t scored_version     # of the learner that gave the scores; 0: none


cdef inline void event_init(Event* event) noexcept nogil:
    event.n = 0
    event.capacity = 0
    event.keys = NULL
    event.values = NULL
    event.rows = NULL
    event.hashes = NULL
    event.todo = NULL
    event.n_todo = 0
    event.n_last = 0
    event.n_known = 0
    event.index_rows = 0
    event.has_long = False
    arena_init(&event.text)
    event.scores = NULL
    event.scores_capacity = 0
    event.scored_version = 0


cdef inline void event_free(Event* event) noexcept nogil:
    free(event.keys)
    free(event.values)
    free(event.rows)
    free(event.hashes)
    free(event.todo)
    free(event.scores)
    arena_free(&event.text)
    event_init(event)


cdef inline size_t event_bytes(const Event* event) noexcept nogil:
    return (event.capacity * (sizeof(Key) + sizeof(double) + sizeof(row_t) + sizeof(uint64_t)
                              + sizeof(uint32_t))
            + event.scores_capacity * sizeof(double) + event.text.bytes)


cdef inline int event_reserve(Event* event, Py_ssize_t n) noexcept nogil:
    """Room for n entries; -1 without memory."""
    cdef Py_ssize_t capacity
    cdef void* p
    if n <= event.capacity:
        return 0
    capacity = n + n // 2 + 16
    p = realloc(event.keys, capacity * sizeof(Key))
    if p == NULL:
        return -1
    event.keys = <Key*> p
    p = realloc(event.values, capacity * sizeof(double))
    if p == NULL:
        return -1
    event.values = <double*> p
    p = realloc(event.rows, capacity * sizeof(row_t))
    if p == NULL:
        return -1
    event.rows = <row_t*> p
    p = realloc(event.hashes, capacity * sizeof(uint64_t))
    if p == NULL:
        return -1
    event.hashes = <uint64_t*> p
    p = realloc(event.todo, capacity * sizeof(uint32_t))
    if p == NULL:
        return -1
    event.todo = <uint32_t*> p
    event.capacity = capacity
    return 0


cdef inline int event_reserve_scores(Event* event, Py_ssize_t n) noexcept nogil:
    cdef void* p
    if n <= event.scores_capacity:
        return 0
    p = realloc(event.scores, (n + n // 2 + 3) * sizeof(double))
    if p == NULL:
        return -1
    event.scores = <double*> p
    event.scores_capacity = n + n // 2 + 3
    event.scored_version = 0
    return 0


cdef inline int event_begin(Event* event, const Index* index, Py_ssize_t n, bint intercept) noexcept nogil:
    """Start an event of up to n features; -1 without memory."""
    if event_reserve(event, n + 1) < 0:
        return -1
    event.n_last = event.n_known if event.index_rows == index.n_rows else 0
    event.n_known = 0               # until event_settle, for the door may yet give up
    event.n = 0
    event.n_todo = 0
    event.has_long = False
    arena_reset(&event.text)
    if intercept:
        event.keys[0] = key_word(KEY_NONE, 1)   # no name, not even an unknown one
        event.rows[0] = ROW_INTERCEPT
        event.values[0] = 1.0
        event.n = 1
    return 0


cdef struct Writer:
    # What changes with every entry, in a door's own registers.
    Key* keys
    double* values
    uint32_t* todo
    Py_ssize_t n
    Py_ssize_t n_todo
    Py_ssize_t n_last
    bint changed
    uint64_t kinds              # all the keys' upper words, or'ed


cdef inline Writer event_writer(const Event* event) noexcept nogil:
    cdef Writer writer
    writer.keys = event.keys
    writer.values = event.values
    writer.todo = event.todo
    writer.n = event.n
    writer.n_todo = 0
    writer.n_last = event.n_last
    writer.changed = event.n_last == 0
    writer.kinds = 0
    return writer


cdef inline void writer_add(Writer* writer, Key key, double value) noexcept nogil:
    """The next entry. A key that stood at this place in the last event keeps its row."""
    cdef Py_ssize_t i = writer.n
    if i < writer.n_last and key_equal(&writer.keys[i], &key):
        writer.changed |= writer.values[i] != value
    else:
        writer.keys[i] = key
        writer.todo[writer.n_todo] = <uint32_t> i
        writer.n_todo += 1
    writer.kinds |= key.hi
    writer.values[i] = value
    writer.n = i + 1


cdef inline void event_end(Event* event, const Writer* writer) noexcept nogil:
    """All entries are written."""
    event.n = writer.n
    event.n_todo = writer.n_todo
    event.has_long = writer.kinds >> 63
    if writer.changed or writer.n_todo > 0 or writer.n != writer.n_last:
        event.scored_version = 0


cdef inline void event_settle(Event* event, const Index* index) noexcept nogil:
    """The path is done with the event: keep what the next one may be compared with.

    The bytes of a long key are the caller's, who may free them now: point at the index's copy, or
    forget the key where it has none.
    """
    cdef Py_ssize_t i
    if event.has_long:
        for i in range(event.n):
            if key_is_long(&event.keys[i]):
                if index.bits == 0 and event.rows[i] != ROW_NULL:
                    event.keys[i].lo = index_key(index, event.rows[i]).lo
                else:
                    event.keys[i] = key_word(KEY_NONE, 0)
    event.index_rows = index.n_rows
    event.n_known = event.n
