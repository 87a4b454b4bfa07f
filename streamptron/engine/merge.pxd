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
# Under a ceiling all names are united first, then those stay that have the largest size^2 / age, as
# in engine/ceiling.pxd; the age is the least that a shard knows.
#
# Functions in this file: learners_merge (may fail), which the rest serve.

from libc.math cimport exp2, isfinite
from libc.stdint cimport int32_t
from libc.string cimport memcmp, memcpy, memset
from streamptron.engine.types cimport (
    CHUNK_BITS, CHUNK_MASK, CHUNK_SLOTS, SLOT_MAX, SLOT_NULL, SLOTS_RESERVED, slot_t, uint32_t,
    uint64_t)
from streamptron.engine.heap cimport calloc, free, malloc
from streamptron.engine.adaptive cimport (
    Adaptive, adaptive_copy, adaptive_fault, adaptive_free, adaptive_is_pair, adaptive_outputs, adaptive_places,
    adaptive_room, adaptive_set_count)
from streamptron.engine.calibrate cimport Calibrator, calibrator_split
from streamptron.engine.hash cimport key_hash
from streamptron.engine.index cimport (
    Index, index_copy, index_find, index_free, index_init, index_insert, index_is_limited,
    index_key, index_place, index_stamp)
from streamptron.engine.keep cimport KEEP_NONE
from streamptron.engine.key cimport Key
from streamptron.engine.kernels cimport (
    AVERAGE_EXPONENTIAL, AVERAGE_NONE, AVERAGE_UNIFORM, FOLD_BITS, Clock, Layout, average_of,
    pocket_kept)
from streamptron.engine.learner cimport Learner, learner_adapts, learner_several
from streamptron.engine.pool cimport pool_block, pool_free, pool_init, pool_reserve
from streamptron.engine.serve cimport Serve
from streamptron.engine.shard cimport (
    SHARD_MEMORY, SHARD_NAMES, SHARD_NUMBER, SHARD_TWICE, Shard, fold_factor, names_find, names_invert,
    names_prefix, shard_chunk, shard_factor, shard_field, shard_free, shard_is_aligned, shard_key,
    shard_own, shard_row, shard_stamp)
from streamptron.engine.table cimport (
    KEPT_KINDS, SLOTS_ADAPTIVE, SLOTS_WEIGHTS, Blocks, Table, chunk_bytes, table_add_outputs,
    table_blocks, table_chunk, table_free, table_reserve_blocks, table_reserve_places,
    table_set_folds, table_sizes)
from streamptron.engine.tables cimport table_copy

cdef extern from "merge.h":
    ctypedef struct Term "sp_terms":
        const double* slots
        double c
        double n

    ctypedef struct Feature "sp_feature":
        double s
        double cnt
        double om
        double* w
        double* G
        double* c

    ctypedef struct View "sp_view":
        Blocks blocks
        Py_ssize_t outputs
        int positive
        const int32_t* label
        double sign

    void merge_terms "sp_merge_terms" (
        const double* base, double c0, const Term* shards, int n_shards, double N, double* slots,
        int n) noexcept nogil
    void merge_weight "sp_merge_weight" (
        double* w, double* G, const double* w_k, const double* G_k, int n) noexcept nogil
    void feature_read "sp_feature_read" (
        const View* view, slot_t slot, Py_ssize_t outputs, Py_ssize_t labels,
        Feature* to) noexcept nogil
    void feature_write "sp_feature_write" (
        const Blocks* blocks, slot_t slot, Py_ssize_t outputs, Py_ssize_t labels,
        const Feature* source) noexcept nogil
    void merge_feature "sp_merge_feature" (
        Feature* to, const Feature** shards, int n, Py_ssize_t outputs, Py_ssize_t labels,
        double all_, const double* rD, double* scratch) noexcept nogil

cdef struct Part:                   # a shard's say in the slot or chunk at hand
    int k
    slot_t slot                     # its own

