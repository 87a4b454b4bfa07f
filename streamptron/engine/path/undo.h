/* A step taken back.

   The weights are a sum of steps, and so is what the average keeps beside them: a step of size d at
   time t adds d to w, and to v the share d c_t or d / s_t (linear/table.h). So the same additions
   with the other sign take it back, whatever has been learned since:

       learned        + a x             v + c_t (a x)         ...        later steps, as they were
       undone         - a x             v - c_t (a x)

   The numbers are whole where values and steps are: then w and v are, bit for bit, what they would
   be had this step been left out. Otherwise a rounding may be left.

   A feature that a ceiling refused a slot, or has taken it away from since, is left alone: nothing
   of the step is there. One that has come back is known by another slot than it had.

   AdaptiveClassifier's numbers are not plain sums; adaptive/undo.h says what comes back of them. */

#ifndef STREAMPTRON_PATH_UNDO_H
#define STREAMPTRON_PATH_UNDO_H

#include "adaptive/state.h"
#include "events/event.h"
#include "linear/table.h"
#include "path/learner.h"

enum {
    SP_ONCE_MODEL = 6 + SP_DRIFT_NUMBERS, /* T, D of the label, m, nm, tau and its G, the watch's */
    SP_ONCE_OUTPUT = 4, /* w0, G0, wn, Gn */
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

/* Leave out the entries that had no slot, or another one. They are `slots` of the event. */
SP_API void sp_undo_leave(sp_event *event, const uint32_t *slots);

/* Take the moves of the event's step, as at that moment. The slots are reserved. */
SP_API void sp_undo_moves(sp_learner *learner, sp_event *event, sp_moment moment);

/* Floats for each entry. */
SP_API ptrdiff_t sp_kept_width(ptrdiff_t m);

/* The entries that a step is kept of: the event's, then the columns that the event lacks. How many;
   their slots are written down, unless `slots` is NULL. */
SP_API ptrdiff_t sp_kept_slots(const sp_event *event, uint32_t *slots);

/* What stands for these slots in a step, for as long as it is kept: their numbers if names are
   hashed, for a model that was saved has slots in another order. And back; the null slot for a
   number that has none. */
SP_API void sp_kept_numbers(const sp_learner *learner, uint32_t *slots, ptrdiff_t n);
SP_API void sp_kept_find(const sp_learner *learner, uint32_t *slots, ptrdiff_t n);

/* Write down what these slots hold; `there`: the outputs that they have. */
SP_API void sp_kept_fill(const sp_learner *learner, const uint32_t *slots, ptrdiff_t n,
                         ptrdiff_t there, ptrdiff_t outputs, ptrdiff_t y, const ptrdiff_t *k,
                         ptrdiff_t m, float *kept, double *means);

/* Leave each of these slots once; 0 where it comes again. */
SP_API void sp_kept_once_each(const sp_learner *learner, uint32_t *slots, ptrdiff_t n);

/* Bytes for a column of a step, of so many places. */
SP_API size_t sp_kept_column_bytes(ptrdiff_t places);

/* How many columns a step may have. */
SP_API ptrdiff_t sp_kept_columns_most(const sp_event *event);

/* Write down the columns before the step. How many bytes they are. */
SP_API size_t sp_kept_columns_before(const sp_learner *learner, const sp_event *event,
                                     ptrdiff_t places, uint8_t *columns);

/* What they are after it, and those that have begun. How many bytes they all are. */
SP_API size_t sp_kept_columns_after(const sp_learner *learner, const sp_event *event,
                                    const uint32_t *slots, ptrdiff_t n, ptrdiff_t places,
                                    uint8_t *columns, size_t bytes);

/* Whether so many bytes are those of columns, of a step of n entries. */
SP_API bool sp_kept_columns_are_sound(const uint8_t *columns, size_t bytes, ptrdiff_t n);

/* Leave out columns whose slots are others' now: the slots from `first` on are not the event's. */
SP_API void sp_kept_leave(const sp_learner *learner, uint32_t *slots, ptrdiff_t first, ptrdiff_t n,
                          const uint8_t *columns, size_t bytes);

/* What is kept once that a step for label y changes, as `outputs` outputs will have it. */
SP_API void sp_once_read(const sp_adaptive *a, ptrdiff_t outputs, ptrdiff_t y, const ptrdiff_t *k,
                         ptrdiff_t m, double *once);

/* Take back what is kept once. The usual |d| and the watch for drift come back only if nothing was
   learned since. */
SP_API void sp_once_take_back(sp_adaptive *a, bool one, ptrdiff_t y, const ptrdiff_t *k,
                              ptrdiff_t m, const double *before, const double *after);

/* The blocks that are written then: at most 4 + 2 m. Returns how many. */
SP_API ptrdiff_t sp_kept_blocks(const sp_table *table, ptrdiff_t y, const ptrdiff_t *k, ptrdiff_t m,
                                uint32_t *blocks);

/* A step's numbers. */
typedef struct sp_kept {
    const uint32_t *slots; /* 0: it is left out */
    ptrdiff_t n;
    const float *before;
    const float *after;
    const double *s_before;
    const double *s_after;
    const uint8_t *columns;
    size_t n_bytes; /* of these */
} sp_kept;

/* See that a step can be taken back from these slots. -1 without memory; then nothing has changed.
   `blocks`: as sp_kept_blocks has filled them. */
SP_API int sp_kept_reserve(sp_learner *learner, const sp_kept *kept, const uint32_t *blocks,
                           ptrdiff_t n_blocks);

/* Take a step back from its slots, after what is kept once. */
SP_API void sp_kept_take_back(sp_learner *learner, const sp_kept *kept, bool one, ptrdiff_t y,
                              const ptrdiff_t *k, ptrdiff_t m);

/* Whether n entries' numbers are those of slots. */
SP_API bool sp_kept_is_sound(const float *numbers, ptrdiff_t n, ptrdiff_t m);

#endif
