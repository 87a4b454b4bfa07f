#include "memory/places.h"

#include <string.h>

SP_RARE SP_PRIVATE void *sp_places_open(sp_places *places, void *array, size_t item,
                                        size_t capacity, size_t *bytes)
{
    void *opened = sp_realloc(array, capacity * item);
    if (opened == NULL)
        return NULL;
    *bytes += (capacity - places->capacity) * item;
    places->item = item;
    places->capacity = (uint32_t)capacity;
    return opened;
}

SP_PRIVATE void *sp_places_room(sp_places *places, void *array, size_t n, size_t *bytes)
{
    size_t step = SP_PLACES_STEP;
    if (4 * n < 3 * places->capacity)
        return array;
    if (places->next == NULL) {
        places->next = sp_malloc(2 * places->capacity * places->item);
        if (places->next == NULL)
            return NULL;
        *bytes += 2 * places->capacity * places->item;
    }
    if (n == places->capacity)
        step = n; /* a short array may still have all to copy */
    step = SP_MIN(step, n - places->copied);
    memcpy((uint8_t *)places->next + places->copied * places->item,
           (uint8_t *)array + places->copied * places->item, step * places->item);
    places->copied += (uint32_t)step;
    if (n < places->capacity)
        return array;
    *bytes -= places->capacity * places->item;
    sp_free(array);
    array = places->next;
    places->capacity *= 2;
    places->copied = 0;
    places->next = NULL;
    return array;
}
