/* Labels whose false alarms are limited: false_positive_rate of AdaptiveClassifier.

   A false alarm of label k is an event of another label that is answered k. A label with a limit
   has a bar, and is answered only if it is ahead by more than that:

       bar_k = q_k + 100 / (50 + n)        n events seen; 0 of all other labels
       two labels     rank > bar_positive - bar_negative   answers the positive one
       more           the label of the largest score_k - bar_k; scores as they are decided

   q_k is learned from each event of another label, before anything else and whatever its weight:

       q_k += (1[k was answered] - rate_k) / 2

   On average it stays the same if k is answered in a share rate_k of these events. That holds
   whatever the order of the stream and wherever the scores drift (Gibbs & Candes 2021, adaptive
   conformal inference): over n events of other labels, the share differs from the rate by how far q
   has gone, times 2 / n. So q is not bounded. Steps of 1/2 keep the rate and still catch most
   (docs/decisions.md). The second term raises the bar at the start, when ranks say little yet. */

#ifndef STREAMPTRON_LEARNER_ALARMS_H
#define STREAMPTRON_LEARNER_ALARMS_H

#include "memory/compiler.h"
#include "memory/types.h"

typedef struct sp_alarm {
    ptrdiff_t label; /* its number; -1, or a number not yet in use: it has not come */
    double rate;
    double q;
} sp_alarm;

typedef struct sp_alarms {
    sp_alarm *of; /* in the order of the parameter */
    ptrdiff_t n;
} sp_alarms;

/* Room for n rates of labels that have not come. -1 if out of memory. */
SP_API int sp_alarms_begin(sp_alarms *alarms, ptrdiff_t n);
SP_PRIVATE void sp_alarms_free(sp_alarms *alarms);

/* -1 if out of memory; call sp_alarms_free in either case. */
SP_PRIVATE int sp_alarms_copy(sp_alarms *to, const sp_alarms *other);

/* The bar of an alarm. */
static inline double sp_alarm_bar(const sp_alarm *alarm, uint64_t n_seen)
{
    return alarm->q + 100.0 / (50.0 + (double)n_seen);
}

/* Alarm i is that of label k; -1: of no label yet. */
SP_API void sp_alarms_bind(sp_alarms *alarms, ptrdiff_t i, ptrdiff_t k);

/* The alarm of label k; NULL: none. */
static inline sp_alarm *sp_alarms_find(const sp_alarms *alarms, ptrdiff_t k)
{
    for (ptrdiff_t i = 0; i < alarms->n; i++) {
        if (alarms->of[i].label == k)
            return &alarms->of[i];
    }
    return NULL;
}

/* With two labels: the positive one is answered if the rank is above this. */
SP_PRIVATE double sp_alarms_of_two(const sp_alarms *alarms, int positive, uint64_t n_seen);

/* Learn from an event of label y, of n labels known before, that was answered `best`. */
SP_PRIVATE void sp_alarms_learn(sp_alarms *alarms, ptrdiff_t n_labels, ptrdiff_t best, ptrdiff_t y);

/* The numbers per label in a file: one, q, which is 0 for labels without an alarm; none if no label
   has one. */
static inline ptrdiff_t sp_alarms_width(const sp_alarms *alarms)
{
    return alarms->n > 0;
}

/* Write them for label k. Returns how many. */
SP_PRIVATE ptrdiff_t sp_alarms_read(const sp_alarms *alarms, ptrdiff_t k, double *q);

/* And put them back. False: learning cannot have made them. */
SP_PRIVATE bool sp_alarms_write(sp_alarms *alarms, ptrdiff_t k, const double *q);

#endif
