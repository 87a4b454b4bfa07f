/* All verbs of the linear machine, for machine.h. */

#ifndef STREAMPTRON_LINEAR_VERBS_H
#define STREAMPTRON_LINEAR_VERBS_H

#include "linear/linear.h"
#include "linear/report.h"

#endif
