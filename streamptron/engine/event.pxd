# An event in scratch: what a door writes and the path reads.
#
#     keys[i]    the feature's name          written by a door
#     values[i]  its value, finite, not 0    written by a door
#     slots[i]   where its weights are       found by the index
#     hashes[i]  of keys[i]                  kept for inserting the feature later
#
# Entry 0 is the intercept where the learner has one.
#
# Candidates are several events in one scratch, one after the other: candidate i is the entries from
# ends[i - 1] to ends[i].
#
# The scratch remembers the last event. predict_one and learn_one are usually called with the same
# event in turn. So a door compares as it writes, and only the entries from the first new name on
# are looked up. The comparison is exact: by the values of the keys. The memory is dropped when the
# index has changed in the meantime.
#
# Functions in this file: event_init, event_free, event_bytes; event_reserve, event_reserve_scores,
# event_reserve_gone, event_begin and event_candidates (these may fail); event_writer, writer_add,
# event_end to write one, event_candidate_end after each candidate; event_first, event_last,
# event_extent: where its entries are; event_settle, event_again for what is remembered.

from libc.string cimport memset
from streamptron.engine.types cimport (
    SLOT_INTERCEPT, SLOT_NULL, slot_t, uint8_t, uint32_t, uint64_t)
from streamptron.engine.heap cimport free, realloc
from streamptron.engine.key cimport KEY_NONE, Key, key_equal, key_is_long, key_word
from streamptron.engine.arena cimport Arena, arena_free, arena_init, arena_reset
from streamptron.engine.index cimport Gone, Index, index_stored
from streamptron.engine.step cimport Step, step_bytes, step_free
from streamptron.engine.verdict cimport Verdict
from streamptron.engine.adaptive cimport Weighed, weighed_bytes, weighed_free
from streamptron.engine.vote cimport Ballot, ballot_bytes, ballot_free

cdef struct Half:                   # a feature that is paired, see engine/pairs.pxd
    const uint8_t* p                # its name in canonical bytes
    size_t n
    uint64_t head                   # the first eight of them, to compare by
    Py_ssize_t at                   # its entry
    int field

cdef struct Event:
    Py_ssize_t n
    Py_ssize_t capacity
    Key* keys
    double* values
    slot_t* slots
    uint64_t* hashes
    const uint64_t** starts     # where in the index the search for a key starts
    Py_ssize_t n_found          # leading entries whose slots are known
    Py_ssize_t n_hashed         # leading entries whose hashes are known: all of a text's, else none
    Py_ssize_t n_last           # entries of the last event, to compare with
    Py_ssize_t n_known          # entries that the next event may be compared with
    bint same                   # names and values are those of the last event
    uint64_t generation         # of the index when the slots were found
    uint32_t* longs             # entries whose keys' bytes are the caller's
    Py_ssize_t n_longs
    Arena text                  # bytes of keys that the door had to encode
    Py_ssize_t n_candidates     # 0: it is one event
    Py_ssize_t* ends
    Py_ssize_t ends_capacity
    uint32_t* common            # a hash table for what two candidates have in common
    Py_ssize_t n_common
    # pairs of features, behind the entries that the door has written
    bint paired                 # they are there
    Py_ssize_t n_given          # then: how many the door has written
    Py_ssize_t n_last_paired    # entries of the last event with its pairs; 0: it had none
    int unfit                   # why they cannot be made; 0: they can
    Py_ssize_t unfit_candidate  # of which candidate
    uint64_t most_pairs         # what was allowed
    uint64_t n_pairs            # how many there would be, of products of 0 too
    Half* halves
    Py_ssize_t* members         # numbers of halves, field by field
    Py_ssize_t halves_capacity
    Py_ssize_t n_halves
    Py_ssize_t* field_starts    # where in members those of each field start, and the last one's end
    Arena names                 # of halves and pairs
    # what the path found out about it
    double* scores              # by kept vector, then by choice
    Py_ssize_t n_scores         # how many choices there are
    Py_ssize_t scores_capacity
    uint64_t scored_version     # of the learner that gave the scores; 0: none
    Verdict* verdicts           # of each kept vector; the scores lie behind them
    int judged                  # of which, a bit each
    Step step
    Weighed weighed             # where AdaptiveClassifier has answered
    Ballot ballot               # where VotedPerceptron counts
    Gone* gone                  # under a ceiling: what its slots were before it is learned
    Py_ssize_t gone_capacity
    Py_ssize_t n_gone
    Py_ssize_t n_forgotten      # of these, whose entries have been taken out


