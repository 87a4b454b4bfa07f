# What doors take of engine/exchange/, and of other wings: whole learners. The headers say what each
# of it is.

from libc.stdint cimport int32_t, uint32_t, uint64_t, uint8_t
from streamptron.engine.events cimport sp_event
from streamptron.engine.linear cimport sp_table
from streamptron.engine.file cimport sp_array, sp_fault
from streamptron.engine.memory cimport sp_slot_type
from streamptron.engine.names cimport sp_index, sp_key, sp_seed
from streamptron.engine.path cimport sp_learner
from streamptron.engine.voted cimport sp_voters

cdef extern from "table/arrays.h" nogil:
    enum:
        SP_ARRAYS_CHUNK
        SP_ARRAYS_DEPTH
        SP_ARRAYS_KEY
        SP_ARRAYS_MEMORY
        SP_ARRAYS_NOBODYS
        SP_ARRAYS_SLOT
        SP_ARRAYS_TEXTS
        SP_ARRAYS_TWICE
        SP_ARRAYS_WEIGHT

    ctypedef struct sp_arrays:
        size_t n_weights
        size_t n_chunks
        size_t n_keys
        size_t n_texts
        size_t n_words
        size_t n_stored
        double *weights
        uint32_t *chunks
        sp_key *keys
        uint8_t *texts
        uint32_t *words
        uint32_t *stamps
        uint32_t *slots
        sp_seed seed

    void sp_arrays_free(sp_arrays *flat) noexcept
    void sp_arrays_lookup(sp_arrays *flat) noexcept
    int sp_arrays_map(sp_arrays *flat, sp_index *index, sp_table *table,
                      Py_ssize_t n_outputs) noexcept
    int sp_arrays_measure(sp_arrays *flat, const sp_index *index, const sp_table *table) noexcept
    int sp_arrays_read(sp_arrays *flat, sp_index *index, sp_table *table, Py_ssize_t n_outputs,
                       size_t n_objects, int depth) noexcept
    bint sp_arrays_too_deep(const sp_arrays *flat, int depth) noexcept
    void sp_arrays_write(sp_arrays *flat, const sp_index *index, const sp_table *table) noexcept


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

cdef extern from "wide/arrays.h" nogil:
    enum:
        SP_ENTRIES_WIDTH

    int sp_entries_map(sp_learner *learner, const uint64_t *entries, size_t n) noexcept
    size_t sp_entries_measure(const sp_learner *learner, const sp_arrays *flat) noexcept
    int sp_entries_read(sp_learner *learner, const uint64_t *entries, size_t n) noexcept
    void sp_entries_write(const sp_learner *learner, sp_arrays *flat, uint64_t *entries) noexcept
    bint sp_learner_is_wide(const sp_learner *learner) noexcept
    int sp_learner_widen(sp_learner *learner) noexcept


cdef extern from "exchange/shaped.h" nogil:
    enum:
        SP_SHAPES_MEMORY
    bint sp_learner_is_shaped(const sp_learner *learner) noexcept
    size_t sp_shaped_measure(const sp_learner *learner) noexcept
    void sp_shaped_write(const sp_learner *learner, uint32_t *words) noexcept
    int sp_shaped_read(sp_learner *learner, const uint32_t *words, size_t n) noexcept

cdef extern from "exchange/label_rows.h" nogil:
    bint sp_learner_has_rows(const sp_learner *learner) noexcept
    size_t sp_label_rows_measure(const sp_learner *learner, const sp_arrays *flat) noexcept
    void sp_label_rows_write(const sp_learner *learner, sp_arrays *flat, uint32_t *marks) noexcept
    int sp_label_rows_read(sp_learner *learner, const uint32_t *marks, size_t n) noexcept
    int sp_label_rows_map(sp_learner *learner, const uint32_t *marks, size_t n) noexcept


cdef extern from "sets/arrays.h" nogil:
    enum:
        SP_LABEL_WIDTH

    int sp_sets_labels_read(sp_learner *learner, const double *marked) noexcept
    void sp_sets_labels_write(const sp_learner *learner, double *marked) noexcept
    int sp_sets_marks_check(const sp_learner *learner, const double *slots, size_t n_slots,
                            const uint32_t *marks, size_t n) noexcept


cdef extern from "rows/marks.h" nogil:
    enum:
        SP_MARKS_MEMORY
        SP_MARKS_WIDTH


cdef extern from "voted/arrays.h" nogil:
    enum:
        SP_VOTED_MEMORY

    ctypedef struct sp_voted:
        size_t n_mentions
        size_t n_updates
        size_t n_turns
        double *values
        uint32_t *slots
        uint32_t *sizes
        double *times
        double *steps
        uint32_t *updates
        uint32_t *turns
        double *starts

    int sp_voters_flatten(sp_voted *flat, const sp_voters *v, const sp_index *index,
                          Py_ssize_t n_outputs) noexcept
    void sp_voters_measure(sp_voted *flat, const sp_voters *v, Py_ssize_t n_outputs) noexcept
    int sp_voters_read(sp_voters *v, const sp_voted *flat, Py_ssize_t n_outputs,
                       sp_index *index, sp_table *table) noexcept


cdef extern from "exchange/sound.h" nogil:
    const char *sp_counts_fault(const sp_learner *learner) noexcept
