# Widths, units and layouts that every room shares.
#
# An event is a handful of (row, value) pairs. A feature's *key* (its name) is turned into a *row*
# number by the index; the row number is all that the weights know of it. Three rows are special:
#
#     row 0   the null row: no feature, all weights zero, never written. A feature that the model
#             has not met scores there, so that reading needs no branch.
#     row 1   the intercept: a feature of value 1 that every event begins with (if asked for).
#     row 2.. the features, in the order in which they were first updated.
#
# Everything under _core.pyx is `noexcept nogil` and trusts its arguments; what may be wrong has
# been settled at the door. The one thing that can fail is memory: functions that allocate return
# -1, and learner_commit has changed nothing then.

from libc.stdint cimport uint8_t, uint32_t, uint64_t, uintptr_t

ctypedef uint32_t row_t

cdef enum:
    ROW_NULL = 0
    ROW_INTERCEPT = 1
    ROWS_RESERVED = 2

    CHUNK_BITS = 8                  # rows live in chunks of 256 that never move
    CHUNK_ROWS = 1 << CHUNK_BITS
    CHUNK_MASK = CHUNK_ROWS - 1

cdef extern from "compiler.h":
    const row_t ROW_MAX "SP_ROW_MAX"
    const double VALUE_LIMIT "SP_VALUE_LIMIT"
    void prefetch "sp_prefetch" (const void* address) noexcept nogil
    void prefetch_lines "sp_prefetch_lines" (const void* start, size_t size) noexcept nogil
    int zeros_below "sp_zeros_below" (uint64_t word) noexcept nogil
