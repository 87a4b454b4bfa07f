#include "lock.h"

#include "say.h"
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_MOST = 200, SAID_MOST = 200 };

static const char beginning[] = "process ";

identity identity_of(const char *path)
{
    struct stat status;
    identity found = {.there = stat(path, &status) == 0};
    if (found.there) {
        found.device = status.st_dev;
        found.number = status.st_ino;
        found.size = status.st_size;
        found.changed = status.st_mtim;
    }
    return found;
}

bool is_same(const identity *a, const identity *b)
{
    if (!a->there || !b->there)
        return a->there == b->there;
    return a->device == b->device && a->number == b->number && a->size == b->size
           && a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

int lock_file(int number)
{
    if (flock(number, LOCK_EX | LOCK_NB) == 0)
        return 1;
    return errno == EWOULDBLOCK ? 0 : -1;
}

/* Resolve the path's links, even if the file does not exist yet. */
static bool find_target(lock *l, const char *path)
{
    char real[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (realpath(path, real) != NULL) {
        bytes_word(&l->target, real);
        return bytes_text(&l->target) != NULL;
    }
    bytes_add(&l->target, path, slash == NULL ? 0 : (size_t)(slash - path) + 1);
    const char *folder = bytes_text(&l->target);
    if (folder != NULL && realpath(folder[0] ? folder : ".", real) != NULL) {
        l->target.n = 0;
        bytes_print(&l->target, "%s%s", real, strcmp(real, "/") == 0 ? "" : "/");
    }
    bytes_word(&l->target, slash == NULL ? path : slash + 1);
    return bytes_text(&l->target) != NULL;
}

/* Read the text of a lock's file. */
static size_t said_by(int number, char *to)
{
    ssize_t n = pread(number, to, SAID_MOST, 0);
    to[n > 0 ? n : 0] = 0;
    return n > 0 ? (size_t)n : 0;
}

static bool not_ours(const lock *l)
{
    fail("'%s' is not a lock file of streamptron, so it is left as it is; remove it to write '%s'",
         l->file.p, l->path);
    return false;
}

/* Open the lock's file; make it if it does not exist. */
static bool open_it(lock *l)
{
    struct stat status;
    char said[SAID_MOST + 1];
    l->number = open(l->file.p, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (l->number < 0) {
        int system = errno;
        if (lstat(l->file.p, &status) == 0 && S_ISLNK(status.st_mode))
            return not_ours(l);
        fail("%s: %s", l->path, strerror(system));
        return false;
    }
    size_t n = said_by(l->number, said);
    if (fstat(l->number, &status) < 0 || !S_ISREG(status.st_mode) || status.st_nlink > 1
        || memcmp(said, beginning, n < sizeof(beginning) - 1 ? n : sizeof(beginning) - 1) != 0) {
        close(l->number);
        l->number = -1;
        return not_ours(l);
    }
    return true;
}

static bool held(lock *l)
{
    char said[SAID_MOST + 1];
    size_t n = said_by(l->number, said);
    while (n > 0 && strchr(" \t\r\n", said[n - 1]) != NULL)
        said[--n] = 0;
    fail("'%s' is being written by %s; wait until that ends, or use another file", l->path,
         n ? said : "another process");
    return false;
}

/* Lock the open file. 1: it is ours. 0: try again, as its last holder has removed the file, or
   still holds it and there is time left. -1: failed. */
static int lock_it(lock *l, double until)
{
    struct stat own, there;
    int system, locked = lock_file(l->number);
    system = errno;
    if (locked > 0 && fstat(l->number, &own) == 0 && lstat(l->file.p, &there) == 0
        && own.st_dev == there.st_dev && own.st_ino == there.st_ino)
        return 1;
    bool patient = locked == 0 && seconds_now() < until;
    if (locked == 0 && !patient)
        held(l);
    if (locked < 0) {
        unlink(l->file.p);
        fail("%s: %s: the file system has no locks, so nothing would keep another program from "
             "writing the model too; move it to another file system", l->path, strerror(system));
    }
    close(l->number);
    l->number = -1;
    if (patient)
        nanosleep(&(struct timespec){0, 50000000}, NULL);
    return locked > 0 || patient ? 0 : -1;
}

static void write_holder(const lock *l, const char *what)
{
    char since[32] = "", text[SAID_MOST];
    time_t now = time(NULL);
    struct tm parts;
    if (localtime_r(&now, &parts) != NULL)
        strftime(since, sizeof(since), "%Y-%m-%d %H:%M:%S", &parts);
    int n = snprintf(text, sizeof(text), "%s%ld (%.64s %s, since %s)\n", beginning, (long)getpid(),
                     program, what, since);
    /* the disk is full: the lock works without the text */
    if (ftruncate(l->number, 0) < 0 || pwrite(l->number, text, (size_t)n, 0) < 0)
        return;
}

bool lock_take(lock *l, const char *path, const char *what, double wait)
{
    memset(l, 0, sizeof(*l));
    l->path = path;
    l->number = -1;
    if (!find_target(l, path))
        return fail_memory(), false;
    const char *slash = strrchr(l->target.p, '/');
    const char *name = slash == NULL ? l->target.p : slash + 1;
    if (strlen(name) > NAME_MOST) {
        fail("%s: the name is too long for spt; give one of at most %d bytes", path, NAME_MOST);
        return false;
    }
    bytes_add(&l->file, l->target.p, (size_t)(name - l->target.p));
    bytes_print(&l->file, ".%s.lock", name);
    if (bytes_text(&l->file) == NULL)
        return fail_memory(), false;
    double until = seconds_now() + wait;
    for (int ours = 0; !ours;) {
        if (!open_it(l))
            return false;
        ours = lock_it(l, until);
        if (ours < 0)
            return false;
    }
    write_holder(l, what);
    l->known = identity_of(l->target.p);
    return true;
}

bool lock_is_known(const lock *l)
{
    identity now = identity_of(l->target.p);
    return !now.there || is_same(&now, &l->known);
}

void lock_leave(lock *l)
{
    if (l->number >= 0) {
        unlink(l->file.p); /* while held: whatever opened it checks that it still exists */
        close(l->number);
    }
    l->number = -1;
    bytes_free(&l->target);
    bytes_free(&l->file);
}
