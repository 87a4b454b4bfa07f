# The model of AdaptiveClassifier.

from streamptron._core cimport PairModel


cdef class AdaptiveModel(PairModel):
    cdef bint _earlier      # it lies in a file of before there were columns

