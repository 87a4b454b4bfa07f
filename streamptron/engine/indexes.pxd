# A whole index at once: copied, checked. Rare: a model is copied, or the tests look for a fault.
#
# Functions in this file: index_copy (which may fail), index_fault.

from libc.string cimport memcpy, memset
from streamptron.engine.types cimport SLOTS_RESERVED, slot_t, uint64_t, uintptr_t
from streamptron.engine.arena cimport arena_init
from streamptron.engine.hash cimport key_hash
from streamptron.engine.heap cimport calloc, heap_bytes
from streamptron.engine.index cimport (
    Index, _key_keep, index_find, index_is_limited, index_key, index_open_columns, index_segment,
    index_tag, keys_bytes)
from streamptron.engine.key cimport Key, key_is_long, key_length
from streamptron.engine.places cimport Places, places_ahead, places_bytes, places_open
from streamptron.engine.pool cimport pool_block, pool_init, pool_reserve, pool_take
from streamptron.engine.segments cimport (
    segment_bytes, segment_copy, segment_entries, segment_log, segment_mask, segment_of,
    segment_reaches)


cdef inline int index_copy(Index* to, const Index* other) noexcept nogil:
    """A second index with the same slots. -1 without memory. Call index_free in either case."""
    cdef size_t i, k, step
    cdef uintptr_t word, copied
    cdef slot_t slot
    to[0] = other[0]
    to.directory = to.next = NULL
    to.n_copied = 0
    to.keys = NULL
    to.columns = NULL
    to.n_columns = 0
    to.n_chunks = 0
    memset(&to.of_keys, 0, sizeof(Places))
    to.bytes = 0
    pool_init(&to.pool, True)
    arena_init(&to.long_keys)
    if to.bits:
        return 0
    if pool_reserve(&to.pool, other.pool.used) < 0:
        return -1
    to.n_slots = SLOTS_RESERVED     # if memory runs out, only the copy's own keys are dropped
    to.directory = <uintptr_t*> calloc(<size_t> 1 << to.depth, sizeof(uintptr_t))
    if to.directory == NULL:
        return -1
    to.bytes += sizeof(uintptr_t) << to.depth
    i = 0
    while i < <size_t> 1 << to.depth:
        word = other.directory[i]
        step = <size_t> 1 << (to.depth - <int> segment_of(word).depth)
        copied = segment_copy(&to.pool, word)
        if copied == 0:
            return -1
        for k in range(i, i + step):
            to.directory[k] = copied
        i += step
    to.keys = <Key**> places_open(&to.of_keys, NULL, sizeof(Key*), places_ahead(other.n_chunks),
                                  &to.bytes)
    if to.keys == NULL:
        return -1
    for i in range(other.n_chunks):
        to.keys[i] = <Key*> pool_take(&to.pool, keys_bytes(to))
        if to.keys[i] == NULL:
            return -1
        to.n_chunks = i + 1
        memcpy(to.keys[i], other.keys[i], keys_bytes(to))
    if other.long_keys.newest != NULL or index_is_limited(to):
        for slot in range(SLOTS_RESERVED, other.n_slots):
            if _key_keep(to, index_key(to, slot)) < 0:
                return -1
            to.n_slots = slot + 1
    to.n_slots = other.n_slots
    return index_open_columns(to, other.n_columns)


cdef inline const char* index_fault(const Index* index) noexcept nogil:
    """What is wrong with an index, or NULL. For the tests: it checks everything."""
    cdef size_t i = 0, k, step, bytes, blocks, n_entries = 0, n_segments = 0
    cdef uint64_t at, count, tag
    cdef uintptr_t word
    cdef slot_t slot
    cdef const Key* key
    if index.bits or index.lookup != NULL:
        return NULL
    bytes = (sizeof(uintptr_t) << index.depth) * (1 if index.next == NULL else 3)
    if index.next != NULL:
        for k in range(2 * index.n_copied):
            if index.next[k] != index.directory[k // 2]:
                return "the next directory differs from the directory"
    for k in range(index.of_keys.copied):
        if (<Key**> index.of_keys.next)[k] != index.keys[k]:
            return "the next array of places has another address for a chunk of keys"
    blocks = index.n_chunks * pool_block(keys_bytes(index))
    while i < <size_t> 1 << index.depth:
        word = index.directory[i]
        step = <size_t> 1 << (index.depth - <int> segment_of(word).depth)
        for k in range(i, i + step):
            if index.directory[k] != word:
                return "a segment does not have the directory words that its depth calls for"
        count = 0
        for at in range(segment_mask(word) + 1):
            if segment_entries(word)[at] == 0:
                continue
            count += 1
            slot = <slot_t> segment_entries(word)[at]
            if slot < SLOTS_RESERVED or slot >= index.n_slots:
                return "an entry has a slot that is not in use"
            tag = key_hash(&index.seed, index_key(index, slot)) >> 32
            if segment_entries(word)[at] >> 32 != tag:
                return "an entry's tag is not that of its slot's key"
            if index_segment(index, segment_entries(word)[at] >> 32) != word:
                return "an entry is in a segment that is not its own"
            if not segment_reaches(word, at):
                return "a search does not reach an entry"
        if segment_entries(word)[segment_mask(word) + 1] != segment_entries(word)[0]:
            return "a segment's first word is not repeated after its last"
        if count != segment_of(word).count:
            return "a segment's count is not the number of its entries"
        n_entries += count
        n_segments += 1
        blocks += pool_block(segment_bytes(segment_log(word)))
        i += step
    if n_segments != index.n_segments:
        return "the number of segments is not what is counted"
    if index.n_columns == 0 and n_entries != index.n_slots - SLOTS_RESERVED:
        return "the number of entries is not the number of keys"
    if index.n_slots > index.max_slots:
        return "there are more slots than max_slots"
    for slot in range(SLOTS_RESERVED, index.n_slots):
        key = index_key(index, slot)
        if index_find(index, key, key_hash(&index.seed, key)) != slot:
            return "a key is not found in its slot"
        if index_is_limited(index) and (
                index_tag(index, slot)[0] != key_hash(&index.seed, key) >> 32):
            return "the tag stored with a key is not the key's"
        if index_is_limited(index) and key_is_long(key):
            bytes += heap_bytes(key_length(key))
    bytes += places_bytes(&index.of_keys) + index.n_columns * sizeof(slot_t)
    if bytes != index.bytes or blocks != index.pool.used or blocks > index.pool.bytes:
        return "the index's count of bytes is not what it holds"
    return NULL
