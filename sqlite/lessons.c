#include "lessons.h"

#include "say.h"

SQLITE_EXTENSION_INIT3

#include <stdio.h>
#include <string.h>

enum {
    LOG_LEAST = 1 << 16,  /* bytes of a log below which saving is not worth it */
    OPERATION_BYTES = 64, /* of an operation without its text */
};

/* An operation: learning a lesson, undoing one, or both in turn, which is a correction. */
typedef struct operation {
    lessons_place at;
    sqlite3_int64 undoes; /* 0: nothing */
    lesson taught;        /* without a label: nothing is learned */
} operation;

int lessons_begin(lessons *its, sqlite3 *db, const char *schema, const char *table)
{
    memset(its, 0, sizeof(*its));
    its->error.size = sizeof(spt_error);
    return store_begin(&its->store, db, schema, table);
}

/* Forget the model and its steps. */
static void forget(lessons *its)
{
    for (sqlite3_int64 i = 0; its->steps != NULL && i < its->keep; i++)
        spt_step_free(its->steps[i]);
    sqlite3_free(its->steps);
    spt_event_free(its->event);
    spt_close(its->model);
    its->steps = NULL;
    its->event = NULL;
    its->model = NULL;
    its->is_sure = 0;
}

void lessons_end(lessons *its)
{
    forget(its);
    store_end(&its->store);
}

void lessons_doubt(lessons *its)
{
    forget(its);
}

/* The library's error, as SQLite's code. */
static int said(lessons *its)
{
    return say_code(its->error.code);
}

static int wrong(lessons *its, const char *words)
{
    its->error.code = SPT_DAMAGED;
    snprintf(its->error.words, sizeof(its->error.words), "%s", words);
    return SQLITE_CORRUPT_VTAB;
}

/* --- Steps */

static spt_step **step_at(const lessons *its, sqlite3_int64 seq)
{
    return &its->steps[seq % its->keep];
}

int lessons_are_kept(const lessons *its, sqlite3_int64 seq)
{
    return seq > its->head.seq - its->keep;
}

/* Take over a model: make its event, and room for its steps. */
static int take(lessons *its, spt_model *model)
{
    its->model = model;
    if (spt_event_new(model, &its->event, &its->error))
        return said(its);
    if (its->keep == 0)
        return SQLITE_OK;
    if (spt_event_keep(its->event, 1, &its->error))
        return said(its);
    const sqlite3_uint64 size = (sqlite3_uint64)its->keep * sizeof(spt_step *);
    its->steps = sqlite3_malloc64(size);
    if (its->steps == NULL)
        return SQLITE_NOMEM;
    memset(its->steps, 0, size);
    return SQLITE_OK;
}

/* Get the step of an operation, from memory or from the table. SQLITE_OK or a code. Free the
   step. */
static int step_of(lessons *its, sqlite3_int64 seq, spt_step **step)
{
    int failed;
    *step = its->keep > 0 ? *step_at(its, seq) : NULL;
    if (*step != NULL) {
        *step_at(its, seq) = NULL;
        return SQLITE_OK;
    }
    sqlite3_stmt *call = store_call_of(&its->store, STORE_STEP, &failed);
    if (failed)
        return failed;
    sqlite3_bind_int64(call, 1, seq);
    if (sqlite3_step(call) != SQLITE_ROW)
        failed = wrong(its, "the table is damaged: a step is missing that was kept");
    else if (spt_step_open_memory(its->model, sqlite3_column_blob(call, 0),
                                  (size_t)sqlite3_column_bytes(call, 0), step, &its->error))
        failed = said(its);
    store_done(call);
    return failed;
}

/* --- Operations */

/* Change the model as an operation says. If that fails, the model may have changed, as something
   may have been undone already. */
static int apply(lessons *its, const operation *op)
{
    int failed = SQLITE_OK;
    spt_step *step = NULL;
    if (op->undoes != 0) {
        failed = step_of(its, op->undoes, &step);
        if (!failed && spt_undo(its->model, its->event, step, &its->error))
            failed = said(its);
        spt_step_free(step);
    }
    if (!failed && op->taught.label != NULL) {
        if (op->taught.text != NULL
            && spt_event_text(its->event, op->taught.text, (size_t)op->taught.n_text, &its->error))
            failed = said(its);
        else if (spt_learn_as(its->model, its->event, op->taught.label, (size_t)op->taught.n_label,
                              op->taught.weight, &its->error))
            failed = said(its);
    }
    if (failed)
        return failed;
    if (its->keep > 0) {
        spt_step **at = step_at(its, op->at.seq);
        spt_step_free(*at); /* the step that is too old now */
        *at = op->taught.label == NULL ? NULL : spt_event_step(its->event);
    }
    its->unsaved += op->taught.n_text + OPERATION_BYTES;
    its->head = op->at;
    return SQLITE_OK;
}

