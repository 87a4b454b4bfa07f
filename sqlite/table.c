#include "table.h"

#include "answers.h"
#include "given.h"
#include "lessons.h"
#include "say.h"

SQLITE_EXTENSION_INIT3

#include <string.h>

/* The columns. Those from `weight` on are hidden: SELECT * and INSERT without names leave them
   out. */
enum { ID, TEXT, LABEL, PROBABILITY, WEIGHT, KEPT, EXPLANATION, MODEL };
static const char declared[]
    = "CREATE TABLE x(id INTEGER PRIMARY KEY, text, label TEXT, probability REAL,"
      " weight REAL HIDDEN, kept INTEGER HIDDEN, explanation TEXT HIDDEN, model BLOB HIDDEN)";

/* How rows are found. */
enum { ALL, BY_ID, BY_MATCH };

typedef struct table {
    sqlite3_vtab base;
    lessons lessons;
} table;

typedef struct cursor {
    sqlite3_vtab_cursor base;
    int how, at_end;
    int is_sure; /* this statement has checked that the model is up to date */
    sqlite3_stmt *rows;
    sqlite3_value *text; /* that was answered last */
    spt_answer answer;
} cursor;

static lessons *lessons_of(sqlite3_vtab *its)
{
    return &((table *)(void *)its)->lessons;
}

/* Report a failure with the library's message; if SQLite itself failed, it has its own. */
static int fails(sqlite3_vtab *its, int code)
{
    const spt_error *error = &lessons_of(its)->error;
    if (code == SQLITE_OK || error->code == SPT_OK)
        return code;
    return say_table(its, code, "%s", error->words);
}

/* --- Making and dropping tables */

static int begin(sqlite3 *db, const char *const *arguments, table **made)
{
    *made = sqlite3_malloc64(sizeof(table));
    if (*made == NULL)
        return SQLITE_NOMEM;
    memset(*made, 0, sizeof(table));
    sqlite3_vtab_config(db, SQLITE_VTAB_CONSTRAINT_SUPPORT, 1);
    sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
    int failed = lessons_begin(&(*made)->lessons, db, arguments[1], arguments[2]);
    return failed ? failed : sqlite3_declare_vtab(db, declared);
}

static int end(sqlite3_vtab *its)
{
    lessons_end(lessons_of(its));
    sqlite3_free(its);
    return SQLITE_OK;
}

/* Give the table to SQLite, or report why there is none. */
static int finished(int failed, table *made, sqlite3_vtab **its, char **words)
{
    if (failed && made != NULL) {
        if (made->lessons.error.code != SPT_OK)
            *words = sqlite3_mprintf("%s", made->lessons.error.words);
        end(&made->base);
    } else if (!failed)
        *its = &made->base;
    return failed;
}

static int create(sqlite3 *db, void *none, int n, const char *const *arguments, sqlite3_vtab **its,
                  char **words)
{
    table *made;
    spt_model *model;
    sqlite3_int64 keep = 0;
    (void)none;
    int failed = begin(db, arguments, &made);
    if (!failed)
        failed = say_code(
            given_model(n - 3, arguments + 3, &model, &keep, &made->lessons.error));
    if (!failed)
        failed = lessons_create(&made->lessons, model, keep);
    return finished(failed, made, its, words);
}

static int connect(sqlite3 *db, void *none, int n, const char *const *arguments,
                   sqlite3_vtab **its, char **words)
{
    table *made;
    (void)none;
    (void)n;
    int failed = begin(db, arguments, &made);
    if (!failed)
        failed = lessons_connect(&made->lessons);
    return finished(failed, made, its, words);
}

static int destroy(sqlite3_vtab *its)
{
    int failed = store_drop(&lessons_of(its)->store);
    return failed ? failed : end(its);
}

static int rename_to(sqlite3_vtab *its, const char *name)
{
    return store_rename(&lessons_of(its)->store, name);
}

static int is_shadow(const char *name)
{
    return sqlite3_stricmp(name, "model") == 0 || sqlite3_stricmp(name, "log") == 0
           || sqlite3_stricmp(name, "lessons") == 0 || sqlite3_stricmp(name, "steps") == 0;
}

