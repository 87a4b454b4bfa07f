# An event as bytes, to be learned later.
#
# The entries follow each other in the event's order: a head of one byte, the name, the value.
#
#     head     [value 1 bit | kind 3 bits | length 4 bits]; the kinds of engine/key.pxd
#     length   of the name, 0 to 14; 15: it comes next, seven bits a byte, the lowest first
#     name     STR, BYTES, CANONICAL   its bytes
#              INT                     its zigzag (0, -1, 1, -2 ..), little-endian, without zeros
#              FLOAT                   its eight bytes
#              OBJECT                  JSON that Python code has written (estimator/packed.py)
#     value    bit 0: it is 1, and takes nothing. Else a byte of 0 to 253: that number;
#              254: a float32 follows, 255: a float64
#
#     {"spam": 1, "eggs": 2}    14 s p a m   94 e g g s 02        11 bytes
#
# So a word costs its bytes and one. What reads it trusts nothing: each name must be one that a
# model could have stored, each value finite and not 0.
#
# Functions in this file: packed_size, packed_write, packed_next.

from libc.math cimport fabs
from libc.string cimport memcpy, memset
from streamptron.engine.event cimport Event
from streamptron.engine.flat cimport FLAT_DEPTH, _is_key
from streamptron.engine.key cimport (
    KEY_CANONICAL, KEY_FLOAT, KEY_INT, KEY_LONG, KEY_NONE, KEY_OBJECT, KEY_STR, Key, key_bytes,
    key_inline_bytes, key_is_long, key_kind, key_length, key_text, key_word, load8, store8)
from streamptron.engine.types cimport VALUE_LIMIT, uint8_t, uint64_t

cdef enum:
    PACKED_LENGTH = 15              # in a head: the length comes next
    PACKED_BEFORE = 16              # bytes that must lie before the entries, see key_text
    PACKED_FLOAT32 = 254
    PACKED_FLOAT64 = 255

    PACKED_OBJECT = -1              # why an event has no size
    PACKED_DEEP = -2

cdef struct Packed:                 # an entry as it is read
    int kind
    Key key
    double value
    const uint8_t* name             # where its bytes are
    size_t n


cdef inline uint64_t _zigzag(uint64_t word) noexcept nogil:
    return word << 1 ^ (0 - (word >> 63))


cdef inline int _int_bytes(uint64_t number) noexcept nogil:
    """How many bytes it takes without leading zeros."""
    cdef int n = 0
    while number:
        n += 1
        number >>= 8
    return n


cdef inline size_t _name_size(const Key* key, uint64_t kind) noexcept nogil:
    return _int_bytes(_zigzag(key.lo)) if kind == KEY_INT else key_length(key)


cdef inline int _value_size(double value) noexcept nogil:
    if value == 1.0:
        return 0
    if 0.0 <= value < PACKED_FLOAT32 and value == <double> <int> value:
        return 1
    return 5 if value == <double> <float> value else 9


cdef inline Py_ssize_t packed_size(const Event* event, Py_ssize_t first,
                                   Py_ssize_t last) noexcept nogil:
    """Bytes that these entries take. PACKED_OBJECT: a name is an object, of which only Python knows
    more; PACKED_DEEP: one is of tuples nested too deep.
    """
    cdef Py_ssize_t i, size = 0
    cdef size_t n
    cdef uint64_t kind
    cdef uint8_t inside[16]
    cdef const uint8_t* text
    for i in range(first, last):
        kind = key_kind(&event.keys[i]) & ~<uint64_t> KEY_LONG
        if kind == KEY_OBJECT or kind == KEY_NONE:
            return PACKED_OBJECT
        n = _name_size(&event.keys[i], kind)
        if kind == KEY_CANONICAL:
            text = key_bytes(&event.keys[i])
            if not key_is_long(&event.keys[i]):
                key_inline_bytes(&event.keys[i], inside)
                text = inside
            if not _is_key(&event.keys[i], text, 0, FLAT_DEPTH):
                return PACKED_DEEP
        size += 1 + <Py_ssize_t> n + _value_size(event.values[i])
        if n >= PACKED_LENGTH:
            while n:
                size += 1
                n >>= 7
    return size


