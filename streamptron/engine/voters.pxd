# What VotedPerceptron keeps: its updates by feature, and the turns of each label.
#
# engine/vote.pxd says what for. In short: an *update* is an event at which at least one label's
# perceptron has erred. Its features are kept as *mentions*, feature by feature, and each label that
# has erred keeps a *turn*:
#
#     feature   "free"    [ x 1, update 3, next "win" ] [ x 2, update 17, next .. ] ...
#               "win"     [ x 1, update 3, next - ] ...
#     update    3         time 120, first "free"
#     label     spam      [ a 1, B 1, update 3 ] [ a -1, B 0, update 5 ] ...
#               ham       [ a -1, B -1, update 3 ] ...
#
# The mentions of an update are linked from feature to feature, so that the oldest update is found
# and dropped without a search: its mention is the first of each of its features. A turn's B is the
# intercept after it. Of each block of 64 turns, and of 64 such blocks, the least and the largest B
# are kept:
#
#     turns     |t t t t ... t|t t t ... t|t t ...
#     spans     [ low   high  ][ low  high ] ...
#     wide      [ low                                   high ] ...
#
# Updates are numbered from 0 on, modulo 2^32; only their distance from the oldest is used. All
# queues grow at the end and shrink from the front. A mention takes 16 bytes, an update 16, a turn
# 24.
#
# Under a budget the oldest update is dropped when there is one too many; the time from which votes
# count, `since`, moves on to it.
#
# Functions in this file: voters_init, voters_free, voters_bytes, voters_updates, voters_features;
# voters_copy, voters_room, voters_split, voters_write (these may fail); voters_unsplit,
# mentions_take_back, voters_take; mentions_of and last_B to read; updates_room, turns_room,
# mention_all, turn_push for files; voters_fault for the tests.

from libc.string cimport memcpy, memmove, memset
from libc.math cimport isfinite
from streamptron.engine.heap cimport calloc, free, heap_bytes, malloc, realloc
from streamptron.engine.step cimport Step
from streamptron.engine.types cimport (
    CHUNK_BITS, CHUNK_MASK, CHUNK_SLOTS, SLOT_NULL, SLOTS_RESERVED, slot_t, uint32_t)

cdef enum:
    SPAN_BITS = 6
    SPAN = 1 << SPAN_BITS           # turns in a block, and blocks in a larger one
    SPANS = 1 << 2 * SPAN_BITS

cdef struct Mention:                # of a feature in an update
    double x
    uint32_t update
    slot_t next                      # the update's next feature; SLOT_NULL: it is the last

cdef struct Mentions:               # of one feature, the oldest first
    Mention* mentions
    uint32_t start
    uint32_t end
    uint32_t room

cdef struct Update:
    double time                     # before the event was counted
    slot_t first                     # of its features

cdef struct Turn:
    double a                        # Y u
    double B                        # after it
    uint32_t update

cdef struct Span:                   # of B after the turns of a block
    double low
    double high

cdef struct Voter:                  # an output's perceptron
    Turn* turns                     # behind them in memory are the spans
    Span* spans                     # of SPAN turns
    Span* wide                      # of SPANS
    Py_ssize_t start
    Py_ssize_t end
    Py_ssize_t room
    double B                        # before the first turn
    bint cut                        # turns have been dropped: the first vector is not zero

cdef struct Voters:
    int degree
    double b
    uint32_t budget                 # 0: none
    double now                      # the sum of the weights of all events
    double since
    Mentions** chunks               # by slot
    size_t n_chunks
    Update* updates
    Py_ssize_t start
    Py_ssize_t end
    Py_ssize_t room
    uint32_t number                 # of the oldest update
    Voter* voters                   # by output
    Py_ssize_t n_voters
    size_t bytes

cdef inline Py_ssize_t voters_updates(const Voters* v) noexcept nogil:
    """How many are kept."""
    return v.end - v.start


# --- A feature's mentions

