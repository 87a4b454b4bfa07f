# The weights: a slot of doubles for each feature, and what is kept beside each weight.
#
# A feature has one short slot. In it each output has its fields side by side, so that one cache
# line answers for every kept vector:
#
#     w       the current weight
#     v       the averaging term              (if average is not NONE)
#     p, e    the pocket's copy and its stamp (if pocket)
#     k       what the rule keeps             (if it keeps anything, see keep.h)
#
# The learner declares which of these it wants (`table_init`), a Layout says where each of them is,
# and nothing else knows the widths. The loops over slots are in kernels.h.
#
#     block of 1 output (binary)        block of 4 outputs (multiclass)
#     slot i   [ w v ]                  slot i   [ w v ][ w v ][ w v ][ w v ]    64 bytes, one line
#
# More than four outputs take several blocks, each a chunked array of its own. So a new label moves
# no slot, however many features there are. A chunk of 256 slots is made when it is first written.
# Until then its place points to a chunk of zeros that all tables share, so that reading needs no
# test.
#
# The running average. Every average we want has the form avg_t = (1 - a_t) avg_{t-1} + a_t w_t. Let
# D = w - avg; then D_t = (1 - a_t)(D_{t-1} + delta_t). So D = s v, with one scalar s for the whole
# table and a v that changes only where w does:
#
#     on an update   w += delta,  v += delta / s
#     on every event              s *= 1 - a_t
#     to read        avg = w - s v
#
# UNIFORM: a_t = 1/(t+1) gives s = 1/c with c = t + 1, v = u: the mean of w_0 .. w_T, algorithm 7 of
# Daume's A Course in Machine Learning. c is kept instead of s because it is exact.
#
# EXPONENTIAL: a constant a, s = (1-a)^t. Before s gets too small to divide by, it is multiplied by
# 2^256 and a fold is counted. A chunk remembers how many folds its v have seen. It is read with the
# factor that it lacks, and catches up when it is next written. These are powers of two, so nothing
# is rounded, and no sweep over all features is needed.
#
# The pocket. A snapshot copies nothing: it increments the table's epoch. A weight saves its old
# value when it is first written after a snapshot, so pocket = p if e == epoch else w.
#
# Functions in this file: table_init, table_init_adaptive, table_add_outputs, table_reserve_places,
# table_reserve_blocks and table_reserve (all but the first may fail), table_free; table_scores,
# table_scores_through, table_has_places, table_can_write, table_place, table_second, table_add,
# table_tick, table_snapshot; table_read, table_write, table_wrote, table_sizes, table_prefetch,
# table_clear; table_blocks, table_chunk, table_keeps, table_set_chunk, table_set_folds; entries_of,
# chunk_bytes. What goes through the whole table is in engine/tables.pxd.

from libc.math cimport exp2
from libc.stdint cimport int32_t, intptr_t
from libc.string cimport memset
from streamptron.engine.types cimport (
    CHUNK_BITS, CHUNK_MASK, CHUNK_SLOTS, SLOT_INTERCEPT, SLOT_NULL, prefetch_lines, slot_t,
    uint32_t)
from streamptron.engine.heap cimport free, realloc
from streamptron.engine.keep cimport KEEP_NONE, keep_share
from streamptron.engine.kernels cimport (
    AHEAD, AVERAGE_EXPONENTIAL, AVERAGE_NONE, AVERAGE_UNIFORM, BLOCKS_AT_ONCE, FOLD_BITS, LANES,
    SUM_P, SUM_V, SUM_W, SUMS, ZEROS, Clock, Entries, Lanes, Layout, Slots, add_one, add_several,
    average_kept, average_of, catch_up, layout_of, pocket_kept, second_one, second_several,
    size_one, size_several, sum_blocks, sum_one, sum_pair, sum_several)
from streamptron.engine.places cimport (
    Places, places_ahead, places_bytes, places_free, places_next, places_open, places_room)
from streamptron.engine.pool cimport Pool, pool_free, pool_give, pool_init, pool_take
from streamptron.engine.step cimport Move

