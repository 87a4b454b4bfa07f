/* Models that a connection's functions have opened: files where they lie, and bytes. */

#ifndef STREAMPTRON_SQLITE_OPENED_H
#define STREAMPTRON_SQLITE_OPENED_H

#include "extension.h"

typedef struct opened {
    int uses; /* by the list, and by statements that are running */
    spt_model *model;
    spt_event *event;
    double *numbers; /* room for one of each label */
    char *path;      /* NULL: it came as bytes, which are here */
    void *bytes;
    size_t n;
    struct opened *next;
} opened;

/* Those of a connection, the one that was used last comes first. */
typedef struct opened_list {
    opened *first;
} opened_list;

/* The model that a function's first argument names, a path or the bytes of a file: for one run of a
   statement it is looked for once, and a file that has been replaced is opened again. NULL: the
   function's result says why not. */
opened *opened_find(opened_list *list, sqlite3_context *context, sqlite3_value *value);

void opened_forget(opened_list *list);

#endif
