/* An event in scratch: what a door writes and the path reads.

       keys[i]    the feature's name          written by a door
       values[i]  its value, finite, not 0    written by a door
       slots[i]   where its weights are       found by the index
       hashes[i]  of keys[i]                  kept for inserting the feature later

   Entry 0 is the intercept where the learner has one.

   Candidates are several events in one scratch, one after the other: candidate i is the entries
   from ends[i - 1] to ends[i].

   The scratch remembers the last event. predict_one and learn_one are usually called with the same
   event in turn. So a door compares as it writes, and only the entries from the first new name on
   are looked up. The comparison is exact: by the values of the keys. What is remembered is dropped
   if the index has changed in the meantime.

   Scored by AdaptiveClassifier, an event may have gaps of columns behind its entries
   (adaptive/gaps.h). They are the model's and not the event's: `n` counts them until the path is
   done with it.

   Scratch grows with the largest event, and is freed when a much smaller event follows. */

#ifndef STREAMPTRON_EVENTS_EVENT_H
#define STREAMPTRON_EVENTS_EVENT_H

#include "events/step.h"
#include "events/verdict.h"
#include "memory/arena.h"
#include "memory/types.h"
#include "names/index.h"
#include "names/key.h"

enum {
    SP_EVENT_LARGE = 1 << 14, /* entries, a megabyte: larger scratch is freed again */
};

/* a feature that is paired, see events/pairs.h */
typedef struct sp_half {
    const uint8_t *p; /* its name in canonical bytes */
    size_t n;
    uint64_t head; /* the first eight of them, to compare by */
    ptrdiff_t at;  /* its entry */
    int field;
} sp_half;

/* The head of what a machine (learner/machine.h) keeps about an event for itself, beside its
   scores. */
typedef struct sp_scratch_head sp_scratch_head;

typedef struct sp_scratch_kind {
    size_t size; /* of an empty one */
    size_t (*bytes)(const sp_scratch_head *head);
    void (*free)(sp_scratch_head *head); /* frees what it holds, but not the scratch itself */
} sp_scratch_kind;

struct sp_scratch_head {
    const sp_scratch_kind *kind;
};

typedef struct sp_event {
    ptrdiff_t n;
    ptrdiff_t capacity;
    sp_key *keys;
    double *values;
    sp_slot_type *slots;
    uint64_t *hashes;
    const uint64_t **starts; /* where in the index the search for a key starts */
    ptrdiff_t n_found;       /* leading entries whose slots are known */
    ptrdiff_t n_hashed;  /* leading entries whose hashes are known: all for a text, else none */
    ptrdiff_t n_last;    /* entries of the last event, to compare with */
    ptrdiff_t n_known;   /* entries that the next event may be compared with */
    bool same;           /* names and values are those of the last event */
    uint64_t generation; /* of the index when the slots were found */
    uint32_t *longs;     /* entries whose keys' bytes are the caller's */
    ptrdiff_t n_longs;
    sp_arena text;          /* bytes of keys that the door had to encode */
    ptrdiff_t n_candidates; /* 0: it is one event */
    ptrdiff_t *ends;
    ptrdiff_t ends_capacity;
    uint32_t *common; /* a hash table for what two candidates have in common */
    ptrdiff_t n_common;
    /* pairs of features, behind the entries that the door has written */
    bool paired;               /* they are there */
    ptrdiff_t n_given;         /* then: how many the door has written */
    ptrdiff_t n_last_paired;   /* entries of the last event with its pairs; 0: it had none */
    int unfit;                 /* why they cannot be made; 0: they can be */
    ptrdiff_t unfit_candidate; /* of which candidate */
    uint64_t most_pairs;       /* how many were allowed */
    uint64_t n_pairs;          /* how many there would be, with products of 0 */
    sp_half *halves;
    ptrdiff_t *members; /* numbers of halves, field by field */
    ptrdiff_t halves_capacity;
    ptrdiff_t n_halves;
    ptrdiff_t
        *field_starts; /* where in members those of each field start, and the last one's end */
    sp_arena names;    /* of halves and pairs */
    /* what the path found out about it */
    double *scores;     /* by kept vector, then by choice */
    ptrdiff_t n_scores; /* how many choices there are */
    ptrdiff_t scores_capacity;
    uint64_t scored_version; /* of the learner that gave the scores; 0: none */
    ptrdiff_t n_gaps;        /* gaps behind the entries, made by scoring */
    bool gapped;             /* n counts them */
    sp_verdict *verdicts;    /* of each kept vector; behind them are the scores */
    int judged;              /* which of them are made, a bit each */
    sp_step step;
    sp_scratch_head *scratch;   /* a machine's; NULL: none */
    sp_gone *gone; /* under a ceiling: what its slots were before it is learned */
    ptrdiff_t gone_capacity;
    ptrdiff_t n_gone;
    ptrdiff_t n_forgotten; /* those of them whose index entries have been removed */
} sp_event;

