# A delta: what a learner has that its base has not, as flat arrays; and the learner again, from
# both.
#
#     slots     uint32 [rows]          whose numbers differ from the base's, rising in each block
#     rows      float64 [rows, width]  these numbers, as in the learner's table
#     blocks    uint32 [blocks]        how many rows each block of outputs has
#     exact:    keys    uint64 [., 2]  names that the base has not, as in engine/flat.pxd
#               texts   uint8          the long ones among them
#     ceiling:  renamed uint32         the slots of these names, rising; without a ceiling they are
#                                      those behind the base's
#               stamps  uint32 [slots] see engine/ceiling.pxd
#
# A row costs 4 bytes beside its numbers: 20 for two labels and an average. With an exponential
# average the terms are those of the learner's last fold.
#
# To mix a delta, engine/merge.pxd wants a learner. delta_overlay makes one whose table is the
# base's, chunk by chunk, but for those chunks that the rows change: no other number is copied. The
# base must not change while it is there. It trusts no number: a delta may come from anybody.
#
# delta_digest tells one state from any other, however it lies in memory or in a file: a delta
# carries that of its base.
#
# Functions in this file: delta_measure, delta_write; delta_overlay, delta_keys (these two may
# fail); delta_digest.

from libc.math cimport isfinite
from libc.string cimport memcmp, memcpy, memset
from streamptron.engine.types cimport (
    CHUNK_BITS, CHUNK_MASK, CHUNK_SLOTS, SLOT_MAX, SLOTS_RESERVED, slot_t, uint8_t, uint32_t,
    uint64_t, uintptr_t)
from streamptron.engine.adaptive cimport adaptive_fault
from streamptron.engine.flat cimport Flat, flat_check_keys
from streamptron.engine.hash cimport fold
from streamptron.engine.heap cimport malloc
from streamptron.engine.index cimport Index, index_is_limited, index_key
from streamptron.engine.kernels cimport AVERAGE_EXPONENTIAL, LANES, SLOT_MOST, catch_up
from streamptron.engine.key cimport Key, key_bytes, key_equal, key_is_long, key_length, load8
from streamptron.engine.learner cimport Learner, learner_adapts
from streamptron.engine.pool cimport pool_take
from streamptron.engine.shard cimport (
    SHARD_MEMORY, SHARD_NAMES, SHARD_NUMBER, Shard, fold_factor, names_prefixes, shard_chunk,
    shard_key, shard_row, shard_stamp)
from streamptron.engine.table cimport (
    SLOTS_WEIGHTS, Table, chunk_bytes, table_add_outputs, table_free, table_reserve_places,
    table_set_chunk, table_set_folds)
from streamptron.engine.tables cimport table_split

cdef struct Delta:
    size_t n_rows
    size_t n_blocks
    size_t n_keys                   # the two reserved ones included; 0: hashed
    size_t n_texts
    size_t n_renamed
    size_t n_stamps
    uint32_t* slots
    double* rows
    uint32_t* blocks
    Key* keys
    uint8_t* texts
    uint32_t* renamed
    uint32_t* stamps


# --- From a learner and its base

cdef inline bint _is_known(const Shard* shard, const Shard* base, slot_t slot) noexcept nogil:
    """Whether a slot has the base's name."""
    cdef Key theirs, ours
    if slot < shard.first:
        return True
    if slot >= base.n_slots or not index_is_limited(&shard.learner.index):
        return False
    theirs = shard_key(shard, slot)
    ours = shard_key(base, slot)
    return key_equal(&theirs, &ours)


cdef inline void _fold_row(const Table* table, size_t block, slot_t slot, uint32_t to,
                           double* row) noexcept nogil:
    """Bring the averaging terms of a row of a table to a fold."""
    cdef double factor
    cdef int k
    if (table.average != AVERAGE_EXPONENTIAL or block >= <size_t> table.n_blocks
            or slot >> CHUNK_BITS >= table.n_chunks):
        return
    factor = fold_factor(to - table.blocks[block].folds[slot >> CHUNK_BITS])
    for k in range(table.lanes):
        row[k * table.layout.fields + table.layout.v] *= factor


