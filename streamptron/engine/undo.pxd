# A step taken back.
#
# The weights are a sum of steps, and so is what the average keeps beside them: a step of size d at
# time t adds d to w, and to v the share d c_t or d / s_t (engine/table.pxd). So the same additions
# with the other sign take it back, whatever has been learned since:
#
#     learned        + a x             v + c_t (a x)         ...        later steps, as they were
#     undone         - a x             v - c_t (a x)
#
# The numbers are whole where values and steps are: then w and v are, bit for bit, what they would
# be had this step been left out. Otherwise a rounding may be left.
#
# A feature that a ceiling refused a slot, or has taken it away from since, is left alone: nothing
# of the step is there. One that has come back is known by another slot than it had.
#
# AdaptiveClassifier's numbers are no plain sums; adaptive_undo.h says what comes back of them.
#
# Functions in this file: undo_moment, undo_leave, undo_moves; of AdaptiveClassifier kept_width,
# kept_fill, kept_once_each, kept_blocks, kept_take_back and kept_is_sound, with once_read and
# once_take_back.

from libc.math cimport fabs, ldexp
from libc.stdint cimport uint8_t, uint32_t
from streamptron.engine.adaptive cimport (
    Adaptive, Stride, adaptive_is_pair, adaptive_outputs, adaptive_places, adaptive_set_count,
    places_block, G_block)
from streamptron.engine.event cimport Event
from streamptron.engine.learner cimport Learner, _add
from streamptron.engine.table cimport Blocks, Table, table_blocks
from streamptron.engine.types cimport SLOT_NULL, SLOTS_RESERVED, slot_t

cdef extern from "adaptive_undo.h":
    enum:
        KEPT_FIRST "SP_KEPT_FIRST"

    double kept_read "sp_kept_read" (
        const Blocks* blocks, slot_t slot, Py_ssize_t there, Py_ssize_t outputs, int positive,
        Py_ssize_t y, const Py_ssize_t* k, Py_ssize_t m, float* kept) noexcept nogil
    bint kept_mark "sp_kept_mark" (const Blocks* blocks, slot_t slot) noexcept nogil
    void kept_unmark "sp_kept_unmark" (const Blocks* blocks, slot_t slot) noexcept nogil
    void take_back "sp_take_back" (
        const Blocks* blocks, slot_t slot, Py_ssize_t outputs, bint one, int positive,
        Py_ssize_t y, const Py_ssize_t* k, Py_ssize_t m, const float* before, const float* after,
        double s_before, double s_after, double all_, const double* rD) noexcept nogil

cdef enum:
    ONCE_MODEL = 4                  # T, D of the label, m, nm
    ONCE_OUTPUT = 4                 # w0, G0, wn, Gn
    FOLDS_MOST = 16                 # of 2^256: more folds leave nothing of any share


cdef struct Moment:                 # of the average's clock
    double c
    double s
    uint32_t fold


cdef inline Moment undo_moment(const Learner* learner) noexcept nogil:
    cdef Moment moment
    moment.c = learner.table.c
    moment.s = learner.table.s
    moment.fold = learner.table.fold
    return moment


cdef inline void undo_leave(Learner* learner, Event* event, const uint32_t* slots) noexcept nogil:
    """Leave out the entries that had no slot, or another one. They are `slots` of the event."""
    cdef Py_ssize_t i
    for i in range(event.n):
        if event.slots[i] != slots[i]:
            event.slots[i] = SLOT_NULL


cdef inline void undo_moves(Learner* learner, Event* event, Moment moment) noexcept nogil:
    """Take the moves of the event's step, as at that moment. The slots are reserved."""
    cdef Table* table = &learner.table
    cdef double c = table.c, s = table.s
    cdef int folds = <int> min(table.fold - moment.fold, <uint32_t> FOLDS_MOST)
    table.c = moment.c
    table.s = ldexp(moment.s, 256 * folds)
    _add(learner, event)
    table.c = c
    table.s = s


# --- AdaptiveClassifier

cdef inline Py_ssize_t kept_width(Py_ssize_t m) noexcept nogil:
    """Floats for each entry."""
    return KEPT_FIRST + 2 * m


cdef inline void kept_fill(const Learner* learner, const Event* event, Py_ssize_t there,
                           Py_ssize_t outputs, Py_ssize_t y, const Py_ssize_t* k, Py_ssize_t m,
                           float* kept, double* means) noexcept nogil:
    """Write down what the event's slots hold; `there`: the outputs that they have."""
    cdef Blocks blocks = table_blocks(&learner.table)
    cdef Py_ssize_t i
    for i in range(event.n):
        means[i] = kept_read(&blocks, event.slots[i], there, outputs, learner.adaptive.positive, y,
                             k, m, kept + i * kept_width(m))


cdef inline void kept_once_each(const Learner* learner, const Event* event,
                                uint32_t* slots) noexcept nogil:
    """The slots of the event's entries, each once; 0 where there is none, or not again."""
    cdef Blocks blocks = table_blocks(&learner.table)
    cdef Py_ssize_t i
    for i in range(event.n):
        slots[i] = event.slots[i]
        if slots[i] != SLOT_NULL and kept_mark(&blocks, slots[i]):
            slots[i] = SLOT_NULL
    for i in range(event.n):
        if slots[i] != SLOT_NULL:
            kept_unmark(&blocks, slots[i])


