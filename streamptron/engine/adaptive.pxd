# AdaptiveClassifier: a soft perceptron on features weighted by what they have told about the label.
#
# The other rules say how far a step goes and the table takes it. This one keeps other numbers for a
# feature, so it has slots, sums and updates of its own. tests/twin/adaptive.py is the same in plain
# Python, to the last bit; the docstring of streamptron/adaptive.py says where it comes from. In its
# letters:
#
#     a feature j              s      the mean of |x|, by sample weight u; was x ever negative?
#                              cnt    the sum of u
#                              om     how much it has told about the label; 1/8 at first
#     a feature and a label    c      the sum of u v
#     a feature and an output  w, G   the weight, and the sum of q X^2
#     a label                  D      the sum of u
#     an output                w0, G0 the intercept's; wn, Gn: the weight of naive Bayes, 3 at first
#     once                     T      the sum of u;  m, nm: the usual |d|, over so many events
#
# To answer, nothing is written:
#
#     v = clip(x / (s moved by |x|), 8)       a value that is always the same gives 1, at any scale;
#                                             at most 32 s moves s
#     h = om (v - share^4)                    share = cnt / (T + 1), or 1 from cnt = 2^19 on; none
#                                             off what was negative once, or is as it always was
#     X = h / sqrt(sum of max(h^2, om^2))
#     z_k = log(D_k + 1) + sum of log((1 + c_k T / N) / (D_k + 1)),  N = sum of c_k
#                                             over features that never were negative
#     d = z_1 - z_0 for two labels; else z_k less the best, and the best less the second
#     score_k = w_k X + w0_k + wn_k V_k       with V = clip(d / m, 2)
#     P = sigmoid or softmax(score T / (T + 10))
#
# To learn label y with sample weight u:
#
#     g_k = [k = y] - p_k                     p of the score as it is
#     q = u |g_k|;  eta' = eta min(1, 12 / sum |X|)
#     where q > 1/128:  G = G (1 - phi q) + q X^2;  w += eta' u g_k X / sqrt(G + 2^-20)
#                       likewise w0 and wn
#     then the counts, and om^2 = 1/64 + chi^2 of the feature's counts / (cnt + 1)^2
#
# Up to two labels have one output, which speaks for the `positive` one: the second, unless the
# first is True. The third splits it into two of half the weight, so that no difference of scores
# changes. After that there is an output a label.
#
# Slots. All of 32 bytes, in blocks of the table, each a chunked array of its own; all numbers are
# floats but s and N, which hold 1e-50 and 1e50:
#
#     block 0        the head               [    s    | cnt | om |  w  |  G  | c_0 | c_1 ]
#                    once it is dealt out   [    s    | cnt | om |  0  | -1  |     N     ]
#     block 1        places 0..3            [ w   w   w   w | c   c   c   c ]
#     block 2        places 0..7            [ G   G   G   G   G   G   G   G ]
#     block 3        places 4..7            [ w   w   w   w | c   c   c   c ]
#     blocks 4, 5, 6 places 8..15 ...
#
# So with two labels a feature costs 32 bytes and half a cache line; with K labels 32 and 12 a
# label, and a new label moves no slot. Nor does the split: a slot is dealt out to its groups when
# it is next written; until then it is read as if it had been. Answering takes the heads and half a
# line for each four labels; the G are read only where an output steps. A chunk of a block is made
# when it is first written, as everywhere in the table.
#
# Cost. Answering takes three divisions a feature, side by side, and no logarithm: the product of
# the 1 + c T / N is taken, its exponent moved to an integer every fourth feature, and one logarithm
# a label taken of that. Learning takes a square root and a division a feature for the counts, and
# one each for every output that steps, several at once: of two labels four features at a time, of
# more up to 32 outputs.
#
# Nothing overflows: values lie within 1e50 and u within U_LIMIT, factors from 1 to T + 1, and a
# feature's counts are halved before cnt is 2^20, beyond which floats begin to lose what is added;
# before 2^19, unless 7 of 8 events have had it. So a large cnt says that it is always there.
#
# Functions in this file: adaptive_init, adaptive_expect, adaptive_room, adaptive_copy (may fail),
# adaptive_free, adaptive_bytes, adaptive_is_pair, adaptive_outputs, adaptive_places,
# adaptive_set_count; weighed_reserve (this too), weighed_free, weighed_bytes; adaptive_answer,
# adaptive_best, adaptive_decide, adaptive_probabilities; adaptive_aim, adaptive_blocks,
# adaptive_learn; adaptive_weight and adaptive_share for explanations; adaptive_fault for what a
# file says.

