#if !defined(_WIN32)

#include "library/disk.h"

#include "json/bytes.h"
#include "memory/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#if !defined(__wasi__)
    #include <sys/file.h>
    #include <sys/mman.h>
#endif

enum {
    SP_DISK_NAME_MOST = 200, /* bytes of a name, which leaves room for an ending */
    SP_DISK_DIGITS = 12,
    SP_DISK_TRIES = 100,
};

#if defined(__APPLE__)
    #define SP_DISK_TIME st_mtimespec
#else
    #define SP_DISK_TIME st_mtim
#endif

static sp_disk_identity sp_disk_identity_of(const struct stat *status)
{
    sp_disk_identity mark = {(uint64_t)status->st_dev, (uint64_t)status->st_ino,
                         (uint64_t)status->st_size, (uint64_t)status->SP_DISK_TIME.tv_sec,
                         (uint64_t)status->SP_DISK_TIME.tv_nsec};
    return mark;
}

/* Read n bytes. 0, or the system's error; EIO if the file has become shorter. */
static int sp_disk_read(int number, uint8_t *to, size_t n)
{
    while (n > 0) {
        ssize_t got = read(number, to, n < (1U << 30) ? n : 1U << 30);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? errno : EIO;
        to += got;
        n -= (size_t)got;
    }
    return 0;
}

static int sp_disk_take(int number, bool map, sp_disk_file *file)
{
    struct stat status;
    if (fstat(number, &status) < 0)
        return errno;
    if (!S_ISREG(status.st_mode))
        return SP_DISK_ODD;
    file->mark = sp_disk_identity_of(&status);
    file->n = (size_t)status.st_size;
#if !defined(__wasi__)
    if (map && file->n > 0) {
        void *p = mmap(NULL, file->n, PROT_READ, MAP_SHARED, number, 0);
        if (p == MAP_FAILED)
            return errno;
        file->p = (uint8_t *)p;
        file->mapped = true;
        return 0;
    }
#endif
    (void)map; /* where memory maps are missing, the file is copied into memory instead */
    file->p = (uint8_t *)sp_malloc(file->n + 1);
    if (file->p == NULL)
        return SP_DISK_MEMORY;
    int failed = sp_disk_read(number, file->p, file->n);
    if (failed)
        sp_disk_close(file);
    return failed;
}

SP_PRIVATE int sp_disk_open(const char *path, bool map, sp_disk_file *file)
{
    memset(file, 0, sizeof(*file));
    /* without O_NONBLOCK, opening a pipe would wait for a writer */
    int number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (number < 0)
        return errno;
    int failed = sp_disk_take(number, map, file);
    close(number);
    return failed;
}

SP_PRIVATE void sp_disk_close(sp_disk_file *file)
{
#if !defined(__wasi__)
    if (file->mapped)
        munmap(file->p, file->n);
    else
#endif
        sp_free(file->p);
    file->p = NULL;
    file->mapped = false;
}

SP_PRIVATE bool sp_disk_is_other(const char *path, const sp_disk_identity *mark)
{
    struct stat status;
    if (stat(path, &status) < 0)
        return true;
    sp_disk_identity now = sp_disk_identity_of(&status);
    return now.device != mark->device || now.number != mark->number || now.size != mark->size
           || now.seconds != mark->seconds || now.nanoseconds != mark->nanoseconds;
}

SP_PRIVATE int sp_disk_random(void *p, size_t n)
{
    /* every system has this, wasi too; at most 256 bytes at a time */
    return getentropy(p, n) < 0 ? errno : 0;
}

/* --- Replacing */

/* A new file that is being written. */
typedef struct sp_disk_fresh {
    char *target; /* where the path leads to; freed with the C library's free */
    sp_bytes name;
    int number;
} sp_disk_fresh;

/* The name of a file beside the target: hidden, with random digits. 0, or the system's error. */
static int sp_disk_beside(sp_disk_fresh *fresh)
{
    static const char hex[] = "0123456789abcdef";
    uint8_t random[SP_DISK_DIGITS / 2];
    char digits[SP_DISK_DIGITS];
    const char *name = strrchr(fresh->target, '/');
    name = name == NULL ? fresh->target : name + 1;
    size_t n = strlen(name);
    int failed = sp_disk_random(random, sizeof(random));
    if (failed)
        return failed;
    for (int i = 0; i < SP_DISK_DIGITS; i++)
        digits[i] = hex[random[i / 2] >> (4 * (i % 2)) & 15];
    fresh->name.n = 0;
    sp_bytes_add(&fresh->name, fresh->target, (size_t)(name - fresh->target));
    sp_bytes_word(&fresh->name, ".");
    sp_bytes_add(&fresh->name, name, n < SP_DISK_NAME_MOST ? n : SP_DISK_NAME_MOST);
    sp_bytes_word(&fresh->name, ".");
    sp_bytes_add(&fresh->name, digits, sizeof(digits));
    sp_bytes_add(&fresh->name, ".tmp", 5);
    return fresh->name.failed ? SP_DISK_MEMORY : 0;
}

