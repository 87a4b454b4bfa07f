#include "events/matrix.h"

#include <math.h>

#include "memory/compiler.h"
#include "memory/grow.h"

/* The two loops that check every number of a matrix before it is used. */

/* Without their signs, doubles are ordered like the ints of the same bits. So bits > limit if limit
   - bits has its top bit set, and bits = 0 if bits - 1 has. Bit 0: a value beyond the limit; bit 1:
   a zero. */
SP_AVX2(int, sp_check_doubles, (const double *values, ptrdiff_t n), (values, n))
{
    uint64_t over = 0, under = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        uint64_t bits = sp_bits_of(values[i]) & UINT64_C(0x7FFFFFFFFFFFFFFF);
        over |= SP_VALUE_LIMIT_BITS - bits;
        under |= bits - 1;
    }
    return (int)(over >> 63) | (int)(under >> 63) << 1;
}

/* How many numbers are not above the one before. */
SP_AVX2(uint32_t, sp_count_falls, (const int32_t *columns, ptrdiff_t n), (columns, n))
{
    uint32_t falls = 0;
    for (ptrdiff_t i = 1; i < n; i++)
        falls += columns[i] <= columns[i - 1];
    return falls;
}

static ptrdiff_t sp_number_size(int number)
{
    if (number <= SP_NUMBER_I8)
        return 1;
    if (number <= SP_NUMBER_I16)
        return 2;
    return number <= SP_NUMBER_I32 || number == SP_NUMBER_F32 ? 4 : 8;
}

/* The address of entry k of row r; *stride: bytes from there to the next entry. */
static const char *sp_value_at(const sp_matrix *m, ptrdiff_t r, ptrdiff_t k, ptrdiff_t *stride)
{
    if (m->dense) {
        *stride = m->column_stride;
        return m->values + r * m->row_stride + k * m->column_stride;
    }
    *stride = sp_number_size(m->number);
    return m->values + k * *stride;
}

/* --- One kind of number at a time */

/* Whether a 64-bit int is not exact as a double. One rounded up to 2^63 or 2^64 never is. */
static inline bool sp_is_lossy_signed(int64_t value)
{
    double number = (double)value;
    return number >= 9223372036854775808.0 || (int64_t)number != value;
}

static inline bool sp_is_lossy_unsigned(uint64_t value)
{
    double number = (double)value;
    return number >= 18446744073709551616.0 || (uint64_t)number != value;
}

static inline bool sp_is_beyond(double value)
{
    return !(fabs(value) <= SP_VALUE_LIMIT);
}

#define SP_NEVER(value) false

/* Every kind: its name, its type, and which of its values are invalid. */
#define SP_NUMBERS(KIND)                      \
    KIND(U8, uint8_t, SP_NEVER)               \
    KIND(I8, int8_t, SP_NEVER)                \
    KIND(U16, uint16_t, SP_NEVER)             \
    KIND(I16, int16_t, SP_NEVER)              \
    KIND(U32, uint32_t, SP_NEVER)             \
    KIND(I32, int32_t, SP_NEVER)              \
    KIND(U64, uint64_t, sp_is_lossy_unsigned) \
    KIND(I64, int64_t, sp_is_lossy_signed)    \
    KIND(F32, float, sp_is_beyond)            \
    KIND(F64, double, sp_is_beyond)

/* Functions for each kind: check the values at p, `stride` bytes apart, for SP_MATRIX_FAULTY and
   SP_MATRIX_ZEROS; read one value; copy a row into scratch without its zeros, and return how many
   values are left. */
