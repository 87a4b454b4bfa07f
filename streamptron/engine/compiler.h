/* What differs from compiler to compiler, and limits that every room shares. */

#ifndef STREAMPTRON_COMPILER_H
#define STREAMPTRON_COMPILER_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(_MSC_VER) && !defined(__clang__)
  #include <intrin.h>
#endif

#define SP_SLOT_MAX UINT32_MAX

/* Sums of products of values, weights and counts up to this size stay far below the largest double,
   so that no finite input can lead to an infinite number inside. */
#define SP_VALUE_LIMIT 1e50
#define SP_VALUE_LIMIT_BITS UINT64_C(0x4a511b0ec57e649a)

/* The empty asm is for GCC: it drops calls of a function that does nothing but prefetch, since it
   sees no effect in it. */
#if defined(__GNUC__) || defined(__clang__)
  #define sp_prefetch(address) \
      do { \
          __builtin_prefetch((const void *)(address)); \
          __asm__ volatile(""); \
      } while (0)
#else
  #define sp_prefetch(address) ((void)(address))
#endif

/* A function that is compiled twice; a machine with wider registers runs the wider version. They
   hold more sums side by side. No sum is split and none is fused, so no bit of a result changes.
   The dynamic linker makes the choice, which musl's cannot do. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) \
    && !defined(__SANITIZE_ADDRESS__)
  #define SP_WIDER __attribute__((target_clones("avx2", "default")))
#else
  #define SP_WIDER
#endif

/* The number of zeros below the lowest bit that is set, of a word that is not 0. */
static inline int sp_zeros_below(uint64_t word)
{
#if defined(_MSC_VER) && !defined(__clang__)
    unsigned long at;
    _BitScanForward64(&at, word);
    return (int)at;
#else
    return __builtin_ctzll(word);
#endif
}

/* Prefetch all cache lines of a range of bytes. */
static inline void sp_prefetch_lines(const void *start, size_t size)
{
    uintptr_t line = (uintptr_t)start & ~(uintptr_t)63;
    for (; line < (uintptr_t)start + size; line += 64) sp_prefetch(line);
}

/* A function whose arguments are constants where it is called: each call compiles to a loop of its
   own. */
#if defined(__GNUC__) || defined(__clang__)
  #define SP_TEMPLATE static inline __attribute__((always_inline))
#elif defined(_MSC_VER)
  #define SP_TEMPLATE static __forceinline
#else
  #define SP_TEMPLATE static inline
#endif

#endif
