/* A model file's learner: in memory, where it goes on learning, or used where the file lies.

   Nothing that the file says is believed before it is checked; docs/format.md says what is. */

#ifndef STREAMPTRON_FILE_OPEN_H
#define STREAMPTRON_FILE_OPEN_H

#include "file/header.h"
#include "file/parameters.h"
#include "file/tokens.h"
#include "json/bytes.h"
#include "learner/learner.h"

/* Parts that are kept as they are, and written again. */
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

/* All that a file holds. It stays where it is: the learner points into it. */
typedef struct sp_contents {
    sp_learner learner;
    int kind; /* of the rule; also its class */
    sp_parameters parameters;
    sp_given given; /* where they come from */
    sp_pairing pairing;
    bool has_tokens; /* of a Tokenizer or a Mail */
    sp_tokens tokens;
    sp_part parts[SP_PARTS];
    sp_bytes journal; /* of one that can be written again: as it is */
    bool has_journal;
    size_t n_objects;
} sp_contents;

/* How many labels the file has; of a learner whose labels are truth values 2. */
SP_PRIVATE uint32_t sp_contents_labels(const sp_contents *contents);

/* Open all of a file. `in_place`: its bytes are used where they are, and outlive the contents; else
   they may go. They lie at a multiple of eight. 0, or a kind of fault: then nothing is left. */
SP_PRIVATE int sp_contents_open(sp_contents *contents, const uint8_t *file, size_t n, bool in_place,
                                sp_fault *fault);

/* An untrained learner: parameters, and those of a tokenizer or Mail (NULL: none), as people write
   them. 0, or a kind of fault: then nothing is left. */
SP_PRIVATE int sp_contents_new(sp_contents *contents, const char *learner, const char *parameters,
                               const char *tokenizer, const char *mail, uint64_t seed,
                               sp_fault *fault);

/* The class that a header names. 0, or a kind of fault. */
SP_PRIVATE int sp_class_read(const sp_header *header, int *kind, sp_fault *fault);

/* A part that is this JSON. 0, or a kind of fault; sp_part_free is due in either case. */
SP_API int sp_part_of(sp_part *part, const void *text, size_t n, sp_fault *fault);

/* The same of lists of values in one: what is in the brackets of the first, then of the second. */
SP_PRIVATE int sp_part_joined(sp_part *part, const sp_part *list, const void *more, size_t n,
                              sp_fault *fault);

/* An untrained learner like another one, with these labels and odd names, and what stands before
   it. `n_outputs`: how many it will have. 0, or a kind of fault: then nothing is left. */
SP_PRIVATE int sp_contents_like(sp_contents *contents, const sp_contents *like,
                                const sp_bytes *labels, const sp_bytes *objects,
                                ptrdiff_t *n_outputs, sp_fault *fault);

/* Leave out what is true of one file alone: its journal, metadata and place in a stream. 0, or a
   kind of fault. */
SP_PRIVATE int sp_contents_bare(sp_contents *contents, sp_fault *fault);

/* What the command line keeps in a file (docs/format.md: lines) is this from now on. 0, or a kind
   of fault: then it is what it was. */
SP_PRIVATE int sp_contents_put_lines(sp_contents *contents, const void *text, size_t n,
                                     sp_fault *fault);

/* Check what a header that has been read says of the model. Python's reader calls this, so that it
   believes no more. 0, or a kind of fault. */
SP_API int sp_contents_check(const sp_header *header, sp_fault *fault);

SP_PRIVATE void sp_contents_free(sp_contents *contents);

#endif
