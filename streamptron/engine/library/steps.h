/* Steps that are kept, so that they can be undone. */

#ifndef STREAMPTRON_LIBRARY_STEPS_H
#define STREAMPTRON_LIBRARY_STEPS_H

#include "library/model.h"

/* Learn an event that the engine has: a label's or a candidate's number, or the set that was given
   to sp_multilabel_set_targets. If the event keeps its steps, event->step is this one then. SPT_OK
   or a code. */
SP_PRIVATE int sp_event_teach(spt_model *model, spt_event *event, ptrdiff_t y, double u,
                              spt_error *error);

#endif
