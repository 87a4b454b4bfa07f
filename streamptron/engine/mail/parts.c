#include "mail/parts.h"

#include <string.h>

/* The length of the word that a value begins with: up to a semicolon or space. */
static size_t sp_value_word(const uint8_t *p, size_t n)
{
    size_t i = 0;
    while (i < n && p[i] != ';' && p[i] != ' ' && (p[i] < '\t' || p[i] > '\r'))
        i++;
    return i;
}

/* Whether n bytes begin with a word, whatever their case. */
static bool sp_begins_with(const uint8_t *p, size_t n, const char *word)
{
    size_t i = 0;
    while (word[i] != 0 && i < n) {
        uint8_t c = p[i];
        if ((c >= 'A' && c <= 'Z' ? c | 32 : c) != (uint8_t)word[i])
            return false;
        i++;
    }
    return word[i] == 0;
}

static bool sp_is_word(const uint8_t *p, size_t n, const char *word)
{
    return n == strlen(word) && sp_begins_with(p, n, word);
}

static size_t sp_mail_skip_space(const uint8_t *p, size_t i, size_t n)
{
    while (i < n && (p[i] == ' ' || p[i] == '\t' || p[i] == '\r' || p[i] == '\n'))
        i++;
    return i;
}

/* The boundary that a Content-Type names: its length, 0 if it names none. */
static size_t sp_boundary(const uint8_t *p, size_t n, const uint8_t **mark)
{
    for (size_t i = 0; i < n; i++) {
        if (!sp_begins_with(p + i, n - i, "boundary"))
            continue;
        size_t at = sp_mail_skip_space(p, i + 8, n);
        if (at == n || p[at] != '=')
            continue;
        at = sp_mail_skip_space(p, at + 1, n);
        if (at < n && p[at] == '"') {
            const uint8_t *last = (const uint8_t *)memchr(p + at + 1, '"', n - at - 1);
            if (last == NULL)
                continue;
            *mark = p + at + 1;
            return (size_t)(last - *mark);
        }
        size_t last = at;
        while (last < n && p[last] != '"' && p[last] != ';' && p[last] != ' '
               && (p[last] < '\t' || p[last] > '\r'))
            last++;
        if (last == at)
            continue;
        *mark = p + at;
        return last - at;
    }
    return 0;
}

/* The first line from p on that is a boundary; NULL if there is none. `next`: behind it, or NULL
   if it is the last. */
static const uint8_t *sp_boundary_line(const sp_multipart *m, const uint8_t *p,
                                       const uint8_t **next)
{
    while (p < m->end) {
        const uint8_t *end = sp_line_end(p, m->end);
        if ((size_t)(end - p) >= m->n_mark + 2 && p[0] == '-' && p[1] == '-'
            && memcmp(p + 2, m->mark, m->n_mark) == 0) {
            const uint8_t *rest = p + 2 + m->n_mark;
            bool last = end - rest >= 2 && rest[0] == '-' && rest[1] == '-';
            if (last || sp_mail_skip_space(rest, 0, (size_t)(end - rest)) == (size_t)(end - rest)) {
                *next = last ? NULL : end;
                return p;
            }
        }
        p = end;
    }
    return NULL;
}

/* Begin to read an entity: its header comes first. */
static void sp_walk_entity(sp_mail_walk *walk, const uint8_t *p, const uint8_t *end, int level)
{
    walk->header.start = walk->header.p = p;
    walk->header.end = walk->end = end;
    walk->in_header = true;
    walk->level = level;
    walk->type = NULL;
    walk->n_type = 0;
    walk->encoded = SP_ENCODED_PLAIN;
    walk->is_encoded = false;
}

SP_PRIVATE void sp_walk_begin(sp_mail_walk *walk, const uint8_t *p, size_t n)
{
    sp_walk_entity(walk, p, p + n, 0);
    walk->n_open = 0;
    walk->n_parts = 0;
    walk->room = SP_TEXTS_MOST;
}

/* Go down to an entity inside another one. false if there have been too many. */
static bool sp_walk_into(sp_mail_walk *walk, const uint8_t *p, const uint8_t *end, int level)
{
    if (walk->n_parts == SP_PARTS_MOST)
        return false;
    walk->n_parts++;
    sp_walk_entity(walk, p, end, level);
    return true;
}

