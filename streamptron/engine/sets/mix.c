#include "sets/mix.h"

#include "memory/grow.h"
#include "memory/heap.h"
#include "merge/outputs.h"
#include "merge/terms.h"
#include "sets/sets.h"

/* Its part of a merge (sp_merge.own). The base is the last of the sides. */
typedef struct sp_sets_merge {
    ptrdiff_t labels;
    uint32_t *merged;     /* by side and its own label: the merged learner's */
    uint32_t *united;     /* labels of the row at hand, rising */
    sp_feature *features; /* by side; its numbers are those of `united` */
    const sp_feature **differing;
    double *numbers; /* which the features point into */
    ptrdiff_t room;  /* of labels in a row */
} sp_sets_merge;

SP_PRIVATE void sp_sets_mix_free(sp_merge *m)
{
    sp_sets_merge *own = (sp_sets_merge *)m->own;
    if (own != NULL) {
        sp_free(own->merged);
        sp_free(own->united);
        sp_free(own->features);
        sp_free(own->differing);
        sp_free(own->numbers);
    }
    sp_free(own);
    m->own = NULL;
}

SP_PRIVATE int sp_sets_mix_reserve(sp_merge *m)
{
    sp_sets_merge *own = (sp_sets_merge *)sp_calloc(1, sizeof(sp_sets_merge));
    size_t sides = (size_t)m->n + 1;
    m->own = own;
    if (own == NULL)
        return -1;
    own->labels = m->to->sets.n_labels;
    own->merged = (uint32_t *)sp_calloc(sides * (size_t)own->labels + 1, sizeof(uint32_t));
    own->features = (sp_feature *)sp_calloc(sides, sizeof(sp_feature));
    own->differing = (const sp_feature **)sp_calloc(sides, sizeof(sp_feature *));
    if (own->merged == NULL || own->features == NULL || own->differing == NULL)
        return -1;
    for (int k = 0; k <= m->n; k++) {
        const sp_shard *side = sp_mix_side(m, k);
        for (ptrdiff_t y = 0; y < own->labels; y++) {
            if (side->labels[y] >= 0)
                own->merged[k * own->labels + side->labels[y]] = (uint32_t)y;
        }
    }
    return 0;
}

/* --- What is kept once */

/* Add a share of what a side keeps of all events. */
static void sp_sets_add(sp_sets *to, const sp_shard *side, double share)
{
    const sp_sets *its = &side->learner->sets;
    to->m += share * its->m;
    to->positives += share * its->positives;
    for (int t = 0; t < SP_SETS_STEPS; t++) {
        to->there[t] += share * its->there[t];
        to->said[t] += share * its->said[t];
    }
}

/* A label of a side; NULL if it does not know it. */
static const sp_label *sp_sets_label_of(const sp_shard *side, ptrdiff_t label)
{
    return side->labels[label] < 0 ? NULL : &side->learner->sets.labels[side->labels[label]];
}

static void sp_sets_mix_label(sp_merge *m, ptrdiff_t y)
{
    sp_label *to = &m->to->sets.labels[y];
    const sp_label *base = sp_sets_label_of(m->base, y);
    double *w0 = m->scratch;
    double *G0 = w0 + m->n;
    int n = 0;
    if (base != NULL)
        *to = *base;
    to->place = -1;
    const double D = to->D, left = to->left;
    double D_lost = 0.0, left_lost = 0.0;
    for (int k = 0; k < m->n; k++) {
        const sp_label *its = sp_sets_label_of(&m->shards[k], y);
        if (its == NULL)
            continue;
        sp_merge_count(&to->D, &D_lost, D, its->D);
        sp_merge_count(&to->left, &left_lost, left, its->left);
        w0[n] = its->w0;
        G0[n] = its->G0;
        n++;
    }
    to->D += D_lost;
    to->left += left_lost;
    if (n)
        sp_merge_weight(&to->w0, &to->G0, w0, G0, n);
    n = 0;
    for (int k = 0; k < m->n; k++) {
        const sp_label *its = sp_sets_label_of(&m->shards[k], y);
        if (its == NULL)
            continue;
        w0[n] = its->wn;
        G0[n] = its->Gn;
        n++;
    }
    if (n)
        sp_merge_weight(&to->wn, &to->Gn, w0, G0, n);
    sp_sets_settle_label(&m->to->sets, y);
}

