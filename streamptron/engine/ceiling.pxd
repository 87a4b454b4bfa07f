# The ceiling: which feature leaves when there is no slot for a new one.
#
# The vocabulary of a stream never stops growing; memory must. Under a ceiling (max_features) a full
# model gives a new feature the slot of an old one. What it loses is the old feature's weight in the
# events in which it would have come again. So the feature with the smallest loss leaves:
#
#     loss  =  size^2 / age
#
#     size   the largest |weight| of the feature, over all labels and kept vectors; of
#            AdaptiveClassifier om |w| sqrt(cnt), in the letters of engine/adaptive.pxd
#     age    the events since it last occurred in a labelled one, counting only events that made
#            features leave
#
# A feature that has been away for `age` events can be expected once in about as many, so the loss
# is the mean square by which the scores would change. With weight 10 a feature may stay away a
# hundred times as long as with weight 1. There is no unit or scale to choose. (docs/decisions.md
# says what else was tried.)
#
# Finding the smallest loss of all would take a search over all slots. Instead a hand goes round
# over the slots, as on a clock. For each new feature it passes 16 slots, and the best of those
# leaves:
#
#     slots   ... | 3.0  0.02  .  1.5 ... 0.4 | 0.7 ...     the loss of each; ".": in the event
#                  ^hand        0.02 leaves     ^then
#
# Features of the event itself are skipped. So an insertion costs the same however large the model
# is. No feature is looked at again before the hand has gone all the way round, so a new one has
# time to show what it is worth. What happens depends on nothing but the stream: not on hashes, nor
# on addresses. If the hand gets back to its start and every feature is in the current event, the
# event has more features than the ceiling allows, and those without a slot are dropped at once.
#
# Time is counted in 32 bits. A stamp too old for that is brought up to AGE_MAX when the hand passes
# it, which happens at least once in 2^28 ticks.
#
# Everything about the feature that leaves is cold in memory: nobody has asked for it lately. So the
# slots where the hand will stop next are prefetched, and old entries are taken out of the index a
# few at a time (_forget).
#
# Memory may run out half way. So the event records what each slot was before it changes (Gone), and
# the weights of the features that left are cleared only at the end. Then either everything is
# settled (ceiling_settle) or everything is put back (ceiling_rewind).
#
# Functions in this file: ceiling_init; ceiling_insert (this may fail), then ceiling_settle or
# ceiling_rewind.

from streamptron.engine.types cimport (
    CHUNK_MASK, CHUNK_SLOTS, SLOT_NULL, SLOTS_RESERVED, prefetch_lines, slot_t, uint32_t, uint64_t)
from streamptron.engine.key cimport Key
from streamptron.engine.index cimport (
    Gone, Index, index_drop, index_find, index_forget, index_insert, index_key, index_replace,
    index_restore, index_stamp, index_tag)
from streamptron.engine.event cimport Event, event_extent, event_reserve_gone
from streamptron.engine.table cimport Table, table_clear, table_prefetch, table_sizes

cdef enum:
    LOOKS = 16
    AGE_MAX = 1 << 31
    GONE_MAX = 8                    # entries that may stay in the index after their keys have left

cdef struct Ceiling:
    slot_t hand                     # the next slot that it looks at
    uint32_t clock                  # events that made features leave, modulo 2^32
    uint64_t n_evicted


cdef inline void ceiling_init(Ceiling* ceiling) noexcept nogil:
    ceiling.hand = SLOTS_RESERVED
    ceiling.clock = 0
    ceiling.n_evicted = 0


cdef inline void _prefetch(const Index* index, const Table* table, slot_t hand) noexcept nogil:
    """Prefetch all that is read of the slots that the hand looks at next time."""
    cdef slot_t n = min(<slot_t> LOOKS, CHUNK_SLOTS - (hand & CHUNK_MASK))
    prefetch_lines(index_stamp(index, hand), n * sizeof(uint32_t))
    prefetch_lines(index_tag(index, hand), n * sizeof(uint32_t))
    prefetch_lines(index_key(index, hand), n * sizeof(Key))
    table_prefetch(table, hand, n)


