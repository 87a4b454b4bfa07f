# Widths, units and layouts that every room shares.
#
# An event is a list of (slot, value) pairs. The index turns a feature's *key* (its name) into a
# *slot* number, which is all that the weights know of it. The slots are numbered like this:
#
#     slot 0    the null slot: no feature, all weights zero, never written. A feature that the model
#               has not met is scored there, so that reading needs no branch.
#     slot 1    the intercept: a feature of value 1 with which every event begins (if asked for).
#     slot 2.. the features, in the order in which they were first updated.
#
# Everything under _core.pyx is `noexcept nogil` and trusts its arguments: the door has checked
# them. Only allocation can fail. Functions that allocate return -1 then, and learner_commit has
# changed nothing.

from libc.stdint cimport uint8_t, uint32_t, uint64_t, uintptr_t

ctypedef uint32_t slot_t

cdef enum:
    SLOT_NULL = 0
    SLOT_INTERCEPT = 1
    SLOTS_RESERVED = 2

    CHUNK_BITS = 8                  # slots live in chunks of 256 that never move
    CHUNK_SLOTS = 1 << CHUNK_BITS
    CHUNK_MASK = CHUNK_SLOTS - 1

cdef extern from "compiler.h":
    const slot_t SLOT_MAX "SP_SLOT_MAX"
    const double VALUE_LIMIT "SP_VALUE_LIMIT"
    void prefetch "sp_prefetch" (const void* address) noexcept nogil
    void prefetch_lines "sp_prefetch_lines" (const void* start, size_t size) noexcept nogil
    int zeros_below "sp_zeros_below" (uint64_t word) noexcept nogil