/* Do all operations of the log after the model's place. */
static int follow(lessons *its)
{
    int failed, row = SQLITE_DONE;
    sqlite3_stmt *call = store_call_of(&its->store, STORE_LOG_SINCE, &failed);
    if (failed)
        return failed;
    sqlite3_bind_int64(call, 1, its->head.seq);
    while (!failed && (row = sqlite3_step(call)) == SQLITE_ROW) {
        operation op = {.at = {sqlite3_column_int64(call, 0), sqlite3_column_int64(call, 1)},
                        .undoes = sqlite3_column_int64(call, 2),
                        .taught = {.label = (const char *)sqlite3_column_text(call, 4),
                                   .n_label = sqlite3_column_bytes(call, 4),
                                   .weight = sqlite3_column_double(call, 5)}};
        if (sqlite3_column_type(call, 3) != SQLITE_NULL) {
            op.taught.text = sqlite3_column_blob(call, 3); /* for a text, its bytes */
            op.taught.n_text = sqlite3_column_bytes(call, 3);
            if (op.taught.text == NULL)
                op.taught.text = "";
        }
        if (op.at.seq != its->head.seq + 1 || op.undoes >= op.at.seq)
            failed = wrong(its, "the table is damaged: its log has gaps");
        else
            failed = apply(its, &op);
    }
    if (!failed && row != SQLITE_DONE)
        failed = row;
    store_done(call);
    if (failed)
        forget(its);
    return failed;
}

/* Read the model again from its row. */
static int read(lessons *its)
{
    int failed;
    forget(its);
    sqlite3_stmt *call = store_call_of(&its->store, STORE_BYTES, &failed);
    if (failed)
        return failed;
    spt_model *model = NULL;
    if (sqlite3_step(call) != SQLITE_ROW)
        failed = wrong(its, "the table is damaged: its model is missing");
    else {
        its->base.seq = sqlite3_column_int64(call, 0);
        its->base.mark = sqlite3_column_int64(call, 1);
        its->saved = sqlite3_column_bytes(call, 2);
        if (spt_open_memory(sqlite3_column_blob(call, 2), (size_t)its->saved, 0, &model,
                            &its->error))
            failed = said(its);
        else
            failed = take(its, model);
    }
    store_done(call);
    its->head = its->base;
    its->unsaved = 0;
    return failed;
}

/* Find the last operation that the transaction sees, and whether the model's bytes include it. */
static int look(lessons *its, lessons_place *last, int *is_saved)
{
    static const store_call calls[] = {STORE_HEAD, STORE_BYTES};
    int failed = SQLITE_OK, found = 0;
    for (int i = 0; i < 2 && !found && !failed; i++) {
        sqlite3_stmt *call = store_call_of(&its->store, calls[i], &failed);
        if (failed)
            return failed;
        int row = sqlite3_step(call);
        found = row == SQLITE_ROW && sqlite3_column_type(call, 0) != SQLITE_NULL;
        last->seq = sqlite3_column_int64(call, 0);
        last->mark = sqlite3_column_int64(call, 1);
        *is_saved = i > 0;
        failed = row == SQLITE_ROW || row == SQLITE_DONE ? SQLITE_OK : row;
        store_done(call);
    }
    return failed || found ? failed : wrong(its, "the table is damaged: its model is missing");
}

static int is_same(const lessons_place *one, const lessons_place *other)
{
    return one->seq == other->seq && one->mark == other->mark;
}

/* Find out whether the model's place is one in the log. */
static int is_on_the_way(lessons *its, int *found)
{
    int failed;
    sqlite3_stmt *call = store_call_of(&its->store, STORE_MARK, &failed);
    if (failed)
        return failed;
    sqlite3_bind_int64(call, 1, its->head.seq);
    *found = sqlite3_step(call) == SQLITE_ROW && sqlite3_column_int64(call, 0) == its->head.mark;
    store_done(call);
    return SQLITE_OK;
}

