# What a learner keeps, as plain values and flat arrays, and back.

from streamptron.engine.flat cimport Flat
from streamptron.engine.learner cimport Learner


cdef dict counts_state(const Learner* learner)
cdef int counts_set_state(Learner* learner, state) except -1
cdef dict arrays_write(const Learner* learner, Flat* flat)
cdef int arrays_look_up(Flat* flat, int depth) except -1
cdef int arrays_read(Learner* learner, dict arrays, Py_ssize_t n_outputs, size_t n_objects,
                     bint whole, int depth) except -1
cdef tuple array_of(void** start, size_t n, size_t width, size_t item)
cdef void* array_start(array, int width, size_t item, size_t* n) except? NULL
