/* All verbs of AdaptiveClassifier's machine with more than two labels, for machine/machine.h. */

#ifndef STREAMPTRON_MANY_VERBS_H
#define STREAMPTRON_MANY_VERBS_H

#include "many/delta.h"
#include "many/machine.h"
#include "many/mix.h"
#include "many/report.h"

#endif
