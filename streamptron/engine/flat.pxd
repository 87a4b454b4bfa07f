# A learner's names and weights as flat arrays, the way a model file holds them, and back.
#
# What it gives: index and table as a few arrays without addresses in them, written in one pass and
# read in one pass, or used in place. docs/format.md says what each array means in a file.
#
#     weights   float64 [stored slots, width]  slots of the chunks that were written, in order
#     chunks    uint32 [., 3]                  (block, chunk, folds) of each of these, rising
#     exact:    keys    uint64 [n_slots, 2]    as in engine/key.pxd; lo of a long name: its offset
#                                              in texts
#               texts   uint8                  the long names, in the order of their slots
#               lookup  uint32                 to find a key in place, see engine/lookup.pxd
#               stamps  uint32 [n_slots]       under a ceiling, see engine/ceiling.pxd
#     hashed:   rows    uint32                 the stored slots, rising: 0, 1 and all not zero
#
# An exact model stores all slots of a chunk. A hashed one is mostly zeros, so only the slots of a
# chunk are stored that are not zero in some block (by their bits: -0.0 is not zero), the same ones
# in each block. A bitmap says which:
#
#     stored[chunk]   1 1 0 0 1 0 ...          slot 4 is the chunk's third: rank 2
#
# Reading trusts nothing: each number is checked before it is used, and a file that contradicts
# itself is a fault (FLAT_...), which the door puts into words. Using the arrays in place
# (flat_map) checks what addresses depend on, once for each chunk. The index checks each slot number
# when it reads it.
#
# Functions in this file: flat_measure and flat_write, flat_lookup, flat_too_deep; flat_check_keys;
# flat_read and flat_map; flat_free.

from libc.math cimport floor, isfinite, isinf
from libc.string cimport memcmp, memcpy, memset
from streamptron.engine.types cimport (
    CHUNK_BITS, CHUNK_SLOTS, SLOT_NULL, SLOTS_RESERVED, slot_t, uint8_t, uint32_t, uint64_t,
    prefetch, uintptr_t, zeros_below)
from streamptron.engine.heap cimport calloc, free
from streamptron.engine.key cimport (
    BYTES_BEFORE, KEY_BYTES, KEY_CANONICAL, KEY_FLOAT, KEY_INLINE, KEY_INT, KEY_LONG, KEY_OBJECT,
    KEY_STR, LAST_BYTES, Key, key_bytes, key_inline_bytes, key_is_long, key_kind, key_length)
from streamptron.engine.hash cimport Seed, key_hash
from streamptron.engine.lookup cimport Lookup, bits_count, lookup_put, lookup_start
from streamptron.engine.index cimport Index, index_find, index_insert, index_key, index_stamp
from streamptron.engine.table cimport (
    AVERAGE_EXPONENTIAL, SLOTS_WEIGHTS, Table, table_add_outputs, table_chunk, table_reserve_blocks,
    table_reserve_places)

cdef enum:
    FLAT_DEPTH = 100                # how deep tuples in names may be nested in a file
    LOOKUP_BATCH = 64

    FLAT_MEMORY = 1                 # what may be wrong with arrays
    FLAT_KEY = 2
    FLAT_TWICE = 3
    FLAT_TEXTS = 4
    FLAT_SLOT = 5
    FLAT_CHUNK = 6
    FLAT_WEIGHT = 7
    FLAT_NOBODYS = 8

cdef struct Flat:
    size_t n_weights                # slots
    size_t n_chunks
    size_t n_keys                   # n_slots of an exact index; 0: hashed
    size_t n_texts
    size_t n_words
    size_t n_stored                 # of a hashed table's slots
    double* weights
    uint32_t* chunks
    Key* keys
    uint8_t* texts
    uint32_t* words
    uint32_t* stamps                # NULL: no ceiling
    uint32_t* slots                 # `rows` in a file
    uint64_t* stored                # the bitmap; NULL: exact
    Seed seed                       # of the index, which may be another's when the lookup is filled


