#include "json/values.h"

#include "json/numbers.h"
#include "memory/heap.h"

#include <math.h>
#include <string.h>

/* --- What is a valid value */

/* Whether a node is a list of this kind: its first value. */
static bool sp_is_kind(const sp_json *json, uint32_t node, const char *kind)
{
    return sp_json_type(json, node) == SP_JSON_LIST && json->nodes[node].n > 0
           && sp_json_is(json, node + 1, kind);
}

/* Argument i of a list with a kind: a text without escapes. False if it is something else. */
static bool sp_argument(const sp_json *json, uint32_t node, uint32_t i, const uint8_t **p,
                        size_t *n)
{
    uint32_t at = node + 2 + i;
    if (json->nodes[node].n < i + 2 || sp_json_type(json, at) != SP_JSON_STRING)
        return false;
    *p = sp_json_start(json, at);
    *n = sp_json_length(json, at);
    return memchr(*p, '\\', *n) == NULL;
}

/* Hexadecimal digits after 0x, perhaps with a minus sign. */
static bool sp_is_hex_whole(const uint8_t *p, size_t n)
{
    size_t i = n > 0 && *p == '-';
    if (n < i + 3 || p[i] != '0' || p[i + 1] != 'x')
        return false;
    for (i += 2; i < n; i++) {
        if (!((p[i] >= '0' && p[i] <= '9') || (p[i] >= 'a' && p[i] <= 'f')))
            return false;
    }
    return true;
}

static bool sp_are_zeros(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] != '0' && p[i] != 'x' && p[i] != '-')
            return false;
    }
    return true;
}

static size_t sp_figures(const uint8_t *p, size_t n)
{
    size_t i = 0;
    while (i < n && p[i] >= '0' && p[i] <= '9')
        i++;
    return i;
}

/* What str() returns for a hashable Decimal. */
static bool sp_is_decimal(const uint8_t *p, size_t n)
{
    size_t i = n > 0 && *p == '-';
    if (n - i == 8 && memcmp(p + i, "Infinity", 8) == 0)
        return true;
    if (n - i == 3 && memcmp(p + i, "NaN", 3) == 0)
        return true;
    size_t whole = sp_figures(p + i, n - i);
    i += whole;
    if (i < n && p[i] == '.') {
        size_t more = sp_figures(p + i + 1, n - i - 1);
        whole += more;
        i += 1 + more;
    }
    if (whole == 0)
        return false;
    if (i < n && p[i] == 'E') {
        i++;
        i += i < n && (p[i] == '+' || p[i] == '-');
        size_t digits = sp_figures(p + i, n - i);
        i += digits;
        if (digits == 0 || digits > 17)
            return false;
    }
    return i == n;
}

/* The number in n digits at p; -1 if they are something else. */
static int sp_two_or_four(const uint8_t *p, size_t n)
{
    int number = 0;
    if (sp_figures(p, n) != n)
        return -1;
    for (size_t i = 0; i < n; i++)
        number = 10 * number + (p[i] - '0');
    return number;
}

static bool sp_is_date(const uint8_t *p, size_t n)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (n != 10 || p[4] != '-' || p[7] != '-')
        return false;
    int year = sp_two_or_four(p, 4), month = sp_two_or_four(p + 5, 2);
    int day = sp_two_or_four(p + 8, 2);
    if (year < 1 || month < 1 || month > 12 || day < 1)
        return false;
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return day <= days[month - 1] + (leap && month == 2);
}

/* hh:mm, hh:mm:ss or hh:mm:ss.ffffff; `seconds`: hh:mm is not enough. */
static bool sp_is_time(const uint8_t *p, size_t n, bool seconds)
{
    if (n != 8 && n != 15 && (seconds || n != 5))
        return false;
    if (n == 15 && (p[8] != '.' || sp_two_or_four(p + 9, 6) < 0))
        return false;
    for (size_t i = 0; i < n && i < 8; i += 3) {
        int number = sp_two_or_four(p + i, 2);
        if (number < 0 || number > (i ? 59 : 23) || (i && p[i - 1] != ':'))
            return false;
    }
    return true;
}

