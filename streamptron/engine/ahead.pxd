# Texts that are written as events before their turn comes, perhaps by another thread.
#
# To split a text and to hash its words takes about as long as to learn it, and needs nothing of the
# model but the seed of its hash. So one thread writes the texts of a block while another one learns
# those of the block before. A block says the same words again and again, so each is kept once:
#
#     rows    0, 2   2, 3     5, 2        where the entries of each begin; how many
#     words   0  1   0  2  3  1  3        by entry: which word it is
#     values  1  1   2  1  1  1  3
#
#     keys    a  b  c  d                  by word, with hashes, and slots once the index was asked
#
# Taking a row copies its entries into the event in scratch, which is then what text_write would
# have made of the text. Where one learns, the index is asked for each word of the block once, and
# again only for those that it does not have: a word that has a slot keeps it, unless there is a
# ceiling. Only words without a slot are then copied with their names.
#
# A row that has not been written, since there was no memory, is no error: its text is written when
# its turn comes.
#
# The door that owns the texts writes each as an event (text_write) and puts it here.
#
# Functions in this file: ahead_init, ahead_free, ahead_begin and ahead_put (these may fail),
# ahead_has, ahead_ask, ahead_take, ahead_leave_out.

from libc.string cimport memcpy, memmove, memset
from streamptron.engine.arena cimport Arena, arena_copy, arena_free, arena_init
from streamptron.engine.event cimport Event, event_begin
from streamptron.engine.heap cimport calloc, free, malloc
from streamptron.engine.index cimport Index, index_find, index_find_all, index_is_limited
from streamptron.engine.key cimport Key, key_equal, key_is_long, key_length
from streamptron.engine.types cimport (
    SLOT_NULL, slot_t, uint8_t, uint32_t, uint64_t, uintptr_t)

cdef enum:
    ENTRIES_A_ROW = 8               # for which there is room at first
    WORDS_LEAST = 1024              # a power of two
    WORDS_AT_ONCE = 64              # that the index is asked for

cdef struct Span:
    Py_ssize_t first, n

cdef struct Ahead:
    Span* rows
    Py_ssize_t n_rows               # that are written
    double* values                  # with words in one block of memory
    uint32_t* words
    Py_ssize_t n
    Py_ssize_t capacity
    # by word
    Key* keys                       # with all below in one block of memory
    uint64_t* hashes
    slot_t* slots                   # the null slot: not known
    uint64_t* table                 # of twice the capacity: a hash's upper half, and 1 + the word
    size_t n_words
    size_t words_capacity
    bint asked                      # the index of the current batch was asked for their slots
    Arena text                      # the bytes of long keys
    uint64_t seed_number            # of the hash
    size_t n_replaced               # as text_write counts them


cdef inline void ahead_init(Ahead* ahead) noexcept nogil:
    memset(ahead, 0, sizeof(Ahead))
    arena_init(&ahead.text)


cdef inline void ahead_free(Ahead* ahead) noexcept nogil:
    free(ahead.rows)
    free(ahead.values)              # and words
    free(ahead.keys)                # and what else there is by word
    arena_free(&ahead.text)
    memset(ahead, 0, sizeof(Ahead))


cdef inline int _reserve(Ahead* ahead, Py_ssize_t n) noexcept nogil:
    """Room for n more entries. -1 without memory."""
    cdef Py_ssize_t capacity = ahead.n + n
    cdef Ahead old = ahead[0]
    if capacity <= ahead.capacity:
        return 0
    capacity += capacity // 2
    ahead.values = <double*> malloc(capacity * (sizeof(double) + sizeof(uint32_t)))
    if ahead.values == NULL:
        ahead.values = old.values
        return -1
    ahead.words = <uint32_t*> (ahead.values + capacity)
    ahead.capacity = capacity
    if old.n:
        memcpy(ahead.values, old.values, old.n * sizeof(double))
        memcpy(ahead.words, old.words, old.n * sizeof(uint32_t))
    free(old.values)
    return 0


cdef inline int _words_reserve(Ahead* ahead) noexcept nogil:
    """Room for one more word. -1 without memory."""
    cdef Ahead old = ahead[0]
    cdef size_t capacity = max(2 * old.words_capacity, <size_t> WORDS_LEAST)
    cdef size_t mask = 2 * capacity - 1, word, at
    if ahead.n_words < ahead.words_capacity:
        return 0
    ahead.keys = <Key*> calloc(capacity, sizeof(Key) + 3 * sizeof(uint64_t) + sizeof(slot_t))
    if ahead.keys == NULL:
        ahead.keys = old.keys
        return -1
    ahead.hashes = <uint64_t*> (ahead.keys + capacity)
    ahead.table = ahead.hashes + capacity
    ahead.slots = <slot_t*> (ahead.table + 2 * capacity)
    ahead.words_capacity = capacity
    if old.n_words:
        memcpy(ahead.keys, old.keys, old.n_words * sizeof(Key))
        memcpy(ahead.hashes, old.hashes, old.n_words * sizeof(uint64_t))
    for word in range(old.n_words):
        at = <size_t> ahead.hashes[word] & mask
        while ahead.table[at]:
            at = (at + 1) & mask
        ahead.table[at] = ahead.hashes[word] >> 32 << 32 | (word + 1)
    free(old.keys)
    return 0


