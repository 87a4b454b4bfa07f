/* A learner's counts, and what it keeps once per model: the numbers of a file's header.

       counters   n_seen, n_updates, n_mistakes
       clock      c, s, fold, epoch            of the averages
       serve      which vector answers
       adaptive, voted or sets                 what the machine keeps once per model
       ceiling    hand, clock, n_evicted

   Files, deltas and pickles have each of these parts as a text: JSON with hexadecimal doubles, so
   that no number changes. */

#ifndef STREAMPTRON_FILE_COUNTS_H
#define STREAMPTRON_FILE_COUNTS_H

#include "file/header.h"
#include "json/bytes.h"
#include "learner/learner.h"

enum { SP_COUNTS = 5 };

/* The name of part i; NULL: this learner does not have it. */
SP_API const char *sp_counts_name(const sp_learner *learner, int i);

/* Part i as JSON. */
SP_API void sp_counts_write(const sp_learner *learner, int i, sp_bytes *to);

/* Read all parts into an untrained learner that has its labels. 0, or a kind of fault. */
SP_API int sp_counts_read(const sp_part *parts, sp_learner *learner, sp_fault *fault);

/* The same from a header. */
SP_PRIVATE int sp_counts_open(const sp_header *header, sp_learner *learner, sp_fault *fault);

#endif
