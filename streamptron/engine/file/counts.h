/* What a learner has counted, and what it keeps once: the numbers of a file's header.

       counters   n_seen, n_updates, n_mistakes
       clock      c, s, fold, epoch            of the averages
       serve      which vector answers
       ceiling    hand, clock, n_evicted
       adaptive, voted or sets                 what the machine keeps once

   Doubles are hexadecimal texts, so that none changes. */

#ifndef STREAMPTRON_FILE_COUNTS_H
#define STREAMPTRON_FILE_COUNTS_H

#include "file/header.h"
#include "json/bytes.h"
#include "learner/learner.h"

/* Into an untrained learner that has its labels. 0, or a kind of fault. */
SP_PRIVATE int sp_counts_read(const sp_header *header, sp_learner *learner, sp_fault *fault);

/* Each part as JSON. */
SP_PRIVATE void sp_counters_write(const sp_learner *learner, sp_bytes *to);
SP_PRIVATE void sp_clock_write(const sp_learner *learner, sp_bytes *to);
SP_PRIVATE void sp_serve_write(const sp_learner *learner, sp_bytes *to);
SP_PRIVATE void sp_ceiling_write(const sp_learner *learner, sp_bytes *to);

/* -1 without memory. */
SP_PRIVATE int sp_once_write(const sp_learner *learner, sp_bytes *to);

#endif
