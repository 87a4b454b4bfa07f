#include "texts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int32_t character_at(const char *p, size_t n, size_t *length)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *u = (const unsigned char *)p;
    size_t size = u[0] < 0x80 ? 1 : u[0] < 0xC2 ? 0 : u[0] < 0xE0 ? 2 : u[0] < 0xF0 ? 3 : 4;
    *length = 1;
    if (size == 1)
        return u[0];
    if (size == 0 || u[0] > 0xF4 || size > n)
        return -1;
    uint32_t character = u[0] & (0x7FU >> size);
    for (size_t i = 1; i < size; i++) {
        if ((u[i] & 0xC0) != 0x80)
            return -1;
        character = character << 6 | (u[i] & 0x3F);
    }
    if (character < least[size] || character > 0x10FFFF)
        return -1;
    *length = size;
    return (int32_t)character;
}

void character_add(bytes *to, uint32_t c)
{
    unsigned char u[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        u[i] = (unsigned char)(0x80 | (c & 0x3F));
    u[0] = (unsigned char)(n == 1 ? c : (0xF00U >> n & 0xF0U) | c);
    bytes_add(to, u, n);
}

static bool is_surrogate(int32_t c)
{
    return c >= 0xD800 && c <= 0xDFFF;
}

bool is_utf8(const char *p, size_t n)
{
    for (size_t at = 0, length; at < n; at += length) {
        int32_t c = character_at(p + at, n - at, &length);
        if (c < 0 || is_surrogate(c))
            return false;
    }
    return true;
}

static bool ends_line(int32_t c)
{
    return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028
           || c == 0x2029;
}

void add_in_line(bytes *to, const char *p, size_t n)
{
    for (size_t at = 0, length; at < n; at += length) {
        int32_t c = character_at(p + at, n - at, &length);
        if (c == 0x0D && at + 1 < n && p[at + 1] == 0x0A)
            length = 2;
        if (ends_line(c)) {
            if (at + length < n)
                bytes_word(to, " ");
        } else if (is_surrogate(c))
            bytes_word(to, "?");
        else if (c < 0)
            bytes_word(to, "\xEF\xBF\xBD");
        else
            bytes_add(to, p + at, length);
    }
}

/* What repr writes as it is: not the common ones among the characters that Python calls
   unprintable. */
static bool is_plain(int32_t c)
{
    return (c >= 0x20 && c < 0x7F) || (c > 0xA0 && c != 0xAD && !ends_line(c) && !is_surrogate(c)
                                       && !(c >= 0x2000 && c <= 0x200F) && c != 0x3000
                                       && c != 0xFEFF && c < 0xE0000);
}

static void add_escaped(bytes *to, int32_t c, char quote)
{
    static const char named[] = "\\\\\nn\rr\tt";
    for (const char *each = named; *each; each += 2) {
        if (c == *each) {
            bytes_print(to, "\\%c", each[1]);
            return;
        }
    }
    if (c == quote)
        bytes_print(to, "\\%c", quote);
    else if (is_plain(c))
        character_add(to, (uint32_t)c);
    else
        bytes_print(to, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)c);
}

size_t columns_of(const char *p, size_t n)
{
    size_t columns = 0;
    for (size_t at = 0, length; at < n; at += length, columns++)
        character_at(p + at, n - at, &length);
    return columns;
}

void add_shown(bytes *to, const char *p, size_t n, bool is_bytes, size_t width)
{
    bytes whole = {0};
    bool single = n > 0 && memchr(p, '\'', n) != NULL;
    char quote = single && memchr(p, '"', n) == NULL ? '"' : '\'';
    bytes_print(&whole, "%s%c", is_bytes ? "b" : "", quote);
    for (size_t at = 0, length; at < n; at += length) {
        int32_t c = character_at(p + at, n - at, &length);
        if (is_bytes || c < 0) {
            c = (unsigned char)p[at];
            length = 1;
        }
        if (is_bytes && c >= 0x7F)
            bytes_print(&whole, "\\x%02x", (unsigned)c);
        else
            add_escaped(&whole, c, quote);
    }
    bytes_print(&whole, "%c", quote);
    add_cut(to, &whole, width);
    bytes_free(&whole);
}

void add_cut(bytes *to, const bytes *whole, size_t width)
{
    size_t at = 0, length;
    if (whole->failed)
        to->failed = true;
    else if (columns_of(whole->p, whole->n) <= width)
        bytes_add(to, whole->p, whole->n);
    else {
        for (size_t i = 0; i + 3 < width; i++, at += length)
            character_at(whole->p + at, whole->n - at, &length);
        bytes_add(to, whole->p, at);
        bytes_word(to, "...");
    }
}

void add_json(bytes *to, const char *p, size_t n)
{
    static const char named[] = "\"\"\\\\\nn\rr\tt\bb\ff";
    bytes_word(to, "\"");
    for (size_t at = 0, length; at < n; at += length) {
        int32_t c = character_at(p + at, n - at, &length);
        const char *each = named;
        while (*each && *each != c)
            each += 2;
        if (c < 0) /* as Python decodes file names */
            bytes_print(to, "\\udc%02x", (unsigned)(unsigned char)p[at]);
        else if (*each)
            bytes_print(to, "\\%c", each[1]);
        else if (c >= 0x20 && c < 0x7F)
            bytes_add(to, p + at, 1);
        else if (c < 0x10000)
            bytes_print(to, "\\u%04x", (unsigned)c);
        else
            bytes_print(to, "\\u%04x\\u%04x", (unsigned)(0xD7C0 + (c >> 10)),
                        (unsigned)(0xDC00 | (c & 0x3FF)));
    }
    bytes_word(to, "\"");
}

void add_number(bytes *to, double number)
{
    char text[40], digits[24];
    int precision = 0, exponent = 0, n = 0;
    if (isnan(number) || isinf(number)) {
        bytes_word(to, isnan(number) ? "NaN" : number < 0 ? "-Infinity" : "Infinity");
        return;
    }
    do /* the shortest one that reads back as the same number */
        snprintf(text, sizeof(text), "%.*e", precision, number);
    while (strtod(text, NULL) != number && precision++ < 17);
    for (const char *p = text; *p && *p != 'e'; p++) {
        if (*p >= '0' && *p <= '9')
            digits[n++] = *p;
    }
    exponent = atoi(strchr(text, 'e') + 1);
    while (n > 1 && digits[n - 1] == '0')
        n--;
    if (text[0] == '-')
        bytes_word(to, "-");
    if (exponent < -4 || exponent >= 16) {
        bytes_add(to, digits, 1);
        if (n > 1) {
            bytes_word(to, ".");
            bytes_add(to, digits + 1, (size_t)n - 1);
        }
        bytes_print(to, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
        return;
    }
    if (exponent < 0) {
        bytes_print(to, "0.%.*s", -exponent - 1, "0000");
        bytes_add(to, digits, (size_t)n);
        return;
    }
    for (int i = 0; i <= exponent || i < n; i++) {
        if (i == exponent + 1)
            bytes_word(to, ".");
        bytes_add(to, i < n ? &digits[i] : "0", 1);
    }
    if (n <= exponent + 1)
        bytes_word(to, ".0");
}
