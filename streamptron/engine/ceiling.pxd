# The ceiling: which feature leaves when there is no row for a new one.
#
# The vocabulary of a stream never stops growing; memory must. Under a ceiling (max_features) a full
# model gives a new feature the row of an old one. What it loses is the old feature's weight in the
# events in which it would have come again. So the feature with the smallest loss leaves:
#
#     loss  =  size^2 / age
#
#     size   the largest |weight| of the feature, over all labels and kept vectors
#     age    the events since it last occurred in a labelled one, counting only events that made
#            features leave
#
# A feature that has been away for `age` events can be expected once in about as many, so the loss
# is the mean square by which the scores would change. With weight 10 a feature may stay away a
# hundred times as long as with weight 1. There is no unit or scale to choose. (docs/decisions.md
# says what else was tried.)
#
# Finding the smallest loss of all would take a search over all rows. Instead a hand goes round over
# the rows, as on a clock. For each new feature it passes 16 rows, and the best of those leaves:
#
#     rows    ... | 3.0  0.02  .  1.5 ... 0.4 | 0.7 ...     the loss of each; ".": in the event
#                  ^hand        0.02 leaves     ^then
#
# Features of the event itself are skipped. So an insertion costs the same however large the model
# is. No feature is looked at again before the hand has gone all the way round, so a new one has
# time to show what it is worth. What happens depends on nothing but the stream: not on hashes, nor
# on addresses. If the hand gets back to its start and every feature is in the current event, the
# event has more features than the ceiling allows, and those without a row are dropped at once.
#
# Time is counted in 32 bits. A stamp too old for that is brought up to AGE_MAX when the hand passes
# it, which happens at least once in 2^28 ticks.
#
# Everything about the feature that leaves is cold in memory: nobody has asked for it lately. So the
# rows where the hand will stop next are prefetched, and old entries are taken out of the index a
# few at a time (_forget).
#
# Memory may run out half way. So the event records what each row was before it changes (Gone), and
# the weights of the features that left are cleared only at the end. Then either everything is
# settled (ceiling_settle) or everything is put back (ceiling_rewind).
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
    GONE_MAX = 8                    # entries that may stay in the index after their keys have left

cdef struct Ceiling:
    row_t hand                      # the next row that it looks at
    uint32_t clock                  # events that made features leave, modulo 2^32
    uint64_t n_evicted


cdef inline void ceiling_init(Ceiling* ceiling) noexcept nogil:
    ceiling.hand = ROWS_RESERVED
    ceiling.clock = 0
    ceiling.n_evicted = 0


cdef inline void _prefetch(const Index* index, const Table* table, row_t hand) noexcept nogil:
    """Prefetch all that is read of the rows that the hand looks at next time."""
    cdef row_t n = min(<row_t> LOOKS, CHUNK_ROWS - (hand & CHUNK_MASK))
    prefetch_lines(index_stamp(index, hand), n * sizeof(uint32_t))
    prefetch_lines(index_tag(index, hand), n * sizeof(uint32_t))
    prefetch_lines(index_key(index, hand), n * sizeof(Key))
    table_prefetch(table, hand, n)


cdef inline row_t _leaving(Ceiling* ceiling, const Index* index, const Table* table) noexcept nogil:
    """The row of the feature that leaves; the null row if all are in the current event."""
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
        if age == 0:                # in the event: only its features are stamped since the tick
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
    """Take out the index entries of keys that have left and are still there."""
    cdef const Gone* gone
    while event.n_forgotten < event.n_gone:
        gone = &event.gone[event.n_forgotten]
        if gone.key.hi:
            index_forget(index, gone)
        event.n_forgotten += 1


cdef inline int _tick(Ceiling* ceiling, const Index* index, Event* event) noexcept nogil:
    """Advance the clock and stamp the event's features, so that none of them leaves.

    -1 without memory.
    """
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
    """Give rows to the features of entries first .. last - 1 that have none, while there are rows.

    -1 without memory. `ticked`: whether the clock has advanced for this event. Call ceiling_settle
    or ceiling_rewind in the end.
    """
    cdef Py_ssize_t i
    cdef row_t row
    cdef Gone* gone
    cdef bint anybody = True        # whether there is a feature that can leave
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
    """All went well: clear what has left, and stamp the event's features as seen."""
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
    """Put back what has left, the latest first. Stamps brought up to AGE_MAX stay."""
    cdef const Gone* gone
    while event.n_gone:
        event.n_gone -= 1
        gone = &event.gone[event.n_gone]
        if gone.key.hi:
            index_restore(index, gone, event.n_gone < event.n_forgotten)
        index_stamp(index, <row_t> gone.entry)[0] = gone.stamp
    event.n_forgotten = 0
    ceiling[0] = before[0]
