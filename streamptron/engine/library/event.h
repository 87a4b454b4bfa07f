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

/* How many candidates of an event have been begun. */
static inline size_t sp_candidates(const spt_event *event)
{
    return event->starts.n / sizeof(size_t);
}

/* Write the event for the engine again, which compares it with the one that it remembers. SPT_OK or
   a code. */
SP_PRIVATE int sp_event_put(const spt_model *model, spt_event *event, spt_error *error);

/* Report why the engine could not score or learn an event. */
SP_PRIVATE int sp_unfit(const spt_event *event, spt_error *error);

/* Append the engine's entries first .. last - 1 as features to `names` and `features`. Their bytes
   are copied. -1 if out of memory. */
SP_PRIVATE int sp_named_take(const sp_event *event, ptrdiff_t first, ptrdiff_t last,
                             sp_bytes *names, sp_bytes *features);

#endif