cdef inline void _expected(const Shard* shard, const Shard* base, size_t block, slot_t slot,
                           double* row) noexcept nogil:
    """A row as it would be if nothing had been learned since the base."""
    cdef const Table* its = &shard.learner.table
    cdef const Table* table = &base.learner.table
    cdef int f, k, fields = its.layout.fields
    cdef double one[SLOT_MOST]
    memset(row, 0, its.width * sizeof(double))
    if not _is_known(shard, base, slot):
        return
    memcpy(one, shard_row(base, block, slot), table.width * sizeof(double))
    _fold_row(table, block, slot, its.fold, one)
    if its.lanes == table.lanes:
        memcpy(row, one, its.width * sizeof(double))
    elif block == 0:                # as table_split has it
        for f in range(fields):
            for k in range(2):
                row[k * fields + f] = (
                    0.0 - one[f] if k != shard.learner.two.positive and f != its.layout.e
                    and f != its.layout.k else one[f])


cdef inline bint _is_new(const Shard* shard, const Shard* base, size_t block, slot_t slot,
                         double* row) noexcept nogil:
    """Whether a block of a slot differs from what the base says of it; and what it holds."""
    cdef const Table* its = &shard.learner.table
    cdef double before[SLOT_MOST]
    memcpy(row, shard_row(shard, block, slot), its.width * sizeof(double))
    _fold_row(its, block, slot, its.fold, row)
    _expected(shard, base, block, slot, before)
    return memcmp(row, before, its.width * sizeof(double)) != 0


cdef inline bint _is_same(const Shard* shard, const Shard* base, size_t block,
                          slot_t slot) noexcept nogil:
    """Whether the whole chunk that begins with a slot holds the same bytes."""
    cdef const Table* its = &shard.learner.table
    cdef const Table* table = &base.learner.table
    cdef size_t chunk = slot >> CHUNK_BITS
    cdef const double* theirs = shard_chunk(shard, block, chunk)
    cdef const double* ours = shard_chunk(base, block, chunk)
    if theirs == its.zeros and ours == table.zeros:
        return True
    return (slot + CHUNK_SLOTS <= shard.first and its.lanes == table.lanes
            and its.average != AVERAGE_EXPONENTIAL and shard.learner.index.lookup == NULL
            and base.learner.index.lookup == NULL
            and memcmp(theirs, ours, chunk_bytes(its)) == 0)


cdef inline size_t _rows(const Shard* shard, const Shard* base, size_t block, uint32_t* slots,
                         double* rows) noexcept nogil:
    """The rows of a block that differ: how many; written down, unless `slots` is NULL."""
    cdef int width = shard.learner.table.width
    cdef slot_t slot = 1, last
    cdef size_t n = 0
    cdef double row[SLOT_MOST]
    while slot < shard.n_slots:
        last = min((slot | CHUNK_MASK) + 1, shard.n_slots)
        if slot & CHUNK_MASK <= 1 and _is_same(shard, base, block, slot & ~<slot_t> CHUNK_MASK):
            slot = last
            continue
        while slot < last:
            if _is_new(shard, base, block, slot, row):
                if slots != NULL:
                    slots[n] = slot
                    memcpy(rows + n * width, row, width * sizeof(double))
                n += 1
            slot += 1
    return n


cdef inline int delta_measure(Delta* delta, Shard* shard, const Shard* base) noexcept nogil:
    """How large the arrays will be. 0, or SHARD_NAMES: the learner did not go on from the base."""
    cdef size_t b
    cdef slot_t slot
    cdef Key key
    cdef bint limited = index_is_limited(&shard.learner.index)
    memset(delta, 0, sizeof(Delta))
    if shard.learner.index.bits:
        shard.first = shard.n_slots
    else:
        names_prefixes(shard, 1, &base.learner.index)
        if shard.first < base.n_slots and not limited:
            return SHARD_NAMES
        delta.n_keys = SLOTS_RESERVED
        for slot in range(shard.first, shard.n_slots):
            if not _is_known(shard, base, slot):
                key = shard_key(shard, slot)
                delta.n_keys += 1
                if key_is_long(&key):
                    delta.n_texts += key_length(&key)
        delta.n_renamed = delta.n_keys - SLOTS_RESERVED
        delta.n_stamps = shard.n_slots
    delta.n_blocks = shard.learner.table.n_blocks
    for b in range(delta.n_blocks):
        delta.n_rows += _rows(shard, base, b, NULL, NULL)
    return 0


