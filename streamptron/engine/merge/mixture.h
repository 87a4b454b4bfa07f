/* Features with sparse rows in a merge: each side's numbers, for the labels that any side has in
   the feature's row, for sp_merge_feature (merge/terms.h). */

#ifndef STREAMPTRON_MERGE_MIXTURE_H
#define STREAMPTRON_MERGE_MIXTURE_H

#include "merge/mix.h"
#include "merge/terms.h"

#define SP_NO_LABEL UINT32_MAX

typedef struct sp_mixture {
    ptrdiff_t n_labels;
    uint32_t *merged; /* by side (the base last) and own label: the merged label, or SP_NO_LABEL */
    uint32_t *labels; /* of the current feature, rising */
    ptrdiff_t n;
    uint32_t *at;    /* by label: its place among them, */
    uint32_t *turns; /* if it is there in this turn */
    uint32_t turn;
    bool rising; /* so far */
    sp_feature *features;
    const sp_feature **differing;
    double *numbers; /* which the features point into */
    ptrdiff_t room;  /* of labels in a feature */
} sp_mixture;

/* -1 if out of memory; call sp_mixture_free in either case. */
SP_PRIVATE int sp_mixture_open(sp_mixture *u, const sp_merge *m, ptrdiff_t n_labels);
SP_PRIVATE void sp_mixture_free(sp_mixture *u);

/* The merged learner's labels of a side, by the side's own label. */
static inline const uint32_t *sp_mixture_of(const sp_mixture *u, int k)
{
    return u->merged + k * u->n_labels;
}

/* Begin a feature; add the labels that sides have there, one by one; then make room for the numbers
   of all sides. -1 if out of memory. */
static inline void sp_mixture_begin(sp_mixture *u)
{
    u->turn += 1;
    u->n = 0;
    u->rising = true;
}

static inline void sp_mixture_add(sp_mixture *u, uint32_t y)
{
    if (u->turns[y] == u->turn)
        return;
    u->turns[y] = u->turn;
    u->rising = u->rising && (u->n == 0 || u->labels[u->n - 1] < y);
    u->labels[u->n++] = y;
}

SP_PRIVATE int sp_mixture_end(sp_mixture *u, const sp_merge *m);

/* The feature of the i-th side that has touched the slot, the base last, with zeros for each
   label. */
SP_PRIVATE sp_feature *sp_mixture_feature(sp_mixture *u, const sp_merge *m, int i,
                                          sp_slot_type slot, double gained);

#endif
