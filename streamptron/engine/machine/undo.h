/* A step logged, and taken back. AdaptiveClassifier's is kept as a snapshot (many/snapshot.h), that
   of a rule without numbers of its own as its moves. */

#ifndef STREAMPTRON_MACHINE_UNDO_H
#define STREAMPTRON_MACHINE_UNDO_H

#include "machine/machine.h"

/* Bytes for a step that has been chosen; 0: this machine writes none down. */
static inline size_t sp_machine_undo_log_most(const sp_learner *learner, const sp_event *event)
{
    return sp_machine_of(learner) == SP_MACHINE_SETS ? sp_sets_undo_log_most(learner, event) : 0;
}

/* What it is going to change; and what it has. */
static inline void sp_machine_undo_log_begin(const sp_learner *learner, const sp_event *event,
                                             double u, uint8_t *data)
{
    if (sp_machine_of(learner) == SP_MACHINE_SETS)
        sp_sets_undo_log_begin(learner, event, u, data);
}

static inline size_t sp_machine_undo_log_end(const sp_learner *learner, const sp_event *event,
                                             uint8_t *data)
{
    return sp_machine_of(learner) == SP_MACHINE_SETS ? sp_sets_undo_log_end(learner, event,
                                                                            data) : 0;
}

static inline bool sp_machine_undo_log_is_sound(const sp_learner *learner, const sp_event *event,
                                                const uint8_t *data, size_t bytes)
{
    return sp_machine_of(learner) == SP_MACHINE_SETS
           && sp_sets_undo_log_is_sound(learner, event, data, bytes);
}

/* -1 without memory; then nothing has changed. */
static inline int sp_machine_take_back(sp_learner *learner, const sp_event *event,
                                       const uint8_t *data)
{
    return sp_machine_of(learner) == SP_MACHINE_SETS ? sp_sets_take_back(learner, event, data) : 0;
}

#endif
