#include "records.h"

#include "texts.h"

#include <math.h>
#include <string.h>

enum { SHOWN = 80 }; /* characters shown in a message */

static record_is bad(bytes *why, const char *words)
{
    bytes_word(why, words);
    return RECORD_BAD;
}

static record_is read_plain(line_kind kind, record *found, bytes *why)
{
    const char *tab = kind == LINE_TEXT ? NULL : memchr(found->text, '\t', found->n);
    if (tab == NULL)
        return kind == LINE_LABELLED ? bad(why, "no TAB; write label<TAB>text") : RECORD_EVENT;
    found->label = found->text;
    found->n_label = (size_t)(tab - found->text);
    found->text = tab + 1;
    found->n -= found->n_label + 1;
    return found->n_label == 0 ? bad(why, "its label is empty") : RECORD_EVENT;
}

static bool is_blank(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] != ' ' && !(p[i] >= '\t' && p[i] <= '\r'))
            return false;
    }
    return true;
}

/* A text with U+FFFD for each lone surrogate. */
static void add_replaced(bytes *to, const char *p, size_t n)
{
    for (size_t at = 0, length; at < n; at += length) {
        int32_t c = character_at(p + at, n - at, &length);
        if (c >= 0xD800 && c <= 0xDFFF)
            bytes_word(to, "\xEF\xBF\xBD");
        else
            bytes_add(to, p + at, length);
    }
}

/* A value of an object, as messages show it. */
static void add_value(const json *j, size_t node, bytes *why)
{
    bytes whole = {0};
    if (node == 0 && j->nodes[0].type == JSON_OBJECT)
        bytes_word(&whole, "None"); /* there is none */
    else
        json_show(j, node, &whole);
    add_cut(why, &whole, SHOWN);
    bytes_free(&whole);
}

static record_is read_label(record_reader *r, record *found, bytes *why)
{
    const json *j = &r->object;
    size_t node = json_path(j, r->label_field), n;
    json_type type = node ? j->nodes[node].type : JSON_NULL;
    r->label.n = 0;
    if (type == JSON_STRING) {
        const char *p = json_string(j, node, &n);
        if (n == 0)
            return bad(why, "the label is empty; give each line one");
        if (!is_utf8(p, n)) {
            bytes_word(why, "the label ");
            add_shown(why, p, n, false, SHOWN);
            return bad(why, " is not UTF-8; give the file's encoding, or convert it");
        }
        bytes_add(&r->label, p, n);
    } else if (type == JSON_LIST || type == JSON_OBJECT || (type == JSON_NULL && r->label_needed)
               || (type == JSON_NUMBER && !isfinite(json_number(j, node)))) {
        bytes_word(why, "the label ");
        add_value(j, node, why);
        return bad(why,
                   "; it must be a text, a number or true or false, and not missing");
    } else if (type == JSON_NULL)
        return RECORD_EVENT;
    else
        json_add(j, node, &r->label);
    found->label = r->label.p;
    found->n_label = r->label.n;
    return RECORD_EVENT;
}

static record_is read_object(record_reader *r, const char *line, record *found, bytes *why)
{
    json *j = &r->object;
    size_t n;
    j->n_nodes = 0;
    if (is_blank(line, found->n))
        return RECORD_BLANK;
    if (!is_utf8(line, found->n))
        return bad(why, "not UTF-8; give the file's encoding, or convert it");
    if (!json_read(j, line, found->n)) {
        if (j->wrong == NULL)
            why->failed = true;
        else
            bytes_print(why, "not JSON (%s); write one object per line", j->wrong);
        j->n_nodes = 0;
        return RECORD_BAD;
    }
    if (j->nodes[0].type != JSON_OBJECT) {
        bytes_word(why, "JSON, but not an object: ");
        add_value(j, 0, why);
        j->n_nodes = 0;
        return bad(why, "; write one object per line");
    }
    found->has_object = true;
    if (r->label_field != NULL && read_label(r, found, why) != RECORD_EVENT)
        return RECORD_BAD;
    size_t node = json_path(j, r->text_field);
    if (node == 0 || j->nodes[node].type != JSON_STRING) {
        bytes_word(why, "the text ");
        add_value(j, node, why);
        return bad(why, "; it must be a text, and not missing");
    }
    const char *p = json_string(j, node, &n);
    r->text.n = 0;
    add_replaced(&r->text, p, n);
    why->failed = why->failed || r->text.failed || r->label.failed;
    found->text = r->text.n ? r->text.p : "";
    found->n = r->text.n;
    return RECORD_EVENT;
}

record_is record_read(record_reader *r, const char *line, size_t n, record *found, bytes *why)
{
    *found = (record){line, NULL, n, 0, false};
    if (r->kind == LINE_MAIL)
        return RECORD_EVENT;
    if (n > 0 && line[n - 1] == '\r')
        found->n--;
    if (r->kind == LINE_OBJECT)
        return read_object(r, line, found, why);
    return found->n == 0 ? RECORD_BLANK : read_plain(r->kind, found, why);
}

void record_end(record_reader *r)
{
    json_free(&r->object);
    bytes_free(&r->text);
    bytes_free(&r->label);
}
