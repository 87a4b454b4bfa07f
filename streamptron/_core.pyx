"""The doors: check, convert, raise, loop; and the state of a model as Python sees it.

Whatever can be wrong with an input is settled here, before anything is changed. What lies under this
file trusts its arguments. See ARCHITECTURE.md for the rooms and a row's journey through them.
"""

import os
import sys
from copy import deepcopy
from collections import ChainMap, Counter, OrderedDict, defaultdict, namedtuple
from collections.abc import Mapping, Sequence
from decimal import Decimal
from math import isfinite as is_finite
from numbers import Integral, Real
from operator import index as as_index
from array import array
from struct import error as struct_error
from sys import getsizeof, intern
from unicodedata import category

cimport cython
from libc.math cimport fabs, isfinite
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset
from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_SIMPLE, PyBUF_STRIDES, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject

from streamptron.engine.types cimport (
    CHUNK_BITS, CHUNK_ROWS, ROW_INTERCEPT, ROW_MAX, ROW_NULL, ROWS_RESERVED, VALUE_LIMIT as LIMIT, row_t, uint8_t,
    uint32_t, uint64_t, uintptr_t)
from streamptron.engine.key cimport (
    KEY_BYTES, KEY_CANONICAL, KEY_FLOAT, KEY_INT, KEY_LONG, KEY_NONE, KEY_OBJECT, KEY_STR, Key,
    key_bytes, key_inline_bytes, key_is_long, key_kind, key_length, key_text, key_word)
from streamptron.engine.hash cimport key_hash
from streamptron.engine.arena cimport Arena, arena_free, arena_init
from streamptron.engine.pool cimport pages_whole
from streamptron.doors.entry cimport (
    PyFloat_AS_DOUBLE, PyFloat_CheckExact, PyUnicode_CheckExact, PyUnicode_GET_LENGTH, SCALAR_BOOL,
    SCALAR_BYTES, SCALAR_F16, SCALAR_F32, SCALAR_F64, SCALAR_I8, SCALAR_I16, SCALAR_I32, SCALAR_I64,
    SCALAR_STR, SCALAR_U8, SCALAR_U16, SCALAR_U32, SCALAR_U64, ascii_text, bytes_data, bytes_size,
    entry_key, entry_key_everyday, entry_know, entry_scalar_is_bare, entry_value, entry_value_everyday,
    utf8_write)
from streamptron.engine.index cimport (
    Index, index_fault, index_find, index_free, index_init, index_insert, index_is_limited,
    index_open_columns, index_place, index_stored)
from streamptron.engine.event cimport (
    Event, Writer, event_again, event_begin, event_bytes, event_end, event_free, event_init, event_settle, event_writer,
    writer_add)
from streamptron.engine.table cimport (
    AVERAGE_NONE, KEPT_AVERAGE, KEPT_CURRENT, KEPT_KINDS, KEPT_POCKET, Block, Table,
    table_add_outputs, table_fault, table_keeps, table_read, table_reserve, table_write,
    table_wrote)
from streamptron.engine.rule cimport RULE_ADAPTIVE, RULE_MIRA, RULE_MULTICLASS, RULE_PERCEPTRON, Rule
from streamptron.engine.adaptive cimport (
    U_LIMIT, Adaptive, Blocks, Weighed, adaptive_fault, adaptive_room, adaptive_set_count, adaptive_share, adaptive_weight)
from streamptron.engine.serve cimport Serve, serve_overall
from streamptron.engine.calibrate cimport Calibrator
from streamptron.engine.matrix cimport (
    FAULT_COLUMN, FAULT_LOSS, FAULT_STARTS, MATRIX_FAULTY, MATRIX_UNSORTED, MATRIX_ZEROS, Matrix,
    matrix_check, matrix_column, matrix_fault, matrix_value)
from streamptron.engine.text cimport (
    TEXT_CHARACTERS, WORD, Piece, Text, TextRule, text_bytes, text_free, text_page, text_rule_separators,
    text_write)
from streamptron.engine.lines cimport (
    LINE_BLANK, LINES_EITHER, LINES_FASTTEXT, LINES_LABELLED, LINES_TEXT, Line, line_ends, line_next)
from streamptron.engine.batch cimport Batch, batch_free, batch_matrix, batch_next, batch_row, batch_texts
from streamptron.engine.learner cimport (
    Answer, Learner, learner_adapts, learner_answer, learner_bytes, learner_copy, learner_decision, learner_free,
    learner_init, learner_labels, learner_learn, learner_probabilities, learner_resolve, learner_score,
    learner_several, learner_weight)

from streamptron.engine.flat cimport (
    FLAT_CHUNK, FLAT_DEPTH, FLAT_KEY, FLAT_MEMORY, FLAT_NOBODYS, FLAT_ROW, FLAT_TEXTS, FLAT_TWICE, FLAT_WEIGHT, Flat,
    flat_free, flat_lookup, flat_map, flat_measure, flat_read, flat_too_deep, flat_write)

from streamptron._names import is_numpy, name_decode, name_plain, shown

cdef extern from *:
    """
    #ifdef _WIN32
      #ifndef WIN32_LEAN_AND_MEAN
        #define WIN32_LEAN_AND_MEAN     /* the rest defines words that are names of fields here: small, far */
      #endif
      #ifndef NOMINMAX
        #define NOMINMAX
      #endif
      #include <windows.h>
      #define sp_usleep(us) Sleep(((us) + 999) / 1000)
      static inline double sp_seconds(void) { return 1e-3 * (double)GetTickCount64(); }
    #else
      #include <time.h>
      #include <unistd.h>
      #define sp_usleep(us) usleep(us)
      static inline double sp_seconds(void)
      {
          struct timespec now;
          clock_gettime(CLOCK_MONOTONIC, &now);
          return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
      }
    #endif
    """
    void usleep "sp_usleep" (unsigned int microseconds) noexcept nogil
    double seconds "sp_seconds" () noexcept nogil       # since some moment

cdef extern from *:
    """
    /* Built with -DSTREAMPTRON_DEBUG, a model looks at all that it holds at the end of every call. */
    #ifdef STREAMPTRON_DEBUG
      #define SP_DEBUG 1
    #else
      #define SP_DEBUG 0
    #endif
    """
    const bint DEBUG "SP_DEBUG"

cdef extern from "Python.h":
    const Py_ssize_t SSIZE_MAX "PY_SSIZE_T_MAX"
    int PyErr_CheckSignals() except -1
    int PyGC_Disable() noexcept
    int PyGC_Enable() noexcept
    unsigned long PyThread_get_thread_ident() noexcept
    bint PyDict_CheckExact(PyObject* o) noexcept
    bint PyDict_Next(PyObject* o, Py_ssize_t* at, PyObject** key, PyObject** value) noexcept
    Py_ssize_t PyDict_GET_SIZE "PyDict_Size" (PyObject* o) noexcept
    PyObject* list_item "PyList_GET_ITEM" (PyObject* o, Py_ssize_t at) noexcept
    object PyUnicode_DecodeUTF8(const char* p, Py_ssize_t n, const char* errors)

VALUE_LIMIT = LIMIT
_PICKLE_DEPTH = 1000             # how deep tuples in names may be nested in a pickle; see FLAT_DEPTH
_HALF_LIFE_MOST = 1e12           # events: 2^(-1/h), as the float nearest to it, is yet right to 0.02 % of the half-life
cdef double EXACT = 2.0**53         # below that every int is a double

KEPT = ("current", "average", "pocket")
AVERAGES = ("none", "uniform", "exponential")
cdef list _TRUTH = [False, True]

class RULES:
    """Numbers of the rules, for the estimators' constructors."""

    PERCEPTRON = RULE_PERCEPTRON
    MULTICLASS = RULE_MULTICLASS
    MIRA = RULE_MIRA
    ADAPTIVE = RULE_ADAPTIVE


TopFeatures = namedtuple("TopFeatures", ["positive", "negative"])
TopFeatures.__doc__ = "The features that speak most for a label, and those that speak most against it."


# --- One feature: its value and its name --------------------------------------------------------
#
# What doors/entry.pxd reads in C is not looked at by Python.

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    static int sp_any_value(PyObject *o, double *value) __attribute__((noinline));
    #endif
    """

cdef bint _any_value "sp_any_value" (PyObject* o, double* value) noexcept:
    """entry_value, kept out of the loops: a compiler would put it into each, and the everyday event would pay."""
    return entry_value(o, value)


cdef class _Name:
    """A name that Python code had to look at: what name_plain said of it, or the ordinal of a mere object."""
    cdef int kind
    cdef object plain

    def __cinit__(self, name):
        self.kind, self.plain = name_plain(name)


cdef bint _name_key(Arena* scratch, _Name name, Key* key) except -1:
    """The key of such a name; False without memory."""
    cdef PyObject* plain = <PyObject*> name.plain
    cdef double number
    cdef uint64_t word
    if name.kind == KEY_STR or name.kind == KEY_BYTES:
        return entry_key(scratch, plain, key)
    if name.kind == KEY_CANONICAL:
        key[0] = key_text(KEY_CANONICAL, <const uint8_t*> bytes_data(plain), bytes_size(plain))
        return True
    if name.kind == KEY_FLOAT:
        number = name.plain
        memcpy(&word, &number, 8)
    else:
        word = <uint64_t> <long long> name.plain
    key[0] = key_word(name.kind, word)
    return True


cdef list _scalars = []             # numpy's types, which doors/entry.pxd points to; empty: not known yet


cdef int _know_numpy() except -1:
    """Let numpy's scalars be read in C, once somebody has loaded numpy."""
    cdef bytes bits
    if _scalars or "numpy" not in sys.modules:
        return 0
    try:
        numpy = sys.modules["numpy"]
        found = [(numpy.str_, SCALAR_STR), (numpy.bytes_, SCALAR_BYTES)]
        for code, kind in (
                ("d", SCALAR_F64), ("q", SCALAR_I64), ("l", SCALAR_I64), ("f", SCALAR_F32), ("?", SCALAR_BOOL),
                ("i", SCALAR_I32), ("e", SCALAR_F16), ("b", SCALAR_I8), ("B", SCALAR_U8), ("h", SCALAR_I16),
                ("H", SCALAR_U16), ("I", SCALAR_U32), ("Q", SCALAR_U64), ("L", SCALAR_U64)):
            dtype = numpy.dtype(code)
            if dtype.itemsize == 4 and code in "lL":        # as on Windows
                kind = SCALAR_I32 if code == "l" else SCALAR_U32
            bits = bytes(range(1, dtype.itemsize + 1))
            scalar = numpy.frombuffer(bits, dtype=dtype)[0]
            if entry_scalar_is_bare(<PyObject*> scalar, bytes_data(<PyObject*> bits), len(bits)):
                found.append((dtype.type, kind))
    except AttributeError:          # it is just being loaded
        return 0
    if not _scalars:                # no other thread has been here meanwhile
        _scalars.extend(found)
        for scalar_type, kind in found:
            entry_know(<PyObject*> scalar_type, kind)
    return 0


cdef enum:
    VALUE_GOOD = 0                  # what _float_of may find
    VALUE_NONE = 1
    VALUE_ODD = 2
    VALUE_NAN = 3
    VALUE_LARGE = 4
    VALUE_LOSS = 5


cdef int _float_of(value, bint exact, double* number) except -1:
    """Any real number as a float, or what is wrong with it; `exact`: an int must be the same as a float.

    A Decimal or a Fraction is rounded, as 0.1 is in a program: few of them are floats.
    """
    if not isinstance(value, (Real, Decimal)):
        if is_numpy(value, "bool_"):
            number[0] = 1.0 if value else 0.0
            return VALUE_GOOD
        return VALUE_NONE if value is None else VALUE_ODD
    try:
        number[0] = float(value)
    except OverflowError:
        number[0] = float("inf")
    except ValueError:              # a signalling NaN
        number[0] = float("nan")
    if number[0] != number[0]:
        return VALUE_NAN
    if not fabs(number[0]) <= LIMIT:
        return VALUE_LARGE
    if exact and (is_numpy(value, "longdouble") and value != number[0] or fabs(number[0]) >= EXACT
                  and isinstance(value, Integral) and int(value) != int(number[0])):
        return VALUE_LOSS
    return VALUE_GOOD


cdef object _fault(int fault, value, what, str none_hint="", str nan_hint=""):
    """The error that says what is wrong with `what`, and where that often comes from."""
    if fault == VALUE_NONE:
        return TypeError(f"{what} is None; leave out what is missing, or impute it first{none_hint}")
    if fault == VALUE_ODD:
        return TypeError(f"{what} is {shown(value)}, a {type(value).__name__}; it must be a number")
    if fault == VALUE_NAN:
        return ValueError(f"{what} is NaN; leave out what is missing, or impute it first{nan_hint}")
    if fault == VALUE_LARGE:
        return ValueError(
            f"{what} is {shown(value)}; it must be finite and at most {VALUE_LIMIT:g} in size: scale it first")
    return ValueError(
        f"{what} is {shown(value)}, which a float64 cannot hold exactly; scale it first, or give "
        f"float({shown(value)}) if that is meant. If it is a number that names something, make it part of the "
        "feature's name")


cdef double _number(value, str what) except? -1.0:
    """Any real number as a float, or an error that says what is wrong with `what`."""
    cdef double number = 0.0
    cdef int fault = _float_of(value, False, &number)
    if fault:
        raise _fault(fault, value, what)
    return number


def checked_number(value, str what):
    """A number of an event as a float, or an error that says what is wrong with `what`."""
    cdef double number = 0.0
    cdef int fault = _float_of(value, True, &number)
    if fault:
        raise _fault(fault, value, what)
    return number


cdef double _feature_value(name, value, str what) except? -1.0:
    """The same, in `what` under a name; who calls need not say it in words before something is wrong."""
    cdef double number = 0.0
    cdef int fault = _float_of(value, True, &number)
    if not fault:
        return number
    if isinstance(value, str) and what == "x":
        raise TypeError(
            f"x[{shown(name)}] is the text {shown(value)}; a value must be a number. For a category "
            f"write {shown({f'{name}={value}': 1})}, for a text put Tokenizer() before the learner")
    raise _fault(fault, value, f"{what}[{shown(name)}]", _NONE_HINT, _NAN_HINT)


