/* Steps that are kept, so that they can be taken back. */

#ifndef STREAMPTRON_LIBRARY_STEPS_H
#define STREAMPTRON_LIBRARY_STEPS_H

#include "library/model.h"

/* Teach an event that the engine has: a label's number or a candidate's, or the set that
   sp_multilabel_set_targets was given. If the event keeps what it teaches, its step is there then.
   SPT_OK or a code. */
SP_PRIVATE int sp_event_teach(spt_model *model, spt_event *event, ptrdiff_t y, double u,
                              spt_error *error);

#endif
