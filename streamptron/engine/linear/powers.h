/* e^x and 2^x, the same on every machine, which the C libraries' are not: probabilities and the
   exponential averages of models must not depend on where they are worked out.

   x = (k + i / 128) log 2 + r, so e^x = 2^k 2^(i / 128) e^r: the second from a table, the third a
   polynomial. Where the best C libraries fuse products and sums, so does this one: by the machine,
   or by numbers of twice the length. The result is within .52 of a unit in the last place. */

#ifndef STREAMPTRON_LINEAR_POWERS_H
#define STREAMPTRON_LINEAR_POWERS_H

#include "memory/compiler.h"

/* e^x, of x from -512 to 0. */
SP_PRIVATE double sp_e_to(double x);

/* 2^x, of x from -512 to 0. */
SP_PRIVATE double sp_two_to(double x);

/* x y + z, rounded once. For numbers whose products neither overflow nor vanish. */
SP_PRIVATE double sp_fused_exactly(double x, double y, double z);

#endif
