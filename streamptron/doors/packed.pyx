"""An event in bytes: what a ticket holds, to be read like any other event."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject

from streamptron.doors.entry cimport bytes_data
from streamptron.doors.names cimport key_plain
from streamptron.engine.event cimport Event
from streamptron.engine.key cimport KEY_OBJECT
from streamptron.engine.packed cimport (
    PACKED_BEFORE, PACKED_DEEP, PACKED_OBJECT, Packed, packed_next, packed_size, packed_write)
from streamptron.engine.types cimport uint8_t

from streamptron.doors.names import named


cdef class PackedEvent:
    """Entries as engine/packed.pxd writes them, from a place in bytes on, all of them checked.

    Parameters
    ----------
    data
        Bytes, of which the first sixteen are something else.
    start
        Where the entries start.
    n
        How many there are. Afterwards `end` is where they end.
    """

    def __cinit__(self, bytes data not None, Py_ssize_t start, Py_ssize_t n):
        cdef Py_ssize_t i
        cdef Packed entry
        cdef const uint8_t* first = <const uint8_t*> bytes_data(<PyObject*> data)
        cdef const uint8_t* end = first + len(data)
        cdef const uint8_t* p = first + start
        cdef bint odd = False
        if not PACKED_BEFORE <= start <= len(data) or n < 0:
            raise ValueError("it was cut off")
        for i in range(n):
            p = packed_next(p, end, &entry)
            if p == NULL:
                raise ValueError(f"its feature {i} is invalid, or it was cut off")
            odd |= entry.kind == KEY_OBJECT
        self.data = data
        self.start = start
        self.end = p - first
        self.n = n
        self.names = self._named() if odd else None

    cdef list _named(self):
        from streamptron.estimator.packed import object_name
        cdef Packed entry
        cdef const uint8_t* first = <const uint8_t*> bytes_data(<PyObject*> self.data)
        cdef const uint8_t* p = first + self.start
        cdef Py_ssize_t i
        cdef list names = []
        for i in range(self.n):
            p = packed_next(p, first + self.end, &entry)
            if entry.kind == KEY_OBJECT:
                names.append(object_name(PyBytes_FromStringAndSize(
                    <const char*> entry.name, entry.n)))
            else:
                names.append(named(key_plain(&entry.key, {})))
            names.append(entry.value)
        return names


cdef bytes event_bytes_of(const Event* event, Py_ssize_t first, Py_ssize_t last):
    """Entries of an event as bytes; None: a name is an object. No Python code runs."""
    cdef Py_ssize_t size = packed_size(event, first, last)
    if size == PACKED_OBJECT:
        return None
    if size == PACKED_DEEP:
        raise TypeError(
            "x has a feature name of tuples nested too deeply for a ticket; name it otherwise")
    data = PyBytes_FromStringAndSize(NULL, size)
    packed_write(event, first, last, <uint8_t*> bytes_data(<PyObject*> data))
    return data