from libc.math cimport fabs, sqrt
from libc.string cimport memcpy, memset
from streamptron.engine.types cimport CHUNK_BITS, slot_t, uint32_t
from streamptron.engine.heap cimport free, realloc
from streamptron.engine.table cimport Blocks, Table, table_blocks

cdef extern from "adaptive_slots.h":
    enum:
        STRIDES "SP_STRIDES"            # outputs that step at once

    const double LN2 "SP_LN2"
    const double U_LIMIT "SP_U_LIMIT"   # of sample weight times class weight

    ctypedef struct Sums "sp_sums":
        double* v
        double* h
        double* t
        double squares
        double length
        double unknown
        double dot
        double P[2]
        Py_ssize_t E[2]
        Py_ssize_t used

    ctypedef struct Stride "sp_stride":
        Py_ssize_t k
        double f
        double q
        double kept

    double log_exact "sp_log" (double x) noexcept nogil
    double exp_exact "sp_exp" (double x) noexcept nogil
    void logs "sp_logs" (const double* P, const double* E, const double* lnD, double times,
                         double* z,
                         Py_ssize_t n) noexcept nogil
    void exps "sp_exps" (const double* score, double scale, double best, double* p,
                         Py_ssize_t n) noexcept nogil
    void heads "sp_heads" (double** chunks, const slot_t* slots, const double* x, Py_ssize_t n,
                           double T, double events, Sums* sums, bint pair,
                           bint bayes) noexcept nogil
    void speak "sp_speak" (double*** fours, Py_ssize_t n_fours, double** heads, const slot_t* slots,
                           const Sums* sums,
                           Py_ssize_t n, int positive, double* dots, double* P,
                           double* E) noexcept nogil
    void learn_pair "sp_learn_pair" (
        double** chunks, const slot_t* slots, const double* x, Py_ssize_t n,
        const Sums* sums, double r, const Stride* stride, int y, double u, double all_,
        const double* rD) noexcept nogil
    void deal_all "sp_deal_all" (const Blocks* blocks, const slot_t* slots, Py_ssize_t n,
                                 int positive) noexcept nogil
    void stride_many "sp_stride_many" (const Blocks* blocks, const slot_t* slots, Py_ssize_t n,
                                       const Sums* sums, double r,
                                       const Stride* strides, int m) noexcept nogil
    void count_many "sp_count_many" (
        double** heads, double*** fours, Py_ssize_t n_fours, const slot_t* slots, const double* x,
        Py_ssize_t n,
        const Sums* sums, Py_ssize_t y, double u, double all_, const double* rD) noexcept nogil
    Py_ssize_t places_block "sp_places_block" (Py_ssize_t k) noexcept nogil
    Py_ssize_t G_block "sp_G_block" (Py_ssize_t k) noexcept nogil
    double sp_weight (const Blocks* blocks, slot_t slot, Py_ssize_t k, Py_ssize_t outputs,
                      int positive) noexcept nogil
    double sp_count_of (const Blocks* blocks, slot_t slot, Py_ssize_t k) noexcept nogil
    double sp_odds_of (const Blocks* blocks, slot_t slot, double x, double T) noexcept nogil
    bint sp_slot_fault (const Blocks* blocks, slot_t slot, Py_ssize_t outputs) noexcept nogil

cdef enum:
    ADAPTIVE_NUMBERS = 7                # kept for each label or output, once a model

cdef struct Adaptive:
    double eta
    double forget                       # phi
    bint naive_bayes
    bint intercept
    int positive                        # of two labels, the one the output speaks for
    Py_ssize_t n_labels
    double T
    double m
    double nm
    Py_ssize_t room                     # of each of these, in one block of memory
    double* D
    double* lnD                         # log(D + 1)
    double* rD                          # 1 / (D + 1)
    double* w0
    double* G0
    double* wn
    double* Gn

