"""Events as rows: the base class, matrices in the caller's arrays, columns of texts."""

from array import array

cimport cython
from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_STRIDES, PyBuffer_Release, PyObject_GetBuffer
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t, int64_t, uint8_t, uintptr_t
from libc.string cimport memset, strcmp

from streamptron.engine.events cimport (
    SP_FAULT_COLUMN, SP_FAULT_LOSS, SP_FAULT_STARTS, SP_MATRIX_FAULTY, SP_MATRIX_UNSORTED, sp_event,
    sp_matrix, sp_matrix_check, sp_matrix_column, sp_matrix_fault, sp_matrix_value)
from streamptron.engine.memory cimport SP_VALUE_LIMIT, sp_free, sp_malloc, sp_realloc
from streamptron.engine.names cimport sp_piece
from streamptron.engine.path cimport sp_batch, sp_batch_matrix, sp_learner

from streamptron.common.cells import NAN_HINT
from streamptron.common.names import short_repr

NUMBERS = ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8")  # NUMBER_U8 .. NUMBER_F64


cdef class Rows:
    """Events, one per row."""

    def __cinit__(self, *_, **__):
        self.found = -1

    def __len__(self):
        return self.n_rows

    cdef int _look(self) noexcept:
        """The result of checking all rows, as MATRIX_ bits. They are checked once."""
        return 0

    cdef void _begin(self, sp_batch* batch, sp_learner* learner, sp_event* event) noexcept:
        """Start a batch of all rows, with nothing asked for yet."""

    cdef void _end(self, const sp_batch* batch) noexcept:
        """Keep what is needed from a batch that has been run."""

    cdef object _fault(self, names):
        """The error for faulty rows."""
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
            m.long_columns = self.buffers[1].itemsize == 8
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
        """Raise an error if rows are invalid. Returns whether all rows are sorted."""
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
        where = f"in row {row}, column {short_repr(column if names is None else names[column])}"
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
    """Number the int64s of values, all from low .. low + size, in order of first appearance.

    Returns the first place of each, and the numbers of all values.
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


def count_wrong(
    numbers, outputs, predictions, Py_ssize_t first, Py_ssize_t last, Py_ssize_t only=-1
):
    """Count the rows first .. last - 1 with a label and a prediction, and those where they differ.

    `numbers`: the number of each row's label, below 0 for none. `outputs`: by the number of a
    label, the prediction that is right for it. `only`: the one label to count, by its number.
    """
    cdef const Py_ssize_t* number = <const Py_ssize_t*> data_of(numbers, len(predictions))
    cdef const Py_ssize_t* prediction = <const Py_ssize_t*> data_of(predictions, len(predictions))
    held = array("q", outputs or [0])
    cdef const Py_ssize_t* right = <const Py_ssize_t*> data_of(held, len(held))
    cdef Py_ssize_t r, labelled = 0, wrong = 0
    for r in range(first, last):
        if number[r] >= 0 and prediction[r] >= 0 and (only < 0 or number[r] == only):
            labelled += 1
            wrong += right[number[r]] != prediction[r]
    return labelled, wrong


# --- A column of texts in Arrow's memory, which is read in place

#   pyarrow, polars, pandas ...
#      | __arrow_c_array__, __arrow_c_stream__     capsules
#      v
#   ArrowSchema     what the column is: its format    is read, and released
#   ArrowArray      a chunk: pointers to buffers      is taken over, and released with the Column
#      | write
#      v
#   Piece[]         where each text begins, and its bytes
#
# Three layouts hold texts. In all of them a bit per entry says whether it has a text.
#
#   offsets     "u" "z" 32-bit, "U" "Z" 64-bit      0 4 4 7         freewin
#   views       "vu" "vz": 16 bytes a text          4 free          up to 12 bytes are in the view,
#                                                   30 free.. 1 56  or the buffer and the place
#   numbers     of texts in a dictionary            2 0 0 1         free, win, prize
#
# A chunk's pointers have to be trusted, as the interface does not say how long most buffers are.
# What can be checked is checked.

cdef enum:
    NO_TEXTS = 0            # layouts
    OFFSETS_32 = 1
    OFFSETS_64 = 2
    VIEWS = 3
    NOTHING = 4             # a column of nulls, which has no buffers

    IS_NULL = 0             # the n of a piece without p
    IS_BROKEN = 1

    VIEW_BYTES = 16
    VIEW_INLINE = 12        # the most bytes of a text that is in its view

# By a format's letter: the bytes of a number that refers to a text, negative if it is signed.
WIDTHS = {b"c": -1, b"C": 1, b"s": -2, b"S": 2, b"i": -4, b"I": 4, b"l": -8, b"L": 8}


def is_arrow(X):
    """Whether X has its data in Arrow's memory and exports it.

    pandas exports any data, after converting it to Arrow if need be: then its own objects are just
    as good. What a polars series of objects exports cannot be read.
    """
    kind = type(X)                  # asking an object of pandas or polars itself is slow
    if not (hasattr(kind, "__arrow_c_array__") or hasattr(kind, "__arrow_c_stream__")):
        return False
    dtype = getattr(X, "dtype", None)
    if _of_pandas(dtype):
        return hasattr(dtype, "pyarrow_dtype") or getattr(dtype, "storage", None) == "pyarrow"
    return str(dtype) != "Object"


cdef bint _of_pandas(dtype) except -1:
    return type(dtype).__module__.partition(".")[0] in ("numpy", "pandas")


cdef object _holder(X):
    """The object that exports the memory.

    A pandas series takes up to 0.3 ms to do so, the pyarrow array behind it only 1 us.
    """
    if _of_pandas(getattr(X, "dtype", None)):
        held = getattr(X, "array", None)
        if hasattr(type(held), "__arrow_array__"):
            return held.__arrow_array__()
    return X


cdef int _layout_of(const char* format) noexcept:
    if format == NULL:
        return NO_TEXTS
    if strcmp(format, "u") == 0 or strcmp(format, "z") == 0:
        return OFFSETS_32
    if strcmp(format, "U") == 0 or strcmp(format, "Z") == 0:
        return OFFSETS_64
    if strcmp(format, "vu") == 0 or strcmp(format, "vz") == 0:
        return VIEWS
    return NOTHING if strcmp(format, "n") == 0 else NO_TEXTS


cdef inline bint _is_there(const uint8_t* valid, int64_t i) noexcept nogil:
    return valid == NULL or valid[i >> 3] >> (i & 7) & 1


cdef inline void _set(sp_piece* piece, const uint8_t* p, size_t n) noexcept nogil:
    piece.p = p
    piece.n = n
    piece.surrogates = False


ctypedef fused offset_t:
    int32_t
    int64_t


cdef void _write_offsets(const ArrowArray* a, const offset_t* offsets,
                         sp_piece* pieces) noexcept nogil:
    cdef const uint8_t* valid = <const uint8_t*> a.buffers[0]
    cdef const uint8_t* p = <const uint8_t*> a.buffers[2]
    cdef int64_t i
    cdef offset_t first, last
    if p == NULL:                   # all texts are empty
        p = <const uint8_t*> <const char*> b""
    for i in range(a.offset, a.offset + a.length):
        first, last = offsets[i], offsets[i + 1]
        if not _is_there(valid, i):
            _set(pieces, NULL, IS_NULL)
        elif first < 0 or last < first:
            _set(pieces, NULL, IS_BROKEN)
        else:
            _set(pieces, p + first, last - first)
        pieces += 1


cdef void _write_views(const ArrowArray* a, sp_piece* pieces) noexcept nogil:
    cdef const uint8_t* valid = <const uint8_t*> a.buffers[0]
    cdef const uint8_t* view = <const uint8_t*> a.buffers[1] + VIEW_BYTES * a.offset
    cdef const int64_t* sizes = <const int64_t*> a.buffers[a.n_buffers - 1]
    cdef int64_t i
    cdef const int32_t* words       # length, (four bytes of the text), buffer, place
    for i in range(a.offset, a.offset + a.length):
        words = <const int32_t*> view
        if not _is_there(valid, i):
            _set(pieces, NULL, IS_NULL)
        elif 0 <= words[0] <= VIEW_INLINE:
            _set(pieces, view + 4, words[0])
        elif (words[0] > 0 and 0 <= words[2] < a.n_buffers - 3
                and 0 <= words[3] <= sizes[words[2]] - words[0]):
            _set(pieces, <const uint8_t*> a.buffers[2 + words[2]] + words[3], words[0])
        else:
            _set(pieces, NULL, IS_BROKEN)
        view += VIEW_BYTES
        pieces += 1


cdef bint _write_texts(const ArrowArray* a, int layout, sp_piece* pieces) noexcept nogil:
    """Point to the texts of a chunk; False if it is not of this layout."""
    cdef int64_t i
    if a.length == 0:               # its buffers may be missing
        return True
    if layout == NOTHING:
        for i in range(a.length):
            _set(&pieces[i], NULL, IS_NULL)
        return True
    if a.n_buffers < 3 or a.buffers[1] == NULL or (layout != VIEWS and a.n_buffers > 3):
        return False
    if layout == VIEWS:
        if a.n_buffers > 3 and a.buffers[a.n_buffers - 1] == NULL:
            return False
        _write_views(a, pieces)
    elif layout == OFFSETS_32:
        _write_offsets(a, <const int32_t*> a.buffers[1], pieces)
    else:
        _write_offsets(a, <const int64_t*> a.buffers[1], pieces)
    return True


cdef int64_t _number(const void* numbers, int width, int64_t i) noexcept nogil:
    """The number at i. -1 for one of 64 bits that is too large."""
    if width == -1:
        return (<const signed char*> numbers)[i]
    if width == 1:
        return (<const uint8_t*> numbers)[i]
    if width == -2:
        return (<const short*> numbers)[i]
    if width == 2:
        return (<const unsigned short*> numbers)[i]
    if width == -4:
        return (<const int32_t*> numbers)[i]
    if width == 4:
        return (<const unsigned int*> numbers)[i]
    return (<const int64_t*> numbers)[i]


cdef bint _write_numbered(const ArrowArray* a, int width, const sp_piece* texts, int64_t n_texts,
                          sp_piece* pieces) noexcept nogil:
    """Point to the texts of a dictionary that a chunk's numbers stand for."""
    cdef const uint8_t* valid
    cdef int64_t i, number
    if a.length == 0:
        return True
    if a.n_buffers != 2 or a.buffers[1] == NULL:
        return False
    valid = <const uint8_t*> a.buffers[0]
    for i in range(a.offset, a.offset + a.length):
        if not _is_there(valid, i):
            _set(pieces, NULL, IS_NULL)
        else:
            number = _number(a.buffers[1], width, i)
            if 0 <= number < n_texts:
                pieces[0] = texts[number]
            else:
                _set(pieces, NULL, IS_BROKEN)
        pieces += 1
    return True


