# One learner of several that learned apart: rows mixed, names and labels united, counters added.
#
# A feature's row is all that is kept for it, of all labels. A shard has a say in it if its row
# differs from the base's, bit for bit; whoever has not touched a feature abstains. With T these
# shards, n_k the events that shard k has seen since the base, N the sum of all n_k:
#
#     w    the mean over T of w_k; of one shard alone its own bits; of none the base's
#     v    UNIFORM: c w - S,  S = S_0 + N (sum over T of S_k - S_0) / (sum over T of n_k)
#          where S = c w - v is the sum of all vectors so far, and c = c_0 + N
#          EXPONENTIAL: (w - the mean over T of the averages, weighted by n_k) / s
#     k    what a rule keeps gains the mean of what it gained in T, and w goes the mean of the ways
#          it went, each as heavy as that gain:  w = w_0 + sum g_k (w_k - w_0) / sum g_k
#     p    of the shard whose pocket has the longest record
#
# AdaptiveClassifier's rows are in merge.h. Whole rows are mixed, not single weights, because a step
# adds to one label what it takes from others: so the rows of a multiclass perceptron still sum to
# 0. docs/decisions.md has the other ways that were measured.
#
# Sums run in the order of the shards, which never changes, whoever comes first. tests/twin/merge.py
# is the same in plain Python, to the last bit.
#
# What it costs: one pass over the shards' memory, chunk by chunk, and no copy but the result. Of
# chunks that are the same as the base's, a comparison. New names are looked up once.
#
# What is kept once is in engine/mix.pxd, rows are mixed in engine/mix_rows.pxd, and
# engine/mix_stay.pxd says which names stay under a ceiling.
#
# Functions in this file: learners_merge (may fail), which the rest serve.

from libc.math cimport isfinite
from libc.string cimport memset
from streamptron.engine.types cimport (
    CHUNK_SLOTS, SLOT_MAX, SLOT_NULL, SLOTS_RESERVED, slot_t, uint64_t)
from streamptron.engine.adaptive cimport adaptive_copy, adaptive_fault, adaptive_free
from streamptron.engine.hash cimport key_hash
from streamptron.engine.index cimport (
    Index, index_find, index_free, index_insert, index_is_limited, index_stamp)
from streamptron.engine.indexes cimport index_copy
from streamptron.engine.key cimport Key
from streamptron.engine.learner cimport Learner, learner_adapts
from streamptron.engine.shard cimport (
    SHARD_MEMORY, SHARD_NAMES, SHARD_NUMBER, SHARD_TWICE, Shard, names_find, names_invert,
    names_prefixes, shard_key, shard_stamp)
from streamptron.engine.table cimport KEPT_KINDS, Table, table_chunk, table_free
from streamptron.engine.tables cimport table_copy
from streamptron.engine.mix cimport (
    Merge, mix_adaptive, mix_clock, mix_counters, mix_free, mix_room, mix_serving)
from streamptron.engine.mix_rows cimport mix_rows
from streamptron.engine.mix_stay cimport stay_limit


# --- Names

cdef inline int _unite(Merge* m, int* culprit) noexcept nogil:
    """All names, the base's first and in place. 0, or what is wrong, and with which shard."""
    cdef Index* names = &m.to.index
    cdef Shard* shard
    cdef const Index* base = &m.base.learner.index
    cdef const Index* start = base
    cdef uint64_t seed = names.seed_number
    cdef bint limited = index_is_limited(names)
    cdef int k, fault
    cdef slot_t slot
    cdef Key key
    if names.bits:
        for k in range(m.n):
            m.shards[k].first = m.shards[k].n_slots
        return 0
    if base.n_slots == SLOTS_RESERVED and m.shards[0].keys == NULL:
        start = &m.shards[0].learner.index      # the first shard's names come first anyway
    if start.lookup == NULL and start.seed_number == seed:
        index_free(names)
        if index_copy(names, start) < 0:
            return SHARD_MEMORY
    else:                           # in a file
        start = base
        for slot in range(SLOTS_RESERVED, base.n_slots):
            key = shard_key(m.base, slot)
            if index_insert(names, &key, key_hash(&names.seed, &key)) == SLOT_NULL:
                return SHARD_MEMORY
    if limited:                     # until it is known which of them stay
        names.max_slots = SLOT_MAX - 1
    names_prefixes(m.shards, m.n, base)
    if start != base:
        m.shards[0].first = m.shards[0].n_slots
    for k in range(m.n):
        culprit[0] = k
        shard = &m.shards[k]
        if shard.first < base.n_slots and not limited:
            return SHARD_NAMES
        fault = names_find(shard, names)
        if fault:
            return fault
    for k in range(m.n):
        culprit[0] = k
        fault = names_invert(&m.shards[k])
        if fault:
            return fault
    return 0


