#include "mail/parts.h"

#include "mail/charset.h"
#include "mail/decode.h"
#include "mail/parameter.h"
#include "memory/grow.h"

#include <string.h>

/* The next boundary line, from p on; NULL if there is none. `next`: behind it, or NULL if it is the
   last one. */
static const uint8_t *sp_boundary_line(const sp_multipart *m, const uint8_t *p,
                                       const uint8_t **next)
{
    while (p < m->end) {
        const uint8_t *end = sp_line_end(p, m->end);
        if ((size_t)(end - p) >= m->n_mark + 2 && p[0] == '-' && p[1] == '-'
            && memcmp(p + 2, m->mark, m->n_mark) == 0) {
            const uint8_t *rest = p + 2 + m->n_mark;
            bool last = end - rest >= 2 && rest[0] == '-' && rest[1] == '-';
            if (last || sp_skip_gap(rest, 0, (size_t)(end - rest)) == (size_t)(end - rest)) {
                *next = last ? NULL : end;
                return p;
            }
        }
        p = end;
    }
    return NULL;
}

/* Begin to read an entity, which begins with its header. */
static void sp_walk_entity(sp_mail_walk *walk, const uint8_t *p, const uint8_t *end, int level)
{
    sp_mail_header_begin(&walk->header, p, end);
    walk->end = end;
    walk->in_header = true;
    walk->level = level;
    walk->type = NULL;
    walk->n_type = 0;
    walk->rank = 0;
    walk->encoded = SP_ENCODED_PLAIN;
}

SP_PRIVATE void sp_walk_begin(sp_mail_walk *walk, const uint8_t *p, size_t n, sp_held *held)
{
    walk->held = held;
    held->n = 0;
    held->most = SP_MIN(SP_LEVELS_MOST * n, (size_t)SP_TEXTS_MOST);
    walk->room_held = SP_TEXTS_MOST;
    sp_walk_entity(walk, p, p + n, 0);
    walk->n_open = 0;
    walk->n_parts = 0;
    walk->room = SP_TEXTS_MOST;
}

/* Go into an entity inside another one. False if there were too many. */
static bool sp_walk_into(sp_mail_walk *walk, const uint8_t *p, const uint8_t *end, int level)
{
    if (walk->n_parts == SP_PARTS_MOST)
        return false;
    walk->n_parts++;
    sp_walk_entity(walk, p, end, level);
    return true;
}

/* Go to the next part of the open multiparts. False if there is none. */
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

/* Open a multipart. False if it has no parts. */
static bool sp_walk_open(sp_mail_walk *walk)
{
    sp_multipart *m = &walk->open[walk->n_open];
    if (walk->level >= SP_LEVELS_MOST)
        return false;
    m->n_mark = sp_parameter(walk->type, walk->n_type, "boundary", m->mark);
    m->end = walk->end;
    m->level = walk->level;
    if (m->n_mark == 0 || sp_boundary_line(m, walk->header.p, &m->p) == NULL || m->p == NULL)
        return false;
    walk->n_open++;
    return true;
}

/* How much a Content-Type says. If a header has several, the first of those with the highest rank
   counts. */
static int sp_type_rank(const uint8_t *p, size_t n)
{
    uint8_t mark[SP_PARAMETER_MOST];
    size_t k = sp_value_word(p, n);
    if (memchr(p, '/', k) == NULL)
        return 2;
    if (sp_begins_with(p, k, "multipart/"))
        return sp_parameter(p, n, "boundary", mark) ? 5 : 2;
    if (sp_is_word(p, k, "message/rfc822"))
        return 4;
    if (sp_is_word(p, k, "text/html"))
        return 3;
    return sp_begins_with(p, k, "text/") || sp_begins_with(p, k, "message/") ? 2 : 1;
}