cdef inline slot_t _leaving(Ceiling* ceiling, const Index* index,
                            const Table* table) noexcept nogil:
    """The slot of the feature that leaves; the null slot if all are in the current event."""
    cdef slot_t slots[LOOKS]
    cdef double ages[LOOKS]
    cdef double sizes[LOOKS]
    cdef double loss, least
    cdef slot_t slot, steps = index.n_slots - SLOTS_RESERVED
    cdef uint32_t* stamp
    cdef uint32_t age
    cdef int i, best = 0, n = 0
    while steps and n < LOOKS:
        slot = ceiling.hand
        ceiling.hand = slot + 1 if slot + 1 < index.n_slots else <slot_t> SLOTS_RESERVED
        steps -= 1
        stamp = index_stamp(index, slot)
        age = ceiling.clock - stamp[0]
        if age == 0:                # in the event: only its features are stamped since the tick
            continue
        if age > <uint32_t> AGE_MAX:
            age = <uint32_t> AGE_MAX
            stamp[0] = ceiling.clock - age
        slots[n] = slot
        ages[n] = age
        n += 1
    if n == 0:
        return SLOT_NULL
    table_sizes(table, slots, n, sizes)
    _prefetch(index, table, ceiling.hand)
    least = sizes[0] * sizes[0] / ages[0]
    for i in range(1, n):
        loss = sizes[i] * sizes[i] / ages[i]
        best = i if loss < least else best
        least = loss if loss < least else least
    return slots[best]


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
    for i in range(event_extent(event)):
        if event.slots[i] >= SLOTS_RESERVED:
            gone = &event.gone[event.n_gone]
            event.n_gone += 1
            gone.entry = event.slots[i]
            gone.key.lo = gone.key.hi = 0
            gone.stamp = index_stamp(index, event.slots[i])[0]
            index_stamp(index, event.slots[i])[0] = ceiling.clock
    event.n_forgotten = event.n_gone
    return 0


cdef inline int ceiling_insert(Ceiling* ceiling, Index* index, const Table* table, Event* event,
                               Py_ssize_t first, Py_ssize_t last, bint* ticked) noexcept nogil:
    """Give slots to the features of entries first .. last - 1 that have none, while there are any.

    -1 without memory. `ticked`: whether the clock has advanced for this event. Call ceiling_settle
    or ceiling_rewind in the end.
    """
    cdef Py_ssize_t i
    cdef slot_t slot
    cdef Gone* gone
    cdef bint anybody = True        # whether there is a feature that can leave
    for i in range(first, last):
        if event.slots[i] != SLOT_NULL:
            continue
        event.slots[i] = index_find(index, &event.keys[i], event.hashes[i])
        if event.slots[i] != SLOT_NULL:         # the event names it twice
            continue
        if index.n_slots < index.max_slots:
            slot = index_insert(index, &event.keys[i], event.hashes[i])
            if slot == SLOT_NULL:
                return -1
        else:
            if not ticked[0] and _tick(ceiling, index, event) < 0:
                return -1
            ticked[0] = True
            slot = _leaving(ceiling, index, table) if anybody else <slot_t> SLOT_NULL
            anybody = slot != SLOT_NULL
            if anybody:
                if event.n_gone - event.n_forgotten == GONE_MAX:
                    _forget(index, event)
                gone = &event.gone[event.n_gone]
                if index_replace(index, slot, &event.keys[i], event.hashes[i], gone) < 0:
                    return -1
                gone.stamp = index_stamp(index, slot)[0]
                event.n_gone += 1
            ceiling.n_evicted += 1
        if slot != SLOT_NULL:
            index_stamp(index, slot)[0] = ceiling.clock
        event.slots[i] = slot
    return 0


cdef inline void ceiling_settle(const Ceiling* ceiling, Index* index, Table* table,
                                Event* event) noexcept nogil:
    """All went well: clear what has left, and stamp the event's features as seen."""
    cdef Py_ssize_t i
    _forget(index, event)
    for i in range(event.n_gone):
        if event.gone[i].key.hi:
            table_clear(table, <slot_t> event.gone[i].entry)
            index_drop(index, &event.gone[i].key)
    event.n_gone = event.n_forgotten = 0
    for i in range(event.n):
        if event.slots[i] >= SLOTS_RESERVED:
            index_stamp(index, event.slots[i])[0] = ceiling.clock


cdef inline void ceiling_rewind(Ceiling* ceiling, const Ceiling* before, Index* index,
                                Event* event) noexcept nogil:
    """Put back what has left, the latest first. Stamps brought up to AGE_MAX stay."""
    cdef const Gone* gone
    while event.n_gone:
        event.n_gone -= 1
        gone = &event.gone[event.n_gone]
        if gone.key.hi:
            index_restore(index, gone, event.n_gone < event.n_forgotten)
        index_stamp(index, <slot_t> gone.entry)[0] = gone.stamp
    event.n_forgotten = 0
    ceiling[0] = before[0]
