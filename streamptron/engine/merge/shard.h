/* A shard: one of several learners that are going to be merged, as all of them see it.

   Learners that went on from one base have its slots, in its order, and new ones behind them; their
   labels likewise. Learners that have no base in common agree about nothing. A shard says which of
   its slots and outputs are which of the merged learner's, so that the formulas
   (merge/terms.h) need not know where a number lies:

       slots of the merged   0 1 2 3 4 5 | 6 7 8 9      5: where the base's names end
       a shard's own         0 1 2 3 4 5 | 0 7 0 6      it has never met 6 and 8
                             = `first`     own[]  (from the first to the last that it has)

       outputs of the merged       spam ham news        a shard that knows only two labels has one
       a shard's own, and sign     0 +  0 -  none       output for both, see events/two_labels.h

   Names of a hashed learner are its numbers, and lie in any order: what came from a file has
   another than what learned. A shard's numbers are in memory, or in a file that is used in place
   (of a hashed table only the slots that are not zero, see names/lookup.h). Or it came as a delta
   (exchange/delta.h): then its table is the base's, chunk by chunk, but for the chunks that the
   delta changes, and its names are listed in `keys`. */

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
    SP_SHARD_NAMES = 2,  /* it did not go on from the base */
    SP_SHARD_TWICE = 3,  /* one of its names occurs twice */
    SP_SHARD_NUMBER = 4, /* a number is not finite, or in a place without a label */
    SP_SHARD_KEY = 5,    /* a name in its file is none */
    SP_SHARD_LARGE = 6,  /* together they have numbers that no learning makes */
};

typedef struct sp_shard {
    const sp_learner *learner;
    double n; /* events it has seen since the base */
    /* names */
    sp_slot_type n_slots;
    sp_slot_type first; /* its slots below are the base's */
    const sp_key *keys; /* of slots `keys_from`.., of a delta; NULL: the learner's own */
    sp_slot_type keys_from;
    const sp_index *base;     /* which has the names before those */
    const uint64_t *ordinals; /* of its objects among all; NULL: the same */
    size_t n_objects;
    sp_slot_type *merged;  /* by slot less `first`: the merged learner's */
    sp_slot_type *own;     /* by merged slot less `own_from`: its own, or the null slot */
    sp_slot_type own_from; /* its new names are all among so many from here */
    sp_slot_type n_own;
    const uint32_t *stamps; /* under a ceiling, by slot; NULL: in its index */
    /* outputs */
    const int32_t *labels;  /* by label of the merged: its own number, or -1 */
    const int32_t *outputs; /* by output of the merged: its own, or -1 */
    const double *signs;    /* -1: its score is for the other side */
    bool plain;             /* outputs lie as in the merged learner, as far as there are any */
} sp_shard;

/* The same sources in one form, where those of their learners differed: see wide/mix.h. */
typedef struct sp_forms {
    sp_learner *shadows; /* of the shards, and behind them of the base; NULL: none was needed */
    int n;
    sp_shard base; /* with its shadow */
} sp_forms;

SP_PRIVATE void sp_forms_free(sp_forms *forms);

/* Free what it has found out; the learner and the maps of labels belong to others. */
static inline void sp_shard_free(sp_shard *shard)
{
    sp_free(shard->merged);
    sp_free(shard->own);
    shard->merged = shard->own = NULL;
}

/* A slot's name, as all shards call it; one that nothing equals if a file is damaged. */
SP_PRIVATE sp_key sp_shard_key(const sp_shard *shard, sp_slot_type slot);

/* Under a ceiling, when a slot was seen last. */
static inline uint32_t sp_shard_stamp(const sp_shard *shard, sp_slot_type slot)
{
    return shard->stamps != NULL ? shard->stamps[slot]
                                 : *sp_index_stamp(&shard->learner->index, slot);
}

/* Whether its names lie in a file, where they are checked now, and one is invalid. */
static inline bool sp_names_fault(const sp_shard *shard)
{
    return shard->learner->index.lookup != NULL
           && sp_arrays_check_in_place(&shard->learner->index, shard->n_objects) != 0;
}

/* Let `first` be how many slots of each shard, from the first on, have the base's names.

   The shards side by side, so that the base's names are read once. One comparison of memory for
   256 of them, as long as they are short and both are in memory; then name by name. */
SP_PRIVATE void sp_names_prefixes(sp_shard *shards, int n, const sp_index *base);

/* Add its names to all names, which begin with the base's, and note their slots there.

   0, or what is wrong. */
SP_PRIVATE int sp_names_find(sp_shard *shard, sp_index *names);

/* Once all names are known: its own slots by those of the merged learner. 0, or what is wrong. */
SP_PRIVATE int sp_names_invert(sp_shard *shard);

/* Its own slot of one of the merged learner's; the null slot if it does not have that name. */
static inline sp_slot_type sp_source_own(const sp_shard *shard, sp_slot_type merged)
{
    if (merged < shard->first)
        return merged;
    merged -= shard->own_from; /* of one before it, more than any */
    return merged < shard->n_own ? shard->own[merged] : (sp_slot_type)SP_SLOT_NULL;
}

/* Whether the slots of a chunk are the merged learner's, in memory one after the other. */
static inline bool sp_shard_is_aligned(const sp_shard *shard, size_t chunk)
{
    return shard->plain && (chunk + 1) << SP_CHUNK_BITS <= shard->first
           && !(shard->learner->index.bits && shard->learner->index.lookup != NULL);
}

/* Where a chunk of its own lies; zeros if none was ever written. */
static inline const double *sp_shard_chunk(const sp_shard *shard, ptrdiff_t block, size_t chunk)
{
    const sp_table *table = &shard->learner->table;
    if (block >= table->n_blocks || chunk >= table->n_chunks)
        return table->zeros;
    return table->blocks[block].chunks[chunk];
}

/* Where its numbers of a slot are, of a hashed learner in a file: not at the slot itself. */
SP_APART SP_PRIVATE sp_slot_type sp_shard_place(const sp_shard *shard, sp_slot_type slot);

/* What one of its blocks has in its own slot. */
static inline const double *sp_shard_row(const sp_shard *shard, ptrdiff_t block, sp_slot_type slot)
{
    if (shard->learner->index.bits && shard->learner->index.lookup != NULL)
        slot = sp_shard_place(shard, slot);
    return sp_shard_chunk(shard, block, slot >> SP_CHUNK_BITS)
           + (slot & SP_CHUNK_MASK) * (uint32_t)shard->learner->table.width;
}

/* The numbers of an output of the merged learner in its own slot, and for which side it speaks.

   NULL: it has no such output. */
SP_PRIVATE const double *sp_shard_field(const sp_shard *shard, sp_slot_type slot, ptrdiff_t output,
                                        double *sign);

/* By what the averaging term of a slot is multiplied so that it has seen so many folds. */
SP_PRIVATE double sp_shard_factor(const sp_shard *shard, sp_slot_type slot, ptrdiff_t output,
                                  uint32_t fold);

#endif