cdef inline int _word(Ahead* ahead, const Key* key, uint64_t h, uint32_t* word) noexcept nogil:
    """The number of a word, perhaps a new one. -1 without memory."""
    cdef size_t mask, at
    cdef Key* kept
    cdef uint8_t* held
    if _words_reserve(ahead) < 0:
        return -1
    mask = 2 * ahead.words_capacity - 1
    at = <size_t> h & mask
    while ahead.table[at]:
        word[0] = <uint32_t> ahead.table[at] - 1
        if ahead.table[at] >> 32 == h >> 32 and key_equal(&ahead.keys[word[0]], key):
            return 0
        at = (at + 1) & mask
    word[0] = <uint32_t> ahead.n_words
    kept = &ahead.keys[word[0]]
    kept[0] = key[0]
    if key_is_long(key):
        held = arena_copy(&ahead.text, <const uint8_t*> <uintptr_t> key.lo, key_length(key))
        if held == NULL:
            return -1
        kept.lo = <uintptr_t> held
    ahead.hashes[word[0]] = h
    ahead.table[at] = h >> 32 << 32 | (word[0] + 1)
    ahead.n_words += 1
    return 0


cdef inline int ahead_begin(Ahead* ahead, uint64_t seed_number, Py_ssize_t n_rows) noexcept nogil:
    """Room for n_rows rows, hashed with this seed. -1 without memory."""
    if ahead.rows == NULL:
        ahead.rows = <Span*> malloc((n_rows + 1) * sizeof(Span))
        if ahead.rows == NULL:
            return -1
        ahead.seed_number = seed_number
    return _reserve(ahead, ENTRIES_A_ROW * n_rows)


cdef inline int ahead_put(Ahead* ahead, const Event* event) noexcept nogil:
    """Keep a written text as the next row. -1 without memory."""
    cdef Py_ssize_t i, at = ahead.n
    if _reserve(ahead, event.n) < 0:
        return -1
    for i in range(event.n):
        if _word(ahead, &event.keys[i], event.hashes[i], &ahead.words[at + i]) < 0:
            return -1
        ahead.values[at + i] = event.values[i]
    ahead.rows[ahead.n_rows].first = at
    ahead.rows[ahead.n_rows].n = event.n
    ahead.n_rows += 1
    ahead.n += event.n
    return 0


cdef inline bint ahead_has(const Ahead* ahead, const Index* index, Py_ssize_t r) noexcept nogil:
    """Whether row r is written, with the hash of this index."""
    return r < ahead.n_rows and ahead.seed_number == index.seed_number


cdef inline void ahead_ask(Ahead* ahead, const Index* index) noexcept nogil:
    """Ask the index for the slot of each word. What it has then it must keep."""
    cdef const uint64_t* starts[WORDS_AT_ONCE]
    cdef size_t word = 0
    cdef Py_ssize_t n
    while word < ahead.n_words:
        n = <Py_ssize_t> min(<size_t> WORDS_AT_ONCE, ahead.n_words - word)
        index_find_all(index, ahead.keys + word, n, ahead.hashes + word, starts,
                       ahead.slots + word, True)
        word += n
    ahead.asked = True


cdef inline void _take_words(const Ahead* ahead, const uint32_t* words, Py_ssize_t n,
                             Event* event) noexcept nogil:
    """Words with names and hashes, whose slots are still to be found."""
    cdef Py_ssize_t i, at = event.n
    for i in range(n):
        event.keys[at + i] = ahead.keys[words[i]]
        event.hashes[at + i] = ahead.hashes[words[i]]
    event.n_found = at
    event.n_hashed = at + n


cdef inline void _take_slots(Ahead* ahead, const uint32_t* words, Py_ssize_t n, Event* event,
                             const Index* index) noexcept nogil:
    """Words with their slots, and those without one with their names and hashes."""
    cdef Py_ssize_t i, at = event.n
    cdef slot_t* slots = event.slots + at
    cdef bint missing = False
    for i in range(n):
        slots[i] = ahead.slots[words[i]]
        missing |= slots[i] == SLOT_NULL
    event.n_found = at + n
    if not missing:
        return
    for i in range(n):
        if slots[i] == SLOT_NULL:
            event.keys[at + i] = ahead.keys[words[i]]
            event.hashes[at + i] = ahead.hashes[words[i]]
            slots[i] = index_find(index, &event.keys[at + i], event.hashes[at + i])
            ahead.slots[words[i]] = slots[i]


cdef inline int ahead_take(Ahead* ahead, Py_ssize_t r, Event* event, const Index* index,
                           bint intercept, bint asking) noexcept nogil:
    """Row r as an event, as text_write makes it. -1 without memory.

    `asking`: with slots, and with names only where there are none. For one thread, which learns.
    """
    cdef Py_ssize_t first = ahead.rows[r].first, n = ahead.rows[r].n
    if event_begin(event, index, n, intercept) < 0:
        return -1
    event.scored_version = 0
    if asking and not index_is_limited(index):
        if not ahead.asked:
            ahead_ask(ahead, index)
        _take_slots(ahead, ahead.words + first, n, event, index)
    else:
        _take_words(ahead, ahead.words + first, n, event)
    if n:
        memcpy(event.values + event.n, ahead.values + first, n * sizeof(double))
    event.n += n
    return 0


cdef inline void ahead_leave_out(Ahead* ahead, Py_ssize_t r) noexcept nogil:
    """Take row r out, so that those behind it move up."""
    if r < ahead.n_rows:
        ahead.n_rows -= 1
        memmove(ahead.rows + r, ahead.rows + r + 1, (ahead.n_rows - r) * sizeof(Span))
