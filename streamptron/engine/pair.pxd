# Two labels with one output: which of them its score stands for.
#
# Labels are numbered in the order in which they arrive. The score stands for the positive label of
# the two: for the second, unless the first is True. If the labels are truth values, both are there
# before the first event.
#
#     labels met     none        one      two
#     answer         none (-1)   it (0)   the positive one if score > 0, else the other
#
# A third label splits the output into two, w for the positive label and -w for the other
# (table_split). From then on every label has an output, and the best score wins. The split changes
# no answer: the lead of one score over the other is twice what the single score was.
#
# Functions in this file: pair_init, pair_side, pair_answer, pair_meet.

cdef struct Pair:
    int n                           # labels met, 0 to 2
    int positive                    # the label that the score stands for


cdef inline void pair_init(Pair* pair, int n) noexcept nogil:
    """`n` labels are known from the start."""
    pair.n = n
    pair.positive = 1


cdef inline bint pair_side(const Pair* pair, Py_ssize_t y) noexcept nogil:
    """Whether a positive score stands for label y."""
    return y == pair.positive


cdef inline Py_ssize_t pair_answer(const Pair* pair, double score) noexcept nogil:
    """The label that the score stands for; -1 before there is one."""
    return (score > 0.0) == pair.positive if pair.n == 2 else pair.n - 1


cdef inline void pair_meet(Pair* pair, Py_ssize_t y) noexcept nogil:
    """Take note of label y."""
    if y >= pair.n:
        pair.n = <int> y + 1