typedef struct sp_writer {
    /* What changes with every entry, so that a door can keep it in registers. */
    sp_key *keys;
    double *values;
    ptrdiff_t n;
    ptrdiff_t n_same; /* entries up to here may equal those of the last event */
    bool changed;
    uint32_t *longs;
    ptrdiff_t n_longs;
} sp_writer;

SP_API void sp_event_init(sp_event *event);

SP_API void sp_event_free(sp_event *event);

static inline size_t sp_event_bytes(const sp_event *event)
{
    return (size_t)event->capacity
               * (sizeof(sp_key) + sizeof(double) + sizeof(sp_slot_type) + 2 * sizeof(uint64_t)
                  + sizeof(uint32_t))
           + (size_t)event->ends_capacity * sizeof(ptrdiff_t)
           + (size_t)event->n_common * sizeof(uint32_t)
           + 3 * sizeof(sp_verdict) * (event->verdicts != NULL)
           + (size_t)event->scores_capacity * sizeof(double) + sp_step_bytes(&event->step)
           + (event->scratch == NULL ? 0 : event->scratch->kind->bytes(event->scratch))
           + (size_t)event->halves_capacity * (sizeof(sp_half) + sizeof(ptrdiff_t))
           + (size_t)event->gone_capacity * sizeof(sp_gone) + event->text.bytes
           + event->names.bytes;
}

/* Room for n entries; -1 if out of memory. */
SP_PRIVATE int sp_event_reserve(sp_event *event, ptrdiff_t n);

/* Room for n scores, and for the verdicts of so many kept vectors; -1 if out of memory. */
SP_PRIVATE int sp_event_reserve_scores(sp_event *event, int n_kinds, ptrdiff_t n);

/* Room to write down a slot for each entry; -1 if out of memory. */
SP_HOT int sp_event_reserve_gone(sp_event *event);

/* How many gaps n counts: they are the last. */
static inline ptrdiff_t sp_event_gaps(const sp_event *event)
{
    return event->gapped ? event->n_gaps : 0;
}

/* How many entries the door has written: behind them are pairs and gaps. */
static inline ptrdiff_t sp_event_given(const sp_event *event)
{
    return event->paired ? event->n_given : event->n - sp_event_gaps(event);
}

/* Leave the gaps out again. */
static inline void sp_event_close_gaps(sp_event *event)
{
    if (event->gapped) {
        event->n -= event->n_gaps;
        event->n_found = event->n_found < event->n ? event->n_found : event->n;
    }
    event->gapped = false;
}

/* Count the gaps again, of an event that was scored before. */
static inline void sp_event_open_gaps(sp_event *event)
{
    if (!event->gapped && event->n_gaps)
        event->n = event->n_found = event->n + event->n_gaps;
    event->gapped = event->n_gaps > 0;
}

