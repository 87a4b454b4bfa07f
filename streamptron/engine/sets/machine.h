/* MultiLabelClassifier's machine. */

#ifndef STREAMPTRON_SETS_MACHINE_H
#define STREAMPTRON_SETS_MACHINE_H

#include "learner/machine.h"

SP_DATA const sp_machine sp_sets_machine;

#endif
