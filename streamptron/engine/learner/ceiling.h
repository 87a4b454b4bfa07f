/* The ceiling: which feature leaves when there is no slot for a new one.

   The vocabulary of a stream never stops growing; memory must. Under a ceiling (max_features) a
   full model gives a new feature the slot of an old one. That loses the old feature's weight in
   events in which the feature comes again. So the feature with the smallest expected loss leaves:

       loss  =  size^2 / age

       size   the largest |weight| of the feature, over all labels and kept vectors; of
              AdaptiveClassifier om |w| sqrt(cnt), in the letters of adaptive/adaptive.h
       age    the events since it last occurred in a labelled one, counting only events that made
              features leave

   A feature that has been away for `age` events can be expected about once in as many events. So
   the loss is the mean square by which the scores would change. With weight 10 a feature may stay
   away a hundred times as long as with weight 1. No unit or scale has to be chosen.
   (docs/decisions.md says what else was tried.)

   Finding the smallest loss of all would take a search over all slots. Instead a hand goes round
   over the slots, as on a clock. For each new feature it passes 16 slots, and the feature with the
   smallest loss among them leaves:

       slots   ... | 3.0  0.02  .  1.5 ... 0.4 | 0.7 ...     the loss of each; ".": in the event
                    ^hand        0.02 leaves     ^then

   Features of the event itself are skipped. So an insertion costs the same however large the model
   is. No feature is looked at again before the hand has gone all the way round, so a new one has
   time to show what it is worth. The outcome depends only on the stream, not on hashes or
   addresses. If the hand gets back to its start and every feature is in the current event, the
   event has more features than the ceiling allows, and those without a slot are dropped at once.

   Time is counted in 32 bits. A stamp too old for that is brought up to SP_AGE_MAX when the hand
   passes it, which happens at least once in 2^28 ticks.

   All data of the feature that leaves is cold in memory, as no event had it lately. So the slots
   where the hand will stop next are prefetched, and old entries are removed from the index a few at
   a time (sp_ceiling_forget).

   Memory may run out half way. So the event records what each slot was before it changes (sp_gone),
   and the weights of the features that left are cleared only at the end. Then either everything is
   settled (sp_ceiling_settle) or everything is put back (sp_ceiling_rewind). */

#ifndef STREAMPTRON_LEARNER_CEILING_H
#define STREAMPTRON_LEARNER_CEILING_H

#include "events/event.h"
#include "memory/types.h"
#include "names/index.h"
#include "table/table.h"

#define SP_AGE_MAX (UINT32_C(1) << 31)

enum {
    SP_LOOKS = 16,
    SP_GONE_MAX = 8, /* index entries that may outlast their keys */
};

typedef struct sp_ceiling {
    sp_slot_type hand; /* the next slot to look at */
    uint32_t clock;    /* events that made features leave, modulo 2^32 */
    uint64_t n_evicted;
} sp_ceiling;

static inline void sp_ceiling_init(sp_ceiling *ceiling)
{
    ceiling->hand = SP_SLOTS_RESERVED;
    ceiling->clock = 0;
    ceiling->n_evicted = 0;
}

/* Give slots to those features of entries first .. last - 1 that have none, as far as possible.

   -1 if out of memory. `ticked`: whether the clock has advanced for this event. Call
   sp_ceiling_settle or sp_ceiling_rewind in the end. */
SP_HOT int sp_ceiling_insert(sp_ceiling *ceiling, sp_index *index, const sp_table *table,
                             sp_event *event, ptrdiff_t first, ptrdiff_t last, bool *ticked);

/* All went well: clear what has left, and stamp the event's features as seen. */
SP_HOT void sp_ceiling_settle(const sp_ceiling *ceiling, sp_index *index, sp_table *table,
                              sp_event *event);

/* Put back what has left, the latest first. Stamps brought up to SP_AGE_MAX stay. */
SP_HOT void sp_ceiling_rewind(sp_ceiling *ceiling, const sp_ceiling *before, sp_index *index,
                              sp_event *event);

#endif
