/* AdaptiveClassifier's machine: it has slots of its own (adaptive/slots.h), and keeps some numbers
   once per model.

   Its verbs are those of learner/machine.h; adaptive/adaptive.h says what they do. */

#ifndef STREAMPTRON_ADAPTIVE_MACHINE_H
#define STREAMPTRON_ADAPTIVE_MACHINE_H

#include "adaptive/adaptive.h"
#include "learner/machine.h"

/* The machine, which becomes the one of many labels with the third label: so both are in
   many/verbs.c. */
SP_DATA const sp_machine sp_adaptive_machine;
SP_DATA const sp_seldom sp_adaptive_seldom;

SP_HOT int sp_adaptive_open(sp_learner *learner, const sp_vectors *vectors, bool scattered);

/* Make the list of columns from the slots. -1 if out of memory. */
SP_PRIVATE int sp_adaptive_ready(sp_learner *learner);

/* What is wrong with columns, and with their curves and surfaces, or NULL. */
SP_PRIVATE const char *sp_adaptive_wrong(const sp_learner *learner);

/* Make the score and the verdict. -1 if out of memory. */
SP_HOT int sp_adaptive_score(sp_learner *learner, sp_event *event);

/* Reserve slots and chunks. Every event of weight above 0 is counted, even without a step. */
SP_HOT int sp_adaptive_reserve_event(sp_learner *learner, sp_event *event, ptrdiff_t y, double u);

/* Count the answer, and learn what has been prepared. */
SP_HOT void sp_adaptive_apply(sp_learner *learner, sp_event *event, ptrdiff_t y, double u);

SP_HOT double sp_adaptive_read(const sp_learner *learner, sp_slot_type slot, ptrdiff_t output,
                               int kind);

/* --- The same with more labels */

/* Read an event's features, and sum over them, in scratch of a kind that begins like
   sp_adaptive_scratch. -1 if out of memory. */
SP_PRIVATE int sp_adaptive_scratch_read(sp_learner *learner, sp_event *event,
                                        const sp_scratch_kind *kind, ptrdiff_t outputs);

/* Reserve slots, and room for columns and for label y. -1 if out of memory. */
SP_PRIVATE int sp_adaptive_scratch_reserve_entries(sp_learner *learner, sp_event *event,
                                                   ptrdiff_t y);

/* Reserve chunks for all that the step writes; columns' chunks only where there are columns. -1 if
   out of memory. */
SP_PRIVATE int sp_adaptive_scratch_chunks(sp_learner *learner, const sp_event *event);

#endif
