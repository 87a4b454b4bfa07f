#include "answers.h"

#include "texts.h"

#include <stdlib.h>
#include <string.h>

enum { LITERAL = 'l', FIELD = 'f' };

static const char unsure[] = "unsure";

/* --- Templates */

static void put_piece(answers *a, char kind, const bytes *text)
{
    if (kind == LITERAL && text->n == 0)
        return;
    bytes_add(&a->pieces, &kind, 1);
    bytes_add(&a->pieces, text->p, text->n);
    bytes_add(&a->pieces, "", 1);
    a->n_pieces++;
}

/* Parse a field, starting after its brace. NULL, or what is wrong. */
static const char *take_field(answers *a, const char **at, bytes *text)
{
    static char wrong[256];
    const char *end = strchr(*at, '}');
    if (end == NULL)
        return **at == 0 ? "Single '{' encountered in format string"
                         : "expected '}' before end of string";
    size_t n = (size_t)(end - *at), name = strcspn(*at, "!:}");
    text->n = 0;
    bytes_add(text, *at, name < n ? name : n);
    if (bytes_text(text) == NULL)
        return "no memory";
    if (name < n) {
        bytes said = {0};
        bytes_print(&said, "{%s} takes no format, such as :>9 or !r", text->p);
        strncpy(wrong, bytes_text(&said) == NULL ? "no memory" : said.p, sizeof(wrong) - 1);
        bytes_free(&said);
        return wrong;
    }
    if (n == 0)
        return "{} names nothing";
    if (strcmp(text->p, "top") == 0 && a->top == 0)
        return "{top} needs --top";
    a->has_text = a->has_text || strcmp(text->p, "text") == 0;
    put_piece(a, FIELD, text);
    *at = end + 1;
    return NULL;
}

static const char *take_apart(answers *a, const char *template, bytes *text)
{
    bytes field = {0};
    const char *wrong = NULL;
    text->n = 0;
    for (const char *at = template; *at && wrong == NULL;) {
        char c = *at++;
        if ((c == '{' || c == '}') && *at == c) {
            bytes_add(text, at++, 1);
            continue;
        }
        if (c == '\n' || c == '\r')
            wrong = "it is more than a line";
        else if (c == '}')
            wrong = "Single '}' encountered in format string";
        else if (c == '{') {
            put_piece(a, LITERAL, text);
            text->n = 0;
            wrong = take_field(a, &at, &field);
        } else
            bytes_add(text, &c, 1);
    }
    put_piece(a, LITERAL, text);
    bytes_free(&field);
    return wrong;
}

/* The template's first field that is a field of lines. */
static const char *field_of_lines(const answers *a)
{
    static const char *const own[] = {"label", "probability", "text", "top"};
    const char *piece = a->pieces.p;
    for (size_t i = 0; i < a->n_pieces; i++, piece += strlen(piece) + 1) {
        bool ours = piece[0] == LITERAL;
        for (size_t k = 0; k < sizeof(own) / sizeof(own[0]); k++)
            ours = ours || strcmp(piece + 1, own[k]) == 0;
        if (!ours)
            return piece + 1;
    }
    return NULL;
}

const char *answers_begin(answers *a)
{
    bytes text = {0};
    if (a->form != AS_TEMPLATE)
        return NULL;
    const char *wrong = take_apart(a, a->template, &text);
    if (wrong == NULL && (text.failed || a->pieces.failed))
        wrong = "no memory";
    bytes_free(&text);
    a->field = wrong == NULL ? field_of_lines(a) : NULL;
    return wrong;
}

void answers_free(answers *a)
{
    bytes_free(&a->pieces);
}

/* --- Answers */

static void add_label(const answers *a, const model *m, ptrdiff_t label, double probability,
                      bool may_be_unsure, bytes *to)
{
    size_t n = sizeof(unsure) - 1;
    const char *name = unsure;
    bool as_json = a->form != AS_LINE && a->form != AS_TEMPLATE;
    if (!(may_be_unsure && probability < a->least))
        name = model_name(m, (size_t)label, &n);
    if (!as_json) {
        add_in_line(to, name, n);
        return;
    }
    bytes line = {0};
    add_in_line(&line, name, n);
    add_json(to, line.p, line.n);
    to->failed = to->failed || line.failed;
    bytes_free(&line);
}

static void add_likeliest(const answers *a, const model *m, const answered *its, size_t first,
                          bytes *to)
{
    bool as_json = a->form != AS_LINE && a->form != AS_TEMPLATE;
    bytes_word(to, as_json ? "[" : "");
    for (size_t i = first; i < its->n_likeliest; i++) {
        const choice *each = &its->likeliest[i];
        bytes_word(to, as_json ? (i > first ? ", {\"label\": " : "{\"label\": ")
                               : (i > 0 ? "\t" : ""));
        add_label(a, m, each->label, each->probability, false, to);
        bytes_print(to, as_json ? ", \"probability\": " PROBABILITY "}" : "\t" PROBABILITY,
                    each->probability);
    }
    bytes_word(to, as_json ? "]" : "");
}

