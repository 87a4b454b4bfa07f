# Events as rows, and the caller's arrays.

from streamptron.engine.batch cimport Batch
from streamptron.engine.event cimport Event
from streamptron.engine.learner cimport Learner
from streamptron.engine.matrix cimport Matrix


cdef void* data_of(array, Py_ssize_t n) except? NULL
cdef object looked_up(outputs, numbers, Py_ssize_t n)


cdef class Rows:
    cdef Py_ssize_t n_rows
    cdef Py_ssize_t n_bytes
    cdef int found

    cdef int _look(self) noexcept
    cdef void _begin(self, Batch* batch, Learner* learner, Event* event) noexcept
    cdef void _end(self, const Batch* batch) noexcept
    cdef object _fault(self, names)


cdef class MatrixRows(Rows):
    cdef Matrix matrix
    cdef Py_buffer buffers[3]
    cdef int n_buffers
