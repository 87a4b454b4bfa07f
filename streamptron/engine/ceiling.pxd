# The ceiling: which feature leaves when there is no row for a new one.
#
# The vocabulary of a stream never stops growing; memory must. Under a ceiling (max_features) a full
# model gives a new feature the row of another. What it loses by that is the other's weight in the
# events in which it would have come again; so the one leaves that has the least
#
#     loss  =  size^2 / age
#
#     size   the largest |weight| of the feature, of all labels and kept vectors
#     age    the events since it was last in a labelled one; of these only those count that made
#            features leave
#
# for 1/age is how often a feature can be expected that has been away so long, and so loss is the
# mean square by which the scores would change. With weight 10 a feature may stay away a hundred
# times as long as with weight 1. There is no unit or scale to be chosen. (docs/decisions.md says
# what else was tried.)
#
# The least of all would have to be searched for. Instead a hand goes round over the rows, as on a
# clock, and stops for each new feature after the next 16:
#
#     rows    ... | 3.0  0.02  .  1.5 ... 0.4 | 0.7 ...     the loss of each; ".": in the event
#                  ^hand        0.02 leaves     ^then
#
# The features of the event itself are passed over. So an insertion costs the same however large the
# model is, no feature is looked at again before the hand has been everywhere (a new one has time to
# show what it is worth), and what happens depends on nothing but the stream: not on hashes, nor on
# addresses. If the hand gets back to where it was and all features are in the event at hand, the
# event has more than the ceiling: what has no row leaves at once.
#
# Time is counted in 32 bits, and a stamp too old for that is brought up to AGE_MAX when the hand
# comes by, which it does at least once in 2^28 ticks.
#
# Everything about the feature that leaves is far away in memory: nobody has asked for it lately.
# What can be asked for ahead is, where the hand stops, and old entries are taken out of the index a
# few at a time (_forget).
#
# Memory may run out half way. So the event writes down what each row was that it changes (Gone),
# the weights of who has left are cleared at the end, and either all is settled (ceiling_settle) or
# all is as before (ceiling_rewind).
#
# Functions in this file: ceiling_insert (this may fail), then ceiling_settle or ceiling_rewind.

from streamptron.engine.types cimport (
    CHUNK_MASK, CHUNK_ROWS, ROW_NULL, ROWS_RESERVED, prefetch_lines, row_t, uint32_t, uint64_t)
from streamptron.engine.key cimport Key
from streamptron.engine.index cimport (
    Gone, Index, index_drop, index_find, index_forget, index_insert, index_key, index_replace,
    index_restore, index_stamp, index_tag)
from streamptron.engine.event cimport Event, event_reserve_gone
from streamptron.engine.table cimport Table, table_clear, table_prefetch, table_sizes

cdef enum:
    LOOKS = 16
    AGE_MAX = 1 << 31
    GONE_MAX = 8                    # entries that may be in the index though their keys have left

cdef struct Ceiling:
    row_t hand                      # the row it stands before
    uint32_t clock                  # events that made features leave, modulo 2^32
    uint64_t n_evicted


cdef inline void ceiling_init(Ceiling* ceiling) noexcept nogil:
    ceiling.hand = ROWS_RESERVED
    ceiling.clock = 0
    ceiling.n_evicted = 0


cdef inline void _prefetch(const Index* index, const Table* table, row_t hand) noexcept nogil:
    """Ask for all that is read of the rows where the hand stops next time."""
    cdef row_t n = min(<row_t> LOOKS, CHUNK_ROWS - (hand & CHUNK_MASK))
    prefetch_lines(index_stamp(index, hand), n * sizeof(uint32_t))
    prefetch_lines(index_tag(index, hand), n * sizeof(uint32_t))
    prefetch_lines(index_key(index, hand), n * sizeof(Key))
    table_prefetch(table, hand, n)


cdef inline row_t _leaving(Ceiling* ceiling, const Index* index, const Table* table) noexcept nogil:
    """The row of the feature that leaves; the null row if all are in the event at hand."""
    cdef row_t rows[LOOKS]
    cdef double ages[LOOKS]
    cdef double sizes[LOOKS]
    cdef double loss, least
    cdef row_t row, steps = index.n_rows - ROWS_RESERVED
    cdef uint32_t* stamp
    cdef uint32_t age
    cdef int i, best = 0, n = 0
    while steps and n < LOOKS:
        row = ceiling.hand
        ceiling.hand = row + 1 if row + 1 < index.n_rows else <row_t> ROWS_RESERVED
        steps -= 1
        stamp = index_stamp(index, row)
        age = ceiling.clock - stamp[0]
        if age == 0:                # the clock has ticked for the event, which alone was seen since
            continue
        if age > <uint32_t> AGE_MAX:
            age = <uint32_t> AGE_MAX
            stamp[0] = ceiling.clock - age
        rows[n] = row
        ages[n] = age
        n += 1
    if n == 0:
        return ROW_NULL
    table_sizes(table, rows, n, sizes)
    _prefetch(index, table, ceiling.hand)
    least = sizes[0] * sizes[0] / ages[0]
    for i in range(1, n):
        loss = sizes[i] * sizes[i] / ages[i]
        best = i if loss < least else best
        least = loss if loss < least else least
    return rows[best]


