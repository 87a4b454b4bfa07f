"""Feature names that entry.pxd cannot read, as keys and back. Events as bytes.

The rules are those of streamptron.common.names. A ticket holds an event's bytes, which are read
like any other event.
"""

from decimal import Decimal
from sys import intern
from struct import error as struct_error

cimport cython
from libc.string cimport memcpy
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject

from streamptron.doors.entry cimport bytes_data, bytes_size, entry_key
from libc.stdint cimport uint64_t, uint8_t
from streamptron.engine.events cimport SP_UNFIT_NUMBER, sp_event
from streamptron.engine.memory cimport SP_VALUE_LIMIT, sp_arena
from streamptron.engine.names cimport (
    SP_KEY_BYTES, SP_KEY_CANONICAL, SP_KEY_FLOAT, SP_KEY_INT, SP_KEY_LONG, SP_KEY_OBJECT,
    SP_KEY_STR, sp_key, sp_key_bytes, sp_key_inline_bytes, sp_key_is_long, sp_key_kind,
    sp_key_length, sp_key_text, sp_key_word)
from streamptron.engine.exchange cimport (
    SP_PACKED_BEFORE, SP_PACKED_DEEP, SP_PACKED_OBJECT, sp_packed, sp_packed_next, sp_packed_size,
    sp_packed_write)

from streamptron.common.errors import ParameterError, plain
from streamptron.common.names import is_exact, is_mere, name_decode, name_plain

cdef extern from "Python.h":
    object PyUnicode_DecodeUTF8(const char* p, Py_ssize_t n, const char* errors)


cdef dict _readings = {}            # by type, for all types so far
cdef dict _exact = {}               # Names of Decimals and Fractions, which are slow to compare
cdef enum:
    READ_MERE, READ_EXACT, READ_PLAIN
    TYPES_MOST = 1 << 10
    EXACT_MOST = 1 << 15


@cython.freelist(64)
cdef class Name:
    """A name that needed Python code: the result of name_plain, or an ordinal."""


cdef Name _object(name):
    cdef Name made = Name.__new__(Name)
    made.kind, made.plain = SP_KEY_OBJECT, name
    return made


cdef Name _plain(name):
    cdef Name made = Name.__new__(Name)
    made.kind, made.plain = name_plain(name)
    return made


cdef Name _name_of_exact(name, type kind):
    """The Name of a Decimal or a Fraction. Equal ones have equal Names, so any of them will do."""
    cdef Name found
    try:
        found = _exact.get(name)
    except TypeError:               # a signaling NaN, which name_plain refuses
        found = None
    if found is None:
        found = _plain(name)
        if len(_exact) == EXACT_MOST:
            _exact.clear()
        # under a copy, so that the caller's object is not kept
        parts = (name.as_tuple(),) if kind is Decimal else name.as_integer_ratio()
        copied = kind(*parts)
        _exact[copied] = found if found.kind != SP_KEY_OBJECT else _object(copied)
    # an object stays as it is written: 0.1 or 0.10
    return found if found.kind != SP_KEY_OBJECT else _object(name)


cdef Name name_of(name):
    """The Name of a name, or an error that says what is wrong with it."""
    cdef type kind = type(name)
    reading = _readings.get(kind)
    if reading is None:
        if len(_readings) == TYPES_MOST:
            _readings.clear()
        reading = READ_MERE if is_mere(kind) else READ_EXACT if is_exact(kind) else READ_PLAIN
        _readings[kind] = reading
    if reading == READ_EXACT:
        return _name_of_exact(name, kind)
    return _object(name) if reading == READ_MERE else _plain(name)


cdef bint name_key(sp_arena* scratch, Name name, sp_key* key) except -1:
    """The key of a Name; False if out of memory."""
    cdef PyObject* plain = <PyObject*> name.plain
    cdef double number
    cdef uint64_t word
    if name.kind == SP_KEY_STR or name.kind == SP_KEY_BYTES:
        return entry_key(scratch, plain, key)
    if name.kind == SP_KEY_CANONICAL:
        key[0] = sp_key_text(
            SP_KEY_CANONICAL, <const uint8_t*> bytes_data(plain), bytes_size(plain))
        return True
    if name.kind == SP_KEY_FLOAT:
        number = name.plain
        memcpy(&word, &number, 8)
    else:
        word = <uint64_t> <long long> name.plain
    key[0] = sp_key_word(name.kind, word)
    return True


cdef class _Encoded:
    """A name that Python code still has to decode."""
    cdef bytes text

    def __cinit__(self, bytes text):
        self.text = text


