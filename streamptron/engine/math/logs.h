/* Logarithm and exponential, with the same result on every machine. They are for
   AdaptiveClassifier, whose models must not depend on the system's math library.

   Functions in this file: sp_log and sp_exp, for loops; sp_one_log and sp_one_exp, for what is
   computed once per event; sp_sigmoid; sp_log_both and sp_sigmoid_both, of two numbers side by
   side; sp_fraction, which splits a number into fraction and exponent. */

#ifndef STREAMPTRON_MATH_LOGS_H
#define STREAMPTRON_MATH_LOGS_H

#include "memory/compiler.h"

#include <math.h>

#if (defined(__GNUC__) || defined(__clang__)) && !defined(STREAMPTRON_PLAIN)
  #define SP_VECTORS 1
  typedef float sp_float4 __attribute__((vector_size(16)));
  typedef double sp_double2 __attribute__((vector_size(16)));
  typedef double sp_double4 __attribute__((vector_size(32)));
  typedef int64_t sp_int2 __attribute__((vector_size(16)));
  typedef uint64_t sp_uint2 __attribute__((vector_size(16)));
  typedef int32_t sp_word2 __attribute__((vector_size(8)));
  typedef int64_t sp_int4 __attribute__((vector_size(32)));
#else
  #define SP_VECTORS 0
#endif

#define SP_LN2 0.6931471805599453
#define SP_LN2_HIGH 6.93147180369123816490e-01      /* its last 32 bits are 0 */
#define SP_LN2_LOW 1.90821492927058770002e-10

/* For a normal x = m 2^e, with m from 1/2 to 1: returns m, and adds e to `exponent`. */
SP_TEMPLATE double sp_fraction(double x, ptrdiff_t *exponent)
{
    uint64_t bits = sp_bits_of(x);
    *exponent += (ptrdiff_t)(bits >> 52) - 1022;
    return sp_from_bits((bits & UINT64_C(0xfffffffffffff)) | UINT64_C(1022) << 52);
}

/* Both series are written once, for numbers and for vectors; each lane does what a number does.
   Terms are summed in pairs, so that none waits for all before it. */

/* q/3 + q^2/5 + ... + q^11/23; q2 and q4 are powers of q. */
#define SP_LOG_SERIES(q, q2, q4) \
    (((((1.0 / 3 + 1.0 / 5 * (q)) + (1.0 / 7 + 1.0 / 9 * (q)) * (q2)) \
       + ((1.0 / 11 + 1.0 / 13 * (q)) + (1.0 / 15 + 1.0 / 17 * (q)) * (q2)) * (q4)) \
      + ((1.0 / 19 + 1.0 / 21 * (q)) + 1.0 / 23 * (q2)) * ((q4) * (q4))) \
     * (q))

/* 1 + r + r^2/2 + ... + r^13/13!; r2 and r4 are powers of r. */
#define SP_EXP_SERIES(r, r2, r4) \
    ((((((1.0 / 2.0 + 1.0 / 6.0 * (r)) + (1.0 / 24.0 + 1.0 / 120.0 * (r)) * (r2)) \
        + ((1.0 / 720.0 + 1.0 / 5040.0 * (r)) + (1.0 / 40320.0 + 1.0 / 362880.0 * (r)) * (r2)) \
          * (r4)) \
       + ((1.0 / 3628800.0 + 1.0 / 39916800.0 * (r)) \
          + (1.0 / 479001600.0 + 1.0 / 6227020800.0 * (r)) * (r2)) \
         * ((r4) * (r4))) \
      * (r) + 1.0) * (r) + 1.0)

/* log x = 2 (s + s^3/3 + s^5/5 + ...) + e log 2 at s = (m - 1) / (m + 1), with m from sqrt(1/2) to
   sqrt(2). For normal x; at most 2 ulp off. */
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
    p = SP_LOG_SERIES(q, q2, q4);
    return (2.0 * s + 2.0 * s * p) + e * SP_LN2;
}

/* e^x for x <= 0, as the polynomial at x - k log 2, times 2^k; 0 below -700 and for NaN, which has
   no k. Within 1 ulp. */