cdef struct Weighed:
    # An event as it has been answered, and the step that is made of it.
    Sums sums
    Py_ssize_t room                     # entries
    double r                            # of X = om v r
    double length                       # sum |X|
    double unknown                      # how little of the event is known, for the rank
    Py_ssize_t outputs_room
    double* score                       # the outputs', in one block of memory
    double* d
    double* V
    double* P                           # of naive Bayes; then the probabilities
    double* E
    Stride* strides
    Py_ssize_t n_strides
    double*** fours                     # the chunks of each block of four places
    uint32_t* blocks                    # that are going to be written
    Py_ssize_t best, second             # by naive Bayes


cdef inline void adaptive_free(Adaptive* a) noexcept nogil:
    free(a.D)
    a.D = NULL
    a.room = 0


cdef inline size_t adaptive_bytes(const Adaptive* a) noexcept nogil:
    return a.room * ADAPTIVE_NUMBERS * sizeof(double)


cdef inline Py_ssize_t adaptive_places(const Adaptive* a) noexcept nogil:
    """How many labels naive Bayes weighs: two from the start, whether or not they have come."""
    return max(a.n_labels, <Py_ssize_t> 2)


cdef inline bint adaptive_is_pair(const Adaptive* a) noexcept nogil:
    """Whether there is one output."""
    return a.n_labels <= 2


cdef inline Py_ssize_t adaptive_outputs(const Adaptive* a) noexcept nogil:
    return 1 if a.n_labels <= 2 else a.n_labels


cdef inline Py_ssize_t _fours(Py_ssize_t n) noexcept nogil:
    return (n + 3) // 4


cdef inline void _place(Adaptive* a) noexcept nogil:
    """Where the arrays lie in the block that starts with D."""
    a.lnD = a.D + a.room
    a.rD = a.D + 2 * a.room
    a.w0 = a.D + 3 * a.room
    a.G0 = a.D + 4 * a.room
    a.wn = a.D + 5 * a.room
    a.Gn = a.D + 6 * a.room


