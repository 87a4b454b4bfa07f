/* Shows what a model in a file is, what it has seen, and its size. */

#include "commands.h"

#include "header.h"
#include "json.h"
#include "options.h"
#include "output.h"
#include "say.h"
#include "streamptron.h"
#include "table.h"
#include "texts.h"

#include <stdlib.h>
#include <string.h>

/* Rows of a table, or names and values of JSON. */
typedef struct listing {
    bool json;
    table rows;
    bytes out;
    size_t n, depth;
} listing;

static void put_name(listing *l, const char *name)
{
    if (l->json) {
        bytes_word(&l->out, l->n++ ? ", " : "");
        add_json(&l->out, name, strlen(name));
        bytes_word(&l->out, ": ");
    } else
        table_print(&l->rows, "%s%s", l->depth ? "  " : "", name);
}

/* A value that is JSON already. */
static void put_value(listing *l, const char *name, const char *p, size_t n)
{
    put_name(l, name);
    if (l->json)
        bytes_add(&l->out, p, n);
    else
        table_add(&l->rows, p, n);
}

/* A text: quoted in JSON, bare in a table. NULL: none. */
static void put_text(listing *l, const char *name, const char *text)
{
    bytes quoted = {0};
    if (text == NULL)
        put_value(l, name, l->json ? "null" : "none", 4);
    else if (l->json || l->depth) {
        add_json(&quoted, text, strlen(text));
        put_value(l, name, quoted.p, quoted.n);
    } else
        put_value(l, name, text, strlen(text));
    bytes_free(&quoted);
}

static void put_whole(listing *l, const char *name, uint64_t number)
{
    bytes digits = {0};
    bytes_print(&digits, "%llu", (unsigned long long)number);
    put_value(l, name, digits.p, digits.n);
    bytes_free(&digits);
}

static void begin(listing *l, const char *name)
{
    put_name(l, name);
    if (l->json)
        bytes_word(&l->out, "{");
    else
        table_add(&l->rows, "", 0);
    l->n = 0;
    l->depth = 1;
}

static void end(listing *l)
{
    bytes_word(&l->out, l->json ? "}" : "");
    l->n = 1;
    l->depth = 0;
}

/* --- Values of the header (docs/format.md) */

static bool is_of_type(const json *j, size_t node, const char *type)
{
    return j->nodes[node].type == JSON_LIST && j->nodes[node].n > 0 && json_is(j, node + 1, type);
}

/* A value, written as Python's json.dumps writes the object that it stands for. */
static void add_value(const json *j, size_t node, bytes *to)
{
    size_t n;
    bool tuple = is_of_type(j, node, "tuple");
    if (is_of_type(j, node, "float"))
        add_number(to, strtod(json_string(j, node + 2, &n), NULL));
    else if (is_of_type(j, node, "int"))
        bytes_print(to, "%llu", strtoull(json_string(j, node + 2, &n), NULL, 16));
    else if (j->nodes[node].type == JSON_LIST) {
        size_t at = tuple ? j->nodes[node + 1].next : node + 1;
        bytes_word(to, "[");
        for (bool first = true; at < j->nodes[node].next; at = j->nodes[at].next, first = false) {
            bytes_word(to, first ? "" : ", ");
            add_value(j, at, to);
        }
        bytes_word(to, "]");
    } else
        json_add(j, node, to);
}

/* A label or another value, as Python's str. */
static void add_plain(const json *j, size_t node, bytes *to)
{
    size_t n;
    if (j->nodes[node].type == JSON_STRING) {
        const char *p = json_string(j, node, &n);
        bytes_add(to, p, n);
    } else if (j->nodes[node].type == JSON_TRUE || j->nodes[node].type == JSON_FALSE)
        bytes_word(to, j->nodes[node].type == JSON_TRUE ? "True" : "False");
    else
        add_value(j, node, to);
}

