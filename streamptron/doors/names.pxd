# Feature names as keys and back, where Python code is needed.

from streamptron.engine.memory cimport sp_arena
from streamptron.engine.names cimport sp_key


cdef class Name:
    cdef int kind
    cdef object plain


cdef Name name_of(name)
cdef bint name_key(sp_arena* scratch, Name name, sp_key* key) except -1
cdef object key_plain(const sp_key* key, dict objects)
