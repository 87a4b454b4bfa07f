#include "model.h"

#include "say.h"
#include "texts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 80, NAMES_SHOWN = 200 }; /* characters of a label, and of a list, in a message */

const char *const form_names[FORMS] = {"plain", "jsonl", "mail", "other"};

static int refuse(spt_error *error, const char *path, const char *why)
{
    error->code = SPT_FOREIGN;
    error->system = 0;
    snprintf(error->words, sizeof(error->words), "%s: %s", path, why);
    return SPT_FOREIGN;
}

static int no_memory(spt_error *error)
{
    error->code = SPT_MEMORY;
    error->system = 0;
    snprintf(error->words, sizeof(error->words), "no memory");
    return SPT_MEMORY;
}

/* --- Opening */

/* A text in what the file says; NULL: not a text, or one with a zero in it. */
static const char *text_at(const json *j, size_t node)
{
    size_t n;
    if (node == 0 || j->nodes[node].type != JSON_STRING)
        return NULL;
    const char *p = json_string(j, node, &n);
    return strlen(p) == n ? p : NULL;
}

/* Read what the file says about the lines, or use what is said for plain ones. */
static int read_lines(model *m, spt_error *error)
{
    size_t n;
    const char *said = spt_lines(m->spt, &n);
    if (said == NULL) {
        bytes_print(&m->lines_text,
                    "{\"reading\":{\"format\":\"%s\"},\"positive\":null,\"names\":%s}",
                    form_names[spt_input(m->spt) == SPT_MAIL ? FORM_MAIL : FORM_PLAIN],
                    m->binary ? "[null,null]" : "null");
        m->changed = true; /* like the Python program, which writes them, too */
    } else
        bytes_add(&m->lines_text, said, n);
    if (bytes_text(&m->lines_text) == NULL)
        return no_memory(error);
    /* the library has checked that it is JSON */
    return json_read(&m->lines, m->lines_text.p, m->lines_text.n) ? SPT_OK : no_memory(error);
}

static const char *kept_text(bytes *to, const char *p, size_t n)
{
    bytes_add(to, p, n);
    return bytes_text(to);
}

static int take_names(model *m, spt_error *error)
{
    const json *j = &m->lines;
    size_t names = json_path(j, "names"), positive = json_path(j, "positive"), n;
    if (!m->binary)
        return SPT_OK;
    if (positive && j->nodes[positive].type == JSON_STRING) {
        const char *p = json_string(j, positive, &n);
        bytes_word(&m->own[0], "not ");
        m->names[0] = kept_text(&m->own[0], p, n);
        m->positive = m->names[1] = kept_text(&m->own[1], p, n);
        return m->names[0] == NULL || m->names[1] == NULL ? no_memory(error) : SPT_OK;
    }
    if (names == 0 || j->nodes[names].type != JSON_LIST)
        return SPT_OK;
    for (size_t i = 0, at = names + 1; i < 2 && i < j->nodes[names].n; i++) {
        if (j->nodes[at].type == JSON_STRING) {
            const char *p = json_string(j, at, &n);
            m->names[i] = kept_text(&m->own[i], p, n);
            if (m->names[i] == NULL)
                return no_memory(error);
        }
        at = j->nodes[at].next;
    }
    return SPT_OK;
}

static int take_spool(model *m, spt_error *error)
{
    const json *j = &m->lines;
    size_t list = json_path(j, "spool.learned"), n;
    if (list == 0 || j->nodes[list].type != JSON_LIST)
        return SPT_OK;
    for (size_t at = list + 1; at < j->nodes[list].next; at = j->nodes[at].next) {
        const char *p = json_string(j, at, &n);
        bytes_add(&m->spool, p, j->nodes[at].type == JSON_STRING ? n : 0);
        bytes_add(&m->spool, "", 1);
    }
    return m->spool.failed ? no_memory(error) : SPT_OK;
}