cdef extern from "adaptive_slots.h":
    enum:
        HEAD_WIDTH "SP_HEAD_WIDTH"

    ctypedef struct Blocks "sp_blocks":
        const void* first
        size_t size

    Py_ssize_t blocks_for "sp_blocks_for" (Py_ssize_t outputs) noexcept nogil
    double adaptive_size "sp_size" (
        const Blocks* blocks, slot_t slot, Py_ssize_t outputs) noexcept nogil

cdef enum:
    KEPT_CURRENT = 0                # the vectors that can be read, in this order everywhere
    KEPT_AVERAGE = 1
    KEPT_POCKET = 2
    KEPT_KINDS = 3

    FAR = 1 << 20                   # bytes of a table whose slots are prefetched

    SLOTS_WEIGHTS = 0               # what a slot is: an output's fields side by side
    SLOTS_ADAPTIVE = 1              # see engine/adaptive.pxd

cdef struct Block:
    double** chunks                 # table.zeros: not written yet
    uint32_t* folds                 # folds each chunk has seen (EXPONENTIAL only)
    Places of_chunks                # the growth of these two
    Places of_folds

cdef struct Table:
    int slot_kind                   # SLOTS_
    int average
    Layout layout                   # of an output's doubles
    int lanes                       # outputs per block
    int width                       # doubles per slot of a block
    bint borrowed                   # all chunks lie in a file, and none may be written
    bint whole                      # there will be no more chunk places
    Py_ssize_t n_outputs
    Py_ssize_t n_blocks
    Block* blocks
    double* zeros                   # a chunk that is never written, and not the table's own
    size_t n_chunks                 # chunk places in every block, at least one
    double c                        # UNIFORM: 1 + events seen
    double s                        # EXPONENTIAL: D = s v
    double fade                     # EXPONENTIAL: 1 - a
    uint32_t fold
    double epoch                    # of the pocket: snapshots so far, plus one
    Pool pool                       # of chunks
    size_t bytes                    # what the table holds from the heap, without the pool


cdef inline size_t chunk_bytes(const Table* table) noexcept nogil:
    return CHUNK_SLOTS * table.width * sizeof(double)


cdef inline void table_init(Table* table, int average, double half_life, bint pocket, int keep,
                            bint several, bint scattered) noexcept nogil:
    """`keep`: what the rule keeps. `several`: outputs come in blocks of LANES; otherwise there is
    one. `scattered`: see pool_init.
    """
    memset(table, 0, sizeof(Table))
    pool_init(&table.pool, scattered)
    table.average = average
    table.layout = layout_of(average, pocket, keep)
    table.lanes = LANES if several else 1
    table.width = table.layout.fields * table.lanes
    table.c = 1.0
    table.s = 1.0
    table.fade = exp2(-1.0 / half_life)
    table.epoch = 1.0
    table.n_chunks = 1
    table.zeros = ZEROS


cdef inline int table_init_adaptive(Table* table, bint scattered) noexcept nogil:
    """A table of AdaptiveClassifier's slots, of one output. Returns -1 without memory."""
    table_init(table, AVERAGE_NONE, 1.0, False, KEEP_NONE, False, scattered)
    table.slot_kind = SLOTS_ADAPTIVE
    table.width = HEAD_WIDTH
    return table_add_outputs(table, 1)


cdef inline Py_ssize_t _blocks_for(const Table* table, Py_ssize_t n_outputs) noexcept nogil:
    if table.slot_kind == SLOTS_ADAPTIVE:
        return blocks_for(n_outputs)
    return (n_outputs + table.lanes - 1) // table.lanes


cdef inline void _block_free(Block* block) noexcept nogil:
    places_free(&block.of_chunks, block.chunks)
    places_free(&block.of_folds, block.folds)


cdef inline void table_free(Table* table) noexcept nogil:
    cdef Py_ssize_t b
    for b in range(table.n_blocks):
        _block_free(&table.blocks[b])
    free(table.blocks)
    pool_free(&table.pool)
    table.blocks = NULL
    table.n_blocks = 0
    table.n_chunks = 0
    table.bytes = 0


cdef inline void _block_fill(const Table* table, Block* block, size_t first,
                             size_t last) noexcept nogil:
    """Let the places first .. last - 1 point to zeros."""
    cdef size_t i
    for i in range(first, last):
        block.chunks[i] = table.zeros
        if table.average == AVERAGE_EXPONENTIAL:
            block.folds[i] = 0


