/* MultiLabelClassifier: a set of labels for each event, every label learned on its own.

   Each label is learned against its absence, as AdaptiveClassifier (adaptive/adaptive.h) learns two
   labels. But all labels share what is kept for a feature, a feature and a label have numbers only
   where there is something to keep, and a feature's om for a label is computed when it is read.
   tests/twin/labels.py is the same in plain Python, to the last bit. In its letters:

       a feature j              s      the mean of |x|; was x ever negative?
                                cnt    the sum of sample weights u
                                N      the sum of u v
       a feature and a label    c      the sum of u v of events with both
                                w, G   the weight, and the sum of q X^2
       a label                  D      the sum of u of events with it
                                left   the same of events that left it open
                                w0, G0 the intercept's; wn, Gn: naive Bayes's weight
       once                     T      the sum of u;  m, nm: the usual |d|, over so many events

   To answer, with a = v less what is usual, T_k = T - left_k, f = T_k / T and n_k = T_k - D_k:

       pi = (D + 1) / (T_k + 2)
       om^2 = 1/64 + ((c - pi f N) / (cnt + 1))^2 / (pi (1 - pi))
       X = om a / R,   R^2 = sum of om^2 max(a^2, 1) over all features of the event
       d = sum of log((1 + c T / N) / (1 + (f N - c) T / N)) - (used - 1) log((D + 1) / (n_k + 1))
       score = sum of w X + w0 + wn V,   V = clip(d / m, 2), or -2 of a label without an entry

   A feature without an entry has c = w = 0. So its part in R and d is the same for all labels, up
   to a factor, and one pass through the rows of the event's features is enough: R^2 is computed
   over all features, then corrected for those with an entry, and likewise d.

       slot      [    s    | cnt |  -  |   row   |    N    ]      32 bytes, as AdaptiveClassifier's
       row       [ k c w G ][ k c w G ] ..                        see rows/rows.h

   A label without an entry in the event scores w0 - 2 wn, which is its `rest`. It takes a step only
   if that is above -4.85. Labels above -5 are in a list, `awake`. So the cost of an event is the
   number of entries in its rows, however many labels there are. Only three things go through all
   labels: an answer with all of them, an event of weight above 1, and an event that names only some
   labels. */

#ifndef STREAMPTRON_MULTILABEL_MULTILABEL_H
#define STREAMPTRON_MULTILABEL_MULTILABEL_H

#include "events/event.h"
#include "features/head.h"
#include "learner/multilabel.h"
#include "rows/rows.h"
#include "table/table.h"

#include <math.h>

/* A slot: its first 16 bytes are those of AdaptiveClassifier's. */
typedef union sp_counted_slot {
    sp_head head;
    struct {
        double s;
        float cnt;
        float unused;
        sp_sparse row;
        double N;
    } of;
} sp_counted_slot;

/* The sums over a label's entries in an event, and what follows from them. */
typedef struct sp_label_sums {
    uint64_t seen; /* the turn in which it was last met; older: not in this event */
    uint64_t named; /* the turn in which it was last named */
    bool there;    /* then: whether the event has it */
    int32_t used;
    double f;
    double share; /* pi f */
    double inverse;
    double dot;
    double apart;
    double at;
    double P[2];
    ptrdiff_t E[2];
    double r;
    double d;
    double V;
    double score;
} sp_label_sums;

/* A step of a label. */
typedef struct sp_counted_stride {
    uint32_t k;
    bool wide; /* it makes entries */
    double f;
    double q;
    double kept;
} sp_counted_stride;

/* A feature of the event. */
typedef struct sp_counted_value {
    double v;
    double a;
    double t;     /* T / N, or 0 if it takes no part in naive Bayes */
    double heft;  /* max(a^2, 1) */
    double known; /* 1 / (cnt + 1) */
    double N;
    double at; /* heft (N known)^2 */
    uint32_t block;
    int size;   /* of the block that its row will need; block 0: none needed */
    bool fresh; /* it had no slot when the event was answered */
} sp_counted_value;

