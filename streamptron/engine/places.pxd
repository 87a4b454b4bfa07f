# Arrays that grow while they are in use, a little at a time.
#
# For every 256 rows there is a place that says where they are. An array of places twice as long,
# made and filled in one go when the old one is full, would be a step that one event takes for all
# others: at 64 million features it is 2 MB that nobody has touched. So the longer array is
# allocated when the old one is three quarters full, and each new place takes PLACES_STEP others
# along:
#
#     array   [ a b c d e f g h i j k l m . . . ]
#     next    [ a b c d e f g h . . . . . . . . . . . . . . . . . . . . . . . . ]
#                               ^copied
#
# When the old one is full everything has moved, and the next is the array. Until then the old one
# is read, by its plain address; who changes an entry does so in both (places_next). Memory that is
# not touched yet costs an event nothing.
#
# Functions in this file: places_open and places_room (these may fail), places_free, places_ahead,
# places_next, places_bytes.

from libc.string cimport memcpy, memset
from streamptron.engine.types cimport uint8_t, uint32_t
from streamptron.engine.heap cimport free, malloc, realloc

cdef enum:
    PLACES_STEP = 8

cdef struct Places:                 # of an array whose address its owner keeps
    size_t item                     # bytes an entry
    uint32_t capacity               # entries
    uint32_t copied                 # entries that are in the next array, too
    void* next                      # NULL: not yet


cdef inline size_t places_ahead(size_t n) noexcept nogil:
    """The capacity of an array of n entries that leaves time for the next one to be filled."""
    return n + n // 4 + 1


cdef inline void places_free(Places* places, void* array) noexcept nogil:
    free(array)
    free(places.next)
    memset(places, 0, sizeof(Places))


cdef inline void* places_open(Places* places, void* array, size_t item, size_t capacity,
                              size_t* bytes) noexcept nogil:
    """Room for so many entries at once; NULL without memory, and the array is as it was.

    None of them may be in a next array yet.
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
    """The array of n entries with room for one more; NULL without memory, and it is as it was."""
    cdef size_t step = PLACES_STEP
    if 4 * n < 3 * places.capacity:
        return array
    if places.next == NULL:
        places.next = malloc(2 * places.capacity * places.item)
        if places.next == NULL:
            return NULL
        bytes[0] += 2 * places.capacity * places.item
    if n == places.capacity:
        step = n                    # of a short array all may be left
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
    """Where entry i is once more, or NULL."""
    return <uint8_t*> places.next + i * places.item if i < places.copied else NULL


cdef inline size_t places_bytes(const Places* places) noexcept nogil:
    """What the array and the next one take."""
    return places.capacity * places.item * (1 if places.next == NULL else 3)
