#include "create.h"

#include "bytes.h"
#include "say.h"
#include "texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void create_options(creation *c, option *options)
{
    const option table[CREATE_OPTIONS] = {
        {"--learner", NULL, OPTION_TEXT, &c->learner, 0, 0, false},
        {"--positive", NULL, OPTION_TEXT, &c->positive, 0, 0, false},
        {"--max-features", NULL, OPTION_TEXT, &c->max_features, 0, 0, false},
        {"--max-labels", NULL, OPTION_TEXT, &c->max_labels, 0, 0, false},
        {"--hash-bits", NULL, OPTION_TEXT, &c->hash_bits, 0, 0, false},
        {"--hash-seed", NULL, OPTION_TEXT, &c->hash_seed, 0, 0, false},
        {"--analyzer", NULL, OPTION_TEXT, &c->analyzer, 0, 0, false},
        {"--ngrams", NULL, OPTION_TEXT, &c->ngrams, 0, 0, false},
        {"--separators", NULL, OPTION_TEXT, &c->separators, 0, 0, false},
        {"--min-length", NULL, OPTION_TEXT, &c->min_length, 0, 0, false},
        {"--max-length", NULL, OPTION_TEXT, &c->max_length, 0, 0, false},
        {"--value", NULL, OPTION_TEXT, &c->value, 0, 0, false},
        {"--no-lowercase", NULL, OPTION_FLAG, &c->no_lowercase, 0, 0, false},
        {"--fold-numbers", NULL, OPTION_FLAG, &c->fold_numbers, 0, 0, false},
        {"--l2", NULL, OPTION_FLAG, &c->l2, 0, 0, false},
    };
    memcpy(options, table, sizeof(table));
}

const char *create_given(const creation *c)
{
    option options[CREATE_OPTIONS];
    create_options((creation *)c, options);
    for (size_t i = 0; i < CREATE_OPTIONS; i++) {
        bool given = options[i].kind == OPTION_FLAG ? *(bool *)options[i].to
                                                    : *(const char **)options[i].to != NULL;
        if (given)
            return options[i].name;
    }
    return NULL;
}

