# The index: key -> slot.
#
# What it gives: any number of features, compared by value, found in about one cache miss, and no
# feature whose arrival makes all the others move. It costs 16 bytes per key and 13 to 26 bytes of
# table.
#
# The table is extendible hashing (Fagin, Nievergelt, Pippenger & Strong 1979) over small segments
# of entries (engine/segments.pxd). An entry is 32 bits of the key's hash, the tag, and the slot.
#
#        tag = 1011 0110 ... 1001
#              \-/               \__ low bits: where to start in the segment (linear probing)
#          top `depth` bits
#               |
#     directory v        segment of 1024 words          keys, in chunks of 256
#     +-----+
#     | 100 |--------->  [ tag | slot ][  0  ][ ... ]
#     | 101 |-----+                 |
#     | 110 |--+  |                 +-------------->    slot: { "spam" }
#     | 111 |--+  +--->  [ tag | slot ] ...
#     +-----+  +------>  several directory words may share a segment
#
# When a segment is five eighths full, that segment alone splits in two, by the next bit of its
# tags; the keys themselves are not read. How full the segments are varies around the mean, so the
# splits of a growing table are spread over many events. While the model is small there is one
# segment, which doubles from 16 words to 1024.
#
# Nor does the directory double in one go, which at 35 million features would be 1 MB of new memory.
# When a segment first gets a directory word of its own, the next directory is begun. Each split
# copies DIRECTORY_STEP words into it, and every change is made in both. The next directory is
# needed when such a segment is full again. By then there are about twice as many features, and it
# has long been complete. Only tags that are alike on purpose come sooner; then the rest is copied
# at once.
#
# An event is looked up in two sweeps, so that the latency of memory is paid once and not once per
# feature. The first hashes all keys and prefetches where their searches start. The second reads the
# entries and compares the keys they refer to. Most searches end at the first or the second word.
#
# Columns of a matrix are small ints, and are not hashed at all: after index_open_columns, the slot
# of the int j < n_columns is columns[j], at 4 bytes per column. Ints that had entries before keep
# them, but nobody searches for them any more.
#
# Hashed mode (bits > 0): no table and no keys; slot = 2 + the top `bits` bits of the hash.
#
# Under a ceiling (index_is_limited) there are at most max_slots of them. A full index stores a new
# key only in place of an old one (index_replace), so no slot is ever free. Which key goes is
# decided elsewhere, with the help of a stamp for each slot: four bytes, after the chunk's keys.
# After the stamps are the keys' tags, so that a key that goes need not be hashed. Its entry is cold
# in memory. It is prefetched, and index_forget removes it from its segment later, and moves up what
# was behind it in the search. Until then it does no harm: whoever finds it compares the key, and
# that is the new one. Long keys are single blocks from the heap, since they go back one by one.
# There are no columns, which would stay forever.
#
# An event that runs out of memory half way undoes what it has done: the slots beyond a mark
# (index_rewind), and the keys that went (index_restore). So the bytes of those keys are kept until
# the event has succeeded (index_drop).
#
# An index may also lie in a file that is mapped into memory. There it can be read, but it does not
# grow (engine/lookup.pxd reads it; engine/flat.pxd sets it up).
#
# Functions in this file: index_init, index_free, index_find (one key), index_find_all (an event's),
# index_insert, index_mark, index_rewind, index_replace, index_forget, index_restore, index_drop,
# index_key, index_stamp, index_tag, index_stored (also in a file), index_place,
# index_open_columns, index_is_column, index_is_limited; index_segment and keys_bytes for
# engine/indexes.pxd, which copies and checks a whole index.

from libc.string cimport memcpy, memset
from streamptron.engine.types cimport (
    CHUNK_BITS, CHUNK_MASK, CHUNK_SLOTS, SLOT_MAX, SLOT_NULL, SLOTS_RESERVED,
    prefetch, slot_t, uint8_t, uint32_t, uint64_t, uintptr_t)
from streamptron.engine.heap cimport calloc, free, heap_bytes, malloc
from streamptron.engine.places cimport (
    Places, places_ahead, places_free, places_open, places_room)
from streamptron.engine.pool cimport Pool, pool_free, pool_init, pool_take
from streamptron.engine.key cimport (
    KEY_INT, Key, key_bytes, key_equal, key_is_long, key_length)