static bool sp_is_datetime(const uint8_t *p, size_t n)
{
    size_t zone = 11;
    if (n < 19 || !sp_is_date(p, 10) || p[10] != 'T')
        return false;
    while (zone < n && p[zone] != '+' && p[zone] != '-')
        zone++;
    if (!sp_is_time(p + 11, zone - 11, true))
        return false;
    return zone == n || sp_is_time(p + zone + 1, n - zone - 1, false);
}

/* Whether a list with a kind is a valid value of a kind that consists of texts. */
static bool sp_is_made_of_texts(const sp_json *json, uint32_t node)
{
    const uint8_t *p, *q;
    size_t n, m;
    uint32_t count = json->nodes[node].n - 1;
    double number;
    if (count < 1 || count > 2 || !sp_argument(json, node, 0, &p, &n))
        return false;
    if (count == 2) {
        if (!sp_argument(json, node, 1, &q, &m))
            return false;
        if (sp_is_kind(json, node, "complex"))
            return sp_hex_read(p, n, &number) && sp_hex_read(q, m, &number);
        return sp_is_kind(json, node, "Fraction") && sp_is_hex_whole(p, n) && sp_is_hex_whole(q, m)
               && !sp_are_zeros(q, m);
    }
    if (sp_is_kind(json, node, "int"))
        return sp_is_hex_whole(p, n);
    if (sp_is_kind(json, node, "float"))
        return sp_hex_read(p, n, &number);
    if (sp_is_kind(json, node, "bytes")) {
        for (size_t i = 0; i < n; i++) {
            if (!((p[i] >= '0' && p[i] <= '9') || (p[i] >= 'a' && p[i] <= 'f')))
                return false;
        }
        return n % 2 == 0;
    }
    if (sp_is_kind(json, node, "Decimal"))
        return sp_is_decimal(p, n);
    if (sp_is_kind(json, node, "date"))
        return sp_is_date(p, n);
    return sp_is_kind(json, node, "datetime") && sp_is_datetime(p, n);
}

SP_PRIVATE bool sp_is_value(const sp_json *json, uint32_t node)
{
    uint32_t end = json->nodes[node].next;
    double number;
    while (node < end) {
        int type = sp_json_type(json, node);
        if (type == SP_JSON_OBJECT)
            return false;
        if (type == SP_JSON_NUMBER && !sp_value_number(json, node, false, &number))
            return false;
        if (type != SP_JSON_LIST)
            node++;
        else if (sp_is_kind(json, node, "tuple"))
            node += 2; /* its first value is next */
        else if (json->nodes[node].n > 0 && sp_is_made_of_texts(json, node))
            node = json->nodes[node].next;
        else
            return false;
    }
    return true;
}

SP_PRIVATE bool sp_is_label(const sp_json *json, uint32_t node)
{
    const uint32_t end = json->nodes[node].next;
    double number = 0.0;
    if (sp_json_type(json, node) == SP_JSON_NULL || !sp_is_value(json, node))
        return false;
    while (node < end) {
        if (sp_value_number(json, node, false, &number) && number != number)
            return false;
        node = sp_is_kind(json, node, "tuple") ? node + 2 : json->nodes[node].next;
    }
    return true;
}

/* Recursion goes as deep as JSON may be nested. */
SP_PRIVATE bool sp_is_position(const sp_json *json, uint32_t node)
{
    bool dict = sp_is_kind(json, node, "dict");
    if (!dict && !sp_is_kind(json, node, "list") && !sp_is_kind(json, node, "tuple"))
        return sp_is_value(json, node);
    for (uint32_t i = node + 2; i < json->nodes[node].next; i = json->nodes[i].next) {
        uint32_t part = i;
        if (dict) { /* a pair, which begins with a key */
            if (sp_json_type(json, i) != SP_JSON_LIST || json->nodes[i].n != 2
                || !sp_is_value(json, i + 1))
                return false;
            part = json->nodes[i + 1].next;
        }
        if (!sp_is_position(json, part))
            return false;
    }
    return true;
}

