#include "many/mix.h"

#include "adaptive/mix.h"
#include "many/learn.h"
#include "many/many.h"
#include "many/two.h"
#include "memory/heap.h"
#include "merge/outputs.h"
#include "merge/terms.h"
#include "merge/mixture.h"
#include "rows/marks.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* A feature of a side, with the side's own labels. */
typedef struct sp_many_seen {
    const sp_head *head;
    const sp_column *column;
    const uint32_t *merged; /* the merged learner's label for each, or SP_NO_LABEL */
    const sp_entry *entries[2]; /* of the feature, and of a column's e */
    uint32_t n[2];
    sp_entry room[2][SP_DENSE_MOST];
    bool damaged; /* in a file, and a row is invalid */
} sp_many_seen;

static const uint32_t sp_row_blocks[2] = {0, SP_BLOCK_E};

/* This machine's data for a merge (sp_merge.own). */
typedef struct sp_many_merge {
    sp_mixture mixture;
    double all;         /* the events, plus one for each label */
    sp_many_seen *seen; /* those that count for the current feature, then the base */
} sp_many_merge;

SP_PRIVATE void sp_many_mix_free(sp_merge *m)
{
    sp_many_merge *own = (sp_many_merge *)m->own;
    if (own != NULL) {
        sp_mixture_free(&own->mixture);
        sp_free(own->seen);
    }
    sp_free(own);
    m->own = NULL;
}

SP_PRIVATE int sp_many_mix_reserve(sp_merge *m)
{
    sp_many_merge *own = (sp_many_merge *)sp_calloc(1, sizeof(sp_many_merge));
    m->own = own;
    if (own == NULL)
        return -1;
    own->seen = (sp_many_seen *)sp_calloc((size_t)m->n + 1, sizeof(sp_many_seen));
    if (own->seen == NULL || sp_mixture_open(&own->mixture, m, m->to->adaptive.n_labels) < 0)
        return -1;
    sp_adaptive_mix_look(m);
    return 0;
}

/* --- What is kept once per model */

/* The intercept of a label (part 0), or naive Bayes' weight (1); false: the side does not know
   it. */
static bool sp_many_model_numbers_of(const sp_shard *side, ptrdiff_t label, int part, double *w,
                                     double *G)
{
    const sp_adaptive *its = &side->learner->adaptive;
    const int32_t own = side->labels[label];
    *w = *G = 0.0;
    if (part == 1) {
        *w = its->wn;
        *G = its->Gn;
        return true;
    }
    if (own < 0)
        return false;
    *w = its->rows ? its->w0[own] : own == its->positive ? 0.5 * *its->w0 : -0.5 * *its->w0;
    *G = its->G0[its->rows ? own : 0];
    return true;
}

static void sp_many_mix_weight(const sp_merge *m, ptrdiff_t label, int part, double *w, double *G)
{
    double *w_k = m->scratch;
    double *G_k = m->scratch + m->n;
    int n = 0;
    sp_many_model_numbers_of(m->base, label, part, w, G);
    for (int k = 0; k < m->n; k++)
        n += sp_many_model_numbers_of(&m->shards[k], label, part, &w_k[n], &G_k[n]);
    if (n)
        sp_merge_weight(w, G, w_k, G_k, n);
}

/* b: the mean, weighted by events, over the sides that have had more than two labels. */
static void sp_many_mix_usual_score(const sp_merge *m)
{
    double N = 0.0;
    m->to->adaptive.many.b = m->base->learner->adaptive.many.b;
    for (int k = 0; k < m->n; k++)
        N += m->shards[k].learner->adaptive.rows ? m->shards[k].n : 0.0;
    if (N == 0.0)
        return;
    m->to->adaptive.many.b = 0.0;
    for (int k = 0; k < m->n; k++) {
        const sp_adaptive *its = &m->shards[k].learner->adaptive;
        if (its->rows)
            m->to->adaptive.many.b += m->shards[k].n / N * its->many.b;
    }
}

SP_PRIVATE int sp_many_mix_model(sp_merge *m)
{
    sp_many_merge *own = (sp_many_merge *)m->own;
    sp_adaptive *to = &m->to->adaptive;
    sp_adaptive_mix_events(m, own->mixture.n_labels);
    own->all = to->T + (double)own->mixture.n_labels;
    for (ptrdiff_t k = 0; k < own->mixture.n_labels; k++)
        sp_many_mix_weight(m, k, 0, &to->w0[k], &to->G0[k]);
    sp_many_mix_weight(m, 0, 1, &to->wn, &to->Gn);
    sp_many_mix_usual_score(m);
    sp_tree_fill(&to->many, to->w0, own->mixture.n_labels);
    return 0;
}

/* --- A feature */

