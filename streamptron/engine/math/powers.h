/* e^x, 2^x and log x, the same on every machine, unlike those of the C libraries. Probabilities,
   the exponential averages of models, and values that a tokenizer computes from counts must not
   depend on the machine.

   x = (k + i / 128) log 2 + r, so e^x = 2^k 2^(i / 128) e^r: the second factor comes from a table,
   the third from a polynomial. Products and sums are fused, as in the best C libraries: by the
   machine, or with numbers of twice the length. The result is within .52 of a unit in the last
   place.

   A logarithm is that of the nearest lower power in the table, plus a short series for the rest, in
   numbers of twice the length. */

#ifndef STREAMPTRON_MATH_POWERS_H
#define STREAMPTRON_MATH_POWERS_H

#include "memory/compiler.h"

/* e^x, for x from -512 to 0. */
SP_PRIVATE double sp_e_to(double x);

/* 2^x, for x from -512 to 0. */
SP_PRIVATE double sp_two_to(double x);

/* log x, for whole numbers x from 1 to 2^32: the nearest double, for all below 3,000,000. */
SP_PRIVATE double sp_log_of(double x);

/* x y + z, rounded once. For numbers whose products neither overflow nor vanish. */
SP_PRIVATE double sp_fused_exactly(double x, double y, double z);

#endif