cdef inline void _forget(Index* index, Event* event) noexcept nogil:
    """Take out the entries of keys that have left, as far as they are there yet."""
    cdef const Gone* gone
    while event.n_forgotten < event.n_gone:
        gone = &event.gone[event.n_forgotten]
        if gone.key.hi:
            index_forget(index, gone)
        event.n_forgotten += 1


cdef inline int _tick(Ceiling* ceiling, const Index* index, Event* event) noexcept nogil:
    """Features are going to leave, but none of those that the event has. -1 without memory."""
    cdef Py_ssize_t i
    cdef Gone* gone
    if event_reserve_gone(event) < 0:
        return -1
    ceiling.clock += 1
    for i in range(event.n):
        if event.rows[i] >= ROWS_RESERVED:
            gone = &event.gone[event.n_gone]
            event.n_gone += 1
            gone.entry = event.rows[i]
            gone.key.lo = gone.key.hi = 0
            gone.stamp = index_stamp(index, event.rows[i])[0]
            index_stamp(index, event.rows[i])[0] = ceiling.clock
    event.n_forgotten = event.n_gone
    return 0


cdef inline int ceiling_insert(Ceiling* ceiling, Index* index, const Table* table, Event* event,
                               Py_ssize_t first, Py_ssize_t last, bint* ticked) noexcept nogil:
    """Rows for the features of some entries that have none, as far as there are any. -1 without memory.

    `ticked`: whether the clock has, for this event. Either ceiling_settle or ceiling_rewind is due in
    the end.
    """
    cdef Py_ssize_t i
    cdef row_t row
    cdef Gone* gone
    cdef bint anybody = True        # is there anybody who could leave?
    for i in range(first, last):
        if event.rows[i] != ROW_NULL:
            continue
        event.rows[i] = index_find(index, &event.keys[i], event.hashes[i])
        if event.rows[i] != ROW_NULL:           # the event names it twice
            continue
        if index.n_rows < index.max_rows:
            row = index_insert(index, &event.keys[i], event.hashes[i])
            if row == ROW_NULL:
                return -1
        else:
            if not ticked[0] and _tick(ceiling, index, event) < 0:
                return -1
            ticked[0] = True
            row = _leaving(ceiling, index, table) if anybody else <row_t> ROW_NULL
            anybody = row != ROW_NULL
            if anybody:
                if event.n_gone - event.n_forgotten == GONE_MAX:
                    _forget(index, event)
                gone = &event.gone[event.n_gone]
                if index_replace(index, row, &event.keys[i], event.hashes[i], gone) < 0:
                    return -1
                gone.stamp = index_stamp(index, row)[0]
                event.n_gone += 1
            ceiling.n_evicted += 1
        if row != ROW_NULL:
            index_stamp(index, row)[0] = ceiling.clock
        event.rows[i] = row
    return 0


cdef inline void ceiling_settle(const Ceiling* ceiling, Index* index, Table* table,
                                Event* event) noexcept nogil:
    """All is well: forget what has left, and see the features of the event."""
    cdef Py_ssize_t i
    _forget(index, event)
    for i in range(event.n_gone):
        if event.gone[i].key.hi:
            table_clear(table, <row_t> event.gone[i].entry)
            index_drop(index, &event.gone[i].key)
    event.n_gone = event.n_forgotten = 0
    for i in range(event.n):
        if event.rows[i] >= ROWS_RESERVED:
            index_stamp(index, event.rows[i])[0] = ceiling.clock


cdef inline void ceiling_rewind(Ceiling* ceiling, const Ceiling* before, Index* index,
                                Event* event) noexcept nogil:
    """Who has left comes back, the latest first. A stamp brought up to AGE_MAX stays so."""
    cdef const Gone* gone
    while event.n_gone:
        event.n_gone -= 1
        gone = &event.gone[event.n_gone]
        if gone.key.hi:
            index_restore(index, gone, event.n_gone < event.n_forgotten)
        index_stamp(index, <row_t> gone.entry)[0] = gone.stamp
    event.n_forgotten = 0
    ceiling[0] = before[0]
