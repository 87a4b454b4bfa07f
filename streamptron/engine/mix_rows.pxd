# The rows of a merged learner, chunk by chunk: see engine/merge.pxd for the formulas.
#
# A chunk that every shard has left as the base has it is copied. The everyday chunk, of one weight
# and its uniform average, is mixed all at once (merge_terms), if its slots lie alike in all shards.
# Any other is mixed row by row, each number by its output: so labels may have other numbers in each
# shard, and two labels one output in one and two in another.
#
# Functions in this file: mix_rows (may fail), which the rest serve.

from libc.string cimport memcmp, memcpy
from streamptron.engine.types cimport (
    CHUNK_BITS, CHUNK_MASK, CHUNK_SLOTS, SLOT_NULL, slot_t, uint32_t)
from streamptron.engine.index cimport index_place
from streamptron.engine.kernels cimport (
    AVERAGE_EXPONENTIAL, AVERAGE_NONE, AVERAGE_UNIFORM, Clock, Layout, average_of, pocket_kept)
from streamptron.engine.learner cimport learner_adapts
from streamptron.engine.pool cimport pool_block, pool_reserve
from streamptron.engine.shard cimport (
    Shard, shard_chunk, shard_factor, shard_field, shard_is_aligned, shard_own, shard_row)
from streamptron.engine.table cimport (
    Blocks, Table, chunk_bytes, table_blocks, table_chunk, table_prefetch,
    table_reserve_blocks, table_reserve_places, table_set_folds)
from streamptron.engine.mix cimport Feature, Merge, Part, Term, View

cdef extern from "merge.h":
    void merge_terms "sp_merge_terms" (
        const double* base, double c0, const Term* shards, int n_shards, double N, double* slots,
        int n) noexcept nogil
    void feature_read "sp_feature_read" (
        const View* view, slot_t slot, Py_ssize_t outputs, Py_ssize_t labels,
        Feature* to) noexcept nogil
    void feature_write "sp_feature_write" (
        const Blocks* blocks, slot_t slot, Py_ssize_t outputs, Py_ssize_t labels,
        const Feature* source) noexcept nogil
    void merge_feature "sp_merge_feature" (
        Feature* to, const Feature** shards, int n, Py_ssize_t outputs, Py_ssize_t labels,
        double all_, const double* rD, double* scratch) noexcept nogil


cdef inline bint _same_chunk(const Merge* m, const Shard* shard, size_t chunk) noexcept nogil:
    """Whether a shard has left a whole chunk of slots as the base has it."""
    cdef const Table* its = &shard.learner.table
    cdef const Table* base = &m.base.learner.table
    cdef Py_ssize_t b
    cdef const double* theirs
    cdef const double* ours
    if not (shard_is_aligned(shard, chunk) and shard_is_aligned(m.base, chunk)):
        return False
    if its.lanes != base.lanes:
        return False
    for b in range(max(its.n_blocks, base.n_blocks)):
        theirs = shard_chunk(shard, b, chunk)
        ours = shard_chunk(m.base, b, chunk)
        if theirs != ours and memcmp(theirs, ours, chunk_bytes(its)) != 0:
            return False
        if (its.average == AVERAGE_EXPONENTIAL and b < its.n_blocks and b < base.n_blocks
                and chunk < its.n_chunks and chunk < base.n_chunks
                and its.blocks[b].folds[chunk] != base.blocks[b].folds[chunk]):
            return False
    return True


cdef inline slot_t _base_slot(const Merge* m, slot_t slot) noexcept nogil:
    return slot if slot < m.base.n_slots else <slot_t> SLOT_NULL


cdef inline bint _same_row(const Merge* m, const Shard* shard, slot_t own,
                           slot_t base) noexcept nogil:
    """Whether all blocks have the same bytes in a slot."""
    cdef const Table* its = &shard.learner.table
    cdef Py_ssize_t b
    for b in range(max(its.n_blocks, m.base.learner.table.n_blocks)):
        if memcmp(shard_row(shard, b, own), shard_row(m.base, b, base),
                  its.width * sizeof(double)) != 0:
            return False
    return True


