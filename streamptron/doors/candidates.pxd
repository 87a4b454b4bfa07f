# The model that chooses among candidates.

from streamptron.doors.model cimport Model


cdef class RankModel(Model):
    cdef int _score_all(self, list names, list candidates) except -1
    cdef list _decided(self, bint probabilities)
    cdef object _decide(self, candidates, bint probabilities)