cdef inline int _block_open(Table* table, Block* block, size_t first, size_t n) noexcept nogil:
    """Make room for n chunk places in a block that has `first`. Returns -1 without memory."""
    cdef size_t capacity = n if table.whole else places_ahead(n)
    cdef void* p = places_open(&block.of_chunks, block.chunks, sizeof(double*), capacity,
                               &table.bytes)
    if p == NULL:
        return -1
    block.chunks = <double**> p
    if table.average == AVERAGE_EXPONENTIAL:
        p = places_open(&block.of_folds, block.folds, sizeof(uint32_t), capacity,
                        &table.bytes)
        if p == NULL:
            return -1
        block.folds = <uint32_t*> p
    _block_fill(table, block, first, n)
    return 0


cdef inline int table_add_outputs(Table* table, Py_ssize_t n) noexcept nogil:
    """Add n outputs with weights of zero. Returns -1 without memory."""
    cdef Py_ssize_t blocks = _blocks_for(table, table.n_outputs + n)
    cdef void* p
    if blocks > table.n_blocks:
        p = realloc(table.blocks, blocks * sizeof(Block))
        if p == NULL:
            return -1
        table.blocks = <Block*> p
        while table.n_blocks < blocks:
            memset(&table.blocks[table.n_blocks], 0, sizeof(Block))
            if _block_open(table, &table.blocks[table.n_blocks], 0, table.n_chunks) < 0:
                table.bytes -= places_bytes(&table.blocks[table.n_blocks].of_chunks)
                _block_free(&table.blocks[table.n_blocks])
                return -1
            table.bytes += sizeof(Block)
            table.n_blocks += 1
    table.n_outputs += n
    return 0


cdef inline int table_reserve_places(Table* table, size_t places, bint whole) noexcept nogil:
    """Make room for `places` chunks; `whole`: there will be no more. -1 without memory."""
    cdef Py_ssize_t b
    table.whole = whole
    if places <= table.n_chunks:
        return 0
    for b in range(table.n_blocks):
        if _block_open(table, &table.blocks[b], table.n_chunks, places) < 0:
            return -1
    table.n_chunks = places
    return 0


cdef inline int _place_add(Table* table) noexcept nogil:
    """Add a place to every block. Returns -1 without memory."""
    cdef Py_ssize_t b
    cdef Block* block
    cdef void* p
    for b in range(table.n_blocks):
        block = &table.blocks[b]
        p = places_room(&block.of_chunks, block.chunks, table.n_chunks, &table.bytes)
        if p == NULL:
            return -1
        block.chunks = <double**> p
        if table.average == AVERAGE_EXPONENTIAL:
            p = places_room(&block.of_folds, block.folds, table.n_chunks, &table.bytes)
            if p == NULL:
                return -1
            block.folds = <uint32_t*> p
        _block_fill(table, block, table.n_chunks, table.n_chunks + 1)
    table.n_chunks += 1
    return 0


cdef inline void table_set_chunk(Block* block, size_t chunk, double* slots) noexcept nogil:
    cdef double** next = <double**> places_next(&block.of_chunks, chunk)
    block.chunks[chunk] = slots
    if next != NULL:
        next[0] = slots


cdef inline void table_set_folds(Block* block, size_t chunk, uint32_t folds) noexcept nogil:
    cdef uint32_t* next = <uint32_t*> places_next(&block.of_folds, chunk)
    block.folds[chunk] = folds
    if next != NULL:
        next[0] = folds


cdef struct Fresh:                  # stored in a new chunk until all new chunks are there
    Fresh* next
    Py_ssize_t block
    size_t chunk


cdef inline int _reserve(Table* table, const slot_t* slots, Py_ssize_t n, Py_ssize_t b,
                         Fresh** latest) noexcept nogil:
    """Make the chunks of a block for these slots, each a link of a chain. -1 without memory."""
    cdef Py_ssize_t i
    cdef Block* block = &table.blocks[b]
    cdef Fresh* made
    for i in range(n):
        if block.chunks[slots[i] >> CHUNK_BITS] == table.zeros:
            made = <Fresh*> pool_take(&table.pool, chunk_bytes(table))
            if made == NULL:
                return -1
            made.next = latest[0]
            made.block = b
            made.chunk = slots[i] >> CHUNK_BITS
            latest[0] = made
            table_set_chunk(block, made.chunk, <double*> made)
            if table.average == AVERAGE_EXPONENTIAL:
                table_set_folds(block, made.chunk, table.fold)
    return 0


