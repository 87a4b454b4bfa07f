/* Writing a model file's bytes, or a delta's: the header, then the arrays. */

#ifndef STREAMPTRON_FILE_WRITE_H
#define STREAMPTRON_FILE_WRITE_H

#include "exchange/delta.h"
#include "file/arrays.h"
#include "file/open.h"
#include "json/bytes.h"

/* The header's text, of a file or a delta: begin it with format and version, then add each part in
   the order of the file, a name and its text. */
SP_API void sp_header_begin(sp_bytes *to, bool delta);
SP_API void sp_header_put(sp_bytes *to, const char *name, const void *text, size_t n);

/* Finish it with the checksum of the arrays, with type and place of each of the n kinds, and with
   its own length and checksum. 0, or a kind of fault. */
SP_API int sp_header_finish(sp_bytes *to, uint32_t arrays_crc32, const sp_array *arrays,
                            sp_kind_of kind_of, int n, sp_fault *fault);

typedef struct sp_written {
    sp_bytes header;
    sp_file_arrays arrays;
} sp_written;

/* Write a learner that is not used in place. 0, or a kind of fault. Call sp_written_free in either
   case.

   `by`: the version of the library that writes. `more_labels`: labels that follow those of the
   file, as JSON with a comma before each. */
SP_PRIVATE int sp_contents_write(const sp_contents *contents, const char *by,
                                 const sp_bytes *more_labels, sp_written *to, sp_fault *fault);

SP_PRIVATE void sp_written_free(sp_written *written);

/* The labels as JSON: those of the file, then `more`. */
SP_PRIVATE int sp_labels_part(const sp_contents *contents, const sp_bytes *more, sp_part *part,
                              sp_fault *fault);

/* What a delta says about itself: its base, and new labels and odd names, as lists without
   brackets. */
typedef struct sp_delta_said {
    const char *base;
    uint64_t shard;
    sp_bytes labels, objects;
} sp_delta_said;

/* The bytes of a delta that has been measured (exchange/delta.h). 0, or a kind of fault. */
SP_PRIVATE int sp_delta_bytes(const sp_contents *contents, sp_delta *delta, const sp_shard *shard,
                              const sp_shard *base, const sp_delta_said *said, sp_bytes *to,
                              sp_fault *fault);

/* Piece i of the file's pieces, in order; NULL behind the last. */
SP_PRIVATE const void *sp_written_piece(const sp_written *written, int i, size_t *n);

#endif
