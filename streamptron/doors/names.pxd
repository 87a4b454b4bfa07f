# Feature names as keys and back, where Python code is needed; an event in bytes.

from streamptron.engine.events cimport sp_event
from streamptron.engine.memory cimport sp_arena
from streamptron.engine.names cimport sp_key


cdef class Name:
    cdef int kind
    cdef object plain


cdef Name name_of(name)
cdef bint name_key(sp_arena* scratch, Name name, sp_key* key) except -1
cdef object key_plain(const sp_key* key, dict objects)
cdef list all_named(list plain)


cdef class PackedEvent:
    cdef readonly bytes data        # what the entries lie in
    cdef readonly Py_ssize_t start, end
    cdef readonly Py_ssize_t n      # entries
    cdef list names                 # names and values in turn, if a name is an object

    cdef list _named(self)


cdef bytes event_bytes_of(const sp_event* event, Py_ssize_t first, Py_ssize_t last)
cdef object unfit(const sp_event* event, str part)
