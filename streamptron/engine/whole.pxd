# What doors take of engine/whole/: whole learners. The headers say what each of it is.

from libc.stdint cimport int32_t, uint32_t, uint64_t, uint8_t
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

cdef extern from "wide/flat.h" nogil:
    enum:
        SP_ENTRIES_WIDTH
