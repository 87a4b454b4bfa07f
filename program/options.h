/* Options of commands, read as click does for the Python program. */

#ifndef SPT_PROGRAM_OPTIONS_H
#define SPT_PROGRAM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum option_kind {
    OPTION_FLAG,   /* bool */
    OPTION_TEXT,   /* const char * */
    OPTION_WHOLE,  /* size_t, at least `least` */
    OPTION_NUMBER, /* double, least .. most; above `least` if `open` */
} option_kind;

typedef struct option {
    const char *name; /* with its dashes */
    const char *letter; /* "-m"; NULL: none */
    option_kind kind;
    void *to;
    double least, most;
    bool open;
} option;

typedef struct command_line {
    const char *command;
    const option *options;
    size_t n_options;
    const char *others; /* options that only the Python program has, with spaces around each */
    const char *usage;
    char **words; /* the arguments, moved to the front of the given array */
    size_t n_words;
} command_line;

/* Read the words behind the command's name. -1: go on; otherwise the exit code. */
int options_read(command_line *line, int n, char **words);

/* Whether one of the words is `word`; for use before they are read. */
bool words_have(int n, char **words, const char *word);

#endif
