/* The commands. Each takes the words behind its name, and returns the exit code. */

#ifndef SPT_PROGRAM_COMMANDS_H
#define SPT_PROGRAM_COMMANDS_H

int command_predict(int n, char **words);
int command_filter(int n, char **words);
int command_learn(int n, char **words);
int command_explain(int n, char **words);
int command_top(int n, char **words);
int command_info(int n, char **words);
int command_merge(int n, char **words);

/* What --help shows for each, and for all. */
extern const char usage_all[], usage_predict[], usage_filter[], usage_learn[], usage_explain[],
    usage_top[], usage_info[], usage_merge[];

#endif
