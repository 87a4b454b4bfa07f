# Parameters as the core takes them.

from streamptron.engine.event cimport Event
from streamptron.engine.pairs cimport Field, Pairs
from streamptron.engine.rule cimport Rule


cdef Rule rule_of(int kind, dict params, tuple updates) except *


cdef class PairRule:
    cdef int degree
    cdef readonly tuple interactions
    cdef Pairs rule
    cdef Field* fields
    cdef list held                  # what the names of fields point into

    cdef int _take_fields(self) except -1
    cdef const Pairs* pairs(self) noexcept


cdef PairRule pairing_of(int kind, dict params)
cdef str unfit(const Event* event)
