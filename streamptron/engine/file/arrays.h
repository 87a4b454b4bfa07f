/* A model file's arrays, as the engine takes and gives them. */

#ifndef STREAMPTRON_FILE_ARRAYS_H
#define STREAMPTRON_FILE_ARRAYS_H

#include "file/header.h"
#include "json/bytes.h"
#include "learner/learner.h"

/* Fill an untrained learner from the arrays behind a header. 0, or a kind of fault. */
SP_PRIVATE int sp_file_arrays_open(const sp_header *header, const uint8_t *arrays,
                                   sp_learner *learner,
                                   ptrdiff_t n_outputs, size_t n_objects, bool in_place,
                                   sp_fault *fault);

/* What is wrong with flat arrays (SP_ARRAYS_...), in words. */
SP_API const char *sp_arrays_words(int fault);

/* The arrays of a learner, in memory of their own. */
typedef struct sp_laid_out {
    sp_array shapes[SP_ARRAYS]; /* those that are there, one behind the other */
    void *start[SP_ARRAYS];
} sp_laid_out;

/* `journal`: the bytes of one that is kept with the learner; NULL: there is none. 0, or a kind of
   fault. Call sp_laid_out_free in either case. */
SP_PRIVATE int sp_file_arrays_lay_out(const sp_learner *learner, const sp_bytes *journal,
                                      sp_laid_out *arrays, sp_fault *fault);

SP_PRIVATE void sp_laid_out_free(sp_laid_out *arrays);

#endif
