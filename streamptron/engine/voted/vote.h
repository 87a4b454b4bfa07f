/* VotedPerceptron: every vector that a perceptron has had votes, for as long as it stood.

   Freund & Schapire 1999; Daume, A Course in Machine Learning, equation 4.17. A label's perceptron
   changes only when it errs. Between two such updates one vector stands, and it votes with the
   weight of the events after which it stood. In the clock of these weights the vote is an integral:

       vote = sum_k c_k sign(w_k x + b_k) = the integral of sign(score(t)) from `since` to `now`

       score      w_0 = 0     w_1            w_2    w_3 = the current one
                  |-----------|--------------|------|---------------------|
       time     since       T_1            T_2    T_3                    now

   sign is +1 above 0, else -1: a vector votes what it would answer. w_0 stands until the label's
   first update, also if the label comes late: it says "not this one" of all events before.

   Nothing here stores the w_k. What is stored is each update's event, by feature: a feature's
   *mentions* say in which updates it was, and with which value. The dot product of an event with
   every update is collected from the mentions of its own features, all others being 0. Then each
   label's *turns*, the updates at which it erred, are walked in the order of time:

       score after turn k = A_k + B_k      A_k = the sum of a (K(z, x) - K(z, 0)) up to k
                                           B_k = the sum of a K(z, 0), the running intercept
       K(z, x) = (b + z x)^degree          b = 1 with an intercept, else 0

   A changes only at updates that share a feature with the event. B wanders by itself, and is known
   beforehand. So of each block of 64 turns, and of 64 such blocks, the least and the largest B are
   kept: a block without mentions and whose A + B does not change its sign is passed in one step.

   Every A_k + B_k is the same number whichever blocks were passed, and the vote adds up whole runs
   of one sign. So the answer does not depend on where blocks begin.

   With degree 1 the current weights are the table's, and an event is learned without any of this.
   For a higher one the current score is the walk's last.

   Under a budget the oldest update is dropped when there is one too many. `since` moves on to its
   time: the vectors before it do not vote any more. With degree 1 those behind it stay what they
   were, for the walk can start from the current score less the kept updates. A kernel's vectors are
   made of updates and nothing else, so the dropped one leaves them all.

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
    /* Scratch: the dot products of an event with the updates, from the oldest on. All 0 between
       events, as are the flags, which say where they are not. */
    double *dots;
    uint8_t *touched; /* a block of SP_SPAN updates */
    uint8_t *outer;   /* one of SP_SPANS */
    ptrdiff_t room;
} sp_voted_scratch;

/* Where the votes on an event are counted. */
static inline sp_voted_scratch *sp_voted_scratch_of(const sp_event *event)
{
    return (sp_voted_scratch *)(void *)event->scratch;
}

/* Room there for all updates. Returns -1 if out of memory. */
SP_PRIVATE int sp_voted_scratch_reserve(sp_event *event, const sp_voters *v);

/* The outputs' votes for an event, as shares from -1 to 1.

   `current`: the scores of the current vectors, known if the degree is 1 and else filled in. Room
   for the updates has been reserved. */
SP_PRIVATE void sp_voters_count(const sp_voters *v, const sp_slot_type *slots, const double *x,
                                ptrdiff_t n, sp_voted_scratch *ballot, ptrdiff_t n_outputs,
                                double *current, double *votes);

/* What each entry of an event has of an output's vote, of degree 1; shares[n]: the intercept.

   A vector's votes go to those parts of its score that have its sign, in proportion.
   `current`: the parts of the current score. `parts`, `seen`: scratch for n entries. A walk
   through all turns, for once without shortcuts. */
SP_API void sp_voters_shares(const sp_voters *v, ptrdiff_t output, const sp_slot_type *slots,
                             const double *x, ptrdiff_t n, const double *current, double *parts,
                             uint32_t *seen, double *shares);

#endif