from streamptron.engine.hash cimport Seed, key_hash, seed_make
from streamptron.engine.arena cimport (
    Arena, ArenaMark, arena_copy, arena_free, arena_init, arena_mark, arena_rewind)
from streamptron.engine.segments cimport (
    Segment, segment_entries, segment_free, segment_grow, segment_log, segment_mask, segment_new,
    segment_of, segment_put, segment_split, segment_take)
from streamptron.engine.lookup cimport (
    Lookup, lookup_find, lookup_key, lookup_place, lookup_start)

cdef enum:
    SEGMENT_LOG_MIN = 4
    SEGMENT_LOG_SPLIT = 10          # 1024 words, 8 KiB: splits rather than grows
    SEGMENT_LOG_MAX = 24
    DIRECTORY_SLACK = 4             # log2 of directory words per segment, before segments grow
    DIRECTORY_STEP = 256            # words that a split copies into the next directory

    MANY = 128                      # keys of an event from which looking ahead pays
    AHEAD = 16                      # and how far: a key's bytes, and twice this its key

cdef struct Gone:                   # what a slot of a limited index was before the current event
    uint64_t entry                  # as in its segment
    Key key                         # zero: the slot has kept its key
    uint32_t stamp

cdef struct IndexMark:              # how far it was filled
    slot_t n_slots
    ArenaMark long_keys

cdef struct Index:
    int bits                        # 0: exact; else log2 of the number of slots, hashed
    int depth                       # log2 of the directory's length
    Seed seed
    uint64_t seed_number
    slot_t n_slots                  # slots in use, the reserved ones included
    slot_t max_slots                # SLOT_MAX: no ceiling
    uint64_t generation             # counts changes of what is in which slot
    uint32_t n_segments
    uint32_t n_chunks               # of keys
    uintptr_t* directory
    uintptr_t* next                 # the directory of twice the length, or NULL
    size_t n_copied                 # words of the directory that are in the next one
    Key** keys                      # chunks of keys by slot
    Places of_keys                  # the growth of this array
    slot_t* columns                 # slots of the ints below n_columns
    size_t n_columns
    Arena long_keys
    Lookup* lookup                  # NULL: the index is in memory of its own
    Pool pool                       # of segments and keys
    size_t bytes                    # what the index holds from the heap, without pool and arena


cdef inline uintptr_t index_segment(const Index* index, uint64_t tag) noexcept nogil:
    return index.directory[tag >> (32 - index.depth)]


cdef inline Key* index_key(const Index* index, slot_t slot) noexcept nogil:
    return &index.keys[slot >> CHUNK_BITS][slot & CHUNK_MASK]


cdef inline bint index_is_limited(const Index* index) noexcept nogil:
    return index.max_slots != SLOT_MAX


cdef inline size_t keys_bytes(const Index* index) noexcept nogil:
    """The size of a chunk of keys, with stamps and tags if there is a ceiling."""
    return CHUNK_SLOTS * (sizeof(Key) + (2 * sizeof(uint32_t) if index_is_limited(index) else 0))


cdef inline uint32_t* index_stamp(const Index* index, slot_t slot) noexcept nogil:
    """The stamp of a slot of a limited index."""
    return <uint32_t*> (index.keys[slot >> CHUNK_BITS] + CHUNK_SLOTS) + (slot & CHUNK_MASK)


cdef inline uint32_t* index_tag(const Index* index, slot_t slot) noexcept nogil:
    """The tag of the key of a slot of a limited index."""
    return index_stamp(index, slot) + CHUNK_SLOTS


cdef inline int _key_keep(Index* index, Key* key) noexcept nogil:
    """Copy the bytes of a long key that is to be stored. Returns -1 without memory."""
    cdef uint8_t* copy
    if not key_is_long(key):
        return 0
    if index_is_limited(index):
        copy = <uint8_t*> malloc(key_length(key))
        if copy != NULL:
            memcpy(copy, key_bytes(key), key_length(key))
            index.bytes += heap_bytes(key_length(key))
    else:
        copy = arena_copy(&index.long_keys, key_bytes(key), key_length(key))
    if copy == NULL:
        return -1
    key.lo = <uint64_t> <uintptr_t> copy
    return 0


cdef inline void index_drop(Index* index, const Key* key) noexcept nogil:
    """Free the bytes of a long key of a limited index."""
    if key_is_long(key):
        index.bytes -= heap_bytes(key_length(key))
        free(<void*> key_bytes(key))


