/* What the library asks of the operating system: files read, mapped and replaced, and randomness.

   No other room does. disk_posix.c has it for Unix and WebAssembly, disk_windows.c for Windows. */

#ifndef STREAMPTRON_LIBRARY_DISK_H
#define STREAMPTRON_LIBRARY_DISK_H

#include "memory/compiler.h"

enum {
    SP_DISK_MEMORY = -1, /* what a call may return beside 0 and the system's error */
    SP_DISK_ODD = -2,    /* not a regular file */
};

/* Which file it is, and which state of it: another one's is another. */
typedef struct sp_disk_identity {
    uint64_t device, number, size, seconds, nanoseconds;
} sp_disk_identity;

typedef struct sp_disk_file {
    uint8_t *p;
    size_t n;
    bool mapped;
    sp_disk_identity mark;
} sp_disk_file;

/* All of a regular file, mapped or copied. 0, or why not. Call sp_disk_close after a 0. */
SP_PRIVATE int sp_disk_open(const char *path, bool map, sp_disk_file *file);
SP_PRIVATE void sp_disk_close(sp_disk_file *file);

/* Whether the path leads to another file now, or to none. */
SP_PRIVATE bool sp_disk_is_other(const char *path, const sp_disk_identity *mark);

/* The pieces of a file one after the other: NULL behind the last. */
typedef const void *(*sp_disk_pieces)(const void *owner, int i, size_t *n);

/* Write a file whole, or leave what was there: beside it, synced, renamed. A new one is its owner's
   alone, for it has a secret seed; another keeps its permissions. 0, or why not. */
SP_PRIVATE int sp_disk_replace(const char *path, sp_disk_pieces pieces, const void *owner,
                               sp_disk_identity *mark);

/* n bytes that cannot be guessed. 0, or the system's error. */
SP_PRIVATE int sp_disk_random(void *p, size_t n);

#endif
