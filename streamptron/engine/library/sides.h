/* Sides: models to be merged, their base among them, and what each calls its labels and names. */

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
    sp_contents whole;       /* the same, checked: of a model that is used where it lies */
    sp_part labels, objects; /* as JSON */
    char name[SP_SIDE_NAME]; /* for errors */
} sp_side;

/* A text and a number, such as models[3], as a side's name. */
SP_PRIVATE void sp_side_called(char *name, const char *before, uint64_t number, const char *after);

/* A model as a side; NULL: the contents are alone, without labels that have come since. SPT_OK, or
   a code. Call sp_side_free in either case.

   A side is gone through from end to end. So of a model that lies in a file, of which nothing has
   been looked at, a copy is taken into memory, as spt_open does it: with its checksum. */
SP_PRIVATE int sp_side_begin(sp_side *side, const spt_model *model, const sp_contents *contents,
                             spt_error *error);
SP_PRIVATE void sp_side_free(sp_side *side);

/* How much it has learned since the base, and whose names come before its own. */
SP_PRIVATE void sp_side_since(sp_side *side, const sp_side *base);

/* Whether its labels and odd names begin with the base's: 0, or a fault. */
SP_PRIVATE int sp_side_went_on(const sp_side *side, const sp_side *base, sp_fault *fault);

/* What tells a model from any other state of it. 0, or a kind of fault. */
SP_PRIVATE int sp_side_digest(const sp_side *side, char *digits, sp_fault *fault);

/* Whether it has learned since the base. 0, or a fault: it is another model. */
SP_PRIVATE int sp_side_awake(const sp_side *side, const sp_side *since, bool *awake,
                             sp_fault *fault);

/* Whether a model may be merged with another one. SPT_OK, or a code. */
SP_PRIVATE int sp_check_alike(const spt_model *model, const char *name, const spt_model *first,
                              const char *other, spt_error *error);

/* Merge n sides, the first of which is the base, into a learner like another one. 0, or a kind of
   fault: then nothing is left. */
SP_PRIVATE int sp_sides_merge(sp_side *sides, int n, const sp_contents *like, sp_contents *to,
                              sp_fault *fault);

#endif
