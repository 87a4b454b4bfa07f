/* A model file's arrays, as the engine takes and gives them. */

#ifndef STREAMPTRON_FILE_ARRAYS_H
#define STREAMPTRON_FILE_ARRAYS_H

#include "file/header.h"
#include "json/bytes.h"
#include "learner/learner.h"
#include "table/arrays.h"

/* The arrays of a learner: which are there, of what size, and where each starts. `start` and `end`
   of a shape count from the first array, in a file and in what is laid out. */
typedef struct sp_file_arrays {
    sp_array shapes[SP_ARRAYS];
    void *start[SP_ARRAYS];
    sp_arrays flat; /* of those that are laid out: names and slots, for the lookup */
} sp_file_arrays;

typedef enum sp_file_arrays_from {
    SP_FROM_FILE,   /* all is checked and copied */
    SP_FROM_MAPPED, /* used where it lies: what is looked at later is checked then */
    SP_FROM_PICKLE  /* as of a file, but the lookup may be missing, and names nest deeper */
} sp_file_arrays_from;

enum { SP_PICKLE_DEPTH = 1000 }; /* as SP_ARRAYS_DEPTH, in a pickle */

/* Fill an untrained learner. 0, or a kind of fault; the learner cannot be used then. */
SP_API int sp_file_arrays_open(const sp_file_arrays *arrays, sp_learner *learner,
                               ptrdiff_t n_outputs, size_t n_objects, int from, sp_fault *fault);

/* Look at all rows of a mapped learner that are otherwise looked at when they are used: those of
   several labels an event. 0, or a kind of fault. */
SP_API int sp_file_arrays_look_through(const sp_file_arrays *arrays, sp_learner *learner,
                                       sp_fault *fault);

/* What gives memory for an array, which whoever gave it frees: NULL without. */
typedef void *sp_file_arrays_room(void *whose, int array, const sp_array *shape);

/* Write a learner's arrays. `lookup`: with it; sp_file_arrays_look_up fills it in. -1 if out of
   memory. */
SP_API int sp_file_arrays_lay_out(const sp_learner *learner, bool lookup, sp_file_arrays_room *room,
                                  void *whose, sp_file_arrays *arrays);

/* Fill in the lookup; the learner may have changed by now. Whether names are nested deeper than a
   file, or a pickle, can hold. */
SP_API bool sp_file_arrays_look_up(sp_file_arrays *arrays, int from);

/* The arrays behind the header of a file. */
SP_PRIVATE void sp_file_arrays_behind(const sp_header *header, const uint8_t *first,
                                      sp_file_arrays *arrays);

/* A learner's arrays in memory of their own, as a file has them. `journal`: the bytes of one that
   is kept with the learner; NULL: there is none. 0, or a kind of fault. Call sp_file_arrays_free in
   either case. */
SP_PRIVATE int sp_file_arrays_write(const sp_learner *learner, const sp_bytes *journal,
                                    sp_file_arrays *arrays, sp_fault *fault);

SP_PRIVATE void sp_file_arrays_free(sp_file_arrays *arrays);

#endif