/* Begin the file. It is locked as long as it is open: an unlocked one was left behind. */
static int sp_disk_begin(sp_disk_fresh *fresh)
{
    for (int i = 0; i < SP_DISK_TRIES; i++) {
        int failed = sp_disk_beside(fresh);
        if (failed)
            return failed;
        fresh->number = open((char *)fresh->name.p, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fresh->number < 0 && errno == EEXIST)
            continue;
        if (fresh->number < 0)
            return errno;
#if !defined(__wasi__)
        flock(fresh->number, LOCK_EX | LOCK_NB); /* where locks are missing, nothing checks them */
#endif
        return 0;
    }
    return EEXIST;
}

/* Take over the permissions of the old file, and its owner and group as far as that is allowed. */
static int sp_disk_permit(const sp_disk_fresh *fresh, const struct stat *old)
{
#if !defined(__wasi__)
    mode_t mode = old->st_mode & 07777;
    struct stat now;
    if (fstat(fresh->number, &now) < 0)
        return errno;
    bool same = now.st_uid == old->st_uid && now.st_gid == old->st_gid;
    if (!same && fchown(fresh->number, old->st_uid, old->st_gid) < 0
        && fchown(fresh->number, (uid_t)-1, old->st_gid) < 0)
        mode &= (mode_t)~S_IRWXG; /* the old group's permissions must not go to another group */
    if (fchmod(fresh->number, mode) < 0)
        return errno;
#else
    (void)fresh;
    (void)old;
#endif
    return 0;
}

static int sp_disk_fill(int number, sp_disk_pieces pieces, const void *owner)
{
    size_t n;
    const uint8_t *p;
    for (int i = 0; (p = (const uint8_t *)pieces(owner, i, &n)) != NULL; i++) {
        while (n > 0) {
            ssize_t done = write(number, p, n < (1U << 30) ? n : 1U << 30);
            if (done < 0 && errno == EINTR)
                continue;
            if (done < 0)
                return errno;
            p += done;
            n -= (size_t)done;
        }
    }
    return fsync(number) < 0 ? errno : 0;
}

/* So that the new name survives a power failure, too. */
static void sp_disk_sync_folder(sp_disk_fresh *fresh)
{
    char *slash = strrchr(fresh->target, '/');
    if (slash != NULL)
        slash[slash == fresh->target] = 0;
    int number = open(slash == NULL ? "." : fresh->target, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (number >= 0) {
        fsync(number);
        close(number);
    }
}

static int sp_disk_write(sp_disk_fresh *fresh, sp_disk_pieces pieces, const void *owner,
                         sp_disk_identity *mark)
{
    struct stat old, now;
    bool there = stat(fresh->target, &old) == 0;
    if (there && !S_ISREG(old.st_mode))
        return SP_DISK_ODD;
    int failed = sp_disk_begin(fresh);
    if (failed)
        return failed;
    if (there)
        failed = sp_disk_permit(fresh, &old);
    if (!failed)
        failed = sp_disk_fill(fresh->number, pieces, owner);
    if (!failed && fstat(fresh->number, &now) < 0)
        failed = errno;
    if (!failed && rename((char *)fresh->name.p, fresh->target) < 0)
        failed = errno;
    if (failed)
        unlink((char *)fresh->name.p);
    else
        *mark = sp_disk_identity_of(&now);
    close(fresh->number);
    if (!failed)
        sp_disk_sync_folder(fresh);
    return failed;
}

SP_PRIVATE int sp_disk_replace(const char *path, sp_disk_pieces pieces, const void *owner,
                               sp_disk_identity *mark)
{
    sp_disk_fresh fresh;
    sp_bytes target = {.failed = false};
    char *real = NULL;
    memset(&fresh, 0, sizeof(fresh));
#if !defined(__wasi__)
    char room[PATH_MAX];
    real = realpath(path, room); /* a link is kept, and its target is replaced */
#endif
    sp_bytes_add(&target, real == NULL ? path : real, strlen(real == NULL ? path : real) + 1);
    fresh.target = (char *)target.p;
    int failed = target.failed ? SP_DISK_MEMORY : sp_disk_write(&fresh, pieces, owner, mark);
    sp_bytes_free(&fresh.name);
    sp_bytes_free(&target);
    return failed;
}

#endif
