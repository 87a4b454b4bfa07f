/* Rows as a flat array, the way a model file or a delta holds them, and back.

       marks    uint32  [1 + entries, 4]  zeros; then row by row, as the slots are stored: a label's
                                          number, and the bits of the floats c, w and G

   In the stored slots (of 32 bytes, with a row at byte 16) a row says which of the marks is its
   first, and how many entries it has. So rows can be used where they lie, and in memory they are
   the blocks of an arena.

   Reading trusts nothing: a number is checked before it is used. */

#ifndef STREAMPTRON_ROWS_MARKS_H
#define STREAMPTRON_ROWS_MARKS_H

#include "rows/state.h"

enum {
    SP_MARKS_MEMORY = 1,
    SP_MARKS_WRONG = 2,
    SP_MARKS_WIDTH = 4,
    SP_STORED_WIDTH = 4, /* doubles of a slot with a row */
};

/* The row of a stored slot. */
static inline sp_sparse *sp_stored_row(double *slot)
{
    return (sp_sparse *)(void *)(slot + 2);
}

static inline const sp_sparse *sp_stored_row_of(const double *slot)
{
    return (const sp_sparse *)(const void *)(slot + 2);
}

/* How many marks the rows of n slots are, as they lie in a table or in arrays. */
SP_PRIVATE size_t sp_marks_count(const double *slots, size_t n);

/* Write down the rows of n slots, copied from a table, from mark `at` on, and say in the slots
   where they are. The mark behind them. */
SP_PRIVATE size_t sp_marks_write(const sp_sparse_rows *rows, double *slots, size_t n,
                                 uint32_t *marks, size_t at);

/* A slot without where its row is, as in the arrays. */
SP_PRIVATE void sp_marks_clear_addresses(double *slot);

/* Whether the first of n marks is that of no row. */
SP_PRIVATE bool sp_marks_begin(const uint32_t *marks, size_t n);

#define SP_MARK_VALUE 8.0f /* what one value counts at most, times its sample weight */
#define SP_MARK_C 0x1p120f /* the largest c of a row that is not a feature's */

/* The largest count of a label of a feature that has come cnt times, and the least: `negative`: its
   values have been. Of a sample weight next to 0 a count may round to nothing, and its c not. */
static inline float sp_c_most(float cnt)
{
    return SP_MARK_VALUE * cnt + 0x1p-100f;
}

static inline float sp_c_least(float cnt, bool negative)
{
    return negative ? -sp_c_most(cnt) : 0.0f;
}

/* Whether n entries are those of a row, with c from least to most. */
SP_PRIVATE bool sp_entries_are_sound(const sp_entry *entries, uint32_t n, size_t n_labels,
                                     float least, float most);

/* Whether they are those of a slot whose c count what its feature has: it begins with s and cnt. */
SP_PRIVATE bool sp_counts_are_sound(const double *slot, const sp_entry *entries, uint32_t n,
                                    size_t n_labels);

/* Whether the rows of n slots, which lie there in order from mark `at` on, are some of so many
   labels; `at` is then behind them. `counts`: see sp_counts_are_sound. */
SP_PRIVATE bool sp_marks_are_sound(const double *slots, size_t n, const uint32_t *marks,
                                   size_t n_marks, size_t n_labels, bool counts, size_t *at);

/* The rows of n slots, which have been copied from arrays, into an arena; as above. 0, or what is
   wrong. */
SP_PRIVATE int sp_marks_read(sp_sparse_rows *rows, double *slots, size_t n, const uint32_t *marks,
                             size_t n_marks, size_t n_labels, bool counts, size_t *at);

#endif
