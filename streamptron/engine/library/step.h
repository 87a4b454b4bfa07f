/* A step that is kept: its event, and what it has changed. */

#ifndef STREAMPTRON_LIBRARY_STEP_H
#define STREAMPTRON_LIBRARY_STEP_H

#include "library/model.h"
#include "path/record.h"

struct spt_step {
    spt_model *model;
    uint64_t life; /* of the model */
    bool changed;  /* it was counted as an update */
    bool undone;
    sp_bytes names, features; /* the event's */
    sp_undo_record taken;
    uint8_t *parts; /* the parts of `taken`, one behind the other */
};

#endif
