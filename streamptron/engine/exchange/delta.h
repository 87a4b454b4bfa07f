/* A delta: what a learner has and its base does not have, as flat arrays; and the learner, made
   again from both.

       slots     uint32 [rows]          those that differ from the base's, rising in each block;
                                        hashed: their numbers (names/index.h)
       rows      float64 [rows, width]  their numbers, as in the learner's table
       blocks    uint32 [blocks]        how many rows each block of outputs has
       exact:    keys    uint64 [., 2]  names that the base does not have, as in table/arrays.h
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

   A row costs 4 bytes beside its numbers: 20 in all with two labels and an average. With an
   exponential average the terms are those of the learner's last fold.

   merge/terms.h needs a learner to merge a delta. sp_delta_overlay makes one, whose table has the
   base's own chunks, except those that the rows change: no other number is copied. The base must
   not change meanwhile. Slots of new numbers come behind the base's, like those of new names. No
   number is trusted: a delta may come from anywhere.

   sp_delta_digest identifies a state, however it is stored in memory or in a file. A delta contains
   the digest of its base. */

#ifndef STREAMPTRON_EXCHANGE_DELTA_H
#define STREAMPTRON_EXCHANGE_DELTA_H

#include "memory/types.h"
#include "merge/shard.h"
#include "names/index.h"
#include "names/key.h"
#include "path/path.h"

/* A number of a hashed learner or its base, and its slot in each; the null slot: none. */
typedef struct sp_delta_slot {
    uint32_t number;
    sp_slot_type own;
    sp_slot_type base;
} sp_delta_slot;

typedef struct sp_delta {
    size_t n_rows;
    size_t n_blocks;
    size_t n_keys; /* including the two reserved ones; 0: hashed */
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
    sp_shapes was; /* the base's curves and surfaces, for writing */
    sp_delta_slot *numbers; /* hashed: rising; sp_delta_measure makes them */
    size_t n_numbers;
    size_t width;       /* of a row */
    sp_key *laid;       /* the names that it gave a shard */
    sp_forms forms;     /* of the shard and its base */
} sp_delta;

/* Free what sp_delta_measure or sp_delta_overlay has made. */
SP_API void sp_delta_free(sp_delta *delta);

/* Find out how large the arrays will be. 0, or what is wrong. Call sp_delta_free in either case. */
SP_API int sp_delta_measure(sp_delta *delta, sp_shard *shard, const sp_shard *base);

/* Fill the arrays, which have the sizes that sp_delta_measure found; those that are NULL are left
   out. */
SP_API void sp_delta_write(const sp_delta *delta, const sp_shard *shard, const sp_shard *base);

/* Give a learner without names and weights the base's weights and the delta's, and fill in the
   shard. Tuples in names may be nested up to `depth`.

   0, or what is wrong. Call sp_delta_free in either case, once the shard is merged. The learner's
   table borrows the base's chunks. Nothing may be learned. */
SP_API int sp_delta_overlay(sp_delta *delta, sp_learner *learner, const sp_learner *base,
                            ptrdiff_t n_outputs, size_t n_objects, int depth, sp_shard *shard);

/* Two words that identify a learner's whole state: the names and numbers of its slots, its counts,
   what it keeps once per model, and these bytes: its class, labels and odd names, as JSON. -1 if
   out of memory. */
SP_API int sp_delta_digest(const sp_shard *shard, const uint8_t *called, size_t n, uint64_t *h);

#endif
