"""What is kept for later: an event in bytes, and which steps can be taken back.

A ticket holds the bytes, which are read like any other event.

A model gives its steps the number of the event, and the mark of a segment: a random number drawn
when the first such step is taken. A copy, a pickle and a file have the segments so far, each with
the number at which it ended there, and begin one of their own with their next step. So a step is
known to whatever went on from the model that took it, and to nothing else; a copy that has gone
another way does not know it. A segment takes a few bytes for each time the model was loaded, and a
step taken back some bytes for good.
"""

import os

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject

from streamptron.doors.entry cimport bytes_data
from streamptron.doors.names cimport key_plain
from libc.stdint cimport uint8_t
from streamptron.engine.events cimport sp_event
from streamptron.engine.names cimport SP_KEY_OBJECT
from streamptron.engine.whole cimport (
    SP_PACKED_BEFORE, SP_PACKED_DEEP, SP_PACKED_OBJECT, sp_packed, sp_packed_next, sp_packed_size,
    sp_packed_write)

from streamptron.doors.names import named

_BITS = 48                      # of a mark: JSON of every kind holds such numbers


# --- An event in bytes

cdef class PackedEvent:
    """Entries as engine/whole/packed.h writes them, from a place in bytes on, all of them checked.

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
        from streamptron.estimator.packed import object_name
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
            "x has a feature name of tuples nested too deeply for a ticket; name it otherwise")
    data = PyBytes_FromStringAndSize(NULL, size)
    sp_packed_write(event, first, last, <uint8_t*> bytes_data(<PyObject*> data))
    return data


# --- Which steps a model has taken

def past_mark():
    """A mark for a segment that may begin. Drawing one lets other threads run."""
    return int.from_bytes(os.urandom(_BITS // 8), "little")


cdef class Past:
    """The segments of a model's past, and the steps that were taken back.

    It is compiled so that no other thread runs in the midst of a call; `mark` is called by whom the
    gate has let in to learn.
    """
    cdef dict segments          # mark -> the number at which it ended
    cdef set undone             # numbers of events
    cdef object own             # the mark of the segment that goes on here, or None

    def __cinit__(self):
        self.segments = {}
        self.undone = set()

    def mark(self, drawn):
        """The mark of the step about to be taken; `drawn` if a segment begins with it."""
        if self.own is None:
            self.own = drawn
        return self.own

    def knows(self, mark, number):
        """Whether the step is one of this model's."""
        return mark == self.own or number < self.segments.get(mark, 0)

    def is_undone(self, number):
        return number in self.undone

    def undo(self, number):
        self.undone.add(number)

    def ended(self, n_seen):
        """What a copy has: every segment has ended, the last one at this number."""
        cdef Past past = Past()
        past.segments = dict(self.segments)
        if self.own is not None:
            past.segments[self.own] = n_seen
        past.undone = set(self.undone)
        return past

    def state(self):
        """Plain values, of one whose segments have all ended."""
        return tuple(self.segments.items()), tuple(sorted(self.undone))

    @classmethod
    def of(cls, state, n_seen):
        """The one whose state this is; ValueError if it contradicts itself."""
        cdef Past past = Past()
        segments, undone = state
        past.segments = dict(segments)
        past.undone = set(undone)
        if not (len(past.segments) == len(segments) and len(past.undone) == len(undone)
                and all([_is_below(mark, 1 << _BITS) for mark in past.segments])
                and all([_is_below(end, n_seen + 1) for end in past.segments.values()])
                and all([_is_below(number, n_seen) for number in undone])):
            raise ValueError("the record of steps that can be taken back is invalid")
        return past


cdef bint _is_below(number, limit) except -1:
    return type(number) is int and 0 <= number < limit