/* --- Rows */

static int plan(sqlite3_vtab *its, sqlite3_index_info *info)
{
    int by_id = -1, by_match = -1;
    (void)its;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *found = &info->aConstraint[i];
        if (found->op == SQLITE_INDEX_CONSTRAINT_MATCH && found->iColumn == TEXT) {
            if (!found->usable)
                return SQLITE_CONSTRAINT; /* the text comes from a table to be read first */
            by_match = i;
        } else if (found->op == SQLITE_INDEX_CONSTRAINT_EQ && found->usable
                   && (found->iColumn == ID || found->iColumn < 0))
            by_id = i;
    }
    info->idxNum = by_match >= 0 ? BY_MATCH : by_id >= 0 ? BY_ID : ALL;
    info->estimatedCost = info->idxNum == ALL ? 1e6 : 1.0;
    info->estimatedRows = info->idxNum == ALL ? 1000000 : 1;
    if (info->idxNum == ALL)
        return SQLITE_OK;
    struct sqlite3_index_constraint_usage *use
        = &info->aConstraintUsage[info->idxNum == BY_MATCH ? by_match : by_id];
    use->argvIndex = 1;
    use->omit = info->idxNum == BY_MATCH;
    info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *its, sqlite3_vtab_cursor **made)
{
    (void)its;
    cursor *new = sqlite3_malloc64(sizeof(cursor));
    if (new == NULL)
        return SQLITE_NOMEM;
    memset(new, 0, sizeof(cursor));
    *made = &new->base;
    return SQLITE_OK;
}

/* Give back the statement that finds the rows. */
static void leave_rows(cursor *at)
{
    store *its = &lessons_of(at->base.pVtab)->store;
    const store_call call = at->how == BY_ID ? STORE_LESSON : STORE_LESSONS;
    if (at->rows == NULL)
        return;
    store_done(at->rows);
    if (its->calls[call] == NULL)
        its->calls[call] = at->rows;
    else
        sqlite3_finalize(at->rows);
    at->rows = NULL;
}

static int close_cursor(sqlite3_vtab_cursor *its)
{
    cursor *at = (cursor *)(void *)its;
    leave_rows(at);
    sqlite3_value_free(at->text);
    sqlite3_free(at);
    return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *its)
{
    cursor *at = (cursor *)(void *)its;
    int row = at->how == BY_MATCH ? SQLITE_DONE : sqlite3_step(at->rows);
    at->at_end = row != SQLITE_ROW;
    return row == SQLITE_ROW || row == SQLITE_DONE ? SQLITE_OK : row;
}

/* The model's answer to a text. */
static int ask(cursor *at, sqlite3_value *text)
{
    lessons *its = lessons_of(at->base.pVtab);
    const spt_answer none = SPT_ANSWER;
    at->answer = none;
    sqlite3_value_free(at->text);
    at->text = sqlite3_value_dup(text);
    at->at_end = sqlite3_value_type(text) == SQLITE_NULL;
    if (at->text == NULL)
        return SQLITE_NOMEM;
    if (!at->at_end
        && (answers_read(its->event, text, &its->error)
            || spt_predict(its->model, its->event, &at->answer, &its->error)))
        return say_code(its->error.code);
    return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *its, int how, const char *none, int n,
                  sqlite3_value **values)
{
    cursor *at = (cursor *)(void *)its;
    lessons *own = lessons_of(its->pVtab);
    int failed = SQLITE_OK;
    (void)none;
    (void)n;
    leave_rows(at);
    at->how = how;
    own->error.code = SPT_OK;
    /* while a statement runs, no other connection's lessons are seen */
    if (!at->is_sure || own->model == NULL)
        failed = lessons_ready(own);
    at->is_sure = !failed;
    if (!failed && how == BY_MATCH)
        failed = ask(at, values[0]);
    else if (!failed) {
        const store_call call = how == BY_ID ? STORE_LESSON : STORE_LESSONS;
        at->rows = store_call_of(&own->store, call, &failed);
        own->store.calls[call] = NULL; /* until the cursor is done with it */
        if (!failed && how == BY_ID)
            sqlite3_bind_value(at->rows, 1, values[0]);
        if (!failed)
            failed = next_row(its);
    }
    return fails(its->pVtab, failed);
}