cdef inline Key index_stored(const Index* index, slot_t slot) noexcept nogil:
    """A slot's key, in memory or in a file; one that nothing equals if the file is damaged."""
    if index.lookup == NULL:
        return index_key(index, slot)[0]
    return lookup_key(index.lookup, slot)


cdef inline slot_t index_place(const Index* index, slot_t slot) noexcept nogil:
    """Where the weights of a slot are: at the slot itself, except in a hashed table in a file."""
    return slot if index.bits == 0 or index.lookup == NULL else lookup_place(index.lookup, slot)


cdef inline void index_free(Index* index) noexcept nogil:
    cdef slot_t slot
    if index_is_limited(index) and index.keys != NULL:
        for slot in range(SLOTS_RESERVED, index.n_slots):
            index_drop(index, index_key(index, slot))
    pool_free(&index.pool)
    free(index.directory)
    free(index.next)
    index.directory = index.next = NULL
    places_free(&index.of_keys, index.keys)
    free(index.columns)
    if index.lookup != NULL:
        free(index.lookup.stored)
        free(index.lookup)
        index.lookup = NULL
    index.keys = NULL
    index.columns = NULL
    index.n_columns = 0
    index.n_chunks = 0
    arena_free(&index.long_keys)


cdef inline int index_init(Index* index, int bits, uint64_t seed_number,
                           slot_t max_features) noexcept nogil:
    """bits = 0 for the exact index, max_features = 0 for no ceiling. Returns -1 without memory."""
    index.bits = bits
    index.seed = seed_make(seed_number)
    index.seed_number = seed_number
    index.depth = 0
    index.n_segments = 0
    index.directory = index.next = NULL
    index.n_copied = 0
    index.keys = NULL
    index.columns = NULL
    index.n_columns = 0
    index.n_chunks = 0
    memset(&index.of_keys, 0, sizeof(Places))
    index.lookup = NULL
    pool_init(&index.pool, True)
    index.bytes = 0
    index.n_slots = SLOTS_RESERVED
    index.max_slots = SLOTS_RESERVED + max_features if max_features else SLOT_MAX
    index.generation = 0
    arena_init(&index.long_keys)
    if bits:
        index.n_slots = SLOTS_RESERVED + (<slot_t> 1 << bits)
        return 0
    index.directory = <uintptr_t*> calloc(1, sizeof(uintptr_t))
    if index.directory == NULL:
        return -1
    index.bytes += sizeof(uintptr_t)
    index.directory[0] = segment_new(&index.pool, SEGMENT_LOG_MIN, 0)
    if index.directory[0] == 0:
        return -1
    index.n_segments = 1
    return 0


cdef inline bint index_is_column(const Index* index, const Key* key) noexcept nogil:
    """Whether the key is an int whose slot is in index.columns."""
    return key.lo < index.n_columns and key.hi == (<uint64_t> KEY_INT << 4 | 8)


cdef inline slot_t _hashed_slot(const Index* index, uint64_t h) noexcept nogil:
    return index_place(index, SLOTS_RESERVED + <slot_t> (h >> (64 - index.bits)))


cdef inline slot_t index_find(const Index* index, const Key* key, uint64_t h) noexcept nogil:
    """The slot of a key whose hash is h, or the null slot."""
    cdef uint64_t tag, at, mask
    cdef uint64_t* entries
    cdef uintptr_t word
    if index.bits:
        return _hashed_slot(index, h)
    if index.lookup != NULL:
        return lookup_find(index.lookup, index.n_slots, key, h)
    if index_is_column(index, key):
        return index.columns[key.lo]
    tag = h >> 32
    word = index_segment(index, tag)
    entries = segment_entries(word)
    mask = segment_mask(word)
    at = tag & mask
    while entries[at] != 0:
        if entries[at] >> 32 == tag and key_equal(index_key(index, <slot_t> entries[at]), key):
            return <slot_t> entries[at]
        at = (at + 1) & mask
    return SLOT_NULL


cdef inline void _look_ahead(Key** chunks, const uint64_t** starts, Py_ssize_t i,
                             Py_ssize_t n) noexcept nogil:
    """Prefetch the keys that entries further on refer to, and the bytes of long ones nearer by."""
    cdef slot_t slot
    cdef const Key* key
    if i + 2 * AHEAD < n:
        slot = <slot_t> starts[i + 2 * AHEAD][0]
        prefetch(&chunks[slot >> CHUNK_BITS][slot & CHUNK_MASK])
    if i + AHEAD < n:
        slot = <slot_t> starts[i + AHEAD][0]
        key = &chunks[slot >> CHUNK_BITS][slot & CHUNK_MASK]
        if key_is_long(key):
            prefetch(key_bytes(key))