#define SP_KIND(name, type, at_fault)                                                           \
    static int sp_check_##name(const char *p, ptrdiff_t stride, ptrdiff_t n)                    \
    {                                                                                           \
        bool over = false, under = false;                                                       \
        if (stride == (ptrdiff_t)sizeof(type)) {                                                \
            const type *values = (const type *)(const void *)p;                                 \
            for (ptrdiff_t i = 0; i < n; i++) {                                                 \
                under |= values[i] == 0;                                                        \
                over |= at_fault(values[i]);                                                    \
            }                                                                                   \
        } else {                                                                                \
            for (ptrdiff_t i = 0; i < n; i++) {                                                 \
                const type value = *(const type *)(const void *)(p + i * stride);               \
                under |= value == 0;                                                            \
                over |= at_fault(value);                                                        \
            }                                                                                   \
        }                                                                                       \
        return (over ? SP_MATRIX_FAULTY : 0) | (under ? SP_MATRIX_ZEROS : 0);                   \
    }                                                                                           \
    static double sp_value_##name(const char *p)                                                \
    {                                                                                           \
        return (double)*(const type *)(const void *)p;                                          \
    }                                                                                           \
    static ptrdiff_t sp_compact_##name(const char *p, ptrdiff_t stride, ptrdiff_t n,            \
                                       const sp_matrix *m, ptrdiff_t first,                     \
                                       sp_matrix_scratch *scratch)                              \
    {                                                                                           \
        ptrdiff_t left = 0;                                                                     \
        for (ptrdiff_t i = 0; i < n; i++) {                                                     \
            const type value = *(const type *)(const void *)(p + i * stride);                   \
            scratch->values[left] = (double)value;                                              \
            scratch->columns[left] = (uint32_t)(m->dense ? i : sp_matrix_column(m, first + i)); \
            left += value != 0;                                                                 \
        }                                                                                       \
        return left;                                                                            \
    }
SP_NUMBERS(SP_KIND)
#undef SP_KIND

/* Floats side by side, checked as in sp_check_doubles: by the order of their bits. */
static int sp_check_floats(const float *values, ptrdiff_t n)
{
    uint32_t over = 0, under = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        uint32_t word;
        memcpy(&word, &values[i], sizeof(word));
        word &= UINT32_C(0x7FFFFFFF);
        over |= UINT32_C(0x7F7FFFFF) - word; /* the largest float, below the limit */
        under |= word - 1;
    }
    return (over >> 31 ? SP_MATRIX_FAULTY : 0) | (under >> 31 ? SP_MATRIX_ZEROS : 0);
}

/* --- Any kind of number */

static int sp_check_numbers(const sp_matrix *m, ptrdiff_t r, ptrdiff_t k, ptrdiff_t n)
{
    ptrdiff_t stride;
    const char *p = sp_value_at(m, r, k, &stride);
    if (m->number == SP_NUMBER_F64 && stride == (ptrdiff_t)sizeof(double))
        return sp_check_doubles((const double *)(const void *)p, n);
    if (m->number == SP_NUMBER_F32 && stride == (ptrdiff_t)sizeof(float))
        return sp_check_floats((const float *)(const void *)p, n);
    switch (m->number) {
#define SP_KIND(name, type, at_fault) \
    case SP_NUMBER_##name:            \
        return sp_check_##name(p, stride, n);
        SP_NUMBERS(SP_KIND)
#undef SP_KIND
    default:
        return SP_MATRIX_FAULTY;
    }
}

static double sp_number_at(const sp_matrix *m, const char *p)
{
    switch (m->number) {
#define SP_KIND(name, type, at_fault) \
    case SP_NUMBER_##name:            \
        return sp_value_##name(p);
        SP_NUMBERS(SP_KIND)
#undef SP_KIND
    default:
        return 0.0;
    }
}

static int sp_fault_at(const sp_matrix *m, const char *p)
{
    if (m->number == SP_NUMBER_U64)
        return sp_is_lossy_unsigned(*(const uint64_t *)(const void *)p) ? SP_FAULT_LOSS
                                                                        : SP_FAULT_NONE;
    if (m->number == SP_NUMBER_I64)
        return sp_is_lossy_signed(*(const int64_t *)(const void *)p) ? SP_FAULT_LOSS
                                                                     : SP_FAULT_NONE;
    return sp_is_beyond(sp_number_at(m, p)) ? SP_FAULT_VALUE : SP_FAULT_NONE;
}

