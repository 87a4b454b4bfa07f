/* What VotedPerceptron keeps for a model. There is no loop here, so all may include it.
   engine/voted/voters.h says what the words mean. */

#ifndef STREAMPTRON_LEARNER_VOTED_H
#define STREAMPTRON_LEARNER_VOTED_H

#include "memory/types.h"

enum {
    SP_SPAN_BITS = 6,
    SP_SPAN = 1 << SP_SPAN_BITS, /* turns in a block, and blocks in a larger one */
    SP_SPANS = 1 << (2 * SP_SPAN_BITS),
};

/* a feature's value in an update */
typedef struct sp_mention {
    double x;
    uint32_t update;
    sp_slot_type next; /* the update's next feature; SP_SLOT_NULL: this is the last */
} sp_mention;

/* all mentions of one feature, the oldest first */
typedef struct sp_mentions {
    sp_mention *mentions;
    uint32_t start;
    uint32_t end;
    uint32_t room;
} sp_mentions;

typedef struct sp_update {
    double time;        /* before the event was counted */
    sp_slot_type first; /* its first feature */
} sp_update;

typedef struct sp_turn {
    double a; /* Y u */
    double B; /* after it */
    uint32_t update;
} sp_turn;

/* the range of B after the turns of a block */
typedef struct sp_voters_span {
    double low;
    double high;
} sp_voters_span;

/* an output's perceptron */
typedef struct sp_voter {
    sp_turn *turns;        /* the spans are behind them in memory */
    sp_voters_span *spans; /* of SP_SPAN turns */
    sp_voters_span *outer; /* of SP_SPANS */
    ptrdiff_t start;
    ptrdiff_t end;
    ptrdiff_t room;
    double B; /* before the first turn */
    bool cut; /* turns have been dropped, so the first vector is not zero */
} sp_voter;

typedef struct sp_voters {
    int degree;
    double b;
    uint32_t budget; /* 0: none */
    double now;      /* the sum of the weights of all events */
    double since;
    sp_mentions **chunks; /* by slot */
    size_t n_chunks;
    sp_update *updates;
    ptrdiff_t start;
    ptrdiff_t end;
    ptrdiff_t room;
    uint32_t number;  /* of the oldest update */
    sp_voter *voters; /* by output */
    ptrdiff_t n_voters;
    size_t bytes;
} sp_voters;

#endif
