/* Widths, units and layouts that every room shares.

   An event is a list of (slot, value) pairs. The index turns a feature's *key* (its name) into a
   *slot* number, which is all that the weights know of it. The slots are numbered like this:

       slot 0    the null slot: no feature, all weights zero, never written. A feature that the
                 model does not know is scored there, so that reading needs no branch.
       slot 1    the intercept: a feature of value 1 with which every event begins (if asked for).
       slot 2.. the features, in the order in which they were first updated.

   The engine trusts its arguments: a door has checked them. Only allocation can fail. Functions
   that allocate return -1 then, and sp_learner_commit has changed nothing. */

#ifndef STREAMPTRON_MEMORY_TYPES_H
#define STREAMPTRON_MEMORY_TYPES_H

#include "memory/compiler.h"

typedef uint32_t sp_slot_type;

enum {
    SP_SLOT_NULL = 0,
    SP_SLOT_INTERCEPT = 1,
    SP_SLOTS_RESERVED = 2,

    SP_CHUNK_BITS = 8, /* slots live in chunks of 256 that never move */
    SP_CHUNK_SLOTS = 1 << SP_CHUNK_BITS,
    SP_CHUNK_MASK = SP_CHUNK_SLOTS - 1,
};

#endif
