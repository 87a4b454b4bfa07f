# An entry of a mapping: a name and a value, as Python objects.
#
#     name    str, bytes, int, bool, float, None, tuples of these      ->  Key       entry_key
#             named tuples, and what else compares like a str or tuple
#             numpy's str_, bytes_, bool_, ints and floats
#     value   int, bool, float; numpy's bool_, ints and floats         ->  double    entry_value
#
# Objects of these types are read from their own memory. No Python code runs here, no exception is
# set, and no object is made except an int now and then. So nothing can change the mapping or the
# scratch while the door reads it. For any other type, and for what has to be refused (a NaN, an int
# that is not a double), the answer is False. Then the door asks Python, for this entry alone.
#
# The rules are those of common/names.py, which is the slow twin of this file: names that are
# equal as dict keys give equal keys. A tuple becomes canonical bytes, written straight into the
# scratch's arena:
#
#     n                           None
#     i length digits             an int in base 16, "-ff"
#     f 8 bytes                   a float that is not whole, little-endian
#     s length UTF-8, b length bytes
#     t count part part ...       a tuple
#
# A pair of features, p part part, is written by engine/events/pairs.h; one that is a name in an
# event comes through Python.
#
# Lengths and counts have seven bits per byte, the lowest first; the top bit is set on all bytes but
# the last.
#
# numpy's types are found only where numpy has been loaded, and this package does not load it for
# them. So the door registers them once they are there (entry_know). Before that it checks that a
# scalar's number is stored where it is read here: right after the header.
#
# entry_key_everyday and entry_value_everyday cover the few types of most events. They are for a
# loop in which the rest would take up registers.
#
# Functions in this file: entry_key, entry_value, entry_key_everyday, entry_value_everyday,
# entry_know, entry_scalar_is_bare, utf8_write, ascii_text; the rest serve these. All need the
# interpreter's lock.

from libc.math cimport fabs
from libc.string cimport memcmp, memcpy
from cpython.object cimport PyObject
from libc.stdint cimport uint32_t, uint64_t, uint8_t
from streamptron.engine.memory cimport (
    SP_VALUE_LIMIT, sp_arena, sp_arena_alloc, sp_arena_return, sp_zeros_below)
from streamptron.engine.names cimport (
    SP_KEY_BYTES, SP_KEY_CANONICAL, SP_KEY_FLOAT, SP_KEY_INT, SP_KEY_STR, sp_canonical_count,
    sp_canonical_int, sp_key, sp_key_text, sp_key_word, sp_store8, sp_utf8_encode)

cdef extern from "entry.h":
    bint is_tuple "sp_is_tuple" (PyObject* o) noexcept
    bint is_str "sp_is_str" (PyObject* o) noexcept
    const uint8_t* ascii_text "sp_ascii_text" (PyObject* o) noexcept
    bint int_word "sp_int_word" (PyObject* o, long long* value) noexcept
    bint int_parts "sp_int_parts" (PyObject* o, bint* negative, uint64_t* size) noexcept
    int scalar_kind "sp_scalar_kind" (PyObject* o) noexcept
    void scalar_know "sp_scalar_know" (PyObject* type, int kind) noexcept
    const char* scalar_data "sp_scalar_data" (PyObject* o) noexcept
    double half "sp_half" (const char* p) noexcept

cdef extern from "Python.h":
    PyObject* TRUE "Py_True"
    PyObject* FALSE "Py_False"
    PyObject* NONE "Py_None"
    bint PyFloat_Check(PyObject* o) noexcept
    bint PyFloat_CheckExact(PyObject* o) noexcept
    double PyFloat_AS_DOUBLE(PyObject* o) noexcept
    bint PyLong_CheckExact(PyObject* o) noexcept
    bint PyBytes_CheckExact(PyObject* o) noexcept
    char* bytes_data "PyBytes_AS_STRING" (PyObject* o) noexcept
    Py_ssize_t bytes_size "PyBytes_GET_SIZE" (PyObject* o) noexcept
    Py_ssize_t tuple_size "PyTuple_GET_SIZE" (PyObject* o) noexcept
    PyObject* tuple_item "PyTuple_GET_ITEM" (PyObject* o, Py_ssize_t at) noexcept
    bint PyUnicode_CheckExact(PyObject* o) noexcept
    Py_ssize_t PyUnicode_GET_LENGTH(PyObject* o) noexcept
    int PyUnicode_KIND(PyObject* o) noexcept
    void* PyUnicode_DATA(PyObject* o) noexcept
    uint32_t PyUnicode_READ(int kind, void* data, Py_ssize_t at) noexcept

