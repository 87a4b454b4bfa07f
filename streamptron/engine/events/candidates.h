/* Candidates: events in one scratch, one after the other, of which one is right.

   A rule that chooses among candidates moves two of them apart: w += a x_y, w -= a x_guess. They
   mostly have features in common. Moving both would add to the weights of these and take the same
   away again: it would give slots to features that do not matter, and leave rounding errors in
   their weights. So the two are written as one more event, their difference, behind the last
   candidate:

       candidates     a 1  b 2 | a 1  c 1 | b 3       d = x_1 - x_0     b -2  c 1
       entries        0     1    2     3    4                           5     6

   Its features are in the order of x_y, then of x_guess; those with the same value in both are left
   out. A small hash table finds the features that are in both, in time proportional to the entries
   of both. Entries that have slots are the same feature if their slot is the same, as they share a
   weight. */

#ifndef STREAMPTRON_EVENTS_CANDIDATES_H
#define STREAMPTRON_EVENTS_CANDIDATES_H

#include "events/event.h"

enum {
    SP_ROOM_LEAST = 64,
};

/* Write x_y - x_guess behind the candidates. Returns how many entries it has. -1 if out of memory.

   guess = -1: x_y is the only one, and the difference.

   It is event n_candidates for sp_event_first and sp_event_last. All slots have been looked up. */
SP_API ptrdiff_t sp_event_difference(sp_event *event, ptrdiff_t y, ptrdiff_t guess);

/* Make candidate k of this event from candidate i of another one, with its values negated.

   Its slots are known, there is room, and the candidates before it are there. */
SP_PRIVATE void sp_event_take_reversed(sp_event *event, ptrdiff_t k, const sp_event *other,
                                       ptrdiff_t i);

#endif
