/* An index in a mapped file: read, never written.

   All keys are one array. The table is one array of 32-bit words [ tag | slot ], seven in eight of
   them in use. The slot takes as many low bits as the largest one needs. The tag comes from the low
   half of the hash, the start of a search from its high half.

   The words in the file are not checked beforehand; each is checked when it is read. The slot must
   exist, and a long name must be long and lie within the texts.

   In hashed mode a file has only the slots that are not zero, in the order of their numbers. 256
   numbers make a chunk of the file. The place of a number is its rank among those of its chunk. */

#ifndef STREAMPTRON_NAMES_LOOKUP_H
#define STREAMPTRON_NAMES_LOOKUP_H

#include "memory/compiler.h"
#include "memory/types.h"
#include "names/key.h"

/* The number of bits that are set in a word. */

#if defined(__GNUC__) || defined(__clang__)
    #define sp_bits(word) ((uint32_t)__builtin_popcountll(word))
#else
static inline unsigned int sp_bits(uint64_t word)
{
    unsigned int n = 0;
    for (; word; word &= word - 1)
        n++;
    return n;
}
#endif

typedef struct sp_lookup {
    const sp_key *keys; /* by slot; in a long key lo is its offset in texts */
    const uint8_t *texts;
    uint64_t n_texts;
    uint32_t *words;
    uint64_t n_words;
    int slot_bits;
    uint64_t *stored; /* hashed: a bit for each number, four words per chunk */
    const uint32_t *numbers; /* hashed: by slot */
} sp_lookup;

/* The number of bits set among the first n of a chunk. */
static inline uint32_t sp_bits_rank(const uint64_t *chunk, uint32_t n)
{
    uint32_t rank = 0;
    uint32_t whole = n / 64;
    for (uint32_t k = 0; k < whole; k++)
        rank += sp_bits(chunk[k]);
    return rank + (n % 64 ? sp_bits(chunk[n / 64] & (((uint64_t)1 << (n % 64)) - 1)) : 0);
}

static inline uint32_t sp_bits_count(const uint64_t *chunk)
{
    return sp_bits_rank(chunk, SP_CHUNK_SLOTS);
}

/* A slot's key; if the file is damaged, a key that equals no other. */
SP_PRIVATE sp_key sp_lookup_key(const sp_lookup *lookup, sp_slot_type slot);

/* The number of a slot of a hashed table of n numbers; the null slot's if the file is damaged. */
static inline uint32_t sp_lookup_number(const sp_lookup *lookup, sp_slot_type slot, uint32_t n)
{
    uint32_t number = lookup->numbers[slot];
    return number < n ? number : SP_SLOT_NULL;
}

/* The place of a number's weights in the hashed table of a file. */
static inline sp_slot_type sp_lookup_place(const sp_lookup *lookup, uint32_t number)
{
    const uint64_t *chunk = &lookup->stored[number >> SP_CHUNK_BITS << 2];
    if (!((chunk[(number & SP_CHUNK_MASK) / 64] >> (number % 64)) & 1))
        return SP_SLOT_NULL;
    return (number & ~(uint32_t)SP_CHUNK_MASK) | sp_bits_rank(chunk, number & SP_CHUNK_MASK);
}

/* The number whose weights are at that place; the null slot's if there is none. */
static inline uint32_t sp_lookup_number_at(const sp_lookup *lookup, sp_slot_type place)
{
    const uint64_t *chunk = &lookup->stored[place >> SP_CHUNK_BITS << 2];
    uint32_t left = place & SP_CHUNK_MASK;
    for (uint32_t k = 0; k < SP_CHUNK_SLOTS / 64; k++) {
        uint64_t word = chunk[k];
        if (left >= sp_bits(word)) {
            left -= sp_bits(word);
            continue;
        }
        for (; left > 0; left--)
            word &= word - 1;
        return (place & ~(uint32_t)SP_CHUNK_MASK) + 64 * k + sp_bits((word & (0 - word)) - 1);
    }
    return SP_SLOT_NULL;
}

static inline uint64_t sp_lookup_start(const sp_lookup *lookup, uint64_t h)
{
    return ((h >> 32) * lookup->n_words) >> 32;
}

/* Write a slot into a table that has room. */
SP_PRIVATE void sp_lookup_put(const sp_lookup *lookup, uint64_t h, sp_slot_type slot);

/* The slot, below n_slots, of a key whose hash is h, or the null slot. */
SP_HOT sp_slot_type sp_lookup_find(const sp_lookup *lookup, sp_slot_type n_slots,
                                   const sp_key *key, uint64_t h);

#endif
