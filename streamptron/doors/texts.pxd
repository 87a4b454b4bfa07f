# Texts, one or many.

from streamptron.doors.arrow cimport Column
from streamptron.doors.rows cimport Rows
from streamptron.engine.ahead cimport Ahead
from streamptron.engine.arena cimport Arena
from streamptron.engine.event cimport Event
from streamptron.engine.hash cimport Seed
from streamptron.engine.index cimport Index
from streamptron.engine.scan cimport Piece
from streamptron.engine.text cimport Text, TextRule
from streamptron.engine.types cimport uint32_t, uint64_t


cdef bint page_fill(uint32_t page) noexcept
cdef Py_ssize_t text_event_write(
    Text* scratch, Event* event, const Index* index, bint intercept, TextEvent x) noexcept


cdef class TextDoor:
    cdef TextRule rule
    cdef Piece* prefixes
    cdef int n_pieces               # texts per event
    cdef tuple names                # of the fields, or None
    cdef list held                  # what the prefixes point into
    cdef readonly object analyzer, ngram_range, lowercase, separators, min_length, max_length
    cdef readonly object fold_numbers, value, normalize, fields

    cdef object _texts(self, x)
    cdef object _row_texts(self, Py_ssize_t row, x)


cdef class TextEvent:
    cdef TextDoor door
    cdef object text                # str or bytes; with fields a tuple of these
    cdef dict _features

    cdef bint _is(self, TextEvent other)
    cdef dict _dict(self)


cdef class Texts(Rows):
    cdef TextDoor door
    cdef object texts               # what the pieces point into
    cdef readonly object source
    cdef Piece* pieces
    cdef Arena encoded              # UTF-8 of what is neither ASCII nor bytes
    cdef Ahead ahead                # the events that are written already

    cdef int _room(self, Py_ssize_t n) except -1
    cdef int _take(self, Py_ssize_t n) except -1
    cdef int _take_column(self, Column column) except -1
    cdef object _text(self, Py_ssize_t row)
    cdef void _write_ahead(self, const Seed* seed, uint64_t seed_number) noexcept


cdef class Lines(Texts):
    cdef int kind
    cdef readonly list labels, faults
    cdef readonly object numbers, line_numbers
    cdef readonly Py_ssize_t n_lines, n_blank
    cdef readonly bint replaced
