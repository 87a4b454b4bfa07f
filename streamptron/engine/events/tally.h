/* The tokens of a text, each once, counted as they are written into the event.

   A small table says whether a token has occurred before. It uses the hash that the index needs
   anyway. In both common cases, new or seen, the lookup has no branch. */

#ifndef STREAMPTRON_EVENTS_TALLY_H
#define STREAMPTRON_EVENTS_TALLY_H

#include "events/event.h"
#include "names/hash.h"
#include "names/index.h"
#include "names/key.h"

enum {
    SP_TOKENS_AT_ONCE = 1024, /* room is made for so many */
};

typedef struct sp_buckets {
    /* Scratch of the tallies, one after the other. */
    uint32_t *p;
    size_t capacity; /* a power of two */
} sp_buckets;

typedef struct sp_tally {
    /* The distinct tokens so far. */
    sp_key *keys;
    double *values;
    uint64_t *hashes;
    uint32_t *buckets; /* 1 + the place in keys; 0: empty */
    uint64_t mask;
    ptrdiff_t n;
    sp_seed seed;
} sp_tally;

typedef struct sp_joint {
    /* Where tokens that are not contiguous in the text are assembled. Long keys point to them
       there. */
    uint8_t *p;
    size_t n;
} sp_joint;

static inline void sp_buckets_free(sp_buckets *buckets)
{
    sp_free(buckets->p);
    buckets->p = NULL;
    buckets->capacity = 0;
}

/* Begin to count the tokens of an event that has begun. */
SP_PRIVATE sp_tally sp_tally_begin(const sp_event *event, const sp_index *index);

/* Make room for n more tokens. -1 if out of memory. */
SP_PRIVATE int sp_tally_reserve(sp_tally *tally, sp_buckets *buckets, sp_event *event, ptrdiff_t n);

/* The place of keys[n] among the keys before it, searched for from bucket `at`.

   If it is new, it gets a bucket, and n is returned. */
SP_PRIVATE ptrdiff_t sp_tally_search(const sp_key *keys, uint32_t *buckets, uint64_t mask,
                                     uint64_t at, ptrdiff_t n);

/* The place of a token, for which there is room; tally->n - 1 if it is new. */
SP_TEMPLATE ptrdiff_t sp_tally_place(sp_tally *tally, sp_key key)
{
    sp_key *keys = tally->keys;
    uint64_t h = sp_key_hash(&tally->seed, &key);
    uint64_t mask = tally->mask;
    uint32_t *buckets = tally->buckets;
    ptrdiff_t n = tally->n;
    ptrdiff_t at = (ptrdiff_t)buckets[h & mask] - 1;
    /* n where the bucket is empty, without a branch: half of a text's words are new, so no
       processor could predict it */
    at ^= (at ^ n) & (0 - (ptrdiff_t)(at < 0));
    keys[n] = key;
    tally->hashes[n] = h;
    if (((keys[at].lo ^ key.lo) | (keys[at].hi ^ key.hi)) != 0)
        at = sp_tally_search(keys, buckets, mask, h & mask, n);
    else
        buckets[h & mask] = (uint32_t)at + 1;
    tally->n = n + (at == n);
    return at;
}

/* Count a token. Returns whether it is new. */
SP_TEMPLATE bool sp_tally_add(sp_tally *tally, sp_key key)
{
    ptrdiff_t n = tally->n;
    tally->values[n] = 0.0;
    ptrdiff_t at = sp_tally_place(tally, key);
    tally->values[at] += 1.0;
    return at == n;
}

/* All tokens are counted: they are the event's entries. */
SP_PRIVATE void sp_tally_end(const sp_tally *tally, sp_event *event);

/* Make room for a token of n bytes; NULL if out of memory. */
SP_PRIVATE uint8_t *sp_joint_room(sp_joint *joint, sp_event *event, size_t n);

static inline void sp_joint_keep(sp_joint *joint, size_t n)
{
    joint->p += n;
    joint->n -= n;
}

#endif
