#include "multilabel/mix.h"

#include "memory/heap.h"
#include "merge/outputs.h"
#include "merge/mixture.h"
#include "multilabel/multilabel.h"

/* This machine's data for a merge (sp_merge.own). */
static sp_mixture *sp_multilabel_mixture(const sp_merge *m)
{
    return (sp_mixture *)m->own;
}

SP_PRIVATE void sp_multilabel_mix_free(sp_merge *m)
{
    if (m->own != NULL)
        sp_mixture_free(sp_multilabel_mixture(m));
    sp_free(m->own);
    m->own = NULL;
}

SP_PRIVATE int sp_multilabel_mix_reserve(sp_merge *m)
{
    m->own = sp_calloc(1, sizeof(sp_mixture));
    return m->own == NULL ? -1 : sp_mixture_open(sp_multilabel_mixture(m), m,
                                                 m->to->multilabel.n_labels);
}

/* --- What is kept once per model */

/* Add a share of what a side keeps about all events. */
static void sp_multilabel_add(sp_multilabel *to, const sp_shard *side, double share)
{
    const sp_multilabel *its = &side->learner->multilabel;
    to->m += share * its->m;
    to->positives += share * its->positives;
    for (int t = 0; t < SP_MULTILABEL_STEPS; t++) {
        to->there[t] += share * its->there[t];
        to->said[t] += share * its->said[t];
    }
}

/* A side's label; NULL if it does not know it. */
static const sp_label *sp_multilabel_label_of(const sp_shard *side, ptrdiff_t label)
{
    return side->labels[label] < 0 ? NULL : &side->learner->multilabel.labels[side->labels[label]];
}

static void sp_multilabel_mix_label(sp_merge *m, ptrdiff_t y)
{
    sp_label *to = &m->to->multilabel.labels[y];
    const sp_label *base = sp_multilabel_label_of(m->base, y);
    double *w0 = m->scratch;
    double *G0 = w0 + m->n;
    int n = 0;
    if (base != NULL)
        *to = *base;
    to->place = -1;
    const double D = to->D, left = to->left;
    double D_lost = 0.0, left_lost = 0.0;
    for (int k = 0; k < m->n; k++) {
        const sp_label *its = sp_multilabel_label_of(&m->shards[k], y);
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
        const sp_label *its = sp_multilabel_label_of(&m->shards[k], y);
        if (its == NULL)
            continue;
        w0[n] = its->wn;
        G0[n] = its->Gn;
        n++;
    }
    if (n)
        sp_merge_weight(&to->wn, &to->Gn, w0, G0, n);
    sp_multilabel_settle_label(&m->to->multilabel, y);
}

SP_PRIVATE int sp_multilabel_mix_model(sp_merge *m)
{
    sp_multilabel *to = &m->to->multilabel;
    const sp_multilabel *base = &m->base->learner->multilabel;
    double lost = 0.0;
    to->T = base->T;
    to->nm = base->nm;
    for (int k = 0; k < m->n; k++) {
        sp_merge_count(&to->T, &lost, base->T, m->shards[k].learner->multilabel.T);
        to->nm += m->shards[k].learner->multilabel.nm - base->nm;
    }
    to->T += lost;
    to->nm = SP_MIN(SP_MAX(to->nm, 0.0), 1024.0);
    if (m->N == 0.0)
        sp_multilabel_add(to, m->base, 1.0);
    for (int k = 0; m->N > 0.0 && k < m->n; k++)
        sp_multilabel_add(to, &m->shards[k], m->shards[k].n / m->N);
    for (ptrdiff_t y = 0; y < to->n_labels; y++)
        sp_multilabel_mix_label(m, y);
    for (ptrdiff_t y = 0; y < to->n_labels; y++) /* what several undid counts once for each */
        to->T = SP_MAX(to->T, to->labels[y].D);
    for (ptrdiff_t y = 0; y < to->n_labels; y++)
        to->labels[y].left = SP_MIN(to->labels[y].left, to->T);
    return 0;
}

/* --- A feature */

/* The i-th of those that have touched the current feature, the base last. */
typedef struct sp_multilabel_seen {
    const sp_counted_slot *counted;
    const sp_entry *entries;
    const uint32_t *merged; /* by label */
    double gained;
} sp_multilabel_seen;

