/* Curves and surfaces as a flat array of words, as in a model file, and back.

       numbers     of each: see sp_shapes_write; a float64 is two words, the lower one first
       columns     by their place among those that may have shapes, in the order of turns: so it
                   has no slots
       parts       those that have learned, by their columns; cells have the existing labels only

   Reading trusts nothing. */

#ifndef STREAMPTRON_SHAPES_ARRAYS_H
#define STREAMPTRON_SHAPES_ARRAYS_H

#include "shapes/choose.h"

enum {
    SP_SHAPES_MEMORY = 1, /* what may be wrong with words */
    SP_SHAPES_WRONG = 2,
};

/* The number of words. `n_labels`: 2 while there is one output. `since`: their earlier state, with
   today's slots and lanes. Then only cells that have changed are written, and a part has a bit for
   each of its cells in three words behind its gate. NULL: all are written. */
SP_API size_t sp_shapes_measure(const sp_shapes *shapes, ptrdiff_t n_labels,
                                const sp_shapes *since);

SP_API void sp_shapes_write(const sp_shapes *shapes, ptrdiff_t n_labels, const sp_shapes *since,
                            uint32_t *words);

/* Read them into untrained shapes, whose columns and lanes are set. 0, or what is wrong. */
SP_API int sp_shapes_read(sp_shapes *shapes, ptrdiff_t n_labels, const sp_shapes *since,
                          const uint32_t *words, size_t n);

/* What is wrong with them, or NULL. It looks at every number. */
SP_PRIVATE const char *sp_shapes_fault(const sp_shapes *shapes, ptrdiff_t n_labels);

#endif
