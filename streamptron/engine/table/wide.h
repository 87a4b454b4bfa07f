/* The weights of a learner with many labels: each feature has a row with only the labels for which
   a step has moved it.

   A chunk of a block of four outputs (table/table.h) has numbers for 256 features and four labels
   as soon as one of these features is moved for one of these labels. With thousands of labels
   nearly all numbers would be zeros, and a step moves two labels. Here a slot has eight bytes,
   which say where its row is, and a row has numbers only for its own labels:

       slot     [ block u32 | n, size u32 ]

       row      [ w v ][ w v ][ w v ]  k  k  k          n = 3, with a uniform average: 60 bytes
                  of label 2   7   9   2  7  9

   First come the fields of each label, as sp_layout says, then the labels themselves, rising. The
   layout of a row depends only on n, so the bytes in a file are the same. A row is in a block of
   the arena of rows/rows.h, and takes as many of the arena's entries of 16 bytes as it needs; the
   rest of the last one is zeros. A label that is not there counts as zeros in all fields; a step
   makes its entry.

   The sums are those of the other form, bit for bit: each has one accumulator, which takes the
   event's entries in their order, and a label that is not there would add nothing. So this is only
   another form: a table takes it when it has more than SP_WIDE_FROM labels, and no answer changes.

   Averages are made of two sums, as in the other form. They and the best label take one pass over
   all labels, whose numbers are side by side. With an exponential average all terms have seen all
   folds of the table: a fold, once in 256 half-lives, goes through all rows.

   Functions in this file: sp_wide_of, sp_wide_find .. (a row); sp_wide_score, sp_wide_second,
   sp_wide_move (an event); sp_wide_reformed (the other form becomes this one). */

#ifndef STREAMPTRON_TABLE_WIDE_H
#define STREAMPTRON_TABLE_WIDE_H

#include "names/index.h"
#include "rows/rows.h"
#include "table/table.h"

#ifndef SP_WIDE_FROM
  #define SP_WIDE_FROM 32 /* labels; with more there are rows */
#endif

enum {
    SP_WIDE_UNIT = sizeof(sp_entry), /* bytes */
    SP_WIDE_ROW_MOST = (1 << 26) - 1, /* labels */
};

/* A slot: where its row is. */
typedef struct sp_wide {
    uint32_t block;    /* 0: none */
    uint32_t n : 26;   /* labels in use */
    uint32_t size : 6; /* the class of the block */
} sp_wide;

/* Room for a row that a step makes longer. */
typedef struct sp_wide_room {
    uint32_t block; /* 0: there is enough room */
    int size;
    bool fresh; /* the slot is new, or was another feature's */
} sp_wide_room;

static inline bool sp_table_is_wide(const sp_table *table)
{
    return table->lanes == 0;
}

static inline sp_sparse_rows *sp_wide_rows(const sp_table *table)
{
    return (sp_sparse_rows *)table->arena;
}

/* A slot, whose chunk has been written or is the chunk of zeros. */
static inline sp_wide *sp_wide_of(const sp_table *table, sp_slot_type slot)
{
    return (sp_wide *)(void *)(table->blocks->chunks[slot >> SP_CHUNK_BITS]
                               + (slot & SP_CHUNK_MASK));
}

/* The units that n labels take. */
static inline size_t sp_wide_units(const sp_layout *layout, size_t n)
{
    const size_t bytes = n * (sizeof(double) * (size_t)layout->fields + sizeof(uint32_t));
    return (bytes + SP_WIDE_UNIT - 1) / SP_WIDE_UNIT;
}

/* The fields of a row's first label; the others' follow. */
static inline double *sp_wide_fields(const sp_sparse_rows *rows, const sp_wide *row)
{
    return (double *)(void *)sp_rows_at(rows, row->block);
}

/* The labels of a row of n, whose fields begin at `fields`. */
static inline uint32_t *sp_wide_labels(const sp_layout *layout, double *fields, size_t n)
{
    return (uint32_t *)(void *)(fields + n * (size_t)layout->fields);
}

/* Whether a row lies within the arena: rows in a file have not been checked. */
SP_PRIVATE bool sp_wide_is_there(const sp_table *table, const sp_wide *row);

/* Whether n labels, with their fields before them, can be a row. */
SP_PRIVATE bool sp_wide_is_sound(const sp_table *table, const double *fields, size_t n);

/* Whether fields count the same as a missing label. */
static inline bool sp_wide_is_nothing(const sp_layout *layout, const double *fields)
{
    double of = fields[0] != 0.0;
    for (int f = 1; f < layout->fields; f++)
        of += f != layout->e && fields[f] != 0.0;
    return of == 0.0;
}

/* The fields of one label; NULL: there are none. */
SP_PRIVATE double *sp_wide_find(const sp_table *table, sp_slot_type slot, ptrdiff_t output);

/* The same, made if need be; there must be room for one more. */
SP_PRIVATE double *sp_wide_insert(sp_table *table, sp_wide *row, uint32_t k);

/* Make room for n labels in a row. -1 if out of memory; its contents stay in either case. */
SP_PRIVATE int sp_wide_reserve(sp_table *table, sp_wide *row, size_t n);

/* Give a slot without a row one of n labels, with their fields before them. -1 if out of memory. */
SP_PRIVATE int sp_wide_put(sp_table *table, sp_wide *row, const void *fields, size_t n);

/* As sp_table_scores. False: a row in a file is damaged. */
SP_PRIVATE bool sp_wide_score(const sp_table *table, const sp_slot_type *slots, const double *x,
                              ptrdiff_t n, ptrdiff_t n_scores, double *scores);

/* As sp_table_second. */
SP_PRIVATE void sp_wide_second(const sp_table *table, const sp_entries *entries, sp_move *move,
                               ptrdiff_t m);

/* Room for m moves of an event in its slots, all below n_slots: chunks and rows. -1 if out of
   memory; then nothing has been made. Which slots are fresh has been noted before. */
SP_PRIVATE int sp_wide_make_rooms(sp_table *table, const sp_slot_type *slots, ptrdiff_t n,
                                  sp_slot_type n_slots, const sp_move *move, ptrdiff_t m,
                                  sp_wide_room *rooms);

/* Give the row of a slot the room that was made for it. */
SP_PRIVATE void sp_wide_use_room(sp_table *table, sp_slot_type slot, sp_wide_room *room);

/* As sp_table_add, but leaves out null slots. */
SP_PRIVATE void sp_wide_move(sp_table *table, const sp_entries *entries, const sp_move *move,
                             ptrdiff_t m, double r, sp_wide_room *rooms);

/* As sp_table_tick. */
SP_PRIVATE void sp_wide_tick(sp_table *table);

/* Multiply the averaging terms of all rows by 2^-256, `folds` times. */
SP_PRIVATE void sp_wide_fold(const sp_table *table, uint32_t folds);

/* An empty table of this form, with the clock and the outputs of another. -1 if out of memory. Call
   sp_wide_drop in either case. */
SP_PRIVATE int sp_wide_begin(sp_table *to, const sp_table *like);

/* A second table of the same weights, from one of the other form, whose slots are those of the
   index. -1 if out of memory. Call sp_wide_drop in either case. */
SP_PRIVATE int sp_wide_reformed(sp_table *to, const sp_table *dense, const sp_index *index,
                                sp_slot_type n_slots);

/* The same, from one of this form, which may be in a mapped file. */
SP_PRIVATE int sp_wide_copied(sp_table *to, const sp_table *other, const sp_index *index,
                              sp_slot_type n_slots);

/* Free a table of this form, and its rows. */
SP_PRIVATE void sp_wide_drop(sp_table *table);

#endif
