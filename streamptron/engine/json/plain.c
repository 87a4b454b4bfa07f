#include "json/plain.h"

#include "json/numbers.h"
#include "json/values.h"
#include "memory/heap.h"

#include <string.h>

/* A character beyond ASCII, as one escape or two. */
static void sp_escape_write(uint32_t c, sp_bytes *to)
{
    static const char digits[] = "0123456789abcdef";
    if (c >= 0x10000) {
        sp_escape_write(0xD800 + ((c - 0x10000) >> 10), to);
        c = 0xDC00 + ((c - 0x10000) & 0x3FF);
    }
    const char escape[] = {
        '\\', 'u', digits[c >> 12 & 15], digits[c >> 8 & 15], digits[c >> 4 & 15], digits[c & 15]};
    sp_bytes_add(to, escape, sizeof(escape));
}

/* Whether a byte needs no escape in a JSON string. */
static bool sp_is_unescaped(uint8_t c)
{
    return c >= 32 && c < 0x80 && c != '"' && c != '\\';
}

SP_PRIVATE void sp_json_quote(const uint8_t *p, size_t n, sp_bytes *to)
{
    static const char special[] = "\"\\\b\f\n\r\t", escaped[] = "\"\\bfnrt";
    sp_bytes_word(to, "\"");
    for (size_t i = 0; i < n;) {
        size_t start = i;
        while (i < n && sp_is_unescaped(p[i]))
            i++;
        sp_bytes_add(to, p + start, i - start);
        if (i == n)
            break;
        size_t length = p[i] < 0x80 ? 1 : p[i] < 0xE0 ? 2 : p[i] < 0xF0 ? 3 : 4;
        uint32_t c = length == 1 ? p[i] : p[i] & (0x7FU >> length);
        for (size_t k = 1; k < length; k++)
            c = c << 6 | (p[i + k] & 0x3F);
        i += length;
        const char *odd = c && c < 0x80 ? strchr(special, (int)c) : NULL;
        if (odd != NULL) {
            const char pair[] = {'\\', escaped[odd - special]};
            sp_bytes_add(to, pair, 2);
        } else
            sp_escape_write(c, to);
    }
    sp_bytes_word(to, "\"");
}

static void sp_string_write(const sp_json *json, uint32_t node, sp_bytes *to)
{
    uint8_t *room = (uint8_t *)sp_malloc(sp_json_length(json, node) + 1);
    to->failed |= room == NULL;
    if (room != NULL)
        sp_json_quote(room, sp_json_string(json, node, room), to);
    sp_free(room);
}

/* A number for which JSON has no exact text: its kind, and its digits in base 16. */
static void sp_exact_write(const char *begin, const char *text, size_t n, sp_bytes *to)
{
    sp_bytes_word(to, begin);
    sp_bytes_add(to, text, n);
    sp_bytes_word(to, "\"]");
}

SP_PRIVATE void sp_plain_double(double number, sp_bytes *to)
{
    char text[SP_NUMBER_ROOM];
    sp_exact_write("[\"float\",\"", text, sp_hex_write(number, text), to);
}

static void sp_number_write(const sp_json *json, uint32_t node, sp_bytes *to)
{
    char text[SP_NUMBER_ROOM];
    double number = 0.0;
    uint64_t whole;
    bool is_whole = sp_json_whole(json, node, UINT64_MAX, &whole);
    if (is_whole && whole < UINT64_C(1) << 53) {
        sp_bytes_number(to, whole);
        return;
    }
    sp_value_number(json, node, true, &number);
    if (is_whole)
        sp_exact_write("[\"int\",\"", text, sp_hex_whole_write(whole, text), to);
    else
        sp_plain_double(number, to);
}

/* A value that is neither a list nor an object. */
static void sp_plain_scalar(const sp_json *json, uint32_t node, sp_bytes *to)
{
    if (sp_json_type(json, node) == SP_JSON_STRING)
        sp_string_write(json, node, to);
    else if (sp_json_type(json, node) == SP_JSON_NUMBER)
        sp_number_write(json, node, to);
    else
        sp_bytes_add(to, sp_json_start(json, node), sp_json_length(json, node));
}

/* Pairs of a label and a number, from an object or from a list of such pairs. `dict`: write them as
   a value, with that word first. */
static void sp_plain_numbers(const sp_json *json, uint32_t node, bool dict, sp_bytes *to)
{
    bool object = sp_json_type(json, node) == SP_JSON_OBJECT;
    uint32_t at = node + 1;
    sp_bytes_word(to, dict ? "[\"dict\"" : "[");
    for (uint32_t i = 0; i < json->nodes[node].n; i++) {
        uint32_t label = at + !object, weight = json->nodes[label].next;
        sp_bytes_word(to, i || dict ? ",[" : "[");
        /* people write a composed label as in a file, so it is copied */
        if (sp_json_type(json, label) == SP_JSON_LIST)
            sp_bytes_add(to, sp_json_start(json, label), sp_json_length(json, label));
        else
            sp_plain_scalar(json, label, to);
        sp_bytes_word(to, ",");
        sp_plain_scalar(json, weight, to);
        sp_bytes_word(to, "]");
        at = json->nodes[weight].next;
    }
    sp_bytes_word(to, "]");
}

/* A list becomes a tuple, as do the lists in it. Lists that have been checked are not nested
   deeper. */
static void sp_plain_list(const sp_json *json, uint32_t node, sp_bytes *to)
{
    uint32_t at = node + 1, inner = 0;
    sp_bytes_word(to, "[\"tuple\"");
    while (at < json->nodes[node].next) {
        sp_bytes_word(to, ",");
        if (sp_json_type(json, at) == SP_JSON_LIST) {
            inner = json->nodes[at].next;
            sp_bytes_word(to, "[\"tuple\"");
        } else
            sp_plain_scalar(json, at, to);
        at++;
        if (at == inner)
            sp_bytes_word(to, "]");
    }
    sp_bytes_word(to, "]");
}

SP_PRIVATE void sp_plain_write(const sp_json *json, uint32_t name, sp_bytes *to)
{
    uint32_t value = name + 1;
    int type = sp_json_type(json, value);
    bool dict = sp_json_is(json, name, "threshold");
    bool by_label = dict || sp_json_is(json, name, "class_weight")
                    || sp_json_is(json, name, "false_positive_rate");
    bool number = type == SP_JSON_LIST && json->nodes[value].n == 2
                  && (sp_json_is(json, value + 1, "float") || sp_json_is(json, value + 1, "int"));
    if (type == SP_JSON_OBJECT || (by_label && type == SP_JSON_LIST && !number))
        sp_plain_numbers(json, value, dict, to);
    else if (type == SP_JSON_LIST && !number)
        sp_plain_list(json, value, to);
    else
        sp_plain_scalar(json, value, to);
}
