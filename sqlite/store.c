#include "store.h"

SQLITE_EXTENSION_INIT3

#include <string.h>

/* %w stands for the schema and the table in turn, escaped for double quotes. */
static const char *const texts[STORE_CALLS] = {
    [STORE_SETTINGS] = "SELECT version, keep FROM \"%w\".\"%w_model\"",
    /* the last operation, in the log or in the bytes */
    [STORE_HEAD] = "SELECT max(seq), mark FROM \"%w\".\"%w_log\"",
    [STORE_MARK] = "SELECT mark FROM \"%w\".\"%w_log\" WHERE seq = ?",
    [STORE_BYTES] = "SELECT seq, mark, bytes FROM \"%w\".\"%w_model\"",
    [STORE_SAVE] = "UPDATE \"%w\".\"%w_model\" SET seq = ?, mark = ?, bytes = ?",
    [STORE_LOG_SINCE] = "SELECT seq, mark, undoes, text, label, weight FROM \"%w\".\"%w_log\""
                        " WHERE seq > ? ORDER BY seq",
    [STORE_LOG_ADD] = "INSERT INTO \"%w\".\"%w_log\" VALUES (?, ?, ?, ?, ?, ?)",
    [STORE_LOG_REMOVE] = "DELETE FROM \"%w\".\"%w_log\" WHERE seq = ?",
    [STORE_LOG_EMPTY] = "DELETE FROM \"%w\".\"%w_log\"",
    [STORE_LESSON] = "SELECT id, seq, label, weight FROM \"%w\".\"%w_lessons\" WHERE id = ?",
    [STORE_LESSONS] = "SELECT id, seq, label, weight FROM \"%w\".\"%w_lessons\"",
    [STORE_LESSON_ADD] = "INSERT INTO \"%w\".\"%w_lessons\" VALUES (?, ?, ?, ?)",
    [STORE_LESSON_CHANGE] = "UPDATE \"%w\".\"%w_lessons\" SET id = ?, seq = ?, label = ?,"
                            " weight = ? WHERE id = ?",
    [STORE_LESSON_REMOVE] = "DELETE FROM \"%w\".\"%w_lessons\" WHERE id = ?",
    [STORE_STEP] = "SELECT step FROM \"%w\".\"%w_steps\" WHERE seq = ?",
    [STORE_STEP_ADD] = "INSERT INTO \"%w\".\"%w_steps\" VALUES (?, ?)",
    /* those that are too old, and those that were undone; the log's name is the third */
    [STORE_STEPS_REMOVE] = "DELETE FROM \"%w\".\"%w_steps\" WHERE seq <= ?"
                           " OR seq IN (SELECT undoes FROM \"%w\".\"%w_log\")",
};

int store_begin(store *its, sqlite3 *db, const char *schema, const char *table)
{
    memset(its, 0, sizeof(*its));
    its->db = db;
    its->schema = sqlite3_mprintf("%s", schema);
    its->table = sqlite3_mprintf("%s", table);
    return its->schema == NULL || its->table == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

static void finalize(store *its)
{
    for (int i = 0; i < STORE_CALLS; i++) {
        sqlite3_finalize(its->calls[i]);
        its->calls[i] = NULL;
    }
}

void store_end(store *its)
{
    finalize(its);
    sqlite3_free(its->schema);
    sqlite3_free(its->table);
}

/* Run SQL in which %w stands for the schema and the table in turn. */
static int run(store *its, const char *text, sqlite3_int64 number)
{
    char *sql = sqlite3_mprintf(text, its->schema, its->table, number);
    if (sql == NULL)
        return SQLITE_NOMEM;
    int failed = sqlite3_exec(its->db, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    return failed;
}

int store_create(store *its, sqlite3_int64 keep)
{
    static const char *const tables[] = {
        "CREATE TABLE \"%w\".\"%w_log\"(seq INTEGER PRIMARY KEY, mark INTEGER, undoes INTEGER,"
        " text, label TEXT, weight REAL)",
        "CREATE TABLE \"%w\".\"%w_lessons\"(id INTEGER PRIMARY KEY, seq INTEGER, label TEXT,"
        " weight REAL)",
        "CREATE TABLE \"%w\".\"%w_steps\"(seq INTEGER PRIMARY KEY, step BLOB)",
        "CREATE TABLE \"%w\".\"%w_model\"(version INTEGER, keep INTEGER, seq INTEGER,"
        " mark INTEGER, bytes BLOB)",
    };
    int failed = SQLITE_OK;
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !failed; i++)
        failed = run(its, tables[i], 0);
    if (!failed)
        failed = run(its, "INSERT INTO \"%w\".\"%w_model\" VALUES (1, %lld, 0, 0, NULL)", keep);
    return failed;
}

int store_drop(store *its)
{
    static const char *const tables[] = {
        "DROP TABLE IF EXISTS \"%w\".\"%w_log\"",
        "DROP TABLE IF EXISTS \"%w\".\"%w_lessons\"",
        "DROP TABLE IF EXISTS \"%w\".\"%w_steps\"",
        "DROP TABLE IF EXISTS \"%w\".\"%w_model\"",
    };
    int failed = SQLITE_OK;
    finalize(its);
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !failed; i++)
        failed = run(its, tables[i], 0);
    return failed;
}

int store_rename(store *its, const char *table)
{
    static const char *const names[] = {"log", "lessons", "steps", "model"};
    int failed = SQLITE_OK;
    finalize(its);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !failed; i++) {
        char *sql = sqlite3_mprintf("ALTER TABLE \"%w\".\"%w_%s\" RENAME TO \"%w_%s\"", its->schema,
                                    its->table, names[i], table, names[i]);
        failed = sql == NULL ? SQLITE_NOMEM : sqlite3_exec(its->db, sql, NULL, NULL, NULL);
        sqlite3_free(sql);
    }
    char *name = failed ? NULL : sqlite3_mprintf("%s", table);
    if (name == NULL)
        return failed ? failed : SQLITE_NOMEM;
    sqlite3_free(its->table);
    its->table = name;
    return SQLITE_OK;
}

sqlite3_stmt *store_call_of(store *its, store_call call, int *code)
{
    *code = SQLITE_OK;
    if (its->calls[call] != NULL)
        return its->calls[call];
    char *sql
        = sqlite3_mprintf(texts[call], its->schema, its->table, its->schema, its->table);
    *code = sql == NULL ? SQLITE_NOMEM
                        : sqlite3_prepare_v3(its->db, sql, -1,
                                             SQLITE_PREPARE_PERSISTENT | SQLITE_PREPARE_NO_VTAB,
                                             &its->calls[call], NULL);
    sqlite3_free(sql);
    return its->calls[call];
}

void store_done(sqlite3_stmt *statement)
{
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
}

int store_run(sqlite3_stmt *statement)
{
    sqlite3_step(statement);
    int failed = sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return failed;
}
