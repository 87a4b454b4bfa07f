/* What is known of a merge while it runs; and what the merged learner keeps once.

   Counters: the base's and what is new in each shard (of updates taken back: merge/terms.h). The
   averages' clock goes on by the events of
   all shards. Scales, calibrators and tallies (learner/serve.h) are means, weighted by events, for
   sums would weigh as many times too much as there are shards. What a machine keeps once, it mixes
   itself. */

#ifndef STREAMPTRON_MERGE_MIX_H
#define STREAMPTRON_MERGE_MIX_H

#include "learner/learner.h"
#include "memory/types.h"
#include "merge/shard.h"
#include "merge/terms.h"

/* a side's say in the slot or chunk at hand */
typedef struct sp_mix_part {
    int k;
    sp_slot_type slot; /* its own */
    const double *row; /* of the block at hand; NULL: its outputs lie otherwise, */
    const double *field; /* and of the output: zeros for what there is not, */
    double sign;         /* for which side it speaks, */
    double factor;       /* and by what its averaging term is multiplied */
} sp_mix_part;

typedef struct sp_merge {
    sp_learner *to;
    const struct sp_seldom *seldom; /* what its machine does; see learner/machine.h */
    const sp_shard *base;
    sp_shard *shards;
    int n;
    double N; /* events since the base */
    double c0;
    int holder; /* whose pocket it is */
    sp_slot_type n_slots;
    sp_mix_part *parts; /* those who differ in the chunk at hand, */
    int n_parts;
    sp_mix_part *touched; /* and in the slot; behind them the base */
    int n_touched;
    sp_terms *terms;
    double *gathered; /* a chunk of each side, where slots have a weight and its uniform average */
    double *scratch;
    bool columns; /* AdaptiveClassifier: whether a side may have any */
    bool sound;   /* all weights are: those of the base, and those that were mixed in a loop */
    void *own;    /* the machine's; see learner/machine.h */
    sp_forms forms;
} sp_merge;

/* The k-th of the shards; behind them the base. */
static inline const sp_shard *sp_mix_side(const sp_merge *m, int k)
{
    return k == m->n ? m->base : &m->shards[k];
}

/* Whether a ceiling has dropped a feature of a shard, which has it again: elsewhere than the base.
 */
static inline bool sp_mix_is_anew(const sp_merge *m, sp_slot_type own, sp_slot_type slot)
{
    return slot < m->base->n_slots && own != slot && sp_index_is_limited(&m->to->index);
}

/* Scales, calibrators and tallies are means, weighted by events; who leads is put to the vote. */
SP_PRIVATE void sp_mix_serving(sp_merge *m);

/* The averages' clock has gone on by the events of all shards, the pocket is the holder's. */
SP_PRIVATE void sp_mix_clock(sp_merge *m);

SP_PRIVATE void sp_mix_counters(sp_merge *m);

#endif
