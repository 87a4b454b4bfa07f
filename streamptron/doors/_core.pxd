# Models: what other people's Cython code may cimport. A model is a learner and its scratch behind a
# gate.
#
# A learner whose table is `borrowed` lies in a file that was opened read-only (load with
# mmap=True). It can score, but it must not learn.

from streamptron.doors.model cimport Model


cdef bint is_true(label)


cdef class OneLabelModel(Model):
    cdef object _checked(self, y)
    cdef Py_ssize_t _read_labelled(self, x, label) except -1
    cdef int _name_output(self, label) except -1
    cdef object _label_of(self, Py_ssize_t output)
    cdef dict _decisions(self)


cdef class BinaryModel(OneLabelModel):
    pass


cdef class LabelModel(OneLabelModel):
    cdef list _labels
    cdef dict _label_ids            # their numbers; may lack the last labels, see _known_ids
    cdef list _next_labels          # what they will be after the batch at hand

    cdef dict _known_ids(self)
    cdef int _expect_names(self, Py_ssize_t n) except -1

    cdef int _check_room(self, label, Py_ssize_t n_labels) except -1
    cdef int _expect_alarm(self, dict alarms, label, Py_ssize_t output) except -1
    cdef void _meet_first(self, bint true) noexcept


cdef class PairModel(LabelModel):
    pass