_NONE_HINT = ". A prediction is None until the learner has seen a label: do not use that one as a feature"
_NAN_HINT = (
    ". If a step before the learner made it: MinMaxScaler, for one, does so of a feature that it meets for the "
    "first time, where StandardScaler makes 0")


cdef bint _in_order(x, list entries) except -1:
    """Whether the dict that an OrderedDict is has its order, as it has if nothing was moved: its entries then."""
    cdef list names = list(x)
    cdef PyObject* name
    cdef PyObject* value
    cdef Py_ssize_t at = 0, i = 0, n = len(names)
    while PyDict_Next(<PyObject*> x, &at, &name, &value):
        if i == n or list_item(<PyObject*> names, i) != name:
            entries.clear()
            return False
        entries.append(<object> name)
        entries.append(<object> value)
        i += 1
    return i == n


cdef list _entries(x, str what):
    """A mapping's names and values in turn, held here; or the error that says why it cannot be read."""
    cdef list entries = []
    cdef PyObject* name
    cdef PyObject* value
    cdef Py_ssize_t at = 0
    if type(x) is ChainMap and all([type(each) is dict for each in x.maps]):
        merged = {}                 # as it would say itself, but it asks each dict for each name
        for each in reversed(x.maps):
            merged.update(each)
        x = merged
    if PyDict_CheckExact(<PyObject*> x) or type(x) is Counter or type(x) is defaultdict:
        while PyDict_Next(<PyObject*> x, &at, &name, &value):
            entries.append(<object> name)
            entries.append(<object> value)
        return entries
    if not isinstance(x, Mapping):
        hint = "; for a text put Tokenizer() before the learner" if isinstance(x, (str, bytes)) else ""
        raise TypeError(
            f"{what} is {shown(x)}, a {type(x).__name__}; it must be a mapping of features to numbers, "
            f"such as {{'word': 1}}{hint}")
    broken = None
    try:
        if type(x) is OrderedDict and _in_order(x, entries):
            return entries
        items = x.items()
        try:
            pairs = iter(items)
        except TypeError:
            pairs, broken = (), (items,)
        for pair in pairs:
            if type(pair) is tuple and len(<tuple> pair) == 2:
                entries.append((<tuple> pair)[0])
                entries.append((<tuple> pair)[1])
            else:
                try:
                    name_there, value_there = pair
                except (TypeError, ValueError):
                    broken = (pair,)
                    break
                entries.append(name_there)
                entries.append(value_there)
            pair = None             # so that a dict's iterator uses the tuple again
    except Exception as error:
        if type(error) is RuntimeError:     # what Python raises where a dict changes meanwhile
            raise RuntimeError(f"{what} is a {type(x).__name__} that cannot be read: {error}") from error
        error.add_note(f"streamptron was reading the items() of {what}, a {type(x).__name__}")
        raise
    if broken is not None:
        raise TypeError(
            f"{what} is a {type(x).__name__} whose items() gave {shown(broken[0])}, a "
            f"{type(broken[0]).__name__}; it must give pairs of a name and a number")
    return entries


cdef class _Encoded:
    """A name that Python code has yet to decode."""
    cdef bytes text

    def __cinit__(self, bytes text):
        self.text = text


cdef object _key_plain(const Key* key, dict objects):
    """The name that a stored key stands for, without any Python code; `objects` maps ordinals to objects."""
    cdef uint64_t kind = key_kind(key) & ~<uint64_t> KEY_LONG
    cdef size_t n = key_length(key)
    cdef uint8_t inside[16]
    cdef const char* p
    cdef double number
    if kind == KEY_INT:
        return <long long> key.lo
    if kind == KEY_FLOAT:
        memcpy(&number, &key.lo, 8)
        return number
    if kind == KEY_OBJECT:
        if key.lo not in objects:
            raise _damaged("a feature name is not among its objects")
        return objects[key.lo]
    if key_is_long(key):
        p = <const char*> key_bytes(key)
    else:
        key_inline_bytes(key, inside)
        p = <const char*> inside
    if kind == KEY_STR:
        try:
            return PyUnicode_DecodeUTF8(p, n, "surrogatepass")
        except UnicodeDecodeError as error:
            raise _damaged(f"a feature name is not UTF-8: {error}") from None
    text = PyBytes_FromStringAndSize(p, n)
    return text if kind == KEY_BYTES else _Encoded(text)


cpdef object _named(plain):
    """The name, of what _key_plain has returned."""
    if type(plain) is not _Encoded:
        return plain
    try:
        return name_decode((<_Encoded> plain).text)
    except _NO_NAME as error:
        raise _damaged(f"a feature name is invalid: {error!r}") from None


# What name_decode ends in where bytes are no name; struct.error is none of the others.
_NO_NAME = (LookupError, ValueError, AssertionError, RecursionError, struct_error)


def _damaged(why):
    """The error of a model in a file that meets what cannot be there: nobody has looked before."""
    from streamptron._format import ModelFileError

    return ModelFileError(
        f"the file that the model lies in is damaged: {why}; take another copy of the file, or an "
        "older checkpoint")


cdef bint _finite(const double* numbers, Py_ssize_t n) noexcept:
    """Whether all of the numbers are; of no numbers (NULL) too."""
    cdef Py_ssize_t i
    if numbers == NULL:
        return True
    for i in range(n):
        if not isfinite(numbers[i]):
            return False
    return True


cdef bint _finite_scores(const Learner* learner, const Event* event) noexcept:
    """Whether the scores of all kept vectors are, on a scored event."""
    cdef int kind
    for kind in range(KEPT_KINDS):
        if table_keeps(&learner.table, kind) and not _finite(
                learner_decision(learner, event, kind), learner.table.n_outputs):
            return False
    return True


# --- Parameters ---------------------------------------------------------------------------------

def _choice(str name, value, choices):
    if not (isinstance(value, str) and value in choices):
        raise ValueError(f"{name}={shown(value)}; it must be one of {', '.join(map(repr, choices))}")
    return choices.index(value)


def _truth(str name, value):
    if not isinstance(value, bool):
        raise TypeError(f"{name}={shown(value)}; it must be True or False")
    return value


def _real(str name, value, double low, str bound, double high=LIMIT):
    """A parameter as a float, at least `low` (said as `bound`)."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name}={shown(value)}; it must be a number {bound}")
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if not low <= number <= high:
        raise ValueError(f"{name}={shown(value)}; it must be a number {bound} and at most {high:g}")
    return number


def _whole(str name, value, low, high):
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name}={shown(value)}; it must be None or an int from {low} to {high}")
    if not low <= value <= high:
        raise ValueError(f"{name}={shown(value)}; it must be None or an int from {low} to {high}")
    return value


class _ClassWeight(dict):
    """The parameter class_weight as a learner keeps it: a dict that cannot be changed. Its copies are dicts."""

    def _fixed(self, *args, **kwargs):
        raise TypeError(
            "a learner's class_weight cannot be changed; make one with another by clone({'class_weight': {...}})")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _fixed

    def __reduce_ex__(self, protocol):
        return dict, (dict(self),)


def _interned(value):
    """A str as the one object that the names in the code are too.

    Pickle writes an object only once, and the same model is to have the same bytes.
    """
    return intern(value) if type(value) is str else value


# --- A matrix -----------------------------------------------------------------------------------

cdef enum:
    COLUMNS_MOST = 1 << 22          # columns whose rows a model keeps at hand, in 4 bytes each
    COLUMNS_FEW = 1 << 16           # of which so many are kept however little a batch holds
    COPY_LEAST = 1 << 20            # bytes of a batch that may be learned on a copy of the model
    COPY_TIMES = 4                  # and how many times the model's bytes it has

cdef double TURN = 0.001            # seconds a batch is learned in place before others are let in

UNSORTED = -1                       # what _run may answer beside a number of rows
NEW_LABELS = -2

NUMBERS = ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8")  # NUMBER_U8 .. NUMBER_F64


cdef class Rows:
    """Events, one a row."""

    def __len__(self):
        return self.n_rows

    cdef void _begin(self, Batch* batch, Learner* learner, Event* event) noexcept:
        """A batch of all rows, of which nothing is wanted yet."""

    cdef void _end(self, const Batch* batch) noexcept:
        """Keep what is to be known of a batch that has been run."""


cdef class MatrixRows(Rows):
    """A matrix in the caller's arrays, which must not change while it is used; see engine/matrix.pxd.

    Parameters
    ----------
    number
        Which of NUMBERS the values are.
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
        cdef Matrix* m = &self.matrix
        for array in (values,) if columns is None else (values, columns, starts):
            PyObject_GetBuffer(array, &self.buffers[self.n_buffers], PyBUF_STRIDES)
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

    cdef void _begin(self, Batch* batch, Learner* learner, Event* event) noexcept:
        batch_matrix(batch, learner, event, &self.matrix)

    def check(self, names):
        """Raise the error that says what is wrong, if anything is."""
        if matrix_check(&self.matrix, 0, self.matrix.n_rows) & MATRIX_FAULTY:
            raise self.fault(names)

    def fault(self, names):
        """The error that says what is wrong in a matrix that is faulty."""
        cdef Py_ssize_t row = 0, entry = 0
        cdef int fault = matrix_fault(&self.matrix, 0, self.matrix.n_rows, &row, &entry)
        if fault == FAULT_STARTS:
            return ValueError(
                f"X is not a CSR matrix: by its indptr row {row} does not start and end within the "
                f"{self.matrix.n_values} stored values; rebuild it with scipy.sparse.csr_array")
        column = entry if self.matrix.dense else matrix_column(&self.matrix, entry)
        if fault == FAULT_COLUMN:
            return ValueError(
                f"X has the column index {column} in row {row}; it has {self.matrix.n_columns} columns, so "
                f"an index must be from 0 to {self.matrix.n_columns - 1}")
        where = f"in row {row}, column {shown(column if names is None else names[column])}"
        value = matrix_value(&self.matrix, row, entry)
        if fault == FAULT_LOSS:
            return ValueError(
                f"X has an int {where} near {value:.0f} that a float64 cannot hold exactly; "
                "scale it first, or convert X to float64 if that is meant")
        if value != value:
            return ValueError(
                f"X has no value {where} (missing or NaN); drop the row or impute the cell first")
        return ValueError(
            f"X is {value!r} {where}; a value must be finite and at most {VALUE_LIMIT:g} in size: "
            "scale it first")


cdef bint _is_tight(const Py_buffer* buffer) noexcept:
    """Whether an array's numbers lie one beside the other, where the machine wants them."""
    return ((buffer.shape[0] <= 1 or buffer.strides[0] == buffer.itemsize)
            and <uintptr_t> buffer.buf % <uintptr_t> buffer.itemsize == 0)


cdef void* _data(array, Py_ssize_t n) except? NULL:
    """Where an array of n rows of 64-bit numbers, which its owner holds on to, has its values."""
    cdef Py_buffer buffer
    PyObject_GetBuffer(array, &buffer, PyBUF_C_CONTIGUOUS)
    PyBuffer_Release(&buffer)
    assert buffer.itemsize == 8 and buffer.shape[0] == n
    return buffer.buf


def number_small(const long long[::1] values, long long low, Py_ssize_t size):
    """Number ints from low .. low + size by order of appearance: where each is first, and all the numbers."""
    cdef Py_ssize_t i
    import numpy as np

    cdef Py_ssize_t[::1] seen = np.full(size, -1, dtype=np.intp)
    numbers = np.empty(values.shape[0], dtype=np.intp)
    cdef Py_ssize_t[::1] out = numbers
    firsts = []
    for i in range(values.shape[0]):
        if seen[values[i] - low] < 0:
            seen[values[i] - low] = len(firsts)
            firsts.append(i)
        out[i] = seen[values[i] - low]
    return firsts, numbers


cdef object _looked_up(outputs, numbers, Py_ssize_t n):
    """outputs[number] for each of n numbers, below 0 for what is below 0."""
    cdef const Py_ssize_t* number = <const Py_ssize_t*> _data(numbers, n)
    found = array("q", bytes(8 * n))
    cdef long long[::1] y = found
    cdef long long[::1] table = array("q", outputs)
    cdef Py_ssize_t r
    for r in range(n):
        y[r] = table[number[r]] if number[r] >= 0 else -1
    return found


def count_wrong(numbers, outputs, predictions, Py_ssize_t first, Py_ssize_t last):
    """How many of the rows first .. last - 1 have a label and a prediction, and how many of those two that differ.

    `numbers`: of the rows' labels, below 0 for none. `outputs`: the prediction that each label stands for.
    """
    cdef const Py_ssize_t* number = <const Py_ssize_t*> _data(numbers, len(predictions))
    cdef const Py_ssize_t* prediction = <const Py_ssize_t*> _data(predictions, len(predictions))
    cdef long long[::1] right = array("q", outputs or [0])
    cdef Py_ssize_t r, labelled = 0, wrong = 0
    for r in range(first, last):
        if number[r] >= 0 and prediction[r] >= 0:
            labelled += 1
            wrong += right[number[r]] != prediction[r]
    return labelled, wrong