static int refuse_fields(const model *m, const char *path, spt_error *error)
{
    bytes names = {0}, why = {0};
    size_t n;
    for (size_t i = 0; i < spt_fields(m->spt); i++) {
        const char *name = spt_field(m->spt, i, &n);
        bytes_word(&names, i ? ", " : spt_fields(m->spt) > 1 ? "(" : "");
        add_shown(&names, name, n, false, SHOWN);
    }
    bytes_word(&names, spt_fields(m->spt) > 1 ? ")" : "");
    bytes_word(&why, "its tokenizer takes mappings with the fields ");
    add_cut(&why, &names, SHOWN);
    bytes_word(&why, ", and a line is one text; train it on one text, or use it from Python");
    const char *words = bytes_text(&why);
    int code = words == NULL ? no_memory(error) : refuse(error, path, words);
    bytes_free(&names);
    bytes_free(&why);
    return code;
}

static int take_lines(model *m, const char *path, spt_error *error)
{
    int failed = read_lines(m, error);
    if (failed)
        return failed;
    const json *j = &m->lines;
    size_t format = json_path(j, "reading.format");
    m->form = FORM_OTHER;
    for (int i = 0; i < FORM_OTHER; i++) {
        if (format && json_is(j, format, form_names[i]))
            m->form = (form)i;
    }
    m->text = text_at(j, json_path(j, "reading.text"));
    m->label = text_at(j, json_path(j, "reading.label"));
    if (spt_input(m->spt) == SPT_FEATURES)
        return refuse(error, path,
                      spt_lines(m->spt, NULL) == NULL
                          ? "it holds only a learner, and nothing that makes events from lines; "
                            "save it with its tokenizer: (Tokenizer() | "
                            "learner).save(path)"
                          : "the model learns from features, and spt reads texts and mails; "
                            "for features use the Python program, streamptron");
    if (spt_is_ranking(m->spt))
        return refuse(error, path, "it chooses among candidates, and a line is one event; use it "
                                   "from Python, with streamptron.load(path)");
    if (spt_is_multilabel(m->spt))
        return refuse(error, path, "its events have several labels, and spt answers one; use the "
                                   "Python program, streamptron");
    if (spt_fields(m->spt) > 0)
        return refuse_fields(m, path, error);
    failed = take_names(m, error);
    return failed ? failed : take_spool(m, error);
}

int model_of(model *m, spt_model *spt, const char *path, spt_error *error)
{
    memset(m, 0, sizeof(*m));
    m->spt = spt;
    m->binary = strcmp(spt_learner(spt), "Perceptron") == 0;
    int failed = spt_event_new(spt, &m->event, error);
    if (!failed)
        failed = take_lines(m, path, error);
    if (failed)
        model_close(m);
    return failed;
}

int model_open(model *m, const char *path, int how, spt_error *error)
{
    spt_model *spt;
    memset(m, 0, sizeof(*m));
    int failed = spt_open(path, how == OPEN_ANSWERS ? SPT_MAPPED : 0, &spt, error);
    if (failed == SPT_FOREIGN && how == OPEN_ANSWERS) /* not every learner can be used in place */
        failed = spt_open(path, 0, &spt, error);
    return failed ? failed : model_of(m, spt, path, error);
}

void model_close(model *m)
{
    spt_event_free(m->event);
    spt_close(m->spt);
    json_free(&m->lines);
    bytes_free(&m->lines_text);
    bytes_free(&m->own[0]);
    bytes_free(&m->own[1]);
    bytes_free(&m->spool);
    bytes_free(&m->known);
    free(m->probabilities);
    memset(m, 0, sizeof(*m));
}

const char *model_format(const model *m)
{
    const char *format = text_at(&m->lines, json_path(&m->lines, "reading.format"));
    return format == NULL ? form_names[FORM_PLAIN] : format;
}

/* --- Labels */

size_t model_labels(const model *m)
{
    return spt_labels(m->spt);
}

