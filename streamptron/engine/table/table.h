/* The weights: a slot of doubles for each feature, and what is kept beside each weight.

   A feature has one short slot. In it each output has its fields side by side, so that one cache
   line serves every kept vector:

       w       the current weight
       v       the averaging term              (if average is not NONE)
       p, e    the pocket's copy and its stamp (if pocket)
       k       what the rule keeps             (if it keeps anything, see table/keep.h)

   The learner says which of these it wants (sp_table_init), and an sp_layout says where each of
   them is. Nothing else knows the widths. The loops over slots are in table/loops.h.

       block of 1 output (binary)        block of 4 outputs (multiclass)
       slot i   [ w v ]                  slot i   [ w v ][ w v ][ w v ][ w v ]    64 bytes, one line

   More than four outputs take several blocks, each a chunked array of its own. So a new label moves
   no slot, however many features there are. A chunk of 256 slots is made when it is first written.
   Until then its place points to a chunk of zeros that all tables share, so that reading needs no
   test.

   The running average. Every average we want has the form avg_t = (1 - a_t) avg_{t-1} + a_t w_t.
   Let D = w - avg; then D_t = (1 - a_t)(D_{t-1} + delta_t). So D = s v, with one scalar s for the
   whole table and a v that changes only where w does:

       on an update   w += delta,  v += delta / s
       on every event              s *= 1 - a_t
       to read        avg = w - s v

   UNIFORM: a_t = 1/(t+1) gives s = 1/c with c = t + 1, v = u: the mean of w_0 .. w_T, algorithm 7
   of Daume's A Course in Machine Learning. c is kept instead of s because it is exact.

   EXPONENTIAL: a constant a, s = (1-a)^t. Before s gets too small to divide by, it is multiplied by
   2^256 and a fold is counted. A chunk remembers how many folds its v have seen. It is read with
   the missing factor, and catches up when it is next written. These are powers of two, so nothing
   is rounded, and no sweep over all features is needed.

   The pocket. A snapshot copies nothing: it increments the table's epoch. A weight saves its old
   value when it is first written after a snapshot, so pocket = p if e == epoch else w.

   What is done for the slots of an event costs O(non-zeros). Three functions go through all chunks.
   They are called rarely: when a model is copied, when a third label joins two that shared an
   output, and when tests look for a fault.

       sp_table_copy     the same weights, in one region of memory
       sp_table_split    one output, w, becomes two: w for the positive label and -w for the other
       sp_table_fault    for the tests: what is wrong with a table, if anything */

#ifndef STREAMPTRON_TABLE_TABLE_H
#define STREAMPTRON_TABLE_TABLE_H

#include "events/step.h"
#include "memory/places.h"
#include "memory/pool.h"
#include "memory/types.h"
#include "table/keep.h"
#include "table/layout.h"

enum {
    SP_KEPT_CURRENT = 0, /* the vectors that can be read, in this order everywhere */
    SP_KEPT_AVERAGE = 1,
    SP_KEPT_POCKET = 2,
    SP_KEPT_KINDS = 3,

    SP_FAR = 1 << 20, /* bytes of a table whose slots are prefetched */
};

typedef struct sp_block {
    double **chunks;     /* table.zeros: not written yet */
    uint32_t *folds;     /* folds each chunk has seen (EXPONENTIAL only) */
    sp_places of_chunks; /* the growth of these two */
    sp_places of_folds;
    size_t n_made; /* leading chunks that are known to be written */
} sp_block;

typedef struct sp_table sp_table;

/* How slots are stored. A NULL function: each output's fields are side by side, as sp_layout
   says. */
