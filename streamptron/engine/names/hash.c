#include "names/hash.h"

/* The next word of splitmix64 (Steele, Lea & Flood 2014). */
static uint64_t sp_seed_next(uint64_t *state)
{
    *state += (uint64_t)0x9E3779B97F4A7C15;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * (uint64_t)0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * (uint64_t)0x94D049BB133111EB;
    return z ^ (z >> 31);
}

SP_PRIVATE sp_seed sp_seed_make(uint64_t number)
{
    sp_seed seed;
    uint64_t state = number;
    seed.s0 = sp_seed_next(&state);
    seed.s1 = sp_seed_next(&state);
    seed.s2 = sp_seed_next(&state);
    return seed;
}
