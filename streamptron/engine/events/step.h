/* A step: which choices a rule moves, and by how much.

   A choice is an output or a candidate: what has a score. Most rules choose among the outputs of
   one event. A rule that chooses among candidates has several events and one output; it moves two
   of them apart, which the path turns into one move, by their difference (events/candidates.h).

       labels         x            w_0  w_1  w_2         choice k: output k
       candidates     x_0  x_1     w_0                   choice k: candidate k

   A step adds one event: the event itself, or the difference. Each move (output, a) adds a times
   the event's x to the output's weights. A rule may name any number of choices, each once and in
   ascending order, so that an update goes through the event once per block of outputs, however many
   of them it moves.

   A rule that keeps a number beside each weight (table/keep.h) gets the second sums of the choices
   that it moves, and sets the step's noise r. */

#ifndef STREAMPTRON_EVENTS_STEP_H
#define STREAMPTRON_EVENTS_STEP_H

#include "memory/heap.h"

typedef struct sp_move {
    ptrdiff_t output; /* the choice; a candidate's number until the difference is made */
    double a;
    double second;
} sp_move;

typedef struct sp_step {
    int n;
    int room;
    ptrdiff_t event; /* which event is added: 0, or among candidates their difference */
    double r;
    sp_move *moves;
} sp_step;

static inline void sp_step_free(sp_step *step)
{
    sp_free(step->moves);
    step->moves = NULL;
    step->n = step->room = 0;
}

/* Make room for n choices; -1 if out of memory. */
SP_API int sp_step_reserve(sp_step *step, ptrdiff_t n);

/* Start a step that moves nothing yet. */
static inline void sp_step_begin(sp_step *step)
{
    step->n = 0;
    step->event = 0;
    step->r = 0.0;
}

/* Add a choice, whose number must be larger than those already there. */
static inline void sp_step_add(sp_step *step, ptrdiff_t choice, double a)
{
    sp_move *move = &step->moves[step->n];
    move->output = choice;
    move->a = a;
    move->second = 0.0;
    step->n += 1;
}

static inline size_t sp_step_bytes(const sp_step *step)
{
    return (size_t)step->room * sizeof(sp_move);
}

#endif
