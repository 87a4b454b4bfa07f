/* The learner of a model file: in memory, where it can go on learning, or used in place.

   Everything in the file is checked before it is used; docs/format.md describes the checks. */

#ifndef STREAMPTRON_FILE_OPEN_H
#define STREAMPTRON_FILE_OPEN_H

#include "file/header.h"
#include "file/parameters.h"
#include "file/tokens.h"
#include "json/bytes.h"
#include "learner/learner.h"

/* Parts that are kept unchanged, and written again. */
typedef enum sp_snapshot_part {
    SP_PART_PARAMETERS,
    SP_PART_LABELS,
    SP_PART_OBJECTS,
    SP_PART_Y_NAME,
    SP_PART_PAST,
    SP_PART_TOKENIZER,
    SP_PART_MAIL,
    SP_PART_LINES,
    SP_PART_POSITION,
    SP_PART_METADATA,
    SP_PARTS,
} sp_snapshot_part;

/* The contents of a file. They must not be moved, as the learner points into them. */
typedef struct sp_contents {
    sp_learner learner;
    int kind; /* of the rule; also its class */
    sp_parameters parameters;
    sp_given given; /* their source */
    sp_pairing pairing;
    bool has_tokens; /* of a Tokenizer or a Mail */
    sp_tokens tokens;
    sp_part parts[SP_PARTS];
    sp_bytes journal; /* unchanged, if the model can be saved again */
    bool has_journal;
    size_t n_objects;
} sp_contents;

/* How many labels the file has; 2 if the learner's labels are truth values. */
SP_PRIVATE uint32_t sp_contents_labels(const sp_contents *contents);

/* Open a whole file. `in_place`: its bytes are used in place, and must outlive the contents;
   otherwise they may be freed afterwards. Their address is a multiple of eight. 0, or a kind of
   fault; then nothing is left. */
SP_PRIVATE int sp_contents_open(sp_contents *contents, const uint8_t *file, size_t n, bool in_place,
                                sp_fault *fault);

/* Make an untrained learner, from its parameters and those of a tokenizer or Mail (NULL: none), as
   people write them. 0, or a kind of fault; then nothing is left. */
SP_PRIVATE int sp_contents_new(sp_contents *contents, const char *learner, const char *parameters,
                               const char *tokenizer, const char *mail, uint64_t seed,
                               sp_fault *fault);

/* The class that a header names. 0, or a kind of fault. */
SP_PRIVATE int sp_class_read(const sp_header *header, int *kind, sp_fault *fault);

/* Make a part of this JSON. 0, or a kind of fault. Call sp_part_free in either case. */
SP_API int sp_part_of(sp_part *part, const void *text, size_t n, sp_fault *fault);

/* The same from two lists joined: the values of the first, then `more`, without brackets. */
SP_PRIVATE int sp_part_joined(sp_part *part, const sp_part *list, const void *more, size_t n,
                              sp_fault *fault);

/* Make an untrained learner like another one, with its tokenizer or Mail, and these labels and odd
   names. `n_outputs`: how many outputs it will have. 0, or a kind of fault; then nothing is
   left. */
SP_PRIVATE int sp_contents_like(sp_contents *contents, const sp_contents *like,
                                const sp_bytes *labels, const sp_bytes *objects,
                                ptrdiff_t *n_outputs, sp_fault *fault);

/* Remove what belongs to a single file: its journal, metadata and position in a stream. 0, or a
   kind of fault. */
SP_PRIVATE int sp_contents_bare(sp_contents *contents, sp_fault *fault);

/* Set what the command line keeps in a file (docs/format.md: lines). 0, or a kind of fault; then it
   is unchanged. */
SP_PRIVATE int sp_contents_put_lines(sp_contents *contents, const void *text, size_t n,
                                     sp_fault *fault);

/* Check what a header says about the model. Python's reader calls this, so that it accepts the same
   files. 0, or a kind of fault. */
SP_API int sp_contents_check(const sp_header *header, sp_fault *fault);

SP_PRIVATE void sp_contents_free(sp_contents *contents);

#endif