cdef inline Mentions* mentions_of(const Voters* v, slot_t slot) noexcept nogil:
    """NULL: none of these features has been in an update."""
    cdef size_t chunk = slot >> CHUNK_BITS
    if chunk >= v.n_chunks or v.chunks[chunk] == NULL:
        return NULL
    return &v.chunks[chunk][slot & CHUNK_MASK]


cdef inline Mentions* _mentions_open(Voters* v, slot_t slot) noexcept nogil:
    """The same, made if need be; NULL without memory."""
    cdef size_t chunk = slot >> CHUNK_BITS, n
    cdef void* p
    if chunk >= v.n_chunks:
        n = chunk + chunk // 2 + 1
        p = realloc(v.chunks, n * sizeof(Mentions*))
        if p == NULL:
            return NULL
        v.chunks = <Mentions**> p
        memset(v.chunks + v.n_chunks, 0, (n - v.n_chunks) * sizeof(Mentions*))
        v.bytes += (n - v.n_chunks) * sizeof(Mentions*)
        v.n_chunks = n
    if v.chunks[chunk] == NULL:
        v.chunks[chunk] = <Mentions*> calloc(CHUNK_SLOTS, sizeof(Mentions))
        if v.chunks[chunk] == NULL:
            return NULL
        v.bytes += CHUNK_SLOTS * sizeof(Mentions)
    return &v.chunks[chunk][slot & CHUNK_MASK]


cdef inline int _mentions_resize(Voters* v, Mentions* m, uint32_t room) noexcept nogil:
    """Move them to the front of memory for `room` of them. Returns -1 without it."""
    cdef void* p
    if m.start < m.end:
        memmove(m.mentions, m.mentions + m.start, (m.end - m.start) * sizeof(Mention))
    m.end -= m.start
    m.start = 0
    if room == m.room:
        return 0
    p = realloc(m.mentions, room * sizeof(Mention))
    if p == NULL:
        return -1
    if m.room:
        v.bytes -= heap_bytes(m.room * sizeof(Mention))
    v.bytes += heap_bytes(room * sizeof(Mention))
    m.mentions = <Mention*> p
    m.room = room
    return 0


