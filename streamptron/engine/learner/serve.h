/* Chooses the kept vector that answers, and says when the pocket changes.

   No average is best on every stream: on a shuffled one it makes a third fewer mistakes than the
   current weights, on a drifting one four times as many. So each vector is watched on every
   labelled event before anything is learned from it, and serve="best" lets the one with the fewest
   recent mistakes answer.

   There are two contestants: the current weights, and the average (or the pocket, where there is no
   average). Mistakes are counted separately in two contexts, by which of the two is more confident
   on this event: an average that is right when it is confident and wrong when it is not should
   answer in the first case only.

       margin    |score|, or the best label's lead over the second
       m         the mean size of the scores so far (smoothed, over the last 1024 events)
       context   0 if margin_0 / m_0 >= margin_1 / m_1, else 1
       T[k][q]   mistakes of contestant k in context q, decayed by 31/32 at each counted event
       G[k]      mistakes of k in both contexts, decayed by 1023/1024 likewise

   In each context the contestant with the smaller T[k][q] + G[k]/4 leads. The leader stays until it
   is beaten by more than 1/2. Events on which neither was wrong are not counted: nothing decays.
   The constants were chosen on fifteen real streams, in file order, and are not parameters.
   docs/measurements.md says how well they do.

   The pocket (Gallant 1990) holds the current vector from its best run. On a stream, luck makes
   long runs, and a vector that was good before a drift would never leave. So the pocket also fights
   a duel: every event on which one of the two is wrong and the other is not scores a point. The
   current vector takes the pocket's place
       after a run of correct answers longer than the pocket's record, if it is not behind in the
       duel, or
       with a right answer, if it is ahead in the duel.
   The pocket's lead in the duel is at most 2, so a pocket that starts to fail is soon replaced. */

#ifndef STREAMPTRON_LEARNER_SERVE_H
#define STREAMPTRON_LEARNER_SERVE_H

#include "events/verdict.h"
#include "table/table.h"

enum {
    SP_SERVE_BEST = 3, /* the other ways to serve are the KEPT_ kinds */
};

typedef struct sp_scale {
    double m;
    double n;
} sp_scale;

typedef struct sp_serve {
    int mode;
    int rival; /* contestant 1, or SP_KEPT_CURRENT when there is none */
    sp_scale scale[SP_KEPT_KINDS];
    double T[2][2];
    double G[2];
    int lead[2];
    bool stale[2]; /* mistakes have been counted since lead was computed */
    /* the pocket */
    uint64_t run;
    uint64_t record;
    int duel;
} sp_serve;

SP_PRIVATE void sp_serve_init(sp_serve *serve, const sp_vectors *vectors);

static inline bool sp_serve_can_answer(const sp_serve *serve, int kind)
{
    if (serve->mode != SP_SERVE_BEST)
        return kind == serve->mode;
    return kind == SP_KEPT_CURRENT || kind == serve->rival;
}

static inline double sp_scale_relative(const sp_scale *scale, double margin)
{
    return scale->m > 0.0 ? margin / scale->m : 0.0;
}

static inline void sp_scale_update(sp_scale *scale, double size)
{
    if (scale->n < 1024.0) {
        scale->n += 1.0;
        scale->m += (size - scale->m) / scale->n;
    } else
        scale->m += (size - scale->m) * 0.0009765625;
}

static inline int sp_serve_context(const sp_serve *serve, double current_margin,
                                   double rival_margin)
{
    return sp_scale_relative(&serve->scale[serve->rival], rival_margin)
           > sp_scale_relative(&serve->scale[SP_KEPT_CURRENT], current_margin);
}

SP_PRIVATE int sp_leader(const sp_serve *serve, int context);

/* The kept vector that answers this event, given the verdicts by kind. */
static inline int sp_serve_kind(const sp_serve *serve, const sp_verdict *verdicts)
{
    if (serve->mode != SP_SERVE_BEST)
        return serve->mode;
    if (serve->rival == SP_KEPT_CURRENT)
        return SP_KEPT_CURRENT;
    return sp_leader(serve, sp_serve_context(serve, verdicts[SP_KEPT_CURRENT].margin,
                                             verdicts[serve->rival].margin))
               ? serve->rival
               : SP_KEPT_CURRENT;
}

/* The kept vector that has done best over both contexts. */
static inline int sp_serve_overall(const sp_serve *serve)
{
    if (serve->mode != SP_SERVE_BEST)
        return serve->mode;
    if (serve->T[1][0] + serve->T[1][1] + 0.25 * serve->G[1]
        < serve->T[0][0] + serve->T[0][1] + 0.25 * serve->G[0])
        return serve->rival;
    return SP_KEPT_CURRENT;
}

/* The part of sp_serve_learn for an event with a mistake. */
SP_PRIVATE void sp_serve_count(sp_serve *serve, int context, bool current_wrong, bool rival_wrong);

/* Count the contestants' mistakes on an event. The scales are updated separately, later. */
static inline void sp_serve_learn(sp_serve *serve, int context, bool current_wrong,
                                  bool rival_wrong)
{
    if (serve->stale[context]) {
        serve->lead[context] = sp_leader(serve, context);
        serve->stale[context] = false;
    }
    if (current_wrong | rival_wrong)
        sp_serve_count(serve, context, current_wrong, rival_wrong);
}

/* Whether the current vector, as it was before this event's update, goes into the pocket. */
SP_HOT bool sp_serve_challenge(sp_serve *serve, bool current_wrong, bool pocket_wrong);

#endif