cdef inline void packed_write(const Event* event, Py_ssize_t first, Py_ssize_t last,
                              uint8_t* p) noexcept nogil:
    """Write them; there is room for packed_size bytes."""
    cdef Py_ssize_t i
    cdef const Key* key
    cdef uint8_t inside[16]
    cdef uint64_t kind
    cdef size_t n, left
    cdef double value
    cdef float narrow
    for i in range(first, last):
        key = &event.keys[i]
        value = event.values[i]
        kind = key_kind(key) & ~<uint64_t> KEY_LONG
        n = _name_size(key, kind)
        p[0] = <uint8_t> ((value != 1.0) << 7 | <int> kind << 4 | <int> min(
            n, <size_t> PACKED_LENGTH))
        p += 1
        if n >= PACKED_LENGTH:
            left = n
            while left > 127:
                p[0] = <uint8_t> (128 | (left & 127))
                p += 1
                left >>= 7
            p[0] = <uint8_t> left
            p += 1
        if key_is_long(key):
            memcpy(p, key_bytes(key), n)
        elif kind == KEY_INT:
            store8(inside, _zigzag(key.lo))
            memcpy(p, inside, n)
        elif kind == KEY_FLOAT:
            store8(p, key.lo)
        else:
            key_inline_bytes(key, inside)
            memcpy(p, inside, n)
        p += n
        if value == 1.0:
            continue
        if _value_size(value) == 1:
            p[0] = <uint8_t> <int> value
            p += 1
        elif _value_size(value) == 5:
            p[0] = PACKED_FLOAT32
            narrow = <float> value
            memcpy(p + 1, &narrow, 4)
            p += 5
        else:
            p[0] = PACKED_FLOAT64
            memcpy(p + 1, &value, 8)
            p += 9


cdef inline const uint8_t* _read_name(Packed* entry, const uint8_t* p, size_t n) noexcept nogil:
    """The key of n bytes at p. Returns their end, or NULL."""
    cdef uint8_t inside[8]
    cdef uint64_t number
    entry.name = p
    entry.n = n
    if entry.kind == KEY_OBJECT:
        entry.key = key_word(KEY_OBJECT, 0)
        return p + n
    if entry.kind == KEY_INT:
        if n > 8 or (n and p[n - 1] == 0):
            return NULL
        store8(inside, 0)
        memcpy(inside, p, n)
        number = load8(inside)
        entry.key = key_word(KEY_INT, number >> 1 ^ (0 - (number & 1)))
    elif entry.kind == KEY_FLOAT:
        if n != 8:
            return NULL
        entry.key = key_word(KEY_FLOAT, load8(p))
    elif entry.kind < KEY_STR or entry.kind > KEY_OBJECT:
        return NULL
    else:
        entry.key = key_text(entry.kind, p, n)
    return p + n if _is_key(&entry.key, p, 0, FLAT_DEPTH) else NULL


cdef inline const uint8_t* packed_next(const uint8_t* p, const uint8_t* end,
                                       Packed* entry) noexcept nogil:
    """Read the entry at p. Returns where the next one starts; NULL: it is none.

    PACKED_BEFORE bytes before the first entry may be read, too.
    """
    cdef int head, shift = 0, code, byte
    cdef size_t n
    cdef float narrow
    memset(entry, 0, sizeof(Packed))
    if p == end:
        return NULL
    head = p[0]
    p += 1
    entry.kind = head >> 4 & 7
    n = head & PACKED_LENGTH
    if n == PACKED_LENGTH:
        n = 0
        while True:
            if p == end or shift > 42:
                return NULL
            byte = p[0]
            n |= <size_t> (byte & 127) << shift
            shift += 7
            p += 1
            if byte < 128:
                break
        if n < PACKED_LENGTH:
            return NULL
    if n > <size_t> (end - p):
        return NULL
    p = _read_name(entry, p, n)
    entry.value = 1.0
    if p == NULL or not head >> 7:
        return p
    if p == end:
        return NULL
    code = p[0]
    p += 1
    if code < PACKED_FLOAT32:
        entry.value = code
    elif code == PACKED_FLOAT32:
        if end - p < 4:
            return NULL
        memcpy(&narrow, p, 4)
        entry.value = narrow
        p += 4
    else:
        if end - p < 8:
            return NULL
        memcpy(&entry.value, p, 8)
        p += 8
    return p if fabs(entry.value) <= VALUE_LIMIT and entry.value != 0.0 else NULL
