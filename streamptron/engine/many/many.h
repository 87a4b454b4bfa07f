/* AdaptiveClassifier with more than two labels: a feature's row has only the labels that came with
   it.

   A feature that came with three of five thousand labels has three entries. It says nothing about
   the others: a label without an entry in the event scores its intercept. So the cost of an event
   is the number of entries in its rows, however many labels there are. tests/twin/many.py is the
   same in plain Python, to the last bit. In its letters, beside those of adaptive/adaptive.h:

       a feature and a label    c      the sum of u v
                                w, G   the weight, and the sum of q X^2; there are entries where the
                                       label came with the feature, or erred by much
       a feature                N      the sum of its c
       a label                  D      the sum of u
                                w0, G0 the intercept, and the sum of q
       once                     wn, Gn naive Bayes's weight, the same for all labels
                                m, nm  labels' usual distance from the best, over so many events
                                b      a label's usual score, without naive Bayes, in others' events

   To answer, with K labels, U those with an entry in a row of the event, and n features that take
   part in naive Bayes:

       z_k = (sum of log(1 + c_k T / (3 N))
              - max(n - 1, 0) (log(1 + D_k / 3) - log(1 + (T / K) / 3)))
             D_k / (D_k + min(.006 T / K, 1))                    k in U;  0 of all others
       Z = max(0, max z)
       V_k = (max(z_k - Z, -2 m) + min(Z, 2 m)) / m               k in U;  0 of all others
       score_k = sum of w_k X + w0_k + wn V_k,  and w0_k of all others
       P = softmax(tau score T / (T + 10))

   To learn label y with sample weight u, p = softmax(score) and q = u |[k = y] - p_k|, each label
   with q > 1/128 takes a step where the feature has an entry for it; y, and labels with q >
   min(1/4, K / 1024), get an entry where there was none. w0 likewise; wn takes one step for all
   labels together, from the sums of q V^2 and of u g V. In y's stride in w and wn, sum |X| counts
   at most as min(12, 3 (1 + 2 D_y)). A new label has w0 = b - log(1 + T / 2K), which is its score,
   and G0 = 1. Then the counts, and om^2 = 1/64 + chi^2 of the row's c / (cnt + 1)^2 with D + 10:
   labels without an entry add nothing to it.

   m learns the mean over all K of Z - z, plus a K-th of the best label's lead. With two labels that
   is |d|, so m and wn continue when the third comes. The three events per label are a Dirichlet
   prior: naive Bayes gives 0 for a label that has not come with a feature. Answers never go through
   all labels: the intercepts are in a tree (many/tree.h), which knows the largest, and the sum of
   all e^w0. Only two things go through all labels: scores or probabilities of each label, and tau,
   which with more than 512 labels is learned from only one event in K / 512.

   A slot is 32 bytes, as with two labels:

       block 0        the head               [    s    | cnt | om |   row   |    N    ]
       block 1        of a column            [    a    |    b    |    n    |  since  ]
       block 2        of a column            [    -    |    -    |   row   |    -    ]    c is its e
       row            [ k c w G ][ k c w G ] ..                        see rows/rows.h; or, of few
                                                                       labels, rows/dense.h

   The third label converts all slots to this form at once (sp_many_split). Sums over a row have
   four lanes, with the i-th entry in lane i mod 4. */

#ifndef STREAMPTRON_MANY_MANY_H
#define STREAMPTRON_MANY_MANY_H

#include "adaptive/adaptive.h"
#include "learner/learner.h"
#include "many/tree.h"
#include "rows/dense.h"

#define SP_MANY_MAKES 0.25    /* a larger error makes entries, */
#define SP_MANY_EACH 1024.0   /* and so does one above K / 1024 if that is less */
#define SP_MANY_RARE 0.006    /* labels that are rarer than that, times the average, count less */
#define SP_MANY_USUAL 256.0   /* b is a mean over so many events */
#define SP_MANY_G0 1.0        /* of a new label */
#define SP_MANY_FEW 64        /* up to so many labels are bits of a word */

/* An entry's row, as it was answered. */
typedef struct sp_row_seen {
    uint64_t labels; /* few labels: those that it has, a bit each */
    bool fresh;      /* the feature has no slot */
    bool thick;      /* it will become dense */
} sp_row_seen;

/* A block for an entry's row, or for the row of its e. */
typedef struct sp_claim {
    uint32_t entry;
    uint32_t block;
    int size;
    bool e;
    bool dense;
} sp_claim;

