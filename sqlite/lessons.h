/* The model of a virtual table, in a connection's memory. It is determined by the tables of store.h
   alone: the bytes and the log.

   So SQLite's transactions hold for the model. What is learned is written to the log, and SQLite
   makes that atomic. The model in memory is compared with the log before it is used. If another
   connection has learned more, that is learned here as well; after a rollback the model is read
   again. */

#ifndef STREAMPTRON_SQLITE_LESSONS_H
#define STREAMPTRON_SQLITE_LESSONS_H

#include "store.h"

enum { LESSONS_KEEP_USUAL = 1000, LESSONS_KEEP_MOST = 1000000 };

/* The last operation that a model includes. */
typedef struct lessons_place {
    sqlite3_int64 seq, mark;
} lessons_place;

typedef struct lessons {
    store store;
    sqlite3_int64 keep; /* how many of the last operations can be undone */
    spt_model *model;   /* NULL: it has to be read */
    spt_event *event;
    lessons_place base, head; /* of the bytes, and of the model here */
    spt_step **steps;         /* of the operations after head - keep: seq is at seq % keep */
    sqlite3_int64 unsaved;    /* bytes of texts in the log */
    sqlite3_int64 saved;      /* bytes of the model in its row */
    int in_transaction;       /* in one that may write, so that no other connection does */
    int is_sure;              /* the model has been compared with the log in it */
    spt_error error;          /* the message; none: SQLite has it */
} lessons;

/* What to learn: a text or a mail with a label. */
typedef struct lesson {
    const void *text; /* NULL: the text of the lesson to correct */
    int n_text, is_blob;
    const char *label;
    int n_label;
    double weight;
} lesson;

/* A lesson that has been learned. */
typedef struct lesson_row {
    sqlite3_int64 id, seq;
} lesson_row;

int lessons_begin(lessons *its, sqlite3 *db, const char *schema, const char *table);
void lessons_end(lessons *its);

/* Make the tables, for a new or an opened model, which is no longer the caller's. */
int lessons_create(lessons *its, spt_model *model, sqlite3_int64 keep);

/* Read the settings of existing tables. */
int lessons_connect(lessons *its);

/* Make sure that the model is the one that the transaction sees. SQLITE_OK or a code. */
int lessons_ready(lessons *its);

/* Note that the model in memory may differ from the tables. */
void lessons_doubt(lessons *its);

/* Whether a lesson can be undone. */
int lessons_are_kept(const lessons *its, sqlite3_int64 seq);

/* Learn. `id`: SQLITE_NULL for the next one. *its_id becomes the lesson's id. SQLITE_CONSTRAINT:
   another lesson has this id. */
int lessons_add(lessons *its, sqlite3_value *id, const lesson *taught, sqlite3_int64 *its_id);

/* Undo a lesson and learn it as `taught`, under that id. */
int lessons_correct(lessons *its, const lesson_row *row, const lesson *taught, sqlite3_int64 id);

/* Give a lesson another id; its label and weight stay as they are. */
int lessons_rename(lessons *its, const lesson_row *row, const lesson *taught, sqlite3_int64 id);

/* Undo a lesson. */
int lessons_remove(lessons *its, const lesson_row *row);

/* Called before a commit: write the model's bytes, if the log has become as long as they are. */
int lessons_save(lessons *its);

#endif