cdef inline Mentions* _mention_push(Voters* v, slot_t slot, double x,
                                    uint32_t update) noexcept nogil:
    """The mentions with a new one at their end; NULL without memory."""
    cdef Mentions* m = _mentions_open(v, slot)
    cdef Mention* mention
    if m == NULL:
        return NULL
    if m.end == m.room and _mentions_resize(
            v, m, m.room if m.start > m.room // 2 else max(<uint32_t> 1, 2 * m.room)) < 0:
        return NULL
    mention = &m.mentions[m.end]
    mention.x = x
    mention.update = update
    mention.next = SLOT_NULL
    m.end += 1
    return m


cdef inline void _mention_gone(Voters* v, Mentions* m) noexcept nogil:
    """After the first or the last one has left: give back what memory is not needed."""
    if m.start == m.end:
        v.bytes -= heap_bytes(m.room * sizeof(Mention))
        free(m.mentions)
        memset(m, 0, sizeof(Mentions))
    elif m.room >= 8 and m.end - m.start <= m.room // 4:
        _mentions_resize(v, m, m.room // 2)     # if that fails they are in order all the same


cdef inline void mentions_take_back(Voters* v, const slot_t* slots, Py_ssize_t n) noexcept nogil:
    """Take back the latest mention of each of these."""
    cdef Mentions* m
    while n > 0:
        n -= 1
        m = mentions_of(v, slots[n])
        m.end -= 1
        _mention_gone(v, m)


cdef inline int mention_all(Voters* v, uint32_t update, const slot_t* slots, const double* x,
                             Py_ssize_t n) noexcept nogil:
    """Mention an update's features, each pointing to the next. -1 without memory, and no change."""
    cdef Mentions* m
    cdef Mentions* last = NULL
    cdef Py_ssize_t i
    for i in range(n):
        m = _mention_push(v, slots[i], x[i], update)
        if m == NULL:
            mentions_take_back(v, slots, i)
            return -1
        if last != NULL:            # a feature named twice: the one before the end
            last.mentions[last.end - 1 - (last == m)].next = slots[i]
        last = m
    return 0


# --- A label's turns

cdef inline size_t _turns_size(Py_ssize_t room) noexcept nogil:
    return room * sizeof(Turn) + (room // SPAN + room // SPANS + 2) * sizeof(Span)


cdef inline void _span_add(Span* span, bint first, double B) noexcept nogil:
    if first:
        span.low = span.high = B
    elif B < span.low:
        span.low = B
    elif B > span.high:
        span.high = B


cdef inline void _turn_spans(Voter* voter, Py_ssize_t p) noexcept nogil:
    """Take the turn p, the last of those before it, into its blocks."""
    cdef double B = voter.turns[p].B
    _span_add(&voter.spans[p >> SPAN_BITS], p & (SPAN - 1) == 0, B)
    _span_add(&voter.wide[p >> 2 * SPAN_BITS], p & (SPANS - 1) == 0, B)


cdef inline void _turns_settle(Voter* voter, Turn* from_, Py_ssize_t room) noexcept nogil:
    """Move the turns to the front of voter.turns, which has this room."""
    cdef Py_ssize_t p
    if voter.start < voter.end:
        memmove(voter.turns, from_ + voter.start, (voter.end - voter.start) * sizeof(Turn))
    voter.end -= voter.start
    voter.start = 0
    voter.room = room
    voter.spans = <Span*> (voter.turns + room)
    voter.wide = voter.spans + room // SPAN + 1
    for p in range(voter.end):
        _turn_spans(voter, p)


cdef inline int turns_room(Voters* v, Voter* voter, Py_ssize_t n) noexcept nogil:
    """Room for n more turns. Returns -1 without memory."""
    cdef Turn* old = voter.turns
    cdef Py_ssize_t room
    if voter.end + n <= voter.room:
        return 0
    if n <= voter.start and voter.start > voter.room // 2:
        _turns_settle(voter, old, voter.room)
        return 0
    room = max(<Py_ssize_t> 8, max(2 * voter.room, voter.end - voter.start + n))
    voter.turns = <Turn*> malloc(_turns_size(room))
    if voter.turns == NULL:
        voter.turns = old
        return -1
    v.bytes += _turns_size(room) - (_turns_size(voter.room) if old != NULL else 0)
    _turns_settle(voter, old, room)
    free(old)
    return 0


cdef inline void turn_push(Voters* v, Voter* voter, double a, uint32_t update) noexcept nogil:
    """A turn for which there is room."""
    cdef Turn* turn = &voter.turns[voter.end]
    turn.a = a
    turn.B = (voter.turns[voter.end - 1].B if voter.end > voter.start else voter.B) + a * v.b
    turn.update = update
    _turn_spans(voter, voter.end)
    voter.end += 1


cdef inline int _voter_copy(Voters* v, Voter* to, const Voter* other, double sign) noexcept nogil:
    """The same, or with sign -1 its mirror image, with memory of its own; -1 without that."""
    cdef Py_ssize_t p
    memset(to, 0, sizeof(Voter))
    to.B = sign * other.B
    to.cut = other.cut
    if turns_room(v, to, other.end - other.start) < 0:
        return -1
    for p in range(other.start, other.end):
        to.turns[to.end].a = sign * other.turns[p].a
        to.turns[to.end].B = sign * other.turns[p].B
        to.turns[to.end].update = other.turns[p].update
        _turn_spans(to, to.end)
        to.end += 1
    return 0


cdef inline void _voter_free(Voters* v, Voter* voter) noexcept nogil:
    if voter.turns != NULL:
        v.bytes -= _turns_size(voter.room)
    free(voter.turns)
    memset(voter, 0, sizeof(Voter))


# --- All of it

cdef inline void voters_init(Voters* v, bint intercept) noexcept nogil:
    memset(v, 0, sizeof(Voters))
    v.degree = 1
    v.b = 1.0 if intercept else 0.0


cdef inline void voters_free(Voters* v) noexcept nogil:
    cdef size_t i, k
    for i in range(v.n_chunks):
        if v.chunks[i] != NULL:
            for k in range(<size_t> CHUNK_SLOTS):
                free(v.chunks[i][k].mentions)
            free(v.chunks[i])
    free(v.chunks)
    free(v.updates)
    for i in range(<size_t> v.n_voters):
        free(v.voters[i].turns)
    free(v.voters)
    v.chunks = NULL
    v.updates = NULL
    v.voters = NULL
    v.n_chunks = v.n_voters = v.start = v.end = v.room = 0
    v.bytes = 0


cdef inline size_t voters_bytes(const Voters* v) noexcept nogil:
    return v.bytes


cdef inline size_t voters_features(const Voters* v) noexcept nogil:
    """How many slots are mentioned."""
    cdef size_t i, k, n = 0
    for i in range(v.n_chunks):
        for k in range(<size_t> CHUNK_SLOTS if v.chunks[i] != NULL else 0):
            n += v.chunks[i][k].end > v.chunks[i][k].start
    return n


cdef inline int voters_room(Voters* v, Py_ssize_t n) noexcept nogil:
    """A voter for each of n outputs. Returns -1 without memory."""
    cdef Py_ssize_t room = max(n, v.n_voters + v.n_voters // 2)
    cdef void* p
    if n <= v.n_voters:
        return 0
    p = realloc(v.voters, room * sizeof(Voter))
    if p == NULL:
        return -1
    v.voters = <Voter*> p
    memset(v.voters + v.n_voters, 0, (room - v.n_voters) * sizeof(Voter))
    v.bytes += (room - v.n_voters) * sizeof(Voter)
    v.n_voters = room
    return 0


cdef inline int updates_room(Voters* v, Py_ssize_t n) noexcept nogil:
    """Room for n more updates. Returns -1 without memory."""
    cdef Py_ssize_t room
    cdef void* p
    if v.end + n <= v.room:
        return 0
    if n <= v.start and v.start > v.room // 2:
        memmove(v.updates, v.updates + v.start, voters_updates(v) * sizeof(Update))
        v.end -= v.start
        v.start = 0
        return 0
    room = max(2 * v.room, v.end + n + 7)
    p = realloc(v.updates, room * sizeof(Update))
    if p == NULL:
        return -1
    v.bytes += (room - v.room) * sizeof(Update)
    v.updates = <Update*> p
    v.room = room
    return 0


cdef inline int voters_copy(Voters* to, const Voters* other) noexcept nogil:
    """The same with memory of its own; -1 without it, and voters_free is due in either case."""
    cdef size_t i, k
    cdef Py_ssize_t n
    cdef const Mentions* from_
    cdef Mentions* m
    to[0] = other[0]
    to.chunks = NULL
    to.updates = NULL
    to.voters = NULL
    to.n_chunks = to.n_voters = to.start = to.end = to.room = 0
    to.bytes = 0
    if voters_room(to, other.n_voters) < 0 or updates_room(to, voters_updates(other)) < 0:
        return -1
    if voters_updates(other):
        memcpy(to.updates, other.updates + other.start, voters_updates(other) * sizeof(Update))
    to.end = voters_updates(other)
    for n in range(other.n_voters):
        if _voter_copy(to, &to.voters[n], &other.voters[n], 1.0) < 0:
            return -1
    for i in range(other.n_chunks):
        for k in range(<size_t> CHUNK_SLOTS if other.chunks[i] != NULL else 0):
            from_ = &other.chunks[i][k]
            if from_.start == from_.end:
                continue
            m = _mentions_open(to, <slot_t> (i << CHUNK_BITS | k))
            if m == NULL or _mentions_resize(to, m, from_.end - from_.start) < 0:
                return -1
            m.end = from_.end - from_.start
            memcpy(m.mentions, from_.mentions + from_.start, m.end * sizeof(Mention))
    return 0


cdef inline int voters_split(Voters* v, int positive) noexcept nogil:
    """Two labels get an output each: the positive one's, and its mirror image.

    Returns -1 without memory, and nothing has changed.
    """
    cdef Voter mirror, voter
    if voters_room(v, 2) < 0:
        return -1
    if _voter_copy(v, &mirror, &v.voters[0], -1.0) < 0:
        return -1
    voter = v.voters[0]
    v.voters[positive] = voter
    v.voters[1 - positive] = mirror
    return 0


cdef inline void voters_unsplit(Voters* v, int positive) noexcept nogil:
    """One output again."""
    cdef Voter voter = v.voters[positive]
    _voter_free(v, &v.voters[1 - positive])
    v.voters[0] = voter
    memset(&v.voters[1], 0, sizeof(Voter))


# --- Learning

cdef inline int voters_write(Voters* v, const slot_t* slots, const double* x, Py_ssize_t n,
                             const Step* step, Py_ssize_t n_outputs) noexcept nogil:
    """All of an update that can fail: its features, and room. -1 without memory, and no change."""
    cdef int k
    if voters_room(v, n_outputs) < 0:
        return -1
    if step.n == 0:
        return 0
    if voters_updates(v) == <Py_ssize_t> 0xFFFFFFFF or updates_room(v, 1) < 0:
        return -1
    for k in range(step.n):
        if turns_room(v, &v.voters[step.moves[k].output], 1) < 0:
            return -1
    return mention_all(v, v.number + <uint32_t> voters_updates(v), slots, x, n)


cdef inline void _drop(Voters* v) noexcept nogil:
    """The oldest update leaves, and with it the votes of the vectors that stood before it."""
    cdef Update* update = &v.updates[v.start]
    cdef slot_t slot = update.first
    cdef Mentions* m
    cdef Voter* voter
    cdef Py_ssize_t k
    while slot != SLOT_NULL:
        m = mentions_of(v, slot)
        slot = m.mentions[m.start].next
        m.start += 1
        _mention_gone(v, m)
    for k in range(v.n_voters):
        voter = &v.voters[k]
        if voter.start < voter.end and voter.turns[voter.start].update == v.number:
            voter.B = voter.turns[voter.start].B
            voter.start += 1
            voter.cut = True
    v.since = update.time
    v.start += 1
    v.number += 1


cdef inline void voters_take(Voters* v, const slot_t* slots, Py_ssize_t n, const Step* step,
                             double u) noexcept nogil:
    """Count an event of weight u, with the update that has been written if the step is one."""
    cdef uint32_t number = v.number + <uint32_t> voters_updates(v)
    cdef Update* update
    cdef int k
    if step.n:
        update = &v.updates[v.end]
        update.time = v.now
        update.first = slots[0] if n else <slot_t> SLOT_NULL
        v.end += 1
        for k in range(step.n):
            turn_push(v, &v.voters[step.moves[k].output], step.moves[k].a, number)
        if v.budget and voters_updates(v) > <Py_ssize_t> v.budget:
            _drop(v)
    v.now += u


cdef inline double last_B(const Voter* voter) noexcept nogil:
    return voter.turns[voter.end - 1].B if voter.end > voter.start else voter.B


# --- For the tests

cdef inline const char* _mentions_fault(const Voters* v, slot_t n_slots, size_t* n,
                                        size_t* bytes) noexcept nogil:
    """What is wrong with a feature's mentions, or NULL; how many there are, and their memory."""
    cdef size_t i, k
    cdef uint32_t j, update, last
    cdef const Mentions* m
    for i in range(v.n_chunks):
        for k in range(<size_t> CHUNK_SLOTS if v.chunks[i] != NULL else 0):
            m = &v.chunks[i][k]
            bytes[0] += heap_bytes(m.room * sizeof(Mention)) if m.room else 0
            if m.start > m.end or m.end > m.room:
                return "a feature has more mentions than room"
            if m.start < m.end and not (
                    <size_t> SLOTS_RESERVED <= (i << CHUNK_BITS | k) < <size_t> n_slots):
                return "a slot that is not in use is mentioned"
            last = 0
            for j in range(m.start, m.end):
                update = m.mentions[j].update - v.number
                if update < last or update >= <size_t> voters_updates(v):
                    return "a feature's mentions are not in order"
                if m.mentions[j].x == 0.0 or not isfinite(m.mentions[j].x):
                    return "a mention has no value"
                last = update
            n[0] += m.end - m.start
    return NULL


cdef inline const char* _updates_walk(const Voters* v, size_t n_mentions,
                                      uint32_t* met) noexcept nogil:
    """Go from feature to feature of every update; met[slot]: how many of its mentions were met."""
    cdef const Mentions* m
    cdef const Mention* mention
    cdef slot_t slot
    cdef Py_ssize_t k
    cdef double time = v.since
    for k in range(v.start, v.end):
        if not time <= v.updates[k].time <= v.now:
            return "the updates are not in the order of their times"
        time = v.updates[k].time
        slot = v.updates[k].first
        while slot != SLOT_NULL:
            m = mentions_of(v, slot)
            if m == NULL or m.start + met[slot] >= m.end:
                return "an update has a feature that does not mention it"
            mention = &m.mentions[m.start + met[slot]]
            if mention.update - v.number != <uint32_t> (k - v.start):
                return "an update has a feature that does not mention it"
            met[slot] += 1
            n_mentions -= 1
            slot = mention.next
    if n_mentions:
        return "a mention is of no update"
    return NULL


cdef inline const char* _turns_fault(const Voters* v, const Voter* voter) noexcept nogil:
    """What is wrong with a label's turns, or NULL."""
    cdef Py_ssize_t p, size
    cdef double B = voter.B
    cdef Span span
    cdef const Turn* turn
    if not 0 <= voter.start <= voter.end <= voter.room:
        return "a label has more turns than room"
    if voter.cut and not v.budget or voter.B != 0.0 and not voter.cut:
        return "a label has lost turns that nobody has dropped"
    for p in range(voter.start, voter.end):
        turn = &voter.turns[p]
        if turn.update - v.number >= <size_t> voters_updates(v) or (
                p > voter.start and turn.update - v.number <= voter.turns[p - 1].update - v.number):
            return "a label's turns are not in order"
        if turn.a == 0.0 or not isfinite(turn.a) or turn.B != B + turn.a * v.b:
            return "an intercept is not the sum of the steps up to it"
        B = turn.B
    # a block's B are all that have been in it, also of turns that have been dropped since
    for p in range(voter.end):
        for size in range(2):
            span = (voter.wide[p >> 2 * SPAN_BITS] if size else voter.spans[p >> SPAN_BITS])
            if not span.low <= voter.turns[p].B <= span.high:
                return "an intercept is not within its block's"
    return NULL


cdef inline const char* voters_fault(const Voters* v, Py_ssize_t n_outputs,
                                     slot_t n_slots) noexcept nogil:
    """What is wrong with them, or NULL. It checks everything."""
    cdef size_t n_mentions = 0, i
    cdef size_t bytes = (v.n_chunks * sizeof(Mentions*) + v.room * sizeof(Update)
                         + v.n_voters * sizeof(Voter))
    cdef const char* fault = _mentions_fault(v, n_slots, &n_mentions, &bytes)
    cdef uint32_t* met
    cdef Py_ssize_t k
    if fault != NULL:
        return fault
    if not 0 <= v.start <= v.end <= v.room or (
            v.budget and voters_updates(v) > <Py_ssize_t> v.budget):
        return "there are more updates than there may be"
    met = <uint32_t*> calloc(v.n_chunks * CHUNK_SLOTS + 1, sizeof(uint32_t))
    if met == NULL:
        return "there is no memory to check the updates"
    fault = _updates_walk(v, n_mentions, met)
    free(met)
    for k in range(v.n_voters):
        if fault == NULL:
            fault = _turns_fault(v, &v.voters[k])
        if fault == NULL and k >= n_outputs and v.voters[k].end > v.voters[k].start:
            fault = "a label that is not there has turns"
        bytes += _turns_size(v.voters[k].room) if v.voters[k].turns != NULL else 0
    for i in range(v.n_chunks):
        bytes += CHUNK_SLOTS * sizeof(Mentions) if v.chunks[i] != NULL else 0
    if fault == NULL and bytes != v.bytes:
        fault = "the updates' memory is not what has been counted"
    return fault
