# The desk: a learner behind its gate, and the scratch where the current event is written.

from streamptron.doors.gate cimport Gate
from streamptron.doors.packed cimport PackedEvent
from streamptron.doors.texts cimport TextEvent
from streamptron.engine.event cimport Event
from streamptron.engine.learner cimport Learner
from streamptron.engine.text cimport Text

cdef extern from "debug.h":
    const bint DEBUG "SP_DEBUG"


cdef bint finite_scores(const Learner* learner, const Event* event) noexcept


cdef class Desk:
    cdef Learner learner
    cdef Event event                # scratch
    cdef Text text                  # scratch
    cdef Gate gate
    cdef TextEvent _text_read       # the last text in scratch
    cdef dict _objects              # feature names that are other objects -> ordinal
    cdef bint _objects_new          # some were numbered for the current event
    cdef object _held               # what the keys in scratch point into

    cdef int _enter(self, bint learning) except -1
    cdef int _not_in_a_file(self) except -1
    cdef int _read(self, x, bint learning) except -1
    cdef int _read_text(self, TextEvent x, bint learning) except -1
    cdef int _read_packed(self, PackedEvent x, bint learning) except -1
    cdef int _read_items(self, x, bint learning, str what=*) except -1
    cdef int _read_candidates(self, list names, list candidates, bint learning) except -1
    cdef int _write_read(self, list entries, str what, list names, list ends,
                         bint learning) except -1
    cdef list _write(self, list entries, list ends, bint learning)
    cdef object _column_keys(self, names, bint learning, Event* columns)
    cdef tuple _object_ordinal(self, name, bint learning)
    cdef int _no_memory(self, str what, list names=*) except -1
    cdef int _forget_objects(self) except -1
    cdef int _score(self, x) except -1
    cdef int _settle(self) except -1
    cdef list _label_list(self)
    cdef void _put_labels(self) noexcept
    cdef int _look(self) except -1
