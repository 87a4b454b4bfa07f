# A step: which choices a rule moves, and by how much.
#
# A choice is something that the weights score: an output of the event at hand. For each (k, a) in a
# step the weights of choice k take a x. A rule may name any number of choices, each once and in
# rising order, so that an update walks the event once for each block of outputs, however many of
# them it moves.
#
# Functions in this file: step_reserve (this may fail), step_free, step_add, step_bytes.

from streamptron.engine.heap cimport free, realloc

cdef struct Move:
    Py_ssize_t choice
    double a

cdef struct Step:
    int n
    int room
    Move* moves


cdef inline void step_free(Step* step) noexcept nogil:
    free(step.moves)
    step.moves = NULL
    step.n = step.room = 0


cdef inline int step_reserve(Step* step, Py_ssize_t n) noexcept nogil:
    """Room for n choices; -1 without memory."""
    cdef Py_ssize_t room = n + n // 2 + 2
    cdef void* p
    if n <= step.room:
        return 0
    p = realloc(step.moves, room * sizeof(Move))
    if p == NULL:
        return -1
    step.moves = <Move*> p
    step.room = <int> room
    return 0


cdef inline void step_add(Step* step, Py_ssize_t choice, double a) noexcept nogil:
    """One more choice, behind those that are there."""
    step.moves[step.n].choice = choice
    step.moves[step.n].a = a
    step.n += 1


cdef inline size_t step_bytes(const Step* step) noexcept nogil:
    return step.room * sizeof(Move)