int lessons_ready(lessons *its)
{
    lessons_place last = {0, 0};
    int failed, found = 0, is_saved = 0;
    its->error.code = SPT_OK;
    if (its->is_sure && its->model != NULL)
        return SQLITE_OK;
    failed = look(its, &last, &is_saved);
    if (!failed && its->model != NULL && last.seq >= its->head.seq) {
        found = is_same(&last, &its->head);
        if (!found)
            failed = is_on_the_way(its, &found);
    }
    if (!failed && !found)
        failed = read(its);
    if (!failed && !is_same(&last, &its->head))
        failed = follow(its);
    if (!failed && is_saved) { /* perhaps by another connection */
        its->base = its->head;
        its->unsaved = 0;
    }
    if (failed)
        forget(its);
    its->is_sure = !failed && its->in_transaction;
    return failed;
}

/* --- What is written */

/* Remove an operation from the log that could not be done, or whose lesson could not be written.
   `changed`: the model may have changed. */
static void take_out(lessons *its, const operation *op, int changed)
{
    int failed;
    sqlite3_stmt *call = store_call_of(&its->store, STORE_LOG_REMOVE, &failed);
    if (!failed) {
        sqlite3_bind_int64(call, 1, op->at.seq);
        failed = store_run(call);
    }
    if (failed || changed)
        forget(its);
}

/* Write an operation to the log, and do it. */
static int carry_out(lessons *its, const operation *op)
{
    int failed;
    const lesson *taught = &op->taught;
    sqlite3_stmt *call = store_call_of(&its->store, STORE_LOG_ADD, &failed);
    if (failed)
        return failed;
    sqlite3_bind_int64(call, 1, op->at.seq);
    sqlite3_bind_int64(call, 2, op->at.mark);
    if (op->undoes != 0)
        sqlite3_bind_int64(call, 3, op->undoes);
    if (taught->label != NULL) {
        if (taught->text != NULL && taught->is_blob)
            sqlite3_bind_blob(call, 4, taught->text, taught->n_text, SQLITE_STATIC);
        else if (taught->text != NULL)
            sqlite3_bind_text(call, 4, taught->text, taught->n_text, SQLITE_STATIC);
        sqlite3_bind_text(call, 5, taught->label, taught->n_label, SQLITE_STATIC);
        sqlite3_bind_double(call, 6, taught->weight);
    }
    failed = store_run(call);
    if (failed)
        return failed;
    failed = apply(its, op);
    if (failed) /* something may have been undone already */
        take_out(its, op, op->undoes != 0);
    return failed;
}

static operation next(const lessons *its)
{
    operation op = {.at = {.seq = its->head.seq + 1}};
    sqlite3_randomness(sizeof(op.at.mark), &op.at.mark);
    return op;
}

static void bind_lesson(sqlite3_stmt *call, sqlite3_int64 seq, const lesson *taught)
{
    sqlite3_bind_int64(call, 2, seq);
    sqlite3_bind_text(call, 3, taught->label, taught->n_label, SQLITE_STATIC);
    sqlite3_bind_double(call, 4, taught->weight);
}

/* Remove a lesson's row from the table. */
static int remove_row(lessons *its, sqlite3_int64 id)
{
    int failed;
    sqlite3_stmt *call = store_call_of(&its->store, STORE_LESSON_REMOVE, &failed);
    if (failed)
        return failed;
    sqlite3_bind_int64(call, 1, id);
    return store_run(call);
}

int lessons_add(lessons *its, sqlite3_value *id, const lesson *taught, sqlite3_int64 *its_id)
{
    int failed = lessons_ready(its);
    if (failed)
        return failed;
    operation op = next(its);
    op.taught = *taught;
    sqlite3_stmt *call = store_call_of(&its->store, STORE_LESSON_ADD, &failed);
    if (failed)
        return failed;
    if (id != NULL)
        sqlite3_bind_value(call, 1, id);
    bind_lesson(call, op.at.seq, taught);
    failed = store_run(call);
    if (failed)
        return failed;
    *its_id = sqlite3_last_insert_rowid(its->store.db);
    failed = carry_out(its, &op);
    if (failed && remove_row(its, *its_id))
        forget(its);
    return failed;
}

/* Write a lesson's new state. */
static int change_row(lessons *its, const lesson_row *row, sqlite3_int64 seq, const lesson *taught,
                      sqlite3_int64 id)
{
    int failed;
    sqlite3_stmt *call = store_call_of(&its->store, STORE_LESSON_CHANGE, &failed);
    if (failed)
        return failed;
    sqlite3_bind_int64(call, 1, id);
    bind_lesson(call, seq, taught);
    sqlite3_bind_int64(call, 5, row->id);
    return store_run(call);
}

