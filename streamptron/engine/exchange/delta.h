/* A delta: what a learner has that its base has not, as flat arrays; and the learner again, from
   both.

       slots     uint32 [rows]          what differs from the base's, rising in each block; hashed:
                                        their numbers (names/index.h)
       rows      float64 [rows, width]  these numbers, as in the learner's table
       blocks    uint32 [blocks]        how many rows each block of outputs has
       exact:    keys    uint64 [., 2]  names that the base has not, as in table/arrays.h
                 texts   uint8          the long ones among them
       ceiling:  renamed uint32         the slots of these names, rising; without a ceiling they are
                                        those behind the base's
                 stamps  uint32 [slots] see learner/ceiling.h
       several labels, or more than two of AdaptiveClassifier:
                 marks                  the entries of these rows, block by block: rows/marks.h
       several labels:
                 marked                 what is kept for each of all labels: multilabel/arrays.h
       curves or surfaces that have learned anything:
                 shapes    uint32       what has changed of them: exchange/reshaped.h

   A row costs 4 bytes beside its numbers: 20 for two labels and an average. With an exponential
   average the terms are those of the learner's last fold.

   To mix a delta, merge/terms.h wants a learner. sp_delta_overlay makes one whose table is the
   base's, chunk by chunk, but for those chunks that the rows change: no other number is copied. The
   base must not change while it is there. Slots of new numbers come behind the base's, as those of
   new names do. It trusts no number: a delta may come from anywhere.

   sp_delta_digest tells one state from any other, however it lies in memory or in a file: a delta
   carries that of its base. */

#ifndef STREAMPTRON_EXCHANGE_DELTA_H
#define STREAMPTRON_EXCHANGE_DELTA_H

#include "memory/types.h"
#include "merge/shard.h"
#include "names/index.h"
#include "names/key.h"
#include "path/path.h"

/* A number that a hashed learner or its base has, and where each has it; the null slot: nowhere. */
typedef struct sp_delta_slot {
    uint32_t number;
    sp_slot_type own;
    sp_slot_type base;
} sp_delta_slot;

typedef struct sp_delta {
    size_t n_rows;
    size_t n_blocks;
    size_t n_keys; /* the two reserved ones included; 0: hashed */
    size_t n_texts;
    size_t n_renamed;
    size_t n_stamps;
    size_t n_marks;
    size_t n_shapes; /* 0: there are none */
    uint32_t *slots;
    double *rows;
    uint32_t *blocks;
    sp_key *keys;
    uint8_t *texts;
    uint32_t *renamed;
    uint32_t *stamps;
    uint32_t *marks;
    double *marked;
    uint32_t *shapes;
    sp_shapes was; /* the base's curves and surfaces, when they are written */
    sp_delta_slot *numbers; /* hashed: rising; sp_delta_measure makes them */
    size_t n_numbers;
    size_t width;       /* of a row */
    sp_key *laid;       /* the names that it has given a shard */
    sp_forms forms;     /* of the shard and its base */
} sp_delta;

/* Free what sp_delta_measure or sp_delta_overlay has made. */
SP_API void sp_delta_free(sp_delta *delta);

/* How large the arrays will be. 0, or what is wrong. Call sp_delta_free in either case. */
SP_API int sp_delta_measure(sp_delta *delta, sp_shard *shard, const sp_shard *base);

/* Fill the arrays, which have the sizes that sp_delta_measure found; NULL: it is not wanted. */
SP_API void sp_delta_write(const sp_delta *delta, const sp_shard *shard, const sp_shard *base);

/* Give a learner without names and weights the base's weights and the delta's, and fill in the
   shard; tuples in names may be nested `depth` deep.

   0, or what is wrong. Call sp_delta_free in either case, once the shard is merged. The learner's
   table borrows the base's chunks. Nothing may be learned. */
SP_API int sp_delta_overlay(sp_delta *delta, sp_learner *learner, const sp_learner *base,
                            ptrdiff_t n_outputs, size_t n_objects, int depth, sp_shard *shard);

/* Two words that stand for all that a learner has: names and numbers of its slots, what it has
   counted, what it keeps once, and these bytes: its class, labels and odd names, as JSON. -1 if out
   of memory. */
SP_API int sp_delta_digest(const sp_shard *shard, const uint8_t *called, size_t n, uint64_t *h);

#endif
