/* AdaptiveClassifier: a soft perceptron on features weighted by what they have told about the
   label.

   The other rules say how far a step goes and the table takes it. This one keeps other numbers for
   a feature, so it has slots, sums and updates of its own. tests/twin/adaptive.py is the same in
   plain Python, to the last bit; the docstring of streamptron/adaptive.py says where it comes from.
   In its letters:

       a feature j              s      the mean of |x|, by sample weight u; was x ever negative?
                                cnt    the sum of u
                                om     how much it has told about the label; 1/8 at first
       a feature and a label    c      the sum of u v
       a feature and an output  w, G   the weight, and the sum of q X^2
       a label                  D      the sum of u
       an output                w0, G0 the intercept's; wn, Gn: naive Bayes's weight, 3 at first
       once                     T      the sum of u;  m, nm: the usual |d|, over so many events
                                tau    how much sharper probabilities are, with its sum of squares
       a column of numbers      what adaptive/columns.h says, and its bends adaptive/bends.h

   To answer, nothing is written:

       v = clip(x / (s moved by |x|), 8)       a value that is always the same gives 1, at any
                                               scale; at most 32 s moves s
       h = om v                                columns behind the others, with a v of their own;
                                               then their bends, of which it is h^2 in the root
       X = h / sqrt(sum of max(h^2, om^2))
       z_k = log(D_k + 1) + sum of log((1 + c_k T / N) / (D_k + 1)),  N = sum of c_k
                                               over features that never were negative, no columns
       d = z_1 - z_0 for two labels; else z_k less the best, and the best less the second
       score_k = w_k X + w0_k + wn_k V_k       with V = clip(d / m, 2)
       P = sigmoid or softmax(tau score T / (T + 10))

   To learn label y with sample weight u:

       g_k = [k = y] - p_k                     p of the score as it is
       q = u |g_k|;  eta' = eta min(1, 12 / sum |X|)
       where q > 1/128:  G = G (1 - phi q) + q X^2;  w += eta' u g_k X / sqrt(G + 2^-20)
                         likewise w0 and wn
       then the counts, and om^2 = 1/64 + chi^2 of the feature's counts / (cnt + 1)^2; of a column
                         of its e, and since
       before, if y was known:  g = u d log P(y) / d tau;  G_tau += g^2;
                         tau = clip(tau + g / (10 sqrt(G_tau)), from 1/5 to 5)

   Up to two labels have one output, which speaks for the `positive` one: the second, unless the
   first is True. The third splits it into two of half the weight, so that no difference of scores
   changes. After that there is an output a label.

   Slots. All of 32 bytes, in blocks of the table, each a chunked array of its own; all numbers are
   floats but s and N, which hold 1e-50 and 1e50:

       block 0        the head               [    s    | cnt | om |  w  |  G  | c_0 | c_1 ]
                      once it is dealt out   [    s    | cnt | om |  0  | -1  |     N     ]
       block 1        of a column            [    a    |    b    |    n    |  since  ]
       block 2        of a column            [ e   e   e   e   e   e   e   e ]  of places 0..7
       block 3        places 0..3            [ w   w   w   w | c   c   c   c ]
       block 4        places 0..7            [ G   G   G   G   G   G   G   G ]
       block 5        places 4..7            [ w   w   w   w | c   c   c   c ]
       blocks 6 .. 9  places 8..15: e, w and c, G, w and c ...

   So with two labels a feature costs 32 bytes and half a cache line; with K labels 32 and 12 a
   label, and a new label moves no slot. A column costs 32 bytes more, and 4 a label; the chunks of
   its blocks are made where a column is. Nor does the split: a slot is dealt out to its groups when
   it is next written; until then it is read as if it had been. Answering takes the heads and half a
   line for each four labels; the G are read only where an output steps. A chunk of a block is made
   when it is first written, as everywhere in the table.

   Cost. Answering takes three divisions a feature, side by side, and no logarithm: the product of
   the 1 + c T / N is taken, its exponent moved to an integer every fourth feature, and one
   logarithm a label taken of that. Learning takes a square root and a division a feature for the
   counts, and one each for every output that steps, several at once: of two labels four features at
   a time, of more up to 32 outputs.

   Nothing overflows: values lie within 1e50 and u within SP_U_LIMIT, factors from 1 to T + 1, and a
   feature's counts are halved before cnt is 2^20, beyond which floats begin to lose what is added;
   before 2^19, unless 7 of 8 events have had it. So a large cnt says that it is always there. */

#ifndef STREAMPTRON_ADAPTIVE_ADAPTIVE_H
#define STREAMPTRON_ADAPTIVE_ADAPTIVE_H

#include "adaptive/bends.h"
#include "adaptive/columns.h"
#include "adaptive/slots.h"
#include "adaptive/state.h"
#include "events/event.h"
#include "linear/table.h"
#include "memory/heap.h"
#include "memory/types.h"

