/* The slots of an index in the order in which files, deltas and digests have them.

   In an exact index they already are in that order. A hashed index in memory has them in the order
   of arrival, but files, deltas and digests have them in the order of their numbers. This is rarely
   needed: when a model is written, or compared. While it lasts it takes twelve bytes a slot, and
   some 15 ns a slot. */

#ifndef STREAMPTRON_NAMES_RISING_H
#define STREAMPTRON_NAMES_RISING_H

#include "memory/compiler.h"
#include "memory/types.h"
#include "names/index.h"

/* All slots, the reserved ones first, in the order of their numbers. NULL if out of memory; the
   caller frees them. */
SP_API sp_slot_type *sp_index_rising(const sp_index *index);

#endif
