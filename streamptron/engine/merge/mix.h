/* The state of a merge while it runs; and the merge of what a model keeps once.

   Counters are the base's plus what is new in each shard (for undone updates see merge/terms.h).
   The averages' clock advances by the events of all shards. Scales, calibrators and tallies
   (learner/serve.h) are means, weighted by events: a sum would be too large by a factor of the
   number of shards. What a machine keeps once per model, it merges itself. */

#ifndef STREAMPTRON_MERGE_MIX_H
#define STREAMPTRON_MERGE_MIX_H

#include "learner/learner.h"
#include "memory/types.h"
#include "merge/shard.h"
#include "merge/terms.h"

/* a side's part in the current slot or chunk */
typedef struct sp_mix_part {
    int k;
    sp_slot_type slot; /* the side's own slot */
    const double *row; /* of the current block; NULL: its outputs are stored in another way, */
    const double *field; /* and of the output; zeros where there is none, */
    double sign;         /* the sign of its score, */
    double factor;       /* and the factor of its averaging term */
} sp_mix_part;

typedef struct sp_merge {
    sp_learner *to;
    const struct sp_seldom *seldom; /* what its machine does; see learner/machine.h */
    const sp_shard *base;
    sp_shard *shards;
    int n;
    double N; /* events since the base */
    double c0;
    int holder; /* the side whose pocket is kept */
    sp_slot_type n_slots;
    sp_mix_part *parts; /* the shards that differ in the current chunk, */
    int n_parts;
    sp_mix_part *touched; /* and in the slot; the base is behind them */
    int n_touched;
    sp_terms *terms;
    double *gathered; /* a chunk of each side, if slots have a weight and its uniform average */
    double *scratch;
    bool columns; /* AdaptiveClassifier: whether a side may have any */
    bool sound;   /* all weights so far are sound: the base's, and those merged in a loop */
    void *own;    /* the machine's; see learner/machine.h */
    sp_forms forms;
} sp_merge;

/* The k-th shard; k = n: the base. */
static inline const sp_shard *sp_mix_side(const sp_merge *m, int k)
{
    return k == m->n ? m->base : &m->shards[k];
}

/* Whether a shard has a feature again that its ceiling had dropped: not in the base's slot.
 */
static inline bool sp_mix_is_anew(const sp_merge *m, sp_slot_type own, sp_slot_type slot)
{
    return slot < m->base->n_slots && own != slot && sp_index_is_limited(&m->to->index);
}

/* Scales, calibrators and tallies are means, weighted by events; the shards vote on who leads. */
SP_PRIVATE void sp_mix_serving(sp_merge *m);

/* The averages' clock advances by the events of all shards; the pocket is the holder's. */
SP_PRIVATE void sp_mix_clock(sp_merge *m);

SP_PRIVATE void sp_mix_counters(sp_merge *m);

#endif
