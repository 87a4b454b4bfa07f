/* Mixing a key with the model's seed.

   hash(key) = fold((fold((lo ^ s0) * (hi ^ s1)) ^ s2) * M), where fold(a * b) is the xor of the two
   halves of the 128-bit product. That is two multiplications; the bytes of a long key go through
   the first one sixteen at a time. The construction is Wang Yi's wyhash (2019), with secret words
   throughout.

   The hash is a contract: a model with hash_bits finds its weights by it, in every process and on
   every machine, as long as the model exists. (Python's own hash of a str has a new salt in each
   process.)

   Someone who chooses the features (a spammer) must not be able to choose the collisions, too. So
   the seed belongs to the model, and is secret unless the user gives one. In the exact index a
   collision costs only time. */

#ifndef STREAMPTRON_NAMES_HASH_H
#define STREAMPTRON_NAMES_HASH_H

#include "memory/compiler.h"
#include "names/key.h"

/* The product of names/hash.h: the xor of its two halves. */

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

typedef struct sp_seed {
    uint64_t s0, s1, s2;
} sp_seed;

SP_PRIVATE sp_seed sp_seed_make(uint64_t number);

static inline uint64_t sp_hash_words(const sp_seed *seed, uint64_t lo, uint64_t hi)
{
    return sp_fold(sp_fold(lo ^ seed->s0, hi ^ seed->s1) ^ seed->s2, (uint64_t)0x9FB21C651E98DF25);
}

/* The hash of more than fifteen bytes. The last sixteen are read again rather than padded. */
static inline uint64_t sp_hash_bytes(const sp_seed *seed, const uint8_t *p, size_t n)
{
    uint64_t h = seed->s2;
    const uint8_t *last = p + n - 16;
    while (p < last) {
        h = sp_fold(sp_load8(p) ^ seed->s0 ^ h, sp_load8(p + 8) ^ seed->s1);
        p += 16;
    }
    return sp_fold(sp_load8(last) ^ seed->s0 ^ h, sp_load8(last + 8) ^ seed->s1);
}

SP_TEMPLATE uint64_t sp_key_hash(const sp_seed *seed, const sp_key *key)
{
    if (sp_key_is_long(key))
        return sp_hash_words(seed, sp_hash_bytes(seed, sp_key_bytes(key), sp_key_length(key)),
                             key->hi);
    return sp_hash_words(seed, key->lo, key->hi);
}

#endif
