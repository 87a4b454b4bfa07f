# Events as rows, and the caller's arrays; a column of texts in Arrow's memory.

from streamptron.engine.events cimport sp_event, sp_matrix
from streamptron.engine.names cimport sp_piece
from streamptron.engine.path cimport sp_batch, sp_learner
from libc.stdint cimport int64_t

cdef extern from "arrow.h":
    struct ArrowSchema:
        const char* format
        ArrowSchema* dictionary
        void (*release)(ArrowSchema*) noexcept

    struct ArrowArray:
        int64_t length
        int64_t offset
        int64_t n_buffers
        const void** buffers
        ArrowArray* dictionary
        void (*release)(ArrowArray*) noexcept

    struct ArrowArrayStream:
        int (*get_schema)(ArrowArrayStream*, ArrowSchema*) noexcept
        int (*get_next)(ArrowArrayStream*, ArrowArray*) noexcept
        const char* (*get_last_error)(ArrowArrayStream*) noexcept
        void (*release)(ArrowArrayStream*) noexcept


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


cdef class Column:
    cdef ArrowArray* chunks             # ours: released with the column
    cdef Py_ssize_t n_chunks
    cdef Py_ssize_t n_rows
    cdef int layout                     # of the texts
    cdef int width                      # of the numbers that stand for texts; 0: there are none

    cdef int _take_array(self, pair) except -1
    cdef int _take_stream(self, capsule) except -1
    cdef int _count(self, const ArrowArray* chunk) except -1
    cdef ArrowArray* _room(self) except NULL
    cdef int _read_schema(self, ArrowSchema* schema) except -1
    cdef int write(self, sp_piece* pieces) except -1
