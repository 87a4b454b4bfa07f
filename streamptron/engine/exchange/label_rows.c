#include "exchange/label_rows.h"

#include "machine/rows.h"

#include <string.h>

SP_API bool sp_learner_has_rows(const sp_learner *learner)
{
    return sp_machine_row_blocks(learner) != 0;
}

SP_PRIVATE size_t sp_label_rows_measure(const sp_learner *learner, const sp_arrays *flat)
{
    size_t marks = 1;
    for (uint32_t b = 0; sp_machine_row_blocks(learner) >> b; b++) {
        size_t n;
        const double *slots = sp_arrays_part(flat, b, &n);
        if (sp_machine_row_blocks(learner) >> b & 1)
            marks += sp_marks_count(slots, n);
    }
    return marks;
}

SP_PRIVATE void sp_label_rows_write(const sp_learner *learner, sp_arrays *flat, uint32_t *marks)
{
    const sp_sparse_rows *rows = (const sp_sparse_rows *)learner->table.arena;
    size_t at = 1;
    memset(marks, 0, sizeof(sp_entry));
    for (uint32_t b = 0; sp_machine_row_blocks(learner) >> b; b++) {
        size_t n;
        double *slots = sp_arrays_part(flat, b, &n);
        if (sp_machine_row_blocks(learner) >> b & 1)
            at = sp_marks_write(rows, slots, n, marks, at);
    }
}

SP_PRIVATE int sp_label_rows_read(sp_learner *learner, const uint32_t *marks, size_t n)
{
    const sp_table *table = &learner->table;
    size_t n_labels = (size_t)sp_learner_labels(learner);
    size_t at = 1;
    int fault = sp_marks_begin(marks, n) ? 0 : SP_MARKS_WRONG;
    for (uint32_t b = 0; sp_machine_row_blocks(learner) >> b; b++) {
        for (size_t chunk = 0; chunk < table->n_chunks && !fault; chunk++) {
            double *slots = sp_table_chunk(table, (ptrdiff_t)b, chunk);
            if (slots != NULL && sp_machine_row_blocks(learner) >> b & 1)
                fault = sp_marks_read((sp_sparse_rows *)table->arena, slots, SP_CHUNK_SLOTS, marks,
                                      n, n_labels, b == 0, &at);
        }
    }
    if (!fault && (at != n || sp_machine_rows_fault(learner)))
        fault = SP_MARKS_WRONG;
    return fault;
}

SP_PRIVATE int sp_label_rows_map(sp_learner *learner, const uint32_t *marks, size_t n)
{
    sp_table *table = &learner->table;
    if (!sp_marks_begin(marks, n))
        return SP_MARKS_WRONG;
    sp_rows_free((sp_sparse_rows *)table->arena);
    table->arena = sp_rows_borrow((const sp_entry *)(const void *)marks, n);
    return table->arena == NULL ? SP_MARKS_MEMORY : 0;
}