cdef inline void delta_write(const Delta* delta, const Shard* shard,
                             const Shard* base) noexcept nogil:
    """Fill the arrays, which have the sizes that delta_measure found; NULL: it is not wanted."""
    cdef size_t b, n = 0, text = 0, at = SLOTS_RESERVED
    cdef slot_t slot
    cdef Key key
    for b in range(delta.n_blocks):
        delta.blocks[b] = <uint32_t> _rows(
            shard, base, b, delta.slots + n, delta.rows + n * shard.learner.table.width)
        n += delta.blocks[b]
    if delta.n_keys == 0:
        return
    memset(delta.keys, 0, SLOTS_RESERVED * sizeof(Key))
    for slot in range(shard.first, shard.n_slots):
        if _is_known(shard, base, slot):
            continue
        key = shard_key(shard, slot)
        if key_is_long(&key):
            memcpy(delta.texts + text, key_bytes(&key), key_length(&key))
            key.lo = text
            text += key_length(&key)
        if delta.renamed != NULL:
            delta.renamed[at - SLOTS_RESERVED] = slot
        delta.keys[at] = key
        at += 1
    if delta.stamps != NULL:
        memset(delta.stamps, 0, SLOTS_RESERVED * sizeof(uint32_t))
        for slot in range(SLOTS_RESERVED, shard.n_slots):
            delta.stamps[slot] = shard_stamp(shard, slot)


# --- And back

cdef inline bint _is_borrowed(const Table* table, const Table* base, size_t block,
                              size_t chunk) noexcept nogil:
    """Whether a chunk is the base's own, or nobody's."""
    cdef const double* slots = table.blocks[block].chunks[chunk]
    return slots == table.zeros or (
        block < <size_t> base.n_blocks and chunk < base.n_chunks
        and slots == base.blocks[block].chunks[chunk])


cdef inline double* _own_row(Table* table, const Table* base, size_t block,
                             slot_t slot) noexcept nogil:
    """A row that may be written, as if its chunk had seen all folds. NULL without memory."""
    cdef size_t chunk = slot >> CHUNK_BITS
    cdef double* made
    if _is_borrowed(table, base, block, chunk):
        made = <double*> pool_take(&table.pool, chunk_bytes(table))
        if made == NULL:
            return NULL
        memcpy(made, table.blocks[block].chunks[chunk], chunk_bytes(table))
        table_set_chunk(&table.blocks[block], chunk, made)
    made = table.blocks[block].chunks[chunk]
    if (table.average == AVERAGE_EXPONENTIAL
            and table.blocks[block].folds[chunk] != table.fold):
        catch_up(made, table.fold - table.blocks[block].folds[chunk], table.lanes, &table.layout)
        table_set_folds(&table.blocks[block], chunk, table.fold)
    return made + (slot & CHUNK_MASK) * table.width


cdef inline int _lay(Learner* learner, const Table* base, Py_ssize_t n_outputs,
                     slot_t n_slots) noexcept nogil:
    """The base's table under a learner's. 0, or what is wrong."""
    cdef Table* table = &learner.table
    cdef Table clock = table[0]
    cdef Py_ssize_t b
    cdef size_t i
    if base.lanes != table.lanes:
        if base.lanes != 1 or table.lanes != LANES or n_outputs < 2:
            return SHARD_NUMBER
        table_free(table)
        if table_split(table, base, learner.two.positive) < 0:
            return SHARD_MEMORY
        table.c = clock.c
        table.s = clock.s
        table.fold = clock.fold
        table.epoch = clock.epoch
    if (table_add_outputs(table, n_outputs - table.n_outputs) < 0 or table_reserve_places(
            table, max((<size_t> (n_slots - 1) >> CHUNK_BITS) + 1, base.n_chunks),
            table.whole) < 0):
        return SHARD_MEMORY
    if base.lanes != table.lanes:
        return 0
    if base.n_blocks > table.n_blocks:
        return SHARD_NUMBER
    for b in range(base.n_blocks):
        for i in range(base.n_chunks):
            table_set_chunk(&table.blocks[b], i, base.blocks[b].chunks[i])
            if table.average == AVERAGE_EXPONENTIAL:
                table_set_folds(&table.blocks[b], i, base.blocks[b].folds[i])
    return 0


