/* What the engine's own tests are written in: checks, a seeded generator, memory that runs out.

   A program takes its seed as its only argument. A check that fails says where, and what the
   numbers were, and with which seed; then the program ends. */

#ifndef CHECK_H
#define CHECK_H

#include "memory/heap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t check_seed = 1;
static uint64_t check_state = 1;
static const char *check_about = ""; /* what is being tested, if there are several */

#define CHECK_FAILED(...)                                                     \
    do {                                                                      \
        fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                       \
        fprintf(stderr, __VA_ARGS__);                                         \
        fprintf(stderr, " (seed %" PRIu64 ") %s\n", check_seed, check_about); \
        exit(1);                                                              \
    } while (0)

#define CHECK(truth)                    \
    do {                                \
        if (!(truth))                   \
            CHECK_FAILED("%s", #truth); \
    } while (0)

/* Two whole numbers are the same. */
#define CHECK_SAME(a, b)                                                                 \
    do {                                                                                 \
        int64_t check_a = (int64_t)(a), check_b = (int64_t)(b);                          \
        if (check_a != check_b)                                                          \
            CHECK_FAILED("%s is %" PRId64 ", %s is %" PRId64, #a, check_a, #b, check_b); \
    } while (0)

/* Two doubles have the same value, to the last bit. */
#define CHECK_EQUAL(a, b)                                                       \
    do {                                                                        \
        double check_a = (a), check_b = (b);                                    \
        if (!(check_a == check_b))                                              \
            CHECK_FAILED("%s is %.17g, %s is %.17g", #a, check_a, #b, check_b); \
    } while (0)

/* Nothing is wrong with what a room has looked at in full. */
#define CHECK_SOUND(fault)                   \
    do {                                     \
        const char *check_fault = (fault);   \
        if (check_fault != NULL)             \
            CHECK_FAILED("%s", check_fault); \
    } while (0)

static inline void check_begin(int argc, char **argv)
{
    check_seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    check_state = check_seed;
}

/* A random word: Steele, Lea & Flood 2014. */
static inline uint64_t check_random(void)
{
    uint64_t z = check_state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* A random number below n. */
static inline uint32_t check_below(uint32_t n)
{
    return (uint32_t)((check_random() >> 32) * n >> 32);
}

/* Let the n-th allocation from now fail; after that, was there one that failed? */
static inline void check_fail_at(int64_t n)
{
    (void)sp_heap_fail_at(n, 0);
}

static inline bool check_has_failed(void)
{
    return sp_heap_fail_at(0, 0) == 0;
}

#endif
