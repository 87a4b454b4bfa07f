# What a rule may keep beside a weight: the kinds, which keep.h explains.

cdef extern from "keep.h":
    enum:
        KEEP_NONE "SP_KEEP_NONE"
        KEEP_PRECISION "SP_KEEP_PRECISION"

    double keep_share "sp_keep_share" (int keep, double x, double k) noexcept nogil
