/* Lines from files or from the standard input, as they arrive. */

#ifndef SPT_PROGRAM_INPUT_H
#define SPT_PROGRAM_INPUT_H

#include "bytes.h"

enum { MAX_LINE = 1 << 24 };

typedef enum found {
    FOUND_LINE,
    FOUND_BAD,    /* a line that cannot be read; `wrong` says why */
    FOUND_END,    /* no more input */
    FOUND_STOP,   /* a signal wants the program to end */
    FOUND_FAILED, /* an error, which has been reported */
} found;

typedef struct input {
    const char *const *files; /* paths, and "-" for the standard input */
    size_t n_files, at_file;  /* the one being read */
    bool endless;             /* lines of a stream: its start is not checked like a file's */
    size_t max_line;
    bool (*wait)(void *owner, int number); /* called before each read; false: stop */
    void *owner;

    const char *name; /* of the file, for messages */
    size_t line;      /* the number of the current line */
    char wrong[128];
    int number;       /* of the open file; -1: none */
    bytes data;       /* what has been read and not yet returned, from `from` on */
    size_t from;
    bool began, ended, too_long;
    size_t next_line;
} input;

void input_begin(input *in, const char *const *files, size_t n);

/* The next line, without its line end; it stays valid until the next call. */
found input_line(input *in, const char **line, size_t *n);

/* The whole next file. */
found input_whole(input *in, const char **data, size_t *n);

/* Read a whole file at once, without calling `wait`. 0 or the system's error, or ENOMEM. */
int read_file(const char *path, bytes *to);

void input_free(input *in);

#endif