/* A list of pairs as {label: weight}. */
static void add_weights(const json *j, size_t list, bytes *to)
{
    bytes_word(to, "{");
    for (size_t pair = list + 1; pair < j->nodes[list].next; pair = j->nodes[pair].next) {
        bytes name = {0};
        add_plain(j, pair + 1, &name);
        bytes_word(to, pair > list + 1 ? ", " : "");
        add_json(to, name.p, name.n);
        bytes_word(to, ": ");
        add_value(j, j->nodes[pair + 1].next, to);
        bytes_free(&name);
    }
    bytes_word(to, "}");
}

/* The names and values of a part of the header. */
static void put_part(listing *l, const json *j, size_t object)
{
    for (size_t at = object + 1; at < j->nodes[object].next; at = j->nodes[at + 1].next) {
        bytes value = {0};
        size_t n;
        bool weights = (json_is(j, at, "class_weight") || json_is(j, at, "false_positive_rate"))
                       && j->nodes[at + 1].type == JSON_LIST;
        if (weights)
            add_weights(j, at + 1, &value);
        else
            add_value(j, at + 1, &value);
        put_value(l, json_string(j, at, &n), value.p, value.n);
        bytes_free(&value);
    }
}

static void put_header_part(listing *l, const char *name, const header *h, const char *part)
{
    json j = {0};
    if (header_part(h, part, &j)) {
        begin(l, name);
        put_part(l, &j, 0);
        end(l);
    } else
        put_text(l, name, NULL);
    json_free(&j);
}

/* --- All of it */

static void put_counts(listing *l, const spt_model *m)
{
    spt_counts counts = SPT_COUNTS;
    spt_count(m, &counts);
    put_whole(l, "n_seen", counts.seen);
    put_whole(l, "n_updates", counts.updates);
    put_whole(l, "n_mistakes", counts.mistakes);
    put_whole(l, "n_features", counts.features);
    put_text(l, "serving", spt_serving(m, NULL));
}

/* How a label is written; a Perceptron for lines writes it as the lines did. */
static void add_label(const spt_model *m, const json *lines, bool on_lines, size_t label, bytes *to)
{
    size_t n, names = json_path(lines, "names"), positive = json_path(lines, "positive");
    const char *name = spt_label(m, label, &n);
    bool binary = strcmp(spt_learner(m), "Perceptron") == 0;
    bytes own = {0};
    if (binary && on_lines && positive && lines->nodes[positive].type == JSON_STRING) {
        bytes_word(&own, label ? "" : "not ");
        name = json_string(lines, positive, &n);
        bytes_add(&own, name, n);
    } else if (binary && on_lines && names && lines->nodes[names].n == 2) {
        size_t node = label ? lines->nodes[names + 1].next : names + 1;
        name = lines->nodes[node].type == JSON_STRING ? json_string(lines, node, &n) : "";
        bytes_word(&own, name[0] ? name : label ? "1" : "0");
    } else if (binary && on_lines)
        bytes_word(&own, label ? "1" : "0");
    else if (on_lines)
        add_in_line(&own, name, n);
    else
        bytes_add(&own, name, n);
    bytes_add(to, own.p, own.n);
    bytes_free(&own);
}

static void put_labels(listing *l, const spt_model *m, const json *lines, bool on_lines)
{
    bytes list = {0}, name = {0};
    size_t n = spt_labels(m);
    bool ranks = spt_is_ranking(m);
    n = ranks ? 0 : n;
    if (!l->json)
        bytes_print(&list, "%zu: ", n);
    bytes_word(&list, l->json ? "[" : "");
    for (size_t i = 0; i < n; i++) {
        name.n = 0;
        add_label(m, lines, on_lines, i, &name);
        bytes_word(&list, i ? ", " : "");
        if (l->json)
            add_json(&list, name.p, name.n);
        else
            bytes_add(&list, name.p, name.n);
    }
    bytes_word(&list, l->json ? "]" : "");
    put_value(l, "labels", list.p, list.n);
    bytes_free(&list);
    bytes_free(&name);
}

