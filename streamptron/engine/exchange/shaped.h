/* The curves and surfaces of a learner that may have some, as the array of words of
   shapes/arrays.h. */

#ifndef STREAMPTRON_EXCHANGE_SHAPED_H
#define STREAMPTRON_EXCHANGE_SHAPED_H

#include "learner/learner.h"
#include "shapes/arrays.h"

/* Whether a learner may have them. */
static inline bool sp_learner_is_shaped(const sp_learner *learner)
{
    return learner->adaptive.shapes.n_layers > 0;
}

/* How many words there are. */
static inline size_t sp_shaped_measure(const sp_learner *learner)
{
    return sp_shapes_measure(&learner->adaptive.shapes, sp_adaptive_places(&learner->adaptive),
                             NULL);
}

static inline void sp_shaped_write(const sp_learner *learner, uint32_t *words)
{
    sp_shapes_write(&learner->adaptive.shapes, sp_adaptive_places(&learner->adaptive), NULL,
                    words);
}

/* Fill in those of a learner whose slots and labels have been read. 0, or what is wrong. */
static inline int sp_shaped_read(sp_learner *learner, const uint32_t *words, size_t n)
{
    return sp_shapes_read(&learner->adaptive.shapes, sp_adaptive_places(&learner->adaptive), NULL,
                          words, n);
}

#endif