SP_PRIVATE bool sp_is_object(const sp_json *json, uint32_t node)
{
    static const char kinds[][9] = {"complex", "Decimal", "Fraction", "date", "datetime"};
    for (uint32_t at = node; at < json->nodes[node].next; at++) {
        const uint8_t *p;
        size_t n;
        /* a Decimal that is a whole number equals an int, which has its own kind of name */
        if (sp_is_kind(json, at, "Decimal") && sp_argument(json, at, 0, &p, &n)) {
            size_t sign = n > 0 && *p == '-';
            if (sign + sp_figures(p + sign, n - sign) == n)
                continue;
        }
        for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
            if (sp_is_kind(json, at, kinds[i]))
                return true;
        }
    }
    return false;
}

/* --- Numbers */

SP_PRIVATE bool sp_value_number(const sp_json *json, uint32_t node, bool plain, double *number)
{
    const uint8_t *p = sp_json_start(json, node);
    size_t n = sp_json_length(json, node);
    uint64_t whole;
    switch (sp_json_type(json, node)) {
    case SP_JSON_TRUE:
    case SP_JSON_FALSE:
        *number = sp_json_type(json, node) == SP_JSON_TRUE ? 1.0 : 0.0;
        return true;
    case SP_JSON_NUMBER:
        if (plain || sp_figures(p, n) == n || (*p == '-' && sp_figures(p + 1, n - 1) == n - 1))
            return n <= 17 && sp_decimal_read(p, n, number);
        return false;
    case SP_JSON_LIST:
        break;
    default:
        return false;
    }
    if (json->nodes[node].n != 2 || !sp_argument(json, node, 0, &p, &n))
        return false;
    if (sp_is_kind(json, node, "float"))
        return sp_hex_read(p, n, number);
    bool negative = n > 0 && *p == '-';
    if (!sp_is_kind(json, node, "int") || !sp_hex_whole_read(p + negative, n - negative, &whole)
        || whole > UINT64_C(1) << 53)
        return false;
    *number = negative ? -(double)whole : (double)whole;
    return true;
}

SP_PRIVATE bool sp_value_whole(const sp_json *json, uint32_t node, uint64_t *number)
{
    const uint8_t *p;
    size_t n;
    if (sp_json_type(json, node) == SP_JSON_NUMBER)
        return sp_json_whole(json, node, UINT64_MAX, number);
    return sp_is_kind(json, node, "int") && json->nodes[node].n == 2
           && sp_argument(json, node, 0, &p, &n) && sp_hex_whole_read(p, n, number);
}

/* --- Equality */

/* Whether the strings have the same characters. */
static bool sp_strings_equal(const sp_json *json, uint32_t a, const sp_json *other, uint32_t b)
{
    uint8_t few[2][128];
    size_t n = sp_json_length(json, a), m = sp_json_length(other, b);
    if (n == m && memcmp(sp_json_start(json, a), sp_json_start(other, b), n) == 0)
        return true;
    if (n > sizeof(few[0]) || m > sizeof(few[1]))
        return false; /* the same writer wrote both, always in the same way */
    n = sp_json_string(json, a, few[0]);
    m = sp_json_string(other, b, few[1]);
    return n == m && memcmp(few[0], few[1], n) == 0;
}

SP_PRIVATE bool sp_values_equal(const sp_json *json, uint32_t a, const sp_json *other, uint32_t b)
{
    uint32_t end = json->nodes[a].next, other_end = other->nodes[b].next;
    double number, its;
    while (a < end && b < other_end) {
        bool is = sp_value_number(json, a, false, &number);
        if (is != sp_value_number(other, b, false, &its) || (is && number != its))
            return false;
        if (is) {
            a = json->nodes[a].next;
            b = other->nodes[b].next;
            continue;
        }
        int type = sp_json_type(json, a);
        if (type != sp_json_type(other, b) || json->nodes[a].n != other->nodes[b].n)
            return false;
        if (type == SP_JSON_STRING && !sp_strings_equal(json, a, other, b))
            return false;
        if (type == SP_JSON_NUMBER)
            return false;
        a++;
        b++;
    }
    return a == end && b == other_end;
}

