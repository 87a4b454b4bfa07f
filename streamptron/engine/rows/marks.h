/* Rows as a flat array, as in a model file or a delta, and back.

       marks    uint32  [1 + entries, 4]  zeros; then row by row, as the slots are stored: a label's
                                          number, and the bits of the floats c, w and G

   In the stored slots (of 32 bytes, with a row at byte 16) a row says which mark is its first, and
   how many entries it has. So rows can be used in place; read into memory, they are blocks of an
   arena.

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

/* The number of marks of the rows of n slots, in a table or in arrays. */
SP_PRIVATE size_t sp_marks_count(const double *slots, size_t n);

/* Write the rows of n slots, copied from a table, from mark `at` on, and note in the slots where
   they are. Returns the mark behind them. */
SP_PRIVATE size_t sp_marks_write(const sp_sparse_rows *rows, double *slots, size_t n,
                                 uint32_t *marks, size_t at);

/* Remove from a slot where its row is, as in the arrays. */
SP_PRIVATE void sp_marks_clear_addresses(double *slot);

/* Whether the first of n marks is the one of zeros, which belongs to no row. */
SP_PRIVATE bool sp_marks_begin(const uint32_t *marks, size_t n);

#define SP_MARK_VALUE 8.0f /* the most that one value counts, times its sample weight */
#define SP_MARK_C 0x1p120f /* the largest c of a row that is not a feature's */

/* The largest and the least count c of a label for a feature that has come cnt times. `negative`:
   it has had negative values. With a tiny sample weight cnt may round to 0, and c may not. */
static inline float sp_c_most(float cnt)
{
    return SP_MARK_VALUE * cnt + 0x1p-100f;
}

static inline float sp_c_least(float cnt, bool negative)
{
    return negative ? -sp_c_most(cnt) : 0.0f;
}

/* Whether n entries can be a row, with c from least to most. */
SP_PRIVATE bool sp_entries_are_sound(const sp_entry *entries, uint32_t n, size_t n_labels,
                                     float least, float most);

/* The same for a feature's slot, which begins with s and cnt: cnt bounds c. */
SP_PRIVATE bool sp_counts_are_sound(const double *slot, const sp_entry *entries, uint32_t n,
                                    size_t n_labels);

/* Whether the rows of n slots, in order from mark `at` on, can be rows of so many labels. `at` is
   then behind them. `counts`: see sp_counts_are_sound. */
SP_PRIVATE bool sp_marks_are_sound(const double *slots, size_t n, const uint32_t *marks,
                                   size_t n_marks, size_t n_labels, bool counts, size_t *at);

/* Read the rows of n slots, which have been copied from arrays, into an arena, likewise. 0, or what
   is wrong. */
SP_PRIVATE int sp_marks_read(sp_sparse_rows *rows, double *slots, size_t n, const uint32_t *marks,
                             size_t n_marks, size_t n_labels, bool counts, size_t *at);

#endif