const char *model_name(const model *m, size_t label, size_t *n)
{
    if (!m->binary)
        return spt_label(m->spt, label, n);
    const char *name = m->names[label != 0];
    if (name == NULL || name[0] == 0)
        name = label ? "1" : "0";
    *n = strlen(name);
    return name;
}

/* The truth value that a label stands for; -1: none. */
static int truth_of(const char *label, size_t n)
{
    static const struct {
        const char *word;
        int truth;
    } words[] = {{"1", 1}, {"+1", 1}, {"true", 1}, {"0", 0}, {"-1", 0}, {"false", 0}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t k = 0;
        while (k < n && words[i].word[k]
               && (label[k] | (label[k] >= 'A' && label[k] <= 'Z' ? 32 : 0)) == words[i].word[k])
            k++;
        if (k == n && words[i].word[k] == 0)
            return words[i].truth;
    }
    return -1;
}

ptrdiff_t model_find(const model *m, const char *label, size_t n)
{
    if (!m->binary)
        return spt_label_find(m->spt, label, n);
    if (m->positive != NULL)
        return strlen(m->positive) == n && memcmp(m->positive, label, n) == 0;
    return truth_of(label, n);
}

bool model_has_name(const model *m, const char *name)
{
    size_t n, length = strlen(name);
    for (size_t i = 0; i < model_labels(m); i++) {
        const char *its = model_name(m, i, &n);
        if (n == length && memcmp(its, name, n) == 0)
            return true;
    }
    return false;
}

void add_names(const model *m, bytes *to)
{
    bytes whole = {0};
    size_t n;
    bytes_word(&whole, "[");
    for (size_t i = 0; i < model_labels(m) && whole.n < 8 * NAMES_SHOWN; i++) {
        const char *name = model_name(m, i, &n);
        bytes_word(&whole, i ? ", " : "");
        add_shown(&whole, name, n, false, 8 * NAMES_SHOWN);
    }
    bytes_word(&whole, "]");
    add_cut(to, &whole, NAMES_SHOWN);
    bytes_free(&whole);
}

/* --- Answers */

static int answer_top(model *m, const choice *answer, size_t top, choice *likeliest, size_t *found,
                      spt_error *error)
{
    size_t n = model_labels(m);
    if (n > m->n_probabilities) {
        double *p = realloc(m->probabilities, n * sizeof(double));
        if (p == NULL)
            return no_memory(error);
        m->probabilities = p;
        m->n_probabilities = n;
    }
    int failed = spt_probabilities(m->spt, m->event, m->probabilities, m->n_probabilities, error);
    if (failed)
        return failed;
    for (likeliest[(*found)++] = *answer; *found < top && *found < n; (*found)++) {
        m->probabilities[likeliest[*found - 1].label] = -1.0;
        size_t best = 0;
        for (size_t k = 1; k < n; k++)
            best = m->probabilities[k] > m->probabilities[best] ? k : best;
        likeliest[*found] = (choice){(ptrdiff_t)best, m->probabilities[best]};
    }
    return SPT_OK;
}

int model_answer(model *m, const char *text, size_t n, choice *answer, size_t top,
                 choice *likeliest, size_t *n_likeliest, spt_error *error)
{
    spt_answer its = SPT_ANSWER;
    int failed = spt_event_text(m->event, text, n, error);
    if (!failed)
        failed = spt_predict(m->spt, m->event, &its, error);
    if (failed)
        return failed;
    *answer = (choice){its.label, its.probability};
    if (top == 0)
        return SPT_OK;
    *n_likeliest = 0;
    return its.label < 0 ? SPT_OK
                         : answer_top(m, answer, top, likeliest, n_likeliest, error);
}

/* --- Learning */

void add_reason(bytes *why, const char *words)
{
    static const char event[] = "the event ";
    bool its = strncmp(words, event, sizeof(event) - 1) == 0;
    bytes_print(why, "%s%s", its ? "it " : "", words + (its ? sizeof(event) - 1 : 0));
}

