# The loops over slots, as Cython sees them: kernels.h says what each of them does.

from libc.stdint cimport int32_t
from streamptron.engine.types cimport slot_t, uint32_t

cdef extern from "kernels.h":
    enum:
        AVERAGE_NONE "SP_AVERAGE_NONE"
        AVERAGE_UNIFORM "SP_AVERAGE_UNIFORM"
        AVERAGE_EXPONENTIAL "SP_AVERAGE_EXPONENTIAL"
        LANES "SP_LANES"            # outputs in a block when there are several
        SLOT_MOST "SP_SLOT_MOST"    # doubles of the widest slot
        FOLD_BITS "SP_FOLD_BITS"
        SUM_W "SP_SUM_W"
        SUM_V "SP_SUM_V"
        SUM_P "SP_SUM_P"
        SUMS "SP_SUMS"

    const int BLOCKS_AT_ONCE "SP_BLOCKS_AT_ONCE"        # 0: not with this compiler
    const int AHEAD "SP_AHEAD"
    double* ZEROS "sp_zeros"

    ctypedef struct Layout "sp_layout":
        int v
        int p
        int e
        int k
        int fields
        int keep

    ctypedef struct Slots "sp_slots":       # as the kernels see it
        double** chunks
        uint32_t* folds

    ctypedef struct Clock "sp_clock":
        int average
        double c
        double s
        uint32_t fold
        double epoch

    ctypedef struct Entries "sp_entries":
        const slot_t* slots
        const uint32_t* columns
        const int32_t* places
        const double* x
        Py_ssize_t n

    ctypedef struct Lanes "sp_lanes":        # what a step moves of a block
        int m
        int* lane
        double* a
        double* second
        double r

    Layout layout_of "sp_layout_of" (int average, bint pocket, int keep) noexcept nogil
    double average_of "sp_average" (Clock clock, int average, double w, double v) noexcept nogil
    double average_kept "sp_average_kept" (
        Slots block, Clock clock, slot_t slot, int average, const double* field,
        Layout layout) noexcept nogil
    double pocket_kept "sp_pocket_kept" (
        Clock clock, const double* field, Layout layout) noexcept nogil
    void sum_pair "sp_sum_pair" (
        double*** chunks, const Entries* entries, bint intercept, Py_ssize_t ahead,
        double* sums) noexcept nogil
    void sum_blocks "sp_sum_blocks" (
        int g, double*** chunks, const Entries* entries, Py_ssize_t ahead,
        double* sums) noexcept nogil
    void sum_one "sp_sum_one" (
        const Slots* block, const Clock* clock, const Entries* entries, bint intercept,
        double* sums, const Layout* layout) noexcept nogil
    void sum_several "sp_sum_several" (
        const Slots* block, const Clock* clock, const Entries* entries, double* sums,
        const Layout* layout, bint far) noexcept nogil
    void second_one "sp_second_one" (
        const Slots* block, const Clock* clock, const Entries* entries, bint intercept,
        double* second, const Layout* layout) noexcept nogil
    void second_several "sp_second_several" (
        const Slots* block, const Clock* clock, const Entries* entries, const int* lane,
        double* second, int m, const Layout* layout) noexcept nogil
    void add_one "sp_add_one" (
        const Slots* block, const Clock* clock, const Entries* entries, bint intercept,
        const Lanes* step, const Layout* layout) noexcept nogil
    void add_several "sp_add_several" (
        const Slots* block, const Clock* clock, const Entries* entries, const Lanes* step,
        const Layout* layout) noexcept nogil
    void catch_up "sp_catch_up" (
        double* chunk, uint32_t behind, int lanes, const Layout* layout) noexcept nogil
    double size_one "sp_size_one" (
        const Slots* block, const Clock* clock, slot_t slot, double size,
        const Layout* layout) noexcept nogil
    double size_several "sp_size_several" (
        const Slots* block, const Clock* clock, slot_t slot, double size,
        const Layout* layout) noexcept nogil
