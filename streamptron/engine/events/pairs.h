/* Pairs of features, made of an event after a door has written it.

       entries    intercept, a, b, c          written by a door
          | sp_pairs_measure    a's name in canonical bytes, its field; how many pairs, how large
          v
       halves     a  b  c
          | sp_pairs_write      name and value of each pair, behind the door's entries
          v
       entries    intercept, a, b, c, ab, ac, bc

   A pair's name is `p` and the canonical bytes of both names (docs/format.md), the lesser first. To
   index, files and ceilings it is a name like any other. So two pairs never share a slot of an
   exact model, and the name says which two features it is made of. Short names fit into the key
   itself. A pair's value is the product of both values. Products of 0 are left out, as values of 0
   are.

   All features are paired (n_fields == 0), or those of some fields with those of others. Pairs are
   ordered by the place of their first half in the event, then by the number of the second half's
   field, then by the place of the second half. Any two entries are paired once; no entry is paired
   with itself. The intercept is not paired.

   An event with too many pairs, or too large a product, stays as the door wrote it (event.unfit).
   Both are known before the first pair is made, in time O(features).

   Each candidate gets its own pairs, behind its features; so all entries are written anew:

       a b c | a d               a b c ab ac bc | a d ad

   Making a pair costs about as much as finding its weights. So an event that is the same as the
   last one keeps its pairs (event.same): predict_one and learn_one make them once. */

#ifndef STREAMPTRON_EVENTS_PAIRS_H
#define STREAMPTRON_EVENTS_PAIRS_H

#include "events/event.h"
#include "memory/arena.h"

enum {
    SP_PAIR_FIELDS_MOST = 64,

    SP_UNFIT_NUMBER = 1, /* why an event is unfit: more pairs than Pairs.most */
    SP_UNFIT_SIZE = 2,   /* a product beyond SP_VALUE_LIMIT */

    SP_NAME_SPARE = 32,      /* bytes beside a name: a tag and a number */
    SP_HALF_SPARE = 48,      /* likewise, and 16 that may be copied too many */
    SP_NAMES_AT_ONCE = 4096, /* room is made for so many bytes of pairs' names */
};

typedef struct sp_field {
    const uint8_t *p; /* its name */
    size_t n;
    uint64_t partners; /* a bit for each field that it is paired with */
} sp_field;

/* what is paired, and how much of it */
typedef struct sp_pairs {
    uint64_t most; /* pairs of one event */
    int n_fields;  /* 0: all features, with each other */
    const sp_field *fields;
} sp_pairs;

/* Write a name's canonical bytes, at most SP_NAME_SPARE more than its key has. Returns their
   end. */
SP_PRIVATE uint8_t *sp_name_write(uint8_t *p, const sp_key *key);

/* The key of two names' pair, whose text is stored in `names`. -1 if out of memory. */
SP_PRIVATE int sp_pair_named(sp_arena *names, const sp_key *both, sp_key *pair);

/* The same as sp_pairs_measure, for the entries first .. last - 1. */
SP_PRIVATE int sp_measure(const sp_pairs *pairs, sp_event *event, ptrdiff_t first, ptrdiff_t last);

/* Find the halves of an event's pairs, and check that the pairs are neither too many nor too large.

   -1 if out of memory, or if the check fails: event.unfit says why. */
static inline int sp_pairs_measure(const sp_pairs *pairs, sp_event *event)
{
    event->unfit = 0;
    sp_arena_reset(&event->names);
    return sp_measure(pairs, event, 0, event->n);
}

/* Add the pairs of an event, once. -1 if out of memory, or if it is unfit (see event.unfit). */
SP_PRIVATE int sp_pairs_write(const sp_pairs *pairs, sp_event *event);

#endif
