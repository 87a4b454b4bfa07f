#include "memory/pool.h"

#include <string.h>

SP_RARE SP_PRIVATE void sp_pool_free(sp_pool *pool)
{
    sp_region *older;
    while (pool->newest != NULL) {
        older = pool->newest->older;
        sp_region_free(pool->newest, pool->newest->size);
        pool->newest = older;
    }
    sp_pool_init(pool, pool->scattered);
}

SP_RARE SP_PRIVATE int sp_region_open(sp_pool *pool, size_t size)
{
    sp_region *region = (sp_region *)sp_region_alloc(size);
    if (region == NULL)
        return -1;
    region->older = pool->newest;
    region->size = size;
    pool->newest = region;
    pool->cut = SP_REGION_HEADER;
    pool->bytes += SP_REGION_HEADER + SP_REGION_OVERHEAD;
    return 0;
}

SP_PRIVATE void *sp_pool_take(sp_pool *pool, size_t n)
{
    sp_returned *block = pool->returned;
    size_t size = sp_pool_block(n);
    if (block != NULL && block->size == size) {
        pool->returned = block->next;
        pool->used += size;
        return memset(block, 0, n);
    }
    if (pool->newest == NULL || pool->newest->size - pool->cut < n) {
        if (pool->newest != NULL)
            sp_region_full(pool->newest, pool->newest->size);
        size_t region = SP_REGION_HEADER + sp_lines(n);
        if (!SP_ALONE)
            region += SP_MIN(pool->bytes / SP_REGION_SHARE, (size_t)SP_REGION_MOST) / size * size;
        if (SP_HUGE_PAGES && pool->scattered && pool->bytes >= SP_HUGE_PAGES_LEAST
            && region < SP_HUGE)
            region = SP_HUGE;
        if (sp_region_open(pool, region) < 0)
            return NULL;
    }
    block = (sp_returned *)((uint8_t *)pool->newest + pool->cut);
    pool->used += size;
    size = SP_MIN(size, pool->newest->size - pool->cut); /* nothing follows the last block */
    pool->cut += size;
    pool->bytes += size;
    return block;
}
