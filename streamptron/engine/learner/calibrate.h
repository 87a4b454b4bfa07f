/* Probabilities: scores, calibrated online.

   A perceptron's score has no unit and grows as it learns. It is divided by its own mean size
   (Scale in learner/serve.h), and the result is fitted to the labels by gradient descent on the
   log-loss of each event before it is learned. The steps are AdaGrad's (Duchi, Hazan & Singer
   2011), with sums that decay by 1023/1024.

       two labels    z = score / m, clipped to +-8;   P(True) = 1 / (1 + exp(-(A z + B)))
                     (Platt 1999)
       many labels   z_j = (top - score_j) / m, clipped at 8;   P(j) ~ exp(-beta z_j)
                     (a temperature)

   All of this costs more than the scores of a short event. So the fit learns from each of the first
   1024 labelled events, then from one in two (many labels: one in eight). The square roots for the
   steps are recomputed on one event in 32. These are the events t for which (t g mod 2^64) is below
   2^63, 2^61 or 2^59, where g is the golden ratio in 64 bits. So they are spread evenly over any
   period that a stream may have.

   The clipping, and the bounds on A, B and beta, keep everything finite whatever the scores. beta
   is changed by a factor, so it stays above 0 and the best label stays the most probable one. */

#ifndef STREAMPTRON_LEARNER_CALIBRATE_H
#define STREAMPTRON_LEARNER_CALIBRATE_H

#include "learner/serve.h"
#include "math/powers.h"

#include <math.h>
#include <string.h>

typedef struct sp_calibrator {
    double A; /* beta for many labels */
    double B;
    double GA; /* sums of squared slopes */
    double GB;
    double RA; /* 1 / sqrt(GA), when last computed */
    double RB;
} sp_calibrator;

/* The calibration of one vector as plain numbers, and back: first its scale, then its fit. Files,
   states, digests and merges use this order. */
enum { SP_FIT_NUMBERS = (sizeof(sp_scale) + sizeof(sp_calibrator)) / sizeof(double) };

static inline void sp_fit_read(const sp_scale *scale, const sp_calibrator *fit, double *numbers)
{
    memcpy(numbers, scale, sizeof(*scale));
    memcpy(numbers + sizeof(*scale) / sizeof(double), fit, sizeof(*fit));
}

static inline void sp_fit_write(const double *numbers, sp_scale *scale, sp_calibrator *fit)
{
    memcpy(scale, numbers, sizeof(*scale));
    memcpy(fit, numbers + sizeof(*scale) / sizeof(double), sizeof(*fit));
}

/* Whether labelled event t (from 0) is one of those, one in 2^log. */
static inline bool sp_calibrate_due(uint64_t t, int log)
{
    return t < 1024 || (t * (uint64_t)0x9E3779B97F4A7C15) >> (64 - log) == 0;
}

SP_PRIVATE void sp_calibrator_init(sp_calibrator *fit);

/* Two labels get an output each: find the temperature that gives them the same probabilities as A.

   The lead is twice the score, and the mean size is the same. */
static inline void sp_calibrator_split(sp_calibrator *fit)
{
    double beta = 0.5 * fit->A;
    sp_calibrator_init(fit);
    fit->A = beta > 0.015625 ? beta : 0.015625;
}

/* The sum of squared slopes that goes with that temperature.

   A slope by the temperature's logarithm is A times the slope by A. */
static inline double sp_calibrator_pace(const sp_calibrator *fit)
{
    return 1.0 + fit->A * fit->A * (fit->GA - 1.0);
}

static inline double sp_between(double low, double value, double high)
{
    return value < low ? low : value > high ? high : value;
}

static inline double sp_cut(const sp_scale *scale, double score)
{
    return scale->m > 0.0 ? sp_between(-8.0, score / scale->m, 8.0) : 0.0;
}

/* P(True). */
static inline double sp_calibrate_two(const sp_calibrator *fit, const sp_scale *scale, double score)
{
    double t = fit->A * sp_cut(scale, score) + fit->B;
    /* never above 1; and no branch, which would be mispredicted as often as the label */
    double e = sp_e_to(-fabs(t));
    return (t >= 0.0 ? 1.0 : e) / (1.0 + e);
}

/* `fresh`: recompute the square roots. */
SP_HOT void sp_calibrate_two_learn(sp_calibrator *fit, const sp_scale *scale, double score, bool y,
                                   bool fresh);

/* p[j] = P(j), for n > 0 labels. */
SP_HOT void sp_calibrate_many(const sp_calibrator *fit, const sp_scale *scale, double top,
                              const double *scores, ptrdiff_t n, double *p);

/* Needs at least two labels; y is one of them.

   The square root is computed each time: it is cheap beside n exponentials. */
SP_HOT void sp_calibrate_many_learn(sp_calibrator *fit, const sp_scale *scale, double top,
                                    const double *scores, ptrdiff_t n, ptrdiff_t y);

#endif
