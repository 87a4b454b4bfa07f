/* All verbs of MultiLabelClassifier's machine, for machine/machine.h. */

#ifndef STREAMPTRON_SETS_VERBS_H
#define STREAMPTRON_SETS_VERBS_H

#include "sets/arrays.h"
#include "sets/machine.h"
#include "sets/mix.h"

#endif
