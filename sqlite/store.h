/* The tables behind a virtual table, and what is asked of them.

   For CREATE VIRTUAL TABLE spam:

       spam_model      one row: the model's bytes, and which operation was the last that is in them
       spam_log        what was learned and taken back since, in its order
       spam_lessons    what has been learned: by id
       spam_steps      what some of the lessons have changed that are in the bytes, to take it back

   An operation has a number, its place, and a random mark: who has both has the same model. */

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

/* Make the tables, drop them, or give them the names of another virtual table. */
int store_create(store *its, sqlite3_int64 keep);
int store_drop(store *its);
int store_rename(store *its, const char *table);

/* A statement, ready for its values; NULL: `code` says why not. Whoever steps through it resets it,
   which takes its values away. */
sqlite3_stmt *store_call_of(store *its, store_call call, int *code);

/* Run one that has its values. */
int store_run(sqlite3_stmt *statement);
void store_done(sqlite3_stmt *statement);

#endif
