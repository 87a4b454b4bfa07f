/* What AdaptiveClassifier keeps of a model, and of an event that it has answered. There is no loop
   here, so all may include it. engine/adaptive/adaptive.h says what the letters mean. */

#ifndef STREAMPTRON_LEARNER_ADAPTIVE_H
#define STREAMPTRON_LEARNER_ADAPTIVE_H

#include "events/event.h"
#include "learner/alarms.h"
#include "learner/drift.h"
#include "learner/many.h"
#include "learner/shapes.h"
#include "memory/arena.h"
#include "memory/types.h"

enum {
    SP_ADAPTIVE_NUMBERS = 5, /* kept for each label, once a model */
};

#define SP_U_LIMIT 1e30
#define SP_TAU_LEAST 0.2
#define SP_TAU_MOST 5.0
#define SP_G_TAU_MOST 1e300 /* in a file */

typedef struct sp_columns {
    ptrdiff_t n;
    ptrdiff_t room;
    sp_slot_type *slots; /* rising */
    bool hashed;         /* they are summed in the order of their numbers, not of their slots */
    bool stale;          /* what follows is not of this list */
    uint32_t *turns;     /* hashed: when each is summed, and behind these which has each turn */
} sp_columns;

typedef struct sp_adaptive {
    double eta;
    double forget; /* phi */
    bool watches;  /* phi is what learner/drift.h says */
    bool naive_bayes;
    bool intercept;
    bool rows;    /* more than two labels have come: what labels have lies in rows (many/many.h) */
    int positive; /* of two labels, the one whose score is positive */
    ptrdiff_t n_labels;
    double T;
    double m;
    double nm;
    double wn;
    double Gn;
    double tau;
    double Gtau;
    sp_columns columns;
    sp_drift drift;
    sp_alarms alarms;
    sp_shapes shapes;
    ptrdiff_t room; /* of each of these, in one block of memory */
    double *D;
    double *lnD; /* log(D + 1); with rows log(1 + D / 3) */
    double *rD;  /* 1 / (D + 1); with rows 1 / (D + 10) */
    double *w0;  /* of two labels' one output the first */
    double *G0;
    sp_many many; /* with more than two labels */
} sp_adaptive;

typedef struct {                    /* an event as the model finds it, before its label is known */
    double *v, *h;                  /* an entry each */
    double *t;                      /* T / N, or 0 where it has no part in naive Bayes */
    double squares, length, unknown;        /* sums of max(h^2, om^2), |h|, h^2 / (cnt + 1) */
    double dot;                     /* two labels: w h */
    double P[2];
    ptrdiff_t E[2];
    ptrdiff_t used;                 /* entries that have a part in naive Bayes */
    int begins;                     /* whether there are features that may become columns */
} sp_sums;

typedef struct {                    /* a step of one output */
    ptrdiff_t k;
    double f, q, kept;              /* eta' u g;  u |g|;  1 - phi q */
    double always;                  /* more than two labels: the f of w0 */
} sp_stride;

/* An event as it has been answered, and the step that is made of it. */
typedef struct sp_adaptive_scratch {
    sp_scratch_head head;
    sp_sums sums;
    ptrdiff_t room;    /* entries */
    ptrdiff_t n_plain;  /* entries that are not columns */
    ptrdiff_t n_shown; /* these, and all columns behind them */
    ptrdiff_t n;        /* and what the columns hide behind those: gaps */
    sp_arena names;     /* their names */
    bool gaps;          /* there are columns with gaps */
    double *x;          /* where there are columns: what each entry is */
    sp_slot_type *slots;
    uint32_t *entries; /* and which of the event's; -1: the event lacks it. Of a gap its column,
                          counted from the first */
    bool *is_gap; /* of each column, from the first */
    ptrdiff_t slots_room;
    ptrdiff_t n_begun; /* entries that become columns: their places here, then their slots */
    uint32_t *begun;
    ptrdiff_t begun_room;
    double r;       /* of X = om v r */
    double length;  /* sum |X| */
    double unknown; /* how little of the event is known, for the rank */
    double line;  /* the one output's score, as the line has it, */
    double score; /* and with curves and surfaces */
    double d;
    double V;
    double sharper; /* u d log P(y) / d tau, of the label that was aimed at */
    sp_stride *strides;
    ptrdiff_t n_strides;
    ptrdiff_t strides_room;
    ptrdiff_t top; /* by the scores: the answer */
    sp_surprise surprise;
    sp_shaped shaped;
} sp_adaptive_scratch;

/* How many labels naive Bayes weighs: two from the start, whether or not they have come. */
static inline ptrdiff_t sp_adaptive_places(const sp_adaptive *a)
{
    return SP_MAX(a->n_labels, (ptrdiff_t)2);
}

static inline ptrdiff_t sp_adaptive_outputs(const sp_adaptive *a)
{
    return a->rows ? a->n_labels : 1;
}

/* Where the event has been answered. */
static inline sp_adaptive_scratch *sp_adaptive_scratch_of(const sp_event *event)
{
    return (sp_adaptive_scratch *)(void *)event->scratch;
}

/* Slots and values of the entries as they have been answered: those of the event, or where there
   are columns, its own. */
static inline const sp_slot_type *sp_adaptive_scratch_slots(const sp_adaptive_scratch *w,
                                                            const sp_event *event)
{
    return w->n > w->n_plain ? w->slots : event->slots;
}

static inline const double *sp_adaptive_scratch_values(const sp_adaptive_scratch *w,
                                                       const sp_event *event)
{
    return w->n > w->n_plain ? w->x : event->values;
}

/* Which entry of the event entry i is, which is not a gap; -1: it is a column that the event
   lacks. */
static inline ptrdiff_t sp_adaptive_scratch_entry(const sp_adaptive_scratch *w, ptrdiff_t i)
{
    return w->n == w->n_plain ? i : w->entries[i] == UINT32_MAX ? -1 : (ptrdiff_t)w->entries[i];
}

#endif
