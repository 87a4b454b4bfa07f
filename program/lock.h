/* The right to write a model file: the lock of streamptron.ModelLock, so that the Python program
   and this one keep each other out. A file beside the model's, `.NAME.lock`, which the system
   unlocks when its holder ends. */

#ifndef SPT_PROGRAM_LOCK_H
#define SPT_PROGRAM_LOCK_H

#include "bytes.h"

#include <sys/types.h>
#include <time.h>

/* By what a file is recognised: it differs once the file has been replaced, or written to. */
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
    bytes file;   /* the lock's own */
    int number;   /* of that, open; -1: not held */
    identity known;
} lock;

/* Take it; `what` writes: "predict". It waits for so many seconds while another process has it.
   false: it has been said why not. */
bool lock_take(lock *l, const char *path, const char *what, double wait);

/* Whether the model file is the one that this lock knows, or gone. */
bool lock_is_known(const lock *l);

/* Whether a file that is open could be locked; -1: there are no locks here. */
int lock_file(int number);

void lock_leave(lock *l);

#endif
