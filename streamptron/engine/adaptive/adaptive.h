/* AdaptiveClassifier with up to two labels: a soft perceptron on features weighted by how
   informative they have been. many/many.h is for more labels.

   Other rules say how far a step goes, and the table takes it. This one keeps other numbers for a
   feature, so it has its own slots, sums and updates. tests/twin/adaptive.py is the same in plain
   Python, to the last bit; the docstring of learners/adaptive.py says where the method comes from.
   In its letters:

       a feature j              s      the mean of |x|, by sample weight u; was x ever negative?
                                cnt    the sum of u
                                om     how informative it has been; 1/8 at first
                                w, G   the weight of the one output, and the sum of q X^2
       a feature and a label    c      the sum of u v
       a label                  D      the sum of u
       once                     T      the sum of u;  m, nm: the usual |d|, over so many events
                                w0, G0 the intercept's; wn, Gn: naive Bayes's weight, 3 at first
                                tau    how much sharper probabilities are, with its sum of squares
       a column of numbers      see features/columns.h; for its gaps adaptive/gaps.h, for its
                                curve, and surfaces with others, shapes/shapes.h

   To answer, nothing is written:

       v = clip(x / (s moved by |x|), 8)       a value that is always the same gives 1, at any
                                               scale; |x| above 32 s moves s as 32 s
       h = om v                                columns behind the others, with a v of their own;
                                               then their gaps, which have just h^2 in
                                               the root
       X = h / sqrt(sum of max(h^2, om^2))
       z_k = log(D_k + 1) + sum of log((1 + c_k T / N) / (D_k + 1)),  N = c_0 + c_1
                                               over features that never were negative, no columns
       d = z_1 - z_0;  score = w X + w0 + wn V,  V = clip(d / m, 2)
                                               then what curves and surfaces add to it
       P = sigmoid(tau score T / (T + 10))

   To learn label y with sample weight u:

       g = [y] - p                             p of the score, without curves and surfaces
       q = u |g|;  eta' = eta min(1, 12 / sum |X|)
       where q > 1/128:  G = G (1 - phi q) + q X^2;  w += eta' u g X / sqrt(G + 2^-20)
                         likewise w0 and wn
       then the counts, and om^2 = 1/64 + chi^2 of the feature's counts / (cnt + 1)^2; of a column,
                         from its e and since
       before, if y was known:  g = u d log P(y) / d tau;  G_tau += g^2;
                         tau = clip(tau + g / (10 sqrt(G_tau)), from 1/5 to 5)

   The score is positive for the `positive` label: the second, unless the first is True.

   Slots. All have 32 bytes, in blocks of the table, each a chunked array of its own. All numbers
   are floats except s, which must hold 1e-50 and 1e50:

       block 0        the head               [    s    | cnt | om |  w  |  G  | c_0 | c_1 ]
       block 1        of a column            [    a    |    b    |    n    |  since  ]
       block 2        of a column            [ e_0 e_1  -   -   -   -   -   - ]

   So a feature costs 32 bytes, half a cache line. Blocks 1 and 2 have chunks only where there is a
   column. A chunk of a block is made when it is first written, as everywhere in the table.

   Cost. Answering takes three divisions per feature, side by side, and no logarithm: the 1 + c T /
   N are multiplied, the product's exponent is moved to an integer every fourth feature, and one
   logarithm per label is taken of the result. Learning takes two square roots and two divisions per
   feature, four features at a time.

   Nothing overflows: values are within 1e50, u within SP_U_LIMIT, and factors from 1 to T + 1. A
   feature's counts are halved before cnt reaches 2^20, where floats begin to lose what is added;
   unless 7 of 8 events had the feature, already before 2^19. So a large cnt means that the feature
   is always there. */

#ifndef STREAMPTRON_ADAPTIVE_ADAPTIVE_H
#define STREAMPTRON_ADAPTIVE_ADAPTIVE_H

#include "adaptive/gaps.h"
#include "events/event.h"
#include "features/columns.h"
#include "features/head.h"
#include "learner/adaptive.h"
#include "memory/heap.h"
#include "memory/types.h"
#include "shapes/choose.h"
#include "table/table.h"

SP_RARE static inline void sp_adaptive_free(sp_adaptive *a)
{
    sp_free(a->D);
    sp_columns_free(&a->columns);
    sp_alarms_free(&a->alarms);
    sp_shapes_free(&a->shapes);
    a->D = NULL;
    a->room = 0;
}

