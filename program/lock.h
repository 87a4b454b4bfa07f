/* The right to write a model file. It is the lock of streamptron.ModelLock, so that the Python
   program and this one keep each other out: a file beside the model's, `.NAME.lock`, which the
   system unlocks when its holder ends. */

#ifndef SPT_PROGRAM_LOCK_H
#define SPT_PROGRAM_LOCK_H

#include "bytes.h"

#include <sys/types.h>
#include <time.h>

/* A file's identity: it changes when the file is replaced, or written to. */
typedef struct identity {
    bool there;
    dev_t device;
    ino_t number;
    off_t size;
    struct timespec changed;
} identity;

identity identity_of(const char *path);
bool is_same(const identity *a, const identity *b);

typedef struct lock {
    const char *path;
    bytes target; /* the file that the path leads to */
    bytes file;   /* the lock's own file */
    int number;   /* of the open lock file; -1: not held */
    identity known;
} lock;

/* Take the lock. `what` is the command that writes, such as "predict". `wait`: seconds to wait
   while another process has it. false: a message has said why. */
bool lock_take(lock *l, const char *path, const char *what, double wait);

/* Whether the model file is still the one that this lock knows, or gone. */
bool lock_is_known(const lock *l);

/* Try to lock an open file: whether that worked; -1: the system has no locks here. */
int lock_file(int number);

void lock_leave(lock *l);

#endif
