/* The tables behind a virtual table, and their SQL statements.

   For CREATE VIRTUAL TABLE spam:

       spam_model      one row: the model's bytes, and the last operation that they include
       spam_log        what was learned and undone since, in order
       spam_lessons    what has been learned, by id
       spam_steps      what some lessons in the bytes have changed, for undoing them

   An operation has a number, its place, and a random mark: models with the same two are the
   same. */

#ifndef STREAMPTRON_SQLITE_STORE_H
#define STREAMPTRON_SQLITE_STORE_H

#include "extension.h"

typedef enum store_call {
    STORE_SETTINGS,
    STORE_HEAD,
    STORE_MARK,
    STORE_BYTES,
    STORE_SAVE,
    STORE_LOG_SINCE,
    STORE_LOG_ADD,
    STORE_LOG_REMOVE,
    STORE_LOG_EMPTY,
    STORE_LESSON,
    STORE_LESSONS,
    STORE_LESSON_ADD,
    STORE_LESSON_CHANGE,
    STORE_LESSON_REMOVE,
    STORE_STEP,
    STORE_STEP_ADD,
    STORE_STEPS_REMOVE,
    STORE_CALLS,
} store_call;

typedef struct store {
    sqlite3 *db;
    char *schema, *table;
    sqlite3_stmt *calls[STORE_CALLS];
} store;

int store_begin(store *its, sqlite3 *db, const char *schema, const char *table);
void store_end(store *its);

/* Make the tables, drop them, or rename them for another virtual table's name. */
int store_create(store *its, sqlite3_int64 keep);
int store_drop(store *its);
int store_rename(store *its, const char *table);

/* A statement, ready for its values; NULL: `code` says why not. The caller steps through it, and
   then calls store_done. */
sqlite3_stmt *store_call_of(store *its, store_call call, int *code);

/* Run a statement that has its values. */
int store_run(sqlite3_stmt *statement);
void store_done(sqlite3_stmt *statement);

#endif
