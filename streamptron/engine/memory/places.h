/* Arrays that grow while they are in use, a little at a time.

   Every 256 slots have a place, which says where they are in memory. If a full array of places
   doubled in one go, one event would pay for all others: at 64 million features that is 2 MB of
   memory that no event has touched. So the longer array is allocated when the old one is three
   quarters full, and each new place copies SP_PLACES_STEP old ones:

       array   [ a b c d e f g h i j k l m . . . ]
       next    [ a b c d e f g h . . . . . . . . . . . . . . . . . . . . . . . . ]
                                 ^copied

   By the time the old array is full, everything has been copied, and the next array replaces it.
   Until then readers use the old one, by its plain address; a change of an entry is made in both
   (sp_places_next). Memory that has not been touched costs an event nothing. */

#ifndef STREAMPTRON_MEMORY_PLACES_H
#define STREAMPTRON_MEMORY_PLACES_H

#include "memory/heap.h"

#include <string.h>

enum {
    SP_PLACES_STEP = 8,
};

/* the array's own address is kept by its owner */
typedef struct sp_places {
    size_t item;       /* bytes per entry */
    uint32_t capacity; /* entries */
    uint32_t copied;   /* entries that are in the next array, too */
    void *next;        /* NULL: not begun */
} sp_places;

/* The capacity for n entries that leaves enough time to fill the next array before this one is
   full. */
static inline size_t sp_places_ahead(size_t n)
{
    return n + n / 4 + 1;
}

static inline void sp_places_free(sp_places *places, void *array)
{
    sp_free(array);
    sp_free(places->next);
    memset(places, 0, sizeof(sp_places));
}

/* Make room for `capacity` entries at once; NULL if out of memory, and the array is unchanged.

   No next array may have been begun. */
SP_PRIVATE void *sp_places_open(sp_places *places, void *array, size_t item, size_t capacity,
                                size_t *bytes);

/* The array of n entries with room for one more; NULL if out of memory, and it is unchanged. */
SP_PRIVATE void *sp_places_room(sp_places *places, void *array, size_t n, size_t *bytes);

/* The copy of entry i in the next array, or NULL. */
static inline void *sp_places_next(const sp_places *places, size_t i)
{
    return i < places->copied ? (uint8_t *)places->next + i * places->item : NULL;
}

/* The bytes of the array and the next one. */
static inline size_t sp_places_bytes(const sp_places *places)
{
    return places->capacity * places->item * (places->next == NULL ? 1 : 3);
}

#endif
