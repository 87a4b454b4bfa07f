# What doors take of engine/exchange/, and of other wings: whole learners. The headers say what each
# of it is.

from libc.stdint cimport uint32_t, uint64_t, uint8_t
from streamptron.engine.events cimport sp_event
from streamptron.engine.file cimport sp_array, sp_fault
from streamptron.engine.memory cimport sp_slot_type
from streamptron.engine.names cimport sp_index, sp_key
from streamptron.engine.path cimport sp_learner

cdef extern from "merge/shard.h" nogil:
    enum:
        SP_SHARD_KEY
        SP_SHARD_MEMORY

    ctypedef struct sp_shard:
        const sp_learner *learner
        double n
        sp_slot_type n_slots
        sp_slot_type first
        const sp_index *base
        size_t n_objects
        const uint32_t *stamps


cdef extern from "exchange/join.h" nogil:
    ctypedef struct sp_joined:
        sp_shard shard
        const char *name
        const uint32_t *labels
        uint32_t n_labels
        const uint32_t *objects

    int sp_sides_join(sp_learner *to, const sp_joined *sides, int n, Py_ssize_t n_labels,
                      sp_fault *fault) noexcept


cdef extern from "exchange/delta.h" nogil:
    ctypedef struct sp_delta:
        size_t n_shapes

    int sp_delta_digest(const sp_shard *shard, const uint8_t *called, size_t n,
                        uint64_t *h) noexcept
    void sp_delta_free(sp_delta *delta) noexcept
    int sp_delta_overlay(sp_delta *delta, sp_learner *learner, const sp_learner *base,
                         Py_ssize_t n_outputs, size_t n_objects, int depth,
                         sp_shard *shard) noexcept
    int sp_delta_measure(sp_delta *delta, sp_shard *shard, const sp_shard *base) noexcept
    void sp_delta_write(const sp_delta *delta, const sp_shard *shard, const sp_shard *base) noexcept


cdef extern from "file/delta.h" nogil:
    void sp_delta_shapes(const sp_delta *delta, const sp_learner *learner,
                         sp_array *shapes) noexcept
    const char *sp_delta_use(sp_delta *delta, const sp_learner *learner, void **p,
                             const size_t *n) noexcept
    const char *sp_delta_words(int wrong) noexcept


cdef extern from "exchange/packed.h" nogil:
    enum:
        SP_PACKED_BEFORE
        SP_PACKED_DEEP
        SP_PACKED_OBJECT

    ctypedef struct sp_packed:
        int kind
        sp_key key
        double value
        const uint8_t *name
        size_t n

    const uint8_t *sp_packed_next(const uint8_t *p, const uint8_t *end, sp_packed *entry) noexcept
    Py_ssize_t sp_packed_size(const sp_event *event, Py_ssize_t first, Py_ssize_t last) noexcept
    void sp_packed_write(const sp_event *event, Py_ssize_t first, Py_ssize_t last,
                         uint8_t *p) noexcept


cdef extern from "rows/marks.h" nogil:
    enum:
        SP_MARKS_MEMORY