cdef inline void flat_free(Flat* flat) noexcept nogil:
    """Free the bitmap; the rest belongs to others."""
    free(flat.stored)
    flat.stored = NULL


cdef inline size_t _count(const Flat* flat, size_t n_slots, size_t chunk) noexcept nogil:
    """How many slots of a chunk are stored."""
    if flat.stored != NULL:
        return bits_count(&flat.stored[4 * chunk])
    return min(<size_t> CHUNK_SLOTS, n_slots - (chunk << CHUNK_BITS))


# --- From a learner to arrays

cdef inline int flat_measure(Flat* flat, const Index* index, const Table* table) noexcept nogil:
    """How large the arrays will be. Returns -1 without memory. Call flat_free in either case."""
    cdef Py_ssize_t b
    cdef size_t i, k
    cdef const double* chunk
    cdef uint64_t bits
    cdef slot_t slot
    cdef int f
    memset(flat, 0, sizeof(Flat))
    flat.seed = index.seed
    if index.bits:
        flat.stored = <uint64_t*> calloc(4 * table.n_chunks, sizeof(uint64_t))
        if flat.stored == NULL:
            return -1
        flat.stored[0] = 3          # the null slot and the intercept keep their places
        for b in range(table.n_blocks):
            for i in range(table.n_chunks):
                chunk = table_chunk(table, b, i)
                if chunk == NULL:
                    continue
                for k in range(<size_t> CHUNK_SLOTS):
                    bits = 0
                    for f in range(table.width):
                        bits |= (<const uint64_t*> chunk)[f]
                    chunk += table.width
                    if bits:
                        flat.stored[4 * i + k // 64] |= <uint64_t> 1 << (k % 64)
        for i in range(table.n_chunks):
            flat.n_stored += bits_count(&flat.stored[4 * i])
    else:
        flat.n_keys = index.n_slots
        flat.n_words = (flat.n_keys - SLOTS_RESERVED) // 7 * 8 + 8
        for slot in range(SLOTS_RESERVED, index.n_slots):
            if key_is_long(index_key(index, slot)):
                flat.n_texts += key_length(index_key(index, slot))
    for b in range(table.n_blocks):
        for i in range(table.n_chunks):
            if table_chunk(table, b, i) != NULL:
                flat.n_chunks += 1
                flat.n_weights += _count(flat, index.n_slots, i)
    return 0


cdef inline void flat_write(Flat* flat, const Index* index, const Table* table) noexcept nogil:
    """Fill the arrays, which have the sizes that flat_measure found."""
    cdef Py_ssize_t b
    cdef size_t i, k, n
    cdef size_t text = 0, place = 0
    cdef size_t slot_bytes = table.width * sizeof(double)
    cdef uint64_t bits
    cdef const double* chunk
    cdef double* weights = flat.weights
    cdef slot_t slot
    cdef Key key
    for b in range(table.n_blocks):
        for i in range(table.n_chunks):
            chunk = table_chunk(table, b, i)
            if chunk == NULL:
                continue
            flat.chunks[3 * place] = <uint32_t> b
            flat.chunks[3 * place + 1] = <uint32_t> i
            flat.chunks[3 * place + 2] = (
                table.blocks[b].folds[i] if table.average == AVERAGE_EXPONENTIAL else 0)
            place += 1
            n = _count(flat, index.n_slots, i)
            if flat.stored == NULL or n == CHUNK_SLOTS:
                memcpy(weights, chunk, n * slot_bytes)
                weights += n * table.width
                continue
            for k in range(4):
                bits = flat.stored[4 * i + k]
                while bits:
                    memcpy(weights, chunk + (64 * k + zeros_below(bits)) * table.width, slot_bytes)
                    weights += table.width
                    bits &= bits - 1
    if flat.stored != NULL:
        place = 0
        for i in range(4 * table.n_chunks):
            bits = flat.stored[i]
            while bits:
                flat.slots[place] = <uint32_t> (64 * i + zeros_below(bits))
                place += 1
                bits &= bits - 1
        return
    for slot in range(index.n_slots):
        if slot < SLOTS_RESERVED:
            key.lo = key.hi = 0
        else:
            key = index_key(index, slot)[0]
        if flat.stamps != NULL:
            flat.stamps[slot] = index_stamp(index, slot)[0] if slot >= SLOTS_RESERVED else 0
        if key_is_long(&key):
            memcpy(flat.texts + text, key_bytes(&key), key_length(&key))
            key.lo = text
            text += key_length(&key)
        flat.keys[slot] = key


cdef inline void flat_lookup(Flat* flat) noexcept nogil:
    """Fill the lookup from keys and texts.

    Consecutive words are far apart in memory, so a batch of them is prefetched before the first is
    written. The slots must come in order, since their places depend on it.
    """
    cdef Lookup lookup
    cdef Key key
    cdef size_t slot, first, last
    cdef uint64_t hashes[LOOKUP_BATCH]
    lookup.words = flat.words
    lookup.n_words = flat.n_words
    lookup.slot_bits = _slot_bits(flat.n_keys)
    memset(flat.words, 0, flat.n_words * sizeof(uint32_t))
    first = SLOTS_RESERVED
    while first < flat.n_keys:
        last = min(first + LOOKUP_BATCH, flat.n_keys)
        for slot in range(first, last):
            key = flat.keys[slot]
            if key_is_long(&key):
                key.lo = <uint64_t> <uintptr_t> (flat.texts + key.lo)
            hashes[slot - first] = key_hash(&flat.seed, &key)
            prefetch(&lookup.words[lookup_start(&lookup, hashes[slot - first])])
        for slot in range(first, last):
            lookup_put(&lookup, hashes[slot - first], <slot_t> slot)
        first = last


cdef inline int _slot_bits(size_t n_slots) noexcept nogil:
    cdef int bits = 1
    while n_slots > <size_t> 1 << bits:
        bits += 1
    return bits


# --- What a name may be

cdef inline bint _is_utf8(const uint8_t* p, size_t n) noexcept nogil:
    """Whether the bytes are a str, lone surrogates included."""
    cdef size_t i = 0, k, more
    while i < n:
        if p[i] < 0x80:
            i += 1
            continue
        more = 1 if p[i] < 0xE0 else 2 if p[i] < 0xF0 else 3
        if p[i] < 0xC2 or p[i] > 0xF4 or more >= n - i:
            return False
        for k in range(i + 1, i + more + 1):
            if p[k] & 0xC0 != 0x80:
                return False
        if ((p[i] == 0xE0 and p[i + 1] < 0xA0) or (p[i] == 0xF0 and p[i + 1] < 0x90)
                or (p[i] == 0xF4 and p[i + 1] > 0x8F)):
            return False
        i += more + 1
    return True


cdef inline bint _is_fraction(const void* p) noexcept nogil:
    """Whether the float is one that is not an int: neither whole nor a NaN."""
    cdef double number
    memcpy(&number, p, 8)
    return isinf(number) or floor(number) != number and number == number


cdef inline size_t _pair_end(const uint8_t* p, size_t n, size_t at, int depth) noexcept nogil:
    """The end of two names that start at `at`, the lesser first."""
    cdef size_t second, end
    if depth == 0:
        return 0
    second = _canonical_end(p, n, at, depth - 1)
    end = _canonical_end(p, n, second, depth - 1) if second else 0
    if end and memcmp(p + at, p + second, min(second - at, end - second)) > 0:
        return 0
    return end


cdef inline size_t _canonical_end(const uint8_t* p, size_t n, size_t at, int depth) noexcept nogil:
    """The end of the canonical bytes of a name that start at `at`; 0 if there are none.

    See estimator/names.py.
    """
    cdef uint8_t tag
    cdef uint64_t size = 0
    cdef size_t i
    cdef int shift = 0
    if at >= n:
        return 0
    tag = p[at]
    at += 1
    if tag == c"n":
        return at
    if tag == c"f":
        return at + 8 if n - at >= 8 and _is_fraction(p + at) else 0
    if tag == c"p":
        return _pair_end(p, n, at, depth)
    while True:
        if at >= n or shift > 56:
            return 0
        size |= <uint64_t> (p[at] & 127) << shift
        shift += 7
        at += 1
        if p[at - 1] < 128:
            break
    if (shift > 7 and p[at - 1] == 0) or size > n - at:
        return 0
    if tag == c"t":
        if depth == 0:
            return 0
        for i in range(size):
            at = _canonical_end(p, n, at, depth - 1)
            if at == 0:
                return 0
        return at
    if tag == c"s":
        return at + size if _is_utf8(p + at, size) else 0
    if tag == c"b":
        return at + size
    if tag != c"i":
        return 0
    i = at
    if size > 1 and p[i] == c"-":
        i += 1
    if i == at + size or (p[i] == c"0" and size > 1):
        return 0
    while i < at + size:
        if not (c"0" <= p[i] <= c"9" or c"a" <= p[i] <= c"f"):
            return 0
        i += 1
    return at + size


cdef inline bint _is_key(const Key* key, const uint8_t* text, size_t n_objects,
                         int depth) noexcept nogil:
    """Whether a model could have stored this key, whose bytes are at `text`."""
    cdef uint64_t kind = key_kind(key) & ~<uint64_t> KEY_LONG
    cdef size_t n = key_length(key)
    if kind == KEY_INT:
        return (key.hi == (<uint64_t> KEY_INT << 4 | 8)
                and key.lo + <uint64_t> 0x1FFFFFFFFFFFFFFE < <uint64_t> 0x3FFFFFFFFFFFFFFD)
    if kind == KEY_FLOAT:
        return key.hi == (<uint64_t> KEY_FLOAT << 4 | 8) and _is_fraction(&key.lo)
    if kind == KEY_OBJECT:
        return key.hi == (<uint64_t> KEY_OBJECT << 4 | 8) and key.lo < n_objects
    if kind != KEY_STR and kind != KEY_BYTES and kind != KEY_CANONICAL:
        return False
    if key_is_long(key):
        if n <= KEY_INLINE or key.hi & 15:
            return False
    elif key.lo & ~LAST_BYTES[n] or (key.hi & ~<uint64_t> 255) & ~BYTES_BEFORE[n]:
        return False
    if kind == KEY_STR:
        return _is_utf8(text, n)
    return kind == KEY_BYTES or _canonical_end(text, n, 0, depth) == n


cdef inline int flat_check_keys(const Flat* flat, size_t n_objects, int depth) noexcept nogil:
    """0, or what is wrong with the names. Tuples may be nested `depth` deep."""
    cdef size_t slot, text = 0
    cdef const Key* key
    cdef uint8_t inside[16]
    for slot in range(flat.n_keys):
        key = &flat.keys[slot]
        if slot < SLOTS_RESERVED:
            if key.lo or key.hi:
                return FLAT_KEY
            continue
        if not key_is_long(key):
            key_inline_bytes(key, inside)
            if not _is_key(key, inside, n_objects, depth):
                return FLAT_KEY
            continue
        if key.lo != text or key_length(key) > flat.n_texts - text:
            return FLAT_TEXTS
        if not _is_key(key, flat.texts + text, n_objects, depth):
            return FLAT_KEY
        text += key_length(key)
    return FLAT_TEXTS if text != flat.n_texts else 0


cdef inline bint flat_too_deep(const Flat* flat, int depth) noexcept nogil:
    """Whether a model has a name that flat_check_keys would refuse: tuples nested too deep."""
    cdef size_t slot
    cdef const Key* key
    cdef uint8_t inside[16]
    cdef const uint8_t* text
    for slot in range(SLOTS_RESERVED, flat.n_keys):
        key = &flat.keys[slot]
        if key_kind(key) & ~<uint64_t> KEY_LONG != KEY_CANONICAL:
            continue
        if key_is_long(key):
            text = flat.texts + key.lo
        else:
            key_inline_bytes(key, inside)
            text = inside
        if _canonical_end(text, key_length(key), 0, depth) != key_length(key):
            return True
    return False


# --- From arrays to a learner that has no names and no weights yet

cdef inline int _stored(Flat* flat, const Index* index, size_t places) noexcept nogil:
    """HASHED: make the bitmap of the stored slots. 0, or what is wrong."""
    cdef size_t i
    cdef uint32_t slot
    if flat.n_stored < SLOTS_RESERVED:
        return FLAT_SLOT
    flat.stored = <uint64_t*> calloc(4 * places, sizeof(uint64_t))
    if flat.stored == NULL:
        return FLAT_MEMORY
    for i in range(flat.n_stored):
        slot = flat.slots[i]
        if slot >= index.n_slots or (
                slot != i if i < SLOTS_RESERVED else slot <= flat.slots[i - 1]):
            return FLAT_SLOT
        flat.stored[slot // 64] |= <uint64_t> 1 << (slot % 64)
    return 0


cdef inline int _chunk_fault(const Flat* flat, const Table* table, size_t n_slots, size_t i,
                             size_t place) noexcept nogil:
    """0, or what is wrong with entry i of `chunks`, whose slots start at `place`."""
    cdef const uint32_t* entry = &flat.chunks[3 * i]
    cdef const uint32_t* before = &flat.chunks[3 * i - 3] if i else NULL
    cdef int f
    if (entry[0] >= <size_t> table.n_blocks or entry[1] > (n_slots - 1) >> CHUNK_BITS
            or _count(flat, n_slots, entry[1]) > flat.n_weights - place):
        return FLAT_CHUNK
    if entry[2] > (table.fold if table.average == AVERAGE_EXPONENTIAL else <uint32_t> 0):
        return FLAT_CHUNK
    if i and (entry[0] < before[0] or (entry[0] == before[0] and entry[1] <= before[1])):
        return FLAT_CHUNK
    if entry[1] == 0:               # which starts with the null slot
        for f in range(table.width):
            if flat.weights[place * table.width + f] != 0.0:
                return FLAT_NOBODYS
    return 0


cdef inline bint _unnamed_are_zero(const Table* table, const double* slots,
                                   size_t n) noexcept nogil:
    """Whether the last block's outputs that no label has are zero in these slots."""
    cdef int first = (
        <int> (table.n_outputs - (table.n_blocks - 1) * table.lanes) * table.layout.fields)
    cdef size_t i
    cdef int f
    for i in range(n):
        for f in range(first, table.width):
            if slots[i * table.width + f] != 0.0:
                return False
    return True


cdef inline int _table_begin(Flat* flat, const Index* index, Table* table, size_t n_slots,
                             Py_ssize_t n_outputs, bint whole) noexcept nogil:
    """Outputs and places for chunks; `whole`: there will be no more. 0, or what is wrong."""
    if (table_add_outputs(table, n_outputs - table.n_outputs) < 0
            or table_reserve_places(table, ((n_slots - 1) >> CHUNK_BITS) + 1, whole) < 0):
        return FLAT_MEMORY
    return _stored(flat, index, table.n_chunks) if index.bits else 0


cdef inline int flat_read(Flat* flat, Index* index, Table* table, Py_ssize_t n_outputs,
                          size_t n_objects, int depth) noexcept nogil:
    """Copy the arrays into index and table. 0, or what is wrong. Call flat_free in either case."""
    cdef size_t i, k, n, place = 0
    cdef size_t slot_bytes = table.width * sizeof(double)
    cdef size_t n_slots = index.n_slots if index.bits else flat.n_keys
    cdef const double* weights = flat.weights
    cdef double* chunk
    cdef Key key
    cdef uint64_t h
    cdef slot_t slot
    cdef int fault = flat_check_keys(flat, n_objects, depth)
    if fault:
        return fault
    if table.slot_kind == SLOTS_WEIGHTS:
        for i in range(flat.n_weights * table.width):
            if not isfinite(weights[i]):
                return FLAT_WEIGHT
    for i in range(SLOTS_RESERVED, flat.n_keys):
        key = flat.keys[i]
        if key_is_long(&key):
            key.lo = <uint64_t> <uintptr_t> (flat.texts + key.lo)
        h = key_hash(&index.seed, &key)
        if index_find(index, &key, h) != SLOT_NULL:
            return FLAT_TWICE
        if index_insert(index, &key, h) == SLOT_NULL:
            return FLAT_MEMORY
        if flat.stamps != NULL:
            index_stamp(index, <slot_t> i)[0] = flat.stamps[i]
    fault = _table_begin(flat, index, table, n_slots, n_outputs, index.bits != 0)
    if fault:
        return fault
    for i in range(flat.n_chunks):
        fault = _chunk_fault(flat, table, n_slots, i, place)
        if fault:
            return fault
        slot = flat.chunks[3 * i + 1] << CHUNK_BITS
        if table_reserve_blocks(table, &slot, 1, <slot_t> n_slots, &flat.chunks[3 * i], 1) < 0:
            return FLAT_MEMORY
        chunk = table_chunk(table, flat.chunks[3 * i], flat.chunks[3 * i + 1])
        n = _count(flat, n_slots, flat.chunks[3 * i + 1])
        if (table.slot_kind == SLOTS_WEIGHTS and flat.chunks[3 * i] == <size_t> table.n_blocks - 1
                and not _unnamed_are_zero(table, weights, n)):
            return FLAT_NOBODYS
        place += n
        if flat.stored == NULL:
            memcpy(chunk, weights, n * slot_bytes)
            weights += n * table.width
        else:
            for k in range(<size_t> CHUNK_SLOTS):
                if flat.stored[(slot + k) // 64] >> (k % 64) & 1:
                    memcpy(chunk + k * table.width, weights, slot_bytes)
                    weights += table.width
        if table.average == AVERAGE_EXPONENTIAL:
            table.blocks[flat.chunks[3 * i]].folds[flat.chunks[3 * i + 1]] = flat.chunks[3 * i + 2]
    return 0 if place == flat.n_weights else FLAT_CHUNK


cdef inline int flat_map(Flat* flat, Index* index, Table* table,
                         Py_ssize_t n_outputs) noexcept nogil:
    """Let index and table use the arrays in place; see flat_read.

    The arrays must outlive the learner, and nothing may be learned, because they are not its own.
    """
    cdef size_t i, place = 0
    cdef size_t n_slots = index.n_slots if index.bits else flat.n_keys
    cdef int fault = _table_begin(flat, index, table, n_slots, n_outputs, True)
    if fault:
        return fault
    index.lookup = <Lookup*> calloc(1, sizeof(Lookup))
    if index.lookup == NULL:
        return FLAT_MEMORY
    table.borrowed = True
    index.n_slots = <slot_t> n_slots
    index.lookup.keys = flat.keys
    index.lookup.texts = flat.texts
    index.lookup.n_texts = flat.n_texts
    index.lookup.words = flat.words
    index.lookup.n_words = flat.n_words
    index.lookup.slot_bits = _slot_bits(n_slots)
    for i in range(flat.n_chunks):
        fault = _chunk_fault(flat, table, n_slots, i, place)
        if fault:
            break
        table.blocks[flat.chunks[3 * i]].chunks[flat.chunks[3 * i + 1]] = (
            flat.weights + place * table.width)
        place += _count(flat, n_slots, flat.chunks[3 * i + 1])
        if table.average == AVERAGE_EXPONENTIAL:
            table.blocks[flat.chunks[3 * i]].folds[flat.chunks[3 * i + 1]] = flat.chunks[3 * i + 2]
    if index.bits:
        index.bytes += 4 * table.n_chunks * sizeof(uint64_t)
    index.lookup.stored = flat.stored   # the bitmap is the index's now
    flat.stored = NULL
    return fault if fault or place == flat.n_weights else FLAT_CHUNK