/* Go on to the next part of the multiparts that are open. false if there is none. */
static bool sp_walk_part(sp_mail_walk *walk)
{
    while (walk->n_open) {
        sp_multipart *m = &walk->open[walk->n_open - 1];
        const uint8_t *next = NULL;
        if (m->p == NULL) {
            walk->n_open--;
            continue;
        }
        const uint8_t *start = m->p;
        const uint8_t *end = sp_boundary_line(m, start, &next);
        m->p = next;
        return sp_walk_into(walk, start, end == NULL ? m->end : end, m->level + 1);
    }
    return false;
}

/* Open a multipart. false if it has no part. */
static bool sp_walk_open(sp_mail_walk *walk)
{
    sp_multipart *m = &walk->open[walk->n_open];
    if (walk->level >= SP_LEVELS_MOST)
        return false;
    m->n_mark = sp_boundary(walk->type, walk->n_type, &m->mark);
    m->end = walk->end;
    m->level = walk->level;
    if (m->n_mark == 0 || sp_boundary_line(m, walk->header.p, &m->p) == NULL || m->p == NULL)
        return false;
    walk->n_open++;
    return true;
}

/* A field of the header: keep what it says of the body. Whether it is one to be given. */
static bool sp_walk_field(sp_mail_walk *walk, const sp_header_field *field)
{
    const char *name = (const char *)field->name;
    if (strcmp(name, "content-type") == 0) {
        if (walk->type == NULL) {
            walk->type = field->value;
            walk->n_type = field->n;
        }
        return true;
    }
    if (strcmp(name, "content-transfer-encoding") == 0 && !walk->is_encoded) {
        size_t n = sp_value_word(field->value, field->n);
        walk->is_encoded = true;
        if (sp_is_word(field->value, n, "base64"))
            walk->encoded = SP_ENCODED_BASE64;
        else if (sp_is_word(field->value, n, "quoted-printable"))
            walk->encoded = SP_ENCODED_QUOTED;
    }
    return walk->n_parts == 0 || strcmp(name, "content-disposition") == 0;
}

/* The header has ended. Whether the body is a text, in `item`; else the walk goes on, or ends. */
static bool sp_walk_body(sp_mail_walk *walk, sp_item *item, bool *ended)
{
    const uint8_t *body = walk->header.p;
    size_t n_kind = walk->type == NULL ? 0 : sp_value_word(walk->type, walk->n_type);
    const uint8_t *kind = walk->type;
    bool plain = n_kind == 0 || memchr(kind, '/', n_kind) == NULL;
    *ended = false;
    walk->in_header = false;
    if (!plain && sp_begins_with(kind, n_kind, "multipart/")) {
        if (sp_walk_open(walk))
            return false;
        plain = true;
    }
    if (!plain && walk->level < SP_LEVELS_MOST && sp_is_word(kind, n_kind, "message/rfc822")) {
        if (!sp_walk_into(walk, body, walk->end, walk->level + 1))
            *ended = true;
        return false;
    }
    if (!plain && !sp_begins_with(kind, n_kind, "text/")
        && !sp_begins_with(kind, n_kind, "message/"))
        return false;
    item->is_text = true;
    item->text = body;
    item->n = SP_MIN((size_t)(walk->end - body), SP_MIN((size_t)SP_PART_TEXT_MOST, walk->room));
    item->encoded = walk->encoded;
    item->html = !plain && sp_is_word(kind, n_kind, "text/html");
    walk->room -= item->n;
    return true;
}

SP_PRIVATE bool sp_walk_next(sp_mail_walk *walk, sp_item *item)
{
    bool ended;
    while (true) {
        while (walk->in_header) {
            if (sp_mail_header_next(&walk->header, &item->field)) {
                item->is_text = false;
                item->is_part = walk->n_parts > 0;
                if (sp_walk_field(walk, &item->field))
                    return true;
                continue;
            }
            if (sp_walk_body(walk, item, &ended))
                return true;
            if (ended)
                return false;
        }
        if (!sp_walk_part(walk))
            return false;
    }
}
