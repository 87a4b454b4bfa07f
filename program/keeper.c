#include "keeper.h"

#include "say.h"
#include "signals.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEPT = 1 << 26 }; /* bytes learned but not saved; with more, save at once */

double sooner(double a, double b)
{
    return a < 0.0 ? b : b < 0.0 || a < b ? a : b;
}

static double left(double last, double seconds)
{
    double when = last + seconds - seconds_now();
    return seconds < 0.0 ? -1.0 : when < 0.0 ? 0.0 : when;
}

static double save_in(const keeper *k)
{
    if (k->unsaved == 0 || k->held)
        return -1.0;
    if (k->kept.n > KEPT || (k->save_every && k->unsaved - k->tried >= k->save_every))
        return 0.0;
    return left(k->last_save, k->save_seconds);
}

double keeper_left(const keeper *k)
{
    return sooner(save_in(k), left(k->last_look, k->reload_seconds));
}

/* --- Saving */

static int is_replaced(const keeper *k, spt_error *error)
{
    error->code = SPT_SYSTEM;
    error->system = 0;
    snprintf(error->words, sizeof(error->words),
             "'%s' was replaced by a program that did not take the lock; it is left as it is",
             k->path);
    return SPT_SYSTEM;
}

/* At the end, save beside a file that another program has replaced. */
static int save_beside(keeper *k, spt_error *error)
{
    spt_error its = SPT_ERROR;
    bytes path = {0};
    bytes_print(&path, "%s.of-process-%ld", k->path, (long)getpid());
    const char *beside = bytes_text(&path);
    int failed = beside == NULL ? SPT_MEMORY : model_save(&k->model, beside, &its);
    size_t at = strlen(error->words);
    if (failed)
        *error = its;
    else
        snprintf(error->words + at, sizeof(error->words) - at, "; what was learned is in '%s'",
                 beside);
    bytes_free(&path);
    return SPT_SYSTEM;
}

static int save(keeper *k, bool at_last, spt_error *error)
{
    struct stat status;
    int failed = SPT_OK;
    if (!lock_is_known(&k->lock)) {
        failed = is_replaced(k, error);
        return at_last ? save_beside(k, error) : failed;
    }
    failed = model_save(&k->model, k->path, error);
    if (failed == SPT_SYSTEM && error->system == 0 && stat(k->path, &status) == 0)
        error->system = S_ISDIR(status.st_mode) ? EISDIR : 0;
    if (failed)
        return failed;
    k->known = k->lock.known = identity_of(k->path);
    k->unsaved = k->forgotten = k->tried = 0;
    k->kept.n = 0;
    return SPT_OK;
}

bool keeper_save(keeper *k, bool at_last)
{
    spt_error error = SPT_ERROR;
    k->last_save = seconds_now();
    if (k->unsaved == 0 || save(k, at_last, &error) == SPT_OK)
        return true;
    k->tried = k->unsaved;
    say("%zu line%s learned and not saved%s: %s", k->unsaved, k->unsaved == 1 ? "" : "s",
        at_last ? "" : ", will try again",
        words_of(k->path, &error));
    if (k->kept.n > KEPT) {
        k->kept.n = 0;
        k->forgotten = k->unsaved;
    }
    return false;
}

void keeper_save_if_due(keeper *k)
{
    if (save_in(k) == 0.0)
        keeper_save(k, false);
}

/* --- What was learned */

void keeper_learned(keeper *k, const char *label, size_t n_label, const char *text, size_t n)
{
    size_t sizes[] = {n_label, n};
    k->unsaved++;
    if (bytes_room(&k->kept, sizeof(sizes) + n_label + n)) {
        bytes_add(&k->kept, sizes, sizeof(sizes));
        bytes_add(&k->kept, label, n_label);
        bytes_add(&k->kept, text, n);
    } else /* out of memory: a model that replaces the file will lack it */
        k->forgotten++;
    k->kept.failed = false;
    if (save_in(k) == 0.0)
        keeper_save(k, false);
}

