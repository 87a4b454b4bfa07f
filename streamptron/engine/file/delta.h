/* A delta's bytes: what a learner has that its base has not (exchange/delta.h), as it travels.

   They are a header as a model file's, and arrays; zeros fill them up to a multiple of 64 bytes. So
   the deltas of several shards may stand one behind the other. Nothing in them is believed. */

#ifndef STREAMPTRON_FILE_DELTA_H
#define STREAMPTRON_FILE_DELTA_H

#include "exchange/delta.h"
#include "file/open.h"

enum {
    SP_DIGEST_DIGITS = 32,
    SP_DELTA_DEPTH = 100, /* how deep tuples in names may be nested */
};

/* The delta of one shard. Its arrays lie where it was read. */
typedef struct sp_sent {
    sp_header header;
    uint64_t shard;
    int kind; /* of the class */
    char base[SP_DIGEST_DIGITS + 1];
    uint64_t n_seen;
    sp_part parameters, labels, objects; /* the last two: the new ones */
    sp_contents made;                    /* what it is, once it is laid over its base */
    sp_delta delta;
} sp_sent;

/* Which arrays a delta has of such a learner, and how long they are. */
SP_API void sp_delta_shapes(const sp_delta *delta, const sp_learner *learner, sp_array *shapes);

/* Let it use these, of n rows each; NULL where there is none. NULL, or what is wrong. */
SP_API const char *sp_delta_use(sp_delta *delta, const sp_learner *learner, void *const *p,
                                const size_t *n);

/* What sp_delta_overlay found wrong with it, which was not memory, in words. */
SP_API const char *sp_delta_words(int wrong);

/* Read and check the first one of n bytes, which is `size` long. 0, or a kind of fault. Call
   sp_sent_free in either case. */
SP_PRIVATE int sp_sent_read(sp_sent *sent, const uint8_t *p, size_t n, size_t *size,
                            sp_fault *fault);

SP_PRIVATE void sp_sent_free(sp_sent *sent);

/* Free what was made of it. */
SP_PRIVATE void sp_sent_drop(sp_sent *sent);

/* Whether it is of the class and parameters of a model: 0, or a fault. */
SP_PRIVATE int sp_sent_alike(const sp_sent *sent, const sp_contents *base, const char *name,
                             sp_fault *fault);

/* Lay it over its base, with all of its labels and odd names; fill in the shard. 0, or a kind of
   fault. */
SP_PRIVATE int sp_sent_overlay(sp_sent *sent, const sp_contents *base, const sp_part *labels,
                               const sp_part *objects, sp_shard *shard, sp_fault *fault);

#endif
