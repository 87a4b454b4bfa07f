/* A step of AdaptiveClassifier, with any number of labels, kept as a snapshot: the numbers in its
   event's slots before it and after it. features/undo.h restores slots of two labels, many/undo.h
   slots with rows.

   A feature to which the ceiling refused a slot, or whose slot it has taken since, is left alone,
   as nothing of the step is left. A feature that has come back is recognized by its new slot. */

#ifndef STREAMPTRON_MANY_SNAPSHOT_H
#define STREAMPTRON_MANY_SNAPSHOT_H

#include "events/event.h"
#include "learner/adaptive.h"
#include "learner/learner.h"
#include "table/table.h"

enum {
    SP_ONCE_MODEL = 6 + SP_DRIFT_NUMBERS, /* T, D of the label, m, nm, tau and its G; the watch's */
    SP_ONCE_OUTPUT = 2, /* w0, G0 */
    SP_ONCE_BAYES = 2, /* wn, Gn, behind those of all outputs that step */
    SP_ONCE_MANY = 1, /* b, behind those, of more than two labels; at the end each alarm's q */
};

/* Floats for each entry. */
SP_PRIVATE ptrdiff_t sp_snapshot_width(ptrdiff_t m);

/* The entries that a step is kept of: the event's, then the columns that the event lacks. Returns
   how many; writes their slots, unless `slots` is NULL. */
SP_PRIVATE ptrdiff_t sp_snapshot_slots(const sp_event *event, uint32_t *slots);

/* Replace these slots by what identifies them as long as a step is kept: their numbers if names are
   hashed, as a model has its slots in another order after it was saved. And back; a number that has
   no slot becomes the null slot. */
SP_PRIVATE void sp_snapshot_numbers(const sp_learner *learner, uint32_t *slots, ptrdiff_t n);
SP_PRIVATE void sp_snapshot_find(const sp_learner *learner, uint32_t *slots, ptrdiff_t n);

/* The outputs that step in an event whose step has been chosen, rising. Returns how many; writes
   them, unless `k` is NULL. */
SP_PRIVATE ptrdiff_t sp_snapshot_outputs(const sp_event *event, ptrdiff_t *k);

/* Write down the numbers of these slots for label y and the outputs k. */
SP_PRIVATE void sp_snapshot_fill(const sp_learner *learner, const uint32_t *slots, ptrdiff_t n,
                                 ptrdiff_t y, const ptrdiff_t *k, ptrdiff_t m, float *kept,
                                 double *means);

/* Set repeated slots to 0, so that each is there once. They must have been written, or be
   reserved. */
SP_PRIVATE void sp_snapshot_once_each(const sp_learner *learner, uint32_t *slots, ptrdiff_t n);

/* How many e of a column are kept: both with two labels; with more, only the one of the step's
   label. */
SP_PRIVATE ptrdiff_t sp_snapshot_places(const sp_learner *learner);

/* The bytes of a step's column with so many places. */
SP_PRIVATE size_t sp_snapshot_column_bytes(ptrdiff_t places);

/* How many columns a step may have. */
SP_PRIVATE ptrdiff_t sp_snapshot_columns_most(const sp_event *event);

/* Write down the columns before the step. Returns the number of bytes. */
SP_PRIVATE size_t sp_snapshot_columns_before(const sp_learner *learner, const sp_event *event,
                                             ptrdiff_t y, uint8_t *columns);

/* Write down the columns after the step, and those that have begun, each once, as several hashed
   names may share one. Returns the number of bytes of all. */
SP_PRIVATE size_t sp_snapshot_columns_after(const sp_learner *learner, const sp_event *event,
                                            const uint32_t *slots, ptrdiff_t n, ptrdiff_t y,
                                            uint8_t *columns, size_t bytes);

/* Whether these bytes can be the columns of a step of n entries. `one`: as in sp_undo_snapshot. */
SP_PRIVATE bool sp_snapshot_columns_are_sound(const uint8_t *columns, size_t bytes, ptrdiff_t n,
                                              bool one);

/* Write down what identifies the names of the event's gaps. */
SP_PRIVATE void sp_snapshot_gaps(const sp_learner *learner, const sp_event *event, uint8_t *gaps);

/* Leave out gaps and columns whose slots now belong to other features: the slots from `first` on,
   which are not the event's own. The gaps come first; their names are needed only under a
   ceiling. */
SP_PRIVATE void sp_snapshot_leave(const sp_learner *learner, uint32_t *slots, ptrdiff_t first,
                                  ptrdiff_t n, const uint8_t *gaps, ptrdiff_t n_gaps,
                                  const uint8_t *columns, size_t bytes);

/* How many numbers a step of m outputs keeps once, before b; and in all. `many`: more than two
   labels. */
SP_PRIVATE ptrdiff_t sp_once_b(ptrdiff_t m);
SP_PRIVATE ptrdiff_t sp_once_width(const sp_learner *learner, ptrdiff_t m, bool many);

/* Read the numbers kept once per model that a step for label y changes. */
SP_PRIVATE void sp_once_read(const sp_adaptive *a, ptrdiff_t y, const ptrdiff_t *k, ptrdiff_t m,
                             double *once);

/* A step's numbers. */
typedef struct sp_undo_snapshot {
    bool one; /* there were two labels, with one output */
    ptrdiff_t y;
    const ptrdiff_t *k; /* outputs that stepped, rising */
    ptrdiff_t m;
    uint32_t *slots; /* 0: left out, or undone already */
    ptrdiff_t n;
    const float *before;
    const float *after;
    const double *s_before;
    const double *s_after;
    const uint8_t *columns;
    size_t n_bytes; /* of these */
} sp_undo_snapshot;

/* Reserve what undoing a step in these slots needs, and make each slot occur once: a step from
   outside may name some twice. -1 if out of memory; then nothing has changed. */
SP_PRIVATE int sp_snapshot_reserve(sp_learner *learner, const sp_undo_snapshot *kept);

/* Undo the change of what is kept once per model. Usual values (m and b) and the watch for drift
   are restored only if nothing was learned since. */
SP_PRIVATE void sp_once_take_back(sp_learner *learner, const sp_undo_snapshot *kept,
                                  const double *before, const double *after);

/* Undo a step in its slots, after what is kept once. */
SP_PRIVATE void sp_snapshot_take_back(sp_learner *learner, const sp_undo_snapshot *kept);

/* The entry of each column with a curve in the event; of entries that share a slot, the first. */
SP_PRIVATE void sp_snapshot_shaped_columns(const sp_learner *learner, const sp_event *event,
                                           uint32_t *columns);

/* Reserve what undoing a step in curves and surfaces needs. -1 if out of memory. */
SP_PRIVATE int sp_snapshot_reserve_shapes(sp_learner *learner, sp_event *event);

/* Undo it there, before it is undone in slots. */
SP_PRIVATE void sp_snapshot_take_back_shapes(sp_learner *learner, const sp_undo_snapshot *kept,
                                             sp_event *event, uint8_t *shapes);

/* Whether the numbers of n entries can be those of slots. */
SP_PRIVATE bool sp_snapshot_is_sound(const float *numbers, ptrdiff_t n, ptrdiff_t m);

#endif
