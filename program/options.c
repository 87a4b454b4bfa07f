#include "options.h"

#include "bytes.h"
#include "say.h"
#include "texts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool words_have(int n, char **words, const char *word)
{
    for (int i = 0; i < n && strcmp(words[i], "--") != 0; i++) {
        if (strcmp(words[i], word) == 0)
            return true;
    }
    return false;
}

/* The option that a word begins with, and its value after an equals sign or after the option's
   letter. */
static const option *option_of(const command_line *line, const char *word, const char **value)
{
    size_t n = strcspn(word, "=");
    *value = NULL;
    for (size_t i = 0; i < line->n_options; i++) {
        const option *each = &line->options[i];
        if (strlen(each->name) == n && strncmp(each->name, word, n) == 0) {
            *value = word[n] == '=' ? word + n + 1 : NULL;
            return each;
        }
        if (each->letter != NULL && word[1] != '-' && strncmp(each->letter, word, 2) == 0) {
            *value = word[2] ? word + 2 : NULL;
            return each;
        }
    }
    return NULL;
}

static int unknown(const command_line *line, const char *word)
{
    char name[64];
    size_t n = strcspn(word, "=");
    snprintf(name, sizeof(name), " %.*s ", (int)n, word);
    if (n < sizeof(name) - 3 && line->others != NULL && strstr(line->others, name) != NULL)
        return misuse(line->command, "spt %s has no%.*s; use the Python program: "
                                     "streamptron %s",
                      line->command, (int)n + 1, name, line->command);
    return misuse(line->command, "No such option '%.*s'", (int)n, word);
}

/* Report a value that the option does not allow; `is_number`: it is a number, but out of range. */
static int bad_range(const command_line *line, const option *its, const char *value, bool is_number)
{
    bytes shown = {0};
    int code;
    if (its->kind == OPTION_NUMBER && is_number)
        add_number(&shown, strtod(value, NULL));
    else
        bytes_word(&shown, value);
    const char *words = bytes_text(&shown) == NULL ? value : shown.p;
    if (!is_number)
        code = misuse(line->command, "Invalid value for '%s': '%s' is not a valid %s range",
                      its->name, words, its->kind == OPTION_WHOLE ? "integer" : "float");
    else if (isinf(its->most))
        code = misuse(line->command, "Invalid value for '%s': %s is not in the range x%s%g",
                      its->name, words, its->open ? ">" : ">=", its->least);
    else
        code = misuse(line->command, "Invalid value for '%s': %s is not in the range %g%sx<=%g",
                      its->name, words, its->least, its->open ? "<" : "<=", its->most);
    bytes_free(&shown);
    return code;
}

static int take_value(const command_line *line, const option *its, const char *value)
{
    char *end;
    double number;
    if (its->kind == OPTION_TEXT) {
        *(const char **)its->to = value;
        return -1;
    }
    if (its->kind == OPTION_WHOLE) {
        errno = 0;
        long long whole = strtoll(value, &end, 10);
        bool is_one = end != value && *end == 0 && errno == 0;
        if (!is_one || (double)whole < its->least)
            return bad_range(line, its, value, is_one);
        *(size_t *)its->to = (size_t)whole;
        return -1;
    }
    number = strtod(value, &end);
    bool is_one = end != value && *end == 0;
    if (!is_one || !(number >= its->least) || number > its->most
        || (its->open && number == its->least))
        return bad_range(line, its, value, is_one);
    *(double *)its->to = number;
    return -1;
}

int options_read(command_line *line, int n, char **words)
{
    bool only_words = false;
    line->words = words;
    line->n_words = 0;
    for (int i = 0; i < n; i++) {
        char *word = words[i];
        const char *value;
        if (only_words || word[0] != '-' || word[1] == 0) {
            line->words[line->n_words++] = word;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            only_words = true;
            continue;
        }
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            fputs(line->usage, stdout);
            return fflush(stdout) == 0 ? DONE : FAILED;
        }
        const option *its = option_of(line, word, &value);
        if (its == NULL)
            return unknown(line, word);
        if (its->kind == OPTION_FLAG) {
            if (value != NULL)
                return misuse(line->command, "Option '%s' does not take a value", its->name);
            *(bool *)its->to = true;
            continue;
        }
        if (value == NULL) {
            if (i + 1 == n)
                return misuse(line->command, "Option '%s' requires an argument",
                              word[1] == '-' ? its->name : its->letter);
            value = words[++i];
        }
        int code = take_value(line, its, value);
        if (code >= 0)
            return code;
    }
    return -1;
}