@cython.no_gc                       # nothing that it refers to can refer to it
cdef class Column:
    """The texts of an Arrow column, for as long as they are needed.

    Parameters
    ----------
    X
        An object for which is_arrow is true.

    Raises
    ------
    TypeError
        If the column does not hold texts.
    ValueError
        If it cannot be read.
    """

    def __cinit__(self, X):
        holder = _holder(X)
        try:
            if hasattr(type(holder), "__arrow_c_array__"):
                self._take_array(holder.__arrow_c_array__())
            else:
                self._take_stream(holder.__arrow_c_stream__())
        except _Unfit as error:
            kind = getattr(X, "type", getattr(X, "dtype", type(X).__name__))
            raise TypeError(
                f"X is an Arrow column of {kind} (format {error}); it must hold texts: cast it to "
                "strings first") from None

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.n_chunks):
            if self.chunks[i].release != NULL:
                self.chunks[i].release(&self.chunks[i])
        sp_free(self.chunks)

    def __len__(self):
        return self.n_rows

    cdef int _take_array(self, pair) except -1:
        schema, array = pair
        cdef ArrowArray* given = <ArrowArray*> PyCapsule_GetPointer(array, "arrow_array")
        cdef ArrowArray* chunk
        self._read_schema(<ArrowSchema*> PyCapsule_GetPointer(schema, "arrow_schema"))
        if given.release == NULL:
            raise ValueError("X exports an Arrow array that has been released")
        chunk = self._room()
        chunk[0] = given[0]
        given.release = NULL        # the capsule must not release it: it is ours now
        self._count(chunk)
        return 0

    cdef int _take_stream(self, capsule) except -1:
        cdef ArrowArrayStream* stream = <ArrowArrayStream*> PyCapsule_GetPointer(
            capsule, "arrow_array_stream")
        cdef ArrowSchema schema
        cdef ArrowArray* chunk
        cdef const char* said
        cdef int error
        if stream.release == NULL:
            raise ValueError("X exports an Arrow stream that has been released")
        memset(&schema, 0, sizeof(ArrowSchema))
        try:
            error = stream.get_schema(stream, &schema)
            if error == 0:
                self._read_schema(&schema)
            while error == 0:
                chunk = self._room()
                error = stream.get_next(stream, chunk)
                if error or chunk.release == NULL:
                    self.n_chunks -= 1
                    break
                self._count(chunk)
            if error:
                said = stream.get_last_error(stream)
                text = b"" if said == NULL else <bytes> said
                raise ValueError(
                    f"X exports an Arrow stream that cannot be read: error {error} "
                    f"{text.decode('utf-8', 'replace')}".rstrip())
        finally:
            if schema.release != NULL:
                schema.release(&schema)
            # the stream itself is released by its capsule
        return 0

    cdef ArrowArray* _room(self) except NULL:
        """A place for one more chunk, which counts as released."""
        cdef ArrowArray* grown = <ArrowArray*> sp_realloc(
            self.chunks, (self.n_chunks + 1) * sizeof(ArrowArray))
        if grown == NULL:
            raise MemoryError("no memory for the texts")
        self.chunks = grown
        memset(&self.chunks[self.n_chunks], 0, sizeof(ArrowArray))
        self.n_chunks += 1
        return &self.chunks[self.n_chunks - 1]

    cdef int _count(self, const ArrowArray* chunk) except -1:
        if chunk.length < 0 or chunk.offset < 0:
            raise _broken(self.n_rows)
        self.n_rows += chunk.length
        return 0

    cdef int _read_schema(self, ArrowSchema* schema) except -1:
        """Read what the column holds. The schema still belongs to its owner."""
        if schema.release == NULL:
            raise ValueError("X exports an Arrow schema that has been released")
        cdef const char* format = schema.format
        if schema.dictionary != NULL:
            self.width = WIDTHS.get(<bytes> format, 0)
            format = schema.dictionary.format
            if self.width == 0 or schema.dictionary.dictionary != NULL:
                format = schema.format
        self.layout = _layout_of(format)
        if self.layout == NO_TEXTS:
            raise _Unfit(short_repr((<bytes> format).decode("utf-8", "replace")))
        return 0

    cdef int write(self, sp_piece* pieces) except -1:
        """Point to all texts; there is room for so many. The column must outlive the pieces."""
        cdef Py_ssize_t k, first = 0, row = 0
        cdef bint good = True
        cdef sp_piece* texts = NULL
        cdef const ArrowArray* chunk
        for k in range(self.n_chunks):
            chunk = &self.chunks[k]
            if self.width == 0:
                with nogil:
                    good = _write_texts(chunk, self.layout, pieces + first)
            elif chunk.length:
                if (chunk.dictionary == NULL or chunk.dictionary.length < 0
                        or chunk.dictionary.offset < 0):
                    raise _broken(first)
                texts = <sp_piece*> sp_malloc((chunk.dictionary.length + 1) * sizeof(sp_piece))
                if texts == NULL:
                    raise MemoryError("no memory for the texts")
                with nogil:
                    good = _write_texts(chunk.dictionary, self.layout, texts) and _write_numbered(
                        chunk, self.width, texts, chunk.dictionary.length, pieces + first)
                sp_free(texts)
            if not good:
                raise _broken(first)
            first += chunk.length
        with nogil:
            while row < self.n_rows and pieces[row].p != NULL:
                row += 1
        if row < self.n_rows:
            raise _broken(row) if pieces[row].n == IS_BROKEN else ValueError(
                f"X has no text in row {row} (null); drop the row, or fill it with an empty text")
        return 0


cdef object _broken(Py_ssize_t row):
    return ValueError(f"X is not a valid Arrow column: row {row} points outside its buffers")


class _Unfit(Exception):
    """A column that does not hold texts; the argument is its format."""
