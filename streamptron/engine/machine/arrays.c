#include "machine/arrays.h"

#include "rows/arena.h"

#include <string.h>

SP_PRIVATE size_t sp_machine_rows_measure(const sp_learner *learner, const sp_arrays *flat)
{
    const uint32_t blocks = learner->machine->row_blocks;
    size_t marks = 1;
    if (learner->machine->rows_measure != NULL)
        return learner->machine->rows_measure(learner, flat);
    for (uint32_t b = 0; blocks >> b; b++) {
        size_t n;
        const double *slots = sp_arrays_part(flat, b, &n);
        if (blocks >> b & 1)
            marks += sp_marks_count(slots, n);
    }
    return marks;
}

SP_PRIVATE void sp_machine_rows_write(const sp_learner *learner, sp_arrays *flat, void *rows)
{
    const uint32_t blocks = learner->machine->row_blocks;
    size_t at = 1;
    if (learner->machine->rows_write != NULL) {
        learner->machine->rows_write(learner, flat, (uint64_t *)rows);
        return;
    }
    memset(rows, 0, sizeof(sp_entry));
    for (uint32_t b = 0; blocks >> b; b++) {
        size_t n;
        double *slots = sp_arrays_part(flat, b, &n);
        if (blocks >> b & 1)
            at = sp_marks_write((const sp_sparse_rows *)learner->table.arena, slots, n,
                                (uint32_t *)rows, at);
    }
}

static int sp_machine_marks_read(sp_learner *learner, const uint32_t *marks, size_t n)
{
    const sp_table *table = &learner->table;
    const uint32_t blocks = learner->machine->row_blocks;
    size_t n_labels = (size_t)sp_learner_labels(learner);
    size_t at = 1;
    int fault = 0;
    for (uint32_t b = 0; blocks >> b; b++) {
        for (size_t chunk = 0; chunk < table->n_chunks && !fault; chunk++) {
            double *slots = sp_table_chunk(table, (ptrdiff_t)b, chunk);
            if (slots != NULL && blocks >> b & 1)
                fault = sp_marks_read((sp_sparse_rows *)table->arena, slots, SP_CHUNK_SLOTS, marks,
                                      n, n_labels, b == 0, &at);
        }
    }
    if (!fault && (at != n || (learner->machine->rows_fault != NULL
                               && learner->machine->rows_fault(learner))))
        fault = SP_MARKS_WRONG;
    return fault;
}

SP_PRIVATE int sp_machine_rows_read(sp_learner *learner, const void *rows, size_t n, bool in_place)
{
    sp_table *table = &learner->table;
    if (!sp_marks_begin((const uint32_t *)rows, n))
        return SP_MARKS_WRONG;
    if (in_place) {
        sp_rows_free((sp_sparse_rows *)table->arena);
        table->arena = sp_rows_borrow((const sp_entry *)rows, n);
        return table->arena == NULL ? SP_MARKS_MEMORY : 0;
    }
    return learner->machine->rows_read != NULL
               ? learner->machine->rows_read(learner, (const uint64_t *)rows, n)
               : sp_machine_marks_read(learner, (const uint32_t *)rows, n);
}
