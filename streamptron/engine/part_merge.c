/* A part of the engine: merging models that learned separately, and what they send each other. */

#include "memory/compiler.h"

#include "file/crc.c"

/* Merges are compiled for size in the library, to keep it small. */
#ifdef SP_LIBRARY
SP_FOR_SIZE
#endif
#include "adaptive/mix.c"
#include "many/mix.c"
#include "multilabel/mix.c"
#include "shapes/choose.c"
#include "shapes/mix.c"
#include "exchange/delta.c"
#include "exchange/merge.c"
#include "merge/mix.c"
#include "merge/outputs.c"
#include "exchange/mix_rows.c"
#include "exchange/mix_stay.c"
#include "exchange/reshaped.c"
#include "merge/shard.c"
#include "merge/mixture.c"
#include "exchange/sound.c"
#include "wide/mix.c"
#ifdef SP_LIBRARY
SP_FOR_SIZE_END
#endif
