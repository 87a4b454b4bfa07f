# What doors take of engine/names/: names of features. The headers say what each of it is.

from libc.stdint cimport uint32_t, uint64_t, uint8_t
from streamptron.engine.memory cimport sp_places, sp_pool, sp_slot_type

cdef extern from "names/key.h" nogil:
    enum:
        SP_KEY_BYTES
        SP_KEY_CANONICAL
        SP_KEY_FLOAT
        SP_KEY_INT
        SP_KEY_LONG
        SP_KEY_NONE
        SP_KEY_OBJECT
        SP_KEY_STR

    ctypedef struct sp_key:
        uint64_t lo

    uint8_t *sp_canonical_count(uint8_t *p, uint8_t tag, size_t n) noexcept
    uint8_t *sp_canonical_int(uint8_t *p, bint negative, uint64_t size, int zeros) noexcept
    const uint8_t *sp_key_bytes(const sp_key *key) noexcept
    void sp_key_inline_bytes(const sp_key *key, uint8_t *out) noexcept
    bint sp_key_is_long(const sp_key *key) noexcept
    uint64_t sp_key_kind(const sp_key *key) noexcept
    size_t sp_key_length(const sp_key *key) noexcept
    sp_key sp_key_text(uint64_t kind, const uint8_t *p, size_t n) noexcept
    sp_key sp_key_word(uint64_t kind, uint64_t word) noexcept
    void sp_store8(void *p, uint64_t word) noexcept
    size_t sp_utf8_encode(uint32_t c, uint8_t *p) noexcept


cdef extern from "names/hash.h" nogil:
    ctypedef struct sp_seed:
        pass

    uint64_t sp_key_hash(const sp_seed *seed, const sp_key *key) noexcept


cdef extern from "names/tags.h" nogil:
    ctypedef struct sp_tags:
        sp_places of_runs


cdef extern from "names/index.h" nogil:
    ctypedef struct sp_index:
        int bits
        sp_seed seed
        uint64_t seed_number
        sp_slot_type n_slots
        sp_slot_type max_slots
        uint64_t generation
        uint32_t n_chunks
        sp_tags tags
        sp_key **keys
        sp_places of_keys
        sp_slot_type *columns
        size_t n_columns
        sp_pool pool
        size_t bytes

    sp_slot_type sp_index_find(const sp_index *index, const sp_key *key, uint64_t h) noexcept
    void sp_index_free(sp_index *index) noexcept
    int sp_index_init(sp_index *index, int bits, uint64_t seed_number,
                      sp_slot_type max_features) noexcept
    sp_slot_type sp_index_insert(sp_index *index, const sp_key *key, uint64_t h) noexcept
    bint sp_index_is_limited(const sp_index *index) noexcept
    uint32_t sp_index_number(const sp_index *index, sp_slot_type slot) noexcept
    sp_slot_type sp_index_place(const sp_index *index, sp_slot_type slot) noexcept
    sp_key sp_index_stored(const sp_index *index, sp_slot_type slot) noexcept


cdef extern from "names/scan.h" nogil:
    ctypedef struct sp_characters:
        bint lowercase
        bint separated
        uint8_t lower[256]
        uint32_t *separators
        Py_ssize_t n_separators

    ctypedef struct sp_piece:
        const uint8_t *p
        size_t n
        bint surrogates

    void sp_scan_separators(sp_characters *rule) noexcept


cdef extern from "names/letters.h" nogil:
    const char *sp_letters_unicode


cdef extern from "names/rising.h" nogil:
    sp_slot_type *sp_index_rising(const sp_index *index) noexcept
