/* The largest of some numbers, such as the probabilities of labels. */

#ifndef STREAMPTRON_MATH_TOP_H
#define STREAMPTRON_MATH_TOP_H

#include "memory/types.h"

#include <string.h>

/* The places of the `most` largest of n numbers, in falling order; of equal ones the first comes
   first. `places` has room for `most`. Returns how many were found: all n, if there are fewer.

   Each number is looked at once, and moves others only if it is among the largest so far. */
static inline ptrdiff_t sp_top(const double *numbers, ptrdiff_t n, ptrdiff_t most, uint32_t *places)
{
    ptrdiff_t found = 0;
    if (most == 0)
        return 0;
    for (ptrdiff_t k = 0; k < n; k++) {
        ptrdiff_t first = 0, last = found;
        if (found == most && !(numbers[k] > numbers[places[found - 1]]))
            continue;
        while (first < last) {
            const ptrdiff_t middle = first + (last - first) / 2;
            if (numbers[places[middle]] >= numbers[k])
                first = middle + 1;
            else
                last = middle;
        }
        found += found < most;
        memmove(places + first + 1, places + first,
                (size_t)(found - 1 - first) * sizeof(uint32_t));
        places[first] = (uint32_t)k;
    }
    return found;
}

#endif
