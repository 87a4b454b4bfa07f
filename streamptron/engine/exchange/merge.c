#include "exchange/merge.h"

#include "exchange/mix_rows.h"
#include "exchange/mix_stay.h"
#include "exchange/sound.h"
#include "machine/machine.h"
#include "memory/compiler.h"
#include "memory/heap.h"
#include "memory/types.h"
#include "merge/mix.h"
#include "names/hash.h"
#include "names/index.h"
#include "names/key.h"
#include "table/table.h"

#include <math.h>
#include <string.h>

static void sp_mix_free(sp_merge *m)
{
    sp_forms_free(&m->forms);
    for (int k = 0, end = m->n; k < end; k++)
        sp_shard_free(&m->shards[k]);
    sp_free(m->parts);
    sp_free(m->touched);
    sp_free(m->terms);
    sp_free(m->gathered);
    sp_free(m->scratch);
    sp_machine_mix_free(m);
}

/* Memory for notes on each shard. -1 if out of memory; call sp_mix_free in either case. */
static int sp_mix_reserve(sp_merge *m)
{
    const sp_table *to = &m->to->table;
    m->parts = (sp_mix_part *)sp_malloc((size_t)m->n * sizeof(sp_mix_part));
    m->touched = (sp_mix_part *)sp_malloc((size_t)(m->n + 1) * sizeof(sp_mix_part));
    m->terms = (sp_terms *)sp_malloc((size_t)m->n * sizeof(sp_terms));
    m->scratch = (double *)sp_malloc((size_t)(3 * m->n) * sizeof(double));
    if (m->parts == NULL || m->touched == NULL || m->terms == NULL || m->scratch == NULL)
        return -1;
    if (to->layout.fields == 2 && to->average == SP_AVERAGE_UNIFORM && to->lanes == 1) {
        m->gathered = (double *)sp_malloc((size_t)(m->n + 1) * 2 * SP_CHUNK_SLOTS * sizeof(double));
        if (m->gathered == NULL)
            return -1;
    }
    return sp_machine_mix_reserve(m);
}

/* Add all names of a side, in their order, to an index without names. 0, or what is wrong. */
static int sp_names_take(const sp_shard *side, sp_index *names)
{
    sp_shard all = *side;
    all.first = SP_SLOTS_RESERVED;
    int fault = sp_names_find(&all, names);
    sp_free(all.merged);
    return fault || names->n_slots == all.n_slots ? fault : SP_SHARD_TWICE;
}

/* Unite all names; the base's come first, in their places. 0, or what is wrong, and with which
   shard. */
static int sp_unite(sp_merge *m, int *culprit)
{
    sp_index *names = &m->to->index;
    sp_shard *shard;
    const sp_index *base = &m->base->learner->index;
    const sp_index *start = base;
    uint64_t seed = names->seed_number;
    bool limited = sp_index_is_limited(names);
    int fault;
    for (int k = -1, end = m->n; k < end; k++) {
        *culprit = k;
        if (sp_names_fault(k < 0 ? m->base : &m->shards[k]))
            return SP_SHARD_KEY;
    }
    if (base->n_slots == SP_SLOTS_RESERVED && m->shards[0].keys == NULL)
        start = &m->shards[0].learner->index; /* the first shard's names come first anyway */
    if (start->lookup == NULL && start->seed_number == seed) {
        sp_index_free(names);
        if (sp_index_copy(names, start) < 0)
            return SP_SHARD_MEMORY;
    } else {
        start = base;
        *culprit = -1;
        fault = sp_names_take(m->base, names);
        if (fault)
            return fault;
    }
    if (limited)
        names->max_slots = SP_SLOT_MAX - 1;
    sp_names_prefixes(m->shards, m->n, base);
    if (start != base)
        m->shards[0].first = m->shards[0].n_slots;
    for (int k = 0, end = m->n; k < end; k++) {
        *culprit = k;
        shard = &m->shards[k];
        if (shard->first < base->n_slots && !limited && !names->bits)
            return SP_SHARD_NAMES;
        fault = sp_names_find(shard, names);
        if (fault)
            return fault;
    }
    for (int k = 0, end = m->n; k < end; k++) {
        *culprit = k;
        fault = sp_names_invert(&m->shards[k]);
        if (fault)
            return fault;
    }
    return 0;
}

