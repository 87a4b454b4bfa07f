#include "adaptive/mix.h"

#include "adaptive/adaptive.h"
#include "memory/heap.h"
#include "merge/outputs.h"
#include "merge/terms.h"

#include <string.h>

enum { SP_TWO_LABELS = 2 };

/* This machine's data for a merge (sp_merge.own). */
typedef struct sp_adaptive_merge {
    sp_view *views;       /* of the shards, then of the base */
    sp_feature *features; /* likewise */
    const sp_feature **differing;
    double *numbers; /* the features point into it */
    double all;      /* the events, plus one for each place */
} sp_adaptive_merge;

SP_PRIVATE void sp_adaptive_mix_free(sp_merge *m)
{
    sp_adaptive_merge *own = (sp_adaptive_merge *)m->own;
    if (own != NULL) {
        sp_free(own->views);
        sp_free(own->features);
        sp_free(own->differing);
        sp_free(own->numbers);
    }
    sp_free(own);
    m->own = NULL;
}

static void sp_mix_view(const sp_merge *m, const sp_shard *shard, sp_view *view)
{
    view->gained = shard->learner->adaptive.T - m->base->learner->adaptive.T;
    view->blocks = sp_table_blocks(&shard->learner->table);
    view->label = shard->labels;
    view->sign = *shard->signs;
}

SP_PRIVATE void sp_adaptive_mix_look(sp_merge *m)
{
    for (int k = 0; k <= m->n; k++) {
        const sp_shard *side = sp_mix_side(m, k);
        const sp_table *its = &side->learner->table;
        for (size_t chunk = 0; chunk < its->n_chunks && !m->columns; chunk++)
            m->columns = sp_shard_chunk(side, SP_BLOCK_COLUMNS, chunk) != its->zeros;
    }
}

SP_PRIVATE int sp_adaptive_mix_reserve(sp_merge *m)
{
    sp_adaptive_merge *own = (sp_adaptive_merge *)sp_calloc(1, sizeof(sp_adaptive_merge));
    m->own = own;
    if (own == NULL)
        return -1;
    const ptrdiff_t size = 2 + 2 * SP_TWO_LABELS;
    own->views = (sp_view *)sp_malloc(((size_t)(m->n + 1)) * sizeof(sp_view));
    own->features = (sp_feature *)sp_malloc(((size_t)(m->n + 1)) * sizeof(sp_feature));
    own->differing = (const sp_feature **)sp_malloc((size_t)m->n * sizeof(sp_feature *));
    own->numbers = (double *)sp_malloc((size_t)((m->n + 1) * size) * sizeof(double));
    if (own->views == NULL || own->features == NULL || own->differing == NULL
        || own->numbers == NULL)
        return -1;
    for (int k = 0, end = m->n + 1; k < end; k++) {
        sp_mix_view(m, sp_mix_side(m, k), &own->views[k]);
        own->features[k].w = own->numbers + k * size;
        own->features[k].G = own->features[k].w + 1;
        own->features[k].c = own->features[k].G + 1;
        own->features[k].e = own->features[k].c + SP_TWO_LABELS;
    }
    sp_adaptive_mix_look(m);
    return 0;
}

static double sp_mix_count_of(const sp_shard *shard, ptrdiff_t label)
{
    return shard->labels[label] >= 0 ? shard->learner->adaptive.D[shard->labels[label]] : 0.0;
}

/* Read the intercept (part 0) or naive Bayes' weight (1) of two labels' single output. */
static void sp_once(const sp_shard *shard, int part, double *w, double *G)
{
    const sp_adaptive *a = &shard->learner->adaptive;
    *w = part ? a->wn : *a->w0;
    *G = part ? a->Gn : *a->G0;
    if (part == 0 && *shard->signs < 0.0)
        *w = 0.0 - *w;
}

/* The watch of a side, or that of one of its layers of curves and surfaces. */
static void sp_mix_drift_of(const sp_shard *side, int layer, double *numbers)
{
    const sp_adaptive *its = &side->learner->adaptive;
    sp_drift_read(layer < 0 ? &its->drift : &its->shapes.of[layer].drift, numbers);
}

/* The same for the merged learner: the mean over the shards, weighted by how much each has
   learned. */
static void sp_mix_drift(sp_merge *m, int layer)
{
    sp_adaptive *to = &m->to->adaptive;
    double mean[SP_DRIFT_NUMBERS] = {0.0};
    double its[SP_DRIFT_NUMBERS];
    if (m->N == 0.0)
        sp_mix_drift_of(m->base, layer, mean);
    for (int k = 0; m->N > 0.0 && k < m->n; k++) {
        sp_mix_drift_of(&m->shards[k], layer, its);
        for (int i = 0; i < SP_DRIFT_NUMBERS; i++)
            mean[i] += m->shards[k].n / m->N * its[i];
    }
    sp_drift_write(layer < 0 ? &to->drift : &to->shapes.of[layer].drift, mean);
}