cdef inline void once_read(const Adaptive* a, Py_ssize_t outputs, Py_ssize_t y,
                           const Py_ssize_t* k, Py_ssize_t m, double* once) noexcept nogil:
    """What is kept once that a step for label y changes, as `outputs` outputs will have it."""
    cdef Py_ssize_t j, i, own = adaptive_outputs(a)
    cdef double mean = 0.0
    cdef bint split = own == 1 and outputs > 1
    once[0] = a.T
    once[1] = a.D[y] if y < adaptive_places(a) else 0.0
    once[2] = a.m
    once[3] = a.nm
    once += ONCE_MODEL
    for i in range(2 if split else own):
        mean += 0.5 * a.wn[0] if split else a.wn[i]
    for j in range(m):
        if k[j] >= (2 if split else own):       # a new label's
            once[0] = once[1] = once[3] = 0.0
            once[2] = mean / (2 if split else own)
        elif split:
            once[0] = 0.5 * a.w0[0] if k[j] == a.positive else -0.5 * a.w0[0]
            once[1] = a.G0[0]
            once[2] = 0.5 * a.wn[0]
            once[3] = a.Gn[0]
        else:
            once[0] = a.w0[k[j]]
            once[1] = a.G0[k[j]]
            once[2] = a.wn[k[j]]
            once[3] = a.Gn[k[j]]
        once += ONCE_OUTPUT


cdef inline double _back(double now, double before, double after) noexcept nogil:
    return before if now == after else now - (after - before)


cdef inline void _back_output(Adaptive* a, Py_ssize_t k, double sign, double half,
                              const double* before, const double* after) noexcept nogil:
    a.w0[k] = _back(a.w0[k], sign * before[0], sign * after[0])
    a.G0[k] = max(0.0, _back(a.G0[k], before[1], after[1]))
    a.wn[k] = _back(a.wn[k], half * before[2], half * after[2])
    a.Gn[k] = max(0.0, _back(a.Gn[k], before[3], after[3]))


cdef inline void once_take_back(Adaptive* a, bint one, Py_ssize_t y, const Py_ssize_t* k,
                                Py_ssize_t m, const double* before,
                                const double* after) noexcept nogil:
    """Take back what is kept once. The usual |d| comes back only if nothing was learned since."""
    cdef Py_ssize_t j
    a.T = max(0.0, _back(a.T, before[0], after[0]))
    adaptive_set_count(a, y, max(0.0, _back(a.D[y], before[1], after[1])))
    if a.m == after[2] and a.nm == after[3]:
        a.m = before[2]
        a.nm = before[3]
    for j in range(m):
        before += ONCE_MODEL if j == 0 else ONCE_OUTPUT
        after += ONCE_MODEL if j == 0 else ONCE_OUTPUT
        if not one:
            _back_output(a, k[j], 1.0, 1.0, before, after)
        elif adaptive_is_pair(a):
            _back_output(a, 0, 1.0, 1.0, before, after)
        else:
            _back_output(a, a.positive, 0.5, 0.5, before, after)
            _back_output(a, 1 - a.positive, -0.5, 0.5, before, after)


cdef inline Py_ssize_t kept_blocks(const Table* table, Py_ssize_t y, const Py_ssize_t* k,
                                   Py_ssize_t m, uint32_t* blocks) noexcept nogil:
    """The blocks that are written then: at most 4 + 2 m. Returns how many."""
    cdef Py_ssize_t j, n = 1
    blocks[0] = 0
    if table.n_outputs == 1:
        return n
    blocks[1] = <uint32_t> places_block(0)
    blocks[2] = <uint32_t> G_block(0)
    blocks[3] = <uint32_t> places_block(y)
    n = 4
    for j in range(m):
        blocks[n] = <uint32_t> places_block(k[j])
        blocks[n + 1] = <uint32_t> G_block(k[j])
        n += 2
    return n


cdef inline void kept_take_back(Learner* learner, const Event* event, bint one, Py_ssize_t y,
                                const Py_ssize_t* k, Py_ssize_t m, const float* before,
                                const float* after, const double* s_before,
                                const double* s_after) noexcept nogil:
    """Take a step back from the event's slots, after what is kept once."""
    cdef Adaptive* a = &learner.adaptive
    cdef Blocks blocks = table_blocks(&learner.table)
    cdef Py_ssize_t i, width = kept_width(m), outputs = adaptive_outputs(a)
    cdef double all_ = a.T + adaptive_places(a)
    for i in range(event.n):
        if event.slots[i] >= SLOTS_RESERVED:
            take_back(&blocks, event.slots[i], outputs, one, a.positive, y, k, m,
                      before + i * width, after + i * width, s_before[i], s_after[i], all_, a.rD)


cdef inline bint kept_is_sound(const float* numbers, Py_ssize_t n, Py_ssize_t m) noexcept nogil:
    """Whether n entries' numbers are those of slots."""
    cdef Py_ssize_t i, j, width = kept_width(m)
    cdef const float* row
    for i in range(n):
        row = numbers + i * width
        for j in range(width):
            if not fabs(row[j]) <= 1e36:
                return False
        if not (0.0 <= row[0] <= 2097152.0 and (row[1] == 0.0 or row[1] >= 0.125)):
            return False
        for j in range(KEPT_FIRST + 1, width, 2):
            if row[j] < 0.0:
                return False
    return True
