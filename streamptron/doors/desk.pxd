# The desk: a learner behind its gate, and the scratch where the current event is written.

from streamptron.doors.gate cimport Gate
from streamptron.doors.names cimport Name, PackedEvent
from streamptron.engine.events cimport sp_event, sp_text
from streamptron.engine.path cimport sp_learner

cdef extern from "debug.h":
    const bint DEBUG "SP_DEBUG"


cdef class EventDoor:
    cdef sp_learner learner
    cdef sp_event event             # scratch
    cdef sp_text text               # scratch
    cdef Gate gate
    cdef object _text_read          # the last text in scratch, a TextEvent
    cdef dict _objects              # feature names that are other objects -> ordinal
    cdef bint _objects_new          # some were numbered for the current event
    cdef object _held               # what the keys in scratch point into

    # For other people's code that learns without the interpreter's lock, see docs/threads.md.
    cdef int learn_begin(self) except -1
    cdef void learn_end(self) noexcept

    cdef int _enter(self, bint learning) except -1
    cdef int _not_in_a_file(self) except -1
    cdef int _read(self, x, bint learning) except -1
    cdef int _read_text(self, x, bint learning) except -1
    cdef int _read_packed(self, PackedEvent x, bint learning) except -1
    cdef int _read_items(self, x, bint learning, str what=*) except -1
    cdef int _read_candidates(self, list names, list candidates, bint learning) except -1
    cdef int _write_read(self, list entries, str what, list names, list ends,
                         bint learning) except -1
    cdef int _name_categories(self, list entries, list odd, str what, list names,
                              list ends) except -1
    cdef list _write(self, list entries, list ends, bint learning)
    cdef object _column_keys(self, names, bint learning, sp_event* columns)
    cdef Name _name_of(self, name, str what)
    cdef Name _object_name(self, name, bint learning)
    cdef int _no_memory(self, str what, list names=*) except -1
    cdef int _forget_objects(self) except -1
    cdef int _score(self, x) except -1
    cdef int _check_scores(self) except -1
    cdef int _settle(self) except -1
    cdef list _label_list(self)
    cdef void _put_labels(self) noexcept
    cdef int _look(self) except -1
