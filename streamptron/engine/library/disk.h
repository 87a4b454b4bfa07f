/* What the library needs of the operating system: reading, mapping and replacing files, and random
   bytes.

   No other file calls the system. disk_posix.c is for Unix and WebAssembly, disk_windows.c for
   Windows. */

#ifndef STREAMPTRON_LIBRARY_DISK_H
#define STREAMPTRON_LIBRARY_DISK_H

#include "memory/compiler.h"

enum {
    SP_DISK_MEMORY = -1, /* what a call may return besides 0 and the system's error */
    SP_DISK_ODD = -2,    /* not a regular file */
};

/* Identifies a file and its state: any other file or state has another identity. */
typedef struct sp_disk_identity {
    uint64_t device, number, size, seconds, nanoseconds;
} sp_disk_identity;

typedef struct sp_disk_file {
    uint8_t *p;
    size_t n;
    bool mapped;
    sp_disk_identity mark;
} sp_disk_file;

/* Map or read a whole regular file. 0, or why that failed. After a 0 call sp_disk_close. */
SP_PRIVATE int sp_disk_open(const char *path, bool map, sp_disk_file *file);
SP_PRIVATE void sp_disk_close(sp_disk_file *file);

/* Whether the path now leads to another file, or to none. */
SP_PRIVATE bool sp_disk_is_other(const char *path, const sp_disk_identity *mark);

/* Returns piece i of a file's pieces, in order; NULL behind the last. */
typedef const void *(*sp_disk_pieces)(const void *owner, int i, size_t *n);

/* Replace a file as a whole, or leave it as it was: the new one is written beside it, synced, then
   renamed. Only its owner may read a new file, as it has a secret seed; a replaced one keeps its
   permissions. 0, or why that failed. */
SP_PRIVATE int sp_disk_replace(const char *path, sp_disk_pieces pieces, const void *owner,
                               sp_disk_identity *mark);

/* n bytes that cannot be guessed. 0, or the system's error. */
SP_PRIVATE int sp_disk_random(void *p, size_t n);

#endif
