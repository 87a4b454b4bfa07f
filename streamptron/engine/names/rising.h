/* The slots of an index in the order in which files, deltas and digests have them.

   An exact index has them in that order itself. A hashed one in memory has them in the order of
   arrival, and the others know its numbers alone, rising. Rare: a model is written, or compared.
   It costs twelve bytes a slot for a while, and some 15 ns. */

#ifndef STREAMPTRON_NAMES_RISING_H
#define STREAMPTRON_NAMES_RISING_H

#include "memory/compiler.h"
#include "memory/types.h"
#include "names/index.h"

/* All slots, the reserved ones first, in the order of their numbers. NULL without memory; the
   caller frees them. */
SP_API sp_slot_type *sp_index_rising(const sp_index *index);

#endif
