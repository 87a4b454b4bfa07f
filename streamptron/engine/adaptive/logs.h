/* Logarithm and exponential, the same on every machine: they are for AdaptiveClassifier, whose
   models must not depend on the system's math library.

   Functions in this file: sp_log, sp_exp, sp_sigmoid; sp_fraction, which splits a number into
   fraction and exponent. */

#ifndef STREAMPTRON_ADAPTIVE_LOGS_H
#define STREAMPTRON_ADAPTIVE_LOGS_H

#include "memory/compiler.h"

#define SP_LN2 0.6931471805599453
#define SP_LN2_HIGH 6.93147180369123816490e-01      /* its last 32 bits are 0 */
#define SP_LN2_LOW 1.90821492927058770002e-10

/* x = m 2^e of a normal x, with m from 1/2 to 1: m, and e added to `exponent`. */
SP_TEMPLATE double sp_fraction(double x, ptrdiff_t *exponent)
{
    uint64_t bits = sp_bits_of(x);
    *exponent += (ptrdiff_t)(bits >> 52) - 1022;
    return sp_from_bits((bits & UINT64_C(0xfffffffffffff)) | UINT64_C(1022) << 52);
}

/* log x = 2 (s + s^3/3 + s^5/5 + ...) + e log 2 at s = (m - 1) / (m + 1), with m from sqrt(1/2) to
   sqrt(2). For normal x; at most 2 ulp off. Terms are summed in pairs, so that none waits for all
   before it. */
SP_TEMPLATE double sp_log(double x)
{
    uint64_t bits = sp_bits_of(x);
    double m = sp_from_bits((bits & UINT64_C(0xfffffffffffff)) | UINT64_C(1022) << 52);
    int32_t e = (int32_t)(bits >> 52) - 1022 - (m < 0.7071067811865476);
    double s, q, q2, q4, p;
    m = m < 0.7071067811865476 ? m * 2.0 : m;
    s = (m - 1.0) / (m + 1.0);
    q = s * s;
    q2 = q * q;
    q4 = q2 * q2;
    p = ((1.0 / 3 + 1.0 / 5 * q) + (1.0 / 7 + 1.0 / 9 * q) * q2)
        + ((1.0 / 11 + 1.0 / 13 * q) + (1.0 / 15 + 1.0 / 17 * q) * q2) * q4;
    p = (p + ((1.0 / 19 + 1.0 / 21 * q) + 1.0 / 23 * q2) * (q4 * q4)) * q;
    return (2.0 * s + 2.0 * s * p) + e * SP_LN2;
}

/* e^x for x <= 0, as the polynomial at x - k log 2, times 2^k; 0 below -700. Within 1 ulp. */
SP_TEMPLATE double sp_exp(double x)
{
    double at = x < -700.0 ? -700.0 : x;
    int32_t k = (int32_t)(at * 1.4426950408889634 - 0.5);       /* towards 0: the nearest */
    double r = (at - k * SP_LN2_HIGH) - k * SP_LN2_LOW;
    double r2 = r * r, r4 = r2 * r2, p;
    p = ((1.0 / 2.0 + 1.0 / 6.0 * r) + (1.0 / 24.0 + 1.0 / 120.0 * r) * r2)
        + ((1.0 / 720.0 + 1.0 / 5040.0 * r) + (1.0 / 40320.0 + 1.0 / 362880.0 * r) * r2) * r4;
    p = p + ((1.0 / 3628800.0 + 1.0 / 39916800.0 * r)
             + (1.0 / 479001600.0 + 1.0 / 6227020800.0 * r) * r2) * (r4 * r4);
    p = (p * r + 1.0) * r + 1.0;
    p *= sp_from_bits((uint64_t)(int64_t)(k + 1023) << 52);
    return x < -700.0 ? 0.0 : p;
}

SP_TEMPLATE double sp_sigmoid(double t)
{
    double e = sp_exp(t >= 0.0 ? -t : t);
    return t >= 0.0 ? 1.0 / (1.0 + e) : e / (1.0 + e);
}

#endif
