/* A model file's arrays, to and from the engine. */

#ifndef STREAMPTRON_FILE_ARRAYS_H
#define STREAMPTRON_FILE_ARRAYS_H

#include "file/header.h"
#include "json/bytes.h"
#include "learner/learner.h"
#include "table/arrays.h"

/* A learner's arrays: which there are, their sizes, and where each starts. `start` and `end` of a
   shape count from the first array, in a file and in memory. */
typedef struct sp_file_arrays {
    sp_array shapes[SP_ARRAYS];
    void *start[SP_ARRAYS];
    sp_arrays flat; /* of arrays laid out in memory: names and slots, for the lookup */
} sp_file_arrays;

typedef enum sp_file_arrays_from {
    SP_FROM_FILE,   /* all is checked and copied */
    SP_FROM_MAPPED, /* used in place: what is not read now is checked when it is read */
    SP_FROM_PICKLE  /* as a file, but it may have no lookup, and deeper names */
} sp_file_arrays_from;

enum { SP_PICKLE_DEPTH = 1000 }; /* as SP_ARRAYS_DEPTH, in a pickle */

/* Fill an untrained learner. 0, or a kind of fault; then the learner cannot be used. */
SP_API int sp_file_arrays_open(const sp_file_arrays *arrays, sp_learner *learner,
                               ptrdiff_t n_outputs, size_t n_objects, int from, sp_fault *fault);

/* Check all rows of a mapped learner that are otherwise checked when they are used: those of a
   learner with several labels per event. 0, or a kind of fault. */
SP_API int sp_file_arrays_look_through(const sp_file_arrays *arrays, sp_learner *learner,
                                       sp_fault *fault);

/* Provides memory for an array, which its provider frees; NULL if out of memory. */
typedef void *sp_file_arrays_room(void *whose, int array, const sp_array *shape);

/* Write a learner's arrays. `lookup`: with room for the lookup, which sp_file_arrays_look_up fills
   in. -1 if out of memory. */
SP_API int sp_file_arrays_lay_out(const sp_learner *learner, bool lookup, sp_file_arrays_room *room,
                                  void *whose, sp_file_arrays *arrays);

/* Fill in the lookup; the learner may have changed by now. Returns whether names are nested deeper
   than is allowed in a file, or a pickle. */
SP_API bool sp_file_arrays_look_up(sp_file_arrays *arrays, int from);

/* Find the arrays behind the header of a file. */
SP_PRIVATE void sp_file_arrays_behind(const sp_header *header, const uint8_t *first,
                                      sp_file_arrays *arrays);

/* Write a learner's arrays into memory of their own, as in a file. `journal`: the bytes of the
   journal that is kept with the learner; NULL: none. 0, or a kind of fault. Call
   sp_file_arrays_free in either case. */
SP_PRIVATE int sp_file_arrays_write(const sp_learner *learner, const sp_bytes *journal,
                                    sp_file_arrays *arrays, sp_fault *fault);

SP_PRIVATE void sp_file_arrays_free(sp_file_arrays *arrays);

#endif