cdef inline void _find_all(const Index* index, const Key* keys, Py_ssize_t n, uint64_t* hashes,
                           const uint64_t** starts, slot_t* slots, const bint columns,
                           const bint hashed, const bint many) noexcept nogil:
    """The two sweeps. `columns`: keys may be columns; `hashed`: they have been hashed already;
    `many`: looking ahead pays. They are constants at each call, but for `many` ones.
    """
    # copies: for all the compiler knows, every store to hashes or slots might change the index
    cdef Seed seed = index.seed
    cdef const uintptr_t* directory = index.directory
    cdef Key** chunks = index.keys
    cdef int shift = 32 - index.depth
    cdef Py_ssize_t i
    cdef uint64_t h, entry
    cdef uintptr_t word
    cdef const Key* key
    for i in range(n):
        h = hashes[i] if hashed else key_hash(&seed, &keys[i])
        hashes[i] = h
        word = directory[(h >> 32) >> shift]
        starts[i] = segment_entries(word) + ((h >> 32) & segment_mask(word))
        prefetch(starts[i])
    for i in range(n):
        if many:
            _look_ahead(chunks, starts, i, n)
        h = hashes[i]
        if columns and index_is_column(index, &keys[i]):
            slots[i] = index.columns[keys[i].lo]
            continue
        entry = starts[i][0]
        # an entry with another tag: the upper halves differ
        if ((entry ^ h) >> 32 != 0) & (entry != 0):
            entry = starts[i][1]            # after the last word comes the first: see segment_put
            if ((entry ^ h) >> 32 != 0) & (entry != 0):
                slots[i] = index_find(index, &keys[i], h)
                continue
        slots[i] = <slot_t> entry
        key = &chunks[<slot_t> entry >> CHUNK_BITS][entry & CHUNK_MASK]
        # Both are rare: a tag that matches by chance, and a long key, whose bytes are compared. The
        # null slot has a key that nothing equals.
        if ((((key.hi ^ keys[i].hi) | (key.lo ^ keys[i].lo)) != 0) & (entry != 0)
                and not key_equal(key, &keys[i])):
            slots[i] = index_find(index, &keys[i], h)


cdef inline void index_find_all(const Index* index, const Key* keys, Py_ssize_t n, uint64_t* hashes,
                                const uint64_t** starts, slot_t* slots, bint hashed) noexcept nogil:
    """For each of n keys: its hash, unless they are `hashed`, and its slot or the null slot."""
    cdef Py_ssize_t i
    if index.lookup != NULL and index.bits == 0:
        for i in range(n):
            hashes[i] = key_hash(&index.seed, &keys[i])
            prefetch(&index.lookup.words[lookup_start(index.lookup, hashes[i])])
        for i in range(n):
            slots[i] = index_find(index, &keys[i], hashes[i])
    elif index.bits or index.n_slots == SLOTS_RESERVED:  # no table, or no key to compare with
        for i in range(n):
            if not hashed:
                hashes[i] = key_hash(&index.seed, &keys[i])
            slots[i] = _hashed_slot(index, hashes[i]) if index.bits else <slot_t> SLOT_NULL
    elif n >= MANY:
        _find_all(index, keys, n, hashes, starts, slots, index.n_columns != 0, hashed, True)
    elif hashed:    # a text, which has no columns
        _find_all(index, keys, n, hashes, starts, slots, False, True, False)
    elif index.n_columns:
        _find_all(index, keys, n, hashes, starts, slots, True, False, False)
    else:
        _find_all(index, keys, n, hashes, starts, slots, False, False, False)


cdef inline bint _directory_may_double(const Index* index) noexcept nogil:
    return (index.depth < 28
            and <uint64_t> 1 << index.depth < <uint64_t> index.n_segments << DIRECTORY_SLACK)


