/* All verbs of AdaptiveClassifier's machine with up to two labels, for machine.h. */

#ifndef STREAMPTRON_ADAPTIVE_VERBS_H
#define STREAMPTRON_ADAPTIVE_VERBS_H

#include "adaptive/machine.h"
#include "adaptive/mix.h"
#include "adaptive/tell.h"

#endif
