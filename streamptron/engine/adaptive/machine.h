/* AdaptiveClassifier's machine: slots of its own (adaptive/slots.h), and what it keeps once.

   Its verbs are those of learner/machine.h; adaptive/adaptive.h says what they do. */

#ifndef STREAMPTRON_ADAPTIVE_MACHINE_H
#define STREAMPTRON_ADAPTIVE_MACHINE_H

#include "adaptive/adaptive.h"
#include "learner/machine.h"

/* Its machine, which becomes that of many labels with the third: so both are in many/verbs.c. */
SP_DATA const sp_machine sp_adaptive_machine;
SP_DATA const sp_seldom sp_adaptive_seldom;

SP_HOT int sp_adaptive_open(sp_learner *learner, const sp_vectors *vectors, bool scattered);

/* The list of columns, of the slots. -1 if out of memory. */
SP_PRIVATE int sp_adaptive_ready(sp_learner *learner);

/* What is wrong with columns, and with their curves and surfaces, or NULL. */
SP_PRIVATE const char *sp_adaptive_wrong(const sp_learner *learner);

/* The score, and the verdict. -1 if out of memory. */
SP_HOT int sp_adaptive_score(sp_learner *learner, sp_event *event);

/* Slots and chunks: every event of weight above 0 is counted, even without a step. */
SP_HOT int sp_adaptive_reserve_event(sp_learner *learner, sp_event *event, ptrdiff_t y, double u);

/* Count the answer, and learn what has been prepared. */
SP_HOT void sp_adaptive_apply(sp_learner *learner, sp_event *event, ptrdiff_t y, double u);

SP_HOT double sp_adaptive_read(const sp_learner *learner, sp_slot_type slot, ptrdiff_t output,
                               int kind);

/* --- With more labels the same */

/* An event's features, in scratch of that kind, which begins as sp_adaptive_scratch does: the sums
   over them. -1 if out of memory. */
SP_PRIVATE int sp_adaptive_scratch_read(sp_learner *learner, sp_event *event,
                                        const sp_scratch_kind *kind, ptrdiff_t outputs);

/* Slots, and room for columns and for label y. -1 if out of memory. */
SP_PRIVATE int sp_adaptive_scratch_reserve_entries(sp_learner *learner, sp_event *event,
                                                   ptrdiff_t y);

/* Chunks for all that the step writes: those of columns are made where they are. -1 if out of
   memory. */
SP_PRIVATE int sp_adaptive_scratch_chunks(sp_learner *learner, const sp_event *event);

#endif
