/* MultiLabelClassifier's machine. */

#ifndef STREAMPTRON_MULTILABEL_MACHINE_H
#define STREAMPTRON_MULTILABEL_MACHINE_H

#include "learner/machine.h"

SP_DATA const sp_machine sp_multilabel_machine;
SP_DATA const sp_seldom sp_multilabel_seldom;

#endif
