/* The engine, compiled as one file, as in the C library. For Python, each part is compiled by
   itself, so that an edit recompiles only one. */

#define SP_ONE_FILE

/* First, because gcc makes smaller code of its templates if they come before the other rooms. */
#include "table/loops.h"

#include "part_machines.c"
#include "part_events.c"
#include "part_path.c"
#include "part_merge.c"
#include "part_whole.c"
