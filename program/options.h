/* Options of commands, as click reads them for the Python program. */

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
    const char *letter; /* "-m"; NULL: it has none */
    option_kind kind;
    void *to;
    double least, most;
    bool open;
} option;

typedef struct command_line {
    const char *command;
    const option *options;
    size_t n_options;
    const char *others; /* options that the Python program alone has, with spaces around each */
    const char *usage;
    char **words; /* what is left: arguments, in front of the array that was given */
    size_t n_words;
} command_line;

/* Read the words behind the command's name. -1: go on; else the code to exit with. */
int options_read(command_line *line, int n, char **words);

/* Whether one of the words is this one, before they are read. */
bool words_have(int n, char **words, const char *word);

#endif
