/* Cells in columns, as the Python program shows them. */

#ifndef SPT_PROGRAM_TABLE_H
#define SPT_PROGRAM_TABLE_H

#include "bytes.h"

typedef struct table {
    bytes cells; /* each zero-terminated */
    size_t n_cells, n_columns;
} table;

void table_add(table *t, const char *p, size_t n);
void table_print(table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Write the rows. The first `left` columns are aligned on the left, the others on the right. The
   last row has no line end. */
void table_end(table *t, size_t left, bytes *to);

#endif
