#include "table.h"

#include "texts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void table_add(table *t, const char *p, size_t n)
{
    size_t at = t->cells.n;
    bytes_add(&t->cells, p, n);
    for (size_t i = at; i < t->cells.n; i++) { /* a zero would end the cell */
        if (t->cells.p[i] == 0)
            t->cells.p[i] = ' ';
    }
    bytes_add(&t->cells, "", 1);
    t->n_cells++;
}

void table_print(table *t, const char *format, ...)
{
    char text[400];
    va_list given;
    va_start(given, format);
    int n = vsnprintf(text, sizeof(text), format, given);
    va_end(given);
    size_t most = sizeof(text) - 1;
    table_add(t, text, n < 0 ? 0 : (size_t)n < most ? (size_t)n : most);
}

void table_end(table *t, size_t left, bytes *to)
{
    size_t *widths = calloc(t->n_columns, sizeof(size_t));
    const char *cell = t->cells.p;
    if (widths == NULL || t->cells.failed) {
        to->failed = true;
        t->n_cells = 0;
    }
    for (size_t i = 0; i < t->n_cells; i++, cell += strlen(cell) + 1) {
        size_t n = columns_of(cell, strlen(cell)), *width = &widths[i % t->n_columns];
        *width = n > *width ? n : *width;
    }
    cell = t->cells.p;
    for (size_t i = 0; i < t->n_cells; i++, cell += strlen(cell) + 1) {
        size_t column = i % t->n_columns, n = columns_of(cell, strlen(cell));
        size_t gap = widths[column] - n;
        if (column == 0)
            bytes_word(to, i ? "\n" : "");
        else
            bytes_word(to, "  ");
        if (column >= left)
            bytes_print(to, "%*s", (int)gap, "");
        bytes_word(to, cell);
        if (column < left)
            bytes_print(to, "%*s", (int)gap, "");
        if (column + 1 == t->n_columns) { /* no padding behind the last column */
            while (to->n > 0 && to->p[to->n - 1] == ' ')
                to->n--;
        }
    }
    free(widths);
    bytes_free(&t->cells);
    t->n_cells = 0;
}
