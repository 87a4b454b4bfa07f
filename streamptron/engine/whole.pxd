# What doors take of engine/whole/: whole learners. The headers say what each of it is.

from libc.stdint cimport int32_t, uint32_t, uint64_t, uint8_t
from streamptron.engine.events cimport sp_event
from streamptron.engine.linear cimport sp_table
from streamptron.engine.memory cimport sp_slot_type
from streamptron.engine.names cimport sp_index, sp_key, sp_seed
from streamptron.engine.path cimport sp_learner

cdef extern from "whole/flat.h" nogil:
    enum:
        SP_FLAT_CHUNK
        SP_FLAT_DEPTH
        SP_FLAT_KEY
        SP_FLAT_MEMORY
        SP_FLAT_NOBODYS
        SP_FLAT_SLOT
        SP_FLAT_TEXTS
        SP_FLAT_TWICE
        SP_FLAT_WEIGHT

    ctypedef struct sp_flat:
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

    void sp_flat_free(sp_flat *flat) noexcept
    void sp_flat_lookup(sp_flat *flat) noexcept
    int sp_flat_map(sp_flat *flat, sp_index *index, sp_table *table, Py_ssize_t n_outputs) noexcept
    int sp_flat_measure(sp_flat *flat, const sp_index *index, const sp_table *table) noexcept
    int sp_flat_read(sp_flat *flat, sp_index *index, sp_table *table, Py_ssize_t n_outputs,
                     size_t n_objects, int depth) noexcept
    bint sp_flat_too_deep(const sp_flat *flat, int depth) noexcept
    void sp_flat_write(sp_flat *flat, const sp_index *index, const sp_table *table) noexcept


cdef extern from "whole/shard.h" nogil:
    enum:
        SP_SHARD_KEY
        SP_SHARD_MEMORY
        SP_SHARD_NAMES
        SP_SHARD_NUMBER
        SP_SHARD_TWICE

    ctypedef struct sp_shard:
        const sp_learner *learner
        double n
        sp_slot_type n_slots
        sp_slot_type first
        const sp_key *keys
        sp_slot_type keys_from
        const sp_index *base
        const uint64_t *ordinals
        size_t n_objects
        sp_slot_type *own
        const uint32_t *stamps
        const int32_t *labels
        const int32_t *outputs
        const double *signs
        bint plain


cdef extern from "whole/delta.h" nogil:
    ctypedef struct sp_delta:
        size_t n_rows
        size_t n_blocks
        size_t n_keys
        size_t n_texts
        size_t n_renamed
        size_t n_stamps
        size_t n_marks
        uint32_t *slots
        double *rows
        uint32_t *blocks
        sp_key *keys
        uint8_t *texts
        uint32_t *renamed
        uint32_t *stamps
        uint32_t *marks
        double *marked
        size_t width

    int sp_delta_digest(const sp_shard *shard, const uint8_t *called, size_t n,
                             uint64_t *h) noexcept
    void sp_delta_free(sp_delta *delta) noexcept
    sp_key *sp_delta_keys(const sp_delta *delta, const sp_index *base, const sp_index *own,
                          sp_slot_type n_slots, sp_slot_type *first) noexcept
    int sp_delta_measure(sp_delta *delta, sp_shard *shard, const sp_shard *base) noexcept
    int sp_delta_overlay(const sp_delta *delta, sp_learner *learner, const sp_learner *base,
                         Py_ssize_t n_outputs, size_t n_objects, int depth,
                         sp_slot_type *n_slots) noexcept
    void sp_delta_write(const sp_delta *delta, const sp_shard *shard, const sp_shard *base) noexcept


cdef extern from "whole/packed.h" nogil:
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

cdef extern from "wide/flat.h" nogil:
    enum:
        SP_ENTRIES_WIDTH

    int sp_entries_map(sp_learner *learner, const uint64_t *entries, size_t n) noexcept
    size_t sp_entries_measure(const sp_learner *learner, const sp_flat *flat) noexcept
    int sp_entries_read(sp_learner *learner, const uint64_t *entries, size_t n) noexcept
    void sp_entries_write(const sp_learner *learner, sp_flat *flat, uint64_t *entries) noexcept
    bint sp_learner_is_wide(const sp_learner *learner) noexcept
    int sp_learner_widen(sp_learner *learner) noexcept


cdef extern from "whole/merge.h" nogil:
    int sp_learners_merge(sp_learner *to, const sp_shard *base, sp_shard *shards, int n,
                          int *culprit) noexcept


cdef extern from "whole/marked.h" nogil:
    bint sp_learner_has_rows(const sp_learner *learner) noexcept
    size_t sp_marked_measure(const sp_learner *learner, const sp_flat *flat) noexcept
    void sp_marked_write(const sp_learner *learner, sp_flat *flat, uint32_t *marks) noexcept
    int sp_marked_read(sp_learner *learner, const uint32_t *marks, size_t n) noexcept
    int sp_marked_map(sp_learner *learner, const uint32_t *marks, size_t n) noexcept


cdef extern from "sets/flat.h" nogil:
    enum:
        SP_LABEL_WIDTH

    void sp_sets_flatten(const sp_learner *learner, double *slots, size_t n_slots, uint32_t *marks,
                         double *marked) noexcept
    int sp_sets_map(sp_learner *learner, const double *slots, size_t n_slots,
                    const uint32_t *marks, size_t n, const double *marked) noexcept
    size_t sp_sets_measure(const double *slots, size_t n_slots) noexcept
    int sp_sets_read(sp_learner *learner, const uint32_t *marks, size_t n,
                     const double *marked) noexcept
