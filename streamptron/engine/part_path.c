/* A part of the engine: the path of an event, and the machine that most learners are. */

#define SP_PATH

#include "events/ahead.c"
#include "events/matrix.c"
#include "linear/calibrate.c"
#include "linear/linear.c"
#include "linear/powers.c"
#include "linear/rule.c"
#include "linear/serve.c"
#include "linear/step.c"
#include "linear/table.c"
#include "linear/verdict.c"
#include "machine.c"
#include "path/batch.c"
#include "path/ceiling.c"
#include "path/gather.c"
#include "path/learner.c"
#include "path/path.c"
#include "rows/dense.c"
#include "rows/rows.c"
#include "wide/machine.c"
#include "wide/rows.c"