/* "label": ..., "probability": ... and so on, without braces. */
static void add_pairs(const answers *a, const model *m, const answered *its, bytes *to)
{
    bool none = its->answer.label < 0;
    bytes_word(to, "\"label\": ");
    if (none)
        bytes_word(to, "null");
    else
        add_label(a, m, its->answer.label, its->answer.probability, true, to);
    if (none)
        bytes_word(to, ", \"probability\": null");
    else
        bytes_print(to, ", \"probability\": " PROBABILITY, its->answer.probability);
    if (a->top == 0)
        return;
    bytes_word(to, ", \"top\": ");
    if (none)
        bytes_word(to, "null");
    else
        add_likeliest(a, m, its, 0, to);
}

/* A JSON object without its closing brace, and without names that are written there later. */
static void add_object(const answers *a, const answered *its, bytes *to)
{
    static const char *const own[] = {"label", "probability", "top"};
    const json *j = its->object;
    size_t n = a->top ? 3 : 2, written = 0;
    bool has_own = false;
    if (j == NULL || j->n_nodes == 0 || j->nodes[0].n == 0) {
        bytes_word(to, "{");
        return;
    }
    for (size_t i = 0; i < n; i++)
        has_own = has_own || json_get(j, 0, own[i], strlen(own[i])) != 0;
    if (!has_own) {
        bytes_add(to, its->line, j->nodes[0].end - 1); /* the line itself, up to its brace */
        bytes_word(to, ", ");
        return;
    }
    bytes_word(to, "{");
    for (size_t at = 1; at < j->nodes[0].next; at = j->nodes[at + 1].next) {
        bool is_own = false;
        for (size_t i = 0; i < n; i++)
            is_own = is_own || json_is(j, at, own[i]);
        if (is_own)
            continue;
        bytes_word(to, written++ ? ", " : "");
        json_add(j, at, to);
        bytes_word(to, ": ");
        json_add(j, at + 1, to);
    }
    bytes_word(to, written ? ", " : "");
}

/* A field as a template shows it, on one line: a text as it is, anything else as JSON. */
static void add_field(const answered *its, const char *path, bytes *to, const char **lacks)
{
    size_t n, node = its->object == NULL ? 0 : json_path(its->object, path);
    if (node == 0 || its->object->nodes[node].type == JSON_NULL) {
        *lacks = its->object != NULL ? path : *lacks;
        return;
    }
    if (its->object->nodes[node].type == JSON_STRING) {
        const char *p = json_string(its->object, node, &n);
        add_in_line(to, p, n);
    } else
        json_add(its->object, node, to);
}

static void add_filled(const answers *a, const model *m, const answered *its, bytes *to,
                       const char **lacks)
{
    const char *piece = a->pieces.p;
    bool none = its->answer.label < 0;
    for (size_t i = 0; i < a->n_pieces; i++, piece += strlen(piece) + 1) {
        const char *name = piece + 1;
        if (piece[0] == LITERAL)
            bytes_word(to, name);
        else if (strcmp(name, "text") == 0)
            bytes_add(to, its->text, its->text == NULL ? 0 : its->n);
        else if (strcmp(name, "label") == 0 && !none)
            add_label(a, m, its->answer.label, its->answer.probability, true, to);
        else if (strcmp(name, "probability") == 0 && !none)
            bytes_print(to, PROBABILITY, its->answer.probability);
        else if (strcmp(name, "top") == 0 && !none)
            add_likeliest(a, m, its, 0, to);
        else if (strcmp(name, "label") && strcmp(name, "probability") && strcmp(name, "top"))
            add_field(its, name, to, lacks);
    }
}

void answer_add(const answers *a, const model *m, const answered *its, bytes *to,
                const char **lacks)
{
    bool none = its->answer.label < 0;
    switch (a->form) {
    case AS_LINE:
        if (!none)
            add_label(a, m, its->answer.label, its->answer.probability, true, to);
        bytes_word(to, "\t");
        if (!none)
            bytes_print(to, PROBABILITY, its->answer.probability);
        if (!none && a->top)
            add_likeliest(a, m, its, 1, to);
        break;
    case AS_JSON:
        bytes_word(to, "{");
        add_pairs(a, m, its, to);
        bytes_word(to, "}");
        break;
    case AS_RSYSLOG:
        bytes_word(to, "{\"$!\": {");
        add_pairs(a, m, its, to);
        bytes_word(to, "}}");
        break;
    case AS_MERGED:
        add_object(a, its, to);
        add_pairs(a, m, its, to);
        bytes_word(to, "}");
        break;
    case AS_TEMPLATE:
        add_filled(a, m, its, to, lacks);
        break;
    }
    bytes_word(to, "\n");
}
