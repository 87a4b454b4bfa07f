#include "merge/mixture.h"

#include "memory/grow.h"
#include "memory/heap.h"

#include <stdlib.h>
#include <string.h>

SP_PRIVATE int sp_mixture_open(sp_mixture *u, const sp_merge *m, ptrdiff_t n_labels)
{
    const size_t sides = (size_t)m->n + 1, all = sides * (size_t)n_labels;
    u->n_labels = n_labels;
    u->merged = (uint32_t *)sp_malloc((all + 1) * sizeof(uint32_t));
    u->labels = (uint32_t *)sp_calloc(3 * (size_t)n_labels + 1, sizeof(uint32_t));
    u->features = (sp_feature *)sp_calloc(sides, sizeof(sp_feature));
    u->differing = (const sp_feature **)sp_calloc(sides, sizeof(sp_feature *));
    if (u->merged == NULL || u->labels == NULL || u->features == NULL || u->differing == NULL)
        return -1;
    u->at = u->labels + n_labels;
    u->turns = u->at + n_labels;
    memset(u->merged, 0xff, all * sizeof(uint32_t));
    for (int k = 0; k <= m->n; k++) {
        const int32_t *own = sp_mix_side(m, k)->labels;
        for (ptrdiff_t y = 0; y < n_labels; y++) {
            if (own[y] >= 0)
                u->merged[k * n_labels + own[y]] = (uint32_t)y;
        }
    }
    return 0;
}

SP_PRIVATE void sp_mixture_free(sp_mixture *u)
{
    sp_free(u->merged);
    sp_free(u->labels);
    sp_free(u->features);
    sp_free(u->differing);
    sp_free(u->numbers);
}

static int sp_by_label(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

SP_PRIVATE int sp_mixture_end(sp_mixture *u, const sp_merge *m)
{
    if (!u->rising)
        qsort(u->labels, (size_t)u->n, sizeof(uint32_t), sp_by_label);
    for (ptrdiff_t i = 0; i < u->n; i++)
        u->at[u->labels[i]] = (uint32_t)i;
    const ptrdiff_t room = 2 * u->n + 8;
    if (u->numbers != NULL && u->n <= u->room)
        return 0;
    if (SP_GROW(u->numbers, 4 * (m->n + 1) * room) < 0)
        return -1;
    u->room = room;
    return 0;
}

SP_PRIVATE sp_feature *sp_mixture_feature(sp_mixture *u, const sp_merge *m, int i,
                                          sp_slot_type slot, double gained)
{
    sp_feature *feature = &u->features[i];
    memset(feature, 0, sizeof(sp_feature));
    feature->gained = gained;
    feature->anew = sp_mix_is_anew(m, m->touched[i].slot, slot);
    feature->w = u->numbers + 4 * i * u->n;
    feature->G = feature->w + u->n;
    feature->c = feature->G + u->n;
    feature->e = feature->c + u->n;
    memset(feature->w, 0, (size_t)(4 * u->n) * sizeof(double));
    u->differing[i] = feature;
    return feature;
}