cdef enum:
    SCALAR_BOOL = 1
    SCALAR_I8 = 2
    SCALAR_U8 = 3
    SCALAR_I16 = 4
    SCALAR_U16 = 5
    SCALAR_I32 = 6
    SCALAR_U32 = 7
    SCALAR_I64 = 8
    SCALAR_U64 = 9
    SCALAR_F16 = 10
    SCALAR_F32 = 11
    SCALAR_F64 = 12
    SCALAR_STR = 13
    SCALAR_BYTES = 14

    TUPLE_DEPTH = 100               # of tuples in tuples; Python reads deeper ones

    NUMBER_WHOLE = 1                # what a Number is
    NUMBER_OTHER = 2

cdef struct Number:
    double value                    # NUMBER_OTHER: a fraction, at least 2^63, infinite or NaN
    uint64_t size                   # NUMBER_WHOLE
    bint negative

cdef struct Writing:
    # Bytes at the end of an arena, while their number is not known yet.
    sp_arena* arena
    uint8_t* start
    uint8_t* p
    uint8_t* end


# --- numpy's scalars ----------------------------------------------------------------------------

cdef inline void entry_know(PyObject* type, int kind) noexcept:
    """Read objects of a type as scalars of a kind from now on. The type must live forever."""
    scalar_know(type, kind)


cdef inline bint entry_scalar_is_bare(PyObject* scalar, const void* bits, size_t n) noexcept:
    """Whether a scalar has its n bytes right after its header, where they are read here."""
    return memcmp(scalar_data(scalar), bits, n) == 0


cdef inline void _whole(Number* number, long long value) noexcept:
    number.negative = value < 0
    number.size = 0 - <uint64_t> value if value < 0 else <uint64_t> value


cdef inline int _float(Number* number, double value) noexcept:
    if fabs(value) < 9223372036854775808.0 and value == <double> <long long> value:
        _whole(number, <long long> value)
        return NUMBER_WHOLE
    number.value = value
    return NUMBER_OTHER


cdef inline int _number_of(PyObject* o, Number* number) noexcept:
    """NUMBER_WHOLE or NUMBER_OTHER; 0 for another type or an int of too many digits."""
    cdef const char* p
    cdef int kind
    cdef float single
    cdef double value
    if PyLong_CheckExact(o):
        return NUMBER_WHOLE if int_parts(o, &number.negative, &number.size) else 0
    if PyFloat_CheckExact(o):
        return _float(number, PyFloat_AS_DOUBLE(o))
    if o == TRUE or o == FALSE:
        _whole(number, o == TRUE)
        return NUMBER_WHOLE
    kind = scalar_kind(o)
    p = scalar_data(o)
    if kind == SCALAR_F64:
        memcpy(&value, p, 8)
        return _float(number, value)
    if kind == SCALAR_F32:
        memcpy(&single, p, 4)
        return _float(number, single)
    if kind == SCALAR_F16:
        return _float(number, half(p))
    if kind == SCALAR_U64:
        number.negative = False
        memcpy(&number.size, p, 8)
        return NUMBER_WHOLE
    if kind == SCALAR_I64:
        _whole(number, (<const long long*> p)[0])
    elif kind == SCALAR_I32:
        _whole(number, (<const int*> p)[0])
    elif kind == SCALAR_U32:
        _whole(number, (<const unsigned int*> p)[0])
    elif kind == SCALAR_I16:
        _whole(number, (<const short*> p)[0])
    elif kind == SCALAR_U16:
        _whole(number, (<const unsigned short*> p)[0])
    elif kind == SCALAR_I8:
        _whole(number, (<const signed char*> p)[0])
    elif kind == SCALAR_U8 or kind == SCALAR_BOOL:
        _whole(number, (<const uint8_t*> p)[0])
    else:
        return 0
    return NUMBER_WHOLE


# --- A value ------------------------------------------------------------------------------------

cdef inline bint entry_value_everyday(PyObject* o, double* value) noexcept:
    """entry_value of an int or a float; False for anything else."""
    cdef long long n
    if PyLong_CheckExact(o) and int_word(o, &n):
        value[0] = <double> n
        return <long long> value[0] == n
    if PyFloat_CheckExact(o):
        value[0] = PyFloat_AS_DOUBLE(o)
        return fabs(value[0]) <= SP_VALUE_LIMIT
    return False


