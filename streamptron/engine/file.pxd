# What doors take of engine/file/: model files. The headers say what each of it is.

from libc.stdint cimport uint32_t, uint8_t

cdef extern from "file/words.h" nogil:
    enum:
        SP_WHY_FOREIGN
        SP_WHY_MEMORY

    ctypedef struct sp_fault:
        int kind
        size_t n
        char *text

cdef extern from "file/header.h" nogil:
    enum:
        SP_ARRAYS

    ctypedef struct sp_array_kind:
        const char *name

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