static uint64_t sp_value_mixed(uint64_t h, uint64_t word)
{
    h = (h ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 29;
}

SP_PRIVATE uint64_t sp_value_hash(const sp_json *json, uint32_t node)
{
    uint32_t end = json->nodes[node].next;
    uint64_t h = 1;
    double number;
    while (node < end) {
        if (sp_value_number(json, node, false, &number)) {
            h = sp_value_mixed(h, sp_bits_of(number == 0.0 ? 0.0 : number));
            node = json->nodes[node].next;
            continue;
        }
        h = sp_value_mixed(h, (uint64_t)sp_json_type(json, node));
        const uint8_t *p = sp_json_start(json, node);
        for (size_t i = 0;
             sp_json_type(json, node) == SP_JSON_STRING && i < sp_json_length(json, node); i++)
            h = sp_value_mixed(h, p[i]);
        node++;
    }
    return h;
}

SP_PRIVATE int sp_values_repeat(const sp_json *json, uint32_t list)
{
    size_t n = json->nodes[list].n, size = 16;
    bool repeats = false;
    uint32_t *table;
    while (size < 2 * n)
        size *= 2;
    table = (uint32_t *)sp_calloc(size, sizeof(uint32_t));
    if (table == NULL)
        return -1;
    uint32_t node = list + 1;
    for (size_t i = 0; i < n && !repeats; i++, node = json->nodes[node].next) {
        size_t at = sp_value_hash(json, node) & (size - 1);
        while (table[at] != 0 && !sp_values_equal(json, table[at], json, node))
            at = (at + 1) & (size - 1);
        repeats = table[at] != 0;
        table[at] = node;
    }
    sp_free(table);
    return repeats;
}

/* --- How they are shown */

static void sp_byte_escape(uint8_t c, sp_bytes *to)
{
    static const char digits[] = "0123456789abcdef";
    const char escape[] = {'\\', 'x', digits[c >> 4], digits[c & 15]};
    sp_bytes_add(to, escape, 4);
}

/* One character below 128, inside these quotes. */
static void sp_character_quote(uint8_t c, char quote, sp_bytes *to)
{
    if (c == '\n' || c == '\r' || c == '\t') {
        sp_bytes_word(to, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
        return;
    }
    if (c < 32 || c > 126) {
        sp_byte_escape(c, to);
        return;
    }
    if (c == '\\' || c == (uint8_t)quote)
        sp_bytes_word(to, "\\");
    sp_bytes_add(to, &c, 1);
}

static char sp_quote_of(const uint8_t *p, size_t n)
{
    return memchr(p, '\'', n) != NULL && memchr(p, '"', n) == NULL ? '"' : '\'';
}

SP_PRIVATE void sp_text_quote(const uint8_t *p, size_t n, sp_bytes *to)
{
    char quote = n ? sp_quote_of(p, n) : '\'';
    sp_bytes_add(to, &quote, 1);
    for (size_t i = 0; i < n; i++) {
        if (p[i] < 0x80)
            sp_character_quote(p[i], quote, to);
        else if (p[i] == 0xC2 && i + 1 < n && (p[i + 1] <= 0xA0 || p[i + 1] == 0xAD)) {
            sp_byte_escape(p[i + 1], to);
            i++;
        } else
            sp_bytes_add(to, p + i, 1);
    }
    sp_bytes_add(to, &quote, 1);
}

SP_PRIVATE void sp_bytes_quote(const uint8_t *p, size_t n, sp_bytes *to)
{
    char quote = n ? sp_quote_of(p, n) : '\'';
    sp_bytes_word(to, "b");
    sp_bytes_add(to, &quote, 1);
    for (size_t i = 0; i < n; i++)
        sp_character_quote(p[i], quote, to);
    sp_bytes_add(to, &quote, 1);
}

/* A base-16 whole number in base 10, if it is not too large. */
static void sp_whole_show(const uint8_t *p, size_t n, sp_bytes *to)
{
    char digits[SP_NUMBER_ROOM];
    uint64_t number;
    bool negative = n > 0 && *p == '-';
    if (sp_hex_whole_read(p + negative, n - negative, &number))
        sp_bytes_add(to, digits, sp_whole_write(number, negative, digits));
    else
        sp_bytes_add(to, p, n);
}

static void sp_double_show(const uint8_t *p, size_t n, sp_bytes *to)
{
    char digits[SP_NUMBER_ROOM];
    double number = 0.0;
    sp_hex_read(p, n, &number);
    sp_bytes_add(to, digits, sp_decimal_write(number, digits));
}

/* A value that consists of one or two texts. `inner`: in a tuple. */
static void sp_made_show(const sp_json *json, uint32_t node, bool inner, sp_bytes *to)
{
    const uint8_t *p = NULL, *q = NULL;
    size_t n = 0, m = 0;
    sp_argument(json, node, 0, &p, &n);
    sp_argument(json, node, 1, &q, &m);
    if (sp_is_kind(json, node, "int"))
        sp_whole_show(p, n, to);
    else if (sp_is_kind(json, node, "float"))
        sp_double_show(p, n, to);
    else if (sp_is_kind(json, node, "bytes")) {
        uint8_t *room = (uint8_t *)sp_malloc(n / 2 + 1);
        to->failed |= room == NULL;
        for (size_t i = 0; room != NULL && i + 1 < n; i += 2) {
            int high = p[i] <= '9' ? p[i] - '0' : p[i] - 'a' + 10;
            int low = p[i + 1] <= '9' ? p[i + 1] - '0' : p[i + 1] - 'a' + 10;
            room[i / 2] = (uint8_t)(16 * high + low);
        }
        if (room != NULL)
            sp_bytes_quote(room, n / 2, to);
        sp_free(room);
    } else if (q != NULL) {
        bool fraction = sp_is_kind(json, node, "Fraction");
        sp_bytes_word(to, fraction ? (inner ? "Fraction(" : "") : "complex(");
        (fraction ? sp_whole_show : sp_double_show)(p, n, to);
        sp_bytes_word(to, fraction && !inner ? "/" : ", ");
        (fraction ? sp_whole_show : sp_double_show)(q, m, to);
        sp_bytes_word(to, fraction && !inner ? "" : ")");
    } else {
        if (inner) {
            sp_bytes_add(to, sp_json_start(json, node + 1), sp_json_length(json, node + 1));
            sp_bytes_word(to, "('");
        }
        for (size_t i = 0; i < n; i++)
            sp_bytes_add(to, !inner && p[i] == 'T' ? (const uint8_t *)" " : p + i, 1);
        sp_bytes_word(to, inner ? "')" : "");
    }
}

static void sp_string_show(const sp_json *json, uint32_t node, bool inner, sp_bytes *to)
{
    size_t most = sp_json_length(json, node);
    uint8_t *room;
    if (!inner) {
        room = sp_bytes_room(to, most);
        if (room != NULL)
            to->n += sp_json_string(json, node, room);
        return;
    }
    room = (uint8_t *)sp_malloc(most + 1);
    to->failed |= room == NULL;
    if (room != NULL)
        sp_text_quote(room, sp_json_string(json, node, room), to);
    sp_free(room);
}

/* One value that is not a tuple. */
static void sp_scalar_show(const sp_json *json, uint32_t node, bool inner, sp_bytes *to)
{
    switch (sp_json_type(json, node)) {
    case SP_JSON_NULL:
        sp_bytes_word(to, "None");
        break;
    case SP_JSON_TRUE:
        sp_bytes_word(to, "True");
        break;
    case SP_JSON_FALSE:
        sp_bytes_word(to, "False");
        break;
    case SP_JSON_STRING:
        sp_string_show(json, node, inner, to);
        break;
    case SP_JSON_LIST:
        if (sp_is_made_of_texts(json, node)) {
            sp_made_show(json, node, inner, to);
            break;
        } /* fall through */
    default:
        sp_bytes_add(to, sp_json_start(json, node), sp_json_length(json, node));
    }
}

SP_PRIVATE void sp_value_show(const sp_json *json, uint32_t node, bool quoted, sp_bytes *to)
{
    uint32_t open[SP_JSON_DEPTH]; /* tuples that have not ended */
    int depth = 0;
    uint32_t end = json->nodes[node].next;
    while (node < end) {
        bool tuple = sp_is_kind(json, node, "tuple");
        if (tuple) {
            open[depth++] = node;
            sp_bytes_word(to, "(");
            node += 2;
        } else {
            sp_scalar_show(json, node, quoted || depth > 0, to);
            node = json->nodes[node].next;
        }
        while (depth > 0 && node == json->nodes[open[depth - 1]].next) {
            depth--;
            sp_bytes_word(to, json->nodes[open[depth]].n == 2 ? ",)" : ")");
            tuple = false;
        }
        if (depth > 0 && !tuple)
            sp_bytes_word(to, ", ");
    }
}
