/* A shard: one of several learners to be merged, described in terms of the merged learner.

   Learners with a common base have its slots, in its order, and new ones behind them; the same
   holds for their labels. Without a common base they have nothing in common. A shard maps its slots
   and outputs to those of the merged learner, so that the formulas (merge/terms.h) need not know
   where a number is:

       slots of the merged   0 1 2 3 4 5 | 6 7 8 9      5: the base's names end here
       a shard's own         0 1 2 3 4 5 | 0 7 0 6      it never saw 6 and 8
                             = `first`     own[]  (from the first to the last that it has)

       outputs of the merged       spam ham news        a shard that knows only two labels has one
       a shard's own, and sign     0 +  0 -  none       output for both, see events/two_labels.h

   The names of a hashed learner are its numbers, in any order: a learner from a file has another
   order than one that learned. A shard's weights are in memory, or in a mapped file (which has only
   the slots of a hashed table that are not zero, see names/lookup.h). Or the shard came as a delta
   (exchange/delta.h): then its table has the base's chunks, except those that the delta changes,
   and its names are listed in `keys`. */

#ifndef STREAMPTRON_MERGE_SHARD_H
#define STREAMPTRON_MERGE_SHARD_H

#include "learner/learner.h"
#include "memory/heap.h"
#include "memory/types.h"
#include "names/index.h"
#include "names/key.h"
#include "table/arrays.h"
#include "table/table.h"

enum {
    SP_NAMES_BATCH = SP_KEYS_AT_ONCE,
    SP_NAMES_AHEAD = 8,

    SP_SHARD_MEMORY = 1, /* what may be wrong */
    SP_SHARD_NAMES = 2,  /* it does not come from the base */
    SP_SHARD_TWICE = 3,  /* one of its names occurs twice */
    SP_SHARD_NUMBER = 4, /* a number is not finite, or belongs to no label */
    SP_SHARD_KEY = 5,    /* its file has an invalid name */
    SP_SHARD_LARGE = 6,  /* the merge has numbers that learning cannot make */
};

typedef struct sp_shard {
    const sp_learner *learner;
    double n; /* events it has seen since the base */
    /* names */
    sp_slot_type n_slots;
    sp_slot_type first; /* slots below it are the base's */
    const sp_key *keys; /* of a delta, from slot `keys_from` on; NULL: the learner's own */
    sp_slot_type keys_from;
    const sp_index *base;     /* has the names before those */
    const uint64_t *ordinals; /* its objects' ordinals among all; NULL: the same */
    size_t n_objects;
    sp_slot_type *merged;  /* by slot less `first`: the merged learner's slot */
    sp_slot_type *own;     /* by merged slot less `own_from`: its own slot, or the null slot */
    sp_slot_type own_from; /* its new names are among the n_own from here */
    sp_slot_type n_own;
    const uint32_t *stamps; /* under a ceiling, by slot; NULL: in its index */
    /* outputs */
    const int32_t *labels;  /* by merged label: its own number, or -1 */
    const int32_t *outputs; /* by merged output: its own, or -1 */
    const double *signs;    /* -1: its score is for the other side */
    bool plain;             /* its outputs are stored as in the merged learner */
} sp_shard;

/* Shards and base in one form, if their learners had different forms: see wide/mix.h. */
typedef struct sp_forms {
    sp_learner *shadows; /* of the shards, then of the base; NULL: none was needed */
    int n;
    sp_shard base; /* with its shadow */
} sp_forms;

SP_PRIVATE void sp_forms_free(sp_forms *forms);

/* Free the maps of slots; the learner and the maps of labels belong to others. */
static inline void sp_shard_free(sp_shard *shard)
{
    sp_free(shard->merged);
    sp_free(shard->own);
    shard->merged = shard->own = NULL;
}

/* A slot's name, as all shards have it; if a file is damaged, a key that equals no other. */
SP_PRIVATE sp_key sp_shard_key(const sp_shard *shard, sp_slot_type slot);

/* Under a ceiling, when a slot was last seen. */
static inline uint32_t sp_shard_stamp(const sp_shard *shard, sp_slot_type slot)
{
    return shard->stamps != NULL ? shard->stamps[slot]
                                 : *sp_index_stamp(&shard->learner->index, slot);
}

/* Check its names if they are in a mapped file; whether one is invalid. */
static inline bool sp_names_fault(const sp_shard *shard)
{
    return shard->learner->index.lookup != NULL
           && sp_arrays_check_in_place(&shard->learner->index, shard->n_objects) != 0;
}

/* Set each shard's `first`: how many leading slots have the base's names.

   The shards are compared side by side, so that the base's names are read once. 256 names are
   compared as memory at once, as long as they are short and both are in memory; then name by
   name. */
SP_PRIVATE void sp_names_prefixes(sp_shard *shards, int n, const sp_index *base);

/* Add its names to all names, which begin with the base's, and note their slots there.

   0, or what is wrong. */
SP_PRIVATE int sp_names_find(sp_shard *shard, sp_index *names);

/* Once all names are known, find its own slots by those of the merged learner. 0, or what is
   wrong. */
SP_PRIVATE int sp_names_invert(sp_shard *shard);

/* Its own slot of one of the merged learner's; the null slot if it does not have that name. */
static inline sp_slot_type sp_source_own(const sp_shard *shard, sp_slot_type merged)
{
    if (merged < shard->first)
        return merged;
    merged -= shard->own_from; /* wraps around if it is before own_from */
    return merged < shard->n_own ? shard->own[merged] : (sp_slot_type)SP_SLOT_NULL;
}

/* Whether a chunk has the same slots as the merged learner's, in the same order in memory. */
static inline bool sp_shard_is_aligned(const sp_shard *shard, size_t chunk)
{
    return shard->plain && (chunk + 1) << SP_CHUNK_BITS <= shard->first
           && !(shard->learner->index.bits && shard->learner->index.lookup != NULL);
}

/* One of its own chunks; zeros if it was never written. */
static inline const double *sp_shard_chunk(const sp_shard *shard, ptrdiff_t block, size_t chunk)
{
    const sp_table *table = &shard->learner->table;
    if (block >= table->n_blocks || chunk >= table->n_chunks)
        return table->zeros;
    return table->blocks[block].chunks[chunk];
}

/* For a hashed learner in a mapped file: the place of a slot's numbers, which is not the slot
   itself. */
SP_APART SP_PRIVATE sp_slot_type sp_shard_place(const sp_shard *shard, sp_slot_type slot);

/* The row of one of its blocks in its own slot. */
static inline const double *sp_shard_row(const sp_shard *shard, ptrdiff_t block, sp_slot_type slot)
{
    if (shard->learner->index.bits && shard->learner->index.lookup != NULL)
        slot = sp_shard_place(shard, slot);
    return sp_shard_chunk(shard, block, slot >> SP_CHUNK_BITS)
           + (slot & SP_CHUNK_MASK) * (uint32_t)shard->learner->table.width;
}

/* The numbers of a merged learner's output in its own slot, and the sign of its score.

   NULL: it does not have this output. */
SP_PRIVATE const double *sp_shard_field(const sp_shard *shard, sp_slot_type slot, ptrdiff_t output,
                                        double *sign);

/* The factor that brings a slot's averaging term to so many folds. */
SP_PRIVATE double sp_shard_factor(const sp_shard *shard, sp_slot_type slot, ptrdiff_t output,
                                  uint32_t fold);

#endif