/* Look at a slot of side k. An invalid row, in a file that was not checked, counts as empty. */
static void sp_many_see(const sp_merge *m, int k, sp_slot_type slot, sp_many_seen *seen)
{
    const sp_many_merge *own = (const sp_many_merge *)m->own;
    const sp_shard *side = sp_mix_side(m, k);
    const sp_adaptive *its = &side->learner->adaptive;
    const size_t labels = (size_t)sp_adaptive_places(its);
    seen->damaged = false;
    seen->merged = sp_mixture_of(&own->mixture, k);
    seen->head = (const sp_head *)(const void *)sp_shard_row(side, 0, slot);
    seen->column
        = (const sp_column *)(const void *)sp_shard_row(side, SP_BLOCK_COLUMNS, slot);
    for (int i = 0; i < 2; i++) {
        const double *row = sp_shard_row(side, sp_row_blocks[i], slot);
        seen->n[i] = sp_many_look(side->learner, sp_row_blocks[i], row, seen->room[i],
                                  &seen->entries[i]);
        if (!side->learner->table.borrowed)
            continue;
        if ((its->rows && ((const sp_head *)(const void *)row)->row.n != seen->n[i])
            || !sp_entries_are_sound(seen->entries[i], seen->n[i], labels, -SP_MARK_C, SP_MARK_C)) {
            seen->damaged = true;
            seen->n[i] = 0;
        }
    }
}

/* The next entry, from the i-th on, that has a label of the merged learner. */
static uint32_t sp_many_next(const sp_many_seen *seen, int row, uint32_t i)
{
    while (i < seen->n[row] && seen->merged[seen->entries[row][i].k] == SP_NO_LABEL)
        i++;
    return i;
}

/* Whether two sides with the same beginning have the same entries. */
static bool sp_many_same_entries(const sp_many_seen *one, const sp_many_seen *other, int row)
{
    uint32_t i = sp_many_next(one, row, 0);
    uint32_t j = sp_many_next(other, row, 0);
    while (i < one->n[row] && j < other->n[row]) {
        if (memcmp(&one->entries[row][i], &other->entries[row][j], sizeof(sp_entry)) != 0)
            return false;
        i = sp_many_next(one, row, i + 1);
        j = sp_many_next(other, row, j + 1);
    }
    return i == one->n[row] && j == other->n[row];
}

SP_PRIVATE bool sp_many_mix_same(const sp_merge *m, const sp_shard *shard, sp_slot_type own,
                                 sp_slot_type base)
{
    sp_many_seen its, ours;
    sp_many_see(m, (int)(shard - m->shards), own, &its);
    sp_many_see(m, m->n, base, &ours);
    return memcmp(its.head, ours.head, offsetof(sp_head, row)) == 0
           && memcmp(its.column, ours.column, sizeof(sp_column)) == 0
           && sp_many_same_entries(&its, &ours, 0) && sp_many_same_entries(&its, &ours, 1);
}

/* Unite the labels of the first n seen. -1 if out of memory. */
static int sp_many_unite(const sp_merge *m, int n)
{
    sp_many_merge *own = (sp_many_merge *)m->own;
    sp_mixture_begin(&own->mixture);
    for (int i = 0; i < 2 * n; i++) {
        const sp_many_seen *seen = &own->seen[i / 2];
        const int row = i % 2;
        for (uint32_t e = sp_many_next(seen, row, 0); e < seen->n[row];
             e = sp_many_next(seen, row, e + 1))
            sp_mixture_add(&own->mixture, seen->merged[seen->entries[row][e].k]);
    }
    return sp_mixture_end(&own->mixture, m);
}

/* Fill in the feature of the i-th seen, by united labels. */
static void sp_many_feature(const sp_merge *m, sp_slot_type slot, int i)
{
    sp_many_merge *own = (sp_many_merge *)m->own;
    const sp_many_seen *seen = &own->seen[i];
    const uint32_t *places = own->mixture.at;
    const sp_learner *its = sp_mix_side(m, m->touched[i].k)->learner;
    sp_feature *feature = sp_mixture_feature(&own->mixture, m, i, slot,
                                             its->adaptive.T - m->base->learner->adaptive.T);
    feature->s = seen->head->s;
    feature->cnt = seen->head->cnt;
    feature->om = seen->head->om;
    feature->column = *seen->column;
    for (uint32_t e = sp_many_next(seen, 0, 0); e < seen->n[0]; e = sp_many_next(seen, 0, e + 1)) {
        const sp_entry *entry = &seen->entries[0][e];
        const uint32_t at = places[seen->merged[entry->k]];
        feature->w[at] = entry->w;
        feature->G[at] = entry->G;
        feature->c[at] = entry->c;
    }
    for (uint32_t e = sp_many_next(seen, 1, 0); e < seen->n[1]; e = sp_many_next(seen, 1, e + 1)) {
        const sp_entry *entry = &seen->entries[1][e];
        feature->e[places[seen->merged[entry->k]]] = entry->c;
    }
}

