/* Errors, as SQLite reports them: with its own code, and the library's message. */

#ifndef STREAMPTRON_SQLITE_SAY_H
#define STREAMPTRON_SQLITE_SAY_H

#include "extension.h"

/* SQLite's code for the library's. */
int say_code(int code);

/* Make a function's result an error, with the library's message. */
void say_result(sqlite3_context *context, const spt_error *error);

/* Let a virtual table's call fail, with this message. Returns the code. */
int say_table(sqlite3_vtab *table, int code, const char *words, ...);

#endif
