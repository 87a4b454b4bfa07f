# Arrays that grow while they are in use, a little at a time.
#
# Every 256 slots have a place, which says where they are in memory. An array of places that doubled
# in one go when it is full would make one event pay for all others: at 64 million features that is
# 2 MB of memory that nobody has touched. So the longer array is allocated when the old one is three
# quarters full, and each new place takes PLACES_STEP old ones along:
#
#     array   [ a b c d e f g h i j k l m . . . ]
#     next    [ a b c d e f g h . . . . . . . . . . . . . . . . . . . . . . . . ]
#                               ^copied
#
# By the time the old array is full, everything has been copied, and the next array replaces it.
# Until then readers use the old one, by its plain address; whoever changes an entry changes it in
# both (places_next). Memory that has not been touched costs an event nothing.
#
# Functions in this file: places_open and places_room (these may fail), places_free, places_ahead,
# places_next, places_bytes.

from libc.string cimport memcpy, memset
from streamptron.engine.types cimport uint8_t, uint32_t
from streamptron.engine.heap cimport free, malloc, realloc

cdef enum:
    PLACES_STEP = 8

cdef struct Places:                 # the array's own address is kept by its owner
    size_t item                     # bytes per entry
    uint32_t capacity               # entries
    uint32_t copied                 # entries that are in the next array, too
    void* next                      # NULL: not begun


cdef inline size_t places_ahead(size_t n) noexcept nogil:
    """The capacity for n entries that leaves enough time to fill the next array."""
    return n + n // 4 + 1


cdef inline void places_free(Places* places, void* array) noexcept nogil:
    free(array)
    free(places.next)
    memset(places, 0, sizeof(Places))


cdef inline void* places_open(Places* places, void* array, size_t item, size_t capacity,
                              size_t* bytes) noexcept nogil:
    """Make room for `capacity` entries at once; NULL without memory, and the array is unchanged.

    No next array may have been begun.
    """
    cdef void* opened = realloc(array, capacity * item)
    if opened == NULL:
        return NULL
    bytes[0] += (capacity - places.capacity) * item
    places.item = item
    places.capacity = <uint32_t> capacity
    return opened


cdef inline void* places_room(Places* places, void* array, size_t n,
                              size_t* bytes) noexcept nogil:
    """The array of n entries with room for one more; NULL without memory, and it is unchanged."""
    cdef size_t step = PLACES_STEP
    if 4 * n < 3 * places.capacity:
        return array
    if places.next == NULL:
        places.next = malloc(2 * places.capacity * places.item)
        if places.next == NULL:
            return NULL
        bytes[0] += 2 * places.capacity * places.item
    if n == places.capacity:
        step = n                    # in a short array all may be left to copy
    step = min(step, n - places.copied)
    memcpy(<uint8_t*> places.next + places.copied * places.item,
           <uint8_t*> array + places.copied * places.item, step * places.item)
    places.copied += <uint32_t> step
    if n < places.capacity:
        return array
    bytes[0] -= places.capacity * places.item
    free(array)
    array = places.next
    places.capacity *= 2
    places.copied = 0
    places.next = NULL
    return array


cdef inline void* places_next(const Places* places, size_t i) noexcept nogil:
    """The copy of entry i in the next array, or NULL."""
    return <uint8_t*> places.next + i * places.item if i < places.copied else NULL


cdef inline size_t places_bytes(const Places* places) noexcept nogil:
    """The bytes of the array and the next one."""
    return places.capacity * places.item * (1 if places.next == NULL else 3)