cdef struct Merge:
    Learner* to
    const Shard* base
    Shard* shards
    int n
    double N                        # events since the base
    double c0
    int holder                      # whose pocket it is
    slot_t n_slots
    Part* parts                     # those who differ in the chunk at hand,
    int n_parts
    Part* touched                   # and in the slot
    int n_touched
    Term* terms
    # AdaptiveClassifier's
    Py_ssize_t outputs
    Py_ssize_t labels               # places, at least two
    View* views                     # of the shards, then of the base
    Feature* features               # likewise
    const Feature** differing
    double* scratch
    double* numbers                 # which the features point into
    double all_


cdef inline void _free(Merge* m) noexcept nogil:
    cdef int k
    for k in range(m.n):
        shard_free(&m.shards[k])
    free(m.parts)
    free(m.touched)
    free(m.terms)
    free(m.views)
    free(m.features)
    free(m.differing)
    free(m.scratch)
    free(m.numbers)


cdef inline int _room(Merge* m) noexcept nogil:
    """Memory for what is noted of each shard. -1 without it; call _free in either case."""
    cdef int k
    cdef Py_ssize_t size
    m.parts = <Part*> malloc(m.n * sizeof(Part))
    m.touched = <Part*> malloc(m.n * sizeof(Part))
    m.terms = <Term*> malloc(m.n * sizeof(Term))
    m.scratch = <double*> malloc(3 * m.n * sizeof(double))
    if m.parts == NULL or m.touched == NULL or m.terms == NULL or m.scratch == NULL:
        return -1
    if not learner_adapts(m.to):
        return 0
    m.outputs = adaptive_outputs(&m.to.adaptive)
    m.labels = adaptive_places(&m.to.adaptive)
    size = 2 * m.outputs + m.labels
    m.views = <View*> malloc((m.n + 1) * sizeof(View))
    m.features = <Feature*> malloc((m.n + 1) * sizeof(Feature))
    m.differing = <const Feature**> malloc(m.n * sizeof(Feature*))
    m.numbers = <double*> malloc((m.n + 1) * size * sizeof(double))
    if m.views == NULL or m.features == NULL or m.differing == NULL or m.numbers == NULL:
        return -1
    for k in range(m.n + 1):
        _view(m.base if k == m.n else &m.shards[k], &m.views[k])
        m.features[k].w = m.numbers + k * size
        m.features[k].G = m.features[k].w + m.outputs
        m.features[k].c = m.features[k].G + m.outputs
    return 0


cdef inline void _view(const Shard* shard, View* view) noexcept nogil:
    view.blocks = table_blocks(&shard.learner.table)
    view.outputs = shard.learner.table.n_outputs
    view.positive = shard.learner.adaptive.positive
    view.label = shard.labels
    view.sign = shard.signs[0]


# --- What is kept once

cdef inline void _add_fit(Calibrator* to, const Learner* merged, const Shard* shard, int kind,
                          double share) noexcept nogil:
    cdef Calibrator fit = shard.learner.fits[kind]
    if learner_several(merged) and not learner_several(shard.learner):
        calibrator_split(&fit)
    to.A += share * fit.A
    to.B += share * (0.0 - fit.B if shard.signs[0] < 0.0 else fit.B)
    to.GA += share * fit.GA
    to.GB += share * fit.GB
    to.RA += share * fit.RA
    to.RB += share * fit.RB


