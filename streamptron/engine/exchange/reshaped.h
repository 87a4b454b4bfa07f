/* Curves and surfaces in a delta (exchange/delta.h): the words of shapes/arrays.h, with only those
   hats and cells that differ from the base's.

   There are none if curves and surfaces have learned nothing, as in a learner without columns. */

#ifndef STREAMPTRON_EXCHANGE_RESHAPED_H
#define STREAMPTRON_EXCHANGE_RESHAPED_H

#include "merge/shard.h"
#include "shapes/arrays.h"

/* The number of words of a shard, whose names have been compared with its base's. `was`, which is
   empty, becomes the base's curves and surfaces in the form of the shard's learner. -1 if out of
   memory. Call sp_shapes_free in either case. */
SP_PRIVATE ptrdiff_t sp_reshaped_measure(const sp_shard *shard, const sp_shard *base,
                                         sp_shapes *was);

SP_PRIVATE void sp_reshaped_write(const sp_shard *shard, const sp_shapes *was, uint32_t *words);

/* Fill in those of a learner that was laid over its base, as a shard: names, slots and labels are
   there. 0, or what is wrong (SP_SHARD_). */
SP_PRIVATE int sp_reshaped_overlay(sp_learner *learner, const sp_shard *shard,
                                   const sp_learner *base, const uint32_t *words, size_t n);

/* All of a learner's curves and surfaces, to compare it with others: the words, to be freed with
   sp_free (NULL: none), and how many. -1 if out of memory. */
SP_PRIVATE ptrdiff_t sp_reshaped_all(const sp_learner *learner, uint32_t **words);

#endif
