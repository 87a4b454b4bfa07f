# A matrix in the caller's memory: sparse rows (CSR) or dense ones, of any kind of number.
#
#     sparse   row r is columns[k], values[k] for k in starts[r] .. starts[r + 1]
#     dense    the value of column j in row r is at values + r row_stride + j column_stride (bytes)
#
# Rows are checked before they are read: every value must be finite, at most VALUE_LIMIT in size,
# and exact as a double; columns must be in range, and rise within a row. The check takes the values
# in long runs, which compilers can vectorize, and says only that something is wrong. matrix_fault
# then finds what and where.
#
# A row is read in place if it can be: columns of 32 bits, values of double, no zero among them.
# Otherwise it is copied into scratch, without its zeros.
#
# Functions in this file: matrix_check, matrix_fault, matrix_value, matrix_column, matrix_span,
# matrix_row, matrix_scratch_free, matrix_prefetch, matrix_prefetch_half; matrix_start and
# number_size serve these.

from libc.math cimport fabs
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint16_t
from streamptron.engine.types cimport VALUE_LIMIT, prefetch, uint8_t, uint32_t, uint64_t
from streamptron.engine.heap cimport free, realloc

cdef extern from "matrix.h":
    int check_doubles "sp_check_doubles" (const uint64_t* values, Py_ssize_t n) noexcept nogil
    uint32_t count_falls "sp_count_falls" (const int32_t* columns, Py_ssize_t n) noexcept nogil

cdef enum:
    NUMBER_U8 = 0                   # and truth values
    NUMBER_I8 = 1
    NUMBER_U16 = 2
    NUMBER_I16 = 3
    NUMBER_U32 = 4
    NUMBER_I32 = 5
    NUMBER_U64 = 6
    NUMBER_I64 = 7
    NUMBER_F32 = 8
    NUMBER_F64 = 9

    LINE = 64                       # bytes of a cache line

    MATRIX_FAULTY = 1               # what matrix_check answers, a bit each
    MATRIX_ZEROS = 2
    MATRIX_UNSORTED = 4

    FAULT_NONE = 0
    FAULT_STARTS = 1                # the row's start or end
    FAULT_COLUMN = 2                # out of range
    FAULT_VALUE = 3                 # NaN, infinite, too large
    FAULT_LOSS = 4                  # an int that no double equals

ctypedef fused number_t:
    uint8_t
    int8_t
    uint16_t
    int16_t
    uint32_t
    int32_t
    uint64_t
    int64_t
    float
    double

ctypedef fused column_t:
    int32_t
    int64_t

cdef struct Matrix:
    Py_ssize_t n_rows
    Py_ssize_t n_columns
    bint dense
    int number                      # NUMBER_ kind of the values
    const char* values
    Py_ssize_t n_values             # as stored
    bint wide                       # sparse: starts and columns are int64, not int32
    const char* starts
    const char* columns
    Py_ssize_t row_stride           # dense
    Py_ssize_t column_stride

cdef struct MatrixScratch:          # a row of up to so many entries
    uint32_t* columns
    double* values
    Py_ssize_t capacity


cdef inline Py_ssize_t matrix_start(const Matrix* m, Py_ssize_t r) noexcept nogil:
    if m.wide:
        return <Py_ssize_t> (<const int64_t*> m.starts)[r]
    return (<const int32_t*> m.starts)[r]


cdef inline int64_t matrix_column(const Matrix* m, Py_ssize_t k) noexcept nogil:
    """The column of the k-th stored value of a sparse matrix."""
    if m.wide:
        return (<const int64_t*> m.columns)[k]
    return (<const int32_t*> m.columns)[k]


cdef inline void matrix_span(const Matrix* m, Py_ssize_t r, Py_ssize_t* first,
                             Py_ssize_t* last) noexcept nogil:
    """Where the entries of a row are: positions among the stored values, or columns."""
    first[0] = 0 if m.dense else matrix_start(m, r)
    last[0] = m.n_columns if m.dense else matrix_start(m, r + 1)


cdef inline const char* _value_at(const Matrix* m, Py_ssize_t r, Py_ssize_t k,
                                  Py_ssize_t* stride) noexcept nogil:
    """The address of entry k of row r, and how many bytes further the next one is."""
    if m.dense:
        stride[0] = m.column_stride
        return m.values + r * m.row_stride + k * m.column_stride
    stride[0] = number_size(m.number)
    return m.values + k * stride[0]


