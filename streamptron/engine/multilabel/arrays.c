#include "multilabel/arrays.h"

#include "multilabel/multilabel.h"

#include <math.h>

SP_PRIVATE bool sp_multilabel_same_row(const sp_learner *learner, uint32_t block,
                                       const double *row, const sp_learner *base, const double *its)
{
    (void)block; /* there is one block */
    const sp_counted_slot *slot = (const sp_counted_slot *)(const void *)row;
    const sp_counted_slot *theirs = (const sp_counted_slot *)(const void *)its;
    return memcmp(row, its, 2 * sizeof(double)) == 0 && slot->of.row.n == theirs->of.row.n
           && memcmp(&slot->of.N, &theirs->of.N, sizeof(double)) == 0
           && (slot->of.row.n == 0
               || memcmp(sp_row_entries(sp_rows_of(&learner->table), &slot->of.row),
                         sp_row_entries(sp_rows_of(&base->table), &theirs->of.row),
                         slot->of.row.n * sizeof(sp_entry))
                      == 0);
}

SP_PRIVATE bool sp_multilabel_label_numbers(const sp_learner *learner, ptrdiff_t k, double *marked)
{
    if (k >= learner->multilabel.n_labels)
        return false;
    memcpy(marked, &learner->multilabel.labels[k], SP_LABEL_WIDTH * sizeof(double));
    return true;
}

SP_PRIVATE void sp_multilabel_labels_write(const sp_learner *learner, double *marked)
{
    for (ptrdiff_t k = 0; sp_multilabel_label_numbers(learner, k, marked); k++)
        marked += SP_LABEL_WIDTH;
}

SP_PRIVATE int sp_multilabel_labels_read(sp_learner *learner, const double *marked)
{
    sp_multilabel *s = &learner->multilabel;
    for (ptrdiff_t k = 0; k < s->n_labels; k++) {
        memcpy(&s->labels[k], marked + SP_LABEL_WIDTH * k, SP_LABEL_WIDTH * sizeof(double));
        if (!sp_label_is_sound(s, &s->labels[k]))
            return SP_MARKS_WRONG;
        sp_multilabel_settle_label(s, k);
    }
    return 0;
}

SP_PRIVATE bool sp_multilabel_rows_are_sound(const sp_learner *learner, const sp_event *event)
{
    const sp_multilabel *s = &learner->multilabel;
    const sp_sparse_rows *rows = sp_rows_of(&learner->table);
    for (ptrdiff_t i = 0; i < event->n; i++) {
        const sp_counted_slot *counted = sp_counted_slot_of(&learner->table, event->slots[i]);
        const double *slot = (const double *)(const void *)counted;
        const sp_sparse *row = &counted->of.row;
        if (row->size || row->dense || row->block >= s->unverified
            || row->n > s->unverified - row->block
            || (row->block == 0) != (row->n == 0)
            || !sp_counts_are_sound(slot, sp_row_entries(rows, row), row->n, (size_t)s->n_labels))
            return false;
    }
    return true;
}

SP_PRIVATE int sp_multilabel_marks_check(const sp_learner *learner, const double *slots,
                                         size_t n_slots, const uint32_t *marks, size_t n)
{
    size_t at = 1;
    return sp_marks_begin(marks, n)
                   && sp_marks_are_sound(slots, n_slots, marks, n,
                                         (size_t)learner->multilabel.n_labels, true, &at)
                   && at == n
               ? 0
               : SP_MARKS_WRONG;
}

SP_PRIVATE int sp_multilabel_overlay_begin(sp_learner *learner, const sp_learner *base)
{
    sp_rows_free(sp_rows_of(&learner->table));
    learner->table.arena = sp_rows_copy(sp_rows_of(&base->table));
    return learner->table.arena == NULL ? -1 : 0;
}

SP_PRIVATE int sp_multilabel_overlay_rows(sp_learner *learner, const uint32_t *slots,
                                          const uint32_t *blocks, size_t n, const uint32_t *marks,
    size_t n_marks, const double *marked)
{
    (void)blocks; /* there is one block */
    sp_sparse_rows *rows = sp_rows_of(&learner->table);
    size_t at = 1;
    int fault = sp_multilabel_labels_read(learner, marked);
    if (!sp_marks_begin(marks, n_marks))
        return SP_MARKS_WRONG;
    for (size_t i = 0; i < n && !fault; i++) {
        double *slot = (double *)(void *)sp_counted_slot_of(&learner->table, slots[i]);
        fault = sp_marks_read(rows, slot, 1, marks, n_marks, (size_t)learner->multilabel.n_labels,
                              true, &at);
    }
    return !fault && at != n_marks ? SP_MARKS_WRONG : fault;
}