cdef inline int _reserve_end(Table* table, Fresh* made, bint failed) noexcept nogil:
    """Turn the links of the chain into slots; or give them back if it has failed."""
    cdef Fresh fresh
    while made != NULL:
        fresh = made[0]
        memset(made, 0, sizeof(Fresh))
        if failed:
            table_set_chunk(&table.blocks[fresh.block], fresh.chunk, table.zeros)
            pool_give(&table.pool, made, chunk_bytes(table))
        made = fresh.next
    return -1 if failed else 0


cdef inline int _places_to(Table* table, slot_t n_slots) noexcept nogil:
    """Make room for the chunks of n_slots slots. Returns -1 without memory."""
    while (n_slots - 1) >> CHUNK_BITS >= table.n_chunks:
        if _place_add(table) < 0:
            return -1
    return 0


cdef inline int table_reserve_blocks(Table* table, const slot_t* slots, Py_ssize_t n,
                                     slot_t n_slots, const uint32_t* blocks,
                                     Py_ssize_t n_blocks) noexcept nogil:
    """Make sure that these slots, all below n_slots, can be written in these blocks.

    Returns -1 without memory; then no chunk has been made.
    """
    cdef Fresh* made = NULL
    cdef Py_ssize_t i
    if _places_to(table, n_slots) < 0:
        return -1
    for i in range(n_blocks):
        if _reserve(table, slots, n, blocks[i], &made) < 0:
            return _reserve_end(table, made, True)
    return _reserve_end(table, made, False)


