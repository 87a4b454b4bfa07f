/* A step of AdaptiveClassifier's, kept as a snapshot: what the slots of its event held before it
   and after it; with any number of labels. features/undo.h says what comes back of a slot of two
   labels, many/undo.h of one with rows.

   A feature that a ceiling refused a slot, or has taken it away from since, is left alone: nothing
   of the step is there. One that has come back is known by another slot than it had. */

#ifndef STREAMPTRON_MANY_SNAPSHOT_H
#define STREAMPTRON_MANY_SNAPSHOT_H

#include "events/event.h"
#include "learner/adaptive.h"
#include "learner/learner.h"
#include "table/table.h"

enum {
    SP_ONCE_MODEL = 6 + SP_DRIFT_NUMBERS, /* T, D of the label, m, nm, tau and its G, the watch's */
    SP_ONCE_OUTPUT = 2, /* w0, G0 */
    SP_ONCE_BAYES = 2, /* wn, Gn, behind those of all outputs that step */
    SP_ONCE_MANY = 1, /* b, behind those, of more than two labels; at the end each alarm's q */
};

/* Floats for each entry. */
SP_PRIVATE ptrdiff_t sp_snapshot_width(ptrdiff_t m);

/* The entries that a step is kept of: the event's, then the columns that the event lacks. How many;
   their slots are written down, unless `slots` is NULL. */
SP_PRIVATE ptrdiff_t sp_snapshot_slots(const sp_event *event, uint32_t *slots);

/* What stands for these slots in a step, for as long as it is kept: their numbers if names are
   hashed, for a model that was saved has slots in another order. And back; the null slot for a
   number that has none. */
SP_PRIVATE void sp_snapshot_numbers(const sp_learner *learner, uint32_t *slots, ptrdiff_t n);
SP_PRIVATE void sp_snapshot_find(const sp_learner *learner, uint32_t *slots, ptrdiff_t n);

/* The outputs that step in an event whose step has been chosen, rising. How many; they are written
   down, unless `k` is NULL. */
SP_PRIVATE ptrdiff_t sp_snapshot_outputs(const sp_event *event, ptrdiff_t *k);

/* Write down what these slots hold of label y and of the outputs k. */
SP_PRIVATE void sp_snapshot_fill(const sp_learner *learner, const uint32_t *slots, ptrdiff_t n,
                                 ptrdiff_t y, const ptrdiff_t *k, ptrdiff_t m, float *kept,
                                 double *means);

/* Leave each of these slots once; 0 where it comes again. They must have been written, or be
   reserved. */
SP_PRIVATE void sp_snapshot_once_each(const sp_learner *learner, uint32_t *slots, ptrdiff_t n);

/* How many e of a column are kept: both of two labels; with more that of the step's label. */
SP_PRIVATE ptrdiff_t sp_snapshot_places(const sp_learner *learner);

/* Bytes for a column of a step, of so many places. */
SP_PRIVATE size_t sp_snapshot_column_bytes(ptrdiff_t places);

/* How many columns a step may have. */
SP_PRIVATE ptrdiff_t sp_snapshot_columns_most(const sp_event *event);

/* Write down the columns before the step. How many bytes they are. */
SP_PRIVATE size_t sp_snapshot_columns_before(const sp_learner *learner, const sp_event *event,
                                             ptrdiff_t y, uint8_t *columns);

/* What they are after it, and those that have begun, each once: several hashed names may share one.
   How many bytes they all are. */
SP_PRIVATE size_t sp_snapshot_columns_after(const sp_learner *learner, const sp_event *event,
                                            const uint32_t *slots, ptrdiff_t n, ptrdiff_t y,
                                            uint8_t *columns, size_t bytes);

/* Whether so many bytes are those of columns, of a step of n entries. `one`: as in
   sp_undo_snapshot. */
SP_PRIVATE bool sp_snapshot_columns_are_sound(const uint8_t *columns, size_t bytes, ptrdiff_t n,
                                              bool one);

/* What stands for the names of the event's gaps. */
SP_PRIVATE void sp_snapshot_gaps(const sp_learner *learner, const sp_event *event, uint8_t *gaps);

/* Leave out gaps and columns whose slots are others' now: the slots from `first` on are not the
   event's. The names of the gaps are needed only under a ceiling: they come first. */
SP_PRIVATE void sp_snapshot_leave(const sp_learner *learner, uint32_t *slots, ptrdiff_t first,
                                  ptrdiff_t n, const uint8_t *gaps, ptrdiff_t n_gaps,
                                  const uint8_t *columns, size_t bytes);

/* Numbers that are kept once of a step of m outputs, up to b; and all of them. `many`: of more than
   two labels. */
SP_PRIVATE ptrdiff_t sp_once_b(ptrdiff_t m);
SP_PRIVATE ptrdiff_t sp_once_width(const sp_learner *learner, ptrdiff_t m, bool many);

/* What is kept once that a step for label y changes. */
SP_PRIVATE void sp_once_read(const sp_adaptive *a, ptrdiff_t y, const ptrdiff_t *k, ptrdiff_t m,
                             double *once);

/* A step's numbers. */
typedef struct sp_undo_snapshot {
    bool one; /* there were two labels, with one output */
    ptrdiff_t y;
    const ptrdiff_t *k; /* outputs that stepped, rising */
    ptrdiff_t m;
    uint32_t *slots; /* 0: it is left out, or has been taken back */
    ptrdiff_t n;
    const float *before;
    const float *after;
    const double *s_before;
    const double *s_after;
    const uint8_t *columns;
    size_t n_bytes; /* of these */
} sp_undo_snapshot;

/* See that a step can be taken back from these slots, of which each is left once: one that comes
   from elsewhere may name some twice. -1 if out of memory; then nothing has changed. */
SP_PRIVATE int sp_snapshot_reserve(sp_learner *learner, const sp_undo_snapshot *kept);

/* Take back what is kept once. What is usual (m and b) and the watch for drift come back only if
   nothing was learned since. */
SP_PRIVATE void sp_once_take_back(sp_learner *learner, const sp_undo_snapshot *kept,
                                  const double *before, const double *after);

/* Take a step back from its slots, after what is kept once. */
SP_PRIVATE void sp_snapshot_take_back(sp_learner *learner, const sp_undo_snapshot *kept);

/* Which entry each column with a curve in the event is: of those that share a slot, the first. */
SP_PRIVATE void sp_snapshot_shaped_columns(const sp_learner *learner, const sp_event *event,
                                           uint32_t *columns);

/* See that a step can be taken back from curves and surfaces. -1 if out of memory. */
SP_PRIVATE int sp_snapshot_reserve_shapes(sp_learner *learner, sp_event *event);

/* Take it back from them, before it is from slots. */
SP_PRIVATE void sp_snapshot_take_back_shapes(sp_learner *learner, const sp_undo_snapshot *kept,
                                             sp_event *event, uint8_t *shapes);

/* Whether n entries' numbers are those of slots. */
SP_PRIVATE bool sp_snapshot_is_sound(const float *numbers, ptrdiff_t n, ptrdiff_t m);

#endif
