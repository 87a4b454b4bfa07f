#include "mail/fields.h"

#include "mail/charset.h"
#include "mail/decode.h"
#include "mail/glob.h"

#include <string.h>

/* Patterns of the fields that are left out: of other filters, and of this one; of mailboxes, and of
   programs that read mail. Before each is its length. */
static const char sp_header_left_out[] =
    "\010x-*spam*\0\012x-bogosity\0\012x-crm114-*\0\022x-ms-exchange-*scl\0\015x-streamptron\0"
    "\016x-popfile-link\0\015x-text-class*\0\016x-gmail-labels\0\006x-gm-*\0\013x-mozilla-*\0"
    "\014x-evolution*\0\007x-imap*\0\015x-account-key\0\007x-label\0\012x-keywords\0"
    "\010x-status\0\005x-uid\0\006x-uidl\0\006status\0\016content-length\0\005lines\0";

static bool sp_is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

/* White space in a value, which includes line ends. */
static bool sp_is_gap(uint8_t c)
{
    return sp_is_blank(c) || c == '\r' || c == '\n';
}

static bool sp_is_empty_line(const uint8_t *p, const uint8_t *end)
{
    return *p == '\n' || (*p == '\r' && (p + 1 == end || p[1] == '\n'));
}

/* The end of a field's name, which begins at p; NULL if no colon follows it. */
static const uint8_t *sp_name_end(const uint8_t *p, const uint8_t *end)
{
    while (p<end && * p> ' ' && *p < 0x7F && *p != ':')
        p++;
    return p < end && *p == ':' ? p : NULL;
}

static bool sp_header_leaves_out(const uint8_t *name, size_t n)
{
    uint8_t first = n > 2 ? sp_ascii_lower(*name) : 0;
    uint8_t third = n > 2 ? sp_ascii_lower(name[2]) : 0; /* most names differ here, after x- */
    if (first != 'x' && first != 's' && first != 'c' && first != 'l')
        return false;
    for (const char *pattern = sp_header_left_out + 1; pattern[-1]; pattern += pattern[-1] + 2) {
        if ((uint8_t)*pattern == first && ((uint8_t)pattern[2] == third || pattern[2] == '*')
            && sp_glob(pattern, name, n))
            return true;
    }
    return false;
}

static bool sp_is_mbox_line(const uint8_t *p, const uint8_t *end)
{
    return (end - p >= 5 && memcmp(p, "From ", 5) == 0)
           || (end - p >= 6 && memcmp(p, ">From ", 6) == 0);
}

SP_PRIVATE void sp_mail_header_begin(sp_mail_header *header, const uint8_t *p, const uint8_t *end)
{
    while (sp_is_mbox_line(p, end))
        p = sp_line_end(p, end);
    const uint8_t *name_end = sp_name_end(p, end);
    header->start = header->p = p;
    header->end = end;
    header->is_there = (name_end != NULL && name_end > p) || (p < end && sp_is_empty_line(p, end));
}

/* Read the next field: returns where its line begins, and where its name ends; NULL at the header's
   end. */
static const uint8_t *sp_header_line(sp_mail_header *header, const uint8_t **name_end)
{
    const uint8_t *end = header->end;
    if (!header->is_there)
        return NULL;
    while (header->p < end && !sp_is_empty_line(header->p, end)) {
        const uint8_t *start = header->p;
        *name_end = NULL;
        if (start - header->start < SP_MAIL_HEADER_MOST)
            *name_end = sp_name_end(start, end);
        do
            header->p = sp_line_end(header->p, end);
        while (header->p < end && sp_is_blank(*header->p));
        if (*name_end != NULL)
            return start;
    }
    header->p = header->p < end ? sp_line_end(header->p, end) : end;
    header->is_there = false;
    return NULL;
}

SP_PRIVATE const uint8_t *sp_mail_header_gap(sp_mail_header *header)
{
    const uint8_t *name_end;
    const uint8_t *line = sp_header_line(header, &name_end);
    while (line != NULL && !sp_header_leaves_out(line, (size_t)(name_end - line)))
        line = sp_header_line(header, &name_end);
    return line;
}

SP_PRIVATE bool sp_mail_header_next(sp_mail_header *header, sp_header_field *field)
{
    const uint8_t *name_end;
    const uint8_t *line = sp_header_line(header, &name_end);
    while (line != NULL && sp_header_leaves_out(line, (size_t)(name_end - line)))
        line = sp_header_line(header, &name_end);
    if (line == NULL)
        return false;
    field->n_name = SP_MIN((size_t)(name_end - line), (size_t)SP_HEADER_NAME_MOST);
    for (size_t i = 0; i < field->n_name; i++)
        field->name[i] = sp_ascii_lower(line[i]);
    field->name[field->n_name] = 0;
    field->value = name_end + 1;
    while (field->value < header->p && sp_is_gap(*field->value))
        field->value++;
    field->n = SP_MIN((size_t)(header->p - field->value), (size_t)SP_HEADER_VALUE_MOST);
    return true;
}

/* The end of the encoded word at p: =?charset?kind?text?=. NULL if it is something else. `text`:
   where its text begins. */
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

/* Whether there is only white space, which is not shown between two encoded words. */
static bool sp_all_space(const uint8_t *p, const uint8_t *end)
{
    while (p < end && sp_is_gap(*p))
        p++;
    return p == end;
}

enum { SP_NO_RUN = -2 };

/* The bytes of adjacent encoded words in one charset, as two words may share a character. */
typedef struct sp_encoded_run {
    uint8_t *p;
    size_t n;
    int charset;
} sp_encoded_run;

/* Write the run, and empty it. Returns how many bytes were written. */
static size_t sp_encoded_flush(sp_encoded_run *run, uint8_t *to)
{
    size_t n = run->n ? sp_charset_write(run->charset, run->p, run->n, to) : 0;
    run->n = 0;
    run->charset = SP_NO_RUN;
    return n;
}

SP_PRIVATE size_t sp_encoded_words(const uint8_t *p, size_t n, uint8_t *scratch, uint8_t *to)
{
    const uint8_t *end = p + n;
    const uint8_t *at = p; /* all before has been read */
    const uint8_t *start = p;
    const uint8_t *text;
    sp_encoded_run run = {scratch, 0, SP_NO_RUN};
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
        int charset = sp_charset_of(start + 2, (size_t)(text - 3 - (start + 2)));
        bool follows = at > p && sp_all_space(at, start);
        if (!follows || charset != run.charset)
            o += sp_encoded_flush(&run, to + o);
        if (!follows)
            o += sp_charset_write(SP_CHARSET_UNKNOWN, at, (size_t)(start - at), to + o);
        run.charset = charset;
        size_t length = (size_t)(last - 2 - text);
        if ((text[-2] | 32) == 'b')
            run.n += sp_base64(text, length, run.p + run.n);
        else
            run.n += sp_quoted(text, length, true, run.p + run.n);
        at = start = last;
    }
    o += sp_encoded_flush(&run, to + o);
    return o + sp_charset_write(SP_CHARSET_UNKNOWN, at, (size_t)(end - at), to + o);
}
