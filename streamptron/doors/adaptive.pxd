# The model of AdaptiveClassifier.

from streamptron._core cimport LabelModel


cdef class AdaptiveModel(LabelModel):
    pass