SP_PRIVATE void sp_sets_mix_model(sp_merge *m)
{
    sp_sets *to = &m->to->sets;
    const sp_sets *base = &m->base->learner->sets;
    double lost = 0.0;
    to->T = base->T;
    to->nm = base->nm;
    for (int k = 0; k < m->n; k++) {
        sp_merge_count(&to->T, &lost, base->T, m->shards[k].learner->sets.T);
        to->nm += m->shards[k].learner->sets.nm - base->nm;
    }
    to->T += lost;
    to->nm = SP_MIN(SP_MAX(to->nm, 0.0), 1024.0);
    if (m->N == 0.0)
        sp_sets_add(to, m->base, 1.0);
    for (int k = 0; m->N > 0.0 && k < m->n; k++)
        sp_sets_add(to, &m->shards[k], m->shards[k].n / m->N);
    for (ptrdiff_t y = 0; y < to->n_labels; y++)
        sp_sets_mix_label(m, y);
    for (ptrdiff_t y = 0; y < to->n_labels; y++) /* what several took back counts once in each */
        to->T = SP_MAX(to->T, to->labels[y].D);
    for (ptrdiff_t y = 0; y < to->n_labels; y++)
        to->labels[y].left = SP_MIN(to->labels[y].left, to->T);
}

/* --- A feature */

static const sp_counted_slot *sp_sets_its_slot(const sp_shard *side, sp_slot_type slot)
{
    return (const sp_counted_slot *)(const void *)sp_shard_row(side, 0, slot);
}

/* Where a label is among those united, or where it belongs. */
static ptrdiff_t sp_united_place(const uint32_t *united, ptrdiff_t n, uint32_t y)
{
    ptrdiff_t first = 0;
    while (n > 0) {
        ptrdiff_t half = n / 2;
        if (united[first + half] < y) {
            first += half + 1;
            n -= half + 1;
        } else
            n = half;
    }
    return first;
}

/* The slot of side k for the feature at hand. */
static const sp_counted_slot *sp_sets_of(const sp_merge *m, int i, int *k)
{
    *k = m->touched[i].k;
    return sp_sets_its_slot(sp_mix_side(m, *k), m->touched[i].slot);
}

/* All labels of the rows at hand: how many, or -1 without memory. */
static ptrdiff_t sp_sets_unite(sp_merge *m)
{
    sp_sets_merge *own = (sp_sets_merge *)m->own;
    ptrdiff_t most = 1;
    ptrdiff_t n = 0;
    int k;
    for (int i = 0; i <= m->n_touched; i++)
        most += sp_sets_of(m, i, &k)->of.row.n;
    if (most > own->room) {
        const sp_growing all[] = {
            SP_GROWING(own->united, 2 * most),
            SP_GROWING(own->numbers, 4 * (m->n + 1) * 2 * most),
        };
        if (sp_grow_all(all, 2) < 0)
            return -1;
        own->room = 2 * most;
    }
    for (int i = 0; i <= m->n_touched; i++) {
        const sp_counted_slot *counted = sp_sets_of(m, i, &k);
        const sp_entry *entries
            = sp_row_entries(sp_rows_of(&sp_mix_side(m, k)->learner->table), &counted->of.row);
        for (uint32_t e = 0; e < counted->of.row.n; e++) {
            uint32_t y = own->merged[k * own->labels + entries[e].k];
            ptrdiff_t at = sp_united_place(own->united, n, y);
            if (at < n && own->united[at] == y)
                continue;
            memmove(own->united + at + 1, own->united + at, (size_t)(n - at) * sizeof(uint32_t));
            own->united[at] = y;
            n++;
        }
    }
    return n;
}

