/* The path in a loop over rows of a matrix, or over texts.

   The columns' slots are found first (`slots`, by column), once for the whole batch. With one
   output a row of the matrix is scored and learned in place, through slots[column]. Features
   without weights are written as an event, with their names, only if the rule takes a step. With
   several outputs, whose weights cost much more than writing, the whole row is always written as an
   event.

   A row scored in place spends most of its time on finding the weights. If there are few columns,
   with many entries each, their places are found beforehand, too: each slot's distance from the
   null slot (`places`, by column; slots never move). A feature without weights is read at the null
   slot.

   Every row is written as an event of keys, like a dict, where finding slots first does not pay (a
   few rows of a very wide matrix), where they would not stay valid (under a ceiling or a budget
   slots are reused while the batch is learned), or where features are paired.

   A text is always written as an event.

   With `ends`, rows are candidates rather than events, in queries of consecutive rows. To predict,
   a query is one event. To learn, there is an event for each row for which the query has rows of a
   higher grade (y): it consists of this row and those, and this row should be the worst of them. So
   the values are negated, and the best score is the worst row. A query is written once, and each
   event is taken from it. The documents of a query are learned several times in a row, so the
   vectors are judged by their answers before they learned any of them.

   A block is checked right before it is used, so that it is read from memory once (sp_batch_next).

   Rows may be taken in another order, or only some of them (`order`). Then n_rows, sp_batch_next
   and sp_batch_rows count places in that order; labels, weights and answers stay at the rows' own
   places. All rows must have been checked before. A query comes whole, with its rows in their own
   order. */

#ifndef STREAMPTRON_PATH_BATCH_H
#define STREAMPTRON_PATH_BATCH_H

#include "events/ahead.h"
#include "events/event.h"
#include "events/matrix.h"
#include "events/text.h"
#include "memory/types.h"
#include "names/key.h"
#include "path/path.h"

enum {
    SP_BLOCK_VALUES = 2048,  /* with their columns 24 KiB */
    SP_BLOCK_TEXTS = 64,     /* some thousand words */
    SP_ORDER_AHEAD = 4,      /* rows in an order are fetched a quarter of a block ahead */
    SP_PLACE_LEAST = 4,      /* finding all places pays from so many entries per column, */
    SP_PLACE_MOST = 1 << 15, /* for up to so many columns: 128 KiB; more new pages cost more */

    SP_COLUMNS_MOST = 1 << 22, /* columns whose slots a model remembers, in 4 bytes each */
    SP_COLUMNS_FEW = 1 << 16,  /* so many are remembered however small a batch is */
};

/* A row's set of labels: the numbers of those that it has, then of those that it does not have. */
typedef struct sp_targets {
    const uint32_t *labels;
    uint32_t n;
    uint32_t n_there;
    uint32_t open; /* whether others are left open; otherwise they are absent */
} sp_targets;

typedef struct sp_batch {
    sp_learner *learner;
    sp_event *event;
    ptrdiff_t n_rows;
    const ptrdiff_t *order;  /* the row of each place; NULL: rows in order */
    const sp_matrix *matrix; /* NULL: texts */
    sp_matrix_scratch scratch;
    uint32_t *lacking; /* columns of a row that need weights */
    ptrdiff_t lacking_capacity;
    sp_slot_type *slots; /* by column; NULL: every row is an event of keys */
    int32_t *places;     /* of the slots, by column (sp_table_place); NULL: not known */
    const sp_key *keys;  /* by column; NULL: column j is the int j */
    const sp_text_rule *rule;
    const sp_piece *pieces; /* n_pieces for each row */
    const sp_piece *prefixes;
    int n_pieces;
    sp_ahead *ahead; /* rows written already; NULL: none */
    sp_text text;
    /* what is wanted; NULL: not wanted */
    const ptrdiff_t *y;  /* below 0: only predict */
    const double *steps; /* NULL: 1 for all */
    const sp_targets *targets; /* by row: its set of labels; NULL: one label, y */
    ptrdiff_t *predictions;
    double *decisions;
    ptrdiff_t n_decisions; /* doubles per row */
    double *probabilities;
    ptrdiff_t n_probabilities;
    double *confidences; /* the probability of each prediction */
    ptrdiff_t block_rows;
    const ptrdiff_t *ends; /* by row: where its query ends; NULL: rows are events */
    sp_event *query;       /* all rows of a query */
    ptrdiff_t first;       /* the first of them */
} sp_batch;

/* Begin a batch of a matrix's rows; nothing is wanted yet. */
SP_API void sp_batch_matrix(sp_batch *batch, sp_learner *learner, sp_event *event,
                            const sp_matrix *matrix);

/* Begin a batch of texts, of n_pieces pieces each. */
SP_API void sp_batch_texts(sp_batch *batch, sp_learner *learner, sp_event *event,
                           const sp_text_rule *rule, const sp_piece *prefixes, int n_pieces,
                           const sp_piece *pieces, ptrdiff_t n_rows);

SP_API void sp_batch_free(sp_batch *batch);

/* Where the block that starts at a row ends. */
SP_API ptrdiff_t sp_batch_next(const sp_batch *batch, ptrdiff_t first);

/* Find the columns' slots and places; `columns`: the keys of named ones. -1 if out of memory. */
SP_API int sp_batch_columns(sp_batch *batch, bool named, bool learning, sp_event *columns);

/* The first row from `first` on whose features cannot be paired, or where it stopped; n_rows: none.
   Nothing is learned. */
SP_API ptrdiff_t sp_batch_unfit(sp_batch *batch, ptrdiff_t first);

/* Predict and learn the checked rows first .. last - 1. Returns `last`, or the row where it
   stopped. */
SP_API ptrdiff_t sp_batch_rows(sp_batch *batch, ptrdiff_t first, ptrdiff_t last, bool zeros);

#endif