static ptrdiff_t sp_compact_numbers(const sp_matrix *m, ptrdiff_t r, ptrdiff_t first, ptrdiff_t n,
                                    sp_matrix_scratch *scratch)
{
    ptrdiff_t stride;
    const char *p = sp_value_at(m, r, first, &stride);
    switch (m->number) {
#define SP_KIND(name, type, at_fault) \
    case SP_NUMBER_##name:            \
        return sp_compact_##name(p, stride, n, m, first, scratch);
        SP_NUMBERS(SP_KIND)
#undef SP_KIND
    default:
        return 0;
    }
}

/* --- Checking */

static uint32_t sp_count_wide_falls(const int64_t *columns, ptrdiff_t n)
{
    uint32_t falls = 0;
    for (ptrdiff_t i = 1; i < n; i++)
        falls += columns[i] <= columns[i - 1];
    return falls;
}

/* Check the starts and columns of rows first .. last of a sparse matrix; `count` returns how many
   columns are not above the one before. */
#define SP_CHECK_COLUMNS(name, type, count)                                                        \
    static int sp_check_columns_##name(const sp_matrix *m, ptrdiff_t first, ptrdiff_t last)        \
    {                                                                                              \
        const type *starts = (const type *)(const void *)m->starts;                                \
        const type *columns = (const type *)(const void *)m->columns;                              \
        ptrdiff_t low = (ptrdiff_t)starts[first], high = (ptrdiff_t)starts[last];                  \
        bool bad = false;                                                                          \
        if (low < 0)                                                                               \
            return SP_MATRIX_FAULTY;                                                               \
        for (ptrdiff_t r = first; r < last; r++)                                                   \
            bad |= starts[r + 1] < starts[r];                                                      \
        if (bad || high > m->n_values)                                                             \
            return SP_MATRIX_FAULTY;                                                               \
        /* Columns must rise within a row, so that falls are only between rows. Then the first and \
           the last column of a row show whether all are in range. */                              \
        uint32_t falls = count(columns + low, high - low);                                         \
        for (ptrdiff_t r = first; r < last; r++) {                                                 \
            if (starts[r] >= starts[r + 1])                                                        \
                continue;                                                                          \
            bad |= columns[starts[r]] < 0 || columns[starts[r + 1] - 1] >= m->n_columns;           \
            if (starts[r] > low)                                                                   \
                falls -= columns[starts[r]] <= columns[starts[r] - 1];                             \
        }                                                                                          \
        if (falls == 0)                                                                            \
            return bad ? SP_MATRIX_FAULTY : 0;                                                     \
        bad = false;                                                                               \
        for (ptrdiff_t k = low; k < high; k++)                                                     \
            bad |= columns[k] < 0 || columns[k] >= m->n_columns;                                   \
        return SP_MATRIX_UNSORTED | (bad ? SP_MATRIX_FAULTY : 0);                                  \
    }
SP_CHECK_COLUMNS(narrow, int32_t, sp_count_falls)
SP_CHECK_COLUMNS(wide, int64_t, sp_count_wide_falls)
#undef SP_CHECK_COLUMNS

SP_API int sp_matrix_check(const sp_matrix *m, ptrdiff_t first, ptrdiff_t last)
{
    int found = 0;
    if (first >= last)
        return 0;
    if (m->dense) {
        for (ptrdiff_t r = first; r < last; r++)
            found |= sp_check_numbers(m, r, 0, m->n_columns);
        return found;
    }
    found = m->long_columns ? sp_check_columns_wide(m, first, last)
                    : sp_check_columns_narrow(m, first, last);
    if (found & SP_MATRIX_FAULTY)
        return found;
    return found
           | sp_check_numbers(m, 0, sp_matrix_start(m, first),
                              sp_matrix_start(m, last) - sp_matrix_start(m, first));
}

