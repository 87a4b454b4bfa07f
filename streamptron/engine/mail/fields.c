#include "mail/fields.h"

#include "mail/decode.h"

#include <string.h>

static bool sp_is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

/* Space as a value has it: also where its line ends. */
static bool sp_is_gap(uint8_t c)
{
    return sp_is_blank(c) || c == '\r' || c == '\n';
}

static bool sp_is_empty_line(const uint8_t *p, const uint8_t *end)
{
    return *p == '\n' || (*p == '\r' && (p + 1 == end || p[1] == '\n'));
}

/* Where the name of a field ends that begins at p; NULL if there is no colon behind it. */
static const uint8_t *sp_name_end(const uint8_t *p, const uint8_t *end)
{
    while (p<end && * p> ' ' && *p < 0x7F && *p != ':')
        p++;
    return p < end && *p == ':' ? p : NULL;
}

SP_PRIVATE bool sp_mail_header_next(sp_mail_header *header, sp_header_field *field)
{
    const uint8_t *end = header->end;
    while (header->p < end && !sp_is_empty_line(header->p, end)) {
        const uint8_t *start = header->p;
        const uint8_t *name_end = NULL;
        if (start - header->start < SP_MAIL_HEADER_MOST)
            name_end = sp_name_end(start, end);
        do
            header->p = sp_line_end(header->p, end);
        while (header->p < end && sp_is_blank(*header->p));
        if (name_end == NULL)
            continue;
        field->n_name = SP_MIN((size_t)(name_end - start), (size_t)SP_HEADER_NAME_MOST);
        for (size_t i = 0; i < field->n_name; i++) {
            uint8_t c = start[i];
            field->name[i] = c >= 'A' && c <= 'Z' ? c | 32 : c;
        }
        field->name[field->n_name] = 0;
        field->value = name_end + 1;
        while (field->value < header->p && sp_is_gap(*field->value))
            field->value++;
        field->n = SP_MIN((size_t)(header->p - field->value), (size_t)SP_HEADER_VALUE_MOST);
        return true;
    }
    header->p = header->p < end ? sp_line_end(header->p, end) : end;
    return false;
}

/* The end of the encoded word at p: =?charset?kind?text?=. NULL if it is not one. `text`: where
   that begins. */
static const uint8_t *sp_encoded_end(const uint8_t *p, const uint8_t *end, const uint8_t **text)
{
    p += 2;
    while (p < end && *p != '?' && *p != ' ' && (*p < '\t' || *p > '\r'))
        p++;
    if (end - p < 5 || *p != '?' || p[2] != '?')
        return NULL;
    uint8_t kind = p[1] | 32;
    if (kind != 'b' && kind != 'q')
        return NULL;
    *text = p + 3;
    p = (const uint8_t *)memchr(p + 3, '?', (size_t)(end - p - 3));
    return p == NULL || end - p < 2 || p[1] != '=' ? NULL : p + 2;
}

/* Whether all of it is space, which is not seen between two encoded words. */
static bool sp_all_space(const uint8_t *p, const uint8_t *end)
{
    while (p < end && sp_is_gap(*p))
        p++;
    return p == end;
}

SP_PRIVATE size_t sp_encoded_words(const uint8_t *p, size_t n, uint8_t *to)
{
    const uint8_t *end = p + n;
    const uint8_t *at = p; /* what comes before it has been written */
    const uint8_t *start = p;
    const uint8_t *text;
    size_t o = 0;
    while (end - start > 1) {
        start = (const uint8_t *)memchr(start, '=', (size_t)(end - start - 1));
        if (start == NULL)
            break;
        const uint8_t *last = start[1] == '?' ? sp_encoded_end(start, end, &text) : NULL;
        if (last == NULL) {
            start++;
            continue;
        }
        if (at == p || !sp_all_space(at, start)) {
            memcpy(to + o, at, (size_t)(start - at));
            o += (size_t)(start - at);
        }
        size_t length = (size_t)(last - 2 - text);
        if ((text[-2] | 32) == 'b')
            o += sp_base64(text, length, to + o);
        else
            o += sp_quoted(text, length, true, to + o);
        at = start = last;
    }
    memcpy(to + o, at, (size_t)(end - at));
    return o + (size_t)(end - at);
}
