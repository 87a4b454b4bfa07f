/* Bytes that never move and are freed all at once: the long keys.

   Blocks are linked from the newest to the oldest. A text larger than a block gets a block of its
   own. */

#ifndef STREAMPTRON_MEMORY_ARENA_H
#define STREAMPTRON_MEMORY_ARENA_H

#include "memory/heap.h"

#include <string.h>

enum {
    SP_ARENA_BLOCK = 16384,
};

typedef struct sp_arena_block {
    struct sp_arena_block *older;
    size_t size;
    size_t used;
} sp_arena_block;

typedef struct sp_arena {
    sp_arena_block *newest;
    size_t bytes; /* taken from the heap */
} sp_arena;

/* how far an arena was filled */
typedef struct sp_arena_point {
    sp_arena_block *newest;
    size_t used;
} sp_arena_point;

SP_RARE static inline void sp_arena_init(sp_arena *arena)
{
    arena->newest = NULL;
    arena->bytes = 0;
}

SP_API void sp_arena_free(sp_arena *arena);

/* Keep the newest block alone, and only if it is of the usual size. */
SP_PRIVATE void sp_arena_shrink(sp_arena *arena);

/* Forget the texts, but keep a block of the usual size for the next ones. */
static inline void sp_arena_reset(sp_arena *arena)
{
    sp_arena_block *newest = arena->newest;
    if (newest == NULL)
        return;
    newest->used = 0;
    if (newest->older != NULL || newest->size > SP_ARENA_BLOCK)
        sp_arena_shrink(arena);
}

/* A new block that has room for n bytes; NULL if out of memory. */
SP_UNSEEN SP_APART sp_arena_block *sp_arena_open(sp_arena *arena, size_t n)
{
    size_t size = n > SP_ARENA_BLOCK ? n : SP_ARENA_BLOCK;
    sp_arena_block *block = (sp_arena_block *)sp_malloc(sizeof(sp_arena_block) + size);
    if (block == NULL)
        return NULL;
    block->size = size;
    block->used = 0;
    block->older = arena->newest;
    arena->newest = block;
    arena->bytes += sizeof(sp_arena_block) + size;
    return block;
}

/* n bytes; the sixteen before them may be read (see key_text). NULL if out of memory. */
static inline uint8_t *sp_arena_alloc(sp_arena *arena, size_t n)
{
    sp_arena_block *block = arena->newest;
    uint8_t *start;
    if (block == NULL || block->size - block->used < n) {
        block = sp_arena_open(arena, n);
        if (block == NULL)
            return NULL;
    }
    start = (uint8_t *)block + sizeof(sp_arena_block) + block->used;
    block->used += n;
    return start;
}

static inline sp_arena_point sp_arena_savepoint(const sp_arena *arena)
{
    sp_arena_point mark;
    mark.newest = arena->newest;
    mark.used = arena->newest == NULL ? 0 : arena->newest->used;
    return mark;
}

/* Give back everything that was allocated after the mark. */
SP_PRIVATE void sp_arena_rewind(sp_arena *arena, sp_arena_point mark);

/* Give back the last n bytes of the latest allocation. */
static inline void sp_arena_return(sp_arena *arena, size_t n)
{
    if (n > 0)
        arena->newest->used -= n;
}

static inline uint8_t *sp_arena_copy(sp_arena *arena, const uint8_t *p, size_t n)
{
    uint8_t *start = sp_arena_alloc(arena, n);
    if (start != NULL)
        memcpy(start, p, n);
    return start;
}

#endif
