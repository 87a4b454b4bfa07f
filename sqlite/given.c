#include "given.h"

#include "answers.h"
#include "lessons.h"

SQLITE_EXTENSION_INIT3

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEARNER, PARAMETERS, TOKENIZER, MAIL, MODEL, KEEP, NAMES };
static const char *const names[NAMES]
    = {"learner", "parameters", "tokenizer", "mail", "model", "keep"};

static int refused(spt_error *error, const char *words, ...)
{
    va_list values;
    va_start(values, words);
    error->code = SPT_ARGUMENT;
    sqlite3_vsnprintf(sizeof(error->words), error->words, words, values);
    va_end(values);
    return SPT_ARGUMENT;
}

static int is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* A value as written in SQL, without its quotes; NULL if out of memory, or if they do not match. */
static char *unquoted(const char *text)
{
    size_t n = strlen(text);
    while (n > 0 && is_space(text[n - 1]))
        n--;
    char *value = sqlite3_malloc64(n + 1), *to = value;
    if (value == NULL)
        return NULL;
    const char quote = n > 0 && (*text == '\'' || *text == '"') ? *text : 0;
    size_t i = quote != 0, end = quote != 0 ? n - 1 : n;
    if (quote != 0 && (n < 2 || text[n - 1] != quote)) {
        sqlite3_free(value);
        return NULL;
    }
    for (; i < end; i++) {
        *to++ = text[i];
        if (quote != 0 && text[i] == quote && text[i + 1] == quote)
            i++;
    }
    *to = 0;
    return value;
}

/* Read name=value. */
static int read_argument(const char *text, char **values, spt_error *error)
{
    while (is_space(*text))
        text++;
    size_t n = strcspn(text, "= \t\r\n");
    const char *value = text + n;
    while (is_space(*value))
        value++;
    for (int i = 0; i < NAMES && *value == '='; i++) {
        if (strlen(names[i]) != n || memcmp(names[i], text, n) != 0)
            continue;
        if (values[i] != NULL)
            return refused(error, "%s is given twice", names[i]);
        value++;
        while (is_space(*value))
            value++;
        values[i] = unquoted(value);
        return values[i] == NULL ? refused(error, "%s must be a value in single quotes", names[i])
                                 : SPT_OK;
    }
    return refused(error,
                   "'%s' is not an argument; give learner='adaptive', parameters='{...}', "
                   "tokenizer='{...}', mail='{...}', model='FILE' or keep=1000",
                   text);
}

static int make(char *const *values, spt_model **model, spt_error *error)
{
    const char *learner = values[LEARNER] == NULL ? "adaptive" : values[LEARNER];
    if (values[MODEL] != NULL) {
        if (values[LEARNER] || values[PARAMETERS] || values[TOKENIZER] || values[MAIL])
            return refused(error, "model is a file that has learner, parameters and tokenizer; "
                                  "leave these out");
        return spt_open(values[MODEL], 0, model, error);
    }
    if (values[MAIL] == NULL)
        return spt_new(learner, values[PARAMETERS],
                       values[TOKENIZER] == NULL ? "{}" : values[TOKENIZER], model, error);
    if (values[TOKENIZER] != NULL)
        return refused(error, "mail and tokenizer are two ways to read a text; give one of them");
    return spt_new_mail(learner, values[PARAMETERS], values[MAIL], model, error);
}

/* Whether a model's steps can be undone. */
static int can_undo(const spt_model *model)
{
    spt_event *event;
    if (spt_event_new(model, &event, NULL))
        return 0;
    int can = spt_event_keep(event, 1, NULL) == SPT_OK;
    spt_event_free(event);
    return can;
}

static int read_keep(const char *text, const spt_model *model, sqlite3_int64 *keep,
                     spt_error *error)
{
    char *end;
    if (text == NULL) {
        *keep = can_undo(model) ? LESSONS_KEEP_USUAL : 0;
        return SPT_OK;
    }
    *keep = strtol(text, &end, 10);
    if (end == text || *end != 0 || *keep < 0 || *keep > LESSONS_KEEP_MOST)
        return refused(error, "keep='%s' must be an integer from 0 to %d: how many of the last "
                              "lessons can be taken back",
                       text, LESSONS_KEEP_MOST);
    if (*keep > 0 && !can_undo(model))
        return refused(error, "keep must be 0: a %s cannot take a lesson back", spt_learner(model));
    return SPT_OK;
}

int given_model(int n, const char *const *arguments, spt_model **model, sqlite3_int64 *keep,
                spt_error *error)
{
    char *values[NAMES] = {NULL};
    int failed = SPT_OK;
    *model = NULL;
    for (int i = 0; i < n && !failed; i++)
        failed = read_argument(arguments[i], values, error);
    if (!failed)
        failed = make(values, model, error);
    if (!failed)
        failed = answers_check(*model, error);
    if (!failed && spt_input(*model) == SPT_FEATURES)
        failed = refused(error, "the model has no tokenizer, so it cannot take a text");
    if (!failed)
        failed = read_keep(values[KEEP], *model, keep, error);
    if (failed) {
        spt_close(*model);
        *model = NULL;
    }
    for (int i = 0; i < NAMES; i++)
        sqlite3_free(values[i]);
    return failed;
}
