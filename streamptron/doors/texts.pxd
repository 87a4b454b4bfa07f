# Texts, one or many.

from streamptron.doors.rows cimport Column, Rows
from libc.stdint cimport uint64_t
from streamptron.engine.events cimport sp_ahead, sp_event, sp_text, sp_text_rule
from streamptron.engine.memory cimport sp_arena
from streamptron.engine.names cimport sp_index, sp_piece, sp_seed


cdef int text_event_write(
    sp_text* scratch, sp_event* event, const sp_index* index, bint intercept, TextEvent x) noexcept


cdef class TextDoor:
    cdef sp_text_rule rule
    cdef sp_piece* prefixes
    cdef int n_pieces               # texts per event
    cdef tuple names                # of the fields, or None
    cdef list held                  # what the prefixes point into
    cdef readonly object analyzer, ngram_range, lowercase, separators, min_length, max_length
    cdef readonly object fold_numbers, value, normalize, fields

    cdef int _take_separators(self, str separators) except -1
    cdef int _take_names(self) except -1
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
    cdef sp_piece* pieces
    cdef sp_arena encoded              # UTF-8 of what is neither ASCII nor bytes
    cdef sp_ahead ahead                # the events that are written already

    cdef int _room(self, Py_ssize_t n) except -1
    cdef int _take(self, Py_ssize_t n) except -1
    cdef int _take_column(self, Column column) except -1
    cdef object _text(self, Py_ssize_t row)
    cdef void _write_ahead(self, const sp_seed* seed, uint64_t seed_number) noexcept