SP_API int sp_matrix_fault(const sp_matrix *m, ptrdiff_t first, ptrdiff_t last, ptrdiff_t *row,
                           ptrdiff_t *entry)
{
    ptrdiff_t low, high, stride;
    for (ptrdiff_t r = first; r < last; r++) {
        *row = r;
        sp_matrix_span(m, r, &low, &high);
        if (!m->dense && (low < 0 || high < low || high > m->n_values))
            return SP_FAULT_STARTS;
        for (ptrdiff_t k = low; k < high; k++) {
            *entry = k;
            if (!m->dense
                && !(0 <= sp_matrix_column(m, k) && sp_matrix_column(m, k) < m->n_columns))
                return SP_FAULT_COLUMN;
            int fault = sp_fault_at(m, sp_value_at(m, r, k, &stride));
            if (fault != SP_FAULT_NONE)
                return fault;
        }
    }
    return SP_FAULT_NONE;
}

SP_API double sp_matrix_value(const sp_matrix *m, ptrdiff_t r, ptrdiff_t k)
{
    ptrdiff_t stride;
    return sp_number_at(m, sp_value_at(m, r, k, &stride));
}

static int sp_scratch_reserve(sp_matrix_scratch *scratch, ptrdiff_t n)
{
    if (n <= scratch->capacity)
        return 0;
    const sp_growing all[] = {
        SP_GROWING(scratch->columns, n),
        SP_GROWING(scratch->values, n),
    };
    if (sp_grow_all(all, 2) < 0)
        return -1;
    scratch->capacity = n;
    return 0;
}

SP_HOT ptrdiff_t sp_matrix_row(const sp_matrix *m, ptrdiff_t r, bool zeros,
                               sp_matrix_scratch *scratch, const uint32_t **columns,
                               const double **values)
{
    ptrdiff_t first, last;
    sp_matrix_span(m, r, &first, &last);
    if (!zeros && !m->dense && !m->long_columns && m->number == SP_NUMBER_F64) {
        *columns = (const uint32_t *)m->columns + first;
        *values = (const double *)m->values + first;
        return last - first;
    }
    if (sp_scratch_reserve(scratch, last - first) < 0)
        return -1;
    *columns = scratch->columns;
    *values = scratch->values;
    return sp_compact_numbers(m, r, first, last - first, scratch);
}

static void sp_prefetch_bytes(const char *p, const char *end)
{
    while (p < end) {
        sp_prefetch(p);
        p += SP_LINE;
    }
}

SP_HOT void sp_matrix_prefetch(const sp_matrix *m, ptrdiff_t r, ptrdiff_t ahead)
{
    ptrdiff_t first, last;
    ptrdiff_t size = sp_number_size(m->number);
    ptrdiff_t column_size = m->long_columns ? 8 : 4;
    if (m->dense)
        return;
    sp_matrix_span(m, r, &first, &last);
    first += ahead;
    last = SP_MIN(last + ahead, m->n_values);
    if (last - first < 32)
        return;
    sp_prefetch_bytes(m->values + first * size, m->values + last * size);
    sp_prefetch_bytes(m->columns + first * column_size, m->columns + last * column_size);
}

SP_PRIVATE void sp_matrix_prefetch_half(const sp_matrix *m, ptrdiff_t r, bool second)
{
    ptrdiff_t first, last;
    ptrdiff_t size = sp_number_size(m->number);
    ptrdiff_t column_size = m->long_columns ? 8 : 4;
    if (m->dense)
        return;
    sp_matrix_span(m, r, &first, &last);
    ptrdiff_t middle = first + (last - first) / 4;
    if (second)
        sp_prefetch_bytes(m->values + middle * size, m->values + last * size);
    else {
        sp_prefetch_bytes(m->columns + first * column_size, m->columns + last * column_size);
        sp_prefetch_bytes(m->values + first * size, m->values + middle * size);
    }
}
