# A shard: one of several learners that are going to be merged, as all of them see it.
#
# Learners that went on from one base have its slots, in its order, and new ones behind them; their
# labels likewise. Learners that have no base in common agree about nothing. A shard says which of
# its slots and outputs are which of the merged learner's, so that the formulas (engine/merge.pxd)
# need not know where a number lies:
#
#     slots of the merged   0 1 2 3 4 5 | 6 7 8 9      5: where the base's names end
#     a shard's own         0 1 2 3 4 5 | 0 7 0 6      it has never met 6 and 8
#                           = `first`     own[]  (from the first to the last that it has)
#
#     outputs of the merged       spam ham news        a shard that knows only two labels has one
#     a shard's own, and sign     0 +  0 -  none       output for both, see engine/two_labels.pxd
#
# A shard's numbers are in memory, or in a file that is used in place (of a hashed table only the
# slots that are not zero, see engine/lookup.pxd). Or it came as a delta (engine/delta.pxd): then
# its table is the base's, chunk by chunk, but for the chunks that the delta changes, and its names
# are listed in `keys`.
#
# Functions in this file: shard_free, shard_key, shard_stamp; names_prefixes, names_find and
# names_invert (these two may fail); shard_own, shard_is_aligned, shard_chunk, shard_row,
# shard_field, shard_factor.

from libc.stdint cimport int32_t
from libc.string cimport memcmp
from streamptron.engine.types cimport (
    CHUNK_BITS, CHUNK_MASK, SLOT_MAX, SLOT_NULL, SLOTS_RESERVED, slot_t, uint32_t, uint64_t)
from streamptron.engine.heap cimport calloc, free, malloc
from streamptron.engine.index cimport (
    Index, index_find, index_find_all, index_insert, index_key, index_place, index_stamp,
    index_stored)
from streamptron.engine.key cimport KEY_NONE, KEY_OBJECT, Key, key_equal, key_kind, key_word
from streamptron.engine.kernels cimport AVERAGE_EXPONENTIAL
from streamptron.engine.learner cimport Learner
from streamptron.engine.table cimport Table

cdef extern from "kernels.h":
    double fold_factor "sp_fold_factor" (uint32_t behind) noexcept nogil

cdef enum:
    NAMES_BATCH = 64

    SHARD_MEMORY = 1                # what may be wrong
    SHARD_NAMES = 2                 # it did not go on from the base
    SHARD_TWICE = 3                 # one of its names occurs twice
    SHARD_NUMBER = 4                # a number is not finite, or in nobody's place

cdef struct Shard:
    const Learner* learner
    double n                        # events it has seen since the base
    # names
    slot_t n_slots
    slot_t first                    # its slots below are the base's
    const Key* keys                 # of slots `keys_from`.., of a delta; NULL: the learner's own
    slot_t keys_from
    const Index* base               # which has the names before those
    const uint64_t* ordinals        # of its objects among all; NULL: the same
    size_t n_ordinals
    slot_t* merged                  # by slot less `first`: the merged learner's
    slot_t* own                     # by merged slot less `own_from`: its own, or the null slot
    slot_t own_from                 # its new names are all among so many from here
    slot_t n_own
    const uint32_t* stamps          # under a ceiling, by slot; NULL: in its index
    # outputs
    const int32_t* labels           # by label of the merged: its own number, or -1
    const int32_t* outputs          # by output of the merged: its own, or -1
    const double* signs             # and whether that speaks for the other side, -1
    bint plain                      # outputs lie as in the merged learner, as far as there are any


cdef inline void shard_free(Shard* shard) noexcept nogil:
    """Free what it has found out; the learner and the maps of labels belong to others."""
    free(shard.merged)
    free(shard.own)
    shard.merged = shard.own = NULL


# --- Names

cdef inline Key shard_key(const Shard* shard, slot_t slot) noexcept nogil:
    """A slot's name, as all shards call it; one that nothing equals if a file is damaged."""
    cdef Key key
    if shard.keys == NULL:
        key = index_stored(&shard.learner.index, slot)
    elif slot < shard.keys_from:
        return index_key(shard.base, slot)[0]
    else:
        key = shard.keys[slot - shard.keys_from]
    if key_kind(&key) == KEY_OBJECT and shard.ordinals != NULL:
        if key.lo >= shard.n_ordinals:
            return key_word(KEY_NONE, 0)
        key.lo = shard.ordinals[key.lo]
    return key


cdef inline uint32_t shard_stamp(const Shard* shard, slot_t slot) noexcept nogil:
    """Under a ceiling, when a slot was seen last."""
    return (shard.stamps[slot] if shard.stamps != NULL
            else index_stamp(&shard.learner.index, slot)[0])


cdef inline bint _has_short_names(const Shard* shard, const Index* base) noexcept nogil:
    """Whether its names and the base's may be compared as memory."""
    return (shard.keys == NULL and shard.ordinals == NULL and base.lookup == NULL
            and shard.learner.index.lookup == NULL)


cdef inline void names_prefixes(Shard* shards, int n, const Index* base) noexcept nogil:
    """Let `first` be how many slots of each shard, from the first on, have the base's names.

    The shards side by side, so that the base's names are read once. One comparison of memory for
    256 of them, as long as they are short and both are in memory; then name by name.
    """
    cdef slot_t slot = SLOTS_RESERVED, last
    cdef int k
    for k in range(n):
        shards[k].first = slot
    while slot < base.n_slots:
        last = (slot | CHUNK_MASK) + 1
        for k in range(n):
            if (shards[k].first == slot and last <= min(shards[k].n_slots, base.n_slots)
                    and _has_short_names(&shards[k], base)
                    and memcmp(index_key(&shards[k].learner.index, slot), index_key(base, slot),
                               (last - slot) * sizeof(Key)) == 0):
                shards[k].first = last
        slot = last
    for k in range(n):
        shards[k].first = _prefix(&shards[k], base)


