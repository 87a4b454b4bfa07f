/* memory/: blocks, bytes that are freed at once, arrays that grow while they are in use. */

#include "check.h"

#include "memory/arena.h"
#include "memory/places.h"
#include "memory/pool.h"

enum { BLOCKS = 200 };

/* Blocks are zeroed, do not overlap, stay where they are, and those given back come again. */
static void test_pool(void)
{
    sp_pool pool;
    uint8_t *blocks[BLOCKS] = {NULL};
    size_t sizes[BLOCKS];
    sp_pool_init(&pool, true);
    CHECK_SAME(sp_pool_reserve(&pool, 4096), 0);
    for (int turn = 0; turn < 4000; turn++) {
        uint32_t i = check_below(BLOCKS);
        if (blocks[i] != NULL) {
            for (size_t k = 0; k < sizes[i]; k++)
                CHECK_SAME(blocks[i][k], (uint8_t)i);
            sp_pool_give(&pool, blocks[i], sizes[i]);
            blocks[i] = NULL;
            continue;
        }
        sizes[i] = (size_t)64 << check_below(4);
        blocks[i] = (uint8_t *)sp_pool_take(&pool, sizes[i]);
        CHECK_SAME((uintptr_t)blocks[i] & 63, 0);
        for (size_t k = 0; k < sizes[i]; k++)
            CHECK_SAME(blocks[i][k], 0);
        memset(blocks[i], (int)i, sizes[i]);
        CHECK(pool.used <= pool.bytes);
    }
    sp_pool_free(&pool);
    CHECK_SAME(pool.bytes, 0);
}

/* What was allocated before a mark is still there after going back to it. */
static void test_arena(void)
{
    sp_arena arena;
    const uint8_t *texts[BLOCKS];
    uint8_t text[300];
    sp_arena_init(&arena);
    for (int turn = 0; turn < 50; turn++) {
        int n = 0;
        sp_arena_reset(&arena);
        for (; n < BLOCKS / 2; n++) {
            memset(text, n, sizeof(text));
            texts[n] = sp_arena_copy(&arena, text, sizeof(text));
        }
        sp_arena_point mark = sp_arena_savepoint(&arena);
        size_t bytes = arena.bytes;
        for (int i = 0; i < 40; i++) {
            size_t size = check_below(2 * SP_ARENA_BLOCK);
            uint8_t *p = sp_arena_alloc(&arena, size);
            memset(p, 255, size);
            sp_arena_return(&arena, size / 2);
        }
        sp_arena_rewind(&arena, mark);
        CHECK_SAME(arena.bytes, bytes);
        for (int i = 0; i < n; i++)
            CHECK(texts[i][0] == i && texts[i][299] == i);
    }
    sp_arena_free(&arena);
    CHECK_SAME(arena.bytes, 0);
}

/* A growing array has every entry, in both copies, and counts its bytes. */
static void test_places(void)
{
    sp_places places;
    size_t bytes = 0;
    memset(&places, 0, sizeof(places));
    uint32_t *array = (uint32_t *)sp_places_open(&places, NULL, sizeof(uint32_t),
                                                 sp_places_ahead(0), &bytes);
    for (uint32_t n = 0; n < 3000; n++) {
        array = (uint32_t *)sp_places_room(&places, array, n, &bytes);
        CHECK(n < places.capacity);
        array[n] = n;
        uint32_t changed = check_below(n + 1);
        uint32_t *next = (uint32_t *)sp_places_next(&places, changed);
        array[changed] = changed;
        if (next != NULL)
            CHECK_SAME(*next, changed);
        CHECK_SAME(bytes, sp_places_bytes(&places));
    }
    for (uint32_t i = 0; i < 3000; i++)
        CHECK_SAME(array[i], i);
    sp_places_free(&places, array);
}

/* Without memory the answer is NULL, and what there was is there. */
static void test_no_memory(void)
{
    sp_pool pool;
    sp_arena arena;
    sp_places places;
    size_t bytes = 0;
    sp_pool_init(&pool, false);
    sp_arena_init(&arena);
    memset(&places, 0, sizeof(places));
    check_fail_at(1);
    CHECK(sp_pool_take(&pool, 64) == NULL && check_has_failed());
    check_fail_at(1);
    CHECK(sp_pool_reserve(&pool, 64) < 0 || SP_ALONE);
    check_fail_at(1);
    CHECK(sp_arena_alloc(&arena, 64) == NULL && check_has_failed());
    check_fail_at(1);
    CHECK(sp_places_open(&places, NULL, 8, 4, &bytes) == NULL && check_has_failed());
    CHECK(pool.bytes == 0 && arena.bytes == 0 && bytes == 0);
    void *array = sp_places_open(&places, NULL, 8, 4, &bytes);
    check_fail_at(1);
    CHECK(sp_places_room(&places, array, 3, &bytes) == NULL && check_has_failed());
    CHECK_SAME(bytes, sp_places_bytes(&places));
    sp_places_free(&places, array);
    sp_pool_free(&pool);
    sp_arena_free(&arena);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    test_pool();
    test_arena();
    test_places();
    test_no_memory();
    return 0;
}
