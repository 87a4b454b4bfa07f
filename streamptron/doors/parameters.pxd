# Parameters as the core takes them.

from streamptron.engine.events cimport sp_event, sp_field, sp_pairs
from streamptron.engine.linear cimport sp_rule


cdef sp_rule rule_of(int kind, dict params, tuple updates) except *


cdef class PairRule:
    cdef int degree
    cdef readonly tuple interactions
    cdef sp_pairs rule
    cdef sp_field* fields
    cdef list held                  # what the names of fields point into

    cdef int _take_fields(self) except -1
    cdef const sp_pairs* pairs(self) noexcept


cdef PairRule pairing_of(int kind, dict params)
cdef str unfit(const sp_event* event)