cdef inline int adaptive_room(Adaptive* a, Py_ssize_t n) noexcept nogil:
    """Room for n labels. Returns -1 without memory."""
    cdef Py_ssize_t room = 8 * ((n + n // 2 + 7) // 8)
    cdef Py_ssize_t i, k
    cdef Py_ssize_t old = a.room
    cdef double* numbers
    if n <= a.room:
        return 0
    numbers = <double*> realloc(a.D, room * ADAPTIVE_NUMBERS * sizeof(double))
    if numbers == NULL:
        return -1
    for i in range(ADAPTIVE_NUMBERS - 1, -1, -1):   # from the end, for the arrays move up
        for k in range(old - 1, -1, -1):
            numbers[i * room + k] = numbers[i * old + k]
        for k in range(old, room):
            numbers[i * room + k] = 1.0 if i == 2 else 0.0
    a.D = numbers
    a.room = room
    _place(a)
    if old == 0:
        a.wn[0] = 3.0
    return 0


cdef inline int adaptive_expect(Adaptive* a, Py_ssize_t n, int positive) noexcept nogil:
    """Untrained, with n labels. Returns -1 without memory."""
    a.positive = positive
    a.n_labels = n
    return adaptive_room(a, n)


cdef inline int adaptive_init(Adaptive* a, double eta, double forget, bint naive_bayes,
                              bint intercept) noexcept nogil:
    """Untrained. Returns -1 without memory. Call adaptive_free in either case."""
    memset(a, 0, sizeof(Adaptive))
    a.eta = eta
    a.forget = forget
    a.naive_bayes = naive_bayes
    a.intercept = intercept
    a.positive = 1
    return adaptive_room(a, 2)


cdef inline int adaptive_copy(Adaptive* to, const Adaptive* other) noexcept nogil:
    """The same with memory of its own. -1 without it. Call adaptive_free in either case."""
    to[0] = other[0]
    to.D = NULL
    to.room = 0
    if other.room == 0:
        return 0
    if adaptive_room(to, other.n_labels if other.n_labels > 2 else 2) < 0:
        return -1
    cdef Py_ssize_t i
    for i in range(ADAPTIVE_NUMBERS):
        memcpy(to.D + i * to.room, other.D + i * other.room, min(to.room,
                other.room) * sizeof(double))
    return 0


cdef inline void adaptive_set_count(Adaptive* a, Py_ssize_t k, double D) noexcept nogil:
    a.D[k] = D
    a.lnD[k] = log_exact(D + 1.0)
    a.rD[k] = 1.0 / (D + 1.0)


# --- An event in scratch

cdef inline void weighed_free(Weighed* w) noexcept nogil:
    free(w.sums.v)
    free(w.score)
    free(w.strides)
    free(w.fours)
    free(w.blocks)
    memset(w, 0, sizeof(Weighed))


cdef inline size_t weighed_bytes(const Weighed* w) noexcept nogil:
    return (3 * w.room * sizeof(double)
            + w.outputs_room * (5 * sizeof(double) + sizeof(Stride))
            + w.outputs_room // 4 * sizeof(double**)
            + (w.outputs_room // 2 + 4) * sizeof(uint32_t) * (w.blocks != NULL))


cdef inline int weighed_reserve(Weighed* w, Py_ssize_t n, Py_ssize_t outputs) noexcept nogil:
    """Room for n entries and so many outputs. Returns -1 without memory."""
    cdef Py_ssize_t room = n + n // 2 + 16
    cdef void* p
    if n > w.room:
        p = realloc(w.sums.v, 3 * room * sizeof(double))
        if p == NULL:
            return -1
        w.sums.v = <double*> p
        w.sums.h = w.sums.v + room
        w.sums.t = w.sums.v + 2 * room
        w.room = room
    if outputs > w.outputs_room:
        room = 4 * _fours(outputs + outputs // 2)
        p = realloc(w.strides, room * sizeof(Stride))
        if p == NULL:
            return -1
        w.strides = <Stride*> p
        p = realloc(w.fours, room // 4 * sizeof(double**))
        if p == NULL:
            return -1
        w.fours = <double***> p
        p = realloc(w.blocks, (room // 2 + 4) * sizeof(uint32_t))
        if p == NULL:
            return -1
        w.blocks = <uint32_t*> p
        p = realloc(w.score, 5 * room * sizeof(double))
        if p == NULL:
            return -1
        w.score = <double*> p
        w.d = w.score + room
        w.V = w.score + 2 * room
        w.P = w.score + 3 * room
        w.E = w.score + 4 * room
        w.outputs_room = room
    return 0


# --- The answer

cdef inline double _clip2(double x) noexcept nogil:
    return 2.0 if x > 2.0 else -2.0 if x < -2.0 else x


cdef inline double _max_of(const double* numbers, Py_ssize_t n) noexcept nogil:
    cdef double most = numbers[0]
    cdef Py_ssize_t k
    for k in range(1, n):
        most = numbers[k] if numbers[k] > most else most
    return most


cdef inline void _ask_naive_bayes_pair(const Adaptive* a, Weighed* w) noexcept nogil:
    cdef const Sums* s = &w.sums
    cdef double z[2]
    cdef int k
    for k in range(2):
        z[k] = (log_exact(s.P[k]) + s.E[k] * LN2) - (s.used - 1.0) * a.lnD[k]
    w.d[0] = z[a.positive] - z[1 - a.positive]


cdef inline void _ask_naive_bayes(const Adaptive* a, Weighed* w) noexcept nogil:
    """d of each place; z is there before."""
    cdef Py_ssize_t k, n = a.n_labels
    cdef double* z = w.d
    cdef double best, second
    logs(w.P, w.E, a.lnD, w.sums.used - 1.0, z, n)
    w.best = 0
    for k in range(1, n):
        if z[k] > z[w.best]:
            w.best = k
    w.second = 1 if w.best == 0 else 0
    for k in range(n):
        if k != w.best and z[k] > z[w.second]:
            w.second = k
    best = z[w.best]
    second = z[w.second]
    for k in range(n):
        z[k] -= best
    w.d[w.best] = best - second


cdef inline Py_ssize_t _find_fours(const Table* table, Weighed* w, Py_ssize_t n) noexcept nogil:
    """Where the places of n labels are: how many blocks."""
    cdef Py_ssize_t b
    for b in range(_fours(n)):
        w.fours[b] = table.blocks[places_block(4 * b)].chunks
    return _fours(n)


cdef inline double _events(const Adaptive* a) noexcept nogil:
    """1 / (T + 1), or 0 if there is no intercept to take what is always there."""
    return 1.0 / (a.T + 1.0) if a.intercept else 0.0


cdef inline void adaptive_answer(const Adaptive* a, const Table* table, const slot_t* slots,
                                 const double* x, Py_ssize_t n, Weighed* w) noexcept nogil:
    """Everything about an event that does not depend on its label: the score of each output, and
    what learning will need.
    """
    cdef Py_ssize_t k, outputs = adaptive_outputs(a)
    cdef bint pair = adaptive_is_pair(a)
    cdef double m = a.m if a.m > 0.0 else 1.0
    heads(table.blocks[0].chunks, slots, x, n, a.T, _events(a), &w.sums, pair, a.naive_bayes)
    w.r = 1.0 / sqrt(w.sums.squares) if w.sums.squares > 0.0 else 0.0
    w.length = w.sums.length * w.r
    w.unknown = (w.sums.unknown * w.r) * w.r
    if pair:
        w.score[0] = w.sums.dot * w.r
        w.V[0] = 0.0
        if a.naive_bayes:
            _ask_naive_bayes_pair(a, w)
    else:
        if n and not a.naive_bayes:
            memset(w.sums.t, 0, n * sizeof(double))
        speak(w.fours, _find_fours(table, w, outputs), table.blocks[0].chunks, slots, &w.sums, n,
              a.positive, w.score, w.P, w.E)
        for k in range(outputs):
            w.score[k] *= w.r
            w.V[k] = 0.0
        if a.naive_bayes:
            _ask_naive_bayes(a, w)
    if a.intercept:
        for k in range(outputs):
            w.score[k] += a.w0[k]
    if a.naive_bayes:
        for k in range(outputs):
            w.V[k] = _clip2(w.d[k] / m)
            w.score[k] += a.wn[k] * w.V[k]


cdef inline double _tempering(const Adaptive* a) noexcept nogil:
    """Scores count for less while little has been seen: probabilities are closer to equal."""
    return a.T / (a.T + 10.0)


cdef inline Py_ssize_t adaptive_best(const Adaptive* a, const Weighed* w) noexcept nogil:
    """The label of an answered event; -1 before the first."""
    cdef Py_ssize_t k, best = 0
    if a.n_labels < 2:
        return a.n_labels - 1
    if a.n_labels == 2:
        return a.positive if w.score[0] > 0.0 else 1 - a.positive
    for k in range(1, a.n_labels):
        if w.score[k] > w.score[best]:
            best = k
    return best


cdef inline void adaptive_decide(const Adaptive* a, const Weighed* w,
                                 double* decision) noexcept nogil:
    """Of two labels the rank, a number; of more each output's score, of which P is the softmax."""
    cdef double tempering = _tempering(a)
    cdef Py_ssize_t k
    if adaptive_is_pair(a):
        decision[0] = w.score[0] * tempering / (1.0 + 2.0 * w.unknown)
        return
    for k in range(a.n_labels):
        decision[k] = w.score[k] * tempering


cdef inline double _sigmoid(double t) noexcept nogil:
    cdef double e
    if t >= 0.0:
        return 1.0 / (1.0 + exp_exact(-t))
    e = exp_exact(t)
    return e / (1.0 + e)


cdef inline void _softmax(const double* score, double scale, double* p,
                          Py_ssize_t n) noexcept nogil:
    cdef double total = 0.0
    cdef Py_ssize_t k
    exps(score, scale, _max_of(score, n) * scale, p, n)
    for k in range(n):
        total += p[k]
    for k in range(n):
        p[k] /= total


cdef inline void adaptive_probabilities(const Adaptive* a, const Weighed* w,
                                        double* p) noexcept nogil:
    """p[label] of each label met."""
    if a.n_labels == 1:
        p[0] = 1.0
    elif a.n_labels == 2:
        p[a.positive] = _sigmoid(w.score[0] * _tempering(a))
        p[1 - a.positive] = _sigmoid(-w.score[0] * _tempering(a))
    elif a.n_labels:
        _softmax(w.score, _tempering(a), p, a.n_labels)


# --- Learning

cdef inline void _aim(const Adaptive* a, Weighed* w, Py_ssize_t k, double g,
                      double u) noexcept nogil:
    """The stride of output k, if its error is worth one."""
    cdef double q = u * fabs(g)
    cdef double eta = a.eta if w.length <= 12.0 else a.eta * (12.0 / w.length)
    cdef Stride* stride = &w.strides[w.n_strides]
    if not q > 0.0078125:
        return
    stride.k = k
    stride.q = q
    stride.kept = 1.0 - a.forget * q
    if stride.kept < 0.0:
        stride.kept = 0.0
    stride.f = (eta * u) * g
    w.n_strides += 1


cdef inline void adaptive_aim(const Adaptive* a, Weighed* w, Py_ssize_t y, double u) noexcept nogil:
    """The stride of each output for label y; y is n_labels if it is new.

    There is room for one more output. If the label adds outputs, the scores become theirs.
    """
    cdef Py_ssize_t k, n = a.n_labels
    cdef double score, V
    w.n_strides = 0
    if u == 0.0:
        return
    if n + (y == n) <= 2:
        _aim(a, w, 0, (1.0 if y == a.positive else 0.0) - _sigmoid(w.score[0]), u)
        return
    if y == n:
        if n == 2:
            score = 0.5 * w.score[0]
            V = w.V[0]
            w.score[a.positive] = score
            w.score[1 - a.positive] = -score
            w.V[a.positive] = V
            w.V[1 - a.positive] = -V
        w.score[n] = 0.0
        w.V[n] = 0.0
        n += 1
    _softmax(w.score, 1.0, w.P, n)
    for k in range(n):
        _aim(a, w, k, (1.0 if k == y else 0.0) - w.P[k], u)


cdef inline Py_ssize_t adaptive_blocks(const Table* table, Weighed* w, Py_ssize_t y) noexcept nogil:
    """List the blocks that the step for label y will write. Returns how many.

    The table has the outputs for it. A slot that is dealt out is written in the first group too.
    """
    cdef Py_ssize_t i, k, n = 1
    w.blocks[0] = 0
    if table.n_outputs == 1:
        return n
    w.blocks[1] = <uint32_t> places_block(0)
    w.blocks[2] = <uint32_t> G_block(0)
    w.blocks[3] = <uint32_t> places_block(y)
    n = 4
    for i in range(w.n_strides):
        k = w.strides[i].k
        if i == 0 or places_block(k) != places_block(w.strides[i - 1].k):
            w.blocks[n] = <uint32_t> places_block(k)
            w.blocks[n + 1] = <uint32_t> G_block(k)
            n += 2
    return n


cdef inline void _learn_usual_odds(Adaptive* a, const Weighed* w) noexcept nogil:
    """m, the usual |d|; of the outputs before a new label."""
    cdef double mean = 0.0
    cdef Py_ssize_t k, n = adaptive_outputs(a)
    for k in range(n):
        mean += fabs(w.d[k])
    mean /= n
    a.nm = min(a.nm + 1.0, 1024.0)
    a.m += (mean - a.m) / a.nm


cdef inline void _meet(Adaptive* a) noexcept nogil:
    """Add a label; there is room for it."""
    cdef Py_ssize_t k, n = a.n_labels
    cdef int p = a.positive
    cdef double half, mean = 0.0
    a.n_labels = n + 1
    if n < 2:
        return
    if n == 2:
        half = 0.5 * a.w0[0]
        a.w0[p] = half
        a.w0[1 - p] = -half
        a.G0[1] = a.G0[0]
        a.wn[0] = a.wn[1] = 0.5 * a.wn[0]   # the Vs are opposite already
        a.Gn[1] = a.Gn[0]
    for k in range(n):
        mean += a.wn[k]
    a.wn[n] = mean / n
    a.w0[n] = a.G0[n] = a.Gn[n] = 0.0


cdef inline void adaptive_learn(Adaptive* a, Table* table, const slot_t* slots,
                                const double* x,
                                Py_ssize_t n, Weighed* w, Py_ssize_t y, double u) noexcept nogil:
    """Take the step that adaptive_aim chose, and count label y, with weight u above 0.

    The slots must be reserved.
    """
    cdef Py_ssize_t i, k
    cdef Stride* stride
    cdef Stride none
    cdef Blocks blocks = table_blocks(table)
    cdef double V
    if a.naive_bayes:
        _learn_usual_odds(a, w)
    if y == a.n_labels:
        _meet(a)
    for i in range(w.n_strides):
        stride = &w.strides[i]
        k = stride.k
        if a.intercept:
            a.G0[k] = a.G0[k] * stride.kept + stride.q
            a.w0[k] += stride.f / sqrt(a.G0[k] + 9.5367431640625e-07)
        if a.naive_bayes:
            V = w.V[k]
            a.Gn[k] += stride.q * (V * V)
            a.wn[k] += (stride.f * V) / sqrt(a.Gn[k] + 1.0)
    a.T += u
    adaptive_set_count(a, y, a.D[y] + u)
    if adaptive_is_pair(a):
        none.q = none.f = 0.0
        learn_pair(table.blocks[0].chunks, slots, x, n, &w.sums, w.r,
                   w.strides if w.n_strides else &none, <int> y, u, a.T + 2.0, a.rD)
        return
    deal_all(&blocks, slots, n, a.positive)
    i = 0
    while i < w.n_strides:
        stride_many(&blocks, slots, n, &w.sums, w.r, w.strides + i,
                    <int> min(w.n_strides - i, <Py_ssize_t> STRIDES))
        i += STRIDES
    count_many(table.blocks[0].chunks, w.fours, _find_fours(table, w, a.n_labels), slots, x, n,
               &w.sums, y, u,
               a.T + a.n_labels, a.rD)


# --- Explanations

cdef inline double adaptive_weight(const Adaptive* a, const Table* table, slot_t slot,
                                   Py_ssize_t output) noexcept nogil:
    """One weight; with two labels, that of the one output."""
    cdef Blocks blocks = table_blocks(table)
    if slot >> CHUNK_BITS >= table.n_chunks:
        return 0.0
    return sp_weight(&blocks, slot, output, table.n_outputs, a.positive)


cdef inline double adaptive_share(const Adaptive* a, const Table* table, const Weighed* w,
                                  Py_ssize_t output, Py_ssize_t i, const slot_t* slots,
                                  const double* x) noexcept nogil:
    """What entry i of an answered event contributes to a decision; -1: what is always there.

    A feature has its own weight's share, and that in the value of naive Bayes by its share in d.
    """
    cdef Blocks blocks = table_blocks(table)
    cdef Py_ssize_t k = output, rival
    cdef double scale = _tempering(a)
    cdef double share, factor, t, odds, against
    if adaptive_is_pair(a):
        k = a.positive
        rival = 1 - k
        scale = scale / (1.0 + 2.0 * w.unknown)
    else:
        rival = w.second if output == w.best else w.best
    if i < 0:
        share = a.w0[output] if a.intercept else 0.0
    else:
        share = adaptive_weight(a, table, slots[i], output) * (w.sums.h[i] * w.r)
    if a.naive_bayes and w.d[output] != 0.0:
        factor = a.wn[output] * w.V[output] / w.d[output]
        if i < 0:
            return (share + factor * (a.lnD[k] - a.lnD[rival])) * scale
        t = sp_odds_of(&blocks, slots[i], x[i],
                       a.T) if slots[i] >> CHUNK_BITS < table.n_chunks else 0.0
        if t > 0.0:
            odds = log_exact(1.0 + sp_count_of(&blocks, slots[i], k) * t)
            against = log_exact(1.0 + sp_count_of(&blocks, slots[i], rival) * t)
            share += factor * ((odds - a.lnD[k]) - (against - a.lnD[rival]))
    return share * scale


cdef inline bint adaptive_fault(const Table* table, slot_t n_slots) noexcept nogil:
    """Whether a slot is one that no learning could have made. It looks at everything."""
    cdef Blocks blocks = table_blocks(table)
    cdef slot_t slot
    for slot in range(n_slots):
        if slot >> CHUNK_BITS >= table.n_chunks:
            break
        if sp_slot_fault(&blocks, slot, table.n_outputs):
            return True
    return False
