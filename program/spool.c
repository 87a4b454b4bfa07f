#include "spool.h"

#include "say.h"
#include "signals.h"
#include "input.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SECONDS 1.0 /* between two looks into the folder */
#define AGAIN 30.0  /* seconds until a failed save is tried again */

enum { NAME_MOST = 200, LINES_SHOWN = 512 };

static const char *const parts[] = {"taken", "done", "bad"};

/* FOLDER/part/name; part or name may be "". NULL: out of memory. */
static const char *path_of(const spool *s, bytes *to, const char *part, const char *name)
{
    to->n = 0;
    bytes_print(to, "%s%s%s%s%s", s->folder, part[0] ? "/" : "", part, name[0] ? "/" : "", name);
    return bytes_text(to);
}

/* --- The folder */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void free_names(char **names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

/* The files in a part of the folder, in the order of their names. 0, or the system's error. */
static int names_in(const spool *s, const char *part, char ***names, size_t *n)
{
    bytes path = {0};
    struct stat status;
    struct dirent *entry;
    size_t room = 0;
    const char *folder = path_of(s, &path, part, "");
    DIR *open = folder == NULL ? NULL : opendir(folder);
    int failed = folder == NULL ? ENOMEM : open == NULL ? errno : 0;
    *names = NULL;
    *n = 0;
    while (!failed && (entry = readdir(open)) != NULL) {
        if (entry->d_name[0] == '.' || fstatat(dirfd(open), entry->d_name, &status,
                                               AT_SYMLINK_NOFOLLOW) < 0
            || !S_ISREG(status.st_mode))
            continue;
        if (*n == room) {
            room = 2 * room + 16;
            char **more = realloc(*names, room * sizeof(char *));
            failed = more == NULL ? ENOMEM : 0;
            *names = more == NULL ? *names : more;
        }
        if (!failed && ((*names)[*n] = strdup(entry->d_name)) == NULL)
            failed = ENOMEM;
        *n += !failed;
    }
    if (open != NULL)
        closedir(open);
    bytes_free(&path);
    if (failed) {
        free_names(*names, *n);
        *names = NULL;
        *n = 0;
    } else if (*n > 1)
        qsort(*names, *n, sizeof(char *), by_name);
    return failed;
}

/* Rename a file from one part into another, and sync both folders. */
static int move(const spool *s, const char *from, const char *to, const char *name,
                const char *new_name)
{
    bytes old_path = {0}, new_path = {0};
    const char *old = path_of(s, &old_path, from, name), *new = path_of(s, &new_path, to, new_name);
    int failed = old == NULL || new == NULL ? ENOMEM : rename(old, new) < 0 ? errno : 0;
    for (int i = 0; i < 2 && !failed; i++) {
        const char *folder = path_of(s, &old_path, i ? to : from, "");
        int number = folder == NULL ? -1 : open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (number < 0 || fsync(number) < 0)
            failed = errno;
        if (number >= 0)
            close(number);
    }
    bytes_free(&old_path);
    bytes_free(&new_path);
    return failed;
}

static void no_corrections(spool *s, int failed)
{
    if (!s->is_gone)
        say("no corrections, will look again: %s", words_of_system(s->folder, failed));
    s->is_gone = true;
}

/* --- What the model's file says about them */

static bytes *learned(spool *s)
{
    return &s->keeper->model.spool;
}

static bool has_learned(spool *s, const char *name)
{
    const bytes *list = learned(s);
    for (size_t at = 0; at < list->n; at += strlen(list->p + at) + 1) {
        if (strcmp(list->p + at, name) == 0)
            return true;
    }
    return false;
}

/* Move files that are learned and saved to done/. 0, or the system's error. */
static int settle(spool *s)
{
    bytes path = {0};
    bytes *list = learned(s);
    int failed = 0;
    while (list->n > 0 && s->keeper->unsaved == 0 && !failed) {
        const char *taken = path_of(s, &path, "taken", list->p);
        if (taken == NULL)
            failed = ENOMEM;
        else if (access(taken, F_OK) == 0)
            failed = move(s, "taken", "done", list->p, list->p);
        if (!failed) {
            bytes_drop(list, strlen(list->p) + 1);
            s->keeper->model.changed = true;
            s->tried.n = 0;
            bytes_add(&s->tried, list->p, list->n);
        }
    }
    bytes_free(&path);
    return failed;
}

/* Save what is learned; a failed save is tried again after a while. */
static int save(spool *s)
{
    bytes *list = learned(s);
    bool is_tried = list->n == s->tried.n
                    && (list->n == 0 || memcmp(list->p, s->tried.p, list->n) == 0);
    if (is_tried && seconds_now() < s->last_save + AGAIN)
        return 0;
    s->tried.n = 0;
    bytes_add(&s->tried, list->p, list->n);
    s->last_save = seconds_now();
    return list->n > 0 && keeper_save(s->keeper, false) ? settle(s) : 0;
}

/* --- A file */

/* Go through the lines of a file. `teach`: learn them; otherwise check that all can be learned. If
   one cannot, `why` says why, with its number. */
static bool go_through(spool *s, const bytes *file, bool teach, const char *name, bytes *why)
{
    model *m = &s->keeper->model;
    size_t number = 0, n_events = 0;
    for (size_t at = 0; at < file->n;) {
        const char *line = file->p + at;
        const char *end = memchr(line, '\n', file->n - at);
        size_t n = end == NULL ? file->n - at : (size_t)(end - line);
        record its;
        bytes reason = {0};
        number++;
        at += n + 1;
        if (s->reader.kind == LINE_MAIL) {
            n = file->n;
            at = file->n;
        }
        record_is is = RECORD_BAD;
        if (n > s->max_line)
            bytes_print(&reason, "longer than %zu bytes; check that the file has line ends, LF or "
                                 "CRLF", s->max_line);
        else
            is = record_read(&s->reader, line, n, &its, &reason);
        bool good = is == RECORD_BLANK
                    || (is == RECORD_EVENT && its.label != NULL
                        && model_may_learn(m, its.label, its.n_label, &reason));
        n_events += is == RECORD_EVENT;
        if (teach && good && is == RECORD_EVENT) {
            spt_error error = SPT_ERROR;
            if (model_learn(m, its.text, its.n, its.label, its.n_label, &reason, &error) == SPT_OK)
                keeper_learned(s->keeper, its.label, its.n_label, its.text, its.n);
            else
                say("%s:%zu: not learned: %s", name, number,
                    bytes_text(&reason) == NULL || reason.n == 0 ? error.words : reason.p);
        } else if (!good && !teach) {
            if (reason.n == 0)
                bytes_word(&reason, "it has no label; give each line one");
            bytes_print(why, "%s:%zu: %s", name, number,
                        bytes_text(&reason) == NULL ? "no memory" : reason.p);
        }
        bytes_free(&reason);
        if (!good && !teach)
            return false;
    }
    if (n_events == 0)
        bytes_print(why, "%s: it has no labelled line", name);
    return n_events > 0;
}

/* Read a file of corrections that is complete, with a label in each line. */
static bool read_whole(spool *s, const char *name, bytes *file, bytes *why)
{
    bytes path = {0};
    const char *taken = path_of(s, &path, "taken", name);
    int failed = taken == NULL ? ENOMEM : read_file(taken, file);
    if (failed)
        bytes_word(why, words_of_system(name, failed));
    else if (file->n == 0)
        bytes_print(why, "%s: it is empty; it may have been cut off", name);
    else if (file->p[file->n - 1] != '\n')
        bytes_print(why, "%s: its last line has no end; it may have been cut off", name);
    if (file->n >= 3 && memcmp(file->p, "\xef\xbb\xbf", 3) == 0)
        bytes_drop(file, 3);
    bytes_free(&path);
    return why->n == 0 && go_through(s, file, false, name, why);
}

static void set_aside(spool *s, const char *name, bytes *why)
{
    bytes path = {0};
    const char *bad = path_of(s, &path, "bad", name);
    if (move(s, "taken", "bad", name, name) == 0)
        say("corrections set aside, nothing of them is learned: %s; mend %s and rename it into %s",
            bytes_text(why) == NULL ? "no memory" : why->p, bad == NULL ? name : bad, s->folder);
    bytes_free(&path);
}

/* Learn a file in taken/, or set it aside. */
static void learn_file(spool *s, const char *name)
{
    bytes file = {0}, why = {0};
    if (!read_whole(s, name, &file, &why))
        set_aside(s, name, &why);
    else {
        s->keeper->held = true; /* a save meanwhile would contain half of the file */
        bytes_add(learned(s), name, strlen(name) + 1);
        s->keeper->model.changed = true;
        go_through(s, &file, true, name, &why);
        s->keeper->held = false;
        keeper_save_if_due(s->keeper);
    }
    bytes_free(&file);
    bytes_free(&why);
}

/* Move a file that has come into taken/, under a unique name. */
static int take(spool *s, const char *name, bytes *taken)
{
    struct timespec now;
    uint32_t random = 0;
    int number = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    size_t n = strlen(name);
    if (number >= 0) {
        if (read(number, &random, sizeof(random)) < 0)
            random = (uint32_t)getpid();
        close(number);
    }
    clock_gettime(CLOCK_REALTIME, &now);
    taken->n = 0;
    bytes_print(taken, "%019lld-%08x.%s", (long long)now.tv_sec * 1000000000 + now.tv_nsec, random,
                name + (n > NAME_MOST ? n - NAME_MOST : 0));
    return bytes_text(taken) == NULL ? ENOMEM : move(s, "", "taken", name, taken->p);
}

/* Learn the files that have come, and save the model once. 0, or the system's error. */
static int learn_all(spool *s)
{
    char **names;
    size_t n;
    bytes taken = {0};
    int failed = settle(s);
    if (!failed)
        failed = names_in(s, "", &names, &n);
    if (failed)
        return failed;
    for (size_t i = 0; i < n && !failed; i++) {
        failed = take(s, names[i], &taken);
        if (!failed)
            learn_file(s, taken.p);
        if (signals_came()) /* the other files can wait */
            break;
    }
    free_names(names, n);
    bytes_free(&taken);
    int not_saved = save(s);
    return failed ? failed : not_saved;
}

/* --- Its life */

static bool open_folder(spool *s)
{
    bytes path = {0};
    s->number = open(s->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->number < 0) {
        if (errno == ENOENT)
            fail("%s: there is no such folder; make it, and put files into it by renaming them",
                 s->folder);
        else
            fail("%s: %s", s->folder, strerror(errno));
        return false;
    }
    int locked = lock_file(s->number);
    if (locked == 0)
        fail("%s: another process learns the corrections that come there; give each learner a "
             "folder of its own", s->folder);
    bool made = locked > 0;
    if (locked < 0)
        fail("%s: %s", s->folder, strerror(errno));
    for (size_t i = 0; i < 3 && made; i++) {
        const char *part = path_of(s, &path, parts[i], "");
        made = part != NULL && (mkdir(part, 0777) == 0 || errno == EEXIST);
        if (!made)
            fail("%s: %s", part == NULL ? s->folder : part, strerror(part ? errno : ENOMEM));
    }
    bytes_free(&path);
    return made;
}

bool spool_begin(spool *s)
{
    char **names;
    size_t n;
    bytes known = {0};
    s->last_look = s->last_save = -SECONDS - AGAIN;
    if (!open_folder(s))
        return false;
    int failed = names_in(s, "taken", &names, &n);
    for (size_t i = 0; i < n && !failed; i++) /* files no longer in taken/ are done with */
        bytes_add(&known, names[i], has_learned(s, names[i]) ? strlen(names[i]) + 1 : 0);
    if (!failed && known.n != learned(s)->n) {
        s->keeper->model.changed = true;
        learned(s)->n = 0;
        bytes_add(learned(s), known.p, known.n);
    }
    if (!failed)
        failed = known.failed ? ENOMEM : settle(s);
    for (size_t i = 0; i < n && !failed; i++) {
        bool has = false;
        for (size_t at = 0; at < known.n; at += strlen(known.p + at) + 1)
            has = has || strcmp(known.p + at, names[i]) == 0;
        if (!has)
            learn_file(s, names[i]);
    }
    free_names(names, n);
    bytes_free(&known);
    if (!failed)
        failed = save(s);
    if (failed)
        fail("%s: %s", s->folder, strerror(failed));
    return !failed;
}

double spool_left(const spool *s)
{
    double when = s->last_look + SECONDS - seconds_now();
    return when < 0.0 ? 0.0 : when;
}

/* Report what another model in the file's place may not have learned. */
static void say_replaced(const spool *s)
{
    char **names;
    size_t n;
    if (names_in(s, "done", &names, &n) == 0 && n > 0)
        say("the model has not learned the corrections in %s/done (%zu file%s), unless it was "
            "trained from them; to learn them again, move them to %s",
            s->folder, n, n == 1 ? "" : "s", s->folder);
    free_names(names, n);
}

void spool_look(spool *s)
{
    if (s->keeper->replaced)
        say_replaced(s);
    s->keeper->replaced = false;
    if (spool_left(s) > 0.0)
        return;
    s->last_look = seconds_now();
    int failed = learn_all(s);
    if (failed)
        no_corrections(s, failed);
    else
        s->is_gone = false;
}

void spool_end(spool *s)
{
    int failed = s->keeper->is_open ? settle(s) : 0;
    if (failed)
        say("corrections stay in taken, and are learned: %s", words_of_system(s->folder, failed));
    if (s->number >= 0)
        close(s->number);
    bytes_free(&s->tried);
    record_end(&s->reader);
}