typedef struct sp_slot_kind {
    ptrdiff_t (*blocks_for)(const sp_table *table, ptrdiff_t n_outputs);
    double (*read)(const sp_table *table, sp_slot_type slot, ptrdiff_t output, int kind);
    double (*size)(const sp_table *table, sp_slot_type slot);
    /* an output's fields; NULL: there are none */
    const double *(*field)(const sp_table *table, sp_slot_type slot, ptrdiff_t output);
    void (*clear)(sp_table *table, sp_slot_type slot); /* before clearing it; NULL: nothing to do */
    /* what is wrong with n rows of a block, SP_ROWS_; NULL: only the machine can say */
    int (*fault)(const sp_table *table, ptrdiff_t block, const double *rows, size_t n);
} sp_slot_kind;

enum {
    SP_ROWS_NUMBER = 1,  /* learning cannot have made a number */
    SP_ROWS_NOBODYS = 2, /* there are numbers for an output that does not exist */
};

struct sp_table {
    const sp_slot_kind *kind;
    void *arena; /* what slots of this kind store elsewhere; the machine's */
    int average;
    sp_layout layout; /* of an output's doubles */
    int lanes;        /* outputs per block */
    int width;        /* doubles per slot of a block */
    bool borrowed;    /* all chunks are in a mapped file, and must not be written */
    bool is_full_size; /* there will be no more chunk places */
    ptrdiff_t n_outputs;
    ptrdiff_t n_blocks;
    sp_block *blocks;
    double *zeros;   /* a chunk of zeros, never written, shared by all tables */
    size_t n_chunks; /* chunk places in every block, at least one */
    double c;        /* UNIFORM: 1 + events seen */
    double s;        /* EXPONENTIAL: D = s v */
    double fade;     /* EXPONENTIAL: 1 - a */
    uint32_t fold;
    double epoch; /* of the pocket: snapshots so far, plus one */
    sp_pool pool; /* of chunks */
    size_t bytes; /* taken from the heap, without the pool */
};

/* kept in a new chunk until all new chunks have been made */
typedef struct sp_fresh {
    struct sp_fresh *next;
    ptrdiff_t block;
    size_t chunk;
} sp_fresh;

static inline size_t sp_chunk_bytes(const sp_table *table)
{
    return (size_t)(SP_CHUNK_SLOTS * table->width) * sizeof(double);
}

/* Which vectors are kept beside the current weights, and which of them answers. */
typedef struct sp_vectors {
    int average;    /* SP_AVERAGE_ */
    double halving; /* of the exponential average: a weight counts half after so many events */
    bool pocket;
    int serve; /* SP_KEPT_, or SP_SERVE_BEST */
} sp_vectors;

static const sp_vectors sp_current_alone = {SP_AVERAGE_NONE, 1.0, false, SP_KEPT_CURRENT};

/* `keep`: what the rule keeps. `several`: outputs come in blocks of LANES; otherwise there is
   one. `scattered`: see sp_pool_init. */
SP_PRIVATE void sp_table_init(sp_table *table, const sp_vectors *vectors, int keep, bool several,
                              bool scattered);

/* Add n outputs with weights of zero. Returns -1 if out of memory. */
SP_API int sp_table_add_outputs(sp_table *table, ptrdiff_t n);

SP_PRIVATE void sp_table_free(sp_table *table);

/* Make room for `places` chunks; `whole`: there will be no more. -1 if out of memory. */
SP_PRIVATE int sp_table_reserve_places(sp_table *table, size_t places, bool whole);

static inline void sp_table_set_chunk(sp_block *block, size_t chunk, double *slots)
{
    double **next = (double **)sp_places_next(&block->of_chunks, chunk);
    block->chunks[chunk] = slots;
    block->n_made = SP_MIN(block->n_made, chunk);
    if (next != NULL)
        *next = slots;
}

static inline void sp_table_set_folds(sp_block *block, size_t chunk, uint32_t folds)
{
    uint32_t *next = (uint32_t *)sp_places_next(&block->of_folds, chunk);
    block->folds[chunk] = folds;
    if (next != NULL)
        *next = folds;
}

/* Make sure that these slots, all below n_slots, can be written in these blocks.

   Returns -1 if out of memory; then no chunk has been made. */
SP_API int sp_table_reserve_blocks(sp_table *table, const sp_slot_type *slots, ptrdiff_t n,
                                   sp_slot_type n_slots, const uint32_t *blocks,
                                   ptrdiff_t n_blocks);

