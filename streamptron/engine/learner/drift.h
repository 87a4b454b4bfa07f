/* Detecting drift: forget="auto" of AdaptiveClassifier.

   A model that fits its stream errs as often as its probabilities say. So three sums are kept over
   events whose label was known already, weighted by sample weight u:

       erred       1 - P(y)                      expected    the mean of that, sum of p_k (1 - p_k)
       variance    its variance, sum of p_k (1 - p_k)^2 - (sum of p_k (1 - p_k))^2

   All three fade, so that they cover about the last 64 events. There is drift once the errors
   exceed what was expected by six standard deviations. Another .1 of variance keeps a model that is
   sure of everything from seeing drift in a single surprise. Then phi is 1 for 40 mistakes' worth:
   an output that erred for sure forgets its whole sum of squares, so its steps are long. After that
   the watch starts again; it reports nothing in its first 256 events. */

#ifndef STREAMPTRON_LEARNER_DRIFT_H
#define STREAMPTRON_LEARNER_DRIFT_H

#include "memory/compiler.h"

#include <math.h>

#define SP_DRIFT_USUAL 0.0009765625 /* phi while nothing is noticed: 2^-10 */
#define SP_DRIFT_LIMIT 1e70         /* of a sum: above 64 squares of the largest weight */

enum {
    SP_DRIFT_NUMBERS = 5, /* numbers kept */
    SP_DRIFT_EVENTS = 256, /* before it reports anything */
    SP_DRIFT_OWED = 40,    /* mistakes' worth of forgetting */
};

/* All of them are 0 at first. */
typedef struct sp_drift {
    double events; /* at most SP_DRIFT_EVENTS */
    double erred;
    double expected;
    double variance;
    double owed; /* mistakes' worth of forgetting still to come */
} sp_drift;

/* One event's part. */
typedef struct sp_surprise {
    double erred;
    double expected;
    double variance;
} sp_surprise;

/* Whether these can be the numbers of a watch. */
static inline bool sp_drift_is_sound(const double *numbers)
{
    for (int i = 0; i < SP_DRIFT_NUMBERS; i++) {
        if (!(0.0 <= numbers[i] && numbers[i] <= SP_DRIFT_LIMIT))
            return false;
    }
    return numbers[0] < SP_DRIFT_EVENTS + 1 && numbers[4] < SP_DRIFT_OWED + 1;
}

static inline void sp_drift_read(const sp_drift *drift, double *numbers)
{
    numbers[0] = drift->events;
    numbers[1] = drift->erred;
    numbers[2] = drift->expected;
    numbers[3] = drift->variance;
    numbers[4] = drift->owed;
}

static inline void sp_drift_write(sp_drift *drift, const double *numbers)
{
    drift->events = numbers[0];
    drift->erred = numbers[1];
    drift->expected = numbers[2];
    drift->variance = numbers[3];
    drift->owed = numbers[4];
}

/* phi for the next event. */
static inline double sp_drift_forget(const sp_drift *drift)
{
    return drift->owed > 0.0 ? 1.0 : SP_DRIFT_USUAL;
}

static inline void sp_drift_see(sp_drift *drift, const sp_surprise *of, double u)
{
    if (drift->owed > 0.0) {
        drift->owed -= u * of->erred;
        if (!(drift->owed > 0.0))
            drift->owed = 0.0;
        return;
    }
    drift->erred = drift->erred * 0.984375 + u * of->erred;
    drift->expected = drift->expected * 0.984375 + u * of->expected;
    drift->variance = drift->variance * 0.968994140625 + (u * u) * of->variance;
    drift->events = drift->events < SP_DRIFT_EVENTS ? drift->events + 1.0 : drift->events;
    if (drift->events < SP_DRIFT_EVENTS)
        return;
    if (drift->erred - drift->expected > 6.0 * sqrt(drift->variance + 0.1)) {
        drift->owed = SP_DRIFT_OWED;
        drift->events = drift->erred = drift->expected = drift->variance = 0.0;
    }
}

#endif
