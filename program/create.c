#include "create.h"

#include "bytes.h"
#include "say.h"
#include "texts.h"

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

/* All parameters of the learners, in the order in which the Python program writes them, with their
   defaults as JSON; a letter for each learner that has one. */
static const struct {
    const char *of, *name, *value;
} parameters[] = {
    {"pm", "margin", "0.0"},
    {"i", "C", "1.0"},
    {"i", "update", "\"margin\""},
    {"w", "r", "1.0"},
    {"a", "eta", "1.0"},
    {"a", "forget", "\"auto\""},
    {"a", "naive_bayes", "true"},
    {"a", "shape", "\"auto\""},
    {"v", "degree", "1"},
    {"v", "budget", "null"},
    {"pmi", "average", "\"uniform\""},
    {"pmi", "half_life", "1000"},
    {"pmi", "pocket", "false"},
    {"pmi", "serve", "\"best\""},
    {"pmiwav", "intercept", "true"},
    {"pmiwav", "class_weight", "null"},
    {"a", "false_positive_rate", "null"},
    {"pmiwa", "max_features", "null"},
    {"miwav", "max_labels", "null"},
    {"pmiwav", "hash_bits", "null"},
    {"pmiwav", "hash_seed", "null"},
    {"mi", "violators", "\"best\""},
    {"pmiwa", "degree", "1"},
    {"pmiwa", "interactions", "null"},
    {"pmiwa", "max_pairs", "1000000"},
    {"pmiwav", "missing", "\"skip\""},
};

static const struct {
    const char *name;
    char letter;
} learners[] = {{"perceptron", 'p'}, {"multiclass", 'm'}, {"mira", 'i'},
                {"arow", 'w'},       {"adaptive", 'a'},   {"voted", 'v'}};

static char letter_of(const char *learner)
{
    for (size_t i = 0; i < sizeof(learners) / sizeof(learners[0]); i++) {
        if (strcmp(learners[i].name, learner) == 0)
            return learners[i].letter;
    }
    return 0;
}

/* A parameter that options set. */
typedef struct setting {
    const char *name, *option, *value;
} setting;

static void put(bytes *json, const char *name, const char *value)
{
    bytes_print(json, "%s\"%s\":%s", json->n ? "," : "{", name, value);
}

/* A whole number, which the library checks further. */
static bool is_whole(const char *value)
{
    size_t digits = strspn(value, "0123456789");
    return digits > 0 && digits < 16 && value[digits] == 0;
}

static int no_number(const char *option, const char *value)
{
    return misuse("predict", "Invalid value for '%s': '%s' is not a valid integer", option, value);
}

static int add_parameters(const creation *c, const char *learner, bytes *json)
{
    const setting given[] = {{"max_features", "--max-features", c->max_features},
                             {"max_labels", "--max-labels", c->max_labels},
                             {"hash_bits", "--hash-bits", c->hash_bits},
                             {"hash_seed", "--hash-seed", c->hash_seed}};
    bool taken[sizeof(given) / sizeof(given[0])] = {false};
    char letter = letter_of(learner);
    if (letter == 0)
        return misuse("predict", "Invalid value for '--learner': '%s' is not one of 'adaptive', "
                                 "'perceptron', 'multiclass', 'mira', 'arow', 'voted'", learner);
    for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++) {
        const char *value = parameters[i].value;
        if (strchr(parameters[i].of, letter) == NULL)
            continue;
        for (size_t k = 0; k < sizeof(given) / sizeof(given[0]); k++) {
            if (strcmp(given[k].name, parameters[i].name) != 0)
                continue;
            taken[k] = true;
            value = given[k].value != NULL ? given[k].value : value;
            if (given[k].value != NULL && !is_whole(value))
                return no_number(given[k].option, value);
        }
        put(json, parameters[i].name, value);
    }
    for (size_t k = 0; k < sizeof(given) / sizeof(given[0]); k++) {
        if (given[k].value != NULL && !taken[k])
            return misuse("predict", "%s has no %s", learner, given[k].option);
    }
    bytes_word(json, "}");
    return DONE;
}

/* "1,2" as a list; or one number twice. */
static bool add_range(const char *given, bytes *json)
{
    const char *comma = strchr(given, ',');
    char *end;
    long low = strtol(given, &end, 10), high = low;
    bool good = end != given && (*end == 0 || end == comma);
    if (good && comma != NULL) {
        high = strtol(comma + 1, &end, 10);
        good = end != comma + 1 && *end == 0;
    }
    if (good)
        bytes_print(json, ",\"ngram_range\":[%ld,%ld]", low, high);
    return good;
}

static void put_text(bytes *json, const char *name, const char *value, const char *otherwise)
{
    bytes quoted = {0};
    if (value != NULL)
        add_json(&quoted, value, strlen(value));
    else
        bytes_word(&quoted, otherwise);
    put(json, name, bytes_text(&quoted) == NULL ? "" : quoted.p);
    json->failed = json->failed || quoted.failed;
    bytes_free(&quoted);
}

static int add_tokens(const creation *c, bytes *json)
{
    const char *longest = c->max_length != NULL ? c->max_length : "100";
    const char *shortest = c->min_length != NULL ? c->min_length : "1";
    put_text(json, "analyzer", c->analyzer, "\"word\"");
    if (!add_range(c->ngrams == NULL ? "1" : c->ngrams, json))
        return misuse("predict", "Invalid value for '--ngrams': '%s': give two numbers, as 1,2",
                      c->ngrams);
    put(json, "lowercase", c->no_lowercase ? "false" : "true");
    put_text(json, "separators", c->separators, "null");
    if (!is_whole(shortest))
        return no_number("--min-length", shortest);
    put(json, "min_length", shortest);
    if (strcmp(longest, "none") != 0 && !is_whole(longest))
        return misuse("predict", "Invalid value for '--max-length': '%s': give a number, or none",
                      longest);
    put(json, "max_length", strcmp(longest, "none") == 0 ? "null" : longest);
    put(json, "fold_numbers", c->fold_numbers ? "true" : "false");
    put_text(json, "value", c->value, "\"presence\"");
    put(json, "normalize", c->l2 ? "\"l2\"" : "null");
    put(json, "fields", "null");
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
        return misuse("predict", "lines of several labels are the Python program's, streamptron "
                                 "predict --learner multilabel");
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
