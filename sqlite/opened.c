#include "opened.h"

#include "answers.h"
#include "say.h"

SQLITE_EXTENSION_INIT3

#include <string.h>

enum { OPENED_MOST = 16 };

static void release(void *p)
{
    opened *its = p;
    if (its == NULL || --its->uses > 0)
        return;
    spt_event_free(its->event);
    spt_close(its->model);
    sqlite3_free(its->numbers);
    sqlite3_free(its->path);
    sqlite3_free(its->bytes);
    sqlite3_free(its);
}

void opened_forget(opened_list *list)
{
    while (list->first != NULL) {
        opened *its = list->first;
        list->first = its->next;
        release(its);
    }
}

/* Whether a model is the one that the argument names now. */
static int fits(const opened *its, const void *p, size_t n, int is_path)
{
    if (is_path)
        return its->path != NULL && strcmp(its->path, p) == 0 && !spt_is_stale(its->model);
    return its->path == NULL && its->n == n && memcmp(its->bytes, p, n) == 0;
}

static int names(const opened *its, const void *p, int is_path)
{
    return is_path && its->path != NULL && strcmp(its->path, p) == 0;
}

/* Take out of the list what the argument names, or named before its file was replaced, and the last
   ones if there are too many. Returns the model that fits. */
static opened *taken_out(opened_list *list, const void *p, size_t n, int is_path)
{
    opened *found = NULL;
    int count = 0;
    for (opened **at = &list->first; *at != NULL;) {
        opened *its = *at;
        int is_it = found == NULL && fits(its, p, n, is_path);
        if (is_it || names(its, p, is_path) || ++count >= OPENED_MOST) {
            *at = its->next;
            if (is_it)
                found = its;
            else
                release(its);
        } else
            at = &its->next;
    }
    return found;
}

static int open_it(opened *its, const void *p, size_t n, int is_path, spt_error *error)
{
    int failed;
    if (is_path) {
        its->path = sqlite3_mprintf("%s", p);
        failed = spt_open(p, SPT_MAPPED, &its->model, error);
        if (failed == SPT_FOREIGN) /* some models can answer only from memory */
            failed = spt_open(p, 0, &its->model, error);
    } else {
        its->bytes = sqlite3_malloc64(n + 1);
        its->n = n;
        if (its->bytes != NULL && n > 0)
            memcpy(its->bytes, p, n);
        failed = spt_open_memory(p, n, 0, &its->model, error);
    }
    if (!failed)
        failed = answers_check(its->model, error);
    if (!failed)
        failed = spt_event_new(its->model, &its->event, error);
    if (!failed) {
        its->numbers = sqlite3_malloc64((spt_labels(its->model) + 1) * sizeof(double));
        if (its->numbers == NULL || (is_path ? (void *)its->path : its->bytes) == NULL)
            failed = error->code = SPT_MEMORY;
    }
    return failed;
}

opened *opened_find(opened_list *list, sqlite3_context *context, sqlite3_value *value)
{
    spt_error error = SPT_ERROR;
    opened *its = sqlite3_get_auxdata(context, 0);
    if (its != NULL)
        return its;
    int is_path = sqlite3_value_type(value) != SQLITE_BLOB;
    const void *p = is_path ? (const void *)sqlite3_value_text(value) : sqlite3_value_blob(value);
    const size_t n = (size_t)sqlite3_value_bytes(value);
    if (p == NULL)
        p = "";
    its = taken_out(list, p, n, is_path);
    if (its == NULL) {
        its = sqlite3_malloc64(sizeof(opened));
        if (its == NULL) {
            sqlite3_result_error_nomem(context);
            return NULL;
        }
        memset(its, 0, sizeof(opened));
        its->uses = 1;
        if (open_it(its, p, n, is_path, &error)) {
            release(its);
            say_result(context, &error);
            return NULL;
        }
    }
    its->next = list->first;
    list->first = its;
    its->uses++;
    sqlite3_set_auxdata(context, 0, its, release);
    return its;
}
