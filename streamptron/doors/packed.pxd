# An event in bytes: what a ticket holds, to be read like any other event.

from streamptron.engine.event cimport Event
from streamptron.engine.types cimport uint8_t


cdef class PackedEvent:
    cdef readonly bytes data        # what the entries lie in
    cdef readonly Py_ssize_t start, end
    cdef readonly Py_ssize_t n      # entries
    cdef list names                 # names and values in turn, if a name is an object

    cdef list _named(self)

cdef bytes event_bytes_of(const Event* event, Py_ssize_t first, Py_ssize_t last)
