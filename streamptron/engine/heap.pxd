# Memory from the system: every allocation of our C code goes through here.
#
# These are the C library's functions under their own names. In a build with -DSTREAMPTRON_FAIL a
# chosen call finds no memory (heap_fail_at), so that the tests can see which error is raised then
# and that nothing has changed. tests/test_architecture.py looks for calls that bypass this room.
#
# Functions in this file: malloc, calloc, realloc (these may fail), free; heap_bytes; heap_fail_at.

from libc.stdint cimport int64_t
from libc.stdlib cimport free

cdef extern from "heap.h":
    const bint FAILS "SP_FAIL"          # whether it is such a build
    void* malloc "sp_malloc" (size_t n) noexcept nogil
    void* calloc "sp_calloc" (size_t n, size_t size) noexcept nogil
    void* realloc "sp_realloc" (void* p, size_t n) noexcept nogil
    int64_t heap_fail_at "sp_heap_fail_at" (int64_t n, bint lasts) noexcept nogil


cdef inline size_t heap_bytes(size_t n) noexcept nogil:
    """What n bytes from malloc take: most allocators add a word and round up to 16."""
    return (n + 8 + 15) & ~<size_t> 15 if n > 24 else 32
