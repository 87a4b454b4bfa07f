# A whole table at once: copied, split, checked.
#
# What engine/table.pxd does for the slots of an event costs O(non-zeros). What is here goes through
# all chunks, and is rare: a model is copied, or a third label comes to two that shared one output,
# or the tests look for a fault.
#
#     table_copy     the same weights, in one region of memory
#     table_split    one output, w, becomes two: w for the positive label and -w for the other
#     table_fault    for the tests: what is wrong with a table, if anything
#
# Functions in this file: table_copy and table_split (these may fail), table_fault.

from libc.string cimport memcpy
from streamptron.engine.types cimport CHUNK_BITS, CHUNK_SLOTS, SLOT_NULL, slot_t, uint32_t
from streamptron.engine.kernels cimport AVERAGE_EXPONENTIAL, LANES, SLOT_MOST
from streamptron.engine.places cimport places_bytes
from streamptron.engine.pool cimport pool_block, pool_init, pool_reserve, pool_take
from streamptron.engine.step cimport Move
from streamptron.engine.table cimport (
    SLOTS_WEIGHTS, Block, Table, chunk_bytes, table_add_outputs, table_reserve, table_set_folds)


cdef inline int table_copy(Table* to, const Table* other) noexcept nogil:
    """A second table of the same weights. -1 without memory. Call table_free in either case."""
    cdef Py_ssize_t b
    cdef size_t i
    cdef double* made
    to[0] = other[0]
    to.blocks = NULL
    to.n_blocks = 0
    to.n_outputs = 0
    to.bytes = 0
    pool_init(&to.pool, other.pool.scattered)
    if pool_reserve(&to.pool, other.pool.used) < 0:
        return -1
    if table_add_outputs(to, other.n_outputs) < 0:
        return -1
    for b in range(to.n_blocks):
        for i in range(other.n_chunks):
            if other.blocks[b].chunks[i] == other.zeros:
                continue
            made = <double*> pool_take(&to.pool, chunk_bytes(to))
            if made == NULL:
                return -1
            to.blocks[b].chunks[i] = made
            memcpy(made, other.blocks[b].chunks[i], chunk_bytes(to))
        if to.average == AVERAGE_EXPONENTIAL:
            memcpy(to.blocks[b].folds, other.blocks[b].folds, other.n_chunks * sizeof(uint32_t))
    return 0


cdef inline int table_split(Table* to, const Table* one, int positive) noexcept nogil:
    """A second table, of two outputs where the first has one: w for one of them, -w for the other.

    What the rule keeps is the same for both. Returns -1 without memory. Call table_free in either
    case.
    """
    cdef size_t chunk, slot
    cdef int f, k
    cdef const double* field
    cdef double* pair
    cdef slot_t first
    cdef Move move
    move.output = 0
    to[0] = one[0]
    to.blocks = NULL
    to.n_blocks = 0
    to.n_outputs = 0
    to.bytes = 0
    to.lanes = LANES
    to.width = to.layout.fields * to.lanes
    pool_init(&to.pool, one.pool.scattered)
    if table_add_outputs(to, 2) < 0:
        return -1
    for chunk in range(one.n_chunks):
        if one.blocks[0].chunks[chunk] == one.zeros:
            continue
        first = <slot_t> (chunk << CHUNK_BITS)
        if table_reserve(to, &first, 1, first + 1, &move, 1) < 0:
            return -1
        for slot in range(<size_t> CHUNK_SLOTS):
            field = one.blocks[0].chunks[chunk] + slot * one.width
            pair = to.blocks[0].chunks[chunk] + slot * to.width
            for f in range(to.layout.fields):
                for k in range(2):
                    # what is 0 stays +0.0
                    pair[k * to.layout.fields + f] = (
                        0.0 - field[f]
                        if k != positive and f != to.layout.e and f != to.layout.k else field[f])
        if one.average == AVERAGE_EXPONENTIAL:
            table_set_folds(&to.blocks[0], chunk, one.blocks[0].folds[chunk])
    return 0


cdef inline const char* table_fault(const Table* table, slot_t n_slots) noexcept nogil:
    """What is wrong with a table of n_slots slots in use, or NULL. It checks everything."""
    cdef Py_ssize_t b
    cdef size_t i, k, slot, bytes = table.n_blocks * sizeof(Block), blocks = 0
    cdef const Block* block
    if table.borrowed:
        return NULL
    for b in range(table.n_blocks):
        block = &table.blocks[b]
        bytes += places_bytes(&block.of_chunks) + places_bytes(&block.of_folds)
        if table.n_chunks > block.of_chunks.capacity:
            return "there are more chunks than places"
        for i in range(block.of_chunks.copied):
            if (<double**> block.of_chunks.next)[i] != block.chunks[i]:
                return "the next array of places has another address for a chunk"
        for i in range(block.of_folds.copied):
            if (<uint32_t*> block.of_folds.next)[i] != block.folds[i]:
                return "the next array of folds has another number for a chunk"
        for i in range(table.n_chunks):
            if block.chunks[i] == table.zeros:
                continue
            blocks += pool_block(chunk_bytes(table))
            for k in range(<size_t> CHUNK_SLOTS * table.width):
                slot = (i << CHUNK_BITS) + k // table.width
                if (block.chunks[i][k] != 0.0) & ((slot == SLOT_NULL) | (slot >= n_slots)):
                    return "a slot that is not in use is not zero"
                if table.slot_kind == SLOTS_WEIGHTS and block.chunks[i][k] != 0.0 and (
                        b * table.lanes + <Py_ssize_t> (k % table.width) // table.layout.fields
                        >= table.n_outputs):
                    return "an output that is not in use is not zero"
    for k in range(<size_t> (CHUNK_SLOTS * SLOT_MOST)):
        if table.zeros[k] != 0.0:
            return "the chunk of zeros has been written"
    if bytes != table.bytes or blocks != table.pool.used or blocks > table.pool.bytes:
        return "the table's count of bytes is not what it holds"
    return NULL