static int is_at_end(sqlite3_vtab_cursor *its)
{
    return ((cursor *)(void *)its)->at_end;
}

static int row_id(sqlite3_vtab_cursor *its, sqlite3_int64 *id)
{
    cursor *at = (cursor *)(void *)its;
    *id = at->how == BY_MATCH ? 0 : sqlite3_column_int64(at->rows, 0);
    return SQLITE_OK;
}

/* A column of an answered text. */
static int answered(cursor *at, sqlite3_context *context, int column)
{
    lessons *its = lessons_of(at->base.pVtab);
    void *p;
    size_t n;
    int failed = SPT_OK;
    if (column == TEXT)
        sqlite3_result_value(context, at->text);
    else if (column == LABEL)
        answers_label(context, its->model, at->answer.label);
    else if (column == PROBABILITY && at->answer.label >= 0)
        sqlite3_result_double(context, at->answer.probability);
    else if (column == EXPLANATION && at->answer.label >= 0) {
        /* the event may hold another text by now */
        failed = answers_read(its->event, at->text, &its->error);
        if (!failed)
            failed = answers_explain(context, its->model, its->event, (size_t)at->answer.label,
                                     &its->error);
    } else if (column == MODEL) {
        failed = spt_save_memory(its->model, &p, &n, &its->error);
        if (!failed)
            sqlite3_result_blob64(context, p, n, spt_free);
    }
    if (failed)
        say_result(context, &its->error);
    return SQLITE_OK;
}

static int value(sqlite3_vtab_cursor *its, sqlite3_context *context, int column)
{
    static const int places[] = {[ID] = 0, [LABEL] = 2, [WEIGHT] = 3};
    cursor *at = (cursor *)(void *)its;
    lessons *own = lessons_of(its->pVtab);
    if (sqlite3_vtab_nochange(context))
        return SQLITE_OK;
    if (at->how == BY_MATCH && own->model != NULL)
        return answered(at, context, column);
    if (at->how == BY_MATCH)
        return say_table(its->pVtab, SQLITE_ABORT, "a rollback has ended what was being asked");
    if (column == ID || column == LABEL || column == WEIGHT)
        sqlite3_result_value(context, sqlite3_column_value(at->rows, places[column]));
    else if (column == KEPT)
        sqlite3_result_int(context, lessons_are_kept(own, sqlite3_column_int64(at->rows, 1)));
    return SQLITE_OK;
}

/* --- What is written */

