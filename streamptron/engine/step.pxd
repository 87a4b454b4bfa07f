# A step: which choices a rule moves, and by how much.
#
# A choice is what one score belongs to. Most rules choose among the outputs of one event. A rule
# that chooses among candidates has several events and one output; it moves two of them apart, of
# which the path makes one move, by their difference (engine/candidates.pxd).
#
#     labels         x            w_0  w_1  w_2         choice k: output k
#     candidates     x_0  x_1     w_0                   choice k: candidate k
#
# A step is of one event: its own, or the difference. For each move (output, a), a times the event's
# x is added to the weights of the output. A rule may name any number of choices, each once and in
# ascending order, so that an update walks an event once per block of outputs, however many of them
# it moves.
#
# A rule that keeps a number beside each weight (engine/keep.h) is given the second sums of the
# choices that it moves, and sets the step's noise r.
#
# Functions in this file: step_reserve (this may fail), step_free, step_begin, step_add, step_bytes.

from streamptron.engine.heap cimport free, realloc

cdef struct Move:
    Py_ssize_t output               # the choice: a candidate's number until there is the difference
    double a
    double second

cdef struct Step:
    int n
    int room
    Py_ssize_t event                # which event is added: 0, or among candidates their difference
    double r
    Move* moves


cdef inline void step_free(Step* step) noexcept nogil:
    free(step.moves)
    step.moves = NULL
    step.n = step.room = 0


cdef inline int step_reserve(Step* step, Py_ssize_t n) noexcept nogil:
    """Make room for n choices; -1 without memory."""
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


cdef inline void step_begin(Step* step) noexcept nogil:
    """Start a step that moves nothing yet."""
    step.n = 0
    step.event = 0
    step.r = 0.0


cdef inline void step_add(Step* step, Py_ssize_t choice, double a) noexcept nogil:
    """Add a choice, which must come after those that are there."""
    cdef Move* move = &step.moves[step.n]
    move.output = choice
    move.a = a
    move.second = 0.0
    step.n += 1


cdef inline size_t step_bytes(const Step* step) noexcept nogil:
    return step.room * sizeof(Move)