/* An event as it was answered, the labels that it was given, and the step that follows. */
typedef struct sp_multilabel_scratch {
    sp_scratch_head head;
    uint64_t turn; /* of answers */
    uint64_t word; /* of labels given */
    sp_counted_value *values;
    ptrdiff_t values_room;
    double heft;
    double at;
    ptrdiff_t used;
    double log_all; /* log(T + 1) */
    sp_label_sums *sums; /* by label */
    ptrdiff_t sums_room;
    uint32_t *met; /* labels with an entry, in the order in which they were met */
    ptrdiff_t n_met;
    uint32_t *targets; /* the labels that the event names; those that it has come first */
    ptrdiff_t n_targets;
    ptrdiff_t n_there;
    ptrdiff_t targets_room;
    bool open;     /* labels that are not named are left open; otherwise they are absent */
    ptrdiff_t n_new; /* of those named, how many are new */
    sp_counted_stride *strides;
    ptrdiff_t n_strides;
    ptrdiff_t strides_room;
    uint32_t *adds; /* labels that get an entry for each feature */
    ptrdiff_t n_adds;
} sp_multilabel_scratch;

static inline sp_sparse_rows *sp_rows_of(const sp_table *table)
{
    return (sp_sparse_rows *)table->arena;
}

static inline sp_multilabel_scratch *sp_multilabel_scratch_of(const sp_event *event)
{
    return (sp_multilabel_scratch *)(void *)event->scratch;
}

static inline sp_counted_slot *sp_counted_slot_of(const sp_table *table, sp_slot_type slot)
{
    return (sp_counted_slot *)(void *)sp_slot(table->blocks->chunks, slot, SP_HEAD_WIDTH);
}

static inline size_t sp_multilabel_bytes(const sp_multilabel *s)
{
    return (size_t)s->room * (sizeof(sp_label) + sizeof(uint32_t))
           + (s->there == NULL ? 0 : 2 * SP_MULTILABEL_STEPS * sizeof(double));
}

/* Untrained. -1 if out of memory. Call sp_multilabel_free in either case. */
SP_PRIVATE int sp_multilabel_init(sp_multilabel *s, double eta, double forget);

SP_PRIVATE void sp_multilabel_free(sp_multilabel *s);

/* Room for n labels. -1 if out of memory. */
SP_PRIVATE int sp_multilabel_room(sp_multilabel *s, ptrdiff_t n);

/* A copy with memory of its own. -1 if out of memory. Call sp_multilabel_free in either case. */
SP_PRIVATE int sp_multilabel_copy(sp_multilabel *to, const sp_multilabel *other);

/* Compute what follows from a label's numbers, after they have changed. */
SP_API void sp_multilabel_settle_label(sp_multilabel *s, ptrdiff_t k);

/* Room in an event for n features and so many labels. -1 if out of memory. */
SP_PRIVATE int sp_multilabel_scratch_reserve(sp_event *event, ptrdiff_t n, ptrdiff_t labels);

/* Compute everything about an event that does not depend on the labels it is given. */
SP_PRIVATE void sp_multilabel_answer(const sp_multilabel *s, const sp_table *table,
                                     const sp_event *event, sp_multilabel_scratch *w);

/* The score of a label in an answered event. */
static inline double sp_multilabel_score(const sp_multilabel *s, const sp_multilabel_scratch *w,
                                         ptrdiff_t k)
{
    return w->sums[k].seen == w->turn ? w->sums[k].score : s->labels[k].rest;
}

/* Begin a label's sums for an event, before its entries are added. */
SP_PRIVATE void sp_label_sums_open(const sp_multilabel *s, const sp_label *label,
                                   sp_label_sums *sums);

/* 1 / R, from what has been added. */
SP_PRIVATE double sp_label_sums_scale(const sp_multilabel_scratch *w, const sp_label_sums *sums);

/* om a of a feature whose count with the label is c. */
SP_TEMPLATE double sp_label_sums_h(const sp_label_sums *sums, const sp_counted_value *value,
                                     double c)
{
    double apart = (c - sums->share * value->N) * value->known;
    return sqrt(SP_EPS + sums->inverse * (apart * apart)) * value->a;
}

/* Whether learning can have made a label's numbers. */
SP_PRIVATE bool sp_label_is_sound(const sp_multilabel *s, const sp_label *label);

#endif