SP_TEMPLATE double sp_exp(double x)
{
    double at = x >= -700.0 ? x : -700.0;
    int32_t k = (int32_t)(at * 1.4426950408889634 - 0.5);       /* towards 0: the nearest */
    double r = (at - k * SP_LN2_HIGH) - k * SP_LN2_LOW;
    double r2 = r * r, r4 = r2 * r2, p;
    p = SP_EXP_SERIES(r, r2, r4);
    p *= sp_from_bits((uint64_t)(int64_t)(k + 1023) << 52);
    return x >= -700.0 ? p : 0.0;
}

SP_UNSEEN SP_APART double sp_one_log(double x)
{
    return sp_log(x);
}

SP_UNSEEN SP_APART double sp_one_exp(double x)
{
    return sp_exp(x);
}

SP_UNSEEN SP_APART double sp_sigmoid(double t)
{
    double e = sp_exp(-fabs(t));
    return (t >= 0.0 ? 1.0 : e) / (1.0 + e);
}

#if SP_VECTORS

#define SP_BOTH(x) ((sp_double2){x, x})

/* sp_log of two numbers. */
SP_TEMPLATE void sp_log_both(const double *x, double *logs)
{
    sp_uint2 bits;
    memcpy(&bits, x, sizeof(bits));
    const sp_double2 half
        = (sp_double2)((bits & UINT64_C(0xfffffffffffff)) | UINT64_C(1022) << 52);
    const sp_int2 less = (sp_int2)(half < SP_BOTH(0.7071067811865476));
    const sp_double2 e = (sp_double2)(bits >> 52 | UINT64_C(0x4330000000000000))
                         - (0x1p52 + 1022.0) - (sp_double2)(less & (sp_int2)SP_BOTH(1.0));
    const sp_double2 m = half + (sp_double2)(less & (sp_int2)half);
    const sp_double2 s = (m - 1.0) / (m + 1.0);
    const sp_double2 q = s * s, q2 = q * q, q4 = q2 * q2;
    sp_double2 p = SP_LOG_SERIES(q, q2, q4);
    p = (2.0 * s + 2.0 * s * p) + e * SP_LN2;
    memcpy(logs, &p, sizeof(p));
}

/* sp_sigmoid of two numbers. */
SP_UNSEEN SP_APART void sp_sigmoid_both(double first, double second, double *sigmoids)
{
    const sp_double2 t = {first, second}, low = SP_BOTH(-700.0);
    const sp_double2 x = (sp_double2)((sp_int2)t | INT64_MIN);
    const sp_int2 none = ~(sp_int2)(x >= low), positive = (sp_int2)(t >= SP_BOTH(0.0));
    const sp_double2 at = (sp_double2)((none & (sp_int2)low) | (~none & (sp_int2)x));
    const sp_double2 k = __builtin_convertvector(
        __builtin_convertvector(at * 1.4426950408889634 - 0.5, sp_word2), sp_double2);
    const sp_double2 r = (at - k * SP_LN2_HIGH) - k * SP_LN2_LOW;
    const sp_double2 r2 = r * r, r4 = r2 * r2;
    sp_double2 p = SP_EXP_SERIES(r, r2, r4);
    p *= (sp_double2)((sp_uint2)(k + (0x1p52 + 1023.0)) << 52);
    p = (sp_double2)(~none & (sp_int2)p);
    p = (sp_double2)((positive & (sp_int2)SP_BOTH(1.0)) | (~positive & (sp_int2)p)) / (1.0 + p);
    memcpy(sigmoids, &p, sizeof(p));
}

#else

SP_TEMPLATE void sp_log_both(const double *x, double *logs)
{
    logs[0] = sp_log(x[0]);
    logs[1] = sp_log(x[1]);
}

SP_UNSEEN SP_APART void sp_sigmoid_both(double first, double second, double *sigmoids)
{
    sigmoids[0] = sp_sigmoid(first);
    sigmoids[1] = sp_sigmoid(second);
}

#endif

#endif