static inline size_t sp_adaptive_bytes(const sp_adaptive *a)
{
    return (size_t)(a->room * SP_ADAPTIVE_NUMBERS) * sizeof(double) + sp_columns_bytes(&a->columns)
           + (size_t)a->alarms.n * sizeof(sp_alarm) + sp_shapes_bytes(&a->shapes);
}

/* Room for n labels. Returns -1 if out of memory. */
SP_PRIVATE int sp_adaptive_room(sp_adaptive *a, ptrdiff_t n);

/* Untrained, with n labels. Returns -1 if out of memory. */
static inline int sp_adaptive_expect(sp_adaptive *a, ptrdiff_t n, int positive)
{
    a->positive = positive;
    a->n_labels = n;
    return sp_adaptive_room(a, n);
}

/* Untrained. Returns -1 if out of memory. Call sp_adaptive_free in either case. */
SP_HOT int sp_adaptive_init(sp_adaptive *a, double eta, double forget, bool watches,
                            bool naive_bayes, bool intercept, int shape);

/* A copy with memory of its own. -1 if out of memory. Call sp_adaptive_free in either case. */
SP_PRIVATE int sp_adaptive_copy(sp_adaptive *to, const sp_adaptive *other);

SP_PRIVATE void sp_adaptive_set_count(sp_adaptive *a, ptrdiff_t k, double D);

/* The blocks as the loops over slots see them. */
static inline sp_blocks sp_table_blocks(const sp_table *table)
{
    sp_blocks blocks;
    blocks.first = table->blocks;
    blocks.size = sizeof(sp_block);
    return blocks;
}

/* A feature's slot; the null slot if it is behind the table's end. */
static inline const sp_head *sp_table_head(const sp_table *table, sp_slot_type slot)
{
    return sp_head_of(table->blocks->chunks,
                      slot >> SP_CHUNK_BITS < table->n_chunks ? slot : SP_SLOT_NULL);
}

/* How an event's scratch is measured and freed. */
SP_PRIVATE size_t sp_adaptive_scratch_bytes(const sp_scratch_head *head);
SP_PRIVATE void sp_adaptive_scratch_free(sp_scratch_head *head);

/* Room in the scratch for n entries, columns and their gaps beside them, and so many strides.
   Returns -1 if out of memory. */
SP_HOT int sp_adaptive_scratch_reserve(sp_adaptive_scratch *w, ptrdiff_t n, ptrdiff_t columns,
                                       ptrdiff_t outputs);

/* Compute v, h and t of the event's entries and of the columns behind them, and the sums over
   them. */
SP_HOT void sp_adaptive_weigh(const sp_adaptive *a, const sp_table *table, const sp_event *event,
                              sp_adaptive_scratch *w);

/* The same for the gaps of its columns, which become entries of the event. -1 if out of memory. */
SP_HOT int sp_adaptive_open_gaps(const sp_adaptive *a, const sp_table *table,
                                 const sp_index *index, sp_event *event, sp_adaptive_scratch *w);

/* What curves and surfaces need of the model. */
static inline sp_shaping sp_adaptive_shaping(const sp_adaptive *a)
{
    const sp_shaping of = {
        .eta = a->eta,
        .forget = a->forget,
        .watches = a->watches,
        .two = !a->rows,
        .positive = a->positive,
        .n_labels = a->n_labels,
        .tau = a->tau,
        .tempering = a->T / (a->T + 10.0),
    };
    return of;
}

/* Give the shapes v of their columns. -1 if out of memory. */
SP_PRIVATE int sp_adaptive_shape(const sp_adaptive *a, sp_adaptive_scratch *w);

/* List the columns that may have shapes; there is room for the list. */
SP_PRIVATE void sp_adaptive_list_shapes(sp_adaptive *a, const sp_index *index);

/* Called after an event has been learned: update the columns' turns, and choose those with
   surfaces. `shaped` is NULL after a step has been undone. */
SP_PRIVATE void sp_adaptive_settle(sp_adaptive *a, const sp_index *index, const sp_shaped *shaped,
                                   sp_slot_type max_features);

/* Compute what follows from the sums: r, length and unknown. */
SP_PRIVATE void sp_adaptive_scratch_settle(sp_adaptive_scratch *w);

/* Then compute all that does not depend on the label: the score, and what learning will need. */
SP_HOT void sp_adaptive_answer(const sp_adaptive *a, sp_adaptive_scratch *w);

/* While little has been seen, scores count less: probabilities are closer to equal. */
static inline double sp_tempering(const sp_adaptive *a)
{
    return a->T / (a->T + 10.0);
}

