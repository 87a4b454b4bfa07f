#include "answers.h"

SQLITE_EXTENSION_INIT3

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const void *answers_bytes(sqlite3_value *value, int *n)
{
    const void *p = sqlite3_value_type(value) == SQLITE_BLOB
                        ? sqlite3_value_blob(value)
                        : (const void *)sqlite3_value_text(value);
    *n = sqlite3_value_bytes(value);
    return p == NULL ? "" : p;
}

int answers_read(spt_event *event, sqlite3_value *value, spt_error *error)
{
    int n;
    const char *text = answers_bytes(value, &n);
    return spt_event_text(event, text, (size_t)n, error);
}

static int refused(spt_error *error, const char *words)
{
    error->code = SPT_ARGUMENT;
    snprintf(error->words, sizeof(error->words), "%s", words);
    return SPT_ARGUMENT;
}

int answers_check(const spt_model *model, spt_error *error)
{
    if (spt_is_multilabel(model))
        return refused(error, "the model answers several labels an event, which SQLite's functions "
                              "do not; use Python or the C library for it");
    if (spt_is_ranking(model))
        return refused(error, "the model chooses among candidates, which SQLite's functions do "
                              "not; use Python or the C library for it");
    if (spt_fields(model) > 1)
        return refused(error, "the model's tokenizer takes a text for each of its fields, and here "
                              "is one text; use Python or the C library for it");
    return SPT_OK;
}

void answers_label(sqlite3_context *context, const spt_model *model, ptrdiff_t label)
{
    size_t n;
    const char *text = label < 0 ? NULL : spt_label(model, (size_t)label, &n);
    if (text == NULL)
        sqlite3_result_null(context);
    else
        sqlite3_result_text(context, text, (int)n, SQLITE_TRANSIENT);
}

/* --- JSON */

static void add_string(sqlite3_str *json, const char *p, size_t n)
{
    sqlite3_str_appendchar(json, 1, '"');
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)p[i] < 0x20)
            sqlite3_str_appendf(json, "\\u%04x", p[i]);
        else {
            if (p[i] == '"' || p[i] == '\\')
                sqlite3_str_appendchar(json, 1, '\\');
            sqlite3_str_appendchar(json, 1, p[i]);
        }
    }
    sqlite3_str_appendchar(json, 1, '"');
}

/* Write a number with the fewest digits that read back as the same one. SQLite's own %g rounds
   some. */
static void add_number(sqlite3_str *json, double number)
{
    char text[40], *comma;
    int digits = 15;
    do
        snprintf(text, sizeof(text), "%.*g", digits, number);
    while (digits++ < 17 && strtod(text, NULL) != number);
    comma = strchr(text, ','); /* the program's locale may write one */
    if (comma != NULL)
        *comma = '.';
    sqlite3_str_appendall(json, text);
}

static int finished(sqlite3_context *context, sqlite3_str *json, spt_error *error)
{
    sqlite3_str_appendchar(json, 1, ']');
    int n = sqlite3_str_length(json);
    char *text = sqlite3_str_finish(json);
    if (text == NULL) {
        error->code = SPT_MEMORY;
        return SPT_MEMORY;
    }
    sqlite3_result_text(context, text, n, sqlite3_free);
    return SPT_OK;
}

int answers_top(sqlite3_context *context, const spt_model *model, spt_event *event, size_t most,
                spt_error *error)
{
    size_t n, known = spt_labels(model);
    most = most < known ? most : known;
    spt_choice *choices = sqlite3_malloc64((most + 1) * sizeof(spt_choice));
    if (choices == NULL) {
        error->code = SPT_MEMORY;
        return SPT_MEMORY;
    }
    int failed = spt_top(model, event, choices, most, &n, error);
    if (!failed) {
        sqlite3_str *json = sqlite3_str_new(sqlite3_context_db_handle(context));
        sqlite3_str_appendchar(json, 1, '[');
        for (size_t i = 0; i < n; i++) {
            size_t length = 0;
            const char *label = spt_label(model, choices[i].label, &length);
            sqlite3_str_appendall(json, i == 0 ? "{\"label\": " : ", {\"label\": ");
            add_string(json, label, length);
            sqlite3_str_appendall(json, ", \"probability\": ");
            add_number(json, choices[i].probability);
            sqlite3_str_appendchar(json, 1, '}');
        }
        failed = finished(context, json, error);
    }
    sqlite3_free(choices);
    return failed;
}

/* The larger one first; equal ones by name. */
static int by_size(const void *one, const void *other)
{
    const spt_part *a = one, *b = other;
    const double x = a->share < 0.0 ? -a->share : a->share;
    const double y = b->share < 0.0 ? -b->share : b->share;
    if (x != y)
        return x > y ? -1 : 1;
    const size_t n = a->n < b->n ? a->n : b->n;
    const int order = a->name == NULL || b->name == NULL ? 0 : memcmp(a->name, b->name, n);
    return order != 0 ? order : a->n < b->n ? -1 : a->n > b->n;
}

int answers_explain(sqlite3_context *context, const spt_model *model, spt_event *event,
                    size_t label, spt_error *error)
{
    size_t n, room = 256;
    spt_part *parts = NULL;
    int failed = SPT_OK;
    do {
        sqlite3_free(parts);
        parts = sqlite3_malloc64(room * sizeof(spt_part));
        if (parts == NULL) {
            error->code = SPT_MEMORY;
            return SPT_MEMORY;
        }
        failed = spt_explain(model, event, label, parts, room, &n, error);
    } while (!failed && n > room && (room = n) > 0);
    if (!failed) {
        qsort(parts, n, sizeof(spt_part), by_size);
        sqlite3_str *json = sqlite3_str_new(sqlite3_context_db_handle(context));
        sqlite3_str_appendchar(json, 1, '[');
        for (size_t i = 0; i < n; i++) {
            sqlite3_str_appendall(json, i == 0 ? "{\"feature\": " : ", {\"feature\": ");
            if (parts[i].name == NULL)
                sqlite3_str_appendall(json, "null");
            else
                add_string(json, parts[i].name, parts[i].n);
            sqlite3_str_appendall(json, ", \"contribution\": ");
            add_number(json, parts[i].share);
            sqlite3_str_appendchar(json, 1, '}');
        }
        failed = finished(context, json, error);
    }
    sqlite3_free(parts);
    return failed;
}