cdef inline int _directory_grow(Index* index, size_t n) noexcept nogil:
    """Copy n more words into the next directory; use it once it is full. -1 without memory."""
    cdef size_t length = <size_t> 1 << index.depth
    cdef size_t i
    if index.next == NULL:
        index.next = <uintptr_t*> malloc(2 * length * sizeof(uintptr_t))
        if index.next == NULL:
            return -1
        index.bytes += 2 * length * sizeof(uintptr_t)
        index.n_copied = 0
    n = min(n, length - index.n_copied)
    for i in range(index.n_copied, index.n_copied + n):
        index.next[2 * i] = index.directory[i]
        index.next[2 * i + 1] = index.directory[i]
    index.n_copied += n
    if index.n_copied == length:
        free(index.directory)
        index.directory = index.next
        index.next = NULL
        index.bytes -= length * sizeof(uintptr_t)
        index.depth += 1
    return 0


cdef inline void _directory_set(Index* index, uint64_t tag, uint32_t depth,
                                uintptr_t word) noexcept nogil:
    """Point at `word` from every directory word that shares the top `depth` bits of the tag."""
    cdef size_t first = <size_t> ((tag >> (32 - depth)) << (index.depth - depth))
    cdef size_t last = first + (<size_t> 1 << (index.depth - depth))
    cdef size_t i
    for i in range(first, last):
        index.directory[i] = word
    if index.next != NULL:
        for i in range(2 * first, 2 * min(last, index.n_copied)):
            index.next[i] = word


cdef inline int _segment_grow(Index* index, uint64_t tag, uintptr_t old) noexcept nogil:
    """Double one segment; also the way out if the top bits do not tell its tags apart."""
    cdef uintptr_t word = segment_grow(&index.pool, old)
    if word == 0:
        return -1
    _directory_set(index, tag, segment_of(old).depth, word)
    segment_free(&index.pool, old)
    return 0


cdef inline int _segment_split(Index* index, uint64_t tag, uintptr_t old) noexcept nogil:
    """Replace one segment by two, by the next bit of the tags. -1 without memory."""
    cdef uint32_t depth = segment_of(old).depth + 1
    cdef uint64_t half = <uint64_t> 1 << (32 - depth)
    cdef uintptr_t zeros = 0, ones = 0
    if segment_split(&index.pool, old, &zeros, &ones) < 0:
        return -1
    _directory_set(index, tag & ~half, depth, zeros)
    _directory_set(index, tag | half, depth, ones)
    segment_free(&index.pool, old)
    index.n_segments += 1
    return 0


cdef inline int _make_room(Index* index, uint64_t tag) noexcept nogil:
    """Make sure that the tag's segment has room for one more entry. -1 without memory."""
    cdef uintptr_t word = index_segment(index, tag)
    cdef Segment* segment = segment_of(word)
    cdef int log
    cdef bint begins
    while (<uint64_t> segment.count + 1) * 8 > 5 * (segment_mask(word) + 1):
        log = segment_log(word)
        if log < SEGMENT_LOG_SPLIT:
            if _segment_grow(index, tag, word) < 0:
                return -1
        elif segment.depth < <uint32_t> index.depth:
            begins = segment.depth + 1 == <uint32_t> index.depth and _directory_may_double(index)
            if (begins or index.next != NULL) and _directory_grow(index, DIRECTORY_STEP) < 0:
                return -1
            if _segment_split(index, tag, word) < 0:
                return -1
        elif index.next != NULL or _directory_may_double(index):
            if _directory_grow(index, <size_t> 1 << index.depth) < 0:
                return -1
        elif log < SEGMENT_LOG_MAX:
            if _segment_grow(index, tag, word) < 0:
                return -1
        else:
            return -1
        word = index_segment(index, tag)
        segment = segment_of(word)
    return 0


cdef inline int _keys_reserve(Index* index) noexcept nogil:
    """Make sure that there is a place for the key of slot n_slots. -1 without memory."""
    cdef size_t chunk = index.n_slots >> CHUNK_BITS
    cdef void* keys
    cdef Key* made
    if chunk < index.n_chunks:
        return 0
    if index.keys == NULL:
        keys = places_open(&index.of_keys, NULL, sizeof(Key*), places_ahead(0), &index.bytes)
    else:
        keys = places_room(&index.of_keys, index.keys, chunk, &index.bytes)
    if keys == NULL:
        return -1
    index.keys = <Key**> keys
    made = <Key*> pool_take(&index.pool, keys_bytes(index))
    if made == NULL:
        return -1
    index.keys[chunk] = made
    index.n_chunks = chunk + 1
    return 0


