#include "mail/html.h"

#include "mail/decode.h"
#include "names/key.h"

#include <string.h>

enum {
    SP_TAG_MOST = 8, /* of a name that means something; longer ones are cut behind it */
};

/* The tags that leave nothing, each between spaces. */
static const char sp_html_nothing[] =
    " b i u a em strong font span big small tt s strike o:p sub sup ins del acronym abbr ";

typedef struct sp_entity {
    char name[5];
    uint32_t c;
} sp_entity;

static const sp_entity sp_entities[] = {
    {"nbsp", 0xA0}, {"amp", 38},   {"lt", 60},       {"gt", 62},
    {"quot", 34},   {"shy", 0xAD}, {"zwnj", 0x200C},
};

static uint8_t sp_ascii_lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? c | 32 : c;
}

static bool sp_is_name(uint8_t c)
{
    uint8_t low = c | 32;
    return (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || c == ':';
}

/* Where the n bytes of `what` are, whatever their case; `end` if they are not there. */
static const uint8_t *sp_html_find(const uint8_t *p, const uint8_t *end, const char *what, size_t n)
{
    while ((size_t)(end - p) >= n) {
        p = (const uint8_t *)memchr(p, what[0], (size_t)(end - p) - n + 1);
        if (p == NULL)
            return end;
        size_t i = 1;
        while (i < n && sp_ascii_lower(p[i]) == (uint8_t)what[i])
            i++;
        if (i == n)
            return p;
        p++;
    }
    return end;
}

/* The end of the tag at p. `seen`: whether it leaves a space. */
static const uint8_t *sp_html_tag(const uint8_t *p, const uint8_t *end, bool *seen)
{
    char name[SP_TAG_MOST + 3] = " "; /* between spaces */
    size_t n = 1;
    bool closes = p[1] == '/';
    const uint8_t *at = p + 1 + closes;
    const uint8_t *last = (const uint8_t *)memchr(p, '>', (size_t)(end - p));
    last = last == NULL ? end : last + 1;
    while (at < end && sp_is_name(*at) && n <= SP_TAG_MOST) {
        name[n] = (char)sp_ascii_lower(*at);
        n++;
        at++;
    }
    name[n] = ' ';
    name[n + 1] = 0;
    *seen = n == 1 || strstr(sp_html_nothing, name) == NULL;
    if (!closes && strcmp(name, " script ") == 0)
        return sp_html_find(last, end, "</script", 8);
    if (!closes && strcmp(name, " style ") == 0)
        return sp_html_find(last, end, "</style", 7);
    return last;
}

/* The code point of the entity's inside, from p to its semicolon; 0 if it is not one. */
static uint32_t sp_entity_number(const uint8_t *p, const uint8_t *end)
{
    bool hex = end - p > 1 && (p[1] | 32) == 'x';
    uint32_t c = 0;
    p += hex ? 2 : 1;
    if (end == p || end - p > (hex ? 6 : 7))
        return 0;
    for (; p < end; p++) {
        int digit = sp_hex_value(*p);
        if (digit < 0 || (!hex && digit > 9))
            return 0;
        c = c * (hex ? 16 : 10) + (uint32_t)digit;
    }
    return c < 0x110000 && !(c >= 0xD800 && c < 0xE000) ? c : 0;
}

/* The code point of the entity at p, and its length; 0 if it is not one. */
static uint32_t sp_html_entity(const uint8_t *p, const uint8_t *end, size_t *length)
{
    const uint8_t *last = p + 1;
    while (last < end && last - p < 10 && *last != ';')
        last++;
    if (last == end || *last != ';')
        return 0;
    *length = (size_t)(last + 1 - p);
    p++;
    if (p < last && *p == '#')
        return sp_entity_number(p, last);
    for (size_t i = 0; i < sizeof(sp_entities) / sizeof(sp_entities[0]); i++) {
        size_t n = strlen(sp_entities[i].name);
        if (n == (size_t)(last - p) && memcmp(p, sp_entities[i].name, n) == 0)
            return sp_entities[i].c;
    }
    return 0;
}

SP_PRIVATE size_t sp_html_seen(const uint8_t *p, size_t n, uint8_t *to)
{
    const uint8_t *end = p + n;
    size_t o = 0;
    while (p < end) {
        uint8_t next = end - p > 1 ? p[1] : 0;
        if (*p == '<' && end - p > 3 && memcmp(p, "<!--", 4) == 0) {
            const uint8_t *last = sp_html_find(p + 4, end, "-->", 3);
            p = last == end ? end : last + 3;
            continue;
        }
        if (*p == '<'
            && ((sp_is_name(next) && next > '9' && next != ':') || next == '/' || next == '!'
                || next == '?')) {
            bool seen;
            p = sp_html_tag(p, end, &seen);
            if (seen) {
                to[o] = ' ';
                o++;
            }
            continue;
        }
        if (*p == '&') {
            size_t length;
            uint32_t c = sp_html_entity(p, end, &length);
            if (c) {
                o += sp_utf8_encode(c, to + o);
                p += length;
                continue;
            }
        }
        to[o] = *p;
        o++;
        p++;
    }
    return o;
}