/* Whether this learner learns labelled lines. */
static bool is_learner(const char *name)
{
    static const char *const names[] = {"adaptive", "perceptron", "multiclass", "mira", "arow",
                                        "voted"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

static void put(bytes *json, const char *name, const char *value)
{
    bytes_print(json, "%s\"%s\":%s", json->n > 1 ? "," : "", name, value);
}

/* Whether it is a whole number; the library checks it further. */
static bool is_whole(const char *value)
{
    size_t digits = strspn(value, "0123456789");
    return digits > 0 && digits < 16 && value[digits] == 0;
}

/* Add a number that was given; the library has the defaults of all others. */
static int put_whole(bytes *json, const char *name, const char *option, const char *value)
{
    if (value == NULL)
        return DONE;
    if (!is_whole(value))
        return misuse("predict", "Invalid value for '%s': '%s' is not a valid integer", option,
                      value);
    put(json, name, value);
    return DONE;
}

static int add_parameters(const creation *c, const char *learner, bytes *json)
{
    if (!is_learner(learner))
        return misuse("predict", "Invalid value for '--learner': '%s' is not one of 'adaptive', "
                                 "'perceptron', 'multiclass', 'mira', 'arow', 'voted'", learner);
    bytes_word(json, "{");
    int code = put_whole(json, "max_features", "--max-features", c->max_features);
    if (code == DONE)
        code = put_whole(json, "max_labels", "--max-labels", c->max_labels);
    if (code == DONE)
        code = put_whole(json, "hash_bits", "--hash-bits", c->hash_bits);
    if (code == DONE)
        code = put_whole(json, "hash_seed", "--hash-seed", c->hash_seed);
    bytes_word(json, "}");
    return code;
}

/* "1,2" as a list; a single number stands for both. */
static bool put_range(bytes *json, const char *given)
{
    char range[48];
    const char *comma = strchr(given, ',');
    char *end;
    long low = strtol(given, &end, 10), high = low;
    bool good = end != given && (*end == 0 || end == comma);
    if (good && comma != NULL) {
        high = strtol(comma + 1, &end, 10);
        good = end != comma + 1 && *end == 0;
    }
    snprintf(range, sizeof(range), "[%ld,%ld]", low, high);
    if (good)
        put(json, "ngram_range", range);
    return good;
}

static void put_text(bytes *json, const char *name, const char *value)
{
    bytes quoted = {0};
    if (value == NULL)
        return;
    add_json(&quoted, value, strlen(value));
    put(json, name, bytes_text(&quoted) == NULL ? "" : quoted.p);
    json->failed = json->failed || quoted.failed;
    bytes_free(&quoted);
}

static int add_tokens(const creation *c, bytes *json)
{
    const bool endless = c->max_length != NULL && strcmp(c->max_length, "none") == 0;
    bytes_word(json, "{");
    put_text(json, "analyzer", c->analyzer);
    put_text(json, "separators", c->separators);
    put_text(json, "value", c->value);
    if (c->ngrams != NULL && !put_range(json, c->ngrams))
        return misuse("predict", "Invalid value for '--ngrams': '%s': give two numbers, as 1,2",
                      c->ngrams);
    if (put_whole(json, "min_length", "--min-length", c->min_length) != DONE)
        return MISUSED;
    if (endless)
        put(json, "max_length", "null");
    else if (c->max_length != NULL && !is_whole(c->max_length))
        return misuse("predict", "Invalid value for '--max-length': '%s': give a number, or none",
                      c->max_length);
    else if (c->max_length != NULL)
        put(json, "max_length", c->max_length);
    if (c->no_lowercase)
        put(json, "lowercase", "false");
    if (c->fold_numbers)
        put(json, "fold_numbers", "true");
    if (c->l2)
        put(json, "normalize", "\"l2\"");
    bytes_word(json, "}");
    return DONE;
}

/* How the lines are read and written. */
static void add_lines(const creation *c, bool binary, bytes *json)
{
    bytes_print(json, "{\"reading\":{\"format\":\"%s\"", c->form);
    if (c->label != NULL) {
        bytes_word(json, ",\"label\":");
        add_json(json, c->label, strlen(c->label));
    }
    if (c->text != NULL) {
        bytes_word(json, ",\"text\":");
        add_json(json, c->text, strlen(c->text));
    }
    bytes_word(json, "},\"positive\":");
    if (c->positive == NULL)
        bytes_print(json, "null,\"names\":%s}", binary ? "[null,null]" : "null");
    else {
        bytes name = {0};
        bytes_print(&name, "not %s", c->positive);
        add_json(json, c->positive, strlen(c->positive));
        bytes_word(json, ",\"names\":[");
        add_json(json, name.p, name.n);
        bytes_word(json, ",");
        add_json(json, c->positive, strlen(c->positive));
        bytes_word(json, "]}");
        bytes_free(&name);
    }
}

int create_model(void *creation_, spt_model **made)
{
    const creation *c = creation_;
    const char *learner = c->learner == NULL ? "adaptive" : c->learner;
    bytes given = {0}, tokens = {0}, lines = {0};
    spt_error error = SPT_ERROR;
    bool binary = strcmp(learner, "perceptron") == 0;
    int code = DONE;
    if (strcmp(learner, "multilabel") == 0)
        return misuse("predict", "for lines with several labels use the Python program: "
                                 "streamptron predict --learner multilabel");
    if (strcmp(learner, "ranking") == 0)
        return misuse("predict", "Invalid value for '--learner': 'ranking' chooses among "
                                 "candidates, and a line is one event; use it from Python");
    if (c->positive != NULL && !binary)
        return misuse("predict",
                      "--positive is for --learner perceptron; others take any labels");
    code = add_parameters(c, learner, &given);
    if (code == DONE)
        code = add_tokens(c, &tokens);
    add_lines(c, binary, &lines);
    if (code == DONE && (bytes_text(&given) == NULL || bytes_text(&tokens) == NULL
                         || bytes_text(&lines) == NULL))
        code = fail_memory();
    if (code == DONE && spt_new(learner, given.p, tokens.p, made, &error))
        code = error.code == SPT_ARGUMENT ? misuse("predict", "%s", error.words)
                                          : fail("%s", error.words);
    else if (code == DONE && spt_put_lines(*made, lines.p, lines.n, &error)) {
        spt_close(*made);
        code = fail("%s", error.words);
    }
    bytes_free(&given);
    bytes_free(&tokens);
    bytes_free(&lines);
    return code;
}