cdef inline Py_ssize_t number_size(int number) noexcept nogil:
    if number <= NUMBER_I8:
        return 1
    if number <= NUMBER_I16:
        return 2
    return 4 if number <= NUMBER_I32 or number == NUMBER_F32 else 8


# --- One kind of number at a time. The last argument, where there is one, only says which.

cdef inline bint _is_lossy(number_t value) noexcept nogil:
    """Whether a 64-bit int is not exact as a double. One rounded up to 2^63 or 2^64 never is."""
    if number_t is int64_t:
        return <double> value >= 9223372036854775808.0 or <int64_t> <double> value != value
    elif number_t is uint64_t:
        return <double> value >= 18446744073709551616.0 or <uint64_t> <double> value != value
    else:
        return False


cdef inline int _check_values(const char* p, Py_ssize_t stride, Py_ssize_t n,
                              number_t kind) noexcept nogil:
    """MATRIX_FAULTY, MATRIX_ZEROS, both or neither."""
    cdef Py_ssize_t i
    cdef uint64_t over = 0, under = 0
    cdef uint32_t word, over32 = 0, under32 = 0
    cdef const number_t* values = <const number_t*> p
    if stride == sizeof(number_t):
        if number_t is double:
            return check_doubles(<const uint64_t*> p, n)    # the bits are the same
        elif number_t is float:
            for i in range(n):                              # as for doubles, see there
                word = (<const uint32_t*> p)[i] & <uint32_t> 0x7FFFFFFF
                over32 |= <uint32_t> 0x7F7FFFFF - word      # the largest float, below the limit
                under32 |= word - 1
            over = over32 >> 31
            under = under32 >> 31
        else:
            for i in range(n):
                under |= values[i] == 0
                over |= _is_lossy(values[i])
    else:
        for i in range(n):
            kind = (<const number_t*> (p + i * stride))[0]
            under |= kind == 0
            if number_t is double or number_t is float:
                over |= not (fabs(<double> kind) <= VALUE_LIMIT)
            else:
                over |= _is_lossy(kind)
    return (MATRIX_FAULTY if over else 0) | (MATRIX_ZEROS if under else 0)


cdef inline int _fault_of(const char* p, number_t kind) noexcept nogil:
    kind = (<const number_t*> p)[0]
    if _is_lossy(kind):
        return FAULT_LOSS
    return FAULT_NONE if fabs(<double> kind) <= VALUE_LIMIT else FAULT_VALUE


cdef inline double _value_of(const char* p, number_t kind) noexcept nogil:
    return <double> (<const number_t*> p)[0]


cdef inline Py_ssize_t _compact(const char* p, Py_ssize_t stride, Py_ssize_t n, const Matrix* m,
                                Py_ssize_t first, MatrixScratch* scratch,
                                number_t kind) noexcept nogil:
    """Write n entries into scratch, without the zeros. Returns how many are left."""
    cdef Py_ssize_t i, left = 0
    for i in range(n):
        kind = (<const number_t*> (p + i * stride))[0]
        scratch.values[left] = <double> kind
        scratch.columns[left] = <uint32_t> (i if m.dense else matrix_column(m, first + i))
        left += kind != 0
    return left


# --- Any kind of number

