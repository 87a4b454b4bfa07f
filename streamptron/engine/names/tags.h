/* Tags: the index's table of entries, in the order of their tags.

   An entry is one 64-bit word: 32 bits of a key's hash (the tag) and a slot. Zero means empty. The
   table's words form one row, kept in runs of 512. A tag has a home in it, by its rank from the
   largest: home = rank * width / 2^32. Its entry is in the first word from there on that keeps all
   entries in order (ordered linear probing: Amble & Knuth 1974):

       tags    [ 97 ][ 88 ][ 86 ][ 85 ][    ][ 51 ][    ][ 28 ][ 22 ][    ]     two digits, for 32
       homes      0     1     1     1             4           7     7           bits; a width of 10

   So a search goes on while words are larger than the tag it looks for. It ends as soon for a tag
   that is not there as for one that is: at the second or third word, with eleven words in sixteen
   in use. Zeros come last in that order, and need no test of their own. Four words are compared at
   once, without a branch.

   A table grows in place, by a fifth at a time. Runs are added behind the others, one at a time.
   Then entries move to their new homes, which are farther back, from the last to the first:

       runs    [ 97 88 86 85 ][     ][ 51 28 22 ]
                homes by `narrow`   | by `wide`
                                    frontier: ranks from here on have moved

   One insertion in eight moves the entries of 128 words, so that all have moved by the time three
   in four of the narrow homes would be taken. No event waits for more than that, and no entry is
   ever in two places. A small table, of up to 2048 words, is one block from the heap. It is copied
   into larger blocks, and finally into runs.

   A table knows neither keys nor what slots are: names/index.h does. */

#ifndef STREAMPTRON_NAMES_TAGS_H
#define STREAMPTRON_NAMES_TAGS_H

#include "memory/places.h"
#include "memory/pool.h"
#include "memory/types.h"

#if defined(__SSE2__)
    #include <emmintrin.h>
#endif

enum {
    SP_RUN_BITS = 9,
    SP_RUN_WORDS = 1 << SP_RUN_BITS,
    SP_RUN_MASK = SP_RUN_WORDS - 1,
    SP_RUN_MORE = 8,     /* words behind a run: the first of the next run again */
    SP_TAGS_AT_ONCE = 4, /* words compared without a branch */
    SP_TAGS_LEAST = 16,  /* words of a table */
    SP_TAGS_FEW = 2048,  /* words of the largest table that is one block */
    SP_TAGS_STEP = 128,  /* words whose entries move at a time */
    SP_TAGS_EVERY = 8,   /* insertions per such move */
    SP_TAGS_REST = SP_TAGS_STEP + 8, /* words behind the last home, for displaced entries */
};

typedef struct sp_tags {
    uint64_t **runs;
    uint64_t frontier; /* ranks from here on have moved; 0: all have */
    uint64_t narrow;   /* homes of the ranks before it */
    uint64_t wide;     /* homes of the others, no more than 2^32 */
    size_t count;      /* entries */
    size_t room;       /* words of all runs */
    sp_places of_runs; /* the growth of the array */
} sp_tags;

/* A tag's rank in the row: the largest tags come first. */
static inline uint64_t sp_tags_rank(uint64_t tag)
{
    return (uint32_t)~tag;
}

/* Where the search starts for a tag that has moved. */
static inline size_t sp_tags_new_home(const sp_tags *tags, uint64_t tag)
{
    return (size_t)(sp_tags_rank(tag) * tags->wide >> 32);
}

/* Where the search for a tag starts. */
static inline size_t sp_tags_home(const sp_tags *tags, uint64_t tag)
{
    uint64_t rank = sp_tags_rank(tag);
    return (size_t)(rank * (rank < tags->frontier ? tags->narrow : tags->wide) >> 32);
}

static inline uint64_t *sp_tags_word(const sp_tags *tags, size_t at)
{
    return &tags->runs[at >> SP_RUN_BITS][at & SP_RUN_MASK];
}

/* Whether all these words have larger tags, so that the search goes on behind them. */
static inline bool sp_tags_goes_on(const uint64_t *words, uint64_t tag)
{
    return words[SP_TAGS_AT_ONCE - 1] > (tag << 32 | UINT32_MAX);
}

/* How many of these words have a larger tag: always the first ones. */
static inline size_t sp_tags_larger(const uint64_t *words, uint64_t tag)
{
    const uint64_t most = tag << 32 | UINT32_MAX;
    size_t n = words[0] > most;
    n += words[1] > most;
    n += words[2] > most;
    n += words[3] > most;
    return n;
}

/* The slot of the first of these words that has the tag, or 0. The search must not go on behind
   them. */
SP_TEMPLATE sp_slot_type sp_tags_slot(const uint64_t *words, uint64_t tag)
{
#if defined(__SSE2__)
    const __m128 first = _mm_castsi128_ps(_mm_loadu_si128((const __m128i *)words));
    const __m128 last = _mm_castsi128_ps(_mm_loadu_si128((const __m128i *)(words + 2)));
    const __m128i all = _mm_castps_si128(_mm_shuffle_ps(first, last, 0xDD));
    const __m128i same = _mm_cmpeq_epi32(all, _mm_set1_epi32((int)(uint32_t)tag));
    const int which = _mm_movemask_ps(_mm_castsi128_ps(same));
    const uint64_t word = words[sp_zeros_below((uint64_t)which | 8)];
    return (sp_slot_type)(which ? word : 0);
#else
    const uint64_t word = words[sp_tags_larger(words, tag)];
    return (sp_slot_type)(word >> 32 == tag ? word : 0);
#endif
}

/* An empty table. -1 if out of memory; call sp_tags_free in either case. */
SP_HOT int sp_tags_init(sp_tags *tags, size_t *bytes);

/* The runs of a large table belong to the pool, which the caller frees, too. */
SP_PRIVATE void sp_tags_free(sp_tags *tags);

/* Make sure that there is room for one more entry. -1 if out of memory. */
SP_HOT int sp_tags_reserve(sp_tags *tags, sp_pool *pool, size_t *bytes);

/* Widen the table for n more entries at once, as no event waits. -1 if out of memory. */
SP_PRIVATE int sp_tags_expect(sp_tags *tags, sp_pool *pool, size_t n, size_t *bytes);

/* The place of the first word, empty or not, whose tag is not larger. */
SP_HOT size_t sp_tags_from(const sp_tags *tags, uint64_t tag);

/* Write an entry at a place of a table that has room. The entries there move back by one. */
SP_HOT void sp_tags_put_at(sp_tags *tags, size_t at, uint64_t entry);

/* The same, at the place for its tag. */
static inline void sp_tags_put(sp_tags *tags, uint64_t entry)
{
    sp_tags_put_at(tags, sp_tags_from(tags, entry >> 32), entry);
}

/* Remove an entry, and move up those behind it that are not at home. */
SP_HOT void sp_tags_take(sp_tags *tags, uint64_t entry);

/* A second table with the same entries. -1 if out of memory. */
SP_HOT int sp_tags_copy(sp_tags *to, const sp_tags *other, sp_pool *pool, size_t *bytes);

/* What is wrong with a table, or NULL; and how much of the pool and of the heap it takes. */
SP_PRIVATE const char *sp_tags_fault(const sp_tags *tags, size_t *blocks, size_t *bytes);

#endif
