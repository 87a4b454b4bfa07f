/* A delta's bytes: what a learner has and its base does not have (exchange/delta.h), in a form that
   can be sent.

   They are a header like a model file's, and arrays; zeros fill them up to a multiple of 64 bytes.
   So the deltas of several shards may follow one another. Nothing in them is trusted. */

#ifndef STREAMPTRON_FILE_DELTA_H
#define STREAMPTRON_FILE_DELTA_H

#include "exchange/delta.h"
#include "file/open.h"

enum {
    SP_DIGEST_DIGITS = 32,
    SP_DELTA_DEPTH = 100, /* how deeply tuples in names may be nested */
};

/* The delta of one shard. Its arrays stay in the bytes that were read. */
typedef struct sp_sent {
    sp_header header;
    uint64_t shard;
    int kind; /* of the class */
    char base[SP_DIGEST_DIGITS + 1];
    uint64_t n_seen;
    sp_part parameters, labels, objects; /* the last two: the new ones */
    sp_contents made;                    /* the result of laying it over its base */
    sp_delta delta;
} sp_sent;

/* Which arrays a delta of such a learner has, and how long they are. */
SP_API void sp_delta_shapes(const sp_delta *delta, const sp_learner *learner, sp_array *shapes);

/* Let a delta use these arrays, of n[i] rows; p[i] is NULL where there is none. NULL, or what is
   wrong. */
SP_API const char *sp_delta_use(sp_delta *delta, const sp_learner *learner, void *const *p,
                                const size_t *n);

/* In words, what sp_delta_overlay found wrong with it, other than lack of memory. */
SP_API const char *sp_delta_words(int wrong);

/* Read and check the first delta in n bytes; *size becomes its length. 0, or a kind of fault. Call
   sp_sent_free in either case. */
SP_PRIVATE int sp_sent_read(sp_sent *sent, const uint8_t *p, size_t n, size_t *size,
                            sp_fault *fault);

SP_PRIVATE void sp_sent_free(sp_sent *sent);

/* Free what was made of it. */
SP_PRIVATE void sp_sent_drop(sp_sent *sent);

/* Whether it has the class and parameters of a model: 0, or a fault. */
SP_PRIVATE int sp_sent_alike(const sp_sent *sent, const sp_contents *base, const char *name,
                             sp_fault *fault);

/* Lay it over its base, with all its labels and odd names, and fill in the shard. 0, or a kind of
   fault. */
SP_PRIVATE int sp_sent_overlay(sp_sent *sent, const sp_contents *base, const sp_part *labels,
                               const sp_part *objects, sp_shard *shard, sp_fault *fault);

#endif
