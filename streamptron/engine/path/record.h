/* A step that is taken so that it can be taken back: what it has changed, as bytes in some parts.

   How it is kept depends on what the learner can do (learner/can.h):

       MOVES   the moves: of each an output, uint32, and a float64; behind them the averages'
               moment: c and s, float64, and fold, uint32
               under a ceiling the slots of the event, uint32
       SLOTS   the outputs that stepped, ptrdiff_t, rising
               the entries' slots, uint32, 0: none, or not again; under a ceiling what stands for
               the names of the gaps, uint64
               what is kept once, float64: before the step, and after it
               slots' numbers, float: all before, all after
               their means, float64, likewise
               the columns among them, before and after
               where columns had curves, what shapes/undo.h says
       NOTES   what the machine writes down

   The weights are a sum of steps, and so is what the average keeps beside them: a step of size d at
   time t adds d to w, and to v the share d c_t or d / s_t (table/table.h). So the same additions
   with the other sign take it back, whatever has been learned since:

       learned        + a x             v + c_t (a x)         ...        later steps, as they were
       undone         - a x             v - c_t (a x)

   The numbers are whole where values and steps are: then w and v are, bit for bit, what they would
   be had this step been left out. Otherwise a rounding may be left.

   Each part lies where its owner has put it, at a multiple of eight. It may be kept for any
   length of time, and come from anywhere: sp_undo_record_fault trusts nothing. */

#ifndef STREAMPTRON_PATH_RECORD_H
#define STREAMPTRON_PATH_RECORD_H

#include "events/event.h"
#include "learner/learner.h"

typedef enum sp_undo_kind {
    SP_UNDO_NONE, /* the event has changed no weight, or the learner cannot */
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
    /* beside them, of SLOTS */
    ptrdiff_t y;       /* the label's place */
    ptrdiff_t outputs; /* that there were after it */
    ptrdiff_t m;       /* that stepped */
} sp_undo_record;

/* How a learner's steps are kept. */
SP_API sp_undo_kind sp_undo_kind_of(const sp_learner *learner);

/* Choose the step of a scored event, and say how large its parts may become. -1 if out of memory.
   Give them memory then, or call sp_learner_abandon. */
SP_API int sp_undo_record_prepare(sp_undo_record *taken, sp_learner *learner, sp_event *event,
                                  ptrdiff_t y, double u);

/* Take it, and fill the parts; that of the columns may have become shorter. -1 if out of memory. */
SP_API int sp_undo_record_commit(sp_undo_record *taken, sp_learner *learner, sp_event *event,
                                 double u);

/* Find what an event of a step that is to be taken back has. -1 if out of memory. */
SP_API int sp_undo_record_find(sp_learner *learner, sp_event *event);

/* NULL, or what is wrong with a step of that event. */
SP_API const char *sp_undo_record_fault(const sp_undo_record *taken, const sp_learner *learner,
                                        const sp_event *event);

/* Take it back; `changed`: it was counted as an update. -1 if out of memory; then nothing has
   changed. In either case the event is to be forgotten (sp_event_forget). */
SP_API int sp_undo_record_take_back(const sp_undo_record *taken, bool changed, sp_learner *learner,
                                    sp_event *event);

enum {
    SP_FOLDS_MOST = 16, /* of 2^256: more folds leave nothing of any share */
};

/* of the average's clock */
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

/* Take these moves, as at that moment. There is room for them. */
SP_PRIVATE void sp_undo_moves(sp_learner *learner, sp_event *event, sp_moment moment);

#endif
