#include "memory/arena.h"

SP_RARE SP_API void sp_arena_free(sp_arena *arena)
{
    sp_arena_block *older;
    while (arena->newest != NULL) {
        older = arena->newest->older;
        sp_free(arena->newest);
        arena->newest = older;
    }
    arena->bytes = 0;
}

SP_RARE SP_PRIVATE void sp_arena_shrink(sp_arena *arena)
{
    sp_arena_block *newest = arena->newest;
    if (newest->size > SP_ARENA_BLOCK) {
        sp_arena_free(arena);
        return;
    }
    arena->newest = newest->older;
    sp_arena_free(arena);
    newest->older = NULL;
    arena->newest = newest;
    arena->bytes = sizeof(sp_arena_block) + newest->size;
}

SP_PRIVATE void sp_arena_rewind(sp_arena *arena, sp_arena_point mark)
{
    sp_arena_block *newest;
    while (arena->newest != mark.newest) {
        newest = arena->newest;
        arena->newest = newest->older;
        arena->bytes -= sizeof(sp_arena_block) + newest->size;
        sp_free(newest);
    }
    if (arena->newest != NULL)
        arena->newest->used = mark.used;
}
