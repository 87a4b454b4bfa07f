# What every model has.

from streamptron.doors.desk cimport EventDoor
from libc.stdint cimport uint64_t


cdef bytes top_buffer(top, Py_ssize_t n)
cdef list largest(const double* numbers, Py_ssize_t n, bytes room)


cdef list TRUTH                     # what the one output of a BinaryModel stands for


cdef class Model(EventDoor):
    cdef readonly dict _params      # as they were given
    cdef object _pairing            # a PairRule, which learner.pairs points into
    cdef int _kind                  # of the rule
    cdef object _class_weight       # {label: weight} or None
    cdef dict _alarms               # {label: number in false_positive_rate} or None
    cdef dict _arrays               # of the file in which the learner lies, read-only; else None
    cdef Py_buffer _file
    cdef public object _y_name      # of the last Series learned from
    cdef object _past               # which steps can be taken back, see doors/state.pyx; else None
    cdef public bytes _kind_mark    # what kind of model it is, once a ticket has asked

    cdef Model _blank(self, int kind)
    cdef int _become(self, Model other) except -1
    cdef int _copy_into(self, Model other) except -1
    cdef void _exchange(self, Model other) noexcept
    cdef Py_ssize_t _outputs_of(self, labels, Py_ssize_t output, Py_ssize_t* first) except -1
    cdef Py_ssize_t _set_labels(self, labels) except -1
    cdef int _labels_done(self) except -1
    cdef list _labels_kept(self)
    cdef int _shares(self, list parts, dict objects, double sign, Py_ssize_t output,
                     int kind) except -1
    cdef int _empty_index(self, uint64_t seed) except -1
    cdef double _step(self, label, w) except -1.0
