/* spt: the commands of streamptron that a daemon or a mail server needs, without Python. */

#include "commands.h"

#include "say.h"

#include <stdio.h>
#include <string.h>

typedef struct command {
    const char *name;
    int (*run)(int n, char **words);
} command;

static const command commands[] = {
    {"predict", command_predict}, {"filter", command_filter}, {"learn", command_learn},
    {"explain", command_explain}, {"top", command_top},       {"info", command_info},
    {"merge", command_merge},
};

/* The Python program's commands that this program does not have. */
static const char *const others[] = {"train", "eval", "compare", "plot", "serve", "forget"};

int main(int n, char **words)
{
    hold_streams();
    name_program(n > 0 ? words[0] : NULL);
    if (n < 2 || strcmp(words[1], "--help") == 0 || strcmp(words[1], "-h") == 0) {
        fputs(usage_all, stdout);
        return fflush(stdout) == 0 ? DONE : FAILED;
    }
    if (strcmp(words[1], "--version") == 0) {
        printf("%s %s\n", program, spt_version());
        return fflush(stdout) == 0 ? DONE : FAILED;
    }
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(words[1], commands[i].name) == 0)
            return commands[i].run(n - 2, words + 2);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (strcmp(words[1], others[i]) == 0)
            return misuse(NULL, "spt has no %s; use the Python program: streamptron %s",
                          others[i], others[i]);
    }
    return misuse(NULL, words[1][0] == '-' ? "No such option '%s'" : "No such command '%s'",
                  words[1]);
}
