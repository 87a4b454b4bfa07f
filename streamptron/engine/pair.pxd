# Two labels of one output: which of them its score speaks for.
#
# The labels are 0 and 1, and label 1 is the answer where the score is above 0. Truth values are known before the first
# event. Labels of other names are met one by one (a bit each), and before both are known there is less to say:
#
#     met     nobody      0       1       both
#     answer  none (-1)   0       1       score > 0
#
# A third label splits the output into two, -w and w (table_split): from then on there is an output a label, and the best
# score wins. No answer changes by that, for the lead of one score over the other is twice what the one score was.
#
# Functions in this file: pair_answer, pair_meet.

cdef enum:
    MET_NOBODY = 0
    MET_BOTH = 3


cdef inline Py_ssize_t pair_answer(int met, double score) noexcept nogil:
    """The label that the score speaks for; -1 before there is one."""
    return score > 0.0 if met == MET_BOTH else met - 1


cdef inline int pair_meet(int met, Py_ssize_t y) noexcept nogil:
    """Who has been met when label y has come too."""
    return met | 1 << y
