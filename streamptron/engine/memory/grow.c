#include "memory/grow.h"

#include "memory/heap.h"

#include <string.h>

SP_APART SP_PRIVATE int sp_grow_all(const sp_growing *arrays, int n)
{
    for (int i = 0; i < n; i++) {
        void *p; /* arrays, and therefore their addresses, have any type */
        memcpy(&p, arrays[i].where, sizeof(p));
        p = sp_realloc(p, arrays[i].bytes);
        if (p == NULL)
            return -1;
        memcpy(arrays[i].where, &p, sizeof(p));
    }
    return 0;
}

SP_PRIVATE int sp_grow_now(void **p, size_t *capacity, size_t n, size_t size)
{
    const size_t room = n + n / 2 + 16;
    const sp_growing array = {p, room * size};
    if (sp_grow_all(&array, 1) < 0)
        return -1;
    *capacity = room;
    return 0;
}