/* The rank: the score, moved towards 0 if little is known about the event. */
SP_HOT double sp_adaptive_rank(const sp_adaptive *a, const sp_adaptive_scratch *w);

/* The label of an answered event of this rank; -1 before the first label. */
SP_HOT ptrdiff_t sp_adaptive_best(const sp_adaptive *a, const sp_adaptive_scratch *w, double rank,
                                  uint64_t n_seen);

/* p[label] of each known label. */
SP_HOT void sp_adaptive_probabilities(const sp_adaptive *a, const sp_adaptive_scratch *w,
                                      double *p);

/* The stride for label y, which may be new. */
SP_HOT void sp_adaptive_plan(const sp_adaptive *a, sp_adaptive_scratch *w, ptrdiff_t y, double u);

/* How far a step goes for an error of 1, which a sum |X| above `most` makes shorter. */
static inline double sp_eta(const sp_adaptive *a, const sp_adaptive_scratch *w, double most)
{
    return w->length <= most ? a->eta : a->eta * (most / w->length);
}

/* Make a stride for output k, whose error is g, if g is large enough. */
SP_PRIVATE void sp_adaptive_scratch_aim(const sp_adaptive *a, sp_adaptive_scratch *w, ptrdiff_t k,
                                        double g, double u);

/* Whether a number is from low to SP_VALUE_LIMIT. */
static inline bool sp_is_within(double number, double low)
{
    return low <= number && number <= SP_VALUE_LIMIT;
}

/* Whether learning can have made what is kept once per model. */
static inline bool sp_once_is_sound(const sp_adaptive *a)
{
    return sp_is_within(a->T, 0.0) && sp_is_within(a->m, 0.0) && 0.0 <= a->nm
           && a->nm <= SP_ODDS_WINDOW && SP_TAU_LEAST <= a->tau && a->tau <= SP_TAU_MOST
           && 1.0 <= a->Gtau && a->Gtau <= SP_G_TAU_MOST && sp_is_within(a->wn, -SP_VALUE_LIMIT)
           && sp_is_within(a->Gn, 0.0);
}

/* --- Parts of a step that are the same with more labels */

/* Learn tau, and the tau of curves and surfaces, before the label is learned. */
SP_PRIVATE void sp_learn_tau(sp_adaptive *a, const sp_adaptive_scratch *w);

/* Give columns that the ceiling has dropped the null slot. */
SP_PRIVATE void sp_leave_evicted(const sp_table *table, sp_adaptive_scratch *w);

/* Start new columns: the value that they always had counts as one event. */
SP_PRIVATE void sp_begin_columns(sp_adaptive *a, const sp_table *table,
                                 const sp_adaptive_scratch *w, const double *x, double u);

/* And set their om to that of an unknown feature. */
SP_PRIVATE void sp_begun_settle(const sp_table *table, const sp_adaptive_scratch *w);

/* Count a value of a column as if it were an ordinary feature. Sets v, and returns the factor by
   which its counts are halved. */
SP_PRIVATE double sp_column_count_plain(sp_head *head, double x, double u, double all, double *v);

/* Take the step that sp_adaptive_plan chose, and count label y, with weight u above 0.

   The slots must be reserved, and the list of columns must have room for new ones. */
SP_HOT void sp_adaptive_learn(sp_adaptive *a, sp_table *table, const sp_event *event,
                              sp_adaptive_scratch *w, ptrdiff_t y, double u);

/* The one output's weight. */
static inline double sp_adaptive_weight(const sp_table *table, sp_slot_type slot)
{
    return (double)sp_table_head(table, slot)->w;
}

/* The share of entry i of an answered event (of sp_adaptive_scratch_slots) in a score; -1: the
   constant part. A column's gaps are entries of their own.

   A feature's share is that of its own weight, plus its part of naive Bayes, in proportion to its
   share in d. */
SP_PRIVATE double sp_adaptive_share(const sp_adaptive *a, const sp_table *table,
                                    const sp_adaptive_scratch *w, ptrdiff_t i,
                                    const sp_event *event);

/* Find the features that become columns by their values in an answered event. -1 if out of
   memory. */
SP_HOT int sp_adaptive_begin(const sp_adaptive *a, const sp_table *table, const sp_event *event,
                             sp_adaptive_scratch *w);

/* Whether learning cannot have made one of the slots. Checks all of them. */
SP_API bool sp_adaptive_fault(const sp_table *table, sp_slot_type n_slots);

#endif
