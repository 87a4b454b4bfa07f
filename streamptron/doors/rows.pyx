"""Events as rows: what all kinds of rows share, and a matrix in the caller's arrays."""

from array import array

from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_STRIDES, PyBuffer_Release, PyObject_GetBuffer

from libc.stdint cimport uintptr_t
from streamptron.engine.events cimport (
    SP_FAULT_COLUMN, SP_FAULT_LOSS, SP_FAULT_STARTS, SP_MATRIX_FAULTY, SP_MATRIX_UNSORTED, sp_event,
    sp_matrix, sp_matrix_check, sp_matrix_column, sp_matrix_fault, sp_matrix_value)
from streamptron.engine.memory cimport SP_VALUE_LIMIT
from streamptron.engine.path cimport sp_batch, sp_batch_matrix, sp_learner

from streamptron.estimator.cells import NAN_HINT
from streamptron.estimator.names import shown

NUMBERS = ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8")  # NUMBER_U8 .. NUMBER_F64


cdef class Rows:
    """Events, one per row."""

    def __cinit__(self, *_, **__):
        self.found = -1

    def __len__(self):
        return self.n_rows

    cdef int _look(self) noexcept:
        """What a check of all rows finds, MATRIX_ bits. They are looked at once."""
        return 0

    cdef void _begin(self, sp_batch* batch, sp_learner* learner, sp_event* event) noexcept:
        """Start a batch of all rows, with nothing asked for yet."""

    cdef void _end(self, const sp_batch* batch) noexcept:
        """Keep what is needed from a batch that has been run."""

    cdef object _fault(self, names):
        """The error that says what is wrong with faulty rows."""
        raise NotImplementedError


cdef class MatrixRows(Rows):
    """A matrix in the caller's arrays, which must not change while in use: engine/events/matrix.h.

    Parameters
    ----------
    number
        The type of the values, as an index into NUMBERS.
    values
        A 2-d array, or the stored values of a CSR matrix.
    columns, starts, n_columns
        For CSR: the indices and indptr, both int32 or both int64.

    Raises
    ------
    BufferError
        If one of the arrays of a CSR matrix is not contiguous or not aligned.
    """

    def __cinit__(self, int number, values, columns=None, starts=None, Py_ssize_t n_columns=0):
        cdef sp_matrix* m = &self.matrix
        for given in (values,) if columns is None else (values, columns, starts):
            PyObject_GetBuffer(given, &self.buffers[self.n_buffers], PyBUF_STRIDES)
            self.n_bytes += self.buffers[self.n_buffers].len
            self.n_buffers += 1
            if columns is not None and not _is_tight(&self.buffers[self.n_buffers - 1]):
                raise BufferError("values, columns and starts must be aligned and contiguous")
        m.number = number
        m.values = <const char*> self.buffers[0].buf
        if columns is None:
            m.dense = True
            m.n_rows = self.buffers[0].shape[0]
            m.n_columns = self.buffers[0].shape[1]
            m.row_stride = self.buffers[0].strides[0]
            m.column_stride = self.buffers[0].strides[1]
            m.n_values = m.n_rows * m.n_columns
        else:
            m.n_rows = self.buffers[2].shape[0] - 1
            m.n_columns = n_columns
            m.wide = self.buffers[1].itemsize == 8
            m.columns = <const char*> self.buffers[1].buf
            m.starts = <const char*> self.buffers[2].buf
            m.n_values = min(self.buffers[0].shape[0], self.buffers[1].shape[0])
        self.n_rows = m.n_rows

    def __dealloc__(self):
        cdef int i
        for i in range(self.n_buffers):
            PyBuffer_Release(&self.buffers[i])

    cdef int _look(self) noexcept:
        if self.found < 0:
            with nogil:
                self.found = sp_matrix_check(&self.matrix, 0, self.matrix.n_rows)
        return self.found

    cdef void _begin(self, sp_batch* batch, sp_learner* learner, sp_event* event) noexcept:
        sp_batch_matrix(batch, learner, event, &self.matrix)

    def check(self, names):
        """Raise the error that says what is wrong, if anything is; True if all rows are sorted."""
        if self._look() & SP_MATRIX_FAULTY:
            raise self._fault(names)
        return not self.found & SP_MATRIX_UNSORTED

    cdef object _fault(self, names):
        cdef Py_ssize_t row = 0, entry = 0
        cdef int fault = sp_matrix_fault(&self.matrix, 0, self.matrix.n_rows, &row, &entry)
        if fault == SP_FAULT_STARTS:
            return ValueError(
                f"X is not a valid CSR matrix: its indptr places row {row} outside the "
                f"{self.matrix.n_values} stored values; rebuild it with scipy.sparse.csr_array")
        column = entry if self.matrix.dense else sp_matrix_column(&self.matrix, entry)
        if fault == SP_FAULT_COLUMN:
            return ValueError(
                f"X has the column index {column} in row {row}; it has {self.matrix.n_columns} "
                f"columns, so an index must be from 0 to {self.matrix.n_columns - 1}")
        where = f"in row {row}, column {shown(column if names is None else names[column])}"
        value = sp_matrix_value(&self.matrix, row, entry)
        if fault == SP_FAULT_LOSS:
            return ValueError(
                f"X has an int {where} near {value:.0f} that a float64 cannot hold exactly; "
                "scale it first, or convert X to float64 if that is meant")
        if value != value:
            return ValueError(
                f"X has no value {where} (NaN); {NAN_HINT}")
        return ValueError(
            f"X is {value!r} {where}; a value must be finite and at most {SP_VALUE_LIMIT:g} in "
            "size: scale it first")


