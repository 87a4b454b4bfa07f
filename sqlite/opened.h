/* Models that a connection's functions have opened: files in place, and bytes. */

#ifndef STREAMPTRON_SQLITE_OPENED_H
#define STREAMPTRON_SQLITE_OPENED_H

#include "extension.h"

typedef struct opened {
    int uses; /* by the list, and by running statements */
    spt_model *model;
    spt_event *event;
    double *numbers; /* room for one number per label */
    char *path;      /* NULL: it came as bytes, which are kept here */
    void *bytes;
    size_t n;
    struct opened *next;
} opened;

/* A connection's models, the last used one first. */
typedef struct opened_list {
    opened *first;
} opened_list;

/* The model named by a function's first argument, a path or the bytes of a file. It is looked up
   once for each run of a statement; a file that has been replaced is opened again. NULL: the
   function's result says why not. */
opened *opened_find(opened_list *list, sqlite3_context *context, sqlite3_value *value);

void opened_forget(opened_list *list);

#endif
