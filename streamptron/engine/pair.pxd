# Two labels of one output: which of them its score speaks for.
#
# Labels are numbered in the order in which they come. The score speaks for the positive one of two: for the second, but for
# the first if that is True. Where labels are truth values they are there before the first event.
#
#     labels met     none        one      two
#     answer         none (-1)   it (0)   the positive one where score > 0, else the other
#
# A third label splits the output into two, w for the positive label and -w for the other (table_split): from then on there is
# an output a label, and the best score wins. No answer changes by that, for the lead of one score over the other
# is twice what the one score was.
#
# Functions in this file: pair_init, pair_side, pair_answer, pair_meet.

cdef struct Pair:
    int n                           # labels met, 0 to 2
    int positive                    # the label that the score speaks for


cdef inline void pair_init(Pair* pair, int n) noexcept nogil:
    """So many labels are there from the start."""
    pair.n = n
    pair.positive = 1


cdef inline bint pair_side(const Pair* pair, Py_ssize_t y) noexcept nogil:
    """Whether the score speaks for label y, not against it."""
    return y == pair.positive


cdef inline Py_ssize_t pair_answer(const Pair* pair, double score) noexcept nogil:
    """The label that the score speaks for; -1 before there is one."""
    return (score > 0.0) == pair.positive if pair.n == 2 else pair.n - 1


cdef inline void pair_meet(Pair* pair, Py_ssize_t y) noexcept nogil:
    """Label y has come."""
    if y >= pair.n:
        pair.n = <int> y + 1
