"""Feature names as keys, and back: the names that entry.pxd cannot read.

The rules are those of streamptron.estimator.names.
"""

from struct import error as struct_error
from sys import intern

from libc.string cimport memcpy
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject

from streamptron.doors.entry cimport bytes_data, bytes_size, entry_key
from streamptron.engine.arena cimport Arena
from streamptron.engine.key cimport (
    KEY_BYTES, KEY_CANONICAL, KEY_FLOAT, KEY_INT, KEY_LONG, KEY_OBJECT, KEY_STR, Key, key_bytes,
    key_inline_bytes, key_is_long, key_kind, key_length, key_text, key_word)
from streamptron.engine.types cimport uint8_t, uint64_t

from streamptron.estimator.names import name_decode, name_plain

cdef extern from "Python.h":
    object PyUnicode_DecodeUTF8(const char* p, Py_ssize_t n, const char* errors)


cdef class Name:
    """A name that needed Python code: the answer of name_plain, or an ordinal."""

    def __cinit__(self, name):
        self.kind, self.plain = name_plain(name)


cdef bint name_key(Arena* scratch, Name name, Key* key) except -1:
    """The key of a Name; False without memory."""
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


cdef class _Encoded:
    """A name that Python code still has to decode."""
    cdef bytes text

    def __cinit__(self, bytes text):
        self.text = text


cdef object key_plain(const Key* key, dict objects):
    """The name of a stored key, without running Python code: see named().

    `objects` maps ordinals to objects.
    """
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
            raise damaged("a feature name refers to an object that is missing")
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
            raise damaged(f"a feature name is not UTF-8: {error}") from None
    text = PyBytes_FromStringAndSize(p, n)
    return text if kind == KEY_BYTES else _Encoded(text)


def named(plain):
    """The name, given what key_plain returned."""
    if type(plain) is not _Encoded:
        return plain
    try:
        return name_decode((<_Encoded> plain).text)
    except _NO_NAME as error:
        raise damaged(f"a feature name is invalid: {error!r}") from None


# What name_decode raises if bytes are not a name; struct.error is none of the others.
_NO_NAME = (LookupError, ValueError, AssertionError, RecursionError, struct_error)


def damaged(why):
    """The error of a model used in place in a file, which is only checked where it is read."""
    from streamptron.modelfile.layout import ModelFileError

    return ModelFileError(
        f"the file of the model is damaged: {why}; take another copy of the file, or an "
        "older checkpoint")


def interned(value):
    """An interned str, which is the same object as an equal name in the code.

    Pickle writes each object once, so without this equal models could have different bytes.
    """
    return intern(value) if type(value) is str else value
