#include "functions.h"

#include "answers.h"
#include "opened.h"
#include "say.h"

SQLITE_EXTENSION_INIT3

#include <string.h>

enum { TOP_USUAL = 3 };

/* What the functions of a connection share. */
typedef struct shared {
    opened_list list;
    int functions; /* how many are registered */
    spt_error error; /* the message */
} shared;

static spt_error *error_of(sqlite3_context *context)
{
    return &((shared *)sqlite3_user_data(context))->error;
}

/* Read the first two arguments: the model, and the text, which becomes its event. NULL: the result
   is set. */
static opened *asked(sqlite3_context *context, sqlite3_value **values)
{
    shared *own = sqlite3_user_data(context);
    if (sqlite3_value_type(values[0]) == SQLITE_NULL
        || sqlite3_value_type(values[1]) == SQLITE_NULL)
        return NULL;
    opened *its = opened_find(&own->list, context, values[0]);
    if (its == NULL || answers_read(its->event, values[1], &own->error) == SPT_OK)
        return its;
    say_result(context, &own->error);
    return NULL;
}

static int predicted(sqlite3_context *context, opened *its, spt_answer *answer)
{
    spt_error *error = error_of(context);
    int failed = spt_predict(its->model, its->event, answer, error);
    if (failed)
        say_result(context, error);
    return failed;
}

/* The number of the label that an argument names; -1: there is none, and the result says so. */
static ptrdiff_t label_of(sqlite3_context *context, const opened *its, sqlite3_value *value)
{
    const char *text = (const char *)sqlite3_value_text(value);
    ptrdiff_t label
        = text == NULL
              ? -1
              : spt_label_find(its->model, text, (size_t)sqlite3_value_bytes(value));
    if (label < 0) {
        char *words = sqlite3_mprintf("label is %s%q%s, which the model has not learned",
                                      text == NULL ? "" : "'", text == NULL ? "NULL" : text,
                                      text == NULL ? "" : "'");
        sqlite3_result_error(context, words, -1);
        sqlite3_free(words);
    }
    return label;
}

static void label(sqlite3_context *context, int n, sqlite3_value **values)
{
    spt_answer answer = SPT_ANSWER;
    opened *its = asked(context, values);
    (void)n;
    if (its != NULL && !predicted(context, its, &answer))
        answers_label(context, its->model, answer.label);
}

static void probability(sqlite3_context *context, int n, sqlite3_value **values)
{
    spt_error *error = error_of(context);
    spt_answer answer = SPT_ANSWER;
    opened *its = asked(context, values);
    if (its == NULL)
        return;
    if (n < 3) {
        if (!predicted(context, its, &answer) && answer.label >= 0)
            sqlite3_result_double(context, answer.probability);
        return;
    }
    ptrdiff_t label = label_of(context, its, values[2]);
    if (label < 0)
        return;
    if (spt_probabilities(its->model, its->event, its->numbers, spt_labels(its->model), error))
        say_result(context, error);
    else
        sqlite3_result_double(context, its->numbers[label]);
}

static void explain(sqlite3_context *context, int n, sqlite3_value **values)
{
    spt_error *error = error_of(context);
    spt_answer answer = SPT_ANSWER;
    opened *its = asked(context, values);
    if (its == NULL)
        return;
    if (n > 2)
        answer.label = label_of(context, its, values[2]);
    else if (predicted(context, its, &answer))
        return;
    if (answer.label >= 0
        && answers_explain(context, its->model, its->event, (size_t)answer.label, error))
        say_result(context, error);
}

static void top(sqlite3_context *context, int n, sqlite3_value **values)
{
    spt_error *error = error_of(context);
    opened *its = asked(context, values);
    sqlite3_int64 most = n > 2 ? sqlite3_value_int64(values[2]) : TOP_USUAL;
    if (its == NULL)
        return;
    if (n > 2 && (sqlite3_value_numeric_type(values[2]) != SQLITE_INTEGER || most < 1))
        sqlite3_result_error(context, "the number of labels must be an integer from 1 on", -1);
    else if (answers_top(context, its->model, its->event, (size_t)most, error))
        say_result(context, error);
}

static void version(sqlite3_context *context, int n, sqlite3_value **values)
{
    (void)n;
    (void)values;
    sqlite3_result_text(context, spt_version(), -1, SQLITE_STATIC);
}

static void forget(void *p)
{
    shared *own = p;
    if (--own->functions > 0)
        return;
    opened_forget(&own->list);
    sqlite3_free(own);
}

int functions_register(sqlite3 *db)
{
    static const struct {
        const char *name;
        int n;
        void (*call)(sqlite3_context *, int, sqlite3_value **);
    } functions[] = {
        {"streamptron_label", 2, label},      {"streamptron_probability", 2, probability},
        {"streamptron_probability", 3, probability}, {"streamptron_explain", 2, explain},
        {"streamptron_explain", 3, explain},  {"streamptron_top", 2, top},
        {"streamptron_top", 3, top},          {"streamptron_version", 0, version},
    };
    const int n = sizeof(functions) / sizeof(functions[0]);
    int failed = SQLITE_OK;
    shared *own = sqlite3_malloc64(sizeof(shared));
    if (own == NULL)
        return SQLITE_NOMEM;
    memset(own, 0, sizeof(shared));
    own->error.size = sizeof(spt_error);
    own->functions = 1;
    for (int i = 0; i < n && !failed; i++) {
        own->functions++; /* if this fails, forget is called, too */
        failed = sqlite3_create_function_v2(db, functions[i].name, functions[i].n, SQLITE_UTF8, own,
                                            functions[i].call, NULL, NULL, forget);
    }
    forget(own);
    return failed;
}
