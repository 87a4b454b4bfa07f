# Probabilities: scores, calibrated online.
#
# A perceptron's score has no unit and grows as it learns. It is divided by its own mean size (Scale
# in engine/serve.pxd), and the result is fitted to the labels by gradient descent on the log-loss
# of each event before it is learned. The steps are AdaGrad's (Duchi, Hazan & Singer 2011), with
# sums that decay by 1023/1024.
#
#     two labels    z = score / m, clipped to +-8;   P(True) = 1 / (1 + exp(-(A z + B)))
#                   (Platt 1999)
#     many labels   z_j = (top - score_j) / m, clipped at 8;   P(j) ~ exp(-beta z_j)
#                   (a temperature)
#
# All of this costs more than the scores of a short event. So the fit learns from each of the first
# 1024 labelled events and then from one in two (many labels: one in eight), and the square roots
# for the steps are recomputed on one in 32. Those are the events t for which (t g mod 2^64) is
# below 2^63, 2^61 or 2^59, where g is the golden ratio in 64 bits. They are spread evenly over any
# period that a stream may have.
#
# The clipping, and the bounds on A, B and beta, keep everything finite whatever the scores. beta is
# changed by a factor, so it stays above 0 and the best label stays the most probable one.
#
# Functions in this file: calibrator_init, calibrator_split (a third label has come); calibrate_due;
# calibrate_two, calibrate_two_learn; calibrate_many, calibrate_many_learn.

from libc.math cimport exp, fabs, sqrt
from streamptron.engine.serve cimport Scale
from streamptron.engine.types cimport uint64_t

cdef struct Calibrator:
    double A                        # beta for many labels
    double B
    double GA                       # sums of squared slopes
    double GB
    double RA                       # 1 / sqrt(GA), when last computed
    double RB


cdef inline bint calibrate_due(uint64_t t, int log) noexcept nogil:
    """Whether what is done for one in 2^log labelled events is done for number t (from 0)."""
    return t < 1024 or (t * <uint64_t> 0x9E3779B97F4A7C15) >> (64 - log) == 0


cdef inline void calibrator_init(Calibrator* fit) noexcept nogil:
    fit.A = 1.0
    fit.B = 0.0
    fit.GA = 1.0
    fit.GB = 1.0
    fit.RA = 1.0
    fit.RB = 1.0


cdef inline void calibrator_split(Calibrator* fit) noexcept nogil:
    """Two labels get an output each: the temperature that gives them the same probabilities as A.

    The lead is twice the score, and the mean size is the same.
    """
    cdef double beta = 0.5 * fit.A
    calibrator_init(fit)
    fit.A = beta if beta > 0.015625 else 0.015625


cdef inline double _between(double low, double value, double high) noexcept nogil:
    return low if value < low else high if value > high else value


cdef inline double _forget(double total, double slope) noexcept nogil:
    return (0.9990234375 * total + slope * slope) + 0.0009765625


cdef inline double _cut(const Scale* scale, double score) noexcept nogil:
    return _between(-8.0, score / scale.m, 8.0) if scale.m > 0.0 else 0.0


cdef inline double calibrate_two(const Calibrator* fit, const Scale* scale,
                                 double score) noexcept nogil:
    """P(True)."""
    cdef double t = fit.A * _cut(scale, score) + fit.B
    # never above 1; and no branch, which would be mispredicted as often as the label
    cdef double e = exp(-fabs(t))
    return (1.0 if t >= 0.0 else e) / (1.0 + e)


cdef inline void calibrate_two_learn(Calibrator* fit, const Scale* scale, double score,
                                     bint y, bint fresh) noexcept nogil:
    """`fresh`: recompute the square roots."""
    cdef double g = calibrate_two(fit, scale, score) - (1.0 if y else 0.0)
    cdef double h = g * _cut(scale, score)
    fit.GA = _forget(fit.GA, h)
    fit.GB = _forget(fit.GB, g)
    if fresh:
        fit.RA = 1.0 / sqrt(fit.GA)
        fit.RB = 1.0 / sqrt(fit.GB)
    fit.A = _between(0.0, fit.A - h * fit.RA, 16.0)
    fit.B = _between(-16.0, fit.B - g * fit.RB, 16.0)


cdef inline void calibrate_many(const Calibrator* fit, const Scale* scale, double top,
                                const double* scores, Py_ssize_t n, double* p) noexcept nogil:
    """p[j] = P(j), for n > 0 labels."""
    cdef double total = 0.0
    cdef Py_ssize_t j
    for j in range(n):
        p[j] = exp(-(fit.A * _cut(scale, top - scores[j])))
        total += p[j]
    for j in range(n):
        p[j] /= total


cdef inline void calibrate_many_learn(Calibrator* fit, const Scale* scale, double top,
                                      const double* scores, Py_ssize_t n,
                                      Py_ssize_t y) noexcept nogil:
    """For at least two labels, of which y is one.

    The square root is computed each time: it is cheap beside n exponentials.
    """
    cdef double total = 0.0, mean = 0.0
    cdef double z, w, g
    cdef Py_ssize_t j
    for j in range(n):
        z = _cut(scale, top - scores[j])
        w = exp(-(fit.A * z))
        total += w
        mean += w * z
    g = fit.A * (_cut(scale, top - scores[y]) - mean / total)
    fit.GA = _forget(fit.GA, g)
    fit.A = _between(0.015625, fit.A * (1.0 - 0.5 * g / sqrt(fit.GA)), 64.0)