static sp_multilabel_seen sp_multilabel_see(const sp_merge *m, int i)
{
    const int k = m->touched[i].k;
    const sp_shard *side = sp_mix_side(m, k);
    const sp_counted_slot *counted
        = (const sp_counted_slot *)(const void *)sp_shard_row(side, 0, m->touched[i].slot);
    return (sp_multilabel_seen){counted,
                          sp_row_entries(sp_rows_of(&side->learner->table), &counted->of.row),
                          sp_mixture_of(sp_multilabel_mixture(m), k),
                          side->learner->multilabel.T - m->base->learner->multilabel.T};
}

/* Unite the labels of the current rows. -1 if out of memory. */
static int sp_multilabel_unite(const sp_merge *m)
{
    sp_mixture *u = sp_multilabel_mixture(m);
    sp_mixture_begin(u);
    for (int i = 0; i <= m->n_touched; i++) {
        const sp_multilabel_seen seen = sp_multilabel_see(m, i);
        for (uint32_t e = 0; e < seen.counted->of.row.n; e++)
            sp_mixture_add(u, seen.merged[seen.entries[e].k]);
    }
    return sp_mixture_end(u, m);
}

/* Fill in a side's feature, by united labels. */
static void sp_multilabel_feature(const sp_merge *m, int i, sp_slot_type slot)
{
    sp_mixture *u = sp_multilabel_mixture(m);
    const sp_multilabel_seen seen = sp_multilabel_see(m, i);
    sp_feature *feature = sp_mixture_feature(u, m, i, slot, seen.gained);
    feature->s = seen.counted->of.s;
    feature->cnt = seen.counted->of.cnt;
    feature->N = seen.counted->of.N;
    for (uint32_t e = 0; e < seen.counted->of.row.n; e++) {
        const uint32_t at = u->at[seen.merged[seen.entries[e].k]];
        feature->w[at] = seen.entries[e].w;
        feature->G[at] = seen.entries[e].G;
        feature->c[at] = seen.entries[e].c;
    }
}

/* Room for a row of n entries. -1 if out of memory. */
static int sp_multilabel_new_row(sp_learner *to, sp_counted_slot *counted, uint32_t n)
{
    int size = sp_row_size_for(n);
    if (n == 0)
        return 0;
    counted->of.row.block = sp_rows_take(sp_rows_of(&to->table), size);
    counted->of.row.size = (uint32_t)size & 63;
    return counted->of.row.block == 0 ? -1 : 0;
}

/* Copy a feature from the first of those seen. -1 if out of memory. */
static int sp_multilabel_take_row(sp_merge *m, sp_counted_slot *to)
{
    const sp_sparse_rows *rows = sp_rows_of(&m->to->table);
    const sp_multilabel_seen seen = sp_multilabel_see(m, 0);
    to->of.s = seen.counted->of.s;
    to->of.cnt = seen.counted->of.cnt;
    to->of.N = seen.counted->of.N;
    if (sp_multilabel_new_row(m->to, to, seen.counted->of.row.n) < 0)
        return -1;
    for (uint32_t e = 0; e < seen.counted->of.row.n; e++) {
        sp_entry *entry = sp_row_insert(rows, &to->of.row, seen.merged[seen.entries[e].k]);
        entry->c = seen.entries[e].c;
        entry->w = seen.entries[e].w;
        entry->G = seen.entries[e].G;
    }
    return 0;
}

SP_PRIVATE int sp_multilabel_mix_slot(sp_merge *m, sp_slot_type slot)
{
    sp_mixture *u = sp_multilabel_mixture(m);
    if (sp_table_chunk(&m->to->table, 0, slot >> SP_CHUNK_BITS) == NULL)
        return 0;
    sp_counted_slot *to = sp_counted_slot_of(&m->to->table, slot);
    if (m->n_touched <= 1)
        return sp_multilabel_take_row(m, to);
    if (sp_multilabel_unite(m) < 0 || sp_multilabel_new_row(m->to, to, (uint32_t)u->n) < 0)
        return -1;
    for (int i = 0; i <= m->n_touched; i++)
        sp_multilabel_feature(m, i, slot);
    sp_feature *mixed = &u->features[m->n_touched];
    sp_merge_feature(mixed, u->differing, m->n_touched, u->n, u->n, m->to->multilabel.T + 2.0,
                     m->scratch);
    to->of.s = mixed->s;
    to->of.cnt = (float)mixed->cnt;
    to->of.N = mixed->N;
    for (ptrdiff_t at = 0; at < u->n; at++) {
        sp_entry *entry = sp_row_insert(sp_rows_of(&m->to->table), &to->of.row, u->labels[at]);
        entry->c = (float)mixed->c[at];
        entry->w = (float)mixed->w[at];
        entry->G = (float)mixed->G[at];
    }
    return 0;
}
