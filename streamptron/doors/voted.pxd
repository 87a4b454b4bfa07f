# The model of VotedPerceptron.

from streamptron._core cimport PairModel


cdef class VotedModel(PairModel):
    pass
