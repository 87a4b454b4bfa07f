/* Cells in columns, as the Python program shows them. */

#ifndef SPT_PROGRAM_TABLE_H
#define SPT_PROGRAM_TABLE_H

#include "bytes.h"

typedef struct table {
    bytes cells; /* each with a zero behind it */
    size_t n_cells, n_columns;
} table;

void table_add(table *t, const char *p, size_t n);
void table_print(table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Write the rows; the first `left` columns begin on one line, the others end on one. No line end
   behind the last. */
void table_end(table *t, size_t left, bytes *to);

#endif
