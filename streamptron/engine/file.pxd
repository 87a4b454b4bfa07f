# What doors take of engine/file/: model files. The headers say what each of it is.

from libc.stdint cimport uint32_t, uint64_t, uint8_t
from streamptron.engine.linear cimport sp_rule, sp_vectors
from streamptron.engine.path cimport sp_learner

cdef extern from "json/words.h" nogil:
    enum:
        SP_WHY_FOREIGN
        SP_WHY_MEMORY

    ctypedef struct sp_fault:
        int kind
        size_t n
        char *text

cdef extern from "json/bytes.h" nogil:
    ctypedef struct sp_bytes:
        uint8_t *p
        size_t n
        bint failed

    void sp_bytes_free(sp_bytes *bytes) noexcept

cdef extern from "json/numbers.h" nogil:
    enum:
        SP_NUMBER_ROOM

    size_t sp_share_write(double number, char *to) noexcept

cdef extern from "file/header.h" nogil:
    enum:
        SP_ARRAYS
        SP_ARRAY_WEIGHTS
        SP_DELTA_ARRAYS

    ctypedef struct sp_array_kind:
        const char *name
        const char *dtype
        uint8_t size
        uint8_t width

    ctypedef struct sp_array:
        bint there
        size_t n
        size_t width
        size_t start
        size_t end

    ctypedef struct sp_header:
        size_t size
        uint32_t arrays_crc32
        sp_array *arrays

    ctypedef struct sp_part:
        bint there

    ctypedef const sp_array_kind *(*sp_kind_of)(int array) noexcept

    const sp_array_kind *sp_array_kind_of(int array) noexcept
    const sp_array_kind *sp_delta_kind_of(int array) noexcept
    int sp_delta_header_read(sp_header *header, const uint8_t *file, size_t n, size_t *size,
                             sp_fault *fault) noexcept
    void sp_header_free(sp_header *header) noexcept
    int sp_header_read(sp_header *header, const uint8_t *file, size_t n, uint64_t size,
                       sp_fault *fault) noexcept
    void sp_part_free(sp_part *part) noexcept


cdef extern from "file/write.h" nogil:
    void sp_header_begin(sp_bytes *to, bint delta) noexcept
    void sp_header_put(sp_bytes *to, const char *name, const void *text, size_t n) noexcept
    int sp_header_finish(sp_bytes *to, uint32_t arrays_crc32, const sp_array *arrays,
                         sp_kind_of kind_of, int n, sp_fault *fault) noexcept


cdef extern from "file/counts.h" nogil:
    enum:
        SP_COUNTS

    const char *sp_counts_name(const sp_learner *learner, int i) noexcept
    void sp_counts_write(const sp_learner *learner, int i, sp_bytes *to) noexcept
    int sp_counts_read(const sp_part *parts, sp_learner *learner, sp_fault *fault) noexcept


cdef extern from "file/parameters.h" nogil:
    ctypedef struct sp_parameters:
        sp_rule rule
        sp_vectors vectors
        uint64_t max_features
        uint64_t hash_bits
        uint64_t hash_seed
        bint seeded
        uint32_t interactions

    char sp_class_letter(int kind) noexcept
    const char *sp_class_name(int kind) noexcept
    const char *sp_parameters_conflict(const sp_parameters *parameters) noexcept
    void sp_parameters_default(sp_parameters *parameters, int kind) noexcept


cdef extern from "file/arrays.h" nogil:
    enum:
        SP_FROM_FILE
        SP_FROM_MAPPED
        SP_FROM_PICKLE

    ctypedef struct sp_file_arrays:
        sp_array *shapes
        void **start

    ctypedef void *(*sp_file_arrays_room)(void *whose, int array, const sp_array *shape) noexcept

    int sp_file_arrays_open(const sp_file_arrays *arrays, sp_learner *learner,
                            Py_ssize_t n_outputs, size_t n_objects, int source,
                            sp_fault *fault) noexcept
    int sp_file_arrays_look_through(const sp_file_arrays *arrays, sp_learner *learner,
                                    sp_fault *fault) noexcept
    int sp_file_arrays_lay_out(const sp_learner *learner, bint lookup, sp_file_arrays_room room,
                               void *whose, sp_file_arrays *arrays) noexcept
    bint sp_file_arrays_look_up(sp_file_arrays *arrays, int source) noexcept


cdef extern from "file/open.h" nogil:
    int sp_contents_check(const sp_header *header, sp_fault *fault) noexcept
    int sp_part_of(sp_part *part, const void *text, size_t n, sp_fault *fault) noexcept