cdef inline slot_t _prefix(const Shard* shard, const Index* base) noexcept nogil:
    """The same from its `first` on, name by name."""
    cdef slot_t slot = shard.first, n = min(shard.n_slots, base.n_slots)
    cdef Key theirs, ours
    while slot < n:
        theirs = shard_key(shard, slot)
        ours = index_stored(base, slot)
        if not key_equal(&theirs, &ours):
            return slot
        slot += 1
    return n


cdef inline int names_find(Shard* shard, Index* names) noexcept nogil:
    """Add its names to all names, which begin with the base's, and note their slots there.

    0, or what is wrong.
    """
    cdef Key keys[NAMES_BATCH]
    cdef uint64_t hashes[NAMES_BATCH]
    cdef const uint64_t* starts[NAMES_BATCH]
    cdef slot_t slots[NAMES_BATCH]
    cdef slot_t first = shard.first, slot = shard.first
    cdef int i, n
    if slot >= shard.n_slots:
        return 0
    shard.merged = <slot_t*> malloc((shard.n_slots - slot) * sizeof(slot_t))
    if shard.merged == NULL:
        return SHARD_MEMORY
    while slot < shard.n_slots:
        n = <int> min(<slot_t> NAMES_BATCH, shard.n_slots - slot)
        for i in range(n):
            keys[i] = shard_key(shard, slot + i)
            if key_kind(&keys[i]) == KEY_NONE:
                return SHARD_NAMES
        index_find_all(names, keys, n, hashes, starts, slots, False)
        for i in range(n):
            if slots[i] == SLOT_NULL:
                slots[i] = index_find(names, &keys[i], hashes[i])
            if slots[i] == SLOT_NULL:
                slots[i] = index_insert(names, &keys[i], hashes[i])
            if slots[i] == SLOT_NULL:
                return SHARD_MEMORY
            shard.merged[slot + i - first] = slots[i]
        slot += n
    return 0


cdef inline int names_invert(Shard* shard) noexcept nogil:
    """Once all names are known: its own slots by those of the merged learner. 0, or what is wrong.
    """
    cdef slot_t slot, at, least = SLOT_MAX, last = 0, n = shard.n_slots - shard.first
    shard.own_from = shard.n_own = 0
    if n == 0:
        return 0
    for slot in range(n):
        least = min(least, shard.merged[slot])
        last = max(last, shard.merged[slot])
    if least < shard.first:
        return SHARD_TWICE
    shard.own = <slot_t*> calloc(last - least + 1, sizeof(slot_t))
    if shard.own == NULL:
        return SHARD_MEMORY
    shard.own_from = least
    shard.n_own = last - least + 1
    for slot in range(n):
        at = shard.merged[slot] - least
        if shard.own[at] != SLOT_NULL:
            return SHARD_TWICE
        shard.own[at] = shard.first + slot
    free(shard.merged)
    shard.merged = NULL
    return 0


# --- Numbers

cdef inline slot_t shard_own(const Shard* shard, slot_t merged) noexcept nogil:
    """Its own slot of one of the merged learner's; the null slot if it does not have that name."""
    if merged < shard.first:
        return merged
    merged -= shard.own_from        # of one before it, more than any
    return shard.own[merged] if merged < shard.n_own else <slot_t> SLOT_NULL


cdef inline bint shard_is_aligned(const Shard* shard, size_t chunk) noexcept nogil:
    """Whether the slots of a chunk are the merged learner's, in memory one after the other."""
    return (shard.plain and (chunk + 1) << CHUNK_BITS <= shard.first
            and not (shard.learner.index.bits and shard.learner.index.lookup != NULL))


cdef inline const double* shard_chunk(const Shard* shard, Py_ssize_t block,
                                      size_t chunk) noexcept nogil:
    """Where a chunk of its own lies; zeros if none was ever written."""
    cdef const Table* table = &shard.learner.table
    if block >= table.n_blocks or chunk >= table.n_chunks:
        return table.zeros
    return table.blocks[block].chunks[chunk]


cdef inline const double* shard_row(const Shard* shard, Py_ssize_t block,
                                    slot_t slot) noexcept nogil:
    """What one of its blocks has in its own slot."""
    slot = index_place(&shard.learner.index, slot)
    return (shard_chunk(shard, block, slot >> CHUNK_BITS)
            + (slot & CHUNK_MASK) * shard.learner.table.width)


cdef inline const double* shard_field(const Shard* shard, slot_t slot, Py_ssize_t output,
                                      double* sign) noexcept nogil:
    """The numbers of an output of the merged learner in its own slot, and for which side it speaks.

    NULL: it has no such output.
    """
    cdef const Table* table = &shard.learner.table
    cdef Py_ssize_t own = shard.outputs[output]
    if own < 0:
        return NULL
    sign[0] = shard.signs[output]
    return (shard_row(shard, own // table.lanes, slot)
            + own % table.lanes * table.layout.fields)


cdef inline double shard_factor(const Shard* shard, slot_t slot, Py_ssize_t output,
                                uint32_t fold) noexcept nogil:
    """By what the averaging term of a slot is multiplied so that it has seen so many folds."""
    cdef const Table* table = &shard.learner.table
    cdef Py_ssize_t own = shard.outputs[output]
    cdef size_t chunk = slot >> CHUNK_BITS
    if table.average != AVERAGE_EXPONENTIAL or own < 0 or chunk >= table.n_chunks:
        return 1.0
    return fold_factor(fold - table.blocks[own // table.lanes].folds[chunk])