/* Start an event of up to n features; -1 if out of memory. */
SP_API int sp_event_begin(sp_event *event, const sp_index *index, ptrdiff_t n, bool intercept);

static inline sp_writer sp_event_writer(const sp_event *event)
{
    sp_writer writer;
    writer.keys = event->keys;
    writer.values = event->values;
    writer.n = event->n;
    writer.n_same = event->n_last;
    writer.changed = event->n_last == 0;
    writer.longs = event->longs;
    writer.n_longs = 0;
    return writer;
}

/* The next entry. It keeps its slot if the names up to it are those of the last event. */
static inline void sp_writer_add(sp_writer *writer, sp_key key, double value)
{
    ptrdiff_t i = writer->n;
    sp_key *last = &writer->keys[i];
    writer->n = i + 1;
    if (sp_key_is_long(&key)) {
        writer->longs[writer->n_longs] = (uint32_t)i;
        writer->n_longs += 1;
    }
    if (i < writer->n_same) {
        if (((last->lo ^ key.lo) | (last->hi ^ key.hi)) == 0
            || (sp_key_is_long(&key) && sp_key_equal(last, &key))) {
            writer->changed |= writer->values[i] != value;
            writer->values[i] = value;
            return;
        }
        writer->n_same = i;
    }
    *last = key;
    writer->values[i] = value;
}

/* All entries are written. */
static inline void sp_event_end(sp_event *event, const sp_writer *writer)
{
    /* event.n is still what sp_event_begin wrote: the intercept, whose slot is always known */
    event->n_found = SP_MAX(event->n, SP_MIN(writer->n, writer->n_same));
    event->n = writer->n;
    event->n_longs = writer->n_longs;
    event->same = !writer->changed && event->n_found == event->n && event->n == event->n_last;
    if (!event->same)
        event->scored_version = 0;
}

/* Make room for the ends of n candidates and of a difference; -1 if out of memory.

   Call this before sp_event_begin. Scores of another number of candidates are dropped. */
SP_API int sp_event_candidates(sp_event *event, ptrdiff_t n);

/* Candidate i is written. */
static inline void sp_event_candidate_end(sp_event *event, ptrdiff_t i, const sp_writer *writer)
{
    if (event->ends[i] != writer->n) {
        event->ends[i] = writer->n;
        event->scored_version = 0;
    }
}

/* Where the entries of candidate i start; without candidates, where the event's do. */
static inline ptrdiff_t sp_event_first(const sp_event *event, ptrdiff_t i)
{
    return i ? event->ends[i - 1] : 0;
}

/* And where they end. */
static inline ptrdiff_t sp_event_last(const sp_event *event, ptrdiff_t i)
{
    return event->n_candidates ? event->ends[i] : event->n;
}

/* Where the entries end of an event that has a step: candidates are followed by a difference. */
static inline ptrdiff_t sp_event_extent(const sp_event *event)
{
    return sp_event_last(event, event->n_candidates);
}

/* The path is done with the event. Keep what the next one may be compared with.

   The bytes of a long key are the caller's, who may free them now: point at the index's copy, or
   forget the key where it has none. */
SP_API void sp_event_settle(sp_event *event, const sp_index *index);

/* Do not compare the next event with this one: some of its entries may have no slot any more. */
static inline void sp_event_forget(sp_event *event)
{
    event->n_known = 0;
    event->n_found = 0;
    event->scored_version = 0;
}

/* Use the event of a text again. It is still in scratch, with its pairs. */
static inline void sp_event_again(sp_event *event, const sp_index *index, bool intercept)
{
    if (event->generation != index->generation) {
        event->n_found = intercept;
        event->scored_version = 0;
    }
}

/* The scratch of a machine of this kind. Scratch of another kind that the event had is freed. NULL
   if out of memory. */
SP_PRIVATE sp_scratch_head *sp_event_scratch(sp_event *event, const sp_scratch_kind *kind);

#endif
