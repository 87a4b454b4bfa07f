/* All verbs of VotedPerceptron's machine, for machine/machine.h. */

#ifndef STREAMPTRON_VOTED_VERBS_H
#define STREAMPTRON_VOTED_VERBS_H

#include "voted/arrays.h"
#include "voted/report.h"
#include "voted/voted.h"

#endif
