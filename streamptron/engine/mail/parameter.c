#include "mail/parameter.h"

#include "mail/decode.h"
#include "mail/glob.h"

#include <string.h>

SP_PRIVATE size_t sp_value_word(const uint8_t *p, size_t n)
{
    size_t i = 0;
    while (i < n && p[i] != ';' && p[i] != ' ' && (p[i] < '\t' || p[i] > '\r'))
        i++;
    return i;
}

SP_PRIVATE bool sp_begins_with(const uint8_t *p, size_t n, const char *word)
{
    size_t i = 0;
    while (word[i] != 0 && i < n) {
        if (sp_ascii_lower(p[i]) != (uint8_t)word[i])
            return false;
        i++;
    }
    return word[i] == 0;
}

SP_PRIVATE bool sp_is_word(const uint8_t *p, size_t n, const char *word)
{
    return n == strlen(word) && sp_begins_with(p, n, word);
}

SP_PRIVATE size_t sp_skip_gap(const uint8_t *p, size_t i, size_t n)
{
    while (i < n && (p[i] == ' ' || p[i] == '\t' || p[i] == '\r' || p[i] == '\n'))
        i++;
    return i;
}

/* The end of the quoted value that begins at i; n if it does not end. */
static size_t sp_quote_end(const uint8_t *p, size_t i, size_t n)
{
    for (i++; i < n && p[i] != '"'; i++)
        i += p[i] == '\\';
    return SP_MIN(i, n);
}

/* The value of a parameter with exactly this name, up to `end`; NULL: there is none. */
static const uint8_t *sp_parameter_find(const uint8_t *p, size_t n, const char *name,
                                        const uint8_t **end)
{
    for (size_t i = 0; i < n; i++) {
        if ((p[i] | 32) != *name || !sp_begins_with(p + i, n - i, name))
            continue;
        size_t at = sp_skip_gap(p, i + strlen(name), n);
        if (at == n || p[at] != '=')
            continue;
        at = sp_skip_gap(p, at + 1, n);
        size_t last = at;
        if (at < n && p[at] == '"') {
            last = sp_quote_end(p, at, n);
            if (last == n)
                continue;
        } else {
            while (last < n && p[last] != '"' && p[last] != ';' && p[last] != ' '
                   && (p[last] < '\t' || p[last] > '\r'))
                last++;
            if (last == at)
                continue;
        }
        *end = p + last;
        return p + at;
    }
    return NULL;
}

/* A value that is put together from sections. */
typedef struct sp_parameter_text {
    uint8_t *to;
    size_t n; /* more than SP_PARAMETER_MOST: too long */
} sp_parameter_text;

static void sp_parameter_put(sp_parameter_text *text, uint8_t c)
{
    if (text->n < SP_PARAMETER_MOST)
        text->to[text->n] = c;
    text->n++;
}

/* Add a value; percent: %41 in it means A; first: after its charset and language. */
static void sp_parameter_add(sp_parameter_text *text, const uint8_t *p, const uint8_t *end,
                             bool percent, bool first)
{
    bool quoted = *p == '"';
    uint8_t value[SP_PARAMETER_MOST];
    size_t n = 0;
    for (p += quoted; p < end; p++) {
        p += quoted && *p == '\\';
        if (n == SP_PARAMETER_MOST) { /* it would be too long even with its percents decoded */
            text->n = SP_PARAMETER_MOST + 1;
            return;
        }
        value[n++] = *p;
    }
    size_t i = 0;
    if (percent && first) {
        const uint8_t *mark = (const uint8_t *)memchr(value, '\'', n);
        size_t left = mark == NULL ? 0 : n - (size_t)(mark + 1 - value);
        mark = mark == NULL ? NULL : (const uint8_t *)memchr(mark + 1, '\'', left);
        i = mark == NULL ? 0 : (size_t)(mark + 1 - value);
    }
    for (; i < n; i++) {
        uint8_t c = value[i];
        if (percent && c == '%' && i + 2 < n && sp_hex_value(value[i + 1]) >= 0
            && sp_hex_value(value[i + 2]) >= 0) {
            c = (uint8_t)(sp_hex_value(value[i + 1]) << 4 | sp_hex_value(value[i + 2]));
            i += 2;
        }
        sp_parameter_put(text, c);
    }
}

SP_PRIVATE size_t sp_parameter(const uint8_t *p, size_t n, const char *name, uint8_t *to)
{
    sp_parameter_text text = {to, 0};
    const uint8_t *end;
    const uint8_t *value = sp_parameter_find(p, n, name, &end);
    char section[16]; /* name*12* */
    size_t length = strlen(name);
    memcpy(section, name, length);
    if (value != NULL) {
        sp_parameter_add(&text, value, end, false, true);
    } else {
        memcpy(section + length, "*", 2);
        value = sp_parameter_find(p, n, section, &end);
        if (value != NULL)
            sp_parameter_add(&text, value, end, true, true);
    }
    for (int i = 0; value == NULL && i < SP_SECTIONS_MOST; i++) {
        size_t k = length + 1;
        if (i >= 10)
            section[k++] = (char)('0' + i / 10);
        section[k++] = (char)('0' + i % 10);
        section[k] = 0;
        const uint8_t *part = sp_parameter_find(p, n, section, &end);
        bool percent = part == NULL;
        if (percent) {
            memcpy(section + k, "*", 2);
            part = sp_parameter_find(p, n, section, &end);
        }
        if (part == NULL)
            break;
        sp_parameter_add(&text, part, end, percent, i == 0);
    }
    return text.n <= SP_PARAMETER_MOST ? text.n : 0;
}