cdef int _find_columns(Batch* batch, bint named, bint learning, Event* columns) noexcept nogil:
    """The row of each column, as far as it is worth it: see engine/batch.pxd. -1 without memory.

    `columns`: the keys of named columns. Ints are found without hashing if the index has them at hand; learning
    sees to that, unless the matrix is very wide and holds little. Under a ceiling it leaves the rows unknown.
    """
    cdef Index* index = &batch.learner.index
    cdef const Matrix* m = batch.matrix
    cdef Py_ssize_t j
    cdef Writer writer
    if learning and index_is_limited(index):
        batch.keys = columns.keys if named else NULL
        return 0
    if not named:
        if learning and m.n_columns <= COLUMNS_MOST and (
                m.n_columns <= COLUMNS_FEW or m.n_values >= m.n_columns // 4):
            if index_open_columns(index, m.n_columns) < 0:
                return -1
        if <size_t> m.n_columns <= index.n_columns:
            batch.rows = index.columns
            return 0
        if m.n_values // 2 < m.n_columns or m.n_columns > <Py_ssize_t> 1 << 31:
            return 0
        if event_begin(columns, index, m.n_columns, False) < 0:
            return -1
        writer = event_writer(columns)
        for j in range(m.n_columns):
            writer_add(&writer, key_word(KEY_INT, j), 1.0)
        event_end(columns, &writer)
    learner_resolve(batch.learner, columns)
    batch.rows = columns.rows
    batch.keys = columns.keys
    return 0


cdef int _sleep(int turn) noexcept:
    """Sleep without the interpreter's lock, longer from turn to turn. The next turn."""
    cdef int us = 10 if turn < 20 else 200
    with nogil:
        usleep(us)
    return turn + 1


cdef Py_ssize_t _run_checked(Batch* batch, int* found) noexcept:
    """Check each block and run over it, without the interpreter's lock.

    The number of rows done; -1 and what matrix_check has found if a block cannot be used.
    """
    cdef Py_ssize_t r = 0, last
    while True:
        with nogil:
            while r < batch.n_rows:
                last = batch_next(batch, r)
                if batch.matrix != NULL:
                    found[0] = matrix_check(batch.matrix, r, last)
                    if found[0] & (MATRIX_FAULTY | MATRIX_UNSORTED):
                        r = -1
                        break
                while r < last and batch_row(batch, r, (found[0] & MATRIX_ZEROS) != 0) == 0:
                    r += 1
                if r < last:
                    break
        if r < 0 or r == batch.n_rows or not _turn_page(batch):
            return r


TEXT_MOST = 1 << 28     # characters or bytes of a text: places in its UTF-8 are counted in 32 bits


# --- A text ---------------------------------------------------------------------------------------

cdef bint _fill_page(uint32_t page) noexcept:
    """Ask Python about 256 code points. Runs nothing but C; False without memory."""
    cdef uint32_t* entries
    cdef uint32_t c
    collecting = PyGC_Disable()     # a finalizer might use the model that waits for this
    try:
        entries = <uint32_t*> malloc(256 * sizeof(uint32_t))
        if entries == NULL:
            return False
        for c in range(256):
            character = chr(page << 8 | c)
            entries[c] = ord(character.lower()[0])
            if character.isalnum() or character == "_" or category(character)[0] == "M":
                entries[c] |= WORD
        text_page(page, entries)
        return True
    except MemoryError:
        return False
    finally:
        if collecting:
            PyGC_Enable()


cdef bint _turn_page(Batch* batch) noexcept:
    """Fill the page that a batch has stopped for; False if it has stopped for something else."""
    cdef Py_ssize_t page = batch.page
    batch.page = 0
    return page > 0 and _fill_page(page - 1)


cdef bint _piece(Piece* piece, object text, Arena* scratch) noexcept:
    """Where the bytes of a str or bytes are; a str that is not ASCII is encoded in scratch. False without memory."""
    cdef PyObject* o = <PyObject*> text
    piece.surrogates = PyUnicode_CheckExact(o)
    if piece.surrogates:
        piece.p = ascii_text(o)
        piece.n = PyUnicode_GET_LENGTH(o)
        if piece.p == NULL:
            piece.p = utf8_write(scratch, o, &piece.n)
    else:
        piece.p = <const uint8_t*> bytes_data(o)
        piece.n = bytes_size(o)
    return piece.p != NULL


cdef Py_ssize_t _write_text(Text* scratch, Event* event, const Index* index, bint intercept, TextEvent x) noexcept:
    """Write a text's event, as text_write does. Runs nothing of Python."""
    cdef TextDoor door = x.door
    cdef Piece one
    cdef Piece* pieces = &one
    cdef Arena arena
    cdef Py_ssize_t answer = -1
    cdef int i
    arena_init(&arena)
    if door.n_pieces > 1:
        pieces = <Piece*> malloc(door.n_pieces * sizeof(Piece))
    if pieces != NULL:
        for i in range(door.n_pieces):
            if not _piece(&pieces[i], x.text if door.names is None else (<tuple> x.text)[i], &arena):
                break
        else:
            answer = text_write(
                scratch, event, &door.rule, index, intercept, door.prefixes, pieces, door.n_pieces)
    if pieces != &one:
        free(pieces)
    arena_free(&arena)
    return answer


cdef class TextDoor:
    """What Tokenizer is in the core: its parameters and the rule that follows from them."""

    def __cinit__(self):
        self.rule.low = self.rule.high = 1

    def __dealloc__(self):
        free(self.rule.separators)
        free(self.prefixes)

    def _configure(
            self, analyzer, ngram_range, lowercase, separators, min_length, max_length, fold_numbers, value, normalize,
            fields):
        """Check the parameters, once."""
        cdef TextRule* rule = &self.rule
        cdef int i
        rule.analyzer = _choice("analyzer", analyzer, ("word", "char"))
        if not (isinstance(ngram_range, tuple) and len(ngram_range) == 2
                and all(type(n) is int for n in ngram_range) and 1 <= ngram_range[0] <= ngram_range[1] <= 100):
            raise ValueError(
                f"ngram_range={shown(ngram_range)}; it must be a tuple (low, high) of ints, 1 <= low <= high <= 100")
        rule.low, rule.high = ngram_range
        rule.lowercase = _truth("lowercase", lowercase)
        rule.fold = _truth("fold_numbers", fold_numbers)
        if isinstance(min_length, bool) or not isinstance(min_length, int) or min_length < 1:
            raise ValueError(f"min_length={shown(min_length)}; it must be an int of at least 1")
        if max_length is not None and (
                isinstance(max_length, bool) or not isinstance(max_length, int) or max_length < min_length):
            raise ValueError(
                f"max_length={shown(max_length)}; it must be None or an int of at least min_length={min_length}")
        rule.shortest = min(min_length, SSIZE_MAX)
        rule.longest = SSIZE_MAX if max_length is None else min(max_length, SSIZE_MAX)
        rule.value = _choice("value", value, ("presence", "count", "log"))
        if normalize is not None and (not isinstance(normalize, str) or normalize != "l2"):
            raise ValueError(f"normalize={shown(normalize)}; it must be None or 'l2'")
        rule.l2 = normalize is not None
        if separators is not None and (not isinstance(separators, str) or not separators):
            raise ValueError(f"separators={shown(separators)}; it must be None or a str of characters that separate words")
        if rule.analyzer == TEXT_CHARACTERS:
            for name, given in (("separators", separators is not None), ("fold_numbers", fold_numbers),
                                ("min_length", min_length != 1), ("max_length", max_length != 100)):
                if given:
                    raise ValueError(f"{name} is about words; with analyzer='char' leave it out")
        if separators is not None:
            if fold_numbers:
                raise ValueError("fold_numbers=True needs the default word separators; it cannot be combined with separators")
            rule.separated = True
            rule.separators = <uint32_t*> malloc(len(separators) * sizeof(uint32_t))
            if rule.separators == NULL:
                raise MemoryError("no memory for the separators")
            for character in separators:
                rule.separators[rule.n_separators] = ord(character.lower()[0] if lowercase else character)
                rule.n_separators += 1
            text_rule_separators(rule)
        self.names = self._checked_fields(fields)
        self.n_pieces = 1 if self.names is None else len(self.names)
        self.prefixes = <Piece*> calloc(self.n_pieces, sizeof(Piece))
        if self.prefixes == NULL:
            raise MemoryError("no memory for the fields")
        self.held = [b""] if self.names is None else [
            f"{name}:".encode("utf-8", "surrogatepass") for name in self.names]
        for i in range(self.n_pieces):
            _piece(&self.prefixes[i], self.held[i], NULL)
        self.analyzer, self.ngram_range, self.lowercase, self.separators = (
            analyzer, ngram_range, lowercase, separators)
        self.min_length, self.max_length, self.fold_numbers = min_length, max_length, fold_numbers
        self.value, self.normalize, self.fields = value, normalize, fields

    def _checked_fields(self, fields):
        if fields is None:
            return None
        if not isinstance(fields, (str, tuple, list)):
            raise TypeError(f"fields={shown(fields)}; it must be None, a name, or a tuple of names")
        names = (fields,) if isinstance(fields, str) else tuple(fields)
        if not names or not all(isinstance(name, str) for name in names):
            raise TypeError(f"fields={shown(fields)}; it must have at least one name, each a str")
        if len(set(names)) < len(names):
            raise ValueError(f"fields={shown(fields)}; a name occurs twice")
        return names

    def transform_one(self, x):
        """The features of a text.

        Parameters
        ----------
        x
            A str; bytes, which are read as UTF-8, each bad sequence as one U+FFFD; or with `fields` a mapping that has
            such a text in each of them.

        Returns
        -------
        A read-only mapping of tokens to numbers. A streamptron learner reads the text itself, without
        making it a dict.
        """
        cdef TextEvent event = TextEvent.__new__(TextEvent)
        event.door = self
        event.text = self._texts(x)
        return event

    cdef object _texts(self, x):
        """A text that cannot change; with fields a tuple of them."""
        if self.names is None:
            if (type(x) is str or type(x) is bytes) and len(x) <= TEXT_MOST:
                return x
            return _plain_text(x, "x")
        if not isinstance(x, Mapping):
            raise TypeError(
                f"x is {shown(x)}, a {type(x).__name__}; with fields={shown(self.names)} it must be a mapping that has them")
        texts = []
        for name in self.names:
            if name not in x:
                raise ValueError(f"x has no field {name!r}; it has {shown(list(x))}")
            texts.append(_plain_text(x[name], f"x[{name!r}]"))
        return tuple(texts)

    def transform_many(self, X):
        """The features of each of some texts.

        Parameters
        ----------
        X
            A sequence or series of what `transform_one` takes.

        Returns
        -------
        A sequence of mappings, which the `..._many` methods of streamptron's learners take. Of a series their
        answers have the kind and the index.
        """
        if isinstance(X, (str, bytes, Mapping)):
            raise TypeError(f"X is one {type(X).__name__}; transform_many takes a sequence of texts")
        if hasattr(X, "columns"):       # whose iteration gives names or columns
            raise TypeError(
                f"X is a {type(X).__name__}; transform_many takes a sequence of texts: give it one column of the frame")
        source = X if hasattr(X, "dtype") and hasattr(X, "name") else None
        return Texts(self, [self._row_texts(row, x) for row, x in enumerate(X)], source)

    cdef object _row_texts(self, Py_ssize_t row, x):
        try:
            return self._texts(x)
        except (TypeError, ValueError) as error:
            raise type(error)(f"in row {row}: {error}") from None


cdef object _plain_text(text, str what):
    if isinstance(text, (str, bytes)):
        if len(text) > TEXT_MOST:
            raise ValueError(f"{what} has a length of {len(text)}; split a text of more than {TEXT_MOST}")
        return str.__str__(text) if isinstance(text, str) else bytes(text)
    raise TypeError(
        f"{what} is {shown(text)}, a {type(text).__name__}; it must be a text: a str, or bytes of UTF-8")


@cython.no_gc           # nothing that it holds can hold it
@cython.freelist(8)
cdef class TextEvent:
    """The tokens of a text as a mapping, made by a Tokenizer."""

    cdef bint _is(self, TextEvent other):
        """Whether this is the same text, read in the same way. It may say no to a text that is merely equal."""
        cdef Py_ssize_t i
        if self.door is not other.door:
            return False
        if self.text is other.text:
            return True
        if self.door.names is None:
            return False
        for i in range(self.door.n_pieces):
            if (<tuple> self.text)[i] is not (<tuple> other.text)[i]:
                return False
        return True

    cdef dict _dict(self):
        """The features by name, made when somebody asks."""
        cdef Text scratch
        cdef Event event
        cdef Index index
        cdef Py_ssize_t i, page = 0
        if self._features is not None:
            return self._features
        memset(&scratch, 0, sizeof(Text))
        event_init(&event)
        memset(&index, 0, sizeof(Index))
        try:
            while True:
                page = _write_text(&scratch, &event, &index, False, self)
                if page == 0:
                    break
                if page < 0 or not _fill_page(page - 1):
                    raise MemoryError("no memory for the features")
            self._features = {_key_plain(&event.keys[i], None): event.values[i] for i in range(event.n)}
        finally:
            event_free(&event)
            text_free(&scratch)
        return self._features

    def __len__(self):
        return len(self._dict())

    def __iter__(self):
        return iter(self._dict())

    def __getitem__(self, name):
        if name not in self._dict():
            raise KeyError(name)
        return self._dict()[name]

    def __contains__(self, name):
        return name in self._dict()

    def get(self, key, default=None):
        """The value of a feature, or the default where it is not there."""
        return self._dict().get(key, default)

    def keys(self):
        """The features, in order of their first occurrence in the text."""
        return self._dict().keys()

    def values(self):
        """The values of the features."""
        return self._dict().values()

    def items(self):
        """The features and their values."""
        return self._dict().items()

    def copy(self):
        """A dict of the features."""
        return dict(self._dict())

    def __eq__(self, other):
        if isinstance(other, TextEvent):
            return self._dict() == (<TextEvent> other)._dict()
        if isinstance(other, Mapping):
            return self._dict() == dict(other)
        return NotImplemented

    __hash__ = None

    def __repr__(self):
        return f"TextEvent({self._dict()!r})"

    def __reduce__(self):
        if self.door.names is None:
            return _text_event, (self.door, self.text)
        return _text_event, (self.door, dict(zip(self.door.names, self.text)))


Mapping.register(TextEvent)


def _text_event(door, x):
    return door.transform_one(x)


cdef class Texts(Rows):
    """Texts, one a row, as a sequence of their events; made by Tokenizer.transform_many.

    Parameters
    ----------
    door
        Who reads them.
    texts
        For each a str or bytes, or a tuple of one a field.
    source
        The series that they come from, which answers are made like; None: answers are arrays.
    """

    def __cinit__(self, TextDoor door not None, texts, *more):
        arena_init(&self.encoded)
        self.door = door
        self.texts = texts
        if type(texts) is not bytes:    # those are of Lines
            if more:
                self.source, = more
            self._take(len(texts))

    def __dealloc__(self):
        free(self.pieces)
        arena_free(&self.encoded)

    cdef int _room(self, Py_ssize_t n) except -1:
        self.pieces = <Piece*> malloc((n * self.door.n_pieces + 1) * sizeof(Piece))
        if self.pieces == NULL:
            raise MemoryError("no memory for the texts")
        return 0

    cdef int _take(self, Py_ssize_t n) except -1:
        cdef Py_ssize_t r
        cdef int i
        cdef Piece* piece
        self._room(n)
        piece = self.pieces
        for r in range(n):
            text = self.texts[r]
            for i in range(self.door.n_pieces):
                if not _piece(piece, text if self.door.names is None else (<tuple> text)[i], &self.encoded):
                    raise MemoryError("no memory for the texts")
                piece += 1
        self.n_rows = n
        return 0

    cdef void _begin(self, Batch* batch, Learner* learner, Event* event) noexcept:
        batch_texts(batch, learner, event, &self.door.rule, self.door.prefixes, self.door.n_pieces, self.pieces,
                    self.n_rows)

    cdef object _text(self, Py_ssize_t row):
        return self.texts[row]

    def __getitem__(self, at):
        if isinstance(at, slice):
            return Texts(self.door, [self._text(row) for row in range(*at.indices(self.n_rows))])
        cdef Py_ssize_t row = as_index(at)
        if row < 0:
            row += self.n_rows
        if not 0 <= row < self.n_rows:
            raise IndexError(f"there are {self.n_rows} texts, no number {at}")
        cdef TextEvent event = TextEvent.__new__(TextEvent)
        event.door = self.door
        event.text = self._text(row)
        return event

    def index(self, value, *bounds):
        """Where the first equal event is; a ValueError if there is none."""
        return Sequence.index(self, value, *bounds)

    def count(self, value):
        """How many of the events are equal to one."""
        return Sequence.count(self, value)

    def __reduce__(self):
        return Texts, (self.door, self.texts, self.source)


Sequence.register(Texts)


LINE_FAULTS = (
    None, None, "it has no TAB between label and text", "its label is empty", "it does not start with __label__",
    "it has several labels, where one is expected")     # LINE_NO_TAB ..


class LINES:
    """How a line says its label, for Lines."""

    LABELLED = LINES_LABELLED
    EITHER = LINES_EITHER
    TEXT = LINES_TEXT
    FASTTEXT = LINES_FASTTEXT


def count_line_ends(bytes block not None):
    """How many line feeds there are. bytes.count takes ten times as long where lines are short."""
    return line_ends(<const uint8_t*> bytes_data(<PyObject*> block), bytes_size(<PyObject*> block))


cdef class Lines(Texts):
    """The texts of a block of whole lines, and their labels; other lines are left out and listed in faults.

    Parameters
    ----------
    door
        Who reads the texts.
    block
        Bytes of whole lines; the last one may lack its end.
    kind
        Of LINES: LABELLED, "label TAB text"; EITHER, the same or, without a TAB, a text; TEXT; FASTTEXT,
        "__label__x text".

    Attributes
    ----------
    labels
        The labels as bytes, in order of appearance.
    numbers
        The number of each text's label, -1 without one.
    line_numbers
        The line of each text in the block, from 0.
    n_lines, n_blank
        Lines, and those among them that are blank, which are left out too.
    faults
        What is wrong with other lines: (line number, reason).
    replaced
        Whether a text that was read held bytes that are not UTF-8, which count as U+FFFD.
    """

    cdef void _end(self, const Batch* batch) noexcept:
        self.replaced |= batch.text.n_replaced > 0

    def __init__(self, TextDoor door not None, bytes block not None, int kind):
        cdef Line line
        cdef Key key
        cdef row_t row
        cdef uint64_t h
        cdef Py_ssize_t n = 1 + count_line_ends(block)
        cdef Index known                # of labels
        if door.names is not None:
            raise ValueError("a line is one text; it has no fields for a Tokenizer with fields")
        self.kind = kind
        self._room(n)
        self.numbers = array("q", bytes(8 * n))
        self.line_numbers = array("q", bytes(8 * n))
        self.labels = []
        self.faults = []
        cdef long long[::1] numbers = self.numbers
        cdef long long[::1] line_numbers = self.line_numbers
        line.p = <const uint8_t*> bytes_data(<PyObject*> block)
        line.end = line.p + bytes_size(<PyObject*> block)
        if index_init(&known, 0, 0, 0) < 0:
            index_free(&known)
            raise MemoryError("no memory for the labels")
        try:
            while line_next(&line, kind):
                self.n_lines += 1
                if line.fault == LINE_BLANK:
                    self.n_blank += 1
                    continue
                if line.fault:
                    self.faults.append((self.n_lines - 1, LINE_FAULTS[line.fault]))
                    continue
                numbers[self.n_rows] = -1
                if line.label != NULL:
                    key = key_text(KEY_BYTES, line.label, line.n_label)
                    h = key_hash(&known.seed, &key)
                    row = index_find(&known, &key, h)
                    if row == ROW_NULL:
                        row = index_insert(&known, &key, h)
                        if row == ROW_NULL:
                            raise MemoryError("no memory for the labels")
                        self.labels.append(PyBytes_FromStringAndSize(<const char*> line.label, line.n_label))
                    numbers[self.n_rows] = row - ROWS_RESERVED
                line_numbers[self.n_rows] = self.n_lines - 1
                self.pieces[self.n_rows].p = line.text
                self.pieces[self.n_rows].n = line.n_text
                self.pieces[self.n_rows].surrogates = False
                self.n_rows += 1
        finally:
            index_free(&known)

    def __reduce__(self):
        return Lines, (self.door, self.texts, self.kind)

    cdef object _text(self, Py_ssize_t row):
        return PyBytes_FromStringAndSize(<const char*> self.pieces[row].p, self.pieces[row].n)


# --- The model ----------------------------------------------------------------------------------

cdef class Model:
    """What every learner shares: the learner, its scratch, its parameters and its state."""

    def __cinit__(self):
        cdef Rule rule
        memset(&rule, 0, sizeof(Rule))
        event_init(&self.event)
        self._params = {}
        self._objects = {}
        if learner_init(&self.learner, rule, AVERAGE_NONE, 1.0, False, KEPT_CURRENT, True, 0, 0, 0) < 0:
            raise MemoryError("no memory for an empty model")

    def __dealloc__(self):
        learner_free(&self.learner)
        event_free(&self.event)
        text_free(&self.text)
        PyBuffer_Release(&self._file)

    def _configure(self, int kind, **params):
        """Check the parameters, keep them as they are, and start untrained. On an error nothing has changed."""
        cdef Rule rule
        cdef Model fresh = self._blank(kind)
        memset(&rule, 0, sizeof(Rule))
        rule.kind = kind
        rule.margin = _real("margin", params.get("margin", 0.0), 0.0, "of at least 0")
        rule.C = _real("C", params.get("C", 1.0), 1e-50, "above 0")
        rule.on_mistake = _choice("update", params.get("update", "margin"), ("margin", "mistake")) == 1
        rule.eta = _real("eta", params.get("eta", 1.0), 1e-6, "from 1e-06", 1e6)
        rule.forget = _real("forget", params.get("forget", 0.0), 0.0, "of at least 0", 1.0)
        rule.naive_bayes = _truth("naive_bayes", params.get("naive_bayes", False))
        average = _choice("average", params.get("average", "none"), AVERAGES)
        half_life = _real("half_life", params.get("half_life", 1.0), 1.0, "of at least 1 event", _HALF_LIFE_MOST)
        pocket = _truth("pocket", params.get("pocket", False))
        serve = _choice("serve", params.get("serve", "current"), (*KEPT, "best"))
        if serve == KEPT_AVERAGE and average == AVERAGE_NONE:
            raise ValueError(
                "serve='average' needs an average: give average='uniform' or 'exponential', or serve='current' to "
                "do without one")
        if serve == KEPT_POCKET and not pocket:
            raise ValueError("serve='pocket' needs pocket=True")
        rule.intercept = _truth("intercept", params["intercept"])
        intercept = rule.intercept and kind != RULE_ADAPTIVE    # which keeps its own
        bits = params["hash_bits"]
        bits = 0 if bits is None else _whole("hash_bits", bits, 1, 30)
        most = params["max_features"]
        most = 0 if most is None else _whole("max_features", most, 1, 2**31)
        if most and bits:
            raise ValueError(
                "max_features and hash_bits are both given; a hashed table has its size for good: choose one")
        seed = params["hash_seed"]
        if seed is None:
            seed = int.from_bytes(os.urandom(8), "little")
        else:
            _whole("hash_seed", seed, 0, 2**64 - 1)
        given = params["class_weight"]
        if isinstance(given, Mapping):
            # a copy: what the caller does with it later must not reach what is pickled and saved
            given = params["class_weight"] = _ClassWeight({_interned(label): weight for label, weight in given.items()})
        fresh._class_weight = self._checked_class_weight(given)
        fresh._params = {_interned(name): _interned(value) for name, value in params.items()}
        fresh._kind = kind
        learner_free(&fresh.learner)
        if learner_init(
                &fresh.learner, rule, average, half_life, pocket, serve, intercept, most, bits, seed) < 0:
            raise MemoryError("no memory for an empty model")
        self._become(fresh)

    cdef Model _blank(self, int kind):
        """A model of no parameters with room for all that this one may hold; an error if the rule is not for it."""
        raise NotImplementedError

    cdef int _become(self, Model other) except -1:
        """Change places with a model that nobody else has, when nobody uses this one. Other threads wait meanwhile."""
        self._wait(True)
        self._exchange(other)
        return 0

    cdef void _exchange(self, Model other) noexcept:
        """Nothing of Python runs here: what is given up is still held, by the other one."""
        cdef Learner learner = self.learner
        cdef Py_buffer file = self._file
        self.learner = other.learner
        other.learner = learner
        self._file = other._file
        other._file = file
        self._arrays, other._arrays = other._arrays, self._arrays
        self._params, other._params = other._params, self._params
        self._kind, other._kind = other._kind, self._kind
        self._class_weight, other._class_weight = other._class_weight, self._class_weight
        self._objects, other._objects = other._objects, self._objects
        self._y_name, other._y_name = other._y_name, self._y_name
        self._objects_new = False
        event_free(&self.event)

    def _checked_class_weight(self, class_weight):
        """{label: weight} as learning uses it."""
        if class_weight is None:
            return None
        if not isinstance(class_weight, Mapping):
            raise TypeError(
                f"class_weight={shown(class_weight)}; it must be None or a dict of label to weight "
                "(class frequencies are not known before the stream has been seen)")
        checked = {}
        for label, weight in class_weight.items():
            try:
                label = self._checked_label(label)
            except (TypeError, ValueError) as error:
                raise type(error)(f"class_weight has an invalid label: {error}") from None
            checked[label] = _real(f"class_weight[{shown(label)}]", weight, 0.0, "of at least 0")
        return checked

    # The parameters, as they were given. They are fixed: use clone({...}) for others.
    @property
    def average(self):
        return self._params["average"]

    @property
    def half_life(self):
        return self._params["half_life"]

    @property
    def pocket(self):
        return self._params["pocket"]

    @property
    def serve(self):
        return self._params["serve"]

    @property
    def intercept(self):
        return self._params["intercept"]

    @property
    def class_weight(self):
        return self._params["class_weight"]

    @property
    def max_features(self):
        return self._params["max_features"]

    @property
    def hash_bits(self):
        return self._params["hash_bits"]

    @property
    def hash_seed(self):
        return self._params["hash_seed"]

    def _param(self, str name):
        """A parameter that only some of the learners have."""
        return self._params[name]

    # --- The dict door

    cdef int _read(self, x, bint learning) except -1:
        """Write a mapping into the scratch event. On an error nothing has happened."""
        cdef PyObject* mapping = <PyObject*> x
        cdef PyObject* name
        cdef PyObject* value
        cdef PyObject* last = NULL
        cdef Py_ssize_t at = 0
        cdef double rarer, number = 0.0     # the everyday ones stay in registers
        cdef Key rarer_key, key
        cdef Writer writer
        if not (PyDict_CheckExact(mapping) or type(x) is Counter or type(x) is defaultdict):
            if type(x) is TextEvent:
                return self._read_text(x, learning)
            return self._read_items(x, learning)
        # Types whose conversion runs no Python code, so that nothing can change x or the scratch under us.
        self._enter(learning)
        if event_begin(&self.event, &self.learner.index, PyDict_GET_SIZE(mapping),
                       self.learner.intercept) < 0:
            raise MemoryError("no memory for the event")
        writer = event_writer(&self.event)
        while PyDict_Next(mapping, &at, &name, &value):
            if value != last:           # often all values are the same object, 1
                last = NULL
                if not entry_value_everyday(value, &number):
                    if not _any_value(value, &rarer):
                        return self._read_items(x, learning)
                    number = rarer
                if number == 0.0:
                    continue
                last = value
            if not entry_key_everyday(name, &key):
                if not entry_key(&self.event.text, name, &rarer_key):
                    return self._read_items(x, learning)
                key = rarer_key
            writer_add(&writer, key, number)
        event_end(&self.event, &writer)
        return 0

    cdef int _read_text(self, TextEvent x, bint learning) except -1:
        """The same for a text, which is often asked about twice in a row."""
        cdef Py_ssize_t page
        cdef Event* event = &self.event
        while True:
            self._enter(learning)
            # only a text leaves hashes
            if event.n_hashed and self._text_read is not None and self._text_read._is(x):
                event_again(event, &self.learner.index, self.learner.intercept)
                return 0
            page = _write_text(&self.text, event, &self.learner.index, self.learner.intercept, x)
            if page == 0:
                self._text_read = x
                return 0
            if page < 0 or not _fill_page(page - 1):
                raise MemoryError("no memory for the event")

    cdef int _read_items(self, x, bint learning, str what="x") except -1:
        """The same for any mapping, name and number, or the error that says what is wrong.

        Names and values are taken from the mapping first, and held. Those that only Python can read are then
        replaced by what it makes of them; that may be code of the user's, which uses this very model or lets another
        thread do so. So the event is written after that, at once.
        """
        cdef list entries, odd, objects = []
        cdef uint64_t n_reads
        cdef double number
        cdef int turn
        _know_numpy()
        entries = _entries(x, what)
        odd = self._write(entries, learning)
        if not odd:
            return 0
        for at in odd:
            name, value = entries[at], entries[at + 1]
            entries[at + 1] = number = _feature_value(name, value, what)
            if number != 0.0:
                entries[at] = name = _Name(name)
                if (<_Name> name).kind == KEY_OBJECT:
                    objects.append((name, (<_Name> name).plain))
        # To hash a mere object is code of the user's too, and other calls forget new ordinals. Then they are
        # asked for again.
        for turn in range(8):
            n_reads = self._n_reads
            for name, plain in objects:
                (<_Name> name).kind, (<_Name> name).plain = self._object_ordinal(plain, learning)
            if self._write(entries, learning):
                raise MemoryError("no memory for the event")
            if self._n_reads == n_reads + 1:
                return 0
        raise RuntimeError(
            "x has a feature name that uses the model whenever it is hashed; a name's __hash__ must leave "
            "the model alone")

    cdef list _write(self, list entries, bint learning):
        """Enter, and write names and values into the scratch event.

        Returns where the entries are that Python has to look at first; if there are any, there is no event yet.
        """
        cdef list odd = []
        cdef PyObject* name
        cdef PyObject* value
        cdef PyObject* last = NULL
        cdef Py_ssize_t at, n = len(entries)
        cdef double number = 0.0
        cdef Key key
        cdef Writer writer
        self._enter(learning)
        # From here on no Python code runs, so the scratch is ours.
        if event_begin(&self.event, &self.learner.index, n // 2, self.learner.intercept) < 0:
            raise MemoryError("no memory for the event")
        writer = event_writer(&self.event)
        for at in range(0, n, 2):
            name = list_item(<PyObject*> entries, at)
            value = list_item(<PyObject*> entries, at + 1)
            if value != last:
                last = NULL
                if not entry_value_everyday(value, &number) and not _any_value(value, &number):
                    odd.append(at)
                    continue
                if number == 0.0:
                    continue
                last = value
            if not entry_key_everyday(name, &key):
                if type(<object> name) is _Name:
                    if not _name_key(&self.event.text, <_Name> name, &key):
                        raise MemoryError("no memory for the event")
                elif not entry_key(&self.event.text, name, &key):
                    odd.append(at)
                    continue
            writer_add(&writer, key, number)
        if not odd:
            event_end(&self.event, &writer)
            self._held = entries    # long keys point into it
        return odd

    cdef tuple _object_ordinal(self, name, bint learning):
        """Kind and ordinal of a name that is a mere object; learning numbers it if it is new."""
        if self.learner.index.bits:
            raise TypeError(
                f"x has the feature name {shown(name)}, a {type(name).__name__}; with hash_bits a name must "
                "be a str, bytes, number, None or a tuple of these, for others hash differently in "
                "every process")
        if index_is_limited(&self.learner.index):
            raise TypeError(
                f"x has the feature name {shown(name)}, a {type(name).__name__}; with max_features a name must "
                "be a str, bytes, number, None or a tuple of these, for others are kept as they are and never "
                "leave")
        cdef dict objects = self._objects   # held: to hash the name may start the model anew
        ordinal = objects.get(name)
        if ordinal is None:
            if not learning:
                return KEY_NONE, 0
            self._not_in_a_file()
            ordinal = objects[name] = len(objects)
            self._objects_new = True
        return KEY_OBJECT, ordinal

    cdef int _score(self, x) except -1:
        self._read(x, False)
        if learner_score(&self.learner, &self.event) < 0:
            raise MemoryError("no memory for the scores")
        if self.learner.table.borrowed and not _finite_scores(&self.learner, &self.event):
            self._settle()
            raise _damaged("a weight is not finite")
        return 0

    cdef int _settle(self) except -1:
        event_settle(&self.event, &self.learner.index)
        self._held = None
        if self._objects_new and not self._learning:
            self._forget_objects()
        if DEBUG:
            self._look()
        return 0

    cdef int _forget_objects(self) except -1:
        """Drop the latest object names again if no update has given them a row."""
        cdef Key key
        self._objects_new = False
        while self._objects:
            key = key_word(KEY_OBJECT, <uint64_t> (len(self._objects) - 1))
            if index_find(&self.learner.index, &key, key_hash(&self.learner.index.seed, &key)) != ROW_NULL:
                break
            self._objects.popitem()
        return 0

    cdef double _step(self, label, w) except -1.0:
        """Sample weight times class weight."""
        cdef double step
        if PyFloat_CheckExact(<PyObject*> w) and PyFloat_AS_DOUBLE(<PyObject*> w) == 1.0:
            step = 1.0
        else:
            step = _number(w, "w")
            if step < 0.0:
                raise ValueError(f"w={shown(w)}; a sample weight must be at least 0")
        if self._class_weight is not None:
            step *= <double> self._class_weight.get(label, 1.0)
        if step > U_LIMIT and learner_adapts(&self.learner):
            raise ValueError(
                f"w={shown(w)} times the class weight of {shown(label)} is {step:g}; it must be at most {U_LIMIT:g}")
        return step

    def _checked_step(self, label, w):
        return self._step(label, w)

    # --- What the model holds

    @property
    def n_seen(self):
        """Labelled events seen."""
        return self.learner.n_seen

    @property
    def n_updates(self):
        """Events that changed the weights."""
        return self.learner.n_updates

    @property
    def n_mistakes(self):
        """Events that the current weights got wrong before they learned from them."""
        return self.learner.n_mistakes

    @property
    def n_features(self):
        """Features that have a row of weights (with hash_bits: rows with a weight that is not 0)."""
        cdef row_t row = ROWS_RESERVED
        cdef Py_ssize_t output
        cdef size_t n = 0
        self._enter(False)
        if not self.learner.index.bits:
            return self.learner.index.n_rows - ROWS_RESERVED
        while row < self.learner.index.n_rows:
            if not table_wrote(&self.learner.table, row >> CHUNK_BITS):
                row = (row | (CHUNK_ROWS - 1)) + 1
                continue
            for output in range(self.learner.table.n_outputs):
                if learner_weight(&self.learner, index_place(&self.learner.index, row), output, KEPT_CURRENT) != 0.0:
                    n += 1
                    break
            row += 1
        return n

    @property
    def n_evicted(self):
        """Features that had to leave for others (see max_features)."""
        return self.learner.ceiling.n_evicted

    @property
    def serving(self):
        """The kept vector that has made the fewest mistakes lately, or the one that `serve` names.

        With serve="best" another may answer an event on which it is surer of itself.
        """
        return KEPT[serve_overall(&self.learner.serve)]

    @property
    def memory_usage(self):
        """Bytes that the model holds, scratch and names that are mere objects included."""
        names = getsizeof(self._objects) + sum(map(getsizeof, self._objects)) if self._objects else 0
        return self.__sizeof__() + names

    def __sizeof__(self):
        return (object.__sizeof__(self) + learner_bytes(&self.learner) + event_bytes(&self.event)
                + text_bytes(&self.text))

    def _check(self):
        """Look at all that the core holds, for the tests: RuntimeError if something does not agree."""
        self._enter(False)
        self._look()

    cdef int _look(self) except -1:
        cdef const char* fault = index_fault(&self.learner.index)
        if fault == NULL:
            fault = table_fault(&self.learner.table, self.learner.index.n_rows)
        if fault != NULL:
            raise RuntimeError(fault.decode())
        return 0

    def _growth(self):
        """The arrays that grow with the features, for the tests: {name: (length, entries in the next)}."""
        cdef Block* block = self.learner.table.blocks
        cdef Index* index = &self.learner.index
        copied = index.n_copied if index.next else <size_t> 0
        found = {"directory": (<size_t> 1 << index.depth, copied),
                 "keys": (index.of_keys.capacity, index.of_keys.copied)}
        if self.learner.table.n_blocks:
            found["chunks"] = block.of_chunks.capacity, block.of_chunks.copied
            found["folds"] = block.of_folds.capacity, block.of_folds.copied
        return found

    def _kept(self, str kind):
        """The number of a kept vector, or the error that it is not kept. Nothing of Python runs if it is."""
        cdef int number = KEPT.index(kind)
        if not table_keeps(&self.learner.table, number):
            need = "average='uniform' or 'exponential'" if kind == "average" else "pocket=True"
            raise ValueError(f"this model keeps no {kind}; construct it with {need}")
        return number

    cdef Py_ssize_t _outputs_of(self, labels, Py_ssize_t output, Py_ssize_t* first) except -1:
        """The outputs first .. last - 1 of one of the labels, or of all (-1): the last; an error if there is none."""
        cdef Py_ssize_t n = 1 if self.learner.table.n_outputs == 1 and (
            labels is None or learner_adapts(&self.learner)) else min(
                <Py_ssize_t> len(labels), self.learner.table.n_outputs)
        first[0] = max(output, 0)
        if output >= n:
            raise RuntimeError("the model has been reset meanwhile, and does not know the label; ask again")
        return n if output < 0 else output + 1

    def _weights(self, str kind, Py_ssize_t output=-1):
        """The labels, and {feature: weight} of one kept vector for one output or for all; weights of 0 are left out."""
        cdef row_t row
        cdef Py_ssize_t first, last
        cdef double weight
        cdef Key key
        cdef int number
        cdef dict objects
        cdef bint hashed
        outputs = []
        self._enter(False)
        # Until all is read no Python code may run, that of finalizers included: it might use the model.
        collecting = PyGC_Disable()
        try:
            number = self._kept(kind)
            labels = self._get_labels()
            last = self._outputs_of(labels, output, &first)
            hashed = self.learner.index.bits != 0
            objects = {ordinal: name for name, ordinal in self._objects.items()}
            for output in range(first, last):
                names, weights = [], []
                for row in range(ROWS_RESERVED, self.learner.index.n_rows):
                    weight = learner_weight(
                        &self.learner, index_place(&self.learner.index, row), output, number)
                    if weight != 0.0:
                        if not isfinite(weight):
                            raise _damaged("a weight is not finite")
                        if not hashed:
                            key = index_stored(&self.learner.index, row)
                        names.append(row - ROWS_RESERVED if hashed else _key_plain(&key, objects))
                        weights.append(weight)
                outputs.append((names, weights))
        finally:
            if collecting:
                PyGC_Enable()
        return labels, [dict(zip(map(_named, names), weights)) for names, weights in outputs]

    def _intercepts(self, str kind, Py_ssize_t output=-1):
        """The labels, and the intercept of one kept vector for one output or for all."""
        cdef Py_ssize_t first, last
        cdef int number
        self._enter(False)
        collecting = PyGC_Disable()
        try:
            number = self._kept(kind)
            labels = self._get_labels()
            last = self._outputs_of(labels, output, &first)
            intercepts = [learner_weight(&self.learner, ROW_INTERCEPT, output, number)
                          for output in range(first, last)]
        finally:
            if collecting:
                PyGC_Enable()
        if not all(map(is_finite, intercepts)):
            raise _damaged("an intercept is not finite")
        return labels, intercepts

    def _set_weights(self, weights, intercept, Py_ssize_t output):
        """Put weights into an untrained model, whose kept vectors all start from them."""
        cdef Py_ssize_t i, n_new = 0
        if not isinstance(weights, Mapping):
            raise TypeError(
                f"weights is {shown(weights)}, a {type(weights).__name__}; it must be a dict of feature "
                "to weight")
        if isinstance(intercept, bool):
            raise TypeError(f"intercept={shown(intercept)}; give the number to start from")
        bias = checked_number(intercept, "intercept")
        if bias != 0.0 and not self.learner.intercept:
            raise ValueError(f"intercept={shown(intercept)}; this model has intercept=False")
        self._read_items(weights, True, "weights")
        learner_resolve(&self.learner, &self.event)
        for i in range(self.learner.intercept, self.event.n):
            n_new += self.event.rows[i] == ROW_NULL
        if n_new > self.learner.index.max_rows - self.learner.index.n_rows:
            raise ValueError(
                f"weights has {n_new} features more than the model, which may have "
                f"max_features={self._params['max_features']}; raise that, or leave out the smallest weights")
        for i in range(self.learner.intercept, self.event.n):
            if self.event.rows[i] == ROW_NULL:
                self.event.rows[i] = index_insert(
                    &self.learner.index, &self.event.keys[i], self.event.hashes[i])
                if self.event.rows[i] == ROW_NULL:
                    raise MemoryError("no memory for the weights")
        if table_reserve(&self.learner.table, self.event.rows, self.event.n, self.learner.index.n_rows, output) < 0:
            raise MemoryError("no memory for the weights")
        for i in range(self.event.n):
            table_write(&self.learner.table, self.event.rows[i], output, self.event.values[i])
        if self.learner.intercept:
            table_write(&self.learner.table, ROW_INTERCEPT, output, bias)
        self._settle()
        self.learner.version += 1

    def _explain(self, x, Py_ssize_t output, double sign):
        """Contributions to one output's score, that score, which vector gave it, and the predicted label."""
        cdef Py_ssize_t i
        cdef Py_ssize_t best
        cdef Answer answer
        cdef list labels
        cdef int kind
        cdef double part
        cdef dict objects
        self._score(x)
        # as in _weights
        collecting = PyGC_Disable()
        try:
            objects = {ordinal: name for name, ordinal in self._objects.items()}
            answer = learner_answer(&self.learner, &self.event)
            kind = answer.kind
            best = answer.verdict.best
            labels = self._label_list()
            if output < 0:
                output = best
            if not 0 <= output < self.learner.table.n_outputs:
                raise RuntimeError(
                    "the model has been reset meanwhile, and does not know the label; ask again")
            score = sign * learner_decision(&self.learner, &self.event, kind)[output]
            label = labels[best] if 0 <= best < len(labels) else None
            parts = []
            for i in range(self.event.n):
                part = sign * self.event.values[i] * table_read(
                    &self.learner.table, self.event.rows[i], output, kind)
                if self.event.rows[i] == ROW_INTERCEPT:
                    parts.append((None, part))
                elif part != 0.0:
                    parts.append((_key_plain(&self.event.keys[i], objects), part))
        finally:
            if collecting:
                PyGC_Enable()
        self._settle()
        return [(_named(plain), part) for plain, part in parts], score, KEPT[kind], label

    # --- One at a time. A batch runs without the interpreter's lock, so others may call meanwhile.
    #
    #     _learning   a batch is being learned: who wants to learn waits
    #     _inside     the learner itself is being changed: who wants to read waits too
    #     _readers    batches that are read without the lock: who wants to learn waits
    #     _waiting    who wants to learn and waits for readers only: new batches of theirs wait in turn
    #     _asking     who wants to read and waits: a batch that is learned in place lets them in between blocks
    #     _turn       until when it need not, nor the next one: others stay for as long as their batches take
    #
    # All of these change under the interpreter's lock only. Waiting is asking again, after sleeping a little.

    cdef int _enter(self, bint learning) except -1:
        """Wait until the learner may be read, or taught. Nothing of Python runs after the last look."""
        self._wait(learning)
        return self._not_in_a_file() if learning else 0

    cdef int _wait(self, bint learning) except -1:
        """Wait until nobody is in the way, neither who learns nor, if the learner is to change, who reads."""
        cdef int turn = 0
        cdef bint first
        while self._inside or (learning and (self._learning or self._readers)):
            self._not_in_a_batch_of_ours()
            first = learning and not self._learning     # only readers are in the way
            self._waiting += first
            self._asking += not learning
            turn = _sleep(turn)
            self._waiting -= first
            self._asking -= not learning
            PyErr_CheckSignals()
        if learning and turn:
            self._turn = seconds() + TURN
        self._n_reads += 1
        return 0

    cdef int _not_in_a_file(self) except -1:
        if self.learner.table.borrowed:
            raise RuntimeError("the model was opened read-only, with mmap=True; load it without mmap to learn")
        return 0

    cdef int _not_in_a_batch_of_ours(self) except -1:
        if self._learning and self._thread == PyThread_get_thread_ident():
            raise RuntimeError(
                "the model is already learning a batch in this thread; it cannot be used by code that runs "
                "meanwhile (a label's hash, a finalizer, a signal handler)")
        return 0

    cdef void _go_inside(self) noexcept:
        """While learning: wait for the readers to leave, and keep new ones out. Runs nothing of Python."""
        cdef int turn = 0
        self._waiting += 1
        while self._readers:
            turn = _sleep(turn)
        self._waiting -= 1
        self._inside = True

    cdef void _let_in(self) noexcept:
        """While learning: let those in who ask to read. Runs nothing of Python."""
        cdef int turn = 0
        self._inside = False
        while self._asking and turn < 100:
            turn = _sleep(turn)
        self._go_inside()
        self._turn = seconds() + TURN

    cdef int _read_begin(self) except -1:
        """Start to read a batch without the interpreter's lock."""
        cdef int turn = 0
        self._enter(False)
        while self._inside or self._waiting:
            self._not_in_a_batch_of_ours()
            self._asking += 1
            turn = _sleep(turn)
            self._asking -= 1
            PyErr_CheckSignals()
        self._readers += 1
        return 0

    # --- The doors for many rows

    def _predict_rows(self, Rows X not None, names, predictions, decisions, probabilities, confidences=None):
        """Predict rows, as _run does."""
        return self._run(X, names, None, None, predictions, decisions, probabilities, confidences)

    def _learn_rows(self, Rows X not None, names, labels, numbers, steps, predictions, confidences=None):
        """Learn rows, as _run does; row r has the label labels[numbers[r]], or none if that is below 0."""
        self._enter(True)
        self._learning = True           # other learners wait; who reads may still come in
        self._thread = PyThread_get_thread_ident()
        try:
            outputs = self._outputs(labels)
            y = numbers if outputs == list(range(len(outputs))) else _looked_up(outputs, numbers, len(X))
            return self._run(X, names, y, steps, predictions, None, None, confidences)
        finally:
            self._learning = False
            self._labels_done()

    cdef object _run(self, Rows X, names, y, steps, predictions, decisions, probabilities, confidences):
        """The path in a loop over rows: predict, then learn, as asked.

        `names`: of the columns; None: column j is the int j. `y` None: only predict; else see _learn_rows.
        `predictions`, `decisions`, `probabilities`, `confidences` (of what is predicted) None: not wanted.

        Returns the number of rows done, and the labels that the outputs of this moment stand for. Fewer rows than all:
        out of memory. UNSORTED, and nothing is changed, if columns do not rise within the rows; NEW_LABELS if
        `decisions` or `probabilities` have not room for just the labels that there are.

        A matrix much larger than the model is checked block by block as it is learned, on a copy that takes the
        model's place at the end. Any other is checked first, and learned in place.
        """
        cdef Batch batch
        cdef Event columns, event
        cdef Learner copy
        cdef bint learning = y is not None
        cdef bint copied = False
        cdef Py_ssize_t done = 0, n = X.n_rows
        cdef int found = 0
        cdef Py_ssize_t n_labels = 0
        cdef list labels = None
        event_init(&columns)
        event_init(&event)
        X._begin(&batch, &self.learner, &event)
        if learning:
            batch.y = <const Py_ssize_t*> _data(y, n)
            if steps is not None:
                batch.steps = <const double*> _data(steps, n)
        if predictions is not None:
            batch.predictions = <Py_ssize_t*> _data(predictions, n)
        if decisions is not None:
            batch.decisions = <double*> _data(decisions, n)
            batch.n_decisions = decisions.shape[1]
        if probabilities is not None:
            batch.probabilities = <double*> _data(probabilities, n)
            batch.n_probabilities = probabilities.shape[1]
        if confidences is not None:
            batch.confidences = <double*> _data(confidences, n)
        held = None
        try:
            if names is not None:
                held = self._column_keys(names, learning, &columns)
            if learning:
                copied = (batch.matrix != NULL and X.n_bytes > COPY_LEAST
                          and <size_t> X.n_bytes // COPY_TIMES > learner_bytes(&self.learner))
                if copied:
                    batch.learner = &copy
                    if learner_copy(&copy, &self.learner) < 0:
                        return 0, labels
                else:
                    if batch.matrix != NULL:
                        with nogil:
                            found = matrix_check(batch.matrix, 0, n)
                    if not found & (MATRIX_FAULTY | MATRIX_UNSORTED):
                        self._go_inside()
            else:
                self._read_begin()
                if not self._has_room(&batch, decisions is not None, probabilities is not None):
                    self._readers -= 1
                    return NEW_LABELS, labels
            # From here to the other end of the batch nothing of Python runs.
            if not found & (MATRIX_FAULTY | MATRIX_UNSORTED) and (
                    batch.matrix == NULL or _find_columns(&batch, held is not None, learning, &columns) == 0):
                if learning and not copied:
                    done = self._learn_in_place(&batch, (found & MATRIX_ZEROS) != 0)
                else:
                    done = _run_checked(&batch, &found)
            if learning and not copied:
                self._put_labels()
            elif learning and done == n and not found & (MATRIX_FAULTY | MATRIX_UNSORTED):
                self._go_inside()
                learner_free(&self.learner)
                self.learner = copy
                copied = False          # what was the copy is the model
                self.event.n_known = 0
                self.event.scored_version = 0
                self._put_labels()
            elif learning:
                done = 0                # what the copy has learned goes with it
            # held while nobody can start the model anew; later ones come at the list's end
            labels = self._label_list()
            n_labels = len(labels)
            if learning:
                self._inside = False
            else:
                self._readers -= 1
            if found & MATRIX_FAULTY:
                raise (<MatrixRows> X).fault(names)
            if self.learner.table.borrowed and done == n and not (
                    _finite(batch.decisions, n * batch.n_decisions)
                    and _finite(batch.probabilities, n * batch.n_probabilities)
                    and _finite(batch.confidences, n)):
                raise _damaged("a weight is not finite")
            return UNSORTED if found & MATRIX_UNSORTED else done, labels[:n_labels]
        finally:
            if copied:
                learner_free(&copy)
            X._end(&batch)
            batch_free(&batch)
            event_free(&event)
            event_free(&columns)
            if learning and self._objects_new:
                self._forget_objects()
            if DEBUG and not self._inside:
                self._look()

    cdef bint _has_room(self, const Batch* batch, bint decisions, bint probabilities) noexcept:
        """Whether there is a place for the score of each label."""
        return (not decisions or batch.n_decisions == self.learner.table.n_outputs) and (
            not probabilities or batch.n_probabilities == learner_labels(&self.learner))

    cdef object _column_keys(self, names, bint learning, Event* columns):
        """Write the keys of named columns; they point into what is returned."""
        cdef Key key
        cdef Writer writer
        cdef list held = list(names)
        cdef Py_ssize_t i
        _know_numpy()
        if event_begin(columns, &self.learner.index, len(held), False) < 0:
            raise MemoryError("no memory for the columns")
        writer = event_writer(columns)
        for i in range(len(held)):
            if not entry_key(&columns.text, <PyObject*> held[i], &key):
                held[i] = name = _Name(held[i])
                if (<_Name> name).kind == KEY_OBJECT:
                    (<_Name> name).kind, (<_Name> name).plain = self._object_ordinal((<_Name> name).plain, learning)
                if not _name_key(&columns.text, name, &key):
                    raise MemoryError("no memory for the columns")
            writer_add(&writer, key, 1.0)
        event_end(columns, &writer)
        return held

    cdef Py_ssize_t _learn_in_place(self, Batch* batch, bint zeros) noexcept:
        """The number of rows learned. Who asks to read gets in between blocks, when the learner's turn is over."""
        cdef Py_ssize_t r = 0, last = 0
        cdef Py_ssize_t n = batch.n_rows
        cdef const volatile int* asking = &self._asking
        if not asking[0] and seconds() >= self._turn:
            self._turn = seconds() + TURN
        while True:
            with nogil:
                while r < n:
                    last = batch_next(batch, r)
                    while r < last and batch_row(batch, r, zeros) == 0:
                        r += 1
                    if r < last or (asking[0] and seconds() >= self._turn):
                        break
            if r == n or (r < last and not _turn_page(batch)):
                return r
            self._put_labels()
            if asking[0] and seconds() >= self._turn:
                self._let_in()

    # --- State: what pickle, copy and deepcopy keep. The same model always gives the same bytes.

    def __getstate__(self):
        cdef Model other = self
        if self.learner.table.borrowed:
            other = self._in_memory()
        state, arrays = other._file_state(_PICKLE_DEPTH)
        arrays.pop("lookup", None)      # which only a file needs that is used where it lies
        return {"format": 2, "kind": other._kind, "dict": dict(getattr(self, "__dict__", {})), **state,
                "arrays": arrays}

    def __setstate__(self, state):
        """Become the model that a state is of. Whatever is wrong with it is an error, and nothing has changed."""
        cdef Model other
        if state["format"] != 2:
            raise ValueError(f"a model pickled in format {state['format']} cannot be read by this version")
        attributes = dict(state["dict"])
        own = self.__dict__ if attributes else None
        other = self._blank(state["kind"])
        other._configure(state["kind"], **state["params"])
        for name, (_, data) in state["arrays"].items():
            if type(data) is not bytes:
                raise TypeError(f"the array {name} of a model's state is not bytes")
        other._set_file_state(state, state["arrays"], None, _PICKLE_DEPTH)
        self._become(other)
        if attributes:
            own.update(attributes)

    def __deepcopy__(self, memo):
        cdef Model other
        if self.learner.table.borrowed:
            memo[id(self)] = other = self._in_memory()
            if getattr(self, "__dict__", None):
                other.__dict__.update(deepcopy(self.__dict__, memo))
            return other
        other = type(self).__new__(type(self))
        memo[id(self)] = other
        learner_free(&other.learner)
        self._enter(False)
        collecting = PyGC_Disable()     # a finalizer might use the model, of which all is to be of one moment
        try:
            if learner_copy(&other.learner, &self.learner) < 0:
                raise MemoryError("no memory for a copy of the model")
            self._copy_labels(other)
            other._params = self._params    # which never change
            other._kind = self._kind
            other._class_weight = self._class_weight
            other._y_name = self._y_name
            other._objects = dict(self._objects)
        finally:
            if collecting:
                PyGC_Enable()
        if getattr(self, "__dict__", None):
            other.__dict__.update(deepcopy(self.__dict__, memo))
        if DEBUG:
            other._look()
        return other

    # --- What the two kinds of model answer differently

    def _checked_label(self, y):
        """A label as it is kept, or an error."""
        raise NotImplementedError

    def _outputs(self, labels):
        """The numbers of checked labels, for _run; new ones in the order of their appearance."""
        raise NotImplementedError

    cdef void _put_labels(self) noexcept:
        """Name the outputs that a batch has added by now, as _outputs has prepared it."""

    cdef int _labels_done(self) except -1:
        """The batch is over, whatever came of it."""
        return 0

    cdef list _label_list(self):
        """What outputs stand for, as predictions number them. Nothing of Python runs here."""
        return _TRUTH

    def _copy_labels(self, other):
        """Give a copy of the model the labels."""

    def _get_labels(self):
        """The labels that a model file keeps; None: they are truth values."""
        return None

    cdef Py_ssize_t _set_labels(self, labels) except -1:
        """Give an untrained model what _get_labels gave: the number of its outputs."""
        raise NotImplementedError

    cdef int _empty_index(self, uint64_t seed) except -1:
        """An index as before, with another seed and nothing in it."""
        cdef int bits = self.learner.index.bits
        cdef row_t most = (self.learner.index.max_rows - ROWS_RESERVED
                           if index_is_limited(&self.learner.index) else 0)
        index_free(&self.learner.index)
        if index_init(&self.learner.index, bits, seed, most) < 0:
            raise MemoryError("no memory for the model's index")
        return 0

    def _serve_state(self):
        """Scales and calibrators of the kept vectors, tallies, leaders, the pocket's contest."""
        cdef Serve* serve = &self.learner.serve
        cdef Calibrator* fits = self.learner.fits
        kinds = [(serve.scale[k].m, serve.scale[k].n, fits[k].A, fits[k].B, fits[k].GA, fits[k].GB, fits[k].RA,
                  fits[k].RB) for k in range(KEPT_KINDS)]
        tallies = [(serve.T[k][0], serve.T[k][1], serve.G[k], serve.lead[k]) for k in range(2)]
        return kinds, tallies, (serve.run, serve.record, serve.duel)

    def _own_state(self):
        """What only some of the learners keep once."""
        return {}

    def _set_own_state(self, state):
        """Put it back, once the labels are there."""

    def _set_serve_state(self, kinds, tallies, contest):
        cdef Serve* serve = &self.learner.serve
        cdef Calibrator* fit
        cdef int k
        if len(kinds) != KEPT_KINDS or len(tallies) != 2:
            raise ValueError("the record of which vector answers is invalid")
        for k in range(KEPT_KINDS):
            fit = &self.learner.fits[k]
            serve.scale[k].m, serve.scale[k].n, fit.A, fit.B, fit.GA, fit.GB, fit.RA, fit.RB = kinds[k]
        for k in range(2):
            serve.T[k][0], serve.T[k][1], serve.G[k], serve.lead[k] = tallies[k]
            serve.stale[k] = True
        serve.run, serve.record, serve.duel = contest
        for k in range(KEPT_KINDS):
            fit = &self.learner.fits[k]
            if not (isfinite(serve.scale[k].m) and isfinite(serve.scale[k].n) and isfinite(fit.A)
                    and isfinite(fit.B) and isfinite(fit.GA) and isfinite(fit.GB) and isfinite(fit.RA)
                    and isfinite(fit.RB)):
                raise ValueError("the record of which vector answers is invalid")
        for k in range(2):
            if not (isfinite(serve.T[k][0]) and isfinite(serve.T[k][1]) and isfinite(serve.G[k])
                    and 0 <= serve.lead[k] <= 1):
                raise ValueError("the record of which vector answers is invalid")

    # --- The state of a model in flat arrays; see engine/flat.pxd, and _format.py for model files

    def _file_state(self, int depth=FLAT_DEPTH):
        """What a model file and a pickle keep: plain values, and ``{name: (shape, buffer)}``.

        `depth`: how deep tuples in names may be nested. Whoever predicts goes on meanwhile; whoever learns waits for one copy of names and weights.
        """
        cdef Flat flat
        cdef int fault
        cdef bint too_deep
        cdef bint hashed = self.learner.index.bits
        cdef bint limited = index_is_limited(&self.learner.index)
        flat.stored = NULL
        flat.stamps = NULL
        self._read_begin()
        collecting = PyGC_Disable()     # a finalizer might teach this model, and wait for itself
        try:
            state = {
                "params": self._params,
                "seed": self.learner.index.seed_number,
                "labels": self._get_labels(),
                "outputs": self.learner.table.n_outputs,
                "objects": list(self._objects),
                "y_name": _interned(self._y_name),
                "counters": (self.learner.n_seen, self.learner.n_updates, self.learner.n_mistakes),
                "clock": (self.learner.table.c, self.learner.table.s, self.learner.table.fold,
                          self.learner.table.epoch),
                "serve": self._serve_state(),
                **self._own_state(),
                "ceiling": (self.learner.ceiling.hand, self.learner.ceiling.clock, self.learner.ceiling.n_evicted),
            }
            if state["labels"] is not None and len(state["labels"]) != learner_labels(&self.learner):
                raise RuntimeError(
                    "a label is being added to the model; save or pickle it after learn_one has returned")
            if self.learner.table.borrowed:
                return state, self._arrays
            with nogil:
                fault = flat_measure(&flat, &self.learner.index, &self.learner.table)
            if fault < 0:
                raise MemoryError("no memory for a copy of the model")
            arrays = {"weights": _array(<void**> &flat.weights, flat.n_weights, self.learner.table.width, 8),
                      "chunks": _array(<void**> &flat.chunks, flat.n_chunks, 3, 4)}
            if hashed:
                arrays["rows"] = _array(<void**> &flat.rows, flat.n_stored, 0, 4)
            else:
                arrays["keys"] = _array(<void**> &flat.keys, flat.n_keys, 2, 8)
                arrays["texts"] = _array(<void**> &flat.texts, flat.n_texts, 0, 1)
                arrays["lookup"] = _array(<void**> &flat.words, flat.n_words, 0, 4)
            if limited:
                arrays["stamps"] = _array(<void**> &flat.stamps, flat.n_keys, 0, 4)
            with nogil:
                flat_write(&flat, &self.learner.index, &self.learner.table)
        finally:
            self._readers -= 1
            if collecting:
                PyGC_Enable()
            flat_free(&flat)
        if not hashed:
            with nogil:
                flat_lookup(&flat, &self.learner.index)
                too_deep = flat_too_deep(&flat, depth)
            if too_deep:
                keeper = ("model file cannot hold; pickle the model instead" if depth == FLAT_DEPTH
                          else "pickle cannot hold")
                raise ValueError(
                    f"the model has a feature name that is a tuple nested more than {depth} deep, which a {keeper}")
        return state, arrays

    def _set_file_state(self, state, arrays, whole=None, int depth=FLAT_DEPTH):
        """Put what _file_state gave on an untrained model. All of it is checked, whoever wrote it.

        `whole`: the buffer in which the arrays lie, to use them there; the model is read-only then. `depth`: as
        for _file_state. On an error, which says what is wrong, the model is of no use.
        """
        cdef Flat flat
        cdef int fault
        cdef Py_ssize_t n_outputs
        cdef size_t n_objects, n_stamps
        cdef Table* table = &self.learner.table
        cdef int bits = self.learner.index.bits
        cdef bint limited = index_is_limited(&self.learner.index)
        cdef uint64_t seed = state["seed"]
        # a pickle leaves out the lookup; a file that is used in place has its checksum beside them
        if arrays.keys() - {"lookup", "crc32"} != {"weights", "chunks"} | (
                {"rows"} if bits else {"keys", "texts", "stamps"} if limited else {"keys", "texts"}):
            raise ValueError("the arrays are not those of such a model")
        memset(&flat, 0, sizeof(Flat))
        flat.weights = <double*> _array_start(arrays["weights"], table.width, 8, &flat.n_weights)
        flat.chunks = <uint32_t*> _array_start(arrays["chunks"], 3, 4, &flat.n_chunks)
        if bits:
            flat.rows = <uint32_t*> _array_start(arrays["rows"], 0, 4, &flat.n_stored)
        else:
            flat.keys = <Key*> _array_start(arrays["keys"], 2, 8, &flat.n_keys)
            flat.texts = <uint8_t*> _array_start(arrays["texts"], 0, 1, &flat.n_texts)
            if not ROWS_RESERVED <= flat.n_keys < ROW_MAX:
                raise ValueError("the number of names is invalid")
            if whole is not None or "lookup" in arrays:
                flat.words = <uint32_t*> _array_start(arrays["lookup"], 0, 4, &flat.n_words)
                if not 0 < flat.n_words < ROW_MAX:
                    raise ValueError("the number of names is invalid")
        if limited:
            flat.stamps = <uint32_t*> _array_start(arrays["stamps"], 0, 4, &n_stamps)
            hand, clock, n_evicted = state["ceiling"]
            if n_stamps != flat.n_keys or flat.n_keys > self.learner.index.max_rows or not (
                    ROWS_RESERVED <= hand < max(flat.n_keys, <size_t> ROWS_RESERVED + 1)):
                raise ValueError("what is kept for max_features does not fit it")
            self.learner.ceiling.hand, self.learner.ceiling.clock = hand, clock
            self.learner.ceiling.n_evicted = n_evicted
        given = self._params["hash_seed"]
        if given is not None and given != seed:
            raise ValueError("the hash's seed is not the parameter's")
        n_outputs = self._set_labels(state["labels"])
        if state.get("outputs", n_outputs) != n_outputs:    # a file has no other number than its labels'
            raise ValueError(f"there are {n_outputs} labels for {shown(state['outputs'])} outputs")
        n_objects = len(state["objects"])
        self._objects = {name: ordinal for ordinal, name in enumerate(state["objects"])}
        if len(self._objects) != <Py_ssize_t> n_objects:
            raise ValueError("a feature name occurs twice")
        if any(name_plain(name)[0] != KEY_OBJECT for name in self._objects):
            raise ValueError("a feature name is stored as another kind than it is")
        self._y_name = _interned(state["y_name"])
        self._empty_index(seed)
        self.learner.n_seen, self.learner.n_updates, self.learner.n_mistakes = state["counters"]
        table.c, table.s, table.fold, table.epoch = state["clock"]
        if not (table.c >= 1.0 and table.s > 0.0 and table.epoch >= 1.0 and isfinite(table.c)
                and isfinite(table.s) and isfinite(table.epoch)):
            raise ValueError("the averages' clock is invalid")
        self._set_serve_state(*state["serve"])
        self._set_own_state(state)
        if whole is not None:
            PyObject_GetBuffer(whole, &self._file, PyBUF_SIMPLE)
            self._arrays = dict(arrays)
            fault = flat_map(&flat, &self.learner.index, table, n_outputs)
        else:
            with nogil:
                fault = flat_read(&flat, &self.learner.index, table, n_outputs, n_objects, depth)
            if not fault and learner_adapts(&self.learner) and adaptive_fault(table, self.learner.index.n_rows):
                fault = FLAT_WEIGHT
        flat_free(&flat)
        if fault == FLAT_MEMORY:
            raise MemoryError("no memory for the model")
        if fault:
            raise ValueError(_FAULTS[fault])
        if DEBUG:
            self._look()

    def _in_memory(self):
        """Of a model that lies in a file: the same one in memory of its own, which can learn."""
        cdef Model other = type(self).__new__(type(self))
        state, arrays = self._file_state()
        other._configure(self._kind, **state["params"])
        try:
            other._set_file_state(state, arrays)
        except ValueError as error:     # nobody has looked at the arrays before
            raise _damaged(error) from None
        return other


_FAULTS = {
    FLAT_KEY: "a feature name is invalid",
    FLAT_TWICE: "a feature name occurs twice",
    FLAT_TEXTS: "the long names do not fill their place",
    FLAT_ROW: "the numbers of the stored rows are invalid",
    FLAT_CHUNK: "the list of chunks does not fit the weights",
    FLAT_WEIGHT: "a weight is not finite",
    FLAT_NOBODYS: "there are weights of no feature or no label",
}


cdef tuple _array(void** start, size_t n, size_t width, size_t item):
    """Room for n rows, or n numbers if width is 0: its shape, and the bytes, which begin at `start`."""
    cdef bytes data = PyBytes_FromStringAndSize(NULL, n * (width or 1) * item)
    start[0] = <void*> bytes_data(<PyObject*> data)
    pages_whole(start[0], len(data))
    cdef tuple shape = (n,)
    if width:
        shape += (width,)
    return shape, data


cdef void* _array_start(array, int width, size_t item, size_t* n) except? NULL:
    """Where an array, which its owner holds on to, starts; n is its length. An error if it is not as large as it says.

    `width`: how many numbers a row has; 0: it is no matrix.
    """
    cdef Py_buffer buffer
    shape, data = array
    if width:
        rows, numbers = shape
        if numbers != width:
            raise ValueError(f"a row of an array has {shown(numbers)} numbers instead of {width}")
    else:
        rows, = shape
    n[0] = rows
    PyObject_GetBuffer(data, &buffer, PyBUF_SIMPLE)
    PyBuffer_Release(&buffer)
    if (n[0] >= <size_t> 1 << 48 or <size_t> buffer.len != n[0] * (width or 1) * item
            or <uintptr_t> buffer.buf % item):
        raise ValueError(f"an array of {buffer.len} bytes is not of the shape {shown(shape)}")
    return buffer.buf


# --- Binary -------------------------------------------------------------------------------------

cdef class BinaryModel(Model):
    """One output; labels are truth values."""

    cdef Model _blank(self, int kind):
        if kind != RULE_PERCEPTRON:
            raise ValueError(f"the rule {kind} is not for two labels")
        return BinaryModel.__new__(BinaryModel)

    cdef Py_ssize_t _set_labels(self, labels) except -1:
        if labels is not None:
            raise ValueError("a model for two labels keeps no list of them")
        return 1

    def _checked_label(self, y):
        return bool(_truth_label(y))

    def _outputs(self, labels):
        return [int(label) for label in labels]

    def learn_one(self, x, y, w=1.0):
        """Learn from one event, if it is a mistake.

        Parameters
        ----------
        x
            A mapping of features to numbers.
        y
            The label: True or False, or any 1 or 0.
        w
            The sample weight, at least 0: it scales the step.

        Raises
        ------
        TypeError, ValueError
            If x, y or w is invalid. The model has not changed then.
        """
        cdef bint label = _truth_label(y)
        cdef double step = self._step(label, w)
        self._read(x, True)
        if learner_learn(&self.learner, &self.event, label, step) < 0:
            raise MemoryError("no memory for the update; the model has not learned this event")
        self._settle()

    def predict_one(self, x):
        """Predict the label of one event: True where the decision function is above 0.

        Parameters
        ----------
        x
            A mapping of features to numbers.
        """
        cdef bint label
        self._score(x)
        label = learner_answer(&self.learner, &self.event).verdict.best
        self._settle()
        return label

    def decision_function_one(self, x):
        """The score of one event, w.x plus the intercept, by the vector that answers.

        Parameters
        ----------
        x
            A mapping of features to numbers.
        """
        cdef double score
        self._score(x)
        score = learner_decision(
            &self.learner, &self.event, learner_answer(&self.learner, &self.event).kind)[0]
        self._settle()
        return score

    def predict_proba_one(self, x):
        """The probability of each label of one event, calibrated online: {False: ., True: .}.

        Parameters
        ----------
        x
            A mapping of features to numbers.
        """
        cdef double p[2]
        self._score(x)
        learner_probabilities(&self.learner, &self.event, learner_answer(&self.learner, &self.event), p)
        self._settle()
        return {False: p[0], True: p[1]}

    def test_then_train_one(self, x, y, w=1.0):
        """Predict, then learn, in one pass: returns the prediction made before learning.

        Parameters
        ----------
        x
            A mapping of features to numbers.
        y
            The label: True or False, or any 1 or 0.
        w
            The sample weight, at least 0.
        """
        cdef bint label = _truth_label(y)
        cdef double step = self._step(label, w)
        cdef bint prediction
        self._read(x, True)
        if learner_score(&self.learner, &self.event) < 0:
            raise MemoryError("no memory for the scores")
        prediction = learner_answer(&self.learner, &self.event).verdict.best
        if learner_learn(&self.learner, &self.event, label, step) < 0:
            raise MemoryError("no memory for the update; the model has not learned this event")
        self._settle()
        return prediction


cdef int _truth_label(y) except -1:
    """1 or 0 for a truth value, or an error."""
    if y is True:
        return 1
    if y is False:
        return 0
    if type(y) is int or type(y) is float:
        if y == 1:
            return 1
        if y == 0:
            return 0
    try:
        hash(y)
    except TypeError:
        raise TypeError(
            f"y is {shown(y)}, a {type(y).__name__}; Perceptron takes True or False (or 1 or 0)"
        ) from None
    # what equals True or False, as a dict's key would: 1, 1.0, numpy's numbers
    if isinstance(y, (Real, Decimal)) or is_numpy(y, "bool_"):
        if y == 1:
            return 1
        if y == 0:
            return 0
    raise ValueError(
        f"y={shown(y)}; Perceptron takes True or False (or 1 or 0). For other labels use "
        "MulticlassPerceptron or MIRA")


# --- Any labels ---------------------------------------------------------------------------------

cdef class LabelModel(Model):
    """One output a label; labels are numbered as they appear."""

    def __cinit__(self):
        self._labels = []
        self._label_ids = {}

    cdef Model _blank(self, int kind):
        if kind != RULE_MULTICLASS and kind != RULE_MIRA:
            raise ValueError(f"the rule {kind} is not for any labels")
        return LabelModel.__new__(LabelModel)

    cdef void _exchange(self, Model other) noexcept:
        cdef LabelModel theirs = <LabelModel> other
        self._labels, theirs._labels = theirs._labels, self._labels
        self._label_ids, theirs._label_ids = theirs._label_ids, self._label_ids
        Model._exchange(self, other)

    def _configure(self, int kind, **params):
        if params["max_labels"] is not None:
            _whole("max_labels", params["max_labels"], 1, 2**31)
        Model._configure(self, kind, **params)

    @property
    def max_labels(self):
        return self._params["max_labels"]

    cdef int _check_room(self, label, Py_ssize_t n_labels) except -1:
        """That a label, which is the next after n_labels others, may be added."""
        most = self._params["max_labels"]
        if most is not None and n_labels >= most:
            raise ValueError(
                f"y={shown(label)} is a new label, and the model already has max_labels={most}: leave the event "
                "out, give it one of the labels that are there, or make a model with a larger max_labels")
        return 0

    @property
    def labels(self):
        """The labels seen, in the order of their appearance."""
        return list(self._labels)

    def _get_labels(self):
        return self.labels

    cdef Py_ssize_t _set_labels(self, labels) except -1:
        if not isinstance(labels, list):
            raise ValueError("there is no list of labels")
        most = self._params["max_labels"]
        if most is not None and len(labels) > most:
            raise ValueError(f"max_labels={most}; the model already has {len(labels)} labels")
        self._labels = [_interned(self._checked_label(label)) for label in labels]
        self._label_ids = {label: i for i, label in enumerate(self._labels)}
        if len(self._label_ids) != len(self._labels):
            raise ValueError("a label occurs twice")
        return len(self._labels)

    cdef list _label_list(self):
        return self._labels

    def _copy_labels(self, other):
        (<LabelModel> other)._labels = list(self._labels)
        (<LabelModel> other)._label_ids = dict(self._label_ids)

    def _checked_label(self, y):
        if type(y) is str or type(y) is int or type(y) is bool:
            return y
        if is_numpy(y, "generic"):
            y = y.item()
        if y is None:
            raise ValueError("y is None, which stands for no prediction; it cannot be a label")
        try:
            hash(y)
        except TypeError:
            raise TypeError(
                f"y is {shown(y)}, a {type(y).__name__}; a label must be hashable: a str, int, bool, "
                "tuple ...") from None
        try:
            odd = bool(y != y)
        except Exception:           # pandas' NA is neither equal nor unequal to itself
            odd = True
        if odd:
            raise ValueError(f"y={shown(y)} does not equal itself; it cannot be a label")
        return y

    cdef Py_ssize_t _read_labelled(self, x, label) except -1:
        """Read an event; the number of its checked label, where a new one gets the next.

        Code of the user's runs when an odd mapping is read or an odd label is hashed, and may teach
        this very model. So the number is looked up last, and the event is read again if that has
        touched the scratch.
        """
        cdef uint64_t n_reads
        cdef int turn
        cdef dict ids
        cdef bint true = not self._labels and label == True
        for turn in range(8):
            self._read(x, True)
            n_reads = self._n_reads
            ids = self._label_ids       # held: to hash the label may start the model anew
            known = ids.get(label)
            if n_reads == self._n_reads:
                if not self._labels:
                    self.learner.adaptive.positive = not true
                if known is not None:
                    return known
                try:
                    self._check_room(label, len(self._labels))
                except ValueError:
                    self._forget_objects()
                    raise
                return len(self._labels)
        raise RuntimeError(
            f"y={shown(label)} uses the model whenever it is hashed; a label's __hash__ must leave the model alone")

    cdef int _name_output(self, label) except -1:
        """After learning: the new output, if there is one, is this label's."""
        cdef dict ids = self._label_ids     # held: to hash the label may start the model anew
        if learner_labels(&self.learner) > len(self._labels):
            # the list first: hashing an odd label may teach this model another one
            label = _interned(label)
            output = len(self._labels)
            self._labels.append(label)
            ids[label] = output
        return 0

    def _add_label(self, y):
        """Make a label known before anything is learned of it."""
        self._enter(True)
        label = self._checked_label(y)
        if label in self._label_ids:
            raise ValueError(f"the label {shown(label)} occurs twice")
        self._check_room(label, len(self._labels))
        if table_add_outputs(&self.learner.table, 1) < 0:
            raise MemoryError("no memory for the label")
        self.learner.version += 1
        self._name_output(label)

    def _outputs(self, labels):
        self._next_labels = list(self._labels)
        self._next_ids = dict(self._label_ids)
        outputs = []
        for label in map(_interned, labels):
            outputs.append(self._next_ids.setdefault(label, len(self._next_labels)))
            if outputs[len(outputs) - 1] == len(self._next_labels):
                self._check_room(label, len(self._next_labels))
                self._next_labels.append(label)
        return outputs

    cdef int _labels_done(self) except -1:
        if self._next_labels is not None and len(self._labels) < len(self._next_labels):
            # without memory for all of the batch, or with an error in it
            self._label_ids = {label: i for i, label in enumerate(self._labels)}
        self._next_labels = self._next_ids = None
        return 0

    cdef void _put_labels(self) noexcept:
        if learner_labels(&self.learner) > len(self._labels):
            self._labels = self._next_labels[:learner_labels(&self.learner)]
            self._label_ids = self._next_ids

    cdef object _label_of(self, Py_ssize_t output):
        return self._labels[output] if 0 <= output < len(self._labels) else None

    def learn_one(self, x, y, w=1.0):
        """Learn from one event, if the rule calls it a mistake.

        Parameters
        ----------
        x
            A mapping of features to numbers.
        y
            The label, any hashable; a new one is added.
        w
            The sample weight, at least 0: it scales the step.

        Raises
        ------
        TypeError, ValueError
            If x, y or w is invalid. The model has not changed then.
        """
        label = self._checked_label(y)
        cdef double step = self._step(label, w)
        cdef Py_ssize_t output = self._read_labelled(x, label)
        if learner_learn(&self.learner, &self.event, output, step) < 0:
            raise MemoryError("no memory for the update; the model has not learned this event")
        self._settle()
        self._name_output(label)

    def predict_one(self, x):
        """Predict the label of one event; None before the first label.

        None is neither a label nor a number: do not use it as a feature of another learner.

        Parameters
        ----------
        x
            A mapping of features to numbers.
        """
        cdef Py_ssize_t output
        self._score(x)
        output = learner_answer(&self.learner, &self.event).verdict.best
        self._settle()
        return self._label_of(output)

    def decision_function_one(self, x):
        """The score of one event for each label, by the vector that answers.

        Parameters
        ----------
        x
            A mapping of features to numbers.
        """
        cdef const double* scores
        cdef Py_ssize_t k
        self._score(x)
        scores = learner_decision(
            &self.learner, &self.event, learner_answer(&self.learner, &self.event).kind)
        collecting = PyGC_Disable()     # a finalizer might use the scratch
        decision = [scores[k] for k in range(self.learner.table.n_outputs)]
        labels = self._labels
        if collecting:
            PyGC_Enable()
        self._settle()
        return dict(zip(labels, decision))

    def predict_proba_one(self, x):
        """The probability of each label seen so far, calibrated online; {} before the first.

        Parameters
        ----------
        x
            A mapping of features to numbers.
        """
        cdef Py_ssize_t n
        cdef double* p
        self._score(x)
        # the fourth of the score vectors is room for them
        n = learner_labels(&self.learner)
        p = self.event.scores + KEPT_KINDS * self.learner.table.n_outputs
        learner_probabilities(&self.learner, &self.event, learner_answer(&self.learner, &self.event), p)
        collecting = PyGC_Disable()     # a finalizer might use the scratch
        probabilities = [p[k] for k in range(n)]
        labels = self._labels
        if collecting:
            PyGC_Enable()
        self._settle()
        return dict(zip(labels, probabilities))

    def test_then_train_one(self, x, y, w=1.0):
        """Predict, then learn, in one pass: returns the prediction made before learning.

        Parameters
        ----------
        x
            A mapping of features to numbers.
        y
            The label, any hashable.
        w
            The sample weight, at least 0.
        """
        label = self._checked_label(y)
        cdef double step = self._step(label, w)
        cdef Py_ssize_t output = self._read_labelled(x, label)
        cdef Py_ssize_t prediction
        if learner_score(&self.learner, &self.event) < 0:
            raise MemoryError("no memory for the scores")
        prediction = learner_answer(&self.learner, &self.event).verdict.best
        if learner_learn(&self.learner, &self.event, output, step) < 0:
            raise MemoryError("no memory for the update; the model has not learned this event")
        self._settle()
        self._name_output(label)
        return self._label_of(prediction)


# --- AdaptiveClassifier ---------------------------------------------------------------------------

cdef class AdaptiveModel(LabelModel):
    """Any labels; up to two of them have one output, whose score speaks for the second, or for what equals True."""

    cdef Model _blank(self, int kind):
        if kind != RULE_ADAPTIVE:
            raise ValueError(f"the rule {kind} is not AdaptiveClassifier's")
        return AdaptiveModel.__new__(AdaptiveModel)

    cdef Py_ssize_t _set_labels(self, labels) except -1:
        cdef Py_ssize_t n = LabelModel._set_labels(self, labels)
        if adaptive_room(&self.learner.adaptive, n) < 0:
            raise MemoryError("no memory for the labels")
        self.learner.adaptive.n_labels = n
        return n if n > 2 else 1

    def _own_state(self):
        cdef Adaptive* a = &self.learner.adaptive
        return {"adaptive": (a.positive, a.T, a.m, a.nm, tuple([
            (a.D[k], a.w0[k], a.G0[k], a.wn[k], a.Gn[k]) for k in range(max(a.n_labels, <Py_ssize_t> 2))]))}

    def _set_own_state(self, state):
        cdef Adaptive* a = &self.learner.adaptive
        cdef Py_ssize_t k
        cdef double D
        positive, a.T, a.m, a.nm, outputs = state["adaptive"]
        if positive not in (0, 1) or len(outputs) != max(a.n_labels, <Py_ssize_t> 2):
            raise ValueError("what is kept for each label does not fit the labels")
        a.positive = positive
        for k in range(len(outputs)):
            D, a.w0[k], a.G0[k], a.wn[k], a.Gn[k] = outputs[k]
            if not (0.0 <= D <= LIMIT and fabs(a.w0[k]) <= LIMIT and 0.0 <= a.G0[k] <= LIMIT
                    and fabs(a.wn[k]) <= LIMIT and 0.0 <= a.Gn[k] <= LIMIT):
                raise ValueError("what is kept for a label is invalid")
            adaptive_set_count(a, k, D)
        if not (0.0 <= a.T <= LIMIT and 0.0 <= a.m <= LIMIT and 0.0 <= a.nm <= 1024.0):
            raise ValueError("what is kept of all events is invalid")

    def _learn_rows(self, Rows X not None, names, labels, numbers, steps, predictions, confidences=None):
        """As every model; but an event of weight 0 makes no label known, so labels come in the order of the others."""
        if steps is not None and len(steps) and not steps.max() <= U_LIMIT:
            row = int(steps.argmax())
            raise ValueError(
                f"w times the class weight is {steps[row]:g} in row {row}; it must be at most {U_LIMIT:g}")
        if steps is not None and len(steps) and not steps.all():
            import numpy as np

            numbers = np.asarray(numbers)
            learned = numbers[(numbers >= 0) & (steps > 0)]
            met, firsts = np.unique(learned, return_index=True)
            order = met[np.argsort(firsts)].tolist()
            order += sorted(set(range(len(labels))).difference(order))
            places = np.empty(len(labels), dtype=np.intp)
            places[order] = np.arange(len(labels))
            numbers = np.where(numbers >= 0, places[numbers], -1)
            labels = [labels[number] for number in order]
        return LabelModel._learn_rows(self, X, names, labels, numbers, steps, predictions, confidences)

    def _outputs(self, labels):
        if not self._labels and labels:
            self.learner.adaptive.positive = not labels[0] == True
        return LabelModel._outputs(self, labels)

    @property
    def _positive(self):
        """Up to two labels: the number of the one that the output speaks for; it need not have come yet."""
        return self.learner.adaptive.positive if self.learner.table.n_outputs == 1 else None

    def decision_function_one(self, x):
        """Up to two labels the rank of one event, a number; for more {label: score}.

        Parameters
        ----------
        x
            A mapping of features to numbers.
        """
        cdef double rank
        self._score(x)
        if self.learner.table.n_outputs > 1:
            return LabelModel.decision_function_one(self, x)
        rank = learner_decision(&self.learner, &self.event, KEPT_CURRENT)[0]
        self._settle()
        return rank

    def _explain(self, x, Py_ssize_t output, double sign):
        """Contributions to one output's score, that score, which vector gave it, and the predicted label."""
        cdef Py_ssize_t i, best
        cdef double part
        cdef dict objects
        cdef list labels
        self._score(x)
        # as in _weights
        collecting = PyGC_Disable()
        try:
            objects = {ordinal: name for name, ordinal in self._objects.items()}
            best = learner_answer(&self.learner, &self.event).verdict.best
            labels = self._label_list()
            if output < 0:
                output = best
            if not 0 <= output < self.learner.table.n_outputs:
                raise RuntimeError(
                    "the model has been reset meanwhile, and does not know the label; ask again")
            score = sign * learner_decision(&self.learner, &self.event, KEPT_CURRENT)[output]
            label = labels[best] if 0 <= best < len(labels) else None
            parts = []
            if self.learner.adaptive.intercept or self.learner.adaptive.naive_bayes:
                parts.append((None, sign * adaptive_share(
                    &self.learner.adaptive, &self.learner.table, &self.event.weighed, output, -1, NULL, NULL)))
            for i in range(self.event.n):
                part = sign * adaptive_share(
                    &self.learner.adaptive, &self.learner.table, &self.event.weighed, output, i, self.event.rows,
                    self.event.values)
                if part != 0.0:
                    parts.append((_key_plain(&self.event.keys[i], objects), part))
        finally:
            if collecting:
                PyGC_Enable()
        self._settle()
        return [(_named(plain), part) for plain, part in parts], score, "current", label