/* Write the entries of a row, by united labels; w and G are NULL for e. -1 if out of memory. */
static int sp_many_put(const sp_many_merge *own, sp_sparse_rows *rows, sp_sparse *row,
                       const double *c, const double *w, const double *G, ptrdiff_t n)
{
    uint32_t used = 0;
    for (ptrdiff_t i = 0; i < n; i++)
        used += (float)c[i] != 0.0f || (G != NULL && (float)G[i] != 0.0f);
    if (used == 0)
        return 0;
    const int size = sp_row_size_for(used);
    const uint32_t block = sp_rows_take(rows, size);
    if (block == 0)
        return -1;
    sp_entry *entry = sp_rows_at(rows, block);
    for (ptrdiff_t i = 0; i < n; i++) {
        const float G_i = G == NULL ? 0.0f : (float)G[i];
        if ((float)c[i] == 0.0f && G_i == 0.0f)
            continue;
        entry->k = own->mixture.labels[i];
        entry->c = (float)c[i];
        entry->w = w == NULL ? 0.0f : (float)w[i];
        entry->G = G_i;
        entry++;
    }
    row->block = block;
    row->size = (uint32_t)size & 63;
    row->n = used & SP_ROW_MOST;
    return 0;
}

/* Write a feature, with n united labels, into its slot. `mixed`: om must be computed. -1 if out of
   memory. */
static int sp_many_write(sp_merge *m, sp_slot_type slot, const sp_feature *from, ptrdiff_t n,
                         bool mixed)
{
    const sp_many_merge *own = (const sp_many_merge *)m->own;
    const sp_adaptive *a = &m->to->adaptive;
    const sp_blocks blocks = sp_table_blocks(&m->to->table);
    sp_sparse_rows *rows = sp_many_rows(&m->to->table);
    sp_head *head = sp_head_of(m->to->table.blocks->chunks, slot);
    double sum, squares;
    head->s = from->s;
    head->cnt = (float)from->cnt;
    if (sp_many_put(own, rows, &head->row, from->c, from->w, from->G, n) < 0)
        return -1;
    sp_many_settle_row(a, rows, head, 1.0 / ((double)head->cnt + 1.0), own->all);
    if (from->column.n > 0.0) {
        sp_sparse *row = &sp_many_e(&m->to->table, slot)->row;
        if (sp_many_put(own, rows, row, from->e, NULL, NULL, n) < 0)
            return -1;
        *sp_column_of(&blocks, slot) = from->column;
        sp_many_sums(rows, row, a->rD, &sum, &squares);
        head->om = sp_om(from->column.since, own->all, squares, sum);
    }
    if (!mixed)
        head->om = (float)from->om;
    return 0;
}

/* Copy an untouched slot from the base, if more than two labels are known there, the first of all.
   -1 if out of memory. */
static int sp_many_keep(sp_merge *m, sp_slot_type slot, const sp_many_seen *seen)
{
    sp_table *table = &m->to->table;
    sp_sparse_rows *rows = sp_many_rows(table);
    const sp_blocks blocks = sp_table_blocks(table);
    sp_head *heads[2] = {sp_head_of(table->blocks->chunks, slot), NULL};
    *heads[0] = *seen->head;
    if (seen->column->n > 0.0) {
        *sp_column_of(&blocks, slot) = *seen->column;
        heads[1] = sp_many_e(table, slot);
    }
    for (int i = 0; i < 2 && heads[i] != NULL; i++) {
        sp_sparse row = {0};
        if (seen->n[i]) {
            row.size = (uint32_t)sp_row_size_for(seen->n[i]) & 63;
            row.n = seen->n[i] & SP_ROW_MOST;
            row.block = sp_rows_take(rows, (int)row.size);
            if (row.block)
                memcpy(sp_rows_at(rows, row.block), seen->entries[i],
                       seen->n[i] * sizeof(sp_entry));
        }
        heads[i]->row = row.block ? row : (sp_sparse){0};
        if (row.n && row.block == 0)
            return -1;
    }
    return 0;
}

/* Merge the features of these sides, the base last, into one. -1 if out of memory. */
static int sp_many_mix_feature(sp_merge *m, sp_slot_type slot, int sides)
{
    sp_many_merge *own = (sp_many_merge *)m->own;
    sp_mixture *u = &own->mixture;
    if (sp_many_unite(m, sides) < 0)
        return -1;
    for (int i = 0; i < sides; i++)
        sp_many_feature(m, slot, i);
    if (sides > 1)
        sp_merge_feature(&u->features[sides - 1], u->differing, m->n_touched, u->n, u->n, own->all,
                         m->scratch);
    return sp_many_write(m, slot, &u->features[sides - 1], u->n, sides > 1);
}

SP_PRIVATE int sp_many_mix_slot(sp_merge *m, sp_slot_type slot)
{
    sp_many_merge *own = (sp_many_merge *)m->own;
    const int sides = m->n_touched > 1 ? m->n_touched + 1 : 1;
    if (sp_table_chunk(&m->to->table, 0, slot >> SP_CHUNK_BITS) == NULL)
        return 0;
    for (int i = 0; i < sides; i++)
        sp_many_see(m, m->touched[i].k, m->touched[i].slot, &own->seen[i]);
    int failed = m->n_touched == 0 && m->base->learner->adaptive.rows
                     ? sp_many_keep(m, slot, own->seen)
                     : sp_many_mix_feature(m, slot, sides);
    for (int i = 0; i < sides; i++) {
        if (own->seen[i].damaged) /* so that sp_many_slots_fault finds it */
            sp_head_of(m->to->table.blocks->chunks, slot)->of.N = NAN;
    }
    return failed;
}
