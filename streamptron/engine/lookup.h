/* The number of bits that are set in a word. */

#ifndef STREAMPTRON_LOOKUP_H
#define STREAMPTRON_LOOKUP_H

#include "compiler.h"

#if defined(__GNUC__) || defined(__clang__)
  #define sp_bits(word) ((unsigned int)__builtin_popcountll(word))
#else
  static inline unsigned int sp_bits(uint64_t word)
  {
      unsigned int n = 0;
      for (; word; word &= word - 1) n++;
      return n;
  }
#endif

#endif
