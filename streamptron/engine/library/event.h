/* An event's features, written for the engine. */

#ifndef STREAMPTRON_LIBRARY_EVENT_H
#define STREAMPTRON_LIBRARY_EVENT_H

#include "library/model.h"

enum {
    SP_NAME_BEFORE = 16,       /* bytes that may be read before a name's */
    SP_TEXT_MOST = 1 << 28,    /* bytes of a text */
    SP_FEATURES_MOST = 1 << 27, /* of an event */
    SP_LABELS_MOST = 1 << 27,
};

/* Let the engine have the event: it is written again, and compared with what the engine knows of
   it. SPT_OK or a code. */
SP_PRIVATE int sp_event_put(const spt_model *model, spt_event *event, spt_error *error);

#endif