cdef object key_plain(const sp_key* key, dict objects):
    """The name of a stored key, without running Python code: see named().

    `objects` maps ordinals to objects.
    """
    cdef uint64_t kind = sp_key_kind(key) & ~<uint64_t> SP_KEY_LONG
    cdef size_t n = sp_key_length(key)
    cdef uint8_t inside[16]
    cdef const char* p
    cdef double number
    if kind == SP_KEY_INT:
        return <long long> key.lo
    if kind == SP_KEY_FLOAT:
        memcpy(&number, &key.lo, 8)
        return number
    if kind == SP_KEY_OBJECT:
        if key.lo not in objects:
            raise damaged("a feature name refers to an object that is missing")
        return objects[key.lo]
    if sp_key_is_long(key):
        p = <const char*> sp_key_bytes(key)
    else:
        sp_key_inline_bytes(key, inside)
        p = <const char*> inside
    if kind == SP_KEY_STR:
        try:
            return PyUnicode_DecodeUTF8(p, n, "surrogatepass")
        except UnicodeDecodeError as error:
            raise damaged(f"a feature name is not UTF-8: {error}") from None
    text = PyBytes_FromStringAndSize(p, n)
    return text if kind == SP_KEY_BYTES else _Encoded(text)


def named(plain):
    """The name, given what key_plain returned."""
    if type(plain) is not _Encoded:
        return plain
    try:
        return name_decode((<_Encoded> plain).text)
    except _NO_NAME as error:
        raise damaged(f"a feature name is invalid: {error!r}") from None


cdef list all_named(list plain):
    """The same for a list."""
    for name in plain:
        if type(name) is _Encoded:
            return list(map(named, plain))
    return plain


# What name_decode raises if bytes are not a name; struct.error is not a subclass of the others.
_NO_NAME = (LookupError, ValueError, AssertionError, RecursionError, struct_error)


def damaged(why):
    """The error for a damaged file that is used in place, and so checked only as it is read."""
    from streamptron.common.errors import ModelFileError

    return ModelFileError(
        f"the file of the model is damaged: {why}; take another copy of the file, or an "
        "older checkpoint")


def interned(value):
    """Like interned in streamptron.common.names, but compiled: no other thread can interfere."""
    return intern(value) if type(value) is str else value


# --- An event in bytes

cdef class PackedEvent:
    """The entries of an event in bytes, as engine/exchange/packed.h writes them, all checked.

    Parameters
    ----------
    data
        The bytes; the first 16 are something else.
    start
        Where the entries start.
    n
        The number of entries. Afterwards `end` is where they end.
    """

    def __cinit__(self, bytes data not None, Py_ssize_t start, Py_ssize_t n):
        cdef Py_ssize_t i
        cdef sp_packed entry
        cdef const uint8_t* first = <const uint8_t*> bytes_data(<PyObject*> data)
        cdef const uint8_t* end = first + len(data)
        cdef const uint8_t* p = first + start
        cdef bint odd = False
        if not SP_PACKED_BEFORE <= start <= len(data) or n < 0:
            raise ValueError("it was cut off")
        for i in range(n):
            p = sp_packed_next(p, end, &entry)
            if p == NULL:
                raise ValueError(f"its feature {i} is invalid, or it was cut off")
            odd |= entry.kind == SP_KEY_OBJECT
        self.data = data
        self.start = start
        self.end = p - first
        self.n = n
        self.names = self._named() if odd else None

    cdef list _named(self):
        from streamptron.common.packed import object_name
        cdef sp_packed entry
        cdef const uint8_t* first = <const uint8_t*> bytes_data(<PyObject*> self.data)
        cdef const uint8_t* p = first + self.start
        cdef Py_ssize_t i
        cdef list names = []
        for i in range(self.n):
            p = sp_packed_next(p, first + self.end, &entry)
            if entry.kind == SP_KEY_OBJECT:
                names.append(object_name(PyBytes_FromStringAndSize(
                    <const char*> entry.name, entry.n)))
            else:
                names.append(named(key_plain(&entry.key, {})))
            names.append(entry.value)
        return names


cdef bytes event_bytes_of(const sp_event* event, Py_ssize_t first, Py_ssize_t last):
    """Entries of an event as bytes; None: a name is an object. No Python code runs."""
    cdef Py_ssize_t size = sp_packed_size(event, first, last)
    if size == SP_PACKED_OBJECT:
        return None
    if size == SP_PACKED_DEEP:
        raise TypeError(
            "x has a feature name of tuples nested too deeply for a ticket; give it another name")
    data = PyBytes_FromStringAndSize(NULL, size)
    sp_packed_write(event, first, last, <uint8_t*> bytes_data(<PyObject*> data))
    return data


cdef object unfit(const sp_event* event, str part):
    """The error for an event, or a part of one, whose features cannot be paired."""
    if event.unfit == SP_UNFIT_NUMBER:
        return ParameterError(
            "max_pairs", event.most_pairs, f"at least {event.n_pairs}",
            f"{plain(part)} makes {event.n_pairs} pairs of features, more than {{max_pairs}}; "
            "raise {max_pairs!s}, pair only some fields by {interactions!s}, or give fewer "
            "features")
    return ValueError(
        f"{part} makes a pair of features whose product is more than {SP_VALUE_LIMIT:g} in size; "
        "scale the values first")
