/* A matrix in the caller's memory: sparse rows (CSR) or dense ones, of any kind of number.

       sparse   row r is columns[k], values[k] for k in starts[r] .. starts[r + 1]
       dense    the value of column j in row r is at values + r row_stride + j column_stride (bytes)

   Rows are checked before they are read: every value must be finite, at most SP_VALUE_LIMIT in
   size, and exact as a double; columns must be in range, and rise within a row. The check takes the
   values in long runs, which compilers can vectorize, and says only whether something is wrong.
   sp_matrix_fault then finds what is wrong, and where.

   A row is read in place if it can be: columns of 32 bits, values that are doubles, and no zeros.
   Otherwise it is copied into scratch, without its zeros. */

#ifndef STREAMPTRON_EVENTS_MATRIX_H
#define STREAMPTRON_EVENTS_MATRIX_H

#include "memory/heap.h"

enum {
    SP_NUMBER_U8 = 0, /* and truth values */
    SP_NUMBER_I8 = 1,
    SP_NUMBER_U16 = 2,
    SP_NUMBER_I16 = 3,
    SP_NUMBER_U32 = 4,
    SP_NUMBER_I32 = 5,
    SP_NUMBER_U64 = 6,
    SP_NUMBER_I64 = 7,
    SP_NUMBER_F32 = 8,
    SP_NUMBER_F64 = 9,

    SP_LINE = 64, /* bytes of a cache line */

    SP_MATRIX_FAULTY = 1, /* bits that sp_matrix_check returns */
    SP_MATRIX_ZEROS = 2,
    SP_MATRIX_UNSORTED = 4,

    SP_FAULT_NONE = 0,
    SP_FAULT_STARTS = 1, /* the row's start or end */
    SP_FAULT_COLUMN = 2, /* out of range */
    SP_FAULT_VALUE = 3,  /* NaN, infinite, too large */
    SP_FAULT_LOSS = 4,   /* an int that is not exact as a double */
};

typedef struct sp_matrix {
    ptrdiff_t n_rows;
    ptrdiff_t n_columns;
    bool dense;
    int number; /* NUMBER_ kind of the values */
    const char *values;
    ptrdiff_t n_values; /* as stored */
    bool long_columns;  /* sparse: starts and columns are int64, not int32 */
    const char *starts;
    const char *columns;
    ptrdiff_t row_stride; /* dense */
    ptrdiff_t column_stride;
} sp_matrix;

/* a row of up to so many entries */
typedef struct sp_matrix_scratch {
    uint32_t *columns;
    double *values;
    ptrdiff_t capacity;
} sp_matrix_scratch;

static inline ptrdiff_t sp_matrix_start(const sp_matrix *m, ptrdiff_t r)
{
    if (m->long_columns)
        return (ptrdiff_t)((const int64_t *)m->starts)[r];
    return ((const int32_t *)m->starts)[r];
}

/* The column of the k-th stored value of a sparse matrix. */
static inline int64_t sp_matrix_column(const sp_matrix *m, ptrdiff_t k)
{
    if (m->long_columns)
        return ((const int64_t *)m->columns)[k];
    return ((const int32_t *)m->columns)[k];
}

/* Where the entries of a row are: positions among the stored values, or columns. */
static inline void sp_matrix_span(const sp_matrix *m, ptrdiff_t r, ptrdiff_t *first,
                                  ptrdiff_t *last)
{
    *first = m->dense ? 0 : sp_matrix_start(m, r);
    *last = m->dense ? m->n_columns : sp_matrix_start(m, r + 1);
}

/* Check rows first .. last - 1. Returns SP_MATRIX_ bits, 0 if there is nothing to note. */
SP_API int sp_matrix_check(const sp_matrix *m, ptrdiff_t first, ptrdiff_t last);

/* The first fault in rows that sp_matrix_check found faulty: its kind, its row, its entry. */
SP_API int sp_matrix_fault(const sp_matrix *m, ptrdiff_t first, ptrdiff_t last, ptrdiff_t *row,
                           ptrdiff_t *entry);

/* Entry k of row r. */
SP_API double sp_matrix_value(const sp_matrix *m, ptrdiff_t r, ptrdiff_t k);

/* Read a checked row; `zeros`: it may have zeros. Returns the number of entries.

   -1 if out of memory. */
SP_HOT ptrdiff_t sp_matrix_row(const sp_matrix *m, ptrdiff_t r, bool zeros,
                               sp_matrix_scratch *scratch, const uint32_t **columns,
                               const double **values);

/* Prefetch the values that lie `ahead` entries after a sparse row, as many as the row has.

   Memory is idle while a row is learned, so the values are there when the next block is checked. */
SP_HOT void sp_matrix_prefetch(const sp_matrix *m, ptrdiff_t r, ptrdiff_t ahead);

/* Prefetch half of a sparse row that is not next in memory.

   A processor can fetch some twenty cache lines at once, and stalls on more. So a row's columns and
   a quarter of its values are prefetched at one moment, the other values at another. */
SP_PRIVATE void sp_matrix_prefetch_half(const sp_matrix *m, ptrdiff_t r, bool second);

static inline void sp_matrix_scratch_free(sp_matrix_scratch *scratch)
{
    sp_free(scratch->columns);
    sp_free(scratch->values);
}

#endif
