/* The library, compiled as one file: the engine, and the functions that C programs call. */

#define SP_LIBRARY

/* A product and a sum must not be fused into one rounding: where the machine can do that, the same
   model would learn differently. */
#if defined(__clang__)
    #pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
    #pragma GCC optimize("fp-contract=off")
#endif

#include "streamptron.c"

#include "library/answer.c"
#include "library/event.c"

/* Nothing here is on the way to an answer, so it is compiled for size. */
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
