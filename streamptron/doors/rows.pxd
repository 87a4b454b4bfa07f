# Events as rows, and the caller's arrays.

from streamptron.engine.events cimport sp_event, sp_matrix
from streamptron.engine.path cimport sp_batch, sp_learner


cdef void* data_of(array, Py_ssize_t n) except? NULL
cdef object looked_up(outputs, numbers, Py_ssize_t n)


cdef class Rows:
    cdef Py_ssize_t n_rows
    cdef Py_ssize_t n_bytes
    cdef int found

    cdef int _look(self) noexcept
    cdef void _begin(self, sp_batch* batch, sp_learner* learner, sp_event* event) noexcept
    cdef void _end(self, const sp_batch* batch) noexcept
    cdef object _fault(self, names)


cdef class MatrixRows(Rows):
    cdef sp_matrix matrix
    cdef Py_buffer buffers[3]
    cdef int n_buffers