cdef inline void event_init(Event* event) noexcept nogil:
    event.n = 0
    event.capacity = 0
    event.keys = NULL
    event.values = NULL
    event.slots = NULL
    event.hashes = NULL
    event.starts = NULL
    event.n_found = 0
    event.n_hashed = 0
    event.n_last = 0
    event.n_known = 0
    event.generation = 0
    event.longs = NULL
    event.n_longs = 0
    arena_init(&event.text)
    event.same = False
    event.paired = False
    event.unfit = 0
    event.unfit_candidate = 0
    event.halves = NULL
    event.members = NULL
    event.halves_capacity = 0
    arena_init(&event.names)
    event.n_candidates = 0
    event.ends = NULL
    event.ends_capacity = 0
    event.common = NULL
    event.n_common = 0
    event.verdicts = NULL
    event.scores = NULL
    event.n_scores = 0
    event.scores_capacity = 0
    event.scored_version = 0
    event.judged = 0
    memset(&event.step, 0, sizeof(Step))
    memset(&event.weighed, 0, sizeof(Weighed))
    memset(&event.ballot, 0, sizeof(Ballot))
    event.gone = NULL
    event.gone_capacity = 0
    event.n_gone = 0
    event.n_forgotten = 0


cdef inline void event_free(Event* event) noexcept nogil:
    free(event.keys)
    free(event.values)
    free(event.slots)
    free(event.hashes)
    free(event.starts)
    free(event.longs)
    free(event.ends)
    free(event.common)
    free(event.verdicts)
    free(event.gone)
    free(event.halves)
    free(event.members)
    step_free(&event.step)
    weighed_free(&event.weighed)
    ballot_free(&event.ballot)
    arena_free(&event.text)
    arena_free(&event.names)
    event_init(event)


cdef inline size_t event_bytes(const Event* event) noexcept nogil:
    return (event.capacity * (sizeof(Key) + sizeof(double) + sizeof(slot_t) + 2 * sizeof(uint64_t)
                              + sizeof(uint32_t))
            + event.ends_capacity * sizeof(Py_ssize_t) + event.n_common * sizeof(uint32_t)
            + 3 * sizeof(Verdict) * (event.verdicts != NULL)
            + event.scores_capacity * sizeof(double)
            + step_bytes(&event.step) + weighed_bytes(&event.weighed)
            + ballot_bytes(&event.ballot)
            + event.halves_capacity * (sizeof(Half) + sizeof(Py_ssize_t))
            + event.gone_capacity * sizeof(Gone) + event.text.bytes + event.names.bytes)


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
    p = realloc(event.slots, capacity * sizeof(slot_t))
    if p == NULL:
        return -1
    event.slots = <slot_t*> p
    p = realloc(event.hashes, capacity * sizeof(uint64_t))
    if p == NULL:
        return -1
    event.hashes = <uint64_t*> p
    p = realloc(event.starts, capacity * sizeof(uint64_t*))
    if p == NULL:
        return -1
    event.starts = <const uint64_t**> p
    p = realloc(event.longs, capacity * sizeof(uint32_t))
    if p == NULL:
        return -1
    event.longs = <uint32_t*> p
    event.capacity = capacity
    return 0


cdef inline int event_reserve_scores(Event* event, int n_kinds, Py_ssize_t n) noexcept nogil:
    """Room for n scores, and for the verdicts of so many kept vectors; -1 without memory."""
    cdef void* p
    cdef Py_ssize_t capacity = n + n // 2 + 3
    if event.verdicts != NULL and n <= event.scores_capacity:
        return 0
    p = realloc(event.verdicts, n_kinds * sizeof(Verdict) + capacity * sizeof(double))
    if p == NULL:
        return -1
    event.verdicts = <Verdict*> p
    event.scores = <double*> (event.verdicts + n_kinds)
    event.scores_capacity = capacity
    event.scored_version = 0
    return 0


cdef inline int event_reserve_gone(Event* event) noexcept nogil:
    """Room to write down a slot for each entry; -1 without memory."""
    cdef void* p
    if event.capacity <= event.gone_capacity:
        return 0
    p = realloc(event.gone, event.capacity * sizeof(Gone))
    if p == NULL:
        return -1
    event.gone = <Gone*> p
    event.gone_capacity = event.capacity
    return 0


cdef inline int event_begin(Event* event, const Index* index, Py_ssize_t n,
                            bint intercept) noexcept nogil:
    """Start an event of up to n features; -1 without memory."""
    event.unfit = 0
    if event_reserve(event, n + 1) < 0:
        return -1
    event.n_last = event.n_known if event.generation == index.generation else 0
    event.n_last_paired = event.n if event.paired else 0
    event.same = event.paired = False
    event.n_known = 0               # until event_settle, for the door may still give up
    event.n = 0
    event.n_hashed = 0
    event.n_longs = 0
    arena_reset(&event.text)
    if intercept:
        event.keys[0] = key_word(KEY_NONE, 1)   # no name, not even an unknown one
        event.slots[0] = SLOT_INTERCEPT
        event.values[0] = 1.0
        event.n = 1
    return 0


