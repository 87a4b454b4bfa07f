/* A part of the engine: models that learned apart, as one, and what they send each other. */

#include "memory/compiler.h"

/* Merges: for size in the library, which is to stay small. */
#ifdef SP_LIBRARY
SP_FOR_SIZE
#endif
#include "adaptive/mix.c"
#include "many/mix.c"
#include "sets/mix.c"
#include "shapes/choose.c"
#include "shapes/mix.c"
#include "whole/delta.c"
#include "whole/merge.c"
#include "whole/mix.c"
#include "whole/mix_rows.c"
#include "whole/mix_stay.c"
#include "whole/reshaped.c"
#include "whole/shard.c"
#include "whole/sound.c"
#include "wide/mix.c"
#ifdef SP_LIBRARY
SP_FOR_SIZE_END
#endif