/* A side's alarm for a label of the merged learner; NULL: the label has not come there. */
static const sp_alarm *sp_mix_alarm(const sp_shard *side, ptrdiff_t label)
{
    const ptrdiff_t own = label < 0 ? -1 : side->labels[label];
    return own < 0 ? NULL : sp_alarms_find(&side->learner->adaptive.alarms, own);
}

/* q of the merged learner: the mean over the shards that know the label, weighted by how much each
   has learned. */
static void sp_mix_alarms(sp_merge *m)
{
    const sp_alarms *to = &m->to->adaptive.alarms;
    for (ptrdiff_t i = 0; i < to->n; i++) {
        const sp_alarm *its = sp_mix_alarm(m->base, to->of[i].label);
        double N = 0.0;
        to->of[i].q = its == NULL ? 0.0 : its->q;
        for (int k = 0; k < m->n; k++)
            N += sp_mix_alarm(&m->shards[k], to->of[i].label) != NULL ? m->shards[k].n : 0.0;
        if (N == 0.0)
            continue;
        to->of[i].q = 0.0;
        for (int k = 0; k < m->n; k++) {
            its = sp_mix_alarm(&m->shards[k], to->of[i].label);
            if (its != NULL)
                to->of[i].q += m->shards[k].n / N * its->q;
        }
    }
}

/* m is the mean over the shards, weighted by events; with more than two labels, only over those
   that know it. */
static void sp_mix_usual_odds(sp_merge *m)
{
    sp_adaptive *to = &m->to->adaptive;
    const sp_adaptive *base = &m->base->learner->adaptive;
    double N = 0.0;
    to->m = base->m;
    to->nm = base->nm;
    for (int k = 0; k < m->n; k++) {
        const double events = m->shards[k].learner->adaptive.nm;
        to->nm += events - base->nm;
        N += !to->rows || events > 0.0 ? m->shards[k].n : 0.0;
    }
    to->nm = SP_MIN(SP_MAX(to->nm, 0.0), 1024.0);
    if (N == 0.0)
        return;
    to->m = 0.0;
    for (int k = 0; k < m->n; k++) {
        const sp_adaptive *its = &m->shards[k].learner->adaptive;
        if (!to->rows || its->nm > 0.0)
            to->m += m->shards[k].n / N * its->m;
    }
}

/* T and D. T loses what the labels' counts have lost. */
static void sp_mix_events_counted(sp_merge *m, ptrdiff_t places)
{
    sp_adaptive *to = &m->to->adaptive;
    double loss = 0.0, all = to->T = m->base->learner->adaptive.T;
    for (int k = 0; k < m->n; k++)
        sp_merge_count(&to->T, &loss, all, m->shards[k].learner->adaptive.T);
    bool lost = loss < 0.0;
    double total = all;
    for (ptrdiff_t j = 0; j < places; j++) {
        const double D0 = sp_mix_count_of(m->base, j);
        double D = D0;
        loss = 0.0;
        for (int k = 0, end = m->n; k < end; k++)
            sp_merge_count(&D, &loss, D0, sp_mix_count_of(&m->shards[k], j));
        lost = lost || loss < 0.0;
        D += loss;
        sp_adaptive_set_count(to, j, D);
        total += D - D0;
    }
    if (lost)
        to->T = SP_MAX(total, 0.0);
}

SP_PRIVATE void sp_adaptive_mix_events(sp_merge *m, ptrdiff_t places)
{
    sp_adaptive *to = &m->to->adaptive;
    const sp_adaptive *base = &m->base->learner->adaptive;
    double *w_k = m->scratch;
    double *G_k = m->scratch + m->n;
    to->tau = base->tau;
    to->Gtau = base->Gtau;
    for (int k = 0; k < m->n; k++) {
        const sp_adaptive *its = &m->shards[k].learner->adaptive;
        w_k[k] = its->tau;
        G_k[k] = its->Gtau;
    }
    sp_mix_usual_odds(m);
    sp_merge_weight(&to->tau, &to->Gtau, w_k, G_k, m->n);
    to->tau = SP_MIN(SP_MAX(to->tau, SP_TAU_LEAST), SP_TAU_MOST);
    for (int layer = -1; layer < to->shapes.n_layers; layer++)
        sp_mix_drift(m, layer);
    sp_mix_alarms(m);
    sp_mix_events_counted(m, places);
}