static void learn_again(const keeper *k, model *m)
{
    spt_error error = SPT_ERROR;
    for (size_t at = 0; at < k->kept.n;) {
        size_t sizes[2];
        bytes why = {0};
        memcpy(sizes, k->kept.p + at, sizeof(sizes));
        const char *label = k->kept.p + at + sizeof(sizes);
        model_learn(m, label + sizes[0], sizes[1], label, sizes[0], &why, &error);
        at += sizeof(sizes) + sizes[0] + sizes[1];
        bytes_free(&why);
    }
}

/* --- Loading a file */

bool keeper_is_replaced(keeper *k)
{
    if (left(k->last_look, k->reload_seconds) != 0.0)
        return false;
    k->last_look = seconds_now();
    identity now = identity_of(k->path);
    return now.there && !is_same(&now, &k->known);
}

static bool is_place(const identity *a, const identity *b)
{
    return a->there == b->there && a->device == b->device && a->number == b->number;
}

void keeper_reload(keeper *k, keeper_check check, bool asked)
{
    spt_error error = SPT_ERROR;
    model next;
    k->known = identity_of(k->path);
    int failed = model_open(&next, k->path, k->learns ? OPEN_WHOLE : OPEN_ANSWERS, &error);
    if (!failed && k->learns && !model_settle_labels(&next, k->known_labels, k->new_label)) {
        model_close(&next);
        return;
    }
    if (!failed && check(&k->model, &next, k->path, &error)) {
        model_close(&next);
        failed = SPT_ARGUMENT;
    }
    if (failed) {
        if (asked || !is_place(&k->known, &k->refused))
            say("not reloaded, the model stays as it was: %s", words_of(k->path, &error));
        k->refused = k->known;
        return;
    }
    k->refused = (identity){0};
    k->lock.known = k->known;
    bytes spool = next.spool;
    next.spool = k->model.spool;
    next.changed = next.changed || spool.n || next.spool.n;
    k->model.spool = (bytes){0};
    bytes_free(&spool);
    model_close(&k->model);
    k->model = next;
    learn_again(k, &k->model);
    size_t n = k->unsaved - k->forgotten, lost = k->forgotten;
    k->unsaved = n;
    k->forgotten = 0;
    bytes again = {0};
    if (n)
        bytes_print(&again, "; %zu line%s learned and not saved, learned again now", n,
                    n == 1 ? "" : "s");
    if (lost)
        bytes_print(&again, "; %zu not, which were too many to keep", lost);
    const char *words = bytes_text(&again);
    say("reloaded %s%s", k->path, words == NULL ? "" : words);
    k->replaced = true;
    bytes_free(&again);
}

/* --- Its life */

int keeper_begin(keeper *k, const char *what, int (*create)(void *owner, spt_model **made),
                 void *owner)
{
    spt_error error = SPT_ERROR;
    spt_model *made;
    k->last_save = k->last_look = seconds_now();
    if (k->learns && !lock_take(&k->lock, k->path, what, k->wait))
        return FAILED;
    k->known = identity_of(k->path);
    if (k->known.there || create == NULL) {
        if (model_open(&k->model, k->path, k->learns ? OPEN_WHOLE : OPEN_ANSWERS, &error))
            return fail_of(k->path, &error);
        k->is_open = true;
        bool settled = !k->learns
                       || model_settle_labels(&k->model, k->known_labels, k->new_label);
        return settled ? DONE : FAILED;
    }
    int code = create(owner, &made);
    if (code)
        return code;
    if (model_of(&k->model, made, k->path, &error))
        return fail_of(k->path, &error);
    k->is_open = true;
    if (k->learns && !model_settle_labels(&k->model, k->known_labels, k->new_label))
        return FAILED;
    k->unsaved = 1; /* to be written at once; without learning, another program does */
    if (k->learns && save(k, false, &error))
        return fail_of(k->path, &error);
    k->unsaved = 0;
    return DONE;
}

void keeper_end(keeper *k)
{
    if (k->is_open)
        model_close(&k->model);
    if (k->learns)
        lock_leave(&k->lock);
    bytes_free(&k->kept);
    k->is_open = false;
}