/* Keep what a header field says about the body. Returns whether the field itself is wanted. */
static bool sp_walk_field(sp_mail_walk *walk, const sp_header_field *field)
{
    const char *name = (const char *)field->name;
    if (strcmp(name, "content-type") == 0) {
        int rank = sp_type_rank(field->value, field->n);
        if (rank > walk->rank) {
            walk->rank = rank;
            walk->type = field->value;
            walk->n_type = field->n;
        }
        return true;
    }
    if (strcmp(name, "content-transfer-encoding") == 0 && walk->encoded == SP_ENCODED_PLAIN) {
        size_t n = sp_value_word(field->value, field->n);
        if (sp_is_word(field->value, n, "base64"))
            walk->encoded = SP_ENCODED_BASE64;
        else if (sp_is_word(field->value, n, "quoted-printable"))
            walk->encoded = SP_ENCODED_QUOTED;
    }
    return walk->n_parts == 0 || strcmp(name, "content-disposition") == 0;
}

/* Go into a mail inside the mail, decoding it if needed. -1 if out of memory. */
static int sp_walk_mail(sp_mail_walk *walk, bool *ended)
{
    const uint8_t *p = walk->header.p;
    const uint8_t *end = walk->end;
    if (walk->encoded != SP_ENCODED_PLAIN) {
        sp_held *held = walk->held;
        size_t n = SP_MIN((size_t)(end - p), SP_MIN(walk->room_held, held->most - held->n));
        /* all at once, so that it never moves */
        if (sp_grow((void **)&held->p, &held->capacity, held->most, 1) < 0)
            return -1;
        uint8_t *to = held->p + held->n;
        walk->room_held -= n;
        n = walk->encoded == SP_ENCODED_BASE64 ? sp_base64(p, n, to) : sp_quoted(p, n, false, to);
        held->n += n;
        p = to;
        end = to + n;
    }
    *ended = !sp_walk_into(walk, p, end, walk->level + 1);
    return 0;
}

/* The header has ended. 1 if the body is a text, now in `item`; 0: the walk continues, or has
   ended; -1 if out of memory. */
static int sp_walk_body(sp_mail_walk *walk, sp_item *item, bool *ended)
{
    const uint8_t *body = walk->header.p;
    size_t n_kind = walk->type == NULL ? 0 : sp_value_word(walk->type, walk->n_type);
    const uint8_t *kind = walk->type;
    bool plain = n_kind == 0 || memchr(kind, '/', n_kind) == NULL;
    uint8_t charset[SP_PARAMETER_MOST];
    *ended = false;
    walk->in_header = false;
    if (!plain && sp_begins_with(kind, n_kind, "multipart/")) {
        if (sp_walk_open(walk))
            return 0;
        plain = true;
    }
    if (!plain && walk->level < SP_LEVELS_MOST && sp_is_word(kind, n_kind, "message/rfc822"))
        return sp_walk_mail(walk, ended);
    if (!plain && !sp_begins_with(kind, n_kind, "text/")
        && !sp_begins_with(kind, n_kind, "message/"))
        return 0;
    item->is_text = true;
    item->text = body;
    item->n = SP_MIN((size_t)(walk->end - body), SP_MIN((size_t)SP_PART_TEXT_MOST, walk->room));
    item->encoded = walk->encoded;
    item->html = !plain && sp_is_word(kind, n_kind, "text/html");
    n_kind = walk->type == NULL ? 0 : sp_parameter(kind, walk->n_type, "charset", charset);
    item->charset = n_kind ? sp_charset_of(charset, n_kind) : SP_CHARSET_UNKNOWN;
    walk->room -= item->n;
    return 1;
}

SP_PRIVATE int sp_walk_next(sp_mail_walk *walk, sp_item *item)
{
    bool ended;
    while (true) {
        while (walk->in_header) {
            if (sp_mail_header_next(&walk->header, &item->field)) {
                item->is_text = false;
                item->is_part = walk->n_parts > 0;
                if (sp_walk_field(walk, &item->field))
                    return 1;
                continue;
            }
            int found = sp_walk_body(walk, item, &ended);
            if (found || ended)
                return found;
        }
        if (!sp_walk_part(walk))
            return 0;
    }
}
