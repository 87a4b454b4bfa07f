/* All verbs of the linear machine with many labels, for machine/machine.h. */

#ifndef STREAMPTRON_WIDE_VERBS_H
#define STREAMPTRON_WIDE_VERBS_H

#include "wide/arrays.h"
#include "wide/machine.h"
#include "wide/mix.h"

#endif
