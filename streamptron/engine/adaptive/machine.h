/* AdaptiveClassifier's machine: slots of its own (adaptive/slots.h), and what it keeps once.

   Its verbs are those of machine.h; adaptive/adaptive.h says what they do. */

#ifndef STREAMPTRON_ADAPTIVE_MACHINE_H
#define STREAMPTRON_ADAPTIVE_MACHINE_H

#include "adaptive/adaptive.h"
#include "path/learner.h"

SP_PRIVATE int sp_adaptive_open(sp_learner *learner, int average, bool pocket, int serve,
                                bool scattered);

/* The list of columns, of the slots. -1 without memory. */
SP_PRIVATE int sp_adaptive_ready(sp_learner *learner);

/* The scores, and the verdict. -1 without memory. */
SP_PRIVATE int sp_adaptive_score(sp_learner *learner, sp_event *event);

/* Slots, outputs and chunks: every event of weight above 0 is counted, even without a step. */
SP_PRIVATE int sp_adaptive_reserve(sp_learner *learner, sp_event *event, ptrdiff_t y, double u);

/* Count the answer, and learn what has been prepared. */
SP_PRIVATE void sp_adaptive_take(sp_learner *learner, sp_event *event, ptrdiff_t y, double u);

SP_PRIVATE double sp_adaptive_read(const sp_learner *learner, sp_slot_type slot, ptrdiff_t output);

#endif
