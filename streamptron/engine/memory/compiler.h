/* What differs from compiler to compiler, and limits that every room shares. */

#ifndef STREAMPTRON_MEMORY_COMPILER_H
#define STREAMPTRON_MEMORY_COMPILER_H


#if (defined(__linux__) || defined(__wasi__)) && !defined(_DEFAULT_SOURCE)
  #define _DEFAULT_SOURCE           /* mmap and madvise; for the library realpath, getentropy */
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(_MSC_VER) && !defined(__clang__)
  #include <intrin.h>
#endif

#if defined(__MINGW32__) && defined(__SSE2__)
  #include <emmintrin.h>
  #include <math.h>
  /* With MinGW the C library's sqrt rounds twice, and code that is compiled for size calls it. */
  static inline double sp_root(double x)
  {
      const __m128d of = _mm_set_sd(x);
      return _mm_cvtsd_f64(_mm_sqrt_sd(of, of));
  }
  #define sqrt sp_root
#endif

#define SP_SLOT_MAX UINT32_MAX

/* Sums of products of values, weights and counts up to this size stay far below the largest double,
   so that no finite input can lead to an infinite number inside. */
#define SP_VALUE_LIMIT 1e50
/* A mean of such values may be rounded to slightly more. */
#define SP_MEAN_LIMIT (SP_VALUE_LIMIT * (1.0 + 0x1p-30))
/* Weights in a file or after a merge are smaller, so that sums of weights times values stay
   finite. */
#define SP_WEIGHT_LIMIT 0x1p800
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


/* A function that no event waits for, or that runs once in a learner's life: compiled for size. */
#if defined(__GNUC__) || defined(__clang__)
  #define SP_RARE __attribute__((cold))
#else
  #define SP_RARE
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

/* A file that includes several rooms puts those that are compiled for size between these two. */
#if defined(__GNUC__) && !defined(__clang__)
  #if __GNUC__ >= 12
    /* and keep nothing in registers for a loop */
    #define SP_OPTIMIZE_SIZE \
      _Pragma("GCC optimize(\"Oz,no-tree-loop-im,no-move-loop-invariants,\
no-tree-dominator-opts\")")
  #else
    #define SP_OPTIMIZE_SIZE _Pragma("GCC optimize(\"Os\")")
  #endif
  #define SP_FOR_SIZE _Pragma("GCC push_options") SP_OPTIMIZE_SIZE
  #define SP_FOR_SIZE_END _Pragma("GCC pop_options")
#else
  #define SP_FOR_SIZE
  #define SP_FOR_SIZE_END
#endif

/* How many bits of a word are set. */
static inline uint32_t sp_ones(uint64_t word)
{
#if defined(_MSC_VER) && !defined(__clang__)
    uint32_t n = 0;
    for (; word; word &= word - 1) n++;
    return n;
#else
    return (uint32_t)__builtin_popcountll(word);
#endif
}

/* Prefetch all cache lines of a range of bytes. */
static inline void sp_prefetch_lines(const void *start, size_t size)
{
    uintptr_t line = (uintptr_t)start & ~(uintptr_t)63;
    for (; line < (uintptr_t)start + size; line += 64) sp_prefetch(line);
}

/* A function whose arguments are constants where it is called, or that runs for each feature of an
   event: each call compiles to code of its own, except where code is to be small. */
#if defined(STREAMPTRON_PLAIN)
  #define SP_TEMPLATE static inline
#elif defined(__GNUC__) || defined(__clang__)
  #define SP_TEMPLATE static inline __attribute__((always_inline))
#elif defined(_MSC_VER)
  #define SP_TEMPLATE static __forceinline
#else
  #define SP_TEMPLATE static inline
#endif

/* A function that is never inlined, so that the rest of its caller compiles to better code. */
#if defined(__GNUC__) || defined(__clang__)
  #define SP_APART __attribute__((noinline))
#elif defined(_MSC_VER)
  #define SP_APART __declspec(noinline)
#else
  #define SP_APART
#endif

