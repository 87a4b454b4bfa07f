#include "merge/mix.h"

#include "learner/calibrate.h"
#include "learner/serve.h"
#include "table/layout.h"
#include "table/table.h"

#include <math.h>
#include <string.h>

/* Add a share of a shard's calibration of one vector. */
static void sp_add_fit(sp_learner *to, const sp_shard *shard, int kind, double share)
{
    sp_calibrator fit = shard->learner->fits[kind];
    double sums[SP_FIT_NUMBERS], numbers[SP_FIT_NUMBERS];
    if (sp_learner_several(to) && !sp_learner_several(shard->learner))
        sp_calibrator_split(&fit);
    fit.B = *shard->signs < 0.0 ? 0.0 - fit.B : fit.B;
    sp_fit_read(&shard->learner->serve.scale[kind], &fit, numbers);
    sp_fit_read(&to->serve.scale[kind], &to->fits[kind], sums);
    for (int i = 0; i < SP_FIT_NUMBERS; i++)
        sums[i] += share * numbers[i];
    sp_fit_write(sums, &to->serve.scale[kind], &to->fits[kind]);
}

SP_PRIVATE void sp_mix_serving(sp_merge *m)
{
    sp_serve *serve = &m->to->serve;
    const sp_serve *its;
    double votes[2];
    serve->record = m->shards[m->holder].learner->serve.record;
    if (m->N == 0.0)
        return;
    memset(m->to->fits, 0, sizeof(m->to->fits));
    memset(serve->scale, 0, sizeof(serve->scale));
    memset(votes, 0, sizeof(votes));
    serve->G[0] = 0.0;
    for (int k = 0, end = m->n; k < end; k++) {
        its = &m->shards[k].learner->serve;
        double share = m->shards[k].n / m->N;
        for (int i = 0; i < SP_KEPT_KINDS; i++)
            sp_add_fit(m->to, &m->shards[k], i, share);
        for (int i = 0; i < 2; i++) {
            for (int q = 0; q < 2; q++)
                serve->T[i][q] += share * its->T[i][q];
            serve->G[i] += share * its->G[i];
            votes[i] += share * its->lead[i];
        }
    }
    for (int q = 0; q < 2; q++)
        serve->lead[q] = votes[q] > 0.5;
}

SP_PRIVATE void sp_mix_clock(sp_merge *m)
{
    sp_table *to = &m->to->table;
    const sp_table *base = &m->base->learner->table;
    const sp_table *its;
    double least = exp2(-(double)SP_FOLD_BITS);
    to->c = base->c;
    to->s = base->s;
    to->fold = base->fold;
    to->epoch = m->shards[m->holder].learner->table.epoch;
    if (to->average == SP_AVERAGE_UNIFORM)
        to->c = base->c + m->N;
    if (to->average != SP_AVERAGE_EXPONENTIAL)
        return;
    for (int k = 0, end = m->n; k < end; k++) {
        its = &m->shards[k].learner->table;
        to->s *= its->s / base->s;
        to->fold += its->fold - base->fold;
        if (to->s > 1.0) {
            to->s *= least;
            to->fold -= 1;
        } else if (to->s < least) {
            to->s *= exp2((double)SP_FOLD_BITS);
            to->fold += 1;
        }
    }
}

SP_PRIVATE void sp_mix_counters(sp_merge *m)
{
    const sp_learner *base = m->base->learner;
    const sp_learner *its;
    uint64_t taken_back = 0;
    m->to->n_seen = base->n_seen;
    m->to->n_updates = base->n_updates;
    m->to->n_mistakes = base->n_mistakes;
    m->to->ceiling = base->ceiling;
    for (int k = 0; k < m->n; k++) {
        its = m->shards[k].learner;
        m->to->n_seen += its->n_seen - base->n_seen;
        if (its->n_updates >= base->n_updates)
            m->to->n_updates += its->n_updates - base->n_updates;
        else
            taken_back = SP_MAX(taken_back, base->n_updates - its->n_updates);
        m->to->n_mistakes += its->n_mistakes - base->n_mistakes;
        m->to->ceiling.clock += its->ceiling.clock - base->ceiling.clock;
        m->to->ceiling.n_evicted += its->ceiling.n_evicted - base->ceiling.n_evicted;
    }
    m->to->n_updates -= taken_back;
}
