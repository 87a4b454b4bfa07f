/* All verbs of AdaptiveClassifier's machine with up to two labels, for machine/machine.h; and those
   of both its machines. */

#ifndef STREAMPTRON_ADAPTIVE_VERBS_H
#define STREAMPTRON_ADAPTIVE_VERBS_H

#include "adaptive/machine.h"
#include "adaptive/mix.h"
#include "adaptive/report.h"
#include "shapes/mix.h"

#endif
