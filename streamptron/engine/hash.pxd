# Mixing a key with the model's seed.
#
# hash(key) = fold(fold((lo ^ s0) * (hi ^ s1)) ^ s2) * M), where fold(a * b) is the xor of the two
# halves of the 128-bit product. Two multiplications; the bytes of a long key go through the first
# one sixteen at a time. The construction is Wang Yi's wyhash (2019), with secret words throughout.
#
# The hash is a contract: a model with hash_bits finds its weights by it, in every process and on
# every machine, for as long as the model lives. (Python's own hash of a str has a new salt in each
# process.)
#
# Whoever chooses the features (a spammer) must not be able to choose the collisions too. So the
# seed belongs to the model, and is secret unless the user gives one. In the exact index a collision
# costs only time.
#
# Functions in this file: key_hash, of hash_words and hash_bytes; seed_make, seed_next.

from streamptron.engine.types cimport uint64_t, uint8_t
from streamptron.engine.key cimport Key, key_bytes, key_is_long, key_length, load8

cdef extern from "hash.h":
    uint64_t fold "sp_fold" (uint64_t a, uint64_t b) noexcept nogil

cdef struct Seed:
    uint64_t s0, s1, s2


cdef inline uint64_t seed_next(uint64_t* state) noexcept nogil:
    """The next word of splitmix64 (Steele, Lea & Flood 2014)."""
    cdef uint64_t z
    state[0] += <uint64_t> 0x9E3779B97F4A7C15
    z = state[0]
    z = (z ^ (z >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t> 0x94D049BB133111EB
    return z ^ (z >> 31)


cdef inline Seed seed_make(uint64_t number) noexcept nogil:
    cdef Seed seed
    cdef uint64_t state = number
    seed.s0 = seed_next(&state)
    seed.s1 = seed_next(&state)
    seed.s2 = seed_next(&state)
    return seed


cdef inline uint64_t hash_words(const Seed* seed, uint64_t lo, uint64_t hi) noexcept nogil:
    return fold(fold(lo ^ seed.s0, hi ^ seed.s1) ^ seed.s2, <uint64_t> 0x9FB21C651E98DF25)


cdef inline uint64_t hash_bytes(const Seed* seed, const uint8_t* p, size_t n) noexcept nogil:
    """The hash of more than fifteen bytes. The last sixteen are read again rather than padded."""
    cdef uint64_t h = seed.s2
    cdef const uint8_t* last = p + n - 16
    while p < last:
        h = fold(load8(p) ^ seed.s0 ^ h, load8(p + 8) ^ seed.s1)
        p += 16
    return fold(load8(last) ^ seed.s0 ^ h, load8(last + 8) ^ seed.s1)


cdef inline uint64_t key_hash(const Seed* seed, const Key* key) noexcept nogil:
    if key_is_long(key):
        return hash_words(seed, hash_bytes(seed, key_bytes(key), key_length(key)), key.hi)
    return hash_words(seed, key.lo, key.hi)