int lessons_correct(lessons *its, const lesson_row *row, const lesson *taught, sqlite3_int64 id)
{
    int failed = lessons_ready(its);
    if (failed)
        return failed;
    operation op = next(its);
    op.undoes = row->seq;
    op.taught = *taught;
    failed = carry_out(its, &op);
    if (failed)
        return failed;
    failed = change_row(its, row, op.at.seq, taught, id);
    if (failed) /* another lesson has that id */
        take_out(its, &op, 1);
    return failed;
}

int lessons_rename(lessons *its, const lesson_row *row, const lesson *taught, sqlite3_int64 id)
{
    return change_row(its, row, row->seq, taught, id);
}

int lessons_remove(lessons *its, const lesson_row *row)
{
    int failed = lessons_ready(its);
    if (failed)
        return failed;
    operation op = next(its);
    op.undoes = row->seq;
    failed = carry_out(its, &op);
    return failed ? failed : remove_row(its, row->id);
}

/* --- The model's bytes */

static int write_bytes(lessons *its)
{
    void *p = NULL;
    size_t n = 0;
    int failed;
    sqlite3_stmt *call = store_call_of(&its->store, STORE_SAVE, &failed);
    if (failed)
        return failed;
    if (spt_save_memory(its->model, &p, &n, &its->error))
        return said(its);
    sqlite3_bind_int64(call, 1, its->head.seq);
    sqlite3_bind_int64(call, 2, its->head.mark);
    sqlite3_bind_blob64(call, 3, p, n, SQLITE_STATIC);
    failed = store_run(call);
    spt_free(p);
    its->saved = (sqlite3_int64)n;
    return failed;
}

/* Write the steps that are only in memory: those of operations after the bytes. */
static int write_steps(lessons *its)
{
    int failed;
    sqlite3_stmt *call = store_call_of(&its->store, STORE_STEPS_REMOVE, &failed);
    if (failed)
        return failed;
    sqlite3_bind_int64(call, 1, its->head.seq - its->keep);
    failed = store_run(call);
    if (failed || (call = store_call_of(&its->store, STORE_STEP_ADD, &failed)) == NULL)
        return failed;
    sqlite3_int64 first = its->head.seq - its->keep;
    for (sqlite3_int64 seq = (first > its->base.seq ? first : its->base.seq) + 1;
         seq <= its->head.seq && !failed; seq++) {
        void *p = NULL;
        size_t n = 0;
        if (its->keep == 0 || *step_at(its, seq) == NULL)
            continue;
        if (spt_step_save_memory(*step_at(its, seq), &p, &n, &its->error))
            return said(its);
        sqlite3_bind_int64(call, 1, seq);
        sqlite3_bind_blob64(call, 2, p, n, SQLITE_STATIC);
        failed = store_run(call);
        spt_free(p);
    }
    return failed;
}

int lessons_save(lessons *its)
{
    int failed;
    if (its->model == NULL || its->unsaved < LOG_LEAST || its->unsaved < its->saved)
        return SQLITE_OK;
    its->error.code = SPT_OK;
    /* restored below, as the program may read it */
    const sqlite3_int64 rowid = sqlite3_last_insert_rowid(its->store.db);
    failed = write_steps(its);
    if (!failed)
        failed = write_bytes(its);
    sqlite3_stmt *call = failed ? NULL : store_call_of(&its->store, STORE_LOG_EMPTY, &failed);
    if (!failed)
        failed = store_run(call);
    if (!failed) {
        its->base = its->head;
        its->unsaved = 0;
    } else
        forget(its);
    sqlite3_set_last_insert_rowid(its->store.db, rowid);
    return failed;
}

int lessons_create(lessons *its, spt_model *model, sqlite3_int64 keep)
{
    its->keep = keep;
    int failed = take(its, model);
    if (!failed)
        failed = store_create(&its->store, keep);
    return failed ? failed : write_bytes(its);
}

int lessons_connect(lessons *its)
{
    int failed;
    sqlite3_stmt *call = store_call_of(&its->store, STORE_SETTINGS, &failed);
    if (failed)
        return failed;
    if (sqlite3_step(call) != SQLITE_ROW || sqlite3_column_int64(call, 0) < 1)
        failed = wrong(its, "the table is damaged: its model is missing");
    else if (sqlite3_column_int64(call, 0) > 1)
        failed = wrong(its, "the table was made by a newer version of streamptron");
    else
        its->keep = sqlite3_column_int64(call, 1);
    store_done(call);
    if (!failed && (its->keep < 0 || its->keep > LESSONS_KEEP_MOST))
        failed = wrong(its, "the table is damaged: keep is out of range");
    return failed;
}