/* Whether one of the negative labels of a Perceptron is written like this. */
static bool is_negative(const model *m, const char *label, size_t n)
{
    const json *j = &m->lines;
    size_t list = json_path(j, "labels.negative"), length;
    if (list == 0 || j->nodes[list].type != JSON_LIST)
        return false;
    for (size_t at = list + 1; at < j->nodes[list].next; at = j->nodes[at].next) {
        const char *p = json_string(j, at, &length);
        if (length == n && memcmp(p, label, n) == 0)
            return true;
    }
    return false;
}

bool model_settle_labels(model *m, bool known, bool new)
{
    const json *j = &m->lines;
    size_t asked = json_path(j, "labels.known"), negative = json_path(j, "labels.negative");
    bool has = m->binary ? (m->positive != NULL ? negative != 0 : m->names[0] || m->names[1])
                         : model_labels(m) > 0;
    if (known && !has) {
        fail("--known-labels: the model knows no label yet; leave it out");
        return false;
    }
    known = known || (asked != 0 && j->nodes[asked].type == JSON_TRUE);
    m->first = known ? 0 : 2;
    m->guarded = !new && ((known && has)
                          || (spt_input(m->spt) == SPT_MAIL && (has || !m->binary)));
    return true;
}

/* Whether a label is one of those that may be learned. */
static bool is_admitted(const model *m, const char *label, size_t n)
{
    if (!m->guarded)
        return true;
    if (!m->binary)
        return spt_label_find(m->spt, label, n) >= 0 || model_labels(m) < m->first;
    bytes text = {0};
    bytes_add(&text, label, n);
    const char *name = bytes_text(&text);
    bool known = name != NULL && (model_has_name(m, name) || is_negative(m, label, n));
    bytes_free(&text);
    return known;
}

static void add_unknown(const model *m, const char *label, size_t n, bytes *why)
{
    size_t length;
    bytes_word(why, "the label ");
    add_shown(why, label, n, false, SHOWN);
    bytes_word(why, " is not one of the model's, ");
    for (size_t i = 0; i < model_labels(m) && i < 10; i++) {
        const char *name = model_name(m, i, &length);
        bytes_word(why, i ? ", " : "");
        add_shown(why, name, length, false, SHOWN);
    }
    bytes_word(why, model_labels(m) > 10 ? ", ..." : "");
    bytes_word(why, "; to make it a new one give --new-label");
}

bool model_may_learn(model *m, const char *label, size_t n, bytes *why)
{
    bool is_text = is_utf8(label, n);
    bool one_line = n == 0 || (memchr(label, '\n', n) == NULL && memchr(label, '\r', n) == NULL);
    if (is_text && (m->binary ? m->positive != NULL || truth_of(label, n) >= 0 : one_line)) {
        if (is_admitted(m, label, n))
            return true;
        add_unknown(m, label, n, why);
        return false;
    }
    bytes_word(why, "the label ");
    add_shown(why, label, n, !is_text, SHOWN);
    bytes_word(why, !is_text ? " is not UTF-8; give the file's encoding"
                    : m->binary
                        ? " is not one of 0, 1, -1, +1, true and false; name the one that is true "
                          "with --positive, or use another learner"
                        : " has a line end; write it in one line");
    return false;
}

/* Remember how a truth value is written, when a line first shows it. */
static bool note_name(model *m, int truth, const char *label, size_t n)
{
    if (m->positive != NULL || m->names[truth] != NULL)
        return true;
    m->names[truth] = kept_text(&m->own[truth], label, n);
    m->changed = true;
    return m->names[truth] != NULL;
}

static void add_full(const model *m, const char *label, size_t n, bytes *why)
{
    bytes_word(why, "the label ");
    add_shown(why, label, n, false, SHOWN);
    bytes_print(why,
                " is one more than --max-labels %zu allows; leave the line out, or train a model "
                "that takes more labels",
                model_labels(m));
}