cdef inline void _mix_serving(Merge* m) noexcept nogil:
    """Scales, calibrators and tallies are means, weighted by events; who leads is put to the vote.
    """
    cdef Serve* serve = &m.to.serve
    cdef const Serve* its
    cdef double share
    cdef double votes[2]
    cdef int k, i, q
    serve.record = m.shards[m.holder].learner.serve.record
    if m.N == 0.0:                  # nobody has seen an event
        return
    memset(m.to.fits, 0, sizeof(m.to.fits))
    memset(serve.scale, 0, sizeof(serve.scale))
    memset(votes, 0, sizeof(votes))
    serve.G[0] = 0.0
    for k in range(m.n):
        its = &m.shards[k].learner.serve
        share = m.shards[k].n / m.N
        for i in range(KEPT_KINDS):
            serve.scale[i].m += share * its.scale[i].m
            serve.scale[i].n += share * its.scale[i].n
            _add_fit(&m.to.fits[i], m.to, &m.shards[k], i, share)
        for i in range(2):
            for q in range(2):
                serve.T[i][q] += share * its.T[i][q]
            serve.G[i] += share * its.G[i]
            votes[i] += share * its.lead[i]
    for q in range(2):
        serve.lead[q] = votes[q] > 0.5


cdef inline void _mix_clock(Merge* m) noexcept nogil:
    """The averages' clock has gone on by the events of all shards, the pocket is the holder's."""
    cdef Table* to = &m.to.table
    cdef const Table* base = &m.base.learner.table
    cdef const Table* its
    cdef double least = exp2(-<double> FOLD_BITS)
    cdef int k
    to.c = base.c
    to.s = base.s
    to.fold = base.fold
    to.epoch = m.shards[m.holder].learner.table.epoch
    if to.average == AVERAGE_UNIFORM:
        to.c = base.c + m.N
    if to.average != AVERAGE_EXPONENTIAL:
        return
    for k in range(m.n):
        its = &m.shards[k].learner.table
        to.s *= its.s / base.s
        to.fold += its.fold - base.fold
        if to.s > 1.0:
            to.s *= least
            to.fold -= 1
        elif to.s < least:
            to.s *= exp2(<double> FOLD_BITS)
            to.fold += 1


cdef inline void _mix_counters(Merge* m) noexcept nogil:
    cdef const Learner* base = m.base.learner
    cdef const Learner* its
    cdef int k
    m.to.n_seen = base.n_seen
    m.to.n_updates = base.n_updates
    m.to.n_mistakes = base.n_mistakes
    m.to.ceiling = base.ceiling
    for k in range(m.n):
        its = m.shards[k].learner
        m.to.n_seen += its.n_seen - base.n_seen
        m.to.n_updates += its.n_updates - base.n_updates
        m.to.n_mistakes += its.n_mistakes - base.n_mistakes
        m.to.ceiling.clock += its.ceiling.clock - base.ceiling.clock
        m.to.ceiling.n_evicted += its.ceiling.n_evicted - base.ceiling.n_evicted


cdef inline int _mix_adaptive(Merge* m) noexcept nogil:
    """What AdaptiveClassifier keeps once, of each label and each output. -1 without memory."""
    cdef Adaptive* to = &m.to.adaptive
    cdef const Adaptive* base = &m.base.learner.adaptive
    cdef const Adaptive* its
    cdef const Shard* shard
    cdef double* w_k = m.scratch
    cdef double* G_k = m.scratch + m.n
    cdef double D, w, G
    cdef Py_ssize_t j, o
    cdef int k, n, part
    if adaptive_room(to, m.labels) < 0:
        return -1
    to.T = base.T
    to.m = base.m if m.N == 0.0 else 0.0
    to.nm = base.nm
    for k in range(m.n):
        its = &m.shards[k].learner.adaptive
        to.T += its.T - base.T
        to.nm += its.nm - base.nm
        if m.N > 0.0:
            to.m += (m.shards[k].n / m.N) * its.m
    to.nm = min(max(to.nm, 0.0), 1024.0)
    for j in range(m.labels):
        D = _count_of(m.base, j)
        for k in range(m.n):
            D += _count_of(&m.shards[k], j) - _count_of(m.base, j)
        adaptive_set_count(to, j, D)
    m.all_ = to.T + m.labels
    for o in range(m.outputs):
        for part in range(2):
            _once(m.base, m.outputs, o, part, &w, &G)
            n = 0
            for k in range(m.n):
                shard = &m.shards[k]
                if adaptive_is_pair(to) or shard.labels[o] >= 0:
                    _once(shard, m.outputs, o, part, &w_k[n], &G_k[n])
                    n += 1
            if n:
                merge_weight(&w, &G, w_k, G_k, n)
            if part == 0:
                to.w0[o] = w
                to.G0[o] = G
            else:
                to.wn[o] = w
                to.Gn[o] = G
    return 0