cdef inline double _signed(double x, double sign) noexcept nogil:
    return 0.0 - x if sign < 0.0 else x


cdef inline bint _differs(const Merge* m, const Shard* shard, slot_t own,
                          slot_t slot) noexcept nogil:
    """Whether a shard has touched a feature: its row is not the base's, bit for bit."""
    cdef const Layout* layout = &m.to.table.layout
    cdef bint folds = m.to.table.average == AVERAGE_EXPONENTIAL
    cdef bint comparable = (shard.learner.table.lanes == m.base.learner.table.lanes
                           and (learner_adapts(m.to) or (shard.plain and m.base.plain)))
    cdef slot_t base = _base_slot(m, slot)
    cdef uint32_t fold = shard.learner.table.fold
    cdef const double* field
    cdef double ours[3]
    cdef double theirs[3]
    cdef Py_ssize_t o
    if comparable and not folds:
        if _same_row(m, shard, own, base):
            return False
        if layout.p < 0:
            return True
    for o in range(m.to.table.n_outputs):
        _numbers(m, shard, own, o, fold, theirs)
        _numbers(m, m.base, base, o, fold, ours)
        if memcmp(ours, theirs, sizeof(ours)) != 0:
            return True
    return False


cdef inline void _numbers(const Merge* m, const Shard* shard, slot_t slot, Py_ssize_t output,
                          uint32_t fold, double* numbers) noexcept nogil:
    """Weight, averaging term after so many folds, and what the rule keeps; 0 for what there is not.
    """
    cdef const Layout* layout = &m.to.table.layout
    cdef double sign
    cdef const double* field = shard_field(shard, slot, output, &sign)
    numbers[0] = numbers[1] = numbers[2] = 0.0
    if field == NULL:
        return
    numbers[0] = _signed(field[0], sign)
    if layout.v >= 0:
        numbers[1] = _signed(field[layout.v] * shard_factor(shard, slot, output, fold), sign)
    if layout.k >= 0:
        numbers[2] = field[layout.k]


cdef inline bint _differs_somewhere(const Merge* m, const Shard* shard, slot_t first,
                                    slot_t last) noexcept nogil:
    """Whether a shard has touched one of these features."""
    cdef slot_t slot, own
    if first >= shard.first:
        first = max(first, shard.own_from)
        last = min(last, shard.own_from + shard.n_own)
    for slot in range(max(first, <slot_t> 1), last):
        own = shard_own(shard, slot)
        if own != SLOT_NULL and _differs(m, shard, own, slot):
            return True
    return False