cdef inline slot_t index_insert(Index* index, const Key* key, uint64_t h) noexcept nogil:
    """A new slot for a key that is not there; the null slot if memory or slots run out."""
    cdef slot_t slot = index.n_slots
    cdef Key stored = key[0]
    cdef bint column = index_is_column(index, key)
    if slot == index.max_slots or _keys_reserve(index) < 0 or (
            not column and _make_room(index, h >> 32) < 0):
        return SLOT_NULL
    if _key_keep(index, &stored) < 0:
        return SLOT_NULL
    index_key(index, slot)[0] = stored
    if index_is_limited(index):
        index_tag(index, slot)[0] = <uint32_t> (h >> 32)
    if column:
        index.columns[key.lo] = slot
    else:
        segment_put(index_segment(index, h >> 32), (h >> 32) << 32 | slot)
    index.n_slots = slot + 1
    index.generation += 1
    return slot


cdef inline int index_replace(Index* index, slot_t slot, const Key* key, uint64_t h,
                              Gone* gone) noexcept nogil:
    """Give a slot of a limited index to a key that is not there; -1 without memory.

    The entry of the old key is still to be removed (index_forget).
    """
    cdef Key stored = key[0]
    cdef uint64_t tag = index_tag(index, slot)[0]
    cdef uintptr_t word
    if _make_room(index, h >> 32) < 0 or _key_keep(index, &stored) < 0:
        return -1
    word = index_segment(index, tag)
    prefetch(segment_of(word))
    prefetch(segment_entries(word) + (tag & segment_mask(word)))
    gone.entry = tag << 32 | slot
    gone.key = index_key(index, slot)[0]
    index_key(index, slot)[0] = stored
    index_tag(index, slot)[0] = <uint32_t> (h >> 32)
    segment_put(index_segment(index, h >> 32), (h >> 32) << 32 | slot)
    index.generation += 1
    return 0


cdef inline void index_forget(Index* index, const Gone* gone) noexcept nogil:
    """Remove the entry of a key that has gone."""
    segment_take(index_segment(index, gone.entry >> 32), gone.entry)


cdef inline void index_restore(Index* index, const Gone* gone, bint forgotten) noexcept nogil:
    """Give the slot that was replaced last its old key; `forgotten`: its entry was removed."""
    cdef slot_t slot = <slot_t> gone.entry
    cdef uint64_t tag = index_tag(index, slot)[0]
    segment_take(index_segment(index, tag), tag << 32 | slot)
    index_drop(index, index_key(index, slot))
    if forgotten:                   # there is room, as there was before
        segment_put(index_segment(index, gone.entry >> 32), gone.entry)
    index_key(index, slot)[0] = gone.key
    index_tag(index, slot)[0] = <uint32_t> (gone.entry >> 32)
    index.generation += 1


cdef inline IndexMark index_mark(const Index* index) noexcept nogil:
    cdef IndexMark mark
    mark.n_slots = index.n_slots
    mark.long_keys = arena_mark(&index.long_keys)
    return mark


cdef inline void index_rewind(Index* index, const IndexMark* mark) noexcept nogil:
    """Remove the keys that were inserted after the mark. The room made for them stays."""
    cdef const Key* key
    cdef uint64_t tag
    while index.n_slots > mark.n_slots:
        index.n_slots -= 1
        key = index_key(index, index.n_slots)
        if index_is_column(index, key):
            index.columns[key.lo] = SLOT_NULL
        else:
            tag = key_hash(&index.seed, key) >> 32
            segment_take(index_segment(index, tag), tag << 32 | index.n_slots)
        if index_is_limited(index):
            index_drop(index, key)
    if not index_is_limited(index):
        arena_rewind(&index.long_keys, mark.long_keys)


cdef inline int index_open_columns(Index* index, size_t n) noexcept nogil:
    """From now on find the ints below n without hashing. Returns -1 without memory."""
    cdef slot_t* columns
    cdef slot_t slot
    cdef const Key* key
    if index.bits or n <= index.n_columns or index_is_limited(index):
        return 0
    columns = <slot_t*> calloc(n, sizeof(slot_t))   # untouched pages cost nothing
    if columns == NULL:
        return -1
    free(index.columns)
    index.bytes += (n - index.n_columns) * sizeof(slot_t)
    index.columns = columns
    index.n_columns = n
    for slot in range(SLOTS_RESERVED, index.n_slots):
        key = index_key(index, slot)
        if index_is_column(index, key):
            columns[key.lo] = slot
    return 0
