/* Sides: models to be merged, including their base, with the labels and odd names of each. */

#ifndef STREAMPTRON_LIBRARY_SIDES_H
#define STREAMPTRON_LIBRARY_SIDES_H

#include "json/united.h"
#include "json/words.h"
#include "library/model.h"
#include "merge/shard.h"

enum {
    SP_SIDE_NAME = 64,
    SP_DIGEST_ROOM = 33, /* 32 digits, and a zero */
};

typedef struct sp_side {
    sp_shard shard;
    const sp_contents *contents;
    sp_contents whole;       /* the same, checked: for a model that is used in place */
    sp_part labels, objects; /* as JSON */
    char name[SP_SIDE_NAME]; /* for errors */
} sp_side;

/* Make a side's name from a text and a number, such as models[3]. */
SP_PRIVATE void sp_side_called(char *name, const char *before, uint64_t number, const char *after);

/* Make a side of a model; NULL: only of contents, without labels that have come since. SPT_OK, or a
   code. Call sp_side_free in either case.

   A side is read from end to end. So a model that is used in place, and has not been checked, is
   copied into memory as by spt_open, and its checksum is verified. */
SP_PRIVATE int sp_side_begin(sp_side *side, const spt_model *model, const sp_contents *contents,
                             spt_error *error);
SP_PRIVATE void sp_side_free(sp_side *side);

/* Set how much it has learned since the base, and the base of its names. */
SP_PRIVATE void sp_side_since(sp_side *side, const sp_side *base);

/* Whether its labels and odd names begin with the base's: 0, or a fault. */
SP_PRIVATE int sp_side_went_on(const sp_side *side, const sp_side *base, sp_fault *fault);

/* A digest of the model's state. 0, or a kind of fault. */
SP_PRIVATE int sp_side_digest(const sp_side *side, char *digits, sp_fault *fault);

/* Find out whether it has learned since the base. 0, or a fault: it is another model. */
SP_PRIVATE int sp_side_awake(const sp_side *side, const sp_side *since, bool *awake,
                             sp_fault *fault);

/* Whether a model may be merged with another one. SPT_OK, or a code. */
SP_PRIVATE int sp_check_alike(const spt_model *model, const char *name, const spt_model *first,
                              const char *other, spt_error *error);

/* Merge n sides, the first of which is the base, into a learner like another one. 0, or a kind of
   fault; then nothing is left. */
SP_PRIVATE int sp_sides_merge(sp_side *sides, int n, const sp_contents *like, sp_contents *to,
                              sp_fault *fault);

#endif