typedef struct sp_wanted {
    const sp_slot_type *slots;
    ptrdiff_t n;
    const uint32_t *blocks;
    ptrdiff_t n_blocks;
} sp_wanted;

/* The same for several sets of slots, each in blocks of its own: all of them, or none. */
SP_API int sp_table_reserve_all(sp_table *table, sp_slot_type n_slots, const sp_wanted *wanted,
                                int n);

/* Whether the first block is known to have chunks for so many slots, as it has where every event
   writes its slots. */
static inline bool sp_table_is_made(const sp_table *table, sp_slot_type n_slots)
{
    return table->blocks->n_made == table->n_chunks
           && (n_slots - 1) >> SP_CHUNK_BITS < table->n_chunks;
}

/* The same for the outputs of these moves. */
SP_API int sp_table_reserve(sp_table *table, const sp_slot_type *slots, ptrdiff_t n,
                            sp_slot_type n_slots, const sp_move *moves, int n_moves);

SP_PRIVATE sp_entries sp_entries_of(const sp_slot_type *slots, const double *x, ptrdiff_t n);

/* The scores of a table of one output. */
SP_HOT void sp_score_one(const sp_table *table, const sp_entries *entries, bool intercept,
                         ptrdiff_t n_scores, double *scores);

/* The scores of a table of several outputs, a few blocks at a time. */
SP_HOT void sp_score_several(const sp_table *table, const sp_entries *entries, ptrdiff_t n_scores,
                             double *scores);

/* Write scores[kind * n_scores + output] for the kinds that are kept, SP_KEPT_CURRENT always. */
SP_TEMPLATE void sp_table_scores(const sp_table *table, const sp_slot_type *slots,
                                   const double *x, ptrdiff_t n, ptrdiff_t n_scores, double *scores)
{
    sp_entries entries = sp_entries_of(slots, x, n);
    if (table->lanes == 1)
        sp_score_one(table, &entries, false, n_scores, scores);
    else
        sp_score_several(table, &entries, n_scores, scores);
}

/* The same for a table of one output, and entries by column, whose slots or places are known.

   `intercept`: an entry of value 1 in the intercept's slot comes before the given ones. */
static inline void sp_table_scores_through(const sp_table *table, const sp_entries *entries,
                                           bool intercept, double *scores)
{
    sp_score_one(table, entries, intercept, 1, scores);
}

/* The fields of one weight, whose chunk must have a place. */
static inline double *sp_lane(const sp_table *table, sp_slot_type slot, ptrdiff_t output)
{
    return table->blocks[output / table->lanes].chunks[slot >> SP_CHUNK_BITS]
           + (slot & SP_CHUNK_MASK) * (uint32_t)table->width
           + output % table->lanes * table->layout.fields;
}

/* The fields of one weight, however they are stored; NULL, or zeros: there are none. */
SP_PRIVATE const double *sp_table_field(const sp_table *table, sp_slot_type slot, ptrdiff_t output);

/* How many folds they have seen. The slot must have a place. */
SP_PRIVATE uint32_t sp_table_folds(const sp_table *table, sp_slot_type slot, ptrdiff_t output);

/* Whether scores and steps need only a slot's place. With folds they also need its chunk. */
static inline bool sp_table_has_places(const sp_table *table)
{
    return table->lanes == 1 && table->average != SP_AVERAGE_EXPONENTIAL;
}

/* Whether a slot of a table of one output can be written: it has a chunk, and is not the null
   slot. */
static inline bool sp_table_can_write(const sp_table *table, sp_slot_type slot)
{
    return slot != SP_SLOT_NULL && slot >> SP_CHUNK_BITS < table->n_chunks
           && table->blocks->chunks[slot >> SP_CHUNK_BITS] != table->zeros;
}

/* The place of a slot in a table of one output: its distance from the null slot, in doubles.

   0, the null slot's own place, for a slot that cannot be written. Returns false if it is too far
   away. */
