/* The record of a step, for undoing it: what it has changed, as bytes in several parts.

   How it is kept depends on what the learner can do (learner/can.h):

       MOVES      the moves: each an output, uint32, and a float64; behind them the averages'
                  moment: c and s, float64, and fold, uint32
                  under a ceiling the slots of the event, uint32
       SNAPSHOT   the outputs that stepped, ptrdiff_t, rising
                  the entries' slots, uint32 (0: none, or a repeated one); under a ceiling what
                  identifies the names of the gaps, uint64
                  what is kept once per model, float64: before the step, and after it
                  slots' numbers, float: all before, all after
                  their means, float64, likewise
                  the columns among them, before and after
                  if columns had curves, the bytes of shapes/undo.h
       LOG        what the machine writes down

   Weights are sums of steps, and so is what the average keeps beside them: a step of size d at time
   t adds d to w, and d c_t or d / s_t to v (table/table.h). So the same additions with the opposite
   sign undo it, whatever has been learned since:

       learned        + a x             v + c_t (a x)         ...        later steps, unchanged
       undone         - a x             v - c_t (a x)

   If values and steps are whole numbers, so are the sums: then w and v are, bit for bit, what they
   would be without this step. Otherwise a rounding error may remain.

   The caller decides where each part is stored; its address must be a multiple of eight. Parts may
   be kept for any length of time, and come from anywhere: sp_undo_record_fault trusts nothing. */

#ifndef STREAMPTRON_PATH_RECORD_H
#define STREAMPTRON_PATH_RECORD_H

#include "events/event.h"
#include "learner/learner.h"

typedef enum sp_undo_kind {
    SP_UNDO_NONE, /* the event has changed no weight, or the learner cannot undo */
    SP_UNDO_MOVES,
    SP_UNDO_SNAPSHOT,
    SP_UNDO_LOG,
} sp_undo_kind;

enum {
    SP_RECORD_MOVES = 0, /* the parts, in their order */
    SP_RECORD_EVENT,
    SP_RECORD_OUTPUTS = 0,
    SP_RECORD_SLOTS,
    SP_RECORD_ONCE,
    SP_RECORD_NUMBERS,
    SP_RECORD_MEANS,
    SP_RECORD_COLUMNS,
    SP_RECORD_SHAPES,
    SP_RECORD_LOG = 0,
    SP_RECORD_PARTS = 7,
};

typedef struct sp_undo_record {
    sp_undo_kind how;
    int n_parts;
    uint8_t *p[SP_RECORD_PARTS];
    size_t n[SP_RECORD_PARTS]; /* bytes */
    /* in addition, for SNAPSHOT */
    ptrdiff_t y;       /* the label's place */
    ptrdiff_t outputs; /* outputs after the step */
    ptrdiff_t m;       /* outputs that stepped */
} sp_undo_record;

/* How a learner's steps are kept. */
SP_API sp_undo_kind sp_undo_kind_of(const sp_learner *learner);

/* Choose the step of a scored event, and find out how large its parts may become. -1 if out of
   memory. Then provide memory for them, or call sp_learner_abandon. */
SP_API int sp_undo_record_prepare(sp_undo_record *taken, sp_learner *learner, sp_event *event,
                                  ptrdiff_t y, double u);

/* Take the step, and fill the parts. The part of the columns may become shorter. -1 if out of
   memory. */
SP_API int sp_undo_record_commit(sp_undo_record *taken, sp_learner *learner, sp_event *event,
                                 double u);

/* Look up the features of an event whose step is to be undone. -1 if out of memory. */
SP_API int sp_undo_record_find(sp_learner *learner, sp_event *event);

/* NULL, or what is wrong with a step of that event. */
SP_API const char *sp_undo_record_fault(const sp_undo_record *taken, const sp_learner *learner,
                                        const sp_event *event);

/* Undo it; `changed`: it was counted as an update. -1 if out of memory; then nothing has changed.
   In either case call sp_event_forget. */
SP_API int sp_undo_record_take_back(const sp_undo_record *taken, bool changed, sp_learner *learner,
                                    sp_event *event);

enum {
    SP_FOLDS_MOST = 16, /* folds by 2^256: after more, nothing is left of a step */
};

/* a moment of the averages' clock */
typedef struct sp_moment {
    double c;
    double s;
    uint32_t fold;
} sp_moment;

static inline sp_moment sp_undo_moment(const sp_learner *learner)
{
    sp_moment moment;
    moment.c = learner->table.c;
    moment.s = learner->table.s;
    moment.fold = learner->table.fold;
    return moment;
}

/* Make these moves, as at that moment. There is room for them. */
SP_PRIVATE void sp_undo_moves(sp_learner *learner, sp_event *event, sp_moment moment);

#endif