int model_learn(model *m, const char *text, size_t n, const char *label, size_t n_label,
                bytes *why, spt_error *error)
{
    if (!model_may_learn(m, label, n_label, why))
        return SPT_ARGUMENT;
    int failed = text == NULL ? SPT_OK : spt_event_text(m->event, text, n, error);
    if (!failed && m->binary) {
        size_t truth = model_find(m, label, n_label) > 0;
        if (!note_name(m, (int)truth, label, n_label))
            return no_memory(error);
        failed = spt_learn(m->spt, m->event, truth, 1.0, error);
    } else if (!failed)
        failed = spt_learn_as(m->spt, m->event, label, n_label, 1.0, error);
    if (failed == SPT_FULL)
        add_full(m, label, n_label, why);
    else if (failed == SPT_ARGUMENT)
        add_reason(why, error->words);
    return failed;
}

int model_is_unsure(model *m, const choice *answer, const char *label, size_t n, double margin,
                    bool *unsure, spt_error *error)
{
    size_t labels = model_labels(m), found;
    double few[2], *scores = labels > 2 ? malloc(labels * sizeof(double)) : few;
    *unsure = true;
    if (scores == NULL)
        return no_memory(error);
    int failed = SPT_OK;
    if (answer->label >= 0 && answer->label == model_find(m, label, n))
        failed = spt_scores(m->spt, m->event, scores, labels > 2 ? labels : 2, &found, error);
    else
        found = 0;
    if (!failed && found == 1)
        *unsure = fabs(scores[0]) < margin;
    else if (!failed && found > 1) {
        double best = -INFINITY, second = -INFINITY;
        for (size_t i = 0; i < found; i++) {
            if (scores[i] > best) {
                second = best;
                best = scores[i];
            } else if (scores[i] > second)
                second = scores[i];
        }
        *unsure = best - second < margin;
    }
    if (scores != few)
        free(scores);
    return failed;
}

/* --- Saving */

/* What the file will say about the lines: what it said, with today's names and corrections. */
static void add_lines(const model *m, bytes *to)
{
    const json *j = &m->lines;
    bytes_word(to, "{");
    for (size_t at = 1; at < j->nodes[0].next; at = j->nodes[at + 1].next) {
        const json_node *its = &j->nodes[at + 1];
        if (json_is(j, at, "spool") || (json_is(j, at, "mails") && m->has_known))
            continue;
        bytes_word(to, to->n > 1 ? "," : "");
        bytes_add(to, j->text + j->nodes[at].start, j->nodes[at].end - j->nodes[at].start);
        bytes_word(to, ":");
        if (!json_is(j, at, "names") || !m->binary) {
            bytes_add(to, j->text + its->start, its->end - its->start);
            continue;
        }
        for (int i = 0; i < 2; i++) {
            bytes_word(to, i ? "," : "[");
            if (m->names[i] == NULL)
                bytes_word(to, "null");
            else
                add_json(to, m->names[i], strlen(m->names[i]));
        }
        bytes_word(to, "]");
    }
    if (m->spool.n > 0) {
        bytes_word(to, ",\"spool\":{\"learned\":[");
        for (size_t at = 0; at < m->spool.n; at += strlen(m->spool.p + at) + 1) {
            bytes_word(to, at ? "," : "");
            add_json(to, m->spool.p + at, strlen(m->spool.p + at));
        }
        bytes_word(to, "]}");
    }
    if (m->has_known && m->known.n > 0) {
        bytes_word(to, ",\"mails\":{\"known\":\"");
        bytes_add(to, m->known.p, m->known.n);
        bytes_word(to, "\"}");
    }
    bytes_word(to, "}");
    to->failed = to->failed || m->known.failed;
}

int model_save(model *m, const char *path, spt_error *error)
{
    if (m->changed) {
        bytes lines = {0};
        add_lines(m, &lines);
        int failed = lines.failed ? no_memory(error)
                                  : spt_put_lines(m->spt, lines.p, lines.n, error);
        bytes_free(&lines);
        if (failed)
            return failed;
        m->changed = false;
    }
    return spt_save(m->spt, path, error);
}