cdef inline int _check_numbers(const Matrix* m, Py_ssize_t r, Py_ssize_t k,
                               Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t stride
    cdef const char* p = _value_at(m, r, k, &stride)
    if m.number == NUMBER_F64:
        return _check_values[double](p, stride, n, 0)
    if m.number == NUMBER_F32:
        return _check_values[float](p, stride, n, 0)
    if m.number == NUMBER_U8:
        return _check_values[uint8_t](p, stride, n, 0)
    if m.number == NUMBER_I8:
        return _check_values[int8_t](p, stride, n, 0)
    if m.number == NUMBER_U16:
        return _check_values[uint16_t](p, stride, n, 0)
    if m.number == NUMBER_I16:
        return _check_values[int16_t](p, stride, n, 0)
    if m.number == NUMBER_U32:
        return _check_values[uint32_t](p, stride, n, 0)
    if m.number == NUMBER_I32:
        return _check_values[int32_t](p, stride, n, 0)
    if m.number == NUMBER_U64:
        return _check_values[uint64_t](p, stride, n, 0)
    return _check_values[int64_t](p, stride, n, 0)


cdef inline int _fault_at(const Matrix* m, const char* p) noexcept nogil:
    if m.number == NUMBER_F64:
        return _fault_of[double](p, 0)
    if m.number == NUMBER_F32:
        return _fault_of[float](p, 0)
    if m.number == NUMBER_U64:
        return _fault_of[uint64_t](p, 0)
    if m.number == NUMBER_I64:
        return _fault_of[int64_t](p, 0)
    return FAULT_NONE               # every other int is a double


cdef inline double _number_at(const Matrix* m, const char* p) noexcept nogil:
    if m.number == NUMBER_F64:
        return _value_of[double](p, 0)
    if m.number == NUMBER_F32:
        return _value_of[float](p, 0)
    if m.number == NUMBER_U8:
        return _value_of[uint8_t](p, 0)
    if m.number == NUMBER_I8:
        return _value_of[int8_t](p, 0)
    if m.number == NUMBER_U16:
        return _value_of[uint16_t](p, 0)
    if m.number == NUMBER_I16:
        return _value_of[int16_t](p, 0)
    if m.number == NUMBER_U32:
        return _value_of[uint32_t](p, 0)
    if m.number == NUMBER_I32:
        return _value_of[int32_t](p, 0)
    if m.number == NUMBER_U64:
        return _value_of[uint64_t](p, 0)
    return _value_of[int64_t](p, 0)


cdef inline Py_ssize_t _compact_numbers(const Matrix* m, Py_ssize_t r, Py_ssize_t first,
                                        Py_ssize_t n, MatrixScratch* scratch) noexcept nogil:
    cdef Py_ssize_t stride
    cdef const char* p = _value_at(m, r, first, &stride)
    if m.number == NUMBER_F64:
        return _compact[double](p, stride, n, m, first, scratch, 0)
    if m.number == NUMBER_F32:
        return _compact[float](p, stride, n, m, first, scratch, 0)
    if m.number == NUMBER_U8:
        return _compact[uint8_t](p, stride, n, m, first, scratch, 0)
    if m.number == NUMBER_I8:
        return _compact[int8_t](p, stride, n, m, first, scratch, 0)
    if m.number == NUMBER_U16:
        return _compact[uint16_t](p, stride, n, m, first, scratch, 0)
    if m.number == NUMBER_I16:
        return _compact[int16_t](p, stride, n, m, first, scratch, 0)
    if m.number == NUMBER_U32:
        return _compact[uint32_t](p, stride, n, m, first, scratch, 0)
    if m.number == NUMBER_I32:
        return _compact[int32_t](p, stride, n, m, first, scratch, 0)
    if m.number == NUMBER_U64:
        return _compact[uint64_t](p, stride, n, m, first, scratch, 0)
    return _compact[int64_t](p, stride, n, m, first, scratch, 0)


# --- Checking

cdef inline int _check_columns(const Matrix* m, Py_ssize_t first, Py_ssize_t last,
                               column_t kind) noexcept nogil:
    """The starts and columns of rows first .. last of a sparse matrix."""
    cdef const column_t* starts = <const column_t*> m.starts
    cdef const column_t* columns = <const column_t*> m.columns
    cdef Py_ssize_t r, k, low = <Py_ssize_t> starts[first], high = low
    cdef uint32_t falls = 0, bad = 0
    if low < 0:
        return MATRIX_FAULTY
    for r in range(first, last):
        bad |= starts[r + 1] < starts[r]
    high = <Py_ssize_t> starts[last]
    if bad or high > m.n_values:
        return MATRIX_FAULTY
    # Columns must rise within a row: as many falls as there are between rows, and no more. Then the
    # first and the last of a row say whether all are in range.
    if column_t is int32_t:
        falls = count_falls(columns + low, high - low)
    else:
        for k in range(low, high - 1):
            falls += columns[k + 1] <= columns[k]
    for r in range(first, last):
        if starts[r] < starts[r + 1]:
            bad |= (columns[starts[r]] < 0) | (columns[starts[r + 1] - 1] >= m.n_columns)
            if starts[r] > low:
                falls -= columns[starts[r]] <= columns[starts[r] - 1]
    if falls == 0:
        return MATRIX_FAULTY if bad else 0
    bad = 0
    for k in range(low, high):
        bad |= (columns[k] < 0) | (columns[k] >= m.n_columns)
    return MATRIX_UNSORTED | (MATRIX_FAULTY if bad else 0)


cdef inline int matrix_check(const Matrix* m, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """What rows first .. last - 1 are found to be: MATRIX_ bits, 0 if there is nothing to say."""
    cdef int found = 0
    cdef Py_ssize_t r
    if first >= last:
        return 0
    if m.dense:
        for r in range(first, last):
            found |= _check_numbers(m, r, 0, m.n_columns)
        return found
    found = (_check_columns[int64_t](m, first, last, 0) if m.wide
             else _check_columns[int32_t](m, first, last, 0))
    if found & MATRIX_FAULTY:
        return found
    return found | _check_numbers(m, 0, matrix_start(m, first),
                                  matrix_start(m, last) - matrix_start(m, first))


cdef inline int matrix_fault(const Matrix* m, Py_ssize_t first, Py_ssize_t last, Py_ssize_t* row,
                             Py_ssize_t* entry) noexcept nogil:
    """The first fault in rows that matrix_check found faulty: its kind, its row, its entry."""
    cdef Py_ssize_t r, k, low, high, stride
    cdef int fault
    for r in range(first, last):
        row[0] = r
        matrix_span(m, r, &low, &high)
        if not m.dense and (low < 0 or high < low or high > m.n_values):
            return FAULT_STARTS
        for k in range(low, high):
            entry[0] = k
            if not m.dense and not 0 <= matrix_column(m, k) < m.n_columns:
                return FAULT_COLUMN
            fault = _fault_at(m, _value_at(m, r, k, &stride))
            if fault != FAULT_NONE:
                return fault
    return FAULT_NONE


cdef inline double matrix_value(const Matrix* m, Py_ssize_t r, Py_ssize_t k) noexcept nogil:
    """Entry k of row r."""
    cdef Py_ssize_t stride
    return _number_at(m, _value_at(m, r, k, &stride))


# --- Reading

cdef inline Py_ssize_t matrix_row(const Matrix* m, Py_ssize_t r, bint zeros, MatrixScratch* scratch,
                                  const uint32_t** columns, const double** values) noexcept nogil:
    """Read a checked row; `zeros`: it may have some. Returns the number of entries.

    -1 without memory.
    """
    cdef Py_ssize_t first, last
    matrix_span(m, r, &first, &last)
    if not zeros and not m.dense and not m.wide and m.number == NUMBER_F64:
        columns[0] = <const uint32_t*> m.columns + first
        values[0] = <const double*> m.values + first
        return last - first
    if _scratch_reserve(scratch, last - first) < 0:
        return -1
    columns[0] = scratch.columns
    values[0] = scratch.values
    return _compact_numbers(m, r, first, last - first, scratch)


cdef inline void matrix_prefetch(const Matrix* m, Py_ssize_t r, Py_ssize_t ahead) noexcept nogil:
    """Prefetch the values that lie `ahead` entries after a sparse row, as many as the row has.

    Memory is idle while a row is learned; the values are there when the next block is checked.
    """
    cdef Py_ssize_t first, last
    cdef Py_ssize_t size = number_size(m.number), column_size = 8 if m.wide else 4
    if m.dense:
        return
    matrix_span(m, r, &first, &last)
    first += ahead
    last = min(last + ahead, m.n_values)
    if last - first < 32:               # too short to be worth it
        return
    _prefetch_bytes(m.values + first * size, m.values + last * size)
    _prefetch_bytes(m.columns + first * column_size, m.columns + last * column_size)


cdef inline void _prefetch_bytes(const char* p, const char* end) noexcept nogil:
    while p < end:
        prefetch(p)
        p += LINE


cdef inline void matrix_prefetch_half(const Matrix* m, Py_ssize_t r, bint second) noexcept nogil:
    """Prefetch half of a sparse row that does not follow the ones that are read.

    A processor has room for some twenty lines that are under way, and waits with more. So a row's
    columns and a quarter of its values come at one moment, the other values at another.
    """
    cdef Py_ssize_t first, last, middle
    cdef Py_ssize_t size = number_size(m.number), column_size = 8 if m.wide else 4
    if m.dense:
        return
    matrix_span(m, r, &first, &last)
    middle = first + (last - first) // 4
    if second:
        _prefetch_bytes(m.values + middle * size, m.values + last * size)
    else:
        _prefetch_bytes(m.columns + first * column_size, m.columns + last * column_size)
        _prefetch_bytes(m.values + first * size, m.values + middle * size)


cdef inline int _scratch_reserve(MatrixScratch* scratch, Py_ssize_t n) noexcept nogil:
    cdef void* p
    if n <= scratch.capacity:
        return 0
    p = realloc(scratch.columns, n * sizeof(uint32_t))
    if p == NULL:
        return -1
    scratch.columns = <uint32_t*> p
    p = realloc(scratch.values, n * sizeof(double))
    if p == NULL:
        return -1
    scratch.values = <double*> p
    scratch.capacity = n
    return 0


cdef inline void matrix_scratch_free(MatrixScratch* scratch) noexcept nogil:
    free(scratch.columns)
    free(scratch.values)