SP_PRIVATE int sp_adaptive_mix_model(sp_merge *m)
{
    sp_adaptive_merge *own = (sp_adaptive_merge *)m->own;
    sp_adaptive *to = &m->to->adaptive;
    double *w_k = m->scratch;
    double *G_k = m->scratch + m->n;
    double w, G;
    if (sp_adaptive_room(to, SP_TWO_LABELS) < 0)
        return -1;
    sp_adaptive_mix_events(m, SP_TWO_LABELS);
    own->all = to->T + (double)SP_TWO_LABELS;
    for (int part = 0; part < 2; part++) {
        sp_once(m->base, part, &w, &G);
        for (int k = 0; k < m->n; k++)
            sp_once(&m->shards[k], part, &w_k[k], &G_k[k]);
        sp_merge_weight(&w, &G, w_k, G_k, m->n);
        if (part == 0) {
            *to->w0 = w;
            *to->G0 = G;
        } else {
            to->wn = w;
            to->Gn = G;
        }
    }
    return 0;
}

/* A slot that views can read: it has a chunk in every block. */
static sp_slot_type sp_view_slot(const sp_shard *shard, sp_slot_type slot)
{
    slot = sp_shard_place(shard, slot);
    return slot >> SP_CHUNK_BITS < shard->learner->table.n_chunks ? slot
                                                                  : (sp_slot_type)SP_SLOT_NULL;
}

/* Whether a side's slot is not a column, and has the form that the merged learner's has. */
static bool sp_lies_as_word(const sp_shard *side, sp_slot_type slot)
{
    const double *column = sp_shard_row(side, SP_BLOCK_COLUMNS, slot);
    return side->plain && side->labels[0] == 0 && side->labels[1] == 1
           && !(((const sp_column *)(const void *)column)->n > 0.0);
}

/* Merge a feature's row of AdaptiveClassifier. */
static void sp_mix_feature(const sp_merge *m, sp_slot_type slot)
{
    const sp_adaptive_merge *own = (const sp_adaptive_merge *)m->own;
    sp_blocks blocks = sp_table_blocks(&m->to->table);
    sp_feature *to = &own->features[m->n];
    sp_mix_part *part = m->touched;
    if (m->n_touched == 1 && sp_lies_as_word(&m->shards[part->k], part->slot)) {
        memcpy(sp_head_of(m->to->table.blocks->chunks, slot),
               sp_shard_row(&m->shards[part->k], 0, part->slot), sizeof(sp_head));
        return;
    }
    for (int i = 0, end = m->n_touched; i < end; i++) {
        part = &m->touched[i];
        sp_feature_read(&own->views[part->k], sp_view_slot(&m->shards[part->k], part->slot),
                        SP_TWO_LABELS, &own->features[part->k]);
        own->features[part->k].anew = sp_mix_is_anew(m, part->slot, slot);
        own->differing[i] = &own->features[part->k];
    }
    if (m->n_touched == 1) {
        sp_feature_write(&blocks, slot, SP_TWO_LABELS, own->differing[0]);
        return;
    }
    sp_feature_read(&own->views[m->n], sp_view_slot(m->base, sp_base_slot(m, slot)), SP_TWO_LABELS,
                    to);
    sp_merge_feature(to, own->differing, m->n_touched, 1, SP_TWO_LABELS, own->all, m->scratch);
    sp_merge_om(to, SP_TWO_LABELS, own->all, m->to->adaptive.rD);
    sp_feature_write(&blocks, slot, SP_TWO_LABELS, to);
}

/* Whether a shard has a column among the slots of a chunk. */
static bool sp_mix_has_columns(const sp_merge *m, size_t chunk)
{
    sp_slot_type first = (sp_slot_type)(chunk << SP_CHUNK_BITS);
    sp_slot_type last = m->columns ? SP_MIN(first + SP_CHUNK_SLOTS, m->n_slots) : first;
    for (sp_slot_type slot = first; slot < last; slot++) {
        for (int i = 0; i <= m->n_parts; i++) {
            const int k = i < m->n_parts ? m->parts[i].k : m->n;
            const double *row
                = sp_shard_row(sp_mix_side(m, k), SP_BLOCK_COLUMNS, sp_side_slot(m, k, slot));
            if (((const sp_column *)(const void *)row)->n > 0.0)
                return true;
        }
    }
    return false;
}

SP_PRIVATE bool sp_adaptive_mix_writes(const sp_merge *m, ptrdiff_t block, size_t chunk)
{
    return block > 0 ? sp_mix_has_columns(m, chunk) : sp_mix_writes(m, block, chunk);
}

SP_PRIVATE int sp_adaptive_mix_slot(sp_merge *m, sp_slot_type slot)
{
    sp_table *to = &m->to->table;
    if (m->n_touched) {
        sp_mix_feature(m, slot);
        return 0;
    }
    for (ptrdiff_t b = 0, end = m->base->learner->table.n_blocks; b < end; b++) {
        if (sp_table_chunk(to, b, slot >> SP_CHUNK_BITS) != NULL)
            memcpy(sp_table_chunk(to, b, slot >> SP_CHUNK_BITS)
                       + (slot & SP_CHUNK_MASK) * (uint32_t)to->width,
                   sp_shard_row(m->base, b, sp_base_slot(m, slot)),
                   (size_t)to->width * sizeof(double));
    }
    return 0;
}
