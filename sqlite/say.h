/* What SQLite says when something fails: its own code, and the library's sentence. */

#ifndef STREAMPTRON_SQLITE_SAY_H
#define STREAMPTRON_SQLITE_SAY_H

#include "extension.h"

/* SQLite's code for the library's. */
int say_code(int code);

/* A function's result is an error, in the library's words. */
void say_result(sqlite3_context *context, const spt_error *error);

/* A virtual table's call fails, in these words. Returns the code. */
int say_table(sqlite3_vtab *table, int code, const char *words, ...);

#endif