# --- All of it

cdef inline bint _is_finite(const Table* table) noexcept nogil:
    cdef Py_ssize_t b
    cdef size_t i, k
    for b in range(table.n_blocks):
        for i in range(table.n_chunks):
            if table_chunk(table, b, i) == NULL:
                continue
            for k in range(<size_t> (CHUNK_SLOTS * table.width)):
                if not isfinite(table.blocks[b].chunks[i][k]):
                    return False
    return True


cdef inline int _hold(Merge* m, int* culprit) noexcept nogil:
    """Fill the untrained learner. 0, or what is wrong."""
    cdef slot_t most = m.to.index.max_slots - SLOTS_RESERVED
    cdef bint limited = index_is_limited(&m.to.index)
    cdef int k, fault
    if mix_room(m) < 0:
        return SHARD_MEMORY
    for k in range(m.n):
        m.N += m.shards[k].n
        if m.shards[k].learner.serve.record > m.shards[m.holder].learner.serve.record:
            m.holder = k
    m.c0 = m.base.learner.table.c
    fault = _unite(m, culprit)
    if fault:
        return fault
    m.n_slots = m.to.index.n_slots
    mix_counters(m)
    mix_clock(m)
    mix_serving(m)
    if learner_adapts(m.to) and mix_adaptive(m) < 0:
        return SHARD_MEMORY
    if mix_rows(m) < 0 or (limited and stay_limit(m, most) < 0):
        return SHARD_MEMORY
    return 0


cdef inline int _alone(Learner* to, Shard* shard) noexcept nogil:
    """Fill the untrained learner with what one shard is. 0, or what is wrong."""
    cdef const Learner* its = shard.learner
    cdef Index* names = &to.index
    cdef Key key
    cdef slot_t slot
    cdef uint64_t h
    cdef int k
    for slot in range(SLOTS_RESERVED, 0 if names.bits else shard.n_slots):
        key = shard_key(shard, slot)
        h = key_hash(&names.seed, &key)
        if index_find(names, &key, h) != SLOT_NULL:
            return SHARD_TWICE
        if index_insert(names, &key, h) == SLOT_NULL:
            return SHARD_MEMORY
        if index_is_limited(names):
            index_stamp(names, slot)[0] = shard_stamp(shard, slot)
    table_free(&to.table)
    if table_copy(&to.table, &its.table) < 0:
        return SHARD_MEMORY
    for k in range(KEPT_KINDS):
        to.fits[k] = its.fits[k]
    to.serve = its.serve
    to.ceiling = its.ceiling
    to.n_seen = its.n_seen
    to.n_updates = its.n_updates
    to.n_mistakes = its.n_mistakes
    if learner_adapts(to):
        adaptive_free(&to.adaptive)
        if adaptive_copy(&to.adaptive, &its.adaptive) < 0:
            return SHARD_MEMORY
    if index_is_limited(names) and to.ceiling.hand >= max(
            names.n_slots, <slot_t> SLOTS_RESERVED + 1):
        return SHARD_NUMBER
    return 0


cdef inline int learners_merge(Learner* to, const Shard* base, Shard* shards, int n,
                               int* culprit) noexcept nogil:
    """Fill an untrained learner, which has its labels and an empty index, with what shards have
    learned since the base.

    0, or what is wrong (SHARD_), and with which shard. The learner must be freed then.
    """
    cdef Merge m
    cdef int fault, k
    cdef bint doubtful = False
    memset(&m, 0, sizeof(Merge))
    m.to = to
    m.base = base
    m.shards = shards
    m.n = n
    if n == 1:
        fault = _alone(to, shards)
    else:
        fault = _hold(&m, culprit)
        mix_free(&m)
    if fault:
        return fault
    to.version += 1
    for k in range(n):              # numbers that nobody has checked
        doubtful |= (shards[k].keys != NULL or to.index.bits != 0
                     or shards[k].learner.table.borrowed)
    if not (doubtful or base.learner.table.borrowed):
        return 0
    if learner_adapts(to):
        return SHARD_NUMBER if adaptive_fault(&to.table, to.index.n_slots) else 0
    return 0 if _is_finite(&to.table) else SHARD_NUMBER