static void put_reading(listing *l, const spt_model *m, const json *lines, bool on_lines)
{
    size_t reading = json_path(lines, "reading");
    if (!on_lines) {
        put_text(l, "reading", NULL);
        return;
    }
    begin(l, "reading");
    if (reading)
        put_part(l, lines, reading);
    else
        put_text(l, "format", spt_input(m) == SPT_MAIL ? "mail" : "plain");
    end(l);
}

static void put_file(listing *l, const header *h)
{
    bytes checksum = {0};
    journal_entry entry;
    size_t n = 0;
    bytes_print(&checksum, "%s%s", header_text(h, "header_crc32"), header_text(h, "arrays_crc32"));
    begin(l, "file");
    put_whole(l, "bytes", h->size);
    put_text(l, "streamptron", header_text(h, "streamptron"));
    put_whole(l, "format", strtoull(header_text(h, "version"), NULL, 10));
    put_text(l, "checksum", bytes_text(&checksum) == NULL ? "" : checksum.p);
    for (size_t at = 0; h->has_journal && journal_next(h, &at, &entry);)
        n++;
    if (h->has_journal)
        put_whole(l, "journal", n);
    else
        put_value(l, "journal", "null", 4);
    end(l);
    bytes_free(&checksum);
}

static void describe(listing *l, const spt_model *m, const header *h)
{
    json lines = {0};
    size_t n;
    bool has_lines = header_part(h, "lines", &lines);
    bool on_lines = has_lines || spt_input(m) != SPT_FEATURES;
    size_t positive = has_lines ? json_path(&lines, "positive") : 0;
    bool is_mail = header_text(h, "mail")[0] != 0;
    bytes_word(&l->out, l->json ? "{" : "");
    put_text(l, "learner", spt_learner(m));
    put_header_part(l, "parameters", h, "parameters");
    put_counts(l, m);
    put_labels(l, m, &lines, on_lines);
    put_text(l, "positive", positive && lines.nodes[positive].type == JSON_STRING
                                ? json_string(&lines, positive, &n)
                                : NULL);
    put_header_part(l, "tokenizer", h, is_mail ? "mail" : "tokenizer");
    put_reading(l, m, &lines, on_lines);
    put_file(l, h);
    bytes_word(&l->out, l->json ? "}" : "");
    json_free(&lines);
}

static int info(const char *path, bool as_json)
{
    spt_error error = SPT_ERROR;
    spt_model *m;
    header h;
    listing l = {.json = as_json, .rows = {.n_columns = 2}};
    if (spt_open(path, 0, &m, &error)) /* which checks all of it */
        return fail_of(path, &error);
    int failed = header_read(&h, path), code = FAILED;
    if (failed)
        fail("%s: %s", path, strerror(failed));
    else {
        describe(&l, m, &h);
        if (!as_json)
            table_end(&l.rows, 2, &l.out);
        code = output_shown(&l.out);
        header_free(&h);
    }
    bytes_free(&l.rows.cells);
    bytes_free(&l.out);
    spt_close(m);
    return code;
}

int command_info(int n, char **words)
{
    const char *path = NULL;
    bool as_json = false;
    const option options[] = {
        {"--model", "-m", OPTION_TEXT, &path, 0, 0, false},
        {"--json", NULL, OPTION_FLAG, &as_json, 0, 0, false},
    };
    command_line line = {.command = "info",
                         .options = options,
                         .n_options = 2,
                         .others = " --config ",
                         .usage = usage_info};
    int code = options_read(&line, n, words);
    if (code >= 0)
        return code;
    if (line.n_words > 1)
        return misuse("info", "Got unexpected extra argument (%s)", line.words[1]);
    path = line.n_words ? line.words[0] : path;
    if (path == NULL)
        return misuse("info", "give the model file");
    return info(path, as_json);
}