/* A static function, or a variable, that may stay unused. */
#if defined(__GNUC__) || defined(__clang__)
  #define SP_UNSEEN static __attribute__((unused))
  #define SP_MAYBE_UNUSED __attribute__((unused))
#else
  #define SP_UNSEEN static
  #define SP_MAYBE_UNUSED
#endif

/* A function that is compiled twice; a machine with wider registers runs the wider version, which
   holds more sums side by side. No sum is split and none is fused, so no bit of a result changes.
   The dynamic linker makes the choice, which musl's cannot do. (GCC's target_clones do the same,
   but add 4.5 kB of code that tells all processors apart.) The body follows:

       SP_AVX2(double, sp_some, (const double *x, int n), (x, n))
       {
       }

   In it, `wide` is a constant: whether a register has four doubles, or is treated as if it had. On
   x86-64 without AVX2 four in two registers take longer than one by one; with -DSTREAMPTRON_FOURS
   they are used anyway, for tests. */
#if defined(__x86_64__) && !defined(STREAMPTRON_FOURS)
  #define SP_WIDE false
#else
  #define SP_WIDE true
#endif
#define SP_LISTED(...) __VA_ARGS__
#define SP_EITHER(type, name, parameters) \
    SP_TEMPLATE type name##_once(SP_MAYBE_UNUSED const bool wide, SP_LISTED parameters)
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) \
    && !defined(__SANITIZE_ADDRESS__)
  #include <cpuid.h>
  #if defined(__has_attribute) && __has_attribute(no_stack_protector)
    #define SP_NO_STACK_PROTECTOR __attribute__((no_stack_protector))
  #else
    #define SP_NO_STACK_PROTECTOR
  #endif
  #if defined(__has_attribute) && __has_attribute(no_sanitize_coverage)
    #define SP_NO_SANITIZE_COVERAGE __attribute__((no_sanitize_coverage))
  #else
    #define SP_NO_SANITIZE_COVERAGE
  #endif
  /* The choice is made before the program starts, when sanitizers, profilers and the stack's canary
     are not ready yet. So none of these may instrument it, and it calls no function, not even one
     of cpuid.h. */
  #define SP_AT_START \
      __attribute__((no_sanitize_thread, no_sanitize_undefined, no_instrument_function, \
                     no_profile_instrument_function, no_split_stack)) \
      SP_NO_STACK_PROTECTOR SP_NO_SANITIZE_COVERAGE
  /* Whether the processor has AVX2 (`wider`) or FMA, and the system saves wider registers. */
  SP_AT_START SP_UNSEEN SP_APART bool sp_machine_has(bool wider)
  {
      uint32_t most, a, b, c, d, kept, high;
      __cpuid(0, most, b, c, d);
      __cpuid(1, a, b, c, d);
      if ((c & bit_OSXSAVE) == 0 || (c & bit_AVX) == 0)
          return false;
      __asm__ volatile("xgetbv" : "=a"(kept), "=d"(high) : "c"(0));
      if ((kept & 6) != 6 || !wider)
          return (kept & 6) == 6 && (c & bit_FMA) != 0;
      if (most < 7)
          return false;
      __cpuid_count(7, 0, a, b, c, d);
      return (b & bit_AVX2) != 0;
  }
  #define SP_TWICE(machine, wider, storage, type, name, parameters, arguments) \
      SP_EITHER(type, name, parameters); \
      __attribute__((target(machine))) static type name##_more parameters \
      { \
          return name##_once(true, SP_LISTED arguments); \
      } \
      SP_UNSEEN type name##_plain parameters \
      { \
          return name##_once(SP_WIDE, SP_LISTED arguments); \
      } \
      SP_AT_START static type(*name##_choose(void)) parameters \
      { \
          return sp_machine_has(wider) ? name##_more : name##_plain; \
      } \
      __attribute__((ifunc(#name "_choose"))) storage type name parameters; \
      SP_EITHER(type, name, parameters)
  #define SP_AVX2(type, name, parameters, arguments) \
      SP_TWICE("avx2", true, SP_UNSEEN, type, name, parameters, arguments)
  #define SP_FUSING(storage, type, name, parameters, arguments) \
      SP_TWICE("fma", false, storage, type, name, parameters, arguments)
#else
  #define SP_AVX2(type, name, parameters, arguments) \
      SP_EITHER(type, name, parameters); \
      static inline type name parameters \
      { \
          return name##_once(SP_WIDE, SP_LISTED arguments); \
      } \
      SP_EITHER(type, name, parameters)
  #define SP_FUSING(storage, type, name, parameters, arguments) storage type name parameters
#endif

/* The same for functions that gain less: the library, which is kept small, has them only once. */
#ifdef SP_LIBRARY
  #define SP_SMALL 1
  #define SP_AVX2_UNLESS_SMALL(type, name, parameters, arguments) static inline type name parameters
#else
  #define SP_SMALL 0
  #define SP_AVX2_UNLESS_SMALL SP_AVX2
#endif

/* A double's bits. A pointer to one must not be read as a pointer to an int. */
SP_TEMPLATE uint64_t sp_bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

/* Whether n numbers are the same, bit for bit. For a few, this is faster than a call of memcmp. */
static inline bool sp_same_bits(const double *a, const double *b, int n)
{
    for (int i = 0; i < n; i++) {
        if (sp_bits_of(a[i]) != sp_bits_of(b[i]))
            return false;
    }
    return true;
}

SP_TEMPLATE double sp_from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* The smaller and the larger of two numbers of one type. */
#define SP_ORDER(name, type) \
    static inline type sp_min_##name(type a, type b) { return b < a ? b : a; } \
    static inline type sp_max_##name(type a, type b) { return b > a ? b : a; }
SP_ORDER(int, int)
SP_ORDER(slot, uint32_t)
SP_ORDER(word, uint64_t)
SP_ORDER(length, int64_t)
SP_ORDER(number, double)
#undef SP_ORDER
#if SIZE_MAX == UINT32_MAX /* with pointers of 32 bits, lengths of 64 bits are another type */
  #define SP_CHOOSE_MORE(which) , int64_t: which##_length, uint64_t: which##_word
#else
  #define SP_CHOOSE_MORE(which)
#endif
#define SP_CHOOSE(which, a, b) \
    _Generic((a) + (b), int: which##_int, uint32_t: which##_slot, size_t: which##_word, \
             ptrdiff_t: which##_length, double: which##_number SP_CHOOSE_MORE(which))(a, b)
#define SP_MIN(a, b) SP_CHOOSE(sp_min, a, b)
#define SP_MAX(a, b) SP_CHOOSE(sp_max, a, b)

/* Who may call a function. SP_PRIVATE: other rooms. SP_HOT: only the rooms of part_path.c. SP_API:
   code outside the engine. SP_PRIVATE is static where the engine is compiled as one file
   (streamptron.c), SP_HOT also where it is compiled in parts, and SP_API in the library
   (library/library.c), which leaves out what it does not use. With STREAMPTRON_OPEN none is static,
   as tests/engine/ calls them all. */
#if defined(__GNUC__) || defined(__clang__)
  #define SP_SEEN extern __attribute__((visibility("hidden")))
#else
  #define SP_SEEN extern
#endif
#if defined(SP_ONE_FILE) && !defined(STREAMPTRON_OPEN)
  #define SP_PRIVATE SP_UNSEEN
#else
  #define SP_PRIVATE SP_SEEN
#endif
#if (defined(SP_ONE_FILE) || defined(SP_PATH)) && !defined(STREAMPTRON_OPEN)
  #define SP_HOT SP_UNSEEN
#else
  #define SP_HOT SP_SEEN
#endif
#if defined(SP_LIBRARY) && !defined(STREAMPTRON_OPEN)
  #define SP_API SP_UNSEEN
#else
  #define SP_API SP_SEEN
#endif
/* A table that another file defines. */
#define SP_DATA SP_SEEN

/* For a constant that is all zeros: it takes no space in a program's file. */
#if defined(__ELF__) || defined(__wasm__)
  #define SP_NO_BYTES __attribute__((section(".bss.sp_zeros")))
#else
  #define SP_NO_BYTES
#endif

#endif
