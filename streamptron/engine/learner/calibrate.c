#include "learner/calibrate.h"

#include <math.h>

SP_PRIVATE void sp_calibrator_init(sp_calibrator *fit)
{
    fit->A = 1.0;
    fit->B = 0.0;
    fit->GA = 1.0;
    fit->GB = 1.0;
    fit->RA = 1.0;
    fit->RB = 1.0;
}

static double sp_calibrate_forget(double total, double slope)
{
    return 0.9990234375 * total + slope * slope + 0.0009765625;
}

SP_HOT void sp_calibrate_two_learn(sp_calibrator *fit, const sp_scale *scale, double score, bool y,
                                   bool fresh)
{
    double g = sp_calibrate_two(fit, scale, score) - (y ? 1.0 : 0.0);
    double h = g * sp_cut(scale, score);
    fit->GA = sp_calibrate_forget(fit->GA, h);
    fit->GB = sp_calibrate_forget(fit->GB, g);
    if (fresh) {
        fit->RA = 1.0 / sqrt(fit->GA);
        fit->RB = 1.0 / sqrt(fit->GB);
    }
    fit->A = sp_between(0.0, fit->A - h * fit->RA, 16.0);
    fit->B = sp_between(-16.0, fit->B - g * fit->RB, 16.0);
}

SP_HOT void sp_calibrate_many(const sp_calibrator *fit, const sp_scale *scale, double top,
                              const double *scores, ptrdiff_t n, double *p)
{
    double total = 0.0;
    for (ptrdiff_t j = 0; j < n; j++) {
        p[j] = sp_e_to(-(fit->A * sp_cut(scale, top - scores[j])));
        total += p[j];
    }
    for (ptrdiff_t j = 0; j < n; j++)
        p[j] /= total;
}

SP_HOT void sp_calibrate_many_learn(sp_calibrator *fit, const sp_scale *scale, double top,
                                    const double *scores, ptrdiff_t n, ptrdiff_t y)
{
    double total = 0.0;
    double mean = 0.0;
    for (ptrdiff_t j = 0; j < n; j++) {
        double z = sp_cut(scale, top - scores[j]);
        double w = sp_e_to(-(fit->A * z));
        total += w;
        mean += w * z;
    }
    double g = fit->A * (sp_cut(scale, top - scores[y]) - mean / total);
    fit->GA = sp_calibrate_forget(fit->GA, g);
    fit->A = sp_between(0.015625, fit->A * (1.0 - 0.5 * g / sqrt(fit->GA)), 64.0);
}
