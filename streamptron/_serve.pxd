# Which of the kept vectors answers, when the pocket changes, and how sure an answer is.
from streamptron._rule cimport best_output
from streamptron._table cimport KEPT_AVERAGE, KEPT_CURRENT, KEPT_KINDS, KEPT_POCKET
from libc.string cimport memset

cdef enum:
    SERVE_BEST = 3                  # the others are the KEPT_ kinds

cdef struct Serve:
    int mode
    bint wrong[KEPT_KINDS]          # on the last event
    double tally[KEPT_KINDS]
    double run
    double pocket_run


cdef inline void serve_init(Serve* serve, int mode) noexcept nogil:
    memset(serve, 0, sizeof(Serve))
    serve.mode = mode


cdef inline void serve_judge(Serve* serve, int kind, const double* scores, Py_ssize_t n_outputs,
                             Py_ssize_t y, bint several) noexcept nogil:
    cdef bint wrong
    if several:
        wrong = n_outputs > 0 and best_output(scores, n_outputs, -1) != y
    else:
        wrong = (scores[0] > 0.0) != y
    serve.wrong[kind] = wrong
    serve.tally[kind] = serve.tally[kind] * 0.999307093 + wrong


cdef inline bint serve_challenge(Serve* serve) noexcept nogil:
    return False


cdef inline int serve_kind(const Serve* serve, int average, bint pocket) noexcept nogil:
    cdef int best = KEPT_CURRENT
    if serve.mode != SERVE_BEST:
        return serve.mode
    if average and serve.tally[KEPT_AVERAGE] < serve.tally[best]:
        best = KEPT_AVERAGE
    if pocket and serve.tally[KEPT_POCKET] < serve.tally[best]:
        best = KEPT_POCKET
    return best
