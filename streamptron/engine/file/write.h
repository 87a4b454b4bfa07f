/* A model file's bytes: the header, then the arrays; the same that Python's writer makes. */

#ifndef STREAMPTRON_FILE_WRITE_H
#define STREAMPTRON_FILE_WRITE_H

#include "file/arrays.h"
#include "file/bytes.h"
#include "file/open.h"

typedef struct sp_written {
    sp_bytes header;
    sp_laid_out arrays;
} sp_written;

/* Write a learner that is not used in place. 0, or a kind of fault. Call sp_written_free in either
   case.

   `by`: the version that writes. `more_labels`: what comes behind those of the file, as JSON with a
   comma before each. */
SP_PRIVATE int sp_contents_write(const sp_contents *contents, const char *by,
                                 const sp_bytes *more_labels, sp_written *to, sp_fault *fault);

SP_PRIVATE void sp_written_free(sp_written *written);

/* The pieces of the file one after the other: piece i, NULL behind the last. */
SP_PRIVATE const void *sp_written_piece(const sp_written *written, int i, size_t *n);

#endif
