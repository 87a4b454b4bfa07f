# Feature names as keys and back, where Python code is needed.

from streamptron.engine.arena cimport Arena
from streamptron.engine.key cimport Key


cdef class Name:
    cdef int kind
    cdef object plain


cdef bint name_key(Arena* scratch, Name name, Key* key) except -1
cdef object key_plain(const Key* key, dict objects)
