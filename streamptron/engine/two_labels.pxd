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
# Functions in this file: two_labels_init, two_labels_side, two_labels_answer, two_labels_meet.

cdef struct TwoLabels:
    int n                           # labels met, 0 to 2
    int positive                    # the label that the score stands for


cdef inline void two_labels_init(TwoLabels* two, int n) noexcept nogil:
    """`n` labels are known from the start."""
    two.n = n
    two.positive = 1


cdef inline bint two_labels_side(const TwoLabels* two, Py_ssize_t y) noexcept nogil:
    """Whether a positive score stands for label y."""
    return y == two.positive


cdef inline Py_ssize_t two_labels_answer(const TwoLabels* two, double score) noexcept nogil:
    """The label that the score stands for; -1 before there is one."""
    return (score > 0.0) == two.positive if two.n == 2 else two.n - 1


cdef inline void two_labels_meet(TwoLabels* two, Py_ssize_t y) noexcept nogil:
    """Take note of label y."""
    if y >= two.n:
        two.n = <int> y + 1