cdef inline double* _place(const Merge* m, slot_t slot, Py_ssize_t output) noexcept nogil:
    """Where an output's numbers go; NULL if nobody has written there."""
    cdef Table* to = &m.to.table
    cdef double* chunk = table_chunk(to, output // to.lanes, slot >> CHUNK_BITS)
    if chunk == NULL:
        return NULL
    return chunk + (slot & CHUNK_MASK) * to.width + output % to.lanes * to.layout.fields


cdef inline double _pocket(const Merge* m, slot_t slot, Py_ssize_t output) noexcept nogil:
    """The pocket's weight, the holder's."""
    cdef const Shard* shard = &m.shards[m.holder]
    cdef const Table* its = &shard.learner.table
    cdef slot_t own = shard_own(shard, slot)
    cdef const double* field
    cdef double sign
    cdef Clock clock
    if own == SLOT_NULL:
        return 0.0
    field = shard_field(shard, own, output, &sign)
    clock.epoch = its.epoch
    return 0.0 if field == NULL else _signed(pocket_kept(clock, field, its.layout), sign)


cdef inline void _mix_field(const Merge* m, slot_t slot, Py_ssize_t output,
                            double* to) noexcept nogil:
    """One output of a row that shards have touched."""
    cdef const Layout* layout = &m.to.table.layout
    cdef const Table* table = &m.to.table
    cdef const Shard* shard
    cdef double ours[3]
    cdef double theirs[3]
    cdef double total = 0.0, sums = 0.0, n = 0.0, gains = 0.0, ways = 0.0, S0
    cdef Clock clock
    cdef int i
    _numbers(m, m.base, _base_slot(m, slot), output, table.fold, ours)
    S0 = m.c0 * ours[0] - ours[1]
    for i in range(m.n_touched):
        shard = &m.shards[m.touched[i].k]
        _numbers(m, shard, m.touched[i].slot, output, shard.learner.table.fold, theirs)
        total += theirs[0]
        n += shard.n
        if table.average == AVERAGE_UNIFORM:
            sums += (shard.learner.table.c * theirs[0] - theirs[1]) - S0
        elif table.average == AVERAGE_EXPONENTIAL:
            clock.s = shard.learner.table.s
            sums += shard.n * average_of(clock, AVERAGE_EXPONENTIAL, theirs[0], theirs[1])
        if layout.k >= 0:
            gains += theirs[2] - ours[2]
            ways += (theirs[2] - ours[2]) * (theirs[0] - ours[0])
    if m.n_touched == 1:
        to[0] = theirs[0]
        if layout.k >= 0:
            to[layout.k] = theirs[2]
    elif layout.k >= 0:
        to[layout.k] = ours[2] + gains / m.n_touched
        to[0] = ours[0] + ways / gains if gains > 0.0 else total / m.n_touched
    else:
        to[0] = total / m.n_touched
    if table.average != AVERAGE_NONE:
        if n == 0.0:                # they were given weights and have seen nothing
            to[layout.v] = 0.0
        elif table.average == AVERAGE_UNIFORM:
            to[layout.v] = table.c * to[0] - (S0 + (m.N * sums) / n)
        else:
            to[layout.v] = (to[0] - sums / n) / table.s
    if layout.p >= 0:
        to[layout.p] = _pocket(m, slot, output)
        to[layout.e] = table.epoch


cdef inline void _keep_field(const Merge* m, slot_t slot, Py_ssize_t output,
                             double* to) noexcept nogil:
    """One output of a row that nobody has touched."""
    cdef const Layout* layout = &m.to.table.layout
    cdef slot_t base = _base_slot(m, slot)
    cdef double sign
    cdef const double* field = shard_field(m.base, base, output, &sign)
    cdef double ours[3]
    if field == NULL:
        return
    _numbers(m, m.base, base, output, m.to.table.fold, ours)
    to[0] = ours[0]
    if layout.v >= 0:
        to[layout.v] = ours[1]
    if layout.k >= 0:
        to[layout.k] = ours[2]
    if layout.p >= 0:
        to[layout.p] = _signed(field[layout.p], sign)
        to[layout.e] = field[layout.e]


cdef inline slot_t _view_slot(const Shard* shard, slot_t slot) noexcept nogil:
    """A slot as a view may read it: it has a chunk in every block."""
    slot = index_place(&shard.learner.index, slot)
    return slot if slot >> CHUNK_BITS < shard.learner.table.n_chunks else <slot_t> SLOT_NULL


cdef inline void _mix_feature(const Merge* m, slot_t slot) noexcept nogil:
    """AdaptiveClassifier's row."""
    cdef Blocks blocks = table_blocks(&m.to.table)
    cdef Feature* to = &m.features[m.n]
    cdef Part* part
    cdef int i
    for i in range(m.n_touched):
        part = &m.touched[i]
        feature_read(&m.views[part.k], _view_slot(&m.shards[part.k], part.slot), m.outputs,
                     m.labels, &m.features[part.k])
        m.differing[i] = &m.features[part.k]
    if m.n_touched == 1:
        feature_write(&blocks, slot, m.outputs, m.labels, m.differing[0])
        return
    feature_read(&m.views[m.n], _view_slot(m.base, _base_slot(m, slot)), m.outputs, m.labels, to)
    merge_feature(to, m.differing, m.n_touched, m.outputs, m.labels, m.all_, m.to.adaptive.rD,
                  m.scratch)
    feature_write(&blocks, slot, m.outputs, m.labels, to)


cdef inline void _mix_slot(Merge* m, slot_t slot) noexcept nogil:
    """One row. Its chunks are there wherever somebody has written."""
    cdef Table* to = &m.to.table
    cdef const Shard* shard
    cdef Py_ssize_t b, o
    cdef slot_t own
    cdef double* field
    cdef int i
    m.n_touched = 0
    for i in range(m.n_parts):
        shard = &m.shards[m.parts[i].k]
        own = shard_own(shard, slot)
        if own != SLOT_NULL and _differs(m, shard, own, slot):
            m.touched[m.n_touched].k = m.parts[i].k
            m.touched[m.n_touched].slot = own
            m.n_touched += 1
    if learner_adapts(m.to):
        if m.n_touched:
            _mix_feature(m, slot)
            return
        for b in range(m.base.learner.table.n_blocks):
            if table_chunk(to, b, slot >> CHUNK_BITS) != NULL:
                memcpy(table_chunk(to, b, slot >> CHUNK_BITS) + (slot & CHUNK_MASK) * to.width,
                       shard_row(m.base, b, _base_slot(m, slot)), to.width * sizeof(double))
        return
    for o in range(to.n_outputs):
        field = _place(m, slot, o)
        if field != NULL:
            if m.n_touched:
                _mix_field(m, slot, o, field)
            else:
                _keep_field(m, slot, o, field)


cdef inline bint _writes(const Merge* m, const Shard* shard, Py_ssize_t block,
                         size_t chunk) noexcept nogil:
    """Whether a shard, or the base, may have numbers for a block of a chunk."""
    cdef const Table* to = &m.to.table
    cdef Py_ssize_t o, own
    if not shard.plain or not (
            shard.learner.index.bits or (chunk + 1) << CHUNK_BITS <= shard.first):
        return True                 # its slots of these features may lie anywhere
    if learner_adapts(m.to):
        return m.n_parts or shard_chunk(shard, block, chunk) != shard.learner.table.zeros
    for o in range(block * to.lanes, min((block + 1) * to.lanes, to.n_outputs)):
        own = shard.outputs[o]
        if own >= 0 and shard_chunk(shard, own // shard.learner.table.lanes, chunk) != (
                shard.learner.table.zeros):
            return True
    return False


cdef inline int _make_chunks(Merge* m, size_t chunk) noexcept nogil:
    """The chunks that may be written. -1 without memory."""
    cdef uint32_t b
    cdef slot_t slot = <slot_t> (chunk << CHUNK_BITS)
    cdef bint writes
    cdef int i
    for b in range(<uint32_t> m.to.table.n_blocks):
        writes = slot < m.base.n_slots and _writes(m, m.base, b, chunk)
        for i in range(m.n_parts):
            writes = writes or _writes(m, &m.shards[m.parts[i].k], b, chunk)
        if writes and table_reserve_blocks(&m.to.table, &slot, 1, m.n_slots, &b, 1) < 0:
            return -1
    return 0


cdef inline bint _keep_chunk(Merge* m, size_t chunk, int* failed) noexcept nogil:
    """Take a chunk that nobody has touched as it lies in the base; False if it lies otherwise."""
    cdef Table* to = &m.to.table
    cdef const Table* base = &m.base.learner.table
    cdef slot_t slot = <slot_t> (chunk << CHUNK_BITS)
    cdef size_t n = min(<size_t> CHUNK_SLOTS, m.n_slots - (chunk << CHUNK_BITS))
    cdef uint32_t b
    failed[0] = 0
    if not shard_is_aligned(m.base, chunk):
        return False
    for b in range(<uint32_t> base.n_blocks):
        if chunk >= base.n_chunks or base.blocks[b].chunks[chunk] == base.zeros:
            continue
        if table_reserve_blocks(to, &slot, 1, m.n_slots, &b, 1) < 0:
            failed[0] = -1
            return True
        memcpy(table_chunk(to, b, chunk), base.blocks[b].chunks[chunk],
               n * to.width * sizeof(double))
        if to.average == AVERAGE_EXPONENTIAL:
            table_set_folds(&to.blocks[b], chunk, base.blocks[b].folds[chunk])
    return True


cdef inline bint _mix_terms(Merge* m, size_t chunk) noexcept nogil:
    """The everyday chunk, all at once: one weight and its uniform average; False for any other."""
    cdef Table* to = &m.to.table
    cdef const Shard* shard
    cdef Py_ssize_t b
    cdef int i
    cdef double* slots
    if not (to.layout.fields == 2 and to.average == AVERAGE_UNIFORM and to.lanes == 1
            and shard_is_aligned(m.base, chunk) and m.base.signs[0] > 0.0):
        return False
    for i in range(m.n_parts):
        shard = &m.shards[m.parts[i].k]
        if not shard_is_aligned(shard, chunk):
            return False
        m.terms[i].slots = shard_chunk(shard, 0, chunk)
        m.terms[i].c = shard.learner.table.c
        m.terms[i].n = shard.n
    slots = table_chunk(to, 0, chunk)
    merge_terms(shard_chunk(m.base, 0, chunk), m.c0, m.terms, m.n_parts, m.N, slots, CHUNK_SLOTS)
    return True


cdef inline int _mix_chunk(Merge* m, size_t chunk) noexcept nogil:
    """256 slots. -1 without memory."""
    cdef slot_t slot = <slot_t> (chunk << CHUNK_BITS)
    cdef slot_t last = min(slot + CHUNK_SLOTS, m.n_slots)
    cdef int k, failed
    m.n_parts = 0
    for k in range(m.n if m.to.table.width == 2 else 0):    # memory goes on a page at a time
        table_prefetch(&m.shards[k].learner.table, slot + CHUNK_SLOTS, CHUNK_SLOTS)
    for k in range(m.n):
        if not _same_chunk(m, &m.shards[k], chunk) and (
                shard_is_aligned(&m.shards[k], chunk)
                or _differs_somewhere(m, &m.shards[k], slot, last)):
            m.parts[m.n_parts].k = k
            m.n_parts += 1
    if m.n_parts == 0 and _keep_chunk(m, chunk, &failed):
        return failed
    if m.to.table.n_blocks == 0:        # nobody has met a label
        return 0
    if _make_chunks(m, chunk) < 0:
        return -1
    if table_chunk(&m.to.table, 0, chunk) != NULL and _mix_terms(m, chunk):
        return 0
    for slot in range(max(slot, <slot_t> 1), last):
        _mix_slot(m, slot)
    return 0


cdef inline int mix_rows(Merge* m) noexcept nogil:
    """All rows. -1 without memory."""
    cdef Table* to = &m.to.table
    cdef const Table* base = &m.base.learner.table
    cdef size_t chunks = ((m.n_slots - 1) >> CHUNK_BITS) + 1, chunk, new
    new = chunks - min(chunks, base.n_chunks)
    if table_reserve_places(to, chunks, to.whole) < 0 or pool_reserve(
            &to.pool, base.pool.used + new * to.n_blocks * pool_block(chunk_bytes(to))) < 0:
        return -1
    for chunk in range(chunks):
        if _mix_chunk(m, chunk) < 0:
            return -1
    return 0
