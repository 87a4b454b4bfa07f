/* The model of a virtual table, as a connection has it in memory: what the tables of store.h say,
   bytes and log, and nothing else.

   So SQLite's transactions are the model's. What is learned is written to the log, and SQLite sees
   to it that it is there whole or not at all. What is in memory is compared with the log before it
   is used: another connection may have learned more, which is then learned here as well; and after
   a rollback the model is read anew. */

#ifndef STREAMPTRON_SQLITE_LESSONS_H
#define STREAMPTRON_SQLITE_LESSONS_H

#include "store.h"

enum { LESSONS_KEEP_USUAL = 1000, LESSONS_KEEP_MOST = 1000000 };

/* Up to which operation a model has come. */
typedef struct lessons_place {
    sqlite3_int64 seq, mark;
} lessons_place;

typedef struct lessons {
    store store;
    sqlite3_int64 keep; /* how many of the last operations can be taken back */
    spt_model *model;   /* NULL: it is to be read */
    spt_event *event;
    lessons_place base, head; /* of the bytes, and of the model here */
    spt_step **steps;         /* of the operations after head - keep: that of seq at seq % keep */
    sqlite3_int64 unsaved;    /* bytes of texts in the log */
    sqlite3_int64 saved;      /* bytes of the model in its row */
    int in_transaction;       /* one that may write, so that no other connection does */
    int is_sure;              /* it has compared the model with the log */
    spt_error error;          /* what is wrong, in words; none: SQLite has them */
} lessons;

/* What is learned: a text or a mail with a label. */
typedef struct lesson {
    const void *text; /* NULL: that of the lesson that is corrected */
    int n_text, is_blob;
    const char *label;
    int n_label;
    double weight;
} lesson;

/* One that has been learned. */
typedef struct lesson_row {
    sqlite3_int64 id, seq;
} lesson_row;

int lessons_begin(lessons *its, sqlite3 *db, const char *schema, const char *table);
void lessons_end(lessons *its);

/* Make the tables, for a new model or one that was opened; it is no longer the caller's. */
int lessons_create(lessons *its, spt_model *model, sqlite3_int64 keep);

/* Read the settings of tables that are there. */
int lessons_connect(lessons *its);

/* See that the model is the one that the transaction sees. SQLITE_OK or a code. */
int lessons_ready(lessons *its);

/* What is in memory may not be what the tables say. */
void lessons_doubt(lessons *its);

/* Whether a lesson can be taken back. */
int lessons_are_kept(const lessons *its, sqlite3_int64 seq);

/* Learn. `id`: SQLITE_NULL for the next one; then it is there. SQLITE_CONSTRAINT: it is another
   lesson's. */
int lessons_add(lessons *its, sqlite3_value *id, const lesson *taught, sqlite3_int64 *its_id);

/* Take a lesson back and learn it so, under that id. */
int lessons_correct(lessons *its, const lesson_row *row, const lesson *taught, sqlite3_int64 id);

/* Give one another id; its label and weight stay as they are. */
int lessons_rename(lessons *its, const lesson_row *row, const lesson *taught, sqlite3_int64 id);

/* Take a lesson back. */
int lessons_remove(lessons *its, const lesson_row *row);

/* Before a commit: write the model's bytes, where the log has become as long as these. */
int lessons_save(lessons *its);

#endif
