/* Memory from the system: every allocation of our C code goes through here, and nowhere else
   (tests/test_architecture.py looks for calls that bypass this room).

   With -DSTREAMPTRON_FAIL any of these calls can be made to find no memory: the n-th from now
   (sp_heap_left = n), or that one and all after it (sp_heap_lasts). So the tests, on Linux, check
   which error is raised, and that nothing has changed. The counters are unique objects: a process
   has one of each, however many compiled modules define them. Without the flag the calls are the C
   library's, and nothing is counted. */

#ifndef STREAMPTRON_MEMORY_HEAP_H
#define STREAMPTRON_MEMORY_HEAP_H

#include "memory/compiler.h"

#if defined(__linux__)
    #include <sys/mman.h>
#endif

#if defined(STREAMPTRON_FAIL)
    #define SP_FAIL 1
    #define SP_UNIQUE(name)                                                          \
        extern int64_t name;                                                         \
        __asm__(".pushsection .bss." #name ",\"awG\",@nobits," #name ",comdat\n"     \
                ".balign 8\n.globl " #name "\n.type " #name ", @gnu_unique_object\n" \
                ".size " #name ", 8\n" #name ": .zero 8\n.popsection");
SP_UNIQUE(sp_heap_left)  /* calls until one fails; 0: none does, -1: all do */
SP_UNIQUE(sp_heap_lasts) /* whether all calls after it fail, too */

static inline int sp_heap_fails(void)
{
    if (sp_heap_left == 0)
        return 0;
    if (sp_heap_left < 0)
        return 1;
    sp_heap_left -= 1;
    if (sp_heap_left)
        return 0;
    if (sp_heap_lasts)
        sp_heap_left = -1;
    return 1;
}
static inline int64_t sp_heap_fail_at(int64_t n, int lasts)
{
    int64_t left = sp_heap_left;
    sp_heap_left = n;
    sp_heap_lasts = lasts;
    return left;
}
#else
    #define SP_FAIL 0
    #define sp_heap_fails() 0
    #define sp_heap_fail_at(n, lasts) ((void)(n), (void)(lasts), 0)
#endif

/* A program that embeds the engine may compile it with its own allocator: define all four, or
   none. */
#if !defined(STREAMPTRON_MALLOC)
    #define STREAMPTRON_MALLOC malloc
    #define STREAMPTRON_CALLOC calloc
    #define STREAMPTRON_REALLOC realloc
    #define STREAMPTRON_FREE free
#endif

static inline void *sp_malloc(size_t n)
{
    return sp_heap_fails() ? NULL : STREAMPTRON_MALLOC(n);
}
static inline void *sp_calloc(size_t n, size_t size)
{
    return sp_heap_fails() ? NULL : STREAMPTRON_CALLOC(n, size);
}
static inline void *sp_realloc(void *p, size_t n)
{
    return sp_heap_fails() ? NULL : STREAMPTRON_REALLOC(p, n);
}
static inline void sp_free(void *p)
{
    STREAMPTRON_FREE(p);
}

#if defined(__linux__)
static inline void *sp_map(size_t n)
{
    void *p = sp_heap_fails()
                  ? MAP_FAILED
                  : mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}
static inline void sp_unmap(void *p, size_t n)
{
    munmap(p, n);
}
#endif

/* The memory that malloc(n) really takes: most allocators add a word and round up to 16. */
static inline size_t sp_heap_bytes(size_t n)
{
    return n > 24 ? (n + 8 + 15) & ~(size_t)15 : 32;
}

#endif
