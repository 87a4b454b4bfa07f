# The model of MultiLabelClassifier.

from streamptron.doors._core cimport LabelModel


cdef class MultiLabelModel(LabelModel):
    cdef list _read_targets(self, x, Targets targets)
    cdef int _learn_targets(self, x, Targets targets, double step) except -1
    cdef list _found(self)
    cdef tuple _labels_found(self, x, bytes room)
    cdef object _answer(self, x)
    cdef double _above(self, label) except -1.0


cdef class Targets:
    cdef readonly list named        # labels, in the order in which they are given
    cdef readonly list there        # of each: 1, or 0
    cdef readonly bint open         # whether labels that are not named are left open


cdef object targets_again(Targets targets)
