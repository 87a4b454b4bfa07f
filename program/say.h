/* Messages on standard error, and the exit codes that go with them. */

#ifndef SPT_PROGRAM_SAY_H
#define SPT_PROGRAM_SAY_H

#include "streamptron.h"

enum {
    DONE = 0,
    FAILED = 1,
    MISUSED = 2,
    INTERRUPTED = 130, /* by SIGINT */
};

/* The name by which the program was called; messages begin with it. */
extern const char *program;
void name_program(const char *path);

/* Make sure that the standard streams are open, so that no file we open gets their numbers; and
   that exceeding a limit on file sizes is an error, not a signal. */
void hold_streams(void);

/* Let messages begin with the time, except at a terminal or in journald, which has its own. */
void date_messages(void);

/* Write a line, after the program's name; if that fails, the line is lost. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for errors that end the program. They return FAILED, and MISUSED. */
extern const char *misuse_ends; /* in place of the hint at --help */
int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
int misuse(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The library's error about a file, ending the program. Returns FAILED. */
int fail_of(const char *path, const spt_error *error);

/* The same as words for a message; they stay valid until the next call. */
const char *words_of(const char *path, const spt_error *error);

/* The same for an error of the system. */
const char *words_of_system(const char *path, int system);

int fail_memory(void);

#endif
