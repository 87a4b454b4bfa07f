/* Arrays that grow. Arrays with the same capacity are grown together.

       const sp_growing all[] = {SP_GROWING(event->keys, n), SP_GROWING(event->values, n)};
       if (sp_grow_all(all, 2) < 0)
           return -1;
       event->capacity = n;

   An array keeps its contents. If memory runs out, some may have grown and others not, so the owner
   sets the new capacity only when all have. */

#ifndef STREAMPTRON_MEMORY_GROW_H
#define STREAMPTRON_MEMORY_GROW_H

#include "memory/compiler.h"

typedef struct sp_growing {
    void *where; /* its address is kept here */
    size_t bytes;
} sp_growing;

/* An array that is to have room for n items. */
#define SP_GROWING(array, n) {&(array), (size_t)(n) * sizeof(*(array))}

/* -1 if out of memory. */
SP_PRIVATE int sp_grow_all(const sp_growing *arrays, int n);

/* The same for one array. */
#define SP_GROW(array, n) sp_grow_all(&(const sp_growing)SP_GROWING(array, n), 1)

SP_PRIVATE int sp_grow_now(void **p, size_t *capacity, size_t n, size_t size);

/* Make sure that an array has room for n items of a size. If not, it gets room for half as many
   more. -1 if out of memory. */
static inline int sp_grow(void **p, size_t *capacity, size_t n, size_t size)
{
    return n <= *capacity ? 0 : sp_grow_now(p, capacity, n, size);
}

#endif
