/* Messages on the standard error, and the exit codes that go with them. */

#ifndef SPT_PROGRAM_SAY_H
#define SPT_PROGRAM_SAY_H

#include "streamptron.h"

enum {
    DONE = 0,
    FAILED = 1,
    MISUSED = 2,
    INTERRUPTED = 130, /* by SIGINT */
};

/* What messages begin with: the name by which the program was called. */
extern const char *program;
void name_program(const char *path);

/* Make sure that the standard streams are open, so that no file we open gets their numbers, and
   that a file which may not grow is an error, not a signal. */
void hold_streams(void);

/* From now on messages begin with the time, but where there is one: at a terminal, in journald. */
void date_messages(void);

/* A line, after the program's name; what cannot be written is lost. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for what ends the program. Return FAILED, and MISUSED. */
extern const char *misuse_ends; /* in place of the hint at --help */
int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
int misuse(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What the library says of a file, as the end of the program. Returns FAILED. */
int fail_of(const char *path, const spt_error *error);

/* The same in the middle of a message; it stays until the next one. */
const char *words_of(const char *path, const spt_error *error);

/* Of the system's own error. */
const char *words_of_system(const char *path, int system);

int fail_memory(void);

#endif
