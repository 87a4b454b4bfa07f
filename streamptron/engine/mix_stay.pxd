# A ceiling for a merged learner: which features stay.
#
# All names are united first. Then, of those that a shard still has, the features with the largest
# size^2 / age stay, as in engine/ceiling.pxd; the age is the least that a shard knows, and one more
# for it may be 0. Of those worth the same the first stay. They keep their order.
#
# Functions in this file: stay_limit (may fail), which the rest serve.

from libc.string cimport memcpy
from streamptron.engine.types cimport (
    CHUNK_BITS, CHUNK_MASK, SLOT_NULL, SLOTS_RESERVED, slot_t, uint32_t)
from streamptron.engine.heap cimport free, malloc
from streamptron.engine.hash cimport key_hash
from streamptron.engine.index cimport (
    Index, index_free, index_init, index_insert, index_key, index_stamp)
from streamptron.engine.key cimport Key
from streamptron.engine.kernels cimport AVERAGE_EXPONENTIAL
from streamptron.engine.learner cimport Learner
from streamptron.engine.pool cimport pool_init
from streamptron.engine.shard cimport Shard, fold_factor, shard_own, shard_stamp
from streamptron.engine.table cimport (
    Table, table_add_outputs, table_chunk, table_free, table_reserve_blocks, table_reserve_places,
    table_sizes)
from streamptron.engine.mix cimport Merge


cdef inline double _rank(double* losses, size_t n, size_t k) noexcept nogil:
    """The k-th largest of n numbers, from 0; they are reordered (Hoare 1961)."""
    cdef size_t low = 0, high = n - 1, i, j
    cdef double middle, swap
    while low < high:
        middle = losses[low + (high - low) // 2]
        i = low
        j = high
        while True:
            while losses[i] > middle:
                i += 1
            while losses[j] < middle:
                j -= 1
            if i >= j:
                break
            swap = losses[i]
            losses[i] = losses[j]
            losses[j] = swap
            i += 1
            j -= 1
        if k <= j:
            high = j
        else:
            low = j + 1
    return losses[k]


cdef inline bint _age(const Merge* m, slot_t slot, uint32_t* age) noexcept nogil:
    """The least age of a feature in the shards that have it; False if none does."""
    cdef const Shard* shard
    cdef slot_t own
    cdef uint32_t its
    cdef bint found = False
    cdef int k
    age[0] = 0
    for k in range(m.n):
        shard = &m.shards[k]
        own = shard_own(shard, slot)
        if own != SLOT_NULL:
            its = shard.learner.ceiling.clock - shard_stamp(shard, own)
            age[0] = min(age[0], its) if found else its
            found = True
    return found


cdef inline size_t _choose(const Merge* m, size_t most, slot_t* stay, uint32_t* ages,
                           double* losses, double* ordered) noexcept nogil:
    """Which slots stay, in their order; how many."""
    cdef slot_t slot
    cdef size_t i, n = 0, kept = 0, above = 0
    cdef double least
    for slot in range(SLOTS_RESERVED, m.n_slots):
        if _age(m, slot, &ages[n]):
            stay[n] = slot
            n += 1
    if n <= most:
        return n
    for i in range(n):
        table_sizes(&m.to.table, &stay[i], 1, &losses[i])
        losses[i] = losses[i] * losses[i] / (1.0 + ages[i])
        ordered[i] = losses[i]
    least = _rank(ordered, n, most - 1)
    for i in range(n):
        above += losses[i] > least
    for i in range(n):              # of those that are worth the same, the first
        if losses[i] > least or (losses[i] == least and above < most):
            above += losses[i] == least
            stay[kept] = stay[i]
            ages[kept] = ages[i]
            kept += 1
    m.to.ceiling.n_evicted += n - kept
    return kept


cdef inline int _copy_row(Table* to, const Table* other, slot_t slot, slot_t source,
                          slot_t n_slots) noexcept nogil:
    """Copy a slot of another table of the same kind. -1 without memory."""
    cdef uint32_t b
    cdef int k
    cdef double* row
    cdef double factor
    for b in range(<uint32_t> other.n_blocks):
        if table_chunk(other, b, source >> CHUNK_BITS) == NULL:
            continue
        if table_reserve_blocks(to, &slot, 1, n_slots, &b, 1) < 0:
            return -1
        row = table_chunk(to, b, slot >> CHUNK_BITS) + (slot & CHUNK_MASK) * to.width
        memcpy(row, table_chunk(other, b, source >> CHUNK_BITS) + (source & CHUNK_MASK) * to.width,
               to.width * sizeof(double))
        if to.average == AVERAGE_EXPONENTIAL:
            factor = fold_factor(to.fold - other.blocks[b].folds[source >> CHUNK_BITS])
            for k in range(to.lanes):
                row[k * to.layout.fields + to.layout.v] *= factor
    return 0


cdef inline int _settle(Merge* m, slot_t most, const slot_t* stay, const uint32_t* ages,
                        size_t n) noexcept nogil:
    """Let these slots be all there are. -1 without memory."""
    cdef Learner* to = m.to
    cdef Index names
    cdef Table rows = to.table
    cdef Key key
    cdef slot_t slot
    cdef size_t i
    cdef int failed
    rows.blocks = NULL
    rows.n_blocks = rows.n_outputs = 0
    rows.n_chunks = 1
    rows.bytes = 0
    pool_init(&rows.pool, to.table.pool.scattered)
    failed = (index_init(&names, 0, to.index.seed_number, most)
              | table_add_outputs(&rows, to.table.n_outputs)
              | table_reserve_places(&rows, ((n + 1) >> CHUNK_BITS) + 1, False))
    if not failed:
        failed = _copy_row(&rows, &to.table, 1, 1, 2)
    for i in range(n):
        if failed:
            break
        key = index_key(&to.index, stay[i])[0]
        slot = index_insert(&names, &key, key_hash(&names.seed, &key))
        if slot == SLOT_NULL:
            failed = -1
            break
        index_stamp(&names, slot)[0] = to.ceiling.clock - ages[i]
        failed = _copy_row(&rows, &to.table, slot, stay[i], <slot_t> n + SLOTS_RESERVED)
    if failed:
        index_free(&names)
        table_free(&rows)
        return -1
    index_free(&to.index)
    table_free(&to.table)
    to.index = names
    to.table = rows
    if to.ceiling.hand >= names.n_slots:
        to.ceiling.hand = SLOTS_RESERVED
    return 0


cdef inline int stay_limit(Merge* m, slot_t most) noexcept nogil:
    """Under a ceiling of so many features. -1 without memory."""
    cdef size_t n = m.n_slots
    cdef slot_t* stay = <slot_t*> malloc(n * sizeof(slot_t))
    cdef uint32_t* ages = <uint32_t*> malloc(n * sizeof(uint32_t))
    cdef double* losses = <double*> malloc(2 * n * sizeof(double))
    cdef int failed = -1
    if stay != NULL and ages != NULL and losses != NULL:
        n = _choose(m, most, stay, ages, losses, losses + n)
        failed = _settle(m, most, stay, ages, n)
    free(stay)
    free(ages)
    free(losses)
    return failed