/* What a side has of a feature, by the labels that are united. `anew`: see merge/terms.h. */
static void sp_sets_feature(const sp_merge *m, int k, const sp_counted_slot *counted, bool anew,
                            ptrdiff_t n)
{
    const sp_sets_merge *own = (const sp_sets_merge *)m->own;
    sp_feature *feature = &own->features[k];
    const sp_entry *entries
        = sp_row_entries(sp_rows_of(&sp_mix_side(m, k)->learner->table), &counted->of.row);
    memset(feature, 0, sizeof(sp_feature));
    feature->s = counted->of.s;
    feature->cnt = counted->of.cnt;
    feature->N = counted->of.N;
    feature->gained = sp_mix_side(m, k)->learner->sets.T - m->base->learner->sets.T;
    feature->anew = anew;
    feature->w = own->numbers + 4 * k * n;
    feature->G = feature->w + n;
    feature->c = feature->G + n;
    feature->e = feature->c + n;
    memset(feature->w, 0, (size_t)(4 * n) * sizeof(double));
    for (uint32_t e = 0; e < counted->of.row.n; e++) {
        uint32_t y = own->merged[k * own->labels + entries[e].k];
        ptrdiff_t at = sp_united_place(own->united, n, y);
        feature->w[at] = entries[e].w;
        feature->G[at] = entries[e].G;
        feature->c[at] = entries[e].c;
    }
}

/* Room for a row of n entries. -1 without memory. */
static int sp_sets_new_row(sp_learner *to, sp_counted_slot *counted, uint32_t n)
{
    int size = sp_row_size_for(n);
    if (n == 0)
        return 0;
    counted->of.row.block = sp_rows_take(sp_rows_of(&to->table), size);
    counted->of.row.size = (uint32_t)size & 63;
    return counted->of.row.block == 0 ? -1 : 0;
}

/* Take a feature as one side has it. */
static int sp_sets_take_row(sp_merge *m, int k, const sp_counted_slot *from, sp_counted_slot *to)
{
    const sp_sets_merge *own = (const sp_sets_merge *)m->own;
    const sp_sparse_rows *rows = sp_rows_of(&m->to->table);
    const sp_entry *entries
        = sp_row_entries(sp_rows_of(&sp_mix_side(m, k)->learner->table), &from->of.row);
    to->of.s = from->of.s;
    to->of.cnt = from->of.cnt;
    to->of.N = from->of.N;
    if (sp_sets_new_row(m->to, to, from->of.row.n) < 0)
        return -1;
    for (uint32_t e = 0; e < from->of.row.n; e++) {
        sp_entry *entry
            = sp_row_insert(rows, &to->of.row, own->merged[k * own->labels + entries[e].k]);
        entry->c = entries[e].c;
        entry->w = entries[e].w;
        entry->G = entries[e].G;
    }
    return 0;
}

SP_PRIVATE int sp_sets_mix_slot(sp_merge *m, sp_slot_type slot)
{
    const sp_sets_merge *own = (const sp_sets_merge *)m->own;
    sp_feature *mixed;
    int k;
    if (sp_table_chunk(&m->to->table, 0, slot >> SP_CHUNK_BITS) == NULL)
        return 0;
    sp_counted_slot *to = sp_counted_slot_of(&m->to->table, slot);
    if (m->n_touched <= 1) {
        const sp_counted_slot *from = sp_sets_of(m, 0, &k);
        return sp_sets_take_row(m, k, from, to);
    }
    ptrdiff_t n = sp_sets_unite(m);
    if (n < 0 || sp_sets_new_row(m->to, to, (uint32_t)n) < 0)
        return -1;
    for (int i = 0; i <= m->n_touched; i++) {
        const sp_counted_slot *counted = sp_sets_of(m, i, &k);
        sp_sets_feature(m, k, counted, sp_mix_is_anew(m, m->touched[i].slot, slot), n);
        own->differing[i] = &own->features[k];
    }
    mixed = &own->features[m->n];
    sp_merge_feature(mixed, own->differing, m->n_touched, n, n, m->to->sets.T + 2.0, m->scratch);
    to->of.s = mixed->s;
    to->of.cnt = (float)mixed->cnt;
    to->of.N = mixed->N;
    for (ptrdiff_t at = 0; at < n; at++) {
        sp_entry *entry = sp_row_insert(sp_rows_of(&m->to->table), &to->of.row, own->united[at]);
        entry->c = (float)mixed->c[at];
        entry->w = (float)mixed->w[at];
        entry->G = (float)mixed->G[at];
    }
    return 0;
}
