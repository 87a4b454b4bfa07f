/* What VotedPerceptron keeps: its updates by feature, and the turns of each label.

   voted/vote.h says why. In short: an *update* is an event at which at least one label's perceptron
   erred. Its features are kept as *mentions*, feature by feature, and each label that has erred
   keeps a *turn*:

       feature   "free"    [ x 1, update 3, next "win" ] [ x 2, update 17, next .. ] ...
                 "win"     [ x 1, update 3, next - ] ...
       update    3         time 120, first "free"
       label     spam      [ a 1, B 1, update 3 ] [ a -1, B 0, update 5 ] ...
                 ham       [ a -1, B -1, update 3 ] ...

   The mentions of an update are linked from feature to feature, so that the oldest update is found
   and dropped without a search: its mention is the first of each of its features. A turn's B is the
   intercept after it. Of each block of 64 turns, and of 64 such blocks, the least and the largest B
   are kept:

       turns     |t t t t ... t|t t t ... t|t t ...
       spans     [ low   high  ][ low  high ] ...
       outer     [ low                                   high ] ...

   Updates are numbered from 0, modulo 2^32; only their distance from the oldest is used. All queues
   grow at the end and shrink from the front. A mention takes 16 bytes, an update 16, a turn 24.

   Under a budget the oldest update is dropped when there is one too many; `since`, the time from
   which votes count, advances to it. */

#ifndef STREAMPTRON_VOTED_VOTERS_H
#define STREAMPTRON_VOTED_VOTERS_H

#include "events/step.h"
#include "learner/voted.h"
#include "memory/heap.h"
#include "memory/types.h"

#include <string.h>

/* How many updates are kept. */
static inline ptrdiff_t sp_voters_updates(const sp_voters *v)
{
    return v->end - v->start;
}

/* The mentions of a slot; NULL: its whole chunk has none. */
SP_TEMPLATE sp_mentions *sp_mentions_of(const sp_voters *v, sp_slot_type slot)
{
    size_t chunk = slot >> SP_CHUNK_BITS;
    if (chunk >= v->n_chunks || v->chunks[chunk] == NULL)
        return NULL;
    return &v->chunks[chunk][slot & SP_CHUNK_MASK];
}

/* The same, made if need be; NULL if out of memory. */
SP_PRIVATE sp_mentions *sp_mentions_open(sp_voters *v, sp_slot_type slot);

/* Remove the latest mention of each of these slots. */
SP_PRIVATE void sp_mentions_take_back(sp_voters *v, const sp_slot_type *slots, ptrdiff_t n);

/* Mention an update's features, each pointing to the next. -1 if out of memory; then nothing has
   changed. */
SP_PRIVATE int sp_mention_all(sp_voters *v, uint32_t update, const sp_slot_type *slots,
                              const double *x, ptrdiff_t n);

static inline size_t sp_turns_size(ptrdiff_t room)
{
    return (size_t)room * sizeof(sp_turn)
           + ((size_t)(room / SP_SPAN + room / SP_SPANS + 2)) * sizeof(sp_voters_span);
}

/* Room for n more turns. Returns -1 if out of memory. */
SP_PRIVATE int sp_turns_room(sp_voters *v, sp_voter *voter, ptrdiff_t n);

/* Add a turn, for which there is room. */
SP_PRIVATE void sp_turn_push(sp_voters *v, sp_voter *voter, double a, uint32_t update);

static inline void sp_voter_free(sp_voters *v, sp_voter *voter)
{
    if (voter->turns != NULL)
        v->bytes -= sp_turns_size(voter->room);
    sp_free(voter->turns);
    memset(voter, 0, sizeof(sp_voter));
}

static inline void sp_voters_init(sp_voters *v, bool intercept)
{
    memset(v, 0, sizeof(sp_voters));
    v->degree = 1;
    v->b = intercept ? 1.0 : 0.0;
}

SP_PRIVATE void sp_voters_free(sp_voters *v);

static inline size_t sp_voters_bytes(const sp_voters *v)
{
    return v->bytes;
}

/* How many slots are mentioned. */
SP_API size_t sp_voters_features(const sp_voters *v);

/* A voter for each of n outputs. Returns -1 if out of memory. */
SP_PRIVATE int sp_voters_room(sp_voters *v, ptrdiff_t n);

/* Room for n more updates. Returns -1 if out of memory. */
SP_PRIVATE int sp_updates_room(sp_voters *v, ptrdiff_t n);

/* A copy with memory of its own. -1 if out of memory. Call sp_voters_free in either case. */
SP_PRIVATE int sp_voters_copy(sp_voters *to, const sp_voters *other);

/* Two labels get an output each: the positive label's, and its mirror image.

   Returns -1 if out of memory, and nothing has changed. */
SP_PRIVATE int sp_voters_split(sp_voters *v, int positive);

/* Go back to one output. */
static inline void sp_voters_unsplit(sp_voters *v, int positive)
{
    sp_voter voter = v->voters[positive];
    sp_voter_free(v, &v->voters[1 - positive]);
    v->voters[0] = voter;
    memset(&v->voters[1], 0, sizeof(sp_voter));
}

/* Do all of an update that can fail: its mentions, and room. -1 if out of memory; then nothing has
   changed. */
SP_PRIVATE int sp_voters_write(sp_voters *v, const sp_slot_type *slots, const double *x,
                               ptrdiff_t n, const sp_step *step, ptrdiff_t n_outputs);

/* Count an event of weight u, and the written update if the step moves anything. */
SP_PRIVATE void sp_voters_apply(sp_voters *v, const sp_slot_type *slots, ptrdiff_t n,
                                const sp_step *step, double u);

static inline double sp_last_B(const sp_voter *voter)
{
    return voter->end > voter->start ? voter->turns[voter->end - 1].B : voter->B;
}

/* What is wrong with them, or NULL. It checks everything. */
SP_PRIVATE const char *sp_voters_fault(const sp_voters *v, ptrdiff_t n_outputs,
                                       sp_slot_type n_slots);

#endif