/* Read a lesson's label and weight, and its text if there is one. */
static int read_lesson(sqlite3_vtab *its, sqlite3_value **columns, lesson *taught)
{
    const double weight = sqlite3_value_double(columns[WEIGHT]);
    taught->weight = 1.0;
    for (int column = PROBABILITY; column <= MODEL; column++) {
        if (column != WEIGHT && sqlite3_value_type(columns[column]) != SQLITE_NULL)
            return say_table(its, SQLITE_ERROR,
                             "probability, kept, explanation and model are what the table answers, "
                             "and cannot be given");
    }
    if (sqlite3_value_type(columns[WEIGHT]) != SQLITE_NULL) {
        const int type = sqlite3_value_numeric_type(columns[WEIGHT]);
        if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
            return say_table(its, SQLITE_ERROR, "weight must be a number");
        taught->weight = weight;
    }
    if (sqlite3_value_type(columns[LABEL]) == SQLITE_NULL)
        return say_table(its, SQLITE_ERROR,
                         "label is NULL; give the label to be learned, or no row: a trigger can "
                         "have WHEN new.label IS NOT NULL");
    taught->label = (const char *)sqlite3_value_text(columns[LABEL]);
    taught->n_label = sqlite3_value_bytes(columns[LABEL]);
    if (sqlite3_value_type(columns[TEXT]) != SQLITE_NULL) {
        taught->text = answers_bytes(columns[TEXT], &taught->n_text);
        taught->is_blob = sqlite3_value_type(columns[TEXT]) == SQLITE_BLOB;
    }
    return taught->label == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* Find a lesson by its id. `label`, unless it is NULL, gets its label, to be freed. */
static int find(lessons *its, sqlite3_int64 id, lesson_row *row, sqlite3_value **label,
                double *weight)
{
    int failed;
    sqlite3_stmt *call = store_call_of(&its->store, STORE_LESSON, &failed);
    if (failed)
        return failed;
    sqlite3_bind_int64(call, 1, id);
    failed = sqlite3_step(call) == SQLITE_ROW ? SQLITE_OK : SQLITE_CORRUPT_VTAB;
    row->id = id;
    row->seq = sqlite3_column_int64(call, 1);
    if (label != NULL && !failed) {
        *label = sqlite3_value_dup(sqlite3_column_value(call, 2));
        *weight = sqlite3_column_double(call, 3);
    }
    store_done(call);
    return failed;
}

/* Check that a lesson can still be undone. */
static int check_kept(sqlite3_vtab *its, const lesson_row *row)
{
    const lessons *own = lessons_of(its);
    if (lessons_are_kept(own, row->seq))
        return SQLITE_OK;
    if (own->keep == 0)
        return say_table(its, SQLITE_ERROR,
                         "lesson %lld cannot be taken back: the table was created with keep=0, or "
                         "with a learner that cannot take a lesson back",
                         row->id);
    return say_table(its, SQLITE_ERROR,
                     "lesson %lld cannot be taken back any more: %lld others have come since, "
                     "which is what keep says; leave such rows out by AND kept",
                     row->id, own->keep);
}

/* Whether a code says that another lesson has the id. It may be an extended code. */
static int is_constraint(int code)
{
    return (code & 255) == SQLITE_CONSTRAINT;
}

static int replace(sqlite3_vtab *its, const lesson *taught, sqlite3_int64 id)
{
    lesson_row row;
    lessons *own = lessons_of(its);
    int failed = find(own, id, &row, NULL, NULL);
    if (!failed)
        failed = check_kept(its, &row);
    return failed ? failed : fails(its, lessons_correct(own, &row, taught, id));
}

static int insert(sqlite3_vtab *its, sqlite3_value **values, sqlite3_int64 *id)
{
    lesson taught = {.text = NULL};
    lessons *own = lessons_of(its);
    sqlite3_value **columns = values + 2;
    sqlite3_value *asked = columns[ID];
    int failed = read_lesson(its, columns, &taught);
    if (failed)
        return failed;
    if (taught.text == NULL)
        return say_table(its, SQLITE_ERROR, "text is NULL; give the text to be learned");
    if (sqlite3_value_type(asked) == SQLITE_NULL)
        asked = values[1]; /* rowid, another name for the id */
    const int is_new = sqlite3_value_type(asked) == SQLITE_NULL;
    if (!is_new && sqlite3_value_numeric_type(asked) != SQLITE_INTEGER)
        return say_table(its, SQLITE_ERROR, "id must be an integer, such as a table's rowid");
    failed = lessons_add(own, is_new ? NULL : asked, &taught, id);
    if (!is_constraint(failed))
        return fails(its, failed);
    *id = sqlite3_value_int64(asked);
    if (sqlite3_vtab_on_conflict(own->store.db) == SQLITE_REPLACE)
        return replace(its, &taught, *id);
    return say_table(its, SQLITE_CONSTRAINT,
                     "lesson %lld has been learned already; UPDATE corrects it, INSERT OR IGNORE "
                     "leaves it as it is",
                     *id);
}

/* Correct a lesson, or give it another id. If its label, weight and text are unchanged, it is not
   learned again. */
static int update(sqlite3_vtab *its, sqlite3_value **values)
{
    lesson taught = {.text = NULL}, before = {.text = NULL};
    lesson_row row = {.seq = 0};
    lessons *own = lessons_of(its);
    sqlite3_value **columns = values + 2, *label = NULL;
    if (sqlite3_value_nochange(columns[ID]))
        columns[ID] = values[1];
    if (sqlite3_value_numeric_type(columns[ID]) != SQLITE_INTEGER)
        return say_table(its, SQLITE_ERROR, "id must be an integer, such as a table's rowid");
    const sqlite3_int64 id = sqlite3_value_int64(columns[ID]);
    int failed = find(own, sqlite3_value_int64(values[0]), &row, &label, &before.weight);
    if (!failed && sqlite3_value_nochange(columns[LABEL]))
        columns[LABEL] = label;
    if (!failed)
        failed = read_lesson(its, columns, &taught);
    if (!failed && sqlite3_value_nochange(columns[WEIGHT]))
        taught.weight = before.weight;
    if (!failed) {
        before.label = (const char *)sqlite3_value_text(label);
        before.n_label = sqlite3_value_bytes(label);
        int is_same = taught.text == NULL && taught.weight == before.weight
                      && taught.n_label == before.n_label
                      && memcmp(taught.label, before.label, (size_t)taught.n_label) == 0;
        if (is_same)
            failed = id == row.id ? SQLITE_OK : lessons_rename(own, &row, &before, id);
        else {
            failed = check_kept(its, &row);
            if (!failed)
                failed = fails(its, lessons_correct(own, &row, &taught, id));
        }
    }
    sqlite3_value_free(label);
    if (is_constraint(failed))
        return say_table(its, SQLITE_CONSTRAINT, "lesson %lld has been learned already", id);
    return failed;
}

static int write(sqlite3_vtab *its, int n, sqlite3_value **values, sqlite3_int64 *id)
{
    lesson_row row = {.seq = 0};
    lessons *own = lessons_of(its);
    int failed = lessons_ready(own);
    if (failed)
        return fails(its, failed);
    if (n > 1)
        return sqlite3_value_type(values[0]) == SQLITE_NULL ? insert(its, values, id)
                                                            : update(its, values);
    failed = find(own, sqlite3_value_int64(values[0]), &row, NULL, NULL);
    if (!failed)
        failed = check_kept(its, &row);
    return failed ? failed : fails(its, lessons_remove(own, &row));
}

/* --- Transactions. They are those of the tables behind the model */

static int begin_transaction(sqlite3_vtab *its)
{
    lessons *own = lessons_of(its);
    own->in_transaction = 1;
    own->is_sure = 0;
    return SQLITE_OK;
}

static int sync_it(sqlite3_vtab *its)
{
    return fails(its, lessons_save(lessons_of(its)));
}

static int commit(sqlite3_vtab *its)
{
    lessons *own = lessons_of(its);
    own->in_transaction = own->is_sure = 0;
    return SQLITE_OK;
}

static int rollback(sqlite3_vtab *its)
{
    lessons *own = lessons_of(its);
    own->in_transaction = 0;
    lessons_doubt(own);
    return SQLITE_OK;
}

static int set_savepoint(sqlite3_vtab *its, int number)
{
    (void)its;
    (void)number;
    return SQLITE_OK;
}

static int rollback_to(sqlite3_vtab *its, int number)
{
    (void)number;
    lessons_doubt(lessons_of(its));
    return SQLITE_OK;
}

int table_register(sqlite3 *db)
{
    static const sqlite3_module module = {
        .iVersion = 3,
        .xCreate = create,
        .xConnect = connect,
        .xBestIndex = plan,
        .xDisconnect = end,
        .xDestroy = destroy,
        .xOpen = open_cursor,
        .xClose = close_cursor,
        .xFilter = filter,
        .xNext = next_row,
        .xEof = is_at_end,
        .xColumn = value,
        .xRowid = row_id,
        .xUpdate = write,
        .xBegin = begin_transaction,
        .xSync = sync_it,
        .xCommit = commit,
        .xRollback = rollback,
        .xRename = rename_to,
        .xSavepoint = set_savepoint,
        .xRelease = set_savepoint,
        .xRollbackTo = rollback_to,
        .xShadowName = is_shadow,
    };
    return sqlite3_create_module_v2(db, "streamptron", &module, NULL, NULL);
}