cdef inline bint entry_value(PyObject* o, double* value) noexcept:
    """A finite value of at most SP_VALUE_LIMIT in size that a double holds exactly; else False."""
    cdef Number number
    cdef int kind
    if PyFloat_Check(o):            # numpy.float64 is a subclass
        value[0] = PyFloat_AS_DOUBLE(o)
        return fabs(value[0]) <= SP_VALUE_LIMIT
    kind = _number_of(o, &number)
    if kind == NUMBER_OTHER:
        value[0] = number.value
        return fabs(value[0]) <= SP_VALUE_LIMIT
    if kind != NUMBER_WHOLE or (
            number.size != 0 and number.size >> sp_zeros_below(number.size) >> 53 != 0):
        return False
    value[0] = -<double> number.size if number.negative else <double> number.size
    return True


# --- A name -------------------------------------------------------------------------------------

cdef inline bint entry_key_everyday(PyObject* o, sp_key* key) noexcept:
    """entry_key of an ASCII str or an int; False for anything else."""
    cdef long long n
    cdef const uint8_t* text
    if PyUnicode_CheckExact(o):
        text = ascii_text(o)
        if text == NULL:
            return False
        key[0] = sp_key_text(SP_KEY_STR, text, PyUnicode_GET_LENGTH(o))
        return True
    if PyLong_CheckExact(o) and int_word(o, &n):
        key[0] = sp_key_word(SP_KEY_INT, <uint64_t> n)
        return True
    return False


cdef inline uint8_t* utf8_write(sp_arena* scratch, PyObject* o, size_t* length) noexcept:
    """Encode a str in scratch: a cache in the str itself would stay. NULL if out of memory."""
    cdef Py_ssize_t i, n = PyUnicode_GET_LENGTH(o)
    cdef int kind = PyUnicode_KIND(o)
    cdef void* data = PyUnicode_DATA(o)
    cdef uint8_t* start = sp_arena_alloc(scratch, 4 * n)
    cdef uint8_t* p = start
    if start == NULL:
        return NULL
    for i in range(n):
        p += sp_utf8_encode(PyUnicode_READ(kind, data, i), p)
    length[0] = p - start
    sp_arena_return(scratch, 4 * n - length[0])
    return start


cdef inline bint _text_key(sp_arena* scratch, PyObject* o, sp_key* key) noexcept:
    cdef size_t n = 0
    cdef const uint8_t* start = utf8_write(scratch, o, &n)
    if start == NULL:
        return False
    key[0] = sp_key_text(SP_KEY_STR, start, n)
    return True


cdef inline bint entry_key(sp_arena* scratch, PyObject* o, sp_key* key) noexcept:
    """The key of a name. False for other types, and if out of memory.

    The bytes of a long key are in the name itself or in scratch.
    """
    cdef Number number
    cdef Writing writing
    cdef int kind
    cdef bint written
    if is_str(o):
        return entry_key_everyday(o, key) or _text_key(scratch, o, key)
    if PyBytes_CheckExact(o):
        key[0] = sp_key_text(SP_KEY_BYTES, <const uint8_t*> bytes_data(o), bytes_size(o))
        return True
    if not (is_tuple(o) or o == NONE):
        kind = _number_of(o, &number)
        if kind == NUMBER_WHOLE and number.size < (<uint64_t> 1 << 61) - 1:
            key[0] = sp_key_word(SP_KEY_INT, 0 - number.size if number.negative else number.size)
            return True
        if kind == NUMBER_OTHER and not _is_large(number.value):
            key[0] = sp_key_word(SP_KEY_FLOAT, _bits(number.value))
            return number.value == number.value
        if kind == 0:
            kind = scalar_kind(o)
            if kind == SCALAR_BYTES:
                key[0] = sp_key_text(SP_KEY_BYTES, <const uint8_t*> bytes_data(o), bytes_size(o))
                return True
            return kind == SCALAR_STR and _text_key(scratch, o, key)
    writing.arena = scratch
    writing.start = writing.p = writing.end = NULL
    written = _write(&writing, o, TUPLE_DEPTH)
    sp_arena_return(scratch, writing.end - writing.p)
    if written:
        key[0] = sp_key_text(SP_KEY_CANONICAL, writing.start, writing.p - writing.start)
    return written


# --- Canonical bytes ----------------------------------------------------------------------------

