/* The product of hash.pxd: the xor of its two halves. */

#ifndef STREAMPTRON_HASH_H
#define STREAMPTRON_HASH_H

#include "compiler.h"

#if defined(_MSC_VER) && !defined(__clang__)
  static inline uint64_t sp_fold(uint64_t a, uint64_t b)
  {
      return a * b ^ __umulh(a, b);
  }
#elif !defined(__SIZEOF_INT128__)
  #error "streamptron needs a 64-bit machine: this compiler has no 128-bit integers"
#else
  static inline uint64_t sp_fold(uint64_t a, uint64_t b)
  {
      unsigned __int128 product = (unsigned __int128)a * b;
      return (uint64_t)product ^ (uint64_t)(product >> 64);
  }
#endif

#endif
