# A step: which choices a rule moves, and by how much.
#
# A choice is something that the weights score: an output of the event at hand. For each (k, a) in a step the
# weights of choice k take a x. A rule may name any number of choices, each once and in rising order, so that
# an update walks the event once for each block of outputs, however many of them it moves.
#
# Functions in this file: step_reserve (this may fail), step_free, step_add.

from libc.stdlib cimport free, realloc

cdef struct Step:
    Py_ssize_t n
    Py_ssize_t room
    Py_ssize_t* choice
    double* a


cdef inline void step_free(Step* step) noexcept nogil:
    free(step.choice)
    free(step.a)
    step.choice = NULL
    step.a = NULL
    step.n = step.room = 0


cdef inline int step_reserve(Step* step, Py_ssize_t n) noexcept nogil:
    """Room for n choices; -1 without memory."""
    cdef Py_ssize_t room = n + n // 2 + 2
    cdef void* p
    if n <= step.room:
        return 0
    p = realloc(step.choice, room * sizeof(Py_ssize_t))
    if p == NULL:
        return -1
    step.choice = <Py_ssize_t*> p
    p = realloc(step.a, room * sizeof(double))
    if p == NULL:
        return -1
    step.a = <double*> p
    step.room = room
    return 0


cdef inline void step_add(Step* step, Py_ssize_t choice, double a) noexcept nogil:
    """One more choice, behind those that are there."""
    step.choice[step.n] = choice
    step.a[step.n] = a
    step.n += 1
