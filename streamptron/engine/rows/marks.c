#include "rows/marks.h"

#include "rows/dense.h"
#include "rows/rows.h"

#include <math.h>
#include <string.h>

SP_PRIVATE size_t sp_marks_count(const double *slots, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += sp_stored_row_of(slots + i * SP_STORED_WIDTH)->n;
    return count;
}

SP_PRIVATE void sp_marks_clear_addresses(double *slot)
{
    sp_sparse *row = sp_stored_row(slot);
    row->block = row->size = row->dense = 0;
}

/* Copy the entries of a row to or from bytes that need not be aligned. Rows are short: in code
   compiled for size, one copy of all bytes would take longer. */
static void sp_entries_copy(void *to, const void *from, uint32_t n)
{
    for (size_t at = 0; at < n * sizeof(sp_entry); at += sizeof(sp_entry))
        memcpy((uint8_t *)to + at, (const uint8_t *)from + at, sizeof(sp_entry));
}

SP_PRIVATE size_t sp_marks_write(const sp_sparse_rows *rows, double *slots, size_t n,
                                 uint32_t *marks, size_t at)
{
    sp_entry room[SP_DENSE_MOST];
    for (size_t i = 0; i < n; i++) {
        double *slot = slots + i * SP_STORED_WIDTH;
        sp_sparse *row = sp_stored_row(slot);
        const sp_entry *entries = sp_row_look(rows, row, room);
        sp_marks_clear_addresses(slot);
        if (row->n == 0)
            continue;
        sp_entries_copy(marks + SP_MARKS_WIDTH * at, entries, row->n);
        row->block = (uint32_t)at;
        at += row->n;
    }
    return at;
}

SP_PRIVATE bool sp_marks_begin(const uint32_t *marks, size_t n)
{
    return n > 0 && n <= UINT32_MAX && !(marks[0] | marks[1] | marks[2] | marks[3]);
}

SP_PRIVATE bool sp_entries_are_sound(const sp_entry *entries, uint32_t n, size_t n_labels,
                                     float least_c, float most_c)
{
    bool sound = true; /* no branch, as nearly all rows are sound */
    uint64_t least = 0;
    for (uint32_t i = 0; i < n; i++) {
        const sp_entry e = entries[i];
        sound &= (e.k >= least) & (e.k < n_labels) & (e.c >= least_c) & (e.c <= most_c)
                 & (fabsf(e.w) <= 0x1p120f) & (e.G >= 0.0f) & (e.G <= 0x1p127f);
        least = (uint64_t)e.k + 1;
    }
    return sound;
}

SP_PRIVATE bool sp_counts_are_sound(const double *slot, const sp_entry *entries, uint32_t n,
                                    size_t n_labels)
{
    float cnt;
    memcpy(&cnt, slot + 1, sizeof(cnt));
    return sp_entries_are_sound(entries, n, n_labels, sp_c_least(cnt, signbit(slot[0])),
                                sp_c_most(cnt));
}

/* Whether the entries of one row, which must begin at mark `at` of n, are valid. */
static bool sp_row_is_sound(size_t n_labels, const double *slot, const uint32_t *marks, size_t at,
                            size_t n, bool counts)
{
    const sp_sparse *row = sp_stored_row_of(slot);
    const sp_entry *entries = (const sp_entry *)(const void *)(marks + SP_MARKS_WIDTH * at);
    return !(row->size | row->dense) && row->block == (row->n ? at : 0) && row->n <= n - at
           && row->n <= n_labels
           && (counts ? sp_counts_are_sound(slot, entries, row->n, n_labels)
                      : sp_entries_are_sound(entries, row->n, n_labels, -SP_MARK_C, SP_MARK_C));
}

SP_PRIVATE bool sp_marks_are_sound(const double *slots, size_t n, const uint32_t *marks,
                                   size_t n_marks, size_t n_labels, bool counts, size_t *at)
{
    for (size_t i = 0; i < n; i++) {
        const double *slot = slots + i * SP_STORED_WIDTH;
        if (!sp_row_is_sound(n_labels, slot, marks, *at, n_marks, counts))
            return false;
        *at += sp_stored_row_of(slot)->n;
    }
    return true;
}

SP_PRIVATE int sp_marks_read(sp_sparse_rows *rows, double *slots, size_t n, const uint32_t *marks,
                             size_t n_marks, size_t n_labels, bool counts, size_t *at)
{
    for (size_t i = 0; i < n; i++) {
        sp_sparse *row = sp_stored_row(slots + i * SP_STORED_WIDTH);
        if (!sp_row_is_sound(n_labels, slots + i * SP_STORED_WIDTH, marks, *at, n_marks, counts))
            return SP_MARKS_WRONG;
        if (row->n == 0)
            continue;
        row->size = (uint32_t)sp_row_size_for(row->n) & 63;
        row->block = sp_rows_take(rows, (int)row->size);
        if (row->block == 0)
            return SP_MARKS_MEMORY;
        sp_entries_copy(sp_rows_at(rows, row->block),
                        marks + SP_MARKS_WIDTH * *at, row->n);
        *at += row->n;
    }
    return 0;
}