cdef inline bint _fits(const Delta* delta, const Table* table, slot_t n_slots) noexcept nogil:
    """Whether slots and numbers are those of such a table."""
    cdef size_t b, i, n = 0
    cdef int f, first
    cdef const double* row
    if delta.n_blocks != <size_t> table.n_blocks:
        return False
    for b in range(delta.n_blocks):
        if delta.blocks[b] > delta.n_rows - n:
            return False
        # the fields of the last block that no label has
        first = table.width
        if table.slot_kind == SLOTS_WEIGHTS and b == delta.n_blocks - 1:
            first = (<int> (table.n_outputs - (table.n_blocks - 1) * table.lanes)
                     * table.layout.fields)
        for i in range(n, n + delta.blocks[b]):
            if (delta.slots[i] == 0 or delta.slots[i] >= n_slots
                    or (i > n and delta.slots[i] <= delta.slots[i - 1])):
                return False
            row = delta.rows + i * table.width
            for f in range(table.width):
                if table.slot_kind == SLOTS_WEIGHTS and not isfinite(row[f]):
                    return False
                if f >= first and row[f] != 0.0:
                    return False
        n += delta.blocks[b]
    return n == delta.n_rows


cdef inline slot_t _slots_of(const Delta* delta, const Learner* learner,
                             const Learner* base) noexcept nogil:
    """How many slots the learner has; 0 if that contradicts itself."""
    cdef size_t i, n
    if learner.index.bits:
        return learner.index.n_slots
    if not index_is_limited(&learner.index):
        n = base.index.n_slots + delta.n_keys - SLOTS_RESERVED
        return <slot_t> n if n < SLOT_MAX else 0
    n = delta.n_stamps
    if (n < base.index.n_slots or n > learner.index.max_slots
            or delta.n_renamed != delta.n_keys - SLOTS_RESERVED):
        return 0
    for i in range(delta.n_renamed):
        if delta.renamed[i] < SLOTS_RESERVED or delta.renamed[i] >= n or (
                i > 0 and delta.renamed[i] <= delta.renamed[i - 1]):
            return 0
    # each slot behind the base's has a name
    i = n - base.index.n_slots
    if i > delta.n_renamed or (i and delta.renamed[delta.n_renamed - i] != base.index.n_slots):
        return 0
    return <slot_t> n


cdef inline int delta_overlay(const Delta* delta, Learner* learner, const Learner* base,
                              Py_ssize_t n_outputs, size_t n_objects, int depth,
                              slot_t* n_slots) noexcept nogil:
    """Give a learner without names and weights the base's weights and the delta's.

    0, or what is wrong. Its table borrows the base's chunks. Nothing may be learned.
    """
    cdef Table* table = &learner.table
    cdef size_t b, i, k, n = 0
    cdef int fault
    cdef double* row
    cdef Flat names
    memset(&names, 0, sizeof(Flat))
    names.n_keys = delta.n_keys
    names.keys = delta.keys
    names.n_texts = delta.n_texts
    names.texts = delta.texts
    if delta.n_keys and flat_check_keys(&names, n_objects, depth):
        return SHARD_NAMES
    n_slots[0] = _slots_of(delta, learner, base)
    if n_slots[0] == 0:
        return SHARD_NAMES
    fault = _lay(learner, &base.table, n_outputs, n_slots[0])
    if fault:
        return fault
    if not _fits(delta, table, n_slots[0]):
        return SHARD_NUMBER
    for b in range(delta.n_blocks):
        for i in range(delta.n_renamed if delta.renamed != NULL else <size_t> 0):
            if table.blocks[b].chunks[delta.renamed[i] >> CHUNK_BITS] != table.zeros:
                row = _own_row(table, &base.table, b, delta.renamed[i])
                if row == NULL:
                    return SHARD_MEMORY
                memset(row, 0, table.width * sizeof(double))
        for k in range(delta.blocks[b]):
            row = _own_row(table, &base.table, b, delta.slots[n])
            if row == NULL:
                return SHARD_MEMORY
            memcpy(row, delta.rows + n * table.width, table.width * sizeof(double))
            n += 1
    if learner_adapts(learner) and adaptive_fault(table, n_slots[0]):
        return SHARD_NUMBER
    return 0