cdef struct Writer:
    # What changes with every entry, in a door's own registers.
    Key* keys
    double* values
    Py_ssize_t n
    Py_ssize_t n_same           # up to where it may equal the last event
    bint changed
    uint32_t* longs
    Py_ssize_t n_longs


cdef inline Writer event_writer(const Event* event) noexcept nogil:
    cdef Writer writer
    writer.keys = event.keys
    writer.values = event.values
    writer.n = event.n
    writer.n_same = event.n_last
    writer.changed = event.n_last == 0
    writer.longs = event.longs
    writer.n_longs = 0
    return writer


cdef inline void writer_add(Writer* writer, Key key, double value) noexcept nogil:
    """The next entry. It keeps its slot if the names up to it are those of the last event."""
    cdef Py_ssize_t i = writer.n
    cdef Key* last = &writer.keys[i]
    writer.n = i + 1
    if key_is_long(&key):
        writer.longs[writer.n_longs] = <uint32_t> i
        writer.n_longs += 1
    if i < writer.n_same:
        if ((last.lo ^ key.lo) | (last.hi ^ key.hi)) == 0 or (
                key_is_long(&key) and key_equal(last, &key)):
            writer.changed |= writer.values[i] != value
            writer.values[i] = value
            return
        writer.n_same = i
    last[0] = key
    writer.values[i] = value


cdef inline void event_end(Event* event, const Writer* writer) noexcept nogil:
    """All entries are written."""
    # event.n is still what event_begin wrote: the intercept, whose slot is always known
    event.n_found = max(event.n, min(writer.n, writer.n_same))
    event.n = writer.n
    event.n_longs = writer.n_longs
    event.same = not writer.changed and event.n_found == event.n == event.n_last
    if not event.same:
        event.scored_version = 0


cdef inline int event_candidates(Event* event, Py_ssize_t n) noexcept nogil:
    """Make room for the ends of n candidates and of a difference; -1 without memory.

    Call this before event_begin. Scores of another number of candidates are dropped.
    """
    cdef Py_ssize_t capacity = n + n // 2 + 4
    cdef void* p
    if n >= event.ends_capacity:
        p = realloc(event.ends, capacity * sizeof(Py_ssize_t))
        if p == NULL:
            return -1
        event.ends = <Py_ssize_t*> p
        event.ends_capacity = capacity
        event.scored_version = 0
    if n != event.n_candidates:
        event.n_candidates = n
        event.scored_version = 0
    return 0


cdef inline void event_candidate_end(Event* event, Py_ssize_t i,
                                     const Writer* writer) noexcept nogil:
    """Candidate i is written."""
    if event.ends[i] != writer.n:
        event.ends[i] = writer.n
        event.scored_version = 0


cdef inline Py_ssize_t event_first(const Event* event, Py_ssize_t i) noexcept nogil:
    """Where the entries of candidate i start; without candidates, where the event's do."""
    return event.ends[i - 1] if i else 0


cdef inline Py_ssize_t event_last(const Event* event, Py_ssize_t i) noexcept nogil:
    """And where they end."""
    return event.ends[i] if event.n_candidates else event.n


cdef inline Py_ssize_t event_extent(const Event* event) noexcept nogil:
    """Where the entries end of an event that has a step: candidates are followed by a difference.
    """
    return event_last(event, event.n_candidates)


cdef inline void event_settle(Event* event, const Index* index) noexcept nogil:
    """The path is done with the event: keep what the next one may be compared with.

    The bytes of a long key are the caller's, who may free them now: point at the index's copy, or
    forget the key where it has none.
    """
    cdef Py_ssize_t i, k
    for i in range(event.n_longs):
        k = event.longs[i]
        if index.bits == 0 and event.slots[k] != SLOT_NULL:
            event.keys[k].lo = index_stored(index, event.slots[k]).lo
        else:
            event.keys[k] = key_word(KEY_NONE, 0)
    event.generation = index.generation
    # a text's long keys lie in the arena, which the next event begins by clearing
    event.n_known = (0 if event.n_hashed else event.n_given if event.paired
                     else event.n_found)


cdef inline void event_again(Event* event, const Index* index, bint intercept) noexcept nogil:
    """Use a text's event again, which is still in scratch with its pairs."""
    if event.generation != index.generation:
        event.n_found = intercept
        event.scored_version = 0