cdef inline int table_reserve(Table* table, const slot_t* slots, Py_ssize_t n, slot_t n_slots,
                              const Move* moves, int n_moves) noexcept nogil:
    """The same for the outputs of these moves."""
    cdef Fresh* made = NULL
    cdef int i
    if _places_to(table, n_slots) < 0:
        return -1
    for i in range(n_moves):
        if i > 0 and moves[i].output // table.lanes == moves[i - 1].output // table.lanes:
            continue                # the same slots of the same block
        if _reserve(table, slots, n, moves[i].output // table.lanes, &made) < 0:
            return _reserve_end(table, made, True)
    return _reserve_end(table, made, False)


cdef inline Clock _clock(const Table* table) noexcept nogil:
    """What has changed with time, for the kernels."""
    cdef Clock clock
    clock.average = table.average
    clock.c = table.c
    clock.s = table.s
    clock.fold = table.fold
    clock.epoch = table.epoch
    return clock


cdef inline Slots _slots(const Block* block) noexcept nogil:
    cdef Slots slots
    slots.chunks = block.chunks
    slots.folds = block.folds
    return slots


cdef inline Entries entries_of(const slot_t* slots, const double* x, Py_ssize_t n) noexcept nogil:
    cdef Entries entries
    entries.slots = slots
    entries.columns = NULL
    entries.places = NULL
    entries.x = x
    entries.n = n
    return entries


cdef inline bint _is_plain(const Table* table) noexcept nogil:
    """The everyday case: each weight has one number beside it, and both are summed alike."""
    return BLOCKS_AT_ONCE and table.layout.fields == 2 and table.average != AVERAGE_EXPONENTIAL


cdef inline void _write_scores(const Table* table, Clock clock, double w, double v, double p,
                               Py_ssize_t n, double* scores) noexcept nogil:
    """The scores, from the sums of an output's weights, averaging terms and pocket."""
    scores[KEPT_CURRENT * n] = w
    if table.average != AVERAGE_NONE:
        scores[KEPT_AVERAGE * n] = average_of(clock, table.average, w, v)
    if table.layout.p >= 0:
        scores[KEPT_POCKET * n] = p


cdef inline void _score_one(const Table* table, const Entries* entries, bint intercept,
                            Py_ssize_t n_scores, double* scores) noexcept nogil:
    """The scores of a table of one output."""
    cdef Clock clock = _clock(table)
    cdef Slots block
    cdef double sums[SUMS]
    if _is_plain(table):
        sum_pair(&table.blocks[0].chunks, entries, intercept, 0, sums)
        _write_scores(table, clock, sums[0], sums[1], 0.0, n_scores, scores)
        return
    block = _slots(&table.blocks[0])
    sum_one(&block, &clock, entries, intercept, sums, &table.layout)
    _write_scores(table, clock, sums[SUM_W], sums[SUM_V], sums[SUM_P], n_scores, scores)


cdef inline void _score_several(const Table* table, const Entries* entries, Py_ssize_t n_scores,
                                double* scores) noexcept nogil:
    """The scores of a table of several outputs, a few blocks at a time."""
    cdef Clock clock = _clock(table)
    cdef double sums[4 * SUMS * LANES]
    cdef double** chunks[4]
    cdef Slots block
    cdef bint far = table.pool.used >= FAR
    cdef Py_ssize_t first = 0, b, g, k
    if _is_plain(table):
        while first < table.n_blocks:
            g = min(table.n_blocks - first, <Py_ssize_t> BLOCKS_AT_ONCE)
            for b in range(g):
                chunks[b] = table.blocks[first + b].chunks
            sum_blocks(<int> g, chunks, entries, entries.n - AHEAD if far else 0, sums)
            for k in range(min(g * LANES, table.n_outputs - first * LANES)):
                _write_scores(table, clock, sums[2 * k], sums[2 * k + 1], 0.0, n_scores,
                              scores + first * LANES + k)
            first += g
        return
    for b in range(table.n_blocks):
        block = _slots(&table.blocks[b])
        sum_several(&block, &clock, entries, sums, &table.layout, far)
        for k in range(min(<Py_ssize_t> LANES, table.n_outputs - b * LANES)):
            _write_scores(table, clock, sums[SUMS * k + SUM_W], sums[SUMS * k + SUM_V],
                          sums[SUMS * k + SUM_P], n_scores, scores + b * LANES + k)


cdef inline void table_scores(const Table* table, const slot_t* slots, const double* x,
                              Py_ssize_t n, Py_ssize_t n_scores, double* scores) noexcept nogil:
    """Write scores[kind * n_scores + output] for the kinds that are kept, KEPT_CURRENT always."""
    cdef Entries entries = entries_of(slots, x, n)
    if table.lanes == 1:
        _score_one(table, &entries, False, n_scores, scores)
    else:
        _score_several(table, &entries, n_scores, scores)


cdef inline void table_scores_through(const Table* table, const Entries* entries, bint intercept,
                                      double* scores) noexcept nogil:
    """The same for a table of one output, and entries by column, whose slots or places are known.

    `intercept`: an entry of value 1 in the intercept's slot comes before the given ones.
    """
    _score_one(table, entries, intercept, 1, scores)


cdef inline double* _lane(const Table* table, slot_t slot, Py_ssize_t output) noexcept nogil:
    """The fields of one weight, whose chunk must have a place."""
    return (table.blocks[output // table.lanes].chunks[slot >> CHUNK_BITS]
            + (slot & CHUNK_MASK) * table.width + (output % table.lanes) * table.layout.fields)


cdef inline bint table_has_places(const Table* table) noexcept nogil:
    """Whether a slot's place is enough for scores and steps. With folds its chunk is needed too."""
    return (table.lanes == 1 and table.slot_kind == SLOTS_WEIGHTS
            and table.average != AVERAGE_EXPONENTIAL)


cdef inline bint table_can_write(const Table* table, slot_t slot) noexcept nogil:
    """Whether a slot of a table of one output can be written: it has a chunk, and is not null."""
    return slot != SLOT_NULL and slot >> CHUNK_BITS < table.n_chunks and (
        table.blocks[0].chunks[slot >> CHUNK_BITS] != table.zeros)


cdef inline bint table_place(const Table* table, slot_t slot, int32_t* place) noexcept nogil:
    """The place of a slot in a table of one output: its distance from the null slot, in doubles.

    0, the null slot's own place, for a slot that cannot be written. False if it is too far away.
    """
    cdef intptr_t behind = 0
    if table_can_write(table, slot):
        behind = (<intptr_t> _lane(table, slot, 0) - <intptr_t> table.blocks[0].chunks[0]) >> 3
    place[0] = <int32_t> behind
    return place[0] == behind


cdef inline bint table_keeps(const Table* table, int kind) noexcept nogil:
    if kind == KEPT_AVERAGE:
        return table.average != AVERAGE_NONE
    return kind == KEPT_CURRENT or table.layout.p >= 0


cdef inline void _catch_up(Table* table, Py_ssize_t block, const Entries* entries,
                           bint intercept) noexcept nogil:
    """EXPONENTIAL, before a write: bring the averaging terms of the chunks to the table's fold."""
    cdef Block* of = &table.blocks[block]
    cdef Py_ssize_t i
    cdef slot_t at
    cdef size_t chunk
    for i in range(-1 if intercept else 0, entries.n):
        at = (<slot_t> SLOT_INTERCEPT if i < 0 else entries.slots[i] if entries.columns == NULL
              else entries.slots[entries.columns[i]])
        chunk = at >> CHUNK_BITS
        if of.folds[chunk] != table.fold:
            catch_up(of.chunks[chunk], table.fold - of.folds[chunk], table.lanes, &table.layout)
            table_set_folds(of, chunk, table.fold)


cdef inline Py_ssize_t _lanes_of(const Table* table, const Move* move, const Move* end, double r,
                                 Lanes* lanes) noexcept nogil:
    """Collect the leading moves that are in one block. Returns that block."""
    cdef Py_ssize_t block = move.output // table.lanes
    lanes.m = 0
    lanes.r = r
    while move < end and move.output // table.lanes == block:
        lanes.lane[lanes.m] = <int> (move.output % table.lanes)
        lanes.a[lanes.m] = move.a
        lanes.second[lanes.m] = move.second
        lanes.m += 1
        move += 1
    return block


cdef inline void table_second(const Table* table, const Entries* entries, bint intercept,
                              Move* move, Py_ssize_t m) noexcept nogil:
    """The second sums of an event for m of its moves; see keep.h. `intercept`: as in table_add.

    For an output that is still to be added, nothing has been kept yet.
    """
    cdef Clock clock = _clock(table)
    cdef Slots of
    cdef Lanes lanes
    cdef Move* end = move + m
    cdef Py_ssize_t i
    while move < end and move.output < table.n_outputs:
        of = _slots(&table.blocks[_lanes_of(table, move, end, 0.0, &lanes)])
        if table.lanes == 1:
            second_one(&of, &clock, entries, intercept, lanes.second, &table.layout)
        else:
            second_several(&of, &clock, entries, lanes.lane, lanes.second, lanes.m, &table.layout)
        for i in range(lanes.m):
            move[i].second = lanes.second[i]
        move += lanes.m
    while move < end:
        move.second = keep_share(table.layout.keep, 1.0, 0.0) if intercept else 0.0
        for i in range(entries.n):
            move.second += keep_share(table.layout.keep, entries.x[i], 0.0)
        move += 1


cdef inline void table_add(Table* table, const Entries* entries, bint intercept, const Move* move,
                           Py_ssize_t m, double r) noexcept nogil:
    """Apply m moves of an event: w += a x for each, and update average, pocket and rule's numbers.

    The slots must be reserved. The event is walked once for each block that moves. `intercept`: as
    in table_scores_through.
    """
    cdef Clock clock = _clock(table)
    cdef Slots of
    cdef Lanes lanes
    cdef const Move* end = move + m
    cdef Py_ssize_t block
    while move < end:
        block = _lanes_of(table, move, end, r, &lanes)
        of = _slots(&table.blocks[block])
        if table.average == AVERAGE_EXPONENTIAL:
            _catch_up(table, block, entries, intercept)
        if table.lanes == 1:
            add_one(&of, &clock, entries, intercept, &lanes, &table.layout)
        else:
            add_several(&of, &clock, entries, &lanes, &table.layout)
        move += lanes.m


cdef inline void table_tick(Table* table) noexcept nogil:
    """Advance the averages' clock by one event."""
    if table.average == AVERAGE_UNIFORM:
        table.c += 1.0
    elif table.average == AVERAGE_EXPONENTIAL:
        table.s *= table.fade
        if table.s < exp2(-<double> FOLD_BITS):
            table.s *= exp2(<double> FOLD_BITS)
            table.fold += 1


cdef inline void table_snapshot(Table* table) noexcept nogil:
    """Put the current weights into the pocket."""
    table.epoch += 1.0


cdef inline double table_read(const Table* table, slot_t slot, Py_ssize_t output,
                              int kind) noexcept nogil:
    """One weight of one kept vector."""
    cdef size_t chunk = slot >> CHUNK_BITS
    cdef const Block* block = &table.blocks[output // table.lanes]
    cdef const double* field
    if chunk >= table.n_chunks:
        return 0.0
    field = _lane(table, slot, output)
    if kind == KEPT_AVERAGE:
        return average_kept(_slots(block), _clock(table), slot, table.average, field, table.layout)
    if kind == KEPT_POCKET:
        return pocket_kept(_clock(table), field, table.layout)
    return field[0]


cdef inline void table_write(Table* table, slot_t slot, Py_ssize_t output, double w) noexcept nogil:
    """Set a weight of a reserved slot before anything is learned; all kept vectors start there."""
    _lane(table, slot, output)[0] = w


cdef inline Blocks table_blocks(const Table* table) noexcept nogil:
    """The blocks as adaptive_slots.h sees them."""
    cdef Blocks blocks
    blocks.first = table.blocks
    blocks.size = sizeof(Block)
    return blocks


cdef inline void table_sizes(const Table* table, const slot_t* slots, Py_ssize_t n,
                             double* sizes) noexcept nogil:
    """For each of n slots its largest |weight|, over all outputs and kept vectors."""
    cdef Clock clock = _clock(table)
    cdef Slots block
    cdef Blocks blocks = table_blocks(table)
    cdef Py_ssize_t b, i
    if table.slot_kind == SLOTS_ADAPTIVE:
        for i in range(n):
            sizes[i] = adaptive_size(&blocks, slots[i], table.n_outputs) if (
                slots[i] >> CHUNK_BITS < table.n_chunks) else 0.0
        return
    for i in range(n):
        sizes[i] = 0.0
    for b in range(table.n_blocks):
        block = _slots(&table.blocks[b])
        for i in range(n):
            if slots[i] >> CHUNK_BITS >= table.n_chunks:
                continue
            if table.lanes == 1:
                sizes[i] = size_one(&block, &clock, slots[i], sizes[i], &table.layout)
            else:
                sizes[i] = size_several(&block, &clock, slots[i], sizes[i], &table.layout)


cdef inline void table_prefetch(const Table* table, slot_t slot, slot_t n) noexcept nogil:
    """Prefetch the weights of n slots of one chunk."""
    cdef Py_ssize_t b
    if slot >> CHUNK_BITS >= table.n_chunks:
        return
    for b in range(table.n_blocks):
        prefetch_lines(table.blocks[b].chunks[slot >> CHUNK_BITS]
                       + (slot & CHUNK_MASK) * table.width,
                       n * table.width * sizeof(double))


cdef inline void table_clear(Table* table, slot_t slot) noexcept nogil:
    """Set a slot back to zeros."""
    cdef Py_ssize_t b
    cdef double* chunk
    if slot >> CHUNK_BITS >= table.n_chunks:
        return
    for b in range(table.n_blocks):
        chunk = table.blocks[b].chunks[slot >> CHUNK_BITS]
        if chunk != table.zeros:
            memset(chunk + (slot & CHUNK_MASK) * table.width, 0, table.width * sizeof(double))


cdef inline double* table_chunk(const Table* table, Py_ssize_t block, size_t chunk) noexcept nogil:
    """The 256 slots of a chunk, or NULL if none was ever written."""
    cdef double* slots = table.blocks[block].chunks[chunk]
    return NULL if slots == table.zeros else slots


cdef inline bint table_wrote(const Table* table, size_t chunk) noexcept nogil:
    """Whether any output has slots of its own in a chunk."""
    cdef Py_ssize_t b
    for b in range(table.n_blocks):
        if table_chunk(table, b, chunk) != NULL:
            return True
    return False