/* An event as it was answered, and the step that follows; begins with the scratch of two labels. */
typedef struct sp_many_scratch {
    sp_adaptive_scratch weighed;
    uint32_t turn;   /* of answers; never 0 */
    uint64_t *spots; /* by label: 2^32 times the turn in which it was last met, plus its place among
                        those met */
    ptrdiff_t labels_room;
    uint32_t *met; /* the labels of U, in the order in which they were met */
    ptrdiff_t n_met;
    ptrdiff_t n_begun; /* and those whose sums have been begun */
    bool few;      /* there are few labels, and no two entries share a slot; then */
    uint32_t thick; /* rows of so many entries become dense, */
    uint64_t making; /* and these labels are in `adds` */
    bool shortened; /* some exponents are in E */
    double *score; /* of the labels met, all in one block; w X r at first */
    double *z;
    double *V;
    double *p; /* the products of naive Bayes; then the probabilities */
    double *E; /* exponents taken out of these; then scratch for all labels met */
    double *leaf; /* e^w0 */
    ptrdiff_t line_top; /* the best label without curves and surfaces */
    double *plain; /* the scores without naive Bayes */
    double largest; /* Z */
    double begins;  /* w0 of a new label */
    double rest;    /* e^w0 of all labels that are not in U */
    double shift;   /* the factor of all e^score: e^-best */
    double total;   /* the sum of e^score with that factor */
    uint32_t *adds; /* labels that get an entry for each feature */
    ptrdiff_t n_adds;
    sp_row_seen *rows; /* by entry */
    ptrdiff_t rows_room;
    sp_claim *claims; /* blocks that rows will need */
    ptrdiff_t n_claims;
    bool decided; /* the scores of all labels have been computed */
    bool damaged; /* a row in a file is damaged: no score is finite */
} sp_many_scratch;

static inline sp_many_scratch *sp_many_scratch_of(const sp_event *event)
{
    return (sp_many_scratch *)(void *)event->scratch;
}

static inline sp_sparse_rows *sp_many_rows(const sp_table *table)
{
    return (sp_sparse_rows *)table->arena;
}

/* A column's e. */
static inline sp_head *sp_many_e(const sp_table *table, sp_slot_type slot)
{
    return sp_head_of(table->blocks[SP_BLOCK_E].chunks, slot);
}

static inline bool sp_many_met(const sp_many_scratch *w, ptrdiff_t k)
{
    return w->spots[k] >> 32 == w->turn;
}

/* The place of a label that was met. */
static inline uint32_t sp_many_at(const sp_many_scratch *w, ptrdiff_t k)
{
    return (uint32_t)w->spots[k];
}

/* The score of a label in an answered event, of the line alone; and with curves and surfaces. */
static inline double sp_many_line_of(const sp_adaptive *a, const sp_many_scratch *w, ptrdiff_t k)
{
    return sp_many_met(w, k) ? w->score[sp_many_at(w, k)] : a->w0[k];
}

static inline double sp_many_score_of(const sp_adaptive *a, const sp_many_scratch *w, ptrdiff_t k)
{
    return w->weighed.shaped.has ? w->weighed.shaped.final[k] : sp_many_line_of(a, w, k);
}

/* A slot's entry of label k; zeros if there is none, or no chunk. */
static inline sp_entry sp_many_entry(const sp_table *table, sp_slot_type slot, ptrdiff_t k)
{
    return sp_row_numbers(sp_many_rows(table), &sp_table_head(table, slot)->row, (uint32_t)k);
}

/* rare: a label's z counts by the share D / (D + rare). Never 0, as D may be 0. */
static inline double sp_many_rare(const sp_adaptive *a)
{
    const double rare = SP_MANY_RARE * (a->T / (double)a->n_labels);
    return rare > 1.0 ? 1.0 : rare < 1e-300 ? 1e-300 : rare;
}

/* w0 of a new label: as low as if it had come once in T events. */
static inline double sp_many_begins(const sp_adaptive *a)
{
    return a->intercept ? a->many.b - sp_one_log(1.0 + a->T / (2.0 * (double)a->n_labels)) : 0.0;
}

/* Answer an event whose features have been read. */
SP_PRIVATE void sp_many_answer(const sp_learner *learner, const sp_event *event,
                               sp_many_scratch *w);

/* The label of an answered event: the one with the largest score, if labels have no bars. */
SP_PRIVATE ptrdiff_t sp_many_best(const sp_learner *learner, const sp_many_scratch *w);

/* p[label] of every label. */
SP_PRIVATE void sp_many_probabilities(const sp_adaptive *a, const sp_many_scratch *w, double *p);

/* The share of entry i of an answered event in label k's score; -1: the constant part. */
SP_PRIVATE double sp_many_share(const sp_learner *learner, const sp_many_scratch *w, ptrdiff_t k,
                                ptrdiff_t i, const sp_event *event);

/* The sum of the entries' c, in four lanes. */
SP_PRIVATE double sp_many_count_of(const sp_entry *entries, uint32_t n);

/* Whether that is N, except for rounding: an entry added since N was summed has a count of 0, but
   moves those behind it to other lanes. */
SP_PRIVATE bool sp_many_adds_up(const sp_entry *entries, uint32_t n, double N);

/* The sums of c and of c^2 / (D + 1) over a row. */
SP_PRIVATE void sp_many_sums(const sp_sparse_rows *rows, const sp_sparse *row, const double *rD,
                             double *sum, double *squares);

/* The largest |w| of a row, for the ceiling. */
SP_PRIVATE double sp_many_largest(const sp_sparse_rows *rows, const sp_sparse *row);

#endif
