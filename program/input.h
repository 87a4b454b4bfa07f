/* Lines of files or of the standard input, as they come. */

#ifndef SPT_PROGRAM_INPUT_H
#define SPT_PROGRAM_INPUT_H

#include "bytes.h"

enum { MAX_LINE = 1 << 24 };

typedef enum found {
    FOUND_LINE,
    FOUND_BAD,    /* a line that cannot be read, for the reason `wrong` */
    FOUND_END,    /* there is no more */
    FOUND_STOP,   /* a signal asks for the end */
    FOUND_FAILED, /* it has been said why */
} found;

typedef struct input {
    const char *const *files; /* paths, and "-" for the standard input */
    size_t n_files, at_file;  /* which one is read */
    bool endless;             /* lines without a beginning: no file that tells what it is */
    size_t max_line;
    bool (*wait)(void *owner, int number); /* called before each read; false: it is to end */
    void *owner;

    const char *name; /* of the file, as messages have it */
    size_t line;      /* the number of the line that was found */
    char wrong[128];
    int number;       /* of the open file; -1: none is */
    bytes data;       /* what is read and not given away, from `from` on */
    size_t from;
    bool began, ended, too_long;
    size_t next_line;
} input;

void input_begin(input *in, const char *const *files, size_t n);

/* The next line, without its line end; it stays until the next one. */
found input_line(input *in, const char **line, size_t *n);

/* All of the next file. */
found input_whole(input *in, const char **data, size_t *n);

/* All of one file, at once and without waits. 0 or the system's error; ENOMEM, too. */
int read_file(const char *path, bytes *to);

void input_free(input *in);

#endif