static inline void sp_adaptive_free(sp_adaptive *a)
{
    sp_free(a->D);
    sp_columns_free(&a->columns);
    a->D = NULL;
    a->room = 0;
}

static inline size_t sp_adaptive_bytes(const sp_adaptive *a)
{
    return (size_t)(a->room * SP_ADAPTIVE_NUMBERS) * sizeof(double) + sp_columns_bytes(&a->columns);
}

/* Room for n labels. Returns -1 without memory. */
SP_PRIVATE int sp_adaptive_room(sp_adaptive *a, ptrdiff_t n);

/* Untrained, with n labels. Returns -1 without memory. */
static inline int sp_adaptive_expect(sp_adaptive *a, ptrdiff_t n, int positive)
{
    a->positive = positive;
    a->n_labels = n;
    return sp_adaptive_room(a, n);
}

/* Untrained. Returns -1 without memory. Call sp_adaptive_free in either case. */
SP_PRIVATE int sp_adaptive_init(sp_adaptive *a, double eta, double forget, bool watches,
                                bool naive_bayes, bool intercept);

/* The same with memory of its own. -1 without it. Call sp_adaptive_free in either case. */
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

/* Room there for n entries, columns and their bends beside them, and so many outputs. Returns -1
   without memory. */
SP_PRIVATE int sp_weighed_reserve(sp_event *event, ptrdiff_t n, ptrdiff_t columns,
                                  ptrdiff_t outputs);

/* The event's entries, and the columns behind them: v, h and t, and the sums over them. */
SP_PRIVATE void sp_adaptive_weigh(const sp_adaptive *a, const sp_table *table,
                                  const sp_event *event, sp_weighed *w);

/* Likewise the bends of its columns, which become entries of the event. -1 without memory. */
SP_PRIVATE int sp_adaptive_bend(const sp_adaptive *a, const sp_table *table, const sp_index *index,
                                sp_event *event, sp_weighed *w);

/* Then everything about it that does not depend on its label: the score of each output, and what
   learning will need. */
SP_PRIVATE void sp_adaptive_answer(const sp_adaptive *a, const sp_table *table,
                                   const sp_event *event, sp_weighed *w);

/* The label of an answered event; -1 before the first. */
SP_PRIVATE ptrdiff_t sp_adaptive_best(const sp_adaptive *a, const sp_weighed *w);

/* Of two labels the rank, a number; of more each output's score, of which P is the softmax. */
SP_PRIVATE void sp_adaptive_decide(const sp_adaptive *a, const sp_weighed *w, double *decision);

/* p[label] of each label met. */
SP_PRIVATE void sp_adaptive_probabilities(const sp_adaptive *a, const sp_weighed *w, double *p);

/* The stride of each output for label y; y is n_labels if it is new.

   There is room for one more output. If the label adds outputs, the scores become theirs. */
SP_API void sp_adaptive_aim(const sp_adaptive *a, sp_weighed *w, ptrdiff_t y, double u);

/* List the blocks that the step for label y will write. Returns how many.

   The table has the outputs for it. A slot that is dealt out is written in the first group too. */
SP_PRIVATE ptrdiff_t sp_adaptive_blocks(const sp_table *table, sp_weighed *w, ptrdiff_t y);

/* Take the step that sp_adaptive_aim chose, and count label y, with weight u above 0.

   The slots must be reserved, and the list of columns have room for those that begin. */
SP_PRIVATE void sp_adaptive_learn(sp_adaptive *a, sp_table *table, const sp_event *event,
                                  sp_weighed *w, ptrdiff_t y, double u);

/* One weight; with two labels, that of the one output. */
static inline double sp_adaptive_weight(const sp_adaptive *a, const sp_table *table,
                                        sp_slot_type slot, ptrdiff_t output)
{
    sp_blocks blocks = sp_table_blocks(table);
    if (slot >> SP_CHUNK_BITS >= table->n_chunks)
        return 0.0;
    return sp_weight(&blocks, slot, output, table->n_outputs, a->positive);
}

/* Mean and variance of a column's values so far; it was 0 where an event lacked it. */
SP_API void sp_adaptive_spread(const sp_table *table, sp_slot_type slot, double *mean,
                               double *variance);

/* What entry i of an answered event (of sp_weighed_slots) contributes to a decision; -1: what is
   always there. A column's bends are entries of their own.

   A feature has its own weight's share, and that in the value of naive Bayes by its share in d. */
SP_PRIVATE double sp_adaptive_share(const sp_adaptive *a, const sp_table *table,
                                    const sp_weighed *w, ptrdiff_t output, ptrdiff_t i,
                                    const sp_event *event);

/* Find the features of an answered event that its values make columns. -1 without memory. */
SP_PRIVATE int sp_adaptive_begin(const sp_adaptive *a, const sp_table *table, const sp_event *event,
                                 sp_weighed *w);

/* Whether a slot is one that no learning could have made. It looks at everything. */
SP_API bool sp_adaptive_fault(const sp_table *table, sp_slot_type n_slots);

#endif
