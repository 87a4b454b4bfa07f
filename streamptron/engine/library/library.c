/* The library, compiled as one file: the engine, and what C programs call of it. */

#define SP_LIBRARY

/* No product and sum may become one rounding: the same model would learn differently where the
   machine can do that. */
#if defined(__clang__)
    #pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
    #pragma GCC optimize("fp-contract=off")
#endif

#include "streamptron.c"

#include "library/answer.c"
#include "library/event.c"

/* What no answer waits for: compiled for size. */
SP_FOR_SIZE
#include "library/deltas.c"
#include "library/disk_posix.c"
#include "library/disk_windows.c"
#include "library/explain.c"
#include "library/labels.c"
#include "library/merge.c"
#include "library/model.c"
#include "library/multilabel.c"
#include "library/shown.c"
#include "library/sides.c"
#include "library/step.c"
#include "library/steps.c"
#include "library/stored.c"
#include "library/weights.c"
SP_FOR_SIZE_END