cdef inline Key* delta_keys(const Delta* delta, const Index* base, slot_t n_slots,
                            slot_t* first) noexcept nogil:
    """The names of the slots from `first` on, where delta.renamed or the base's end says.

    NULL without memory; the caller frees it.
    """
    cdef bint limited = delta.renamed != NULL
    cdef size_t i
    cdef slot_t slot
    cdef Key* keys
    cdef Key* key
    first[0] = SLOTS_RESERVED if limited else base.n_slots
    keys = <Key*> malloc((n_slots - first[0] + 1) * sizeof(Key))
    if keys == NULL:
        return NULL
    if limited:
        for slot in range(SLOTS_RESERVED, min(base.n_slots, n_slots)):
            keys[slot - first[0]] = index_key(base, slot)[0]
    for i in range(SLOTS_RESERVED, delta.n_keys):
        slot = (<slot_t> delta.renamed[i - SLOTS_RESERVED] if limited
                else base.n_slots + <slot_t> (i - SLOTS_RESERVED))
        key = &keys[slot - first[0]]
        key[0] = delta.keys[i]
        if key_is_long(key):
            key.lo = <uint64_t> <uintptr_t> (delta.texts + key.lo)
    return keys


# --- One state or another

cdef inline void _mix_word(uint64_t* h, uint64_t word, uint64_t other) noexcept nogil:
    """Two words into two hashes, with constants that everybody knows."""
    h[0] = fold(word ^ <uint64_t> 0x9E3779B97F4A7C15 ^ h[0], other ^ <uint64_t> 0xC2B2AE3D27D4EB4F)
    h[1] = fold(word ^ <uint64_t> 0x165667B19E3779F9 ^ h[1], other ^ <uint64_t> 0xD6E8FEB86659FD93)


cdef inline void _mix_key(uint64_t* h, const Key* key) noexcept nogil:
    cdef const uint8_t* p
    cdef size_t n, i
    if not key_is_long(key):
        _mix_word(h, key.lo, key.hi)
        return
    p = key_bytes(key)              # more than fifteen; the last sixteen are read again
    n = key_length(key)
    _mix_word(h, n, key.hi)
    i = 0
    while i + 16 < n:
        _mix_word(h, load8(p + i), load8(p + i + 8))
        i += 16
    _mix_word(h, load8(p + n - 16), load8(p + n - 8))


cdef inline void delta_digest(const Shard* shard, uint64_t* h) noexcept nogil:
    """Two words that stand for all names and numbers of a learner's slots."""
    cdef const Table* table = &shard.learner.table
    cdef Py_ssize_t b
    cdef int f
    cdef slot_t slot
    cdef Key key
    cdef const uint64_t* words
    cdef uint64_t bits, last
    h[0] = h[1] = 0
    if not shard.learner.index.bits:
        for slot in range(SLOTS_RESERVED, shard.n_slots):
            key = shard_key(shard, slot)
            _mix_key(h, &key)
            if index_is_limited(&shard.learner.index):
                _mix_word(h, slot, shard_stamp(shard, slot))
    for b in range(table.n_blocks):
        slot = 0
        while slot < shard.n_slots:
            if shard_chunk(shard, b, slot >> CHUNK_BITS) == table.zeros:
                slot = (slot | CHUNK_MASK) + 1
                continue
            words = <const uint64_t*> shard_row(shard, b, slot)
            bits = 0
            for f in range(table.width):
                bits |= words[f]
            if bits:
                last = table.blocks[b].folds[slot >> CHUNK_BITS] if (
                    table.average == AVERAGE_EXPONENTIAL) else 0
                _mix_word(h, (<uint64_t> b << 32) | slot, last)
                f = 0
                while f < table.width:
                    _mix_word(h, words[f], words[f + 1] if f + 1 < table.width else 0)
                    f += 2
            slot += 1
