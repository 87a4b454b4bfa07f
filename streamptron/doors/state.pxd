# What a learner keeps, as plain values and flat arrays, and back; its parameters.

from streamptron.engine.events cimport sp_field, sp_pairs
from streamptron.engine.file cimport sp_file_arrays
from streamptron.engine.path cimport sp_learner


cdef int alarms_begin(sp_learner* learner, list rates) except -1
cdef dict counts_state(const sp_learner* learner)
cdef int counts_set_state(sp_learner* learner, state) except -1
cdef dict arrays_write(const sp_learner* learner, sp_file_arrays* laid, bint looked_up)
cdef int arrays_look_up(sp_file_arrays* laid, int source) except -1
cdef int arrays_read(sp_learner* learner, dict arrays, Py_ssize_t n_outputs, size_t n_objects,
                     int source) except -1
cdef tuple array_of(void** start, size_t n, size_t width, size_t item)
cdef void* array_start(array, int width, size_t item, size_t* n) except? NULL



cdef class PairRule:
    cdef int degree
    cdef readonly tuple interactions
    cdef sp_pairs rule
    cdef sp_field* fields
    cdef list held                  # what the names of fields point into

    cdef int _take_fields(self) except -1
    cdef const sp_pairs* pairs(self) noexcept


cdef PairRule learner_begin(sp_learner* learner, int kind, dict params)