cdef inline double _count_of(const Shard* shard, Py_ssize_t label) noexcept nogil:
    return shard.learner.adaptive.D[shard.labels[label]] if shard.labels[label] >= 0 else 0.0


cdef inline void _once(const Shard* shard, Py_ssize_t outputs, Py_ssize_t output, int part,
                       double* w, double* G) noexcept nogil:
    """The intercept (part 0) or naive Bayes' weight (1) of an output of the merged learner."""
    cdef const Adaptive* a = &shard.learner.adaptive
    cdef const double* ws = a.wn if part else a.w0
    cdef const double* Gs = a.Gn if part else a.G0
    cdef Py_ssize_t own = shard.outputs[output]
    w[0] = G[0] = 0.0
    if own < 0:
        return
    w[0] = ws[own]
    G[0] = Gs[own]
    if part == 0 and shard.signs[output] < 0.0:
        w[0] = 0.0 - w[0]
    if outputs > 1 and shard.learner.table.n_outputs == 1:
        w[0] *= 0.5                 # the Vs of two outputs are opposite already, see _meet


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
    for k in range(m.n):
        culprit[0] = k
        shard = &m.shards[k]
        if k == 0 and start != base:
            shard.first = shard.n_slots
        else:
            shard.first = names_prefix(shard, base)
        if shard.first < base.n_slots and not limited:
            return SHARD_NAMES
        fault = names_find(shard, names)
        if fault:
            return fault
    for k in range(m.n):
        culprit[0] = k
        fault = names_invert(&m.shards[k], names.n_slots)
        if fault:
            return fault
    return 0


# --- Rows

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
    for k in range(m.n):
        if not _same_chunk(m, &m.shards[k], chunk) and (
                shard_is_aligned(&m.shards[k], chunk)
                or _differs_somewhere(m, &m.shards[k], slot, last)):
            m.parts[m.n_parts].k = k
            m.n_parts += 1
    if m.n_parts == 0 and _keep_chunk(m, chunk, &failed):
        return failed
    if _make_chunks(m, chunk) < 0:
        return -1
    if table_chunk(&m.to.table, 0, chunk) != NULL and _mix_terms(m, chunk):
        return 0
    for slot in range(max(slot, <slot_t> 1), last):
        _mix_slot(m, slot)
    return 0


cdef inline int _mix_rows(Merge* m) noexcept nogil:
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


# --- A ceiling: who stays

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


cdef inline int _limit(Merge* m, slot_t most) noexcept nogil:
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
    if _room(m) < 0:
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
    _mix_counters(m)
    _mix_clock(m)
    _mix_serving(m)
    if learner_adapts(m.to) and _mix_adaptive(m) < 0:
        return SHARD_MEMORY
    if _mix_rows(m) < 0 or (limited and _limit(m, most) < 0):
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
    cdef int fault
    memset(&m, 0, sizeof(Merge))
    m.to = to
    m.base = base
    m.shards = shards
    m.n = n
    if n == 1:
        fault = _alone(to, shards)
    else:
        fault = _hold(&m, culprit)
        _free(&m)
    if fault:
        return fault
    to.version += 1
    if learner_adapts(to):
        return SHARD_NUMBER if adaptive_fault(&to.table, to.index.n_slots) else 0
    return 0 if _is_finite(&to.table) else SHARD_NUMBER
