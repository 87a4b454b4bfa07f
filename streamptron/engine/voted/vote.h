/* VotedPerceptron: every vector that a perceptron has ever had votes, weighted by how long it
   lasted.

   Freund & Schapire 1999; Daume, A Course in Machine Learning, equation 4.17. A label's perceptron
   changes only when it errs. Between two such updates its vector stays the same, and it votes with
   the weight of the events that it outlasted. In the clock of these weights the vote is an
   integral:

       vote = sum_k c_k sign(w_k x + b_k) = the integral of sign(score(t)) from `since` to `now`

       score      w_0 = 0     w_1            w_2    w_3 = the current one
                  |-----------|--------------|------|---------------------|
       time     since       T_1            T_2    T_3                    now

   sign is +1 above 0, else -1: a vector votes for what it would answer. w_0 lasts until the label's
   first update, even if the label comes late: it says "not this one" for all events before.

   Nothing here stores the w_k. What is stored is each update's event, by feature: a feature's
   *mentions* say in which updates it was, and with which value. The dot product of an event with
   every update is collected from the mentions of the event's features; all others are 0. Then each
   label's *turns*, the updates at which it erred, are gone through in the order of time:

       score after turn k = A_k + B_k      A_k = the sum of a (K(z, x) - K(z, 0)) up to k
                                           B_k = the sum of a K(z, 0), the running intercept
       K(z, x) = (b + z x)^degree          b = 1 with an intercept, else 0

   A changes only at updates that share a feature with the event. B does not depend on the event,
   and is known beforehand. So the least and the largest B of each block of 64 turns, and of 64 such
   blocks, are kept. A block without mentions in which A + B does not change its sign is skipped in
   one step.

   Every A_k + B_k is the same number whichever blocks were skipped, and the vote adds up whole runs
   of one sign. So the answer does not depend on where blocks begin.

   With degree 1 the current weights are in the table, and learning an event needs none of this.
   With a higher degree the current score is the last one computed.

   Under a budget the oldest update is dropped when there is one too many. `since` advances to its
   time: the vectors before it no longer vote. With degree 1 later vectors stay as they were, as the
   sums can start from the current score less the kept updates. A kernel's vectors consist only of
   updates, so the dropped update is missing from all of them.

   Cost. A vote takes a step for each mention, one for each turn in a block with mentions, and one
   for each 64 updates. A mention takes 16 bytes, an update 16, a turn 24. */

#ifndef STREAMPTRON_VOTED_VOTE_H
#define STREAMPTRON_VOTED_VOTE_H

#include "events/event.h"
#include "memory/types.h"
#include "voted/voters.h"

#include <string.h>

enum {
    SP_DEGREE_MOST = 16,
};

typedef struct sp_voted_scratch {
    sp_scratch_head head;
    /* Scratch: the dot products of an event with the updates, from the oldest on. All are 0 between
       events. So are the flags, which mark the blocks that have others. */
    double *dots;
    uint8_t *touched; /* a block of SP_SPAN updates */
    uint8_t *outer;   /* one of SP_SPANS */
    ptrdiff_t room;
} sp_voted_scratch;

/* The scratch in which the votes on an event are counted. */
static inline sp_voted_scratch *sp_voted_scratch_of(const sp_event *event)
{
    return (sp_voted_scratch *)(void *)event->scratch;
}

/* Room in it for all updates. Returns -1 if out of memory. */
SP_PRIVATE int sp_voted_scratch_reserve(sp_event *event, const sp_voters *v);

/* Compute the outputs' votes for an event, as shares from -1 to 1.

   `current`: the scores of the current vectors, given if the degree is 1, otherwise filled in. Room
   for the updates has been reserved. */
SP_PRIVATE void sp_voters_count(const sp_voters *v, const sp_slot_type *slots, const double *x,
                                ptrdiff_t n, sp_voted_scratch *ballot, ptrdiff_t n_outputs,
                                double *current, double *votes);

/* The share of each entry of an event in an output's vote, with degree 1; shares[n]: the intercept.

   A vector's votes go to those parts of its score that have its sign, in proportion. `current`: the
   parts of the current score. `parts`, `seen`: scratch for n entries. Goes through all turns,
   without shortcuts. */
SP_API void sp_voters_shares(const sp_voters *v, ptrdiff_t output, const sp_slot_type *slots,
                             const double *x, ptrdiff_t n, const double *current, double *parts,
                             uint32_t *seen, double *shares);

#endif