cdef inline bint _room(Writing* writing, size_t n) noexcept:
    """Make room for n more bytes; what is written moves to a new place in the arena if needed."""
    cdef size_t written = writing.p - writing.start
    cdef size_t size = 2 * (written + n) + 64
    cdef uint8_t* start
    if <size_t> (writing.end - writing.p) >= n:
        return True
    start = sp_arena_alloc(writing.arena, size)
    if start == NULL:
        return False
    if written:
        memcpy(start, writing.start, written)
    writing.start = start
    writing.p = start + written
    writing.end = start + size
    return True


cdef inline void _write_byte(Writing* writing, uint8_t c) noexcept:
    writing.p[0] = c
    writing.p += 1


cdef inline bint _write_bytes(Writing* writing, uint8_t tag, const void* p, size_t n) noexcept:
    if not _room(writing, n + 11):
        return False
    writing.p = sp_canonical_count(writing.p, tag, n)
    memcpy(writing.p, p, n)
    writing.p += n
    return True


cdef inline bint _write_text(Writing* writing, PyObject* o) noexcept:
    cdef const uint8_t* text = ascii_text(o)
    cdef Py_ssize_t i, n = PyUnicode_GET_LENGTH(o)
    cdef size_t length = n
    cdef int kind
    cdef void* data
    cdef uint32_t c
    if text != NULL:
        return _write_bytes(writing, c's', text, n)
    kind = PyUnicode_KIND(o)
    data = PyUnicode_DATA(o)
    for i in range(n):
        c = PyUnicode_READ(kind, data, i)
        length += (c >= 0x80) + (c >= 0x800) + (c >= 0x10000)
    if not _room(writing, length + 11):
        return False
    writing.p = sp_canonical_count(writing.p, c's', length)
    for i in range(n):
        writing.p += sp_utf8_encode(PyUnicode_READ(kind, data, i), writing.p)
    return True


cdef inline bint _write_int(Writing* writing, bint negative, uint64_t size, int zeros) noexcept:
    """Write an int in base 16: the digits of its size, then zeros."""
    if not _room(writing, zeros + 28):
        return False
    writing.p = sp_canonical_int(writing.p, negative, size, zeros)
    return True


cdef inline uint64_t _bits(double value) noexcept:
    cdef uint64_t bits
    memcpy(&bits, &value, 8)
    return bits


cdef inline bint _is_large(double value) noexcept:
    """Whether a NUMBER_OTHER is a whole number: finite, and at least 2^63 in size."""
    return 9223372036854775808.0 <= fabs(value) <= 1.7976931348623157e308


cdef inline bint _write_other(Writing* writing, double value) noexcept:
    """Write a fraction or an infinity; a large whole number is written as the int it equals."""
    cdef uint64_t bits = _bits(value)
    cdef int power
    cdef uint8_t stored[8]
    if value != value:
        return False
    if _is_large(value):
        power = <int> (bits >> 52 & 0x7FF) - 1075
        return _write_int(
            writing, value < 0, (bits & 0xFFFFFFFFFFFFF | 0x10000000000000) << (power & 3),
            power >> 2)
    if not _room(writing, 9):
        return False
    sp_store8(stored, bits)
    _write_byte(writing, c'f')
    memcpy(writing.p, stored, 8)
    writing.p += 8
    return True


cdef inline bint _write(Writing* writing, PyObject* o, int depth) noexcept:
    """Write a name's canonical bytes, as part of a tuple."""
    cdef Number number
    cdef Py_ssize_t i
    cdef int kind
    if is_str(o):
        return _write_text(writing, o)
    if is_tuple(o):
        if depth == 0 or not _room(writing, 11):
            return False
        writing.p = sp_canonical_count(writing.p, c't', tuple_size(o))
        for i in range(tuple_size(o)):
            if not _write(writing, tuple_item(o, i), depth - 1):
                return False
        return True
    if o == NONE:
        if not _room(writing, 1):
            return False
        _write_byte(writing, c'n')
        return True
    if PyBytes_CheckExact(o):
        return _write_bytes(writing, c'b', bytes_data(o), bytes_size(o))
    kind = _number_of(o, &number)
    if kind == NUMBER_WHOLE:
        return _write_int(writing, number.negative, number.size, 0)
    if kind == NUMBER_OTHER:
        return _write_other(writing, number.value)
    kind = scalar_kind(o)
    if kind == SCALAR_BYTES:
        return _write_bytes(writing, c'b', bytes_data(o), bytes_size(o))
    return kind == SCALAR_STR and _write_text(writing, o)
