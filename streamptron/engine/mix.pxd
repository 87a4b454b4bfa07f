# What is known of a merge while it runs; and what the merged learner keeps once.
#
# Counters: the base's and what is new in each shard. The averages' clock goes on by the events of
# all shards. Scales, calibrators and tallies (engine/serve.pxd) are means, weighted by events, for
# sums would weigh as many times too much as there are shards. What AdaptiveClassifier counts adds
# up; its intercepts and the weights of naive Bayes are mixed like any weight (merge_weight).
#
# Functions in this file: mix_room (may fail), mix_free; mix_counters, mix_clock, mix_serving,
# mix_adaptive (may fail).

from libc.math cimport exp2
from libc.stdint cimport int32_t
from libc.string cimport memset
from streamptron.engine.types cimport slot_t
from streamptron.engine.heap cimport free, malloc
from streamptron.engine.adaptive cimport (
    Adaptive, adaptive_is_pair, adaptive_outputs, adaptive_places, adaptive_room,
    adaptive_set_count)
from streamptron.engine.calibrate cimport Calibrator, calibrator_split
from streamptron.engine.kernels cimport AVERAGE_EXPONENTIAL, AVERAGE_UNIFORM, FOLD_BITS
from streamptron.engine.learner cimport Learner, learner_adapts, learner_several
from streamptron.engine.serve cimport Serve
from streamptron.engine.shard cimport Shard, shard_free
from streamptron.engine.table cimport KEPT_KINDS, Blocks, Table, table_blocks

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

    void merge_weight "sp_merge_weight" (
        double* w, double* G, const double* w_k, const double* G_k, int n) noexcept nogil

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


cdef inline void mix_free(Merge* m) noexcept nogil:
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


cdef inline int mix_room(Merge* m) noexcept nogil:
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


cdef inline void mix_serving(Merge* m) noexcept nogil:
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


cdef inline void mix_clock(Merge* m) noexcept nogil:
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


cdef inline void mix_counters(Merge* m) noexcept nogil:
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


cdef inline int mix_adaptive(Merge* m) noexcept nogil:
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
