# The model of AdaptiveClassifier.

from streamptron._core cimport PairModel


cdef class AdaptiveModel(PairModel):
    pass
