/* e^x, 2^x and log x, the same on every machine, which the C libraries' are not: probabilities, the
   exponential averages of models and what a tokenizer makes of a count must not depend on where
   they are worked out.

   x = (k + i / 128) log 2 + r, so e^x = 2^k 2^(i / 128) e^r: the second from a table, the third a
   polynomial. Where the best C libraries fuse products and sums, so does this one: by the machine,
   or by numbers of twice the length. The result is within .52 of a unit in the last place.

   A logarithm is that of the nearest lower power of the table, and a short series at what is left,
   in numbers of twice the length. */

#ifndef STREAMPTRON_MATH_POWERS_H
#define STREAMPTRON_MATH_POWERS_H

#include "memory/compiler.h"

/* e^x, of x from -512 to 0. */
SP_PRIVATE double sp_e_to(double x);

/* 2^x, of x from -512 to 0. */
SP_PRIVATE double sp_two_to(double x);

/* log x, of whole numbers x from 1 to 2^32: the nearest double, for all below 3,000,000. */
SP_PRIVATE double sp_log_of(double x);

/* x y + z, rounded once. For numbers whose products neither overflow nor vanish. */
SP_PRIVATE double sp_fused_exactly(double x, double y, double z);

#endif