cdef bint _is_tight(const Py_buffer* buffer) noexcept:
    """Whether an array is contiguous and aligned."""
    return ((buffer.shape[0] <= 1 or buffer.strides[0] == buffer.itemsize)
            and <uintptr_t> buffer.buf % <uintptr_t> buffer.itemsize == 0)


cdef void* data_of(array, Py_ssize_t n) except? NULL:
    """The values of an array of n rows of 64-bit numbers, which its owner keeps alive."""
    cdef Py_buffer buffer
    PyObject_GetBuffer(array, &buffer, PyBUF_C_CONTIGUOUS)
    PyBuffer_Release(&buffer)
    assert buffer.itemsize == 8 and buffer.shape[0] == n
    return buffer.buf


def number_small(values, long long low, Py_ssize_t size):
    """Number the int64s of values, from low .. low + size, in order of first appearance.

    Returns where each is first, and the numbers of all values.
    """
    cdef Py_ssize_t i, n = len(values)
    cdef const long long* value = <const long long*> data_of(values, n)
    seen = array("q", b"\xff" * (8 * size))     # -1 for all
    cdef Py_ssize_t* number = <Py_ssize_t*> data_of(seen, size)
    numbers = array("q", bytes(8 * n))
    cdef Py_ssize_t* out = <Py_ssize_t*> data_of(numbers, n)
    firsts = []
    for i in range(n):
        if number[value[i] - low] < 0:
            number[value[i] - low] = len(firsts)
            firsts.append(i)
        out[i] = number[value[i] - low]
    return firsts, numbers


cdef object looked_up(outputs, numbers, Py_ssize_t n):
    """outputs[number] for each of n numbers; -1 for a number below 0."""
    cdef const Py_ssize_t* number = <const Py_ssize_t*> data_of(numbers, n)
    found = array("q", bytes(8 * n))
    cdef Py_ssize_t* y = <Py_ssize_t*> data_of(found, n)
    held = array("q", outputs)
    cdef const Py_ssize_t* table = <const Py_ssize_t*> data_of(held, len(held))
    cdef Py_ssize_t r
    for r in range(n):
        y[r] = table[number[r]] if number[r] >= 0 else -1
    return found


def count_wrong(numbers, outputs, predictions, Py_ssize_t first, Py_ssize_t last):
    """Count the rows first .. last - 1 with a label and a prediction, and those where they differ.

    `numbers`: the number of each row's label, below 0 for none. `outputs`: by the number of a
    label, the prediction that is right for it.
    """
    cdef const Py_ssize_t* number = <const Py_ssize_t*> data_of(numbers, len(predictions))
    cdef const Py_ssize_t* prediction = <const Py_ssize_t*> data_of(predictions, len(predictions))
    held = array("q", outputs or [0])
    cdef const Py_ssize_t* right = <const Py_ssize_t*> data_of(held, len(held))
    cdef Py_ssize_t r, labelled = 0, wrong = 0
    for r in range(first, last):
        if number[r] >= 0 and prediction[r] >= 0:
            labelled += 1
            wrong += right[number[r]] != prediction[r]
    return labelled, wrong
