# What a stranger's Cython code may cimport: the learner and its scratch, behind the Python object.

from streamptron._key cimport Key
from streamptron._learner cimport Learner
from streamptron._event cimport Event


cdef class Model:
    cdef Learner learner
    cdef Event event
    cdef dict _params
    cdef int _kind                  # of the rule
    cdef dict _objects              # feature names that are mere objects -> ordinal
    cdef bint _objects_new          # some were numbered for the event at hand
    cdef unsigned long long _n_reads
    cdef object _held               # what the keys in scratch point into
    cdef object _class_weight       # {label: weight} or None
    cdef public object _y_name      # of the last Series learned from

    cdef int _read(self, x, bint learning) except -1
    cdef int _read_items(self, x, bint learning, str what=*) except -1
    cdef tuple _object_ordinal(self, name, bint learning)
    cdef bint _plain_key(self, int kind, plain, Key* key) except -1
    cdef int _settle(self) except -1
    cdef int _forget_objects(self) except -1
    cdef int _score(self, x) except -1
    cdef double _step(self, label, w) except -1.0


cdef class BinaryModel(Model):
    pass


cdef class LabelModel(Model):
    cdef list _labels
    cdef dict _label_ids

    cdef Py_ssize_t _read_labelled(self, x, label) except -1
    cdef int _name_output(self, label) except -1
    cdef object _label_of(self, Py_ssize_t output)