/* Fill the untrained learner. 0, or what is wrong. */
static int sp_hold(sp_merge *m, int *culprit)
{
    sp_slot_type most = m->to->index.max_slots - SP_SLOTS_RESERVED;
    bool limited = sp_index_is_limited(&m->to->index);
    if (sp_machine_mix_form(m) < 0)
        return SP_SHARD_MEMORY;
    m->seldom = sp_seldom_of(m->to); /* after it got its form */
    if (sp_mix_reserve(m) < 0)
        return SP_SHARD_MEMORY;
    for (int k = 0; k < m->n; k++) {
        m->N += m->shards[k].n;
        if (m->shards[k].learner->serve.record > m->shards[m->holder].learner->serve.record)
            m->holder = k;
    }
    m->c0 = m->base->learner->table.c;
    int fault = sp_unite(m, culprit);
    if (fault)
        return fault;
    m->n_slots = m->to->index.n_slots;
    sp_mix_counters(m);
    sp_mix_clock(m);
    sp_mix_serving(m);
    if (sp_machine_mix_model(m) < 0)
        return SP_SHARD_MEMORY;
    if (sp_mix_rows(m) < 0 || sp_machine_mix_beside(m) < 0
        || (limited && sp_stay_limit(m, most) < 0))
        return SP_SHARD_MEMORY;
    return 0;
}

/* Fill the untrained learner with the contents of a single shard. 0, or what is wrong. */
static int sp_alone(sp_learner *to, sp_shard *shard)
{
    const sp_learner *its = shard->learner;
    sp_index *names = &to->index;
    int failed = sp_names_take(shard, names);
    if (failed)
        return failed;
    for (sp_slot_type slot = SP_SLOTS_RESERVED;
         sp_index_is_limited(names) && slot < shard->n_slots; slot++)
        *sp_index_stamp(names, slot) = sp_shard_stamp(shard, slot);
    sp_machine_free(to);
    sp_table_free(&to->table);
    failed = sp_table_copy(&to->table, &its->table);
    /* it must own all that it has before it can be freed */
    if (sp_machine_copy(to, its) + failed < 0)
        return SP_SHARD_MEMORY;
    for (int k = 0; k < SP_KEPT_KINDS; k++)
        to->fits[k] = its->fits[k];
    to->serve = its->serve;
    to->ceiling = its->ceiling;
    to->n_seen = its->n_seen;
    to->n_updates = its->n_updates;
    to->n_mistakes = its->n_mistakes;
    if (sp_index_is_limited(names)
        && to->ceiling.hand >= SP_MAX(names->n_slots, (sp_slot_type)SP_SLOTS_RESERVED + 1))
        return SP_SHARD_NUMBER;
    return 0;
}

/* Whether a side comes from a file or a delta, so that not all its numbers have been checked. */
static bool sp_is_unverified(const sp_shard *side)
{
    return side->keys != NULL || side->learner->table.borrowed;
}

SP_API int sp_learners_merge(sp_learner *to, const sp_shard *base, sp_shard *shards, int n,
                             int *culprit)
{
    sp_merge m;
    int fault;
    bool unverified = sp_is_unverified(base);
    memset(&m, 0, sizeof(sp_merge));
    m.to = to;
    m.seldom = sp_seldom_of(to);
    m.base = base;
    m.shards = shards;
    m.n = n;
    for (int k = 0; k < n; k++)
        unverified |= sp_is_unverified(&shards[k]);
    m.sound = !unverified && n > 1;
    if (n == 1)
        fault = sp_alone(to, shards);
    else {
        fault = sp_hold(&m, culprit);
        sp_mix_free(&m);
    }
    if (fault)
        return fault;
    if (sp_machine_ready(to) < 0)
        return SP_SHARD_MEMORY;
    if (n > 1)
        sp_machine_mixed(to);
    to->version += 1;
    if (sp_learner_unsound(to, m.sound) == NULL)
        return 0;
    return unverified ? SP_SHARD_NUMBER : SP_SHARD_LARGE;
}
