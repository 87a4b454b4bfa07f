/* Arrays that grow: those that have one capacity are grown together.

       const sp_growing all[] = {SP_GROWING(event->keys, n), SP_GROWING(event->values, n)};
       if (sp_grow_all(all, 2) < 0)
           return -1;
       event->capacity = n;

   What is in an array stays. Without memory some may have grown and the others not: so the owner
   writes down the new capacity only when all have. */

#ifndef STREAMPTRON_MEMORY_GROW_H
#define STREAMPTRON_MEMORY_GROW_H

#include "memory/compiler.h"

typedef struct sp_growing {
    void *where; /* its address is kept here */
    size_t bytes;
} sp_growing;

/* An array that is to have room for n items. */
#define SP_GROWING(array, n) {&(array), (size_t)(n) * sizeof(*(array))}

/* -1 without memory. */
SP_PRIVATE int sp_grow_all(const sp_growing *arrays, int n);

/* The same of one array. */
#define SP_GROW(array, n) sp_grow_all(&(const sp_growing)SP_GROWING(array, n), 1)

SP_PRIVATE int sp_grow_now(void **p, size_t *capacity, size_t n, size_t size);

/* Let an array have room for n items of a size; if it has not, for half as many more. -1 without
   memory. */
static inline int sp_grow(void **p, size_t *capacity, size_t n, size_t size)
{
    return n <= *capacity ? 0 : sp_grow_now(p, capacity, n, size);
}

#endif
