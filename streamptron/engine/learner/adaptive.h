/* What AdaptiveClassifier keeps for a model, and for an event that it has answered. There is no
   loop here, so all may include it. engine/adaptive/adaptive.h says what the letters mean. */

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
    SP_ADAPTIVE_NUMBERS = 5, /* numbers that a model keeps for each label */
};

#define SP_U_LIMIT 1e30
#define SP_TAU_LEAST 0.2
#define SP_TAU_MOST 5.0
#define SP_G_TAU_MOST 1e300 /* in a file */

typedef struct sp_columns {
    ptrdiff_t n;
    ptrdiff_t room;
    sp_slot_type *slots; /* rising */
    bool hashed;         /* summed in the order of their numbers, not of their slots */
    bool stale;          /* `turns` is out of date */
    uint32_t *turns;     /* hashed: each column's turn; then each turn's column */
} sp_columns;

typedef struct sp_adaptive {
    double eta;
    double forget; /* phi */
    bool watches;  /* phi is chosen by learner/drift.h */
    bool naive_bayes;
    bool intercept;
    bool rows;    /* more than two labels have come: their numbers are in rows (many/many.h) */
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
    ptrdiff_t room; /* of each array below, in one block of memory */
    double *D;
    double *lnD; /* log(D + 1); with rows log(1 + D / 3) */
    double *rD;  /* 1 / (D + 1); with rows 1 / (D + 10) */
    double *w0;  /* of two labels, the one output's at 0 */
    double *G0;
    sp_many many; /* with more than two labels */
} sp_adaptive;

typedef struct {                    /* an event as the model sees it, before its label is known */
    double *v, *h;                  /* one number per entry */
    double *t;                      /* T / N, or 0 if it takes no part in naive Bayes */
    double squares, length, unknown;        /* sums of max(h^2, om^2), |h|, h^2 / (cnt + 1) */
    double dot;                     /* two labels: w h */
    double P[2];
    ptrdiff_t E[2];
    ptrdiff_t used;                 /* entries that take part in naive Bayes */
    int begins;                     /* whether some features may become columns */
} sp_sums;

typedef struct {                    /* a step of one output */
    ptrdiff_t k;
    double f, q, kept;              /* eta' u g;  u |g|;  1 - phi q */
    double always;                  /* more than two labels: the f of w0 */
} sp_stride;

/* An event as it was answered, and the step that follows. */
typedef struct sp_adaptive_scratch {
    sp_scratch_head head;
    sp_sums sums;
    ptrdiff_t room;    /* entries */
    ptrdiff_t n_plain;  /* entries that are not columns */
    ptrdiff_t n_shown; /* and all columns behind them */
    ptrdiff_t n;        /* and the columns' gaps behind those */
    sp_arena names;     /* their names */
    bool gaps;          /* there are columns with gaps */
    double *x;          /* where there are columns: the entries' values */
    sp_slot_type *slots;
    uint32_t *entries; /* their places in the event; -1: the event lacks it. For a gap, its column,
                          counted from the first */
    bool *is_gap; /* of each column, in order */
    ptrdiff_t slots_room;
    ptrdiff_t n_begun; /* entries that become columns: their places here, then their slots */
    uint32_t *begun;
    ptrdiff_t begun_room;
    double r;       /* of X = om v r */
    double length;  /* sum |X| */
    double unknown; /* how little is known about the event, for the rank */
    double line;  /* the one output's score: of the line, */
    double score; /* and with curves and surfaces */
    double d;
    double V;
    double sharper; /* u d log P(y) / d tau, y being the label to learn */
    sp_stride *strides;
    ptrdiff_t n_strides;
    ptrdiff_t strides_room;
    ptrdiff_t top; /* the answer, by the scores */
    sp_surprise surprise;
    sp_shaped shaped;
} sp_adaptive_scratch;

/* The number of labels for naive Bayes: at least two, even before they have come. */
static inline ptrdiff_t sp_adaptive_places(const sp_adaptive *a)
{
    return SP_MAX(a->n_labels, (ptrdiff_t)2);
}

static inline ptrdiff_t sp_adaptive_outputs(const sp_adaptive *a)
{
    return a->rows ? a->n_labels : 1;
}

/* The scratch in which an event was answered. */
static inline sp_adaptive_scratch *sp_adaptive_scratch_of(const sp_event *event)
{
    return (sp_adaptive_scratch *)(void *)event->scratch;
}

/* Slots and values of the entries as they were answered: those of the event, or the scratch's own
   where there are columns. */
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

/* The place in the event of entry i, which must not be a gap; -1: a column that the event lacks. */
static inline ptrdiff_t sp_adaptive_scratch_entry(const sp_adaptive_scratch *w, ptrdiff_t i)
{
    return w->n == w->n_plain ? i : w->entries[i] == UINT32_MAX ? -1 : (ptrdiff_t)w->entries[i];
}

#endif
