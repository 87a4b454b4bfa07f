# An event in bytes: what a ticket holds, to be read like any other event.

from libc.stdint cimport uint8_t
from streamptron.engine.events cimport sp_event


cdef class PackedEvent:
    cdef readonly bytes data        # what the entries lie in
    cdef readonly Py_ssize_t start, end
    cdef readonly Py_ssize_t n      # entries
    cdef list names                 # names and values in turn, if a name is an object

    cdef list _named(self)

cdef bytes event_bytes_of(const sp_event* event, Py_ssize_t first, Py_ssize_t last)