static inline bool sp_table_place(const sp_table *table, sp_slot_type slot, int32_t *place)
{
    intptr_t behind = 0;
    if (sp_table_can_write(table, slot))
        behind = ((intptr_t)sp_lane(table, slot, 0) - (intptr_t)table->blocks->chunks[0]) >> 3;
    *place = (int32_t)behind;
    return *place == behind;
}

static inline bool sp_table_keeps(const sp_table *table, int kind)
{
    if (kind == SP_KEPT_AVERAGE)
        return table->average != SP_AVERAGE_NONE;
    return kind == SP_KEPT_CURRENT || table->layout.p >= 0;
}

/* The second sums of an event for m of its moves; see table/keep.h. `intercept`: as in
   sp_table_add.

   An output that has not been added yet has nothing. */
SP_PRIVATE void sp_table_second(const sp_table *table, const sp_entries *entries, bool intercept,
                                sp_move *move, ptrdiff_t m);

/* Apply m moves of an event: w += a x for each, and update average, pocket and rule's numbers.

   The slots must be reserved. The event is gone through once for each block that moves.
   `intercept`: as in sp_table_scores_through. */
SP_HOT void sp_table_add(sp_table *table, const sp_entries *entries, bool intercept,
                         const sp_move *move, ptrdiff_t m, double r);

/* Advance the averages' clock by one event. */
SP_PRIVATE void sp_table_tick(sp_table *table);

/* Put the current weights into the pocket. */
static inline void sp_table_snapshot(sp_table *table)
{
    table->epoch += 1.0;
}

/* One weight of one kept vector. */
SP_API double sp_table_read(const sp_table *table, sp_slot_type slot, ptrdiff_t output, int kind);

/* Set a weight of a reserved slot before anything is learned; all kept vectors start there. */
SP_API void sp_table_write(sp_table *table, sp_slot_type slot, ptrdiff_t output, double w);

/* For each of n slots its largest |weight|, over all outputs and kept vectors. */
SP_PRIVATE void sp_table_sizes(const sp_table *table, const sp_slot_type *slots, ptrdiff_t n,
                               double *sizes);

/* Prefetch the weights of n slots of one chunk. */
SP_PRIVATE void sp_table_prefetch(const sp_table *table, sp_slot_type slot, sp_slot_type n);

/* Set a slot back to zeros. */
SP_PRIVATE void sp_table_clear(sp_table *table, sp_slot_type slot);

/* The 256 slots of a chunk, or NULL if none was ever written. */
static inline double *sp_table_chunk(const sp_table *table, ptrdiff_t block, size_t chunk)
{
    double *slots = table->blocks[block].chunks[chunk];
    return slots == table->zeros ? NULL : slots;
}

/* Bring the averaging terms of a copy of a chunk's slot to the table's fold. */
SP_PRIVATE void sp_table_fold_row(const sp_table *table, ptrdiff_t block, size_t chunk,
                                  double *row);

/* A second table of the same weights. -1 if out of memory. Call sp_table_free in either case. */
SP_PRIVATE int sp_table_copy(sp_table *to, const sp_table *other);

/* A second table, with two outputs where the first has one: w for one of them, -w for the other.

   What the rule keeps is the same for both. Returns -1 if out of memory. Call sp_table_free in
   either case. */
SP_PRIVATE int sp_table_split(sp_table *to, const sp_table *one, int positive);

/* What is wrong with a table of n_slots slots in use, or NULL. It checks everything. */
SP_PRIVATE const char *sp_table_fault(const sp_table *table, sp_slot_type n_slots);

/* What is wrong with n rows of a block from a file or a delta, as far as a table can tell: 0, or
   SP_ROWS_. */
SP_PRIVATE int sp_table_rows_fault(const sp_table *table, ptrdiff_t block, const double *rows,
                                   size_t n);

/* Whether all rows are sound. */
SP_PRIVATE bool sp_table_is_sound(const sp_table *table);

#endif
