#include "json/json.h"

#include "memory/heap.h"
#include "names/key.h"

#include <string.h>

/* A text that is being read: the position in it, and the values that have not ended. */
typedef struct sp_reading {
    sp_json *json;
    size_t n;
    size_t at;
    uint32_t open[SP_JSON_DEPTH];
    int depth;
} sp_reading;

static bool sp_is_space(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool sp_is_figure(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static int sp_hex_of(uint8_t c)
{
    if (sp_is_figure(c))
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void sp_skip_space(sp_reading *r)
{
    while (r->at < r->n && sp_is_space(r->json->text[r->at]))
        r->at++;
}

/* The first byte of what comes next in a JSON text; 0 at its end. */
static uint8_t sp_peek(const sp_reading *r)
{
    return r->at < r->n ? r->json->text[r->at] : 0;
}

/* A node for a value that begins here. There is room: see sp_most_nodes. */
static sp_node *sp_node_add(sp_reading *r, int type)
{
    sp_node *node = &r->json->nodes[r->json->n_nodes];
    memset(node, 0, sizeof(*node));
    node->type = type;
    node->start = (uint32_t)r->at;
    r->json->n_nodes++;
    node->next = r->json->n_nodes;
    return node;
}

/* The length of the UTF-8 sequence at p, which has at most n bytes; 0 if it is invalid. Lone
   surrogates are valid. */
static size_t sp_sequence(const uint8_t *p, size_t n)
{
    if (p[0] < 0x80)
        return 1;
    size_t more = p[0] < 0xE0 ? 1 : p[0] < 0xF0 ? 2 : 3;
    if (p[0] < 0xC2 || p[0] > 0xF4 || more >= n)
        return 0;
    for (size_t k = 1; k <= more; k++) {
        if ((p[k] & 0xC0) != 0x80)
            return 0;
    }
    if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xF0 && p[1] < 0x90)
        || (p[0] == 0xF4 && p[1] > 0x8F))
        return 0;
    return more + 1;
}

/* Four hex digits; -1 if they are something else. */
static int32_t sp_escape(const uint8_t *p, size_t n)
{
    int32_t c = 0;
    if (n < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = sp_hex_of(p[i]);
        if (digit < 0)
            return -1;
        c = c << 4 | digit;
    }
    return c;
}

/* Skip a string that starts here. */
static bool sp_read_string(sp_reading *r)
{
    const uint8_t *text = r->json->text;
    sp_node *node;
    r->at++;
    node = sp_node_add(r, SP_JSON_STRING);
    while (r->at < r->n) {
        const uint8_t *p = text + r->at;
        size_t length = 1;
        if (*p == '"') {
            node->end = (uint32_t)r->at;
            r->at++;
            return true;
        }
        if (*p == '\\') {
            if (r->at + 1 >= r->n || p[1] == 0 || strchr("\"\\/bfnrtu", p[1]) == NULL)
                return false;
            length = 2;
            if (p[1] == 'u') {
                if (sp_escape(p + 2, r->n - r->at - 2) < 0)
                    return false;
                length = 6;
            }
        } else if (*p < 32)
            return false;
        else if (*p >= 0x80)
            length = sp_sequence(p, r->n - r->at);
        if (length == 0)
            return false;
        r->at += length;
    }
    return false;
}

static bool sp_read_figures(sp_reading *r)
{
    size_t first = r->at;
    while (sp_is_figure(sp_peek(r)))
        r->at++;
    return r->at > first;
}

static bool sp_read_number(sp_reading *r)
{
    sp_node *node = sp_node_add(r, SP_JSON_NUMBER);
    r->at += sp_peek(r) == '-';
    if (sp_peek(r) == '0')
        r->at++;
    else if (!sp_read_figures(r))
        return false;
    if (sp_peek(r) == '.') {
        r->at++;
        if (!sp_read_figures(r))
            return false;
    }
    if (sp_peek(r) == 'e' || sp_peek(r) == 'E') {
        r->at++;
        r->at += sp_peek(r) == '-' || sp_peek(r) == '+';
        if (!sp_read_figures(r))
            return false;
    }
    node->end = (uint32_t)r->at;
    return true;
}

static bool sp_read_word(sp_reading *r, int type, const char *word)
{
    size_t n = strlen(word);
    sp_node *node = sp_node_add(r, type);
    if (r->n - r->at < n || memcmp(r->json->text + r->at, word, n) != 0)
        return false;
    r->at += n;
    node->end = (uint32_t)r->at;
    return true;
}

/* A value that does not contain others. */
static bool sp_read_scalar(sp_reading *r)
{
    switch (sp_peek(r)) {
    case '"':
        return sp_read_string(r);
    case 'n':
        return sp_read_word(r, SP_JSON_NULL, "null");
    case 't':
        return sp_read_word(r, SP_JSON_TRUE, "true");
    case 'f':
        return sp_read_word(r, SP_JSON_FALSE, "false");
    default:
        return sp_read_number(r);
    }
}

/* An object's next name, and its colon. */
static bool sp_read_member(sp_reading *r)
{
    sp_skip_space(r);
    if (sp_peek(r) != '"' || !sp_read_string(r))
        return false;
    sp_skip_space(r);
    if (sp_peek(r) != ':')
        return false;
    r->at++;
    return true;
}

/* Begin a list or an object. Returns whether a first value follows; -1: invalid. */
static int sp_open_value(sp_reading *r, bool object)
{
    if (r->depth == SP_JSON_DEPTH)
        return -1;
    r->open[r->depth] = r->json->n_nodes;
    sp_node_add(r, object ? SP_JSON_OBJECT : SP_JSON_LIST);
    r->depth++;
    r->at++;
    sp_skip_space(r);
    if (sp_peek(r) == (object ? '}' : ']'))
        return 0;
    if (object && !sp_read_member(r))
        return -1;
    return 1;
}

/* After a value: close what ends here, or find the next value. Returns whether there is one; -1:
   invalid. */
static int sp_after_value(sp_reading *r)
{
    while (r->depth > 0) {
        sp_node *node = &r->json->nodes[r->open[r->depth - 1]];
        bool object = node->type == SP_JSON_OBJECT;
        node->n += r->json->n_nodes > r->open[r->depth - 1] + 1;
        sp_skip_space(r);
        if (sp_peek(r) == ',') {
            r->at++;
            return object && !sp_read_member(r) ? -1 : 1;
        }
        if (sp_peek(r) != (object ? '}' : ']'))
            return -1;
        r->at++;
        node->end = (uint32_t)r->at;
        node->next = r->json->n_nodes;
        r->depth--;
    }
    return 0;
}

static bool sp_read_values(sp_reading *r)
{
    while (true) {
        sp_skip_space(r);
        uint8_t c = sp_peek(r);
        int more = 1;
        if (c == '{' || c == '[')
            more = sp_open_value(r, c == '{');
        else if (!sp_read_scalar(r))
            return false;
        else
            more = 0;
        if (more < 0)
            return false;
        if (more)
            continue;
        more = sp_after_value(r);
        if (more < 0)
            return false;
        if (!more)
            break;
    }
    sp_skip_space(r);
    return r->at == r->n;
}

/* An upper bound of a text's values: each but the first follows one of these characters. */
static size_t sp_most_nodes(const uint8_t *text, size_t n)
{
    size_t most = 1;
    for (size_t i = 0; i < n; i++)
        most += text[i] == ',' || text[i] == '[' || text[i] == '{' || text[i] == ':';
    return most;
}

/* --- Strings */

/* The next character of a string, at *p, which is before the string's end. */
static uint32_t sp_json_character(const uint8_t **p)
{
    static const char escaped[] = "\"\\/bfnrt";
    static const uint8_t meant[] = {'"', '\\', '/', 8, 12, 10, 13, 9};
    const uint8_t *at = *p;
    if (*at == '\\') {
        if (at[1] != 'u') {
            *p = at + 2;
            return meant[strchr(escaped, at[1]) - escaped];
        }
        uint32_t c = (uint32_t)sp_escape(at + 2, 4);
        *p = at + 6;
        /* at least a quote follows, so these can be examined one after the other */
        if ((c & 0xFC00) == 0xD800 && at[6] == '\\' && at[7] == 'u') {
            uint32_t low = (uint32_t)sp_escape(at + 8, 4);
            if ((low & 0xFC00) == 0xDC00) {
                *p = at + 12;
                return 0x10000 + ((c & 0x3FF) << 10) + (low & 0x3FF);
            }
        }
        return c;
    }
    size_t n = *at < 0x80 ? 1 : *at < 0xE0 ? 2 : *at < 0xF0 ? 3 : 4;
    uint32_t c = n == 1 ? *at : *at & (0x7FU >> n);
    for (size_t k = 1; k < n; k++)
        c = c << 6 | (at[k] & 0x3F);
    *p = at + n;
    return c;
}

SP_PRIVATE size_t sp_json_string(const sp_json *json, uint32_t node, uint8_t *to)
{
    const uint8_t *p = sp_json_start(json, node);
    const uint8_t *end = json->text + json->nodes[node].end;
    uint8_t *first = to;
    while (p < end)
        to += sp_utf8_encode(sp_json_character(&p), to);
    return (size_t)(to - first);
}

SP_PRIVATE bool sp_json_is(const sp_json *json, uint32_t node, const char *words)
{
    if (sp_json_type(json, node) != SP_JSON_STRING)
        return false;
    const uint8_t *p = sp_json_start(json, node);
    const uint8_t *end = json->text + json->nodes[node].end;
    for (; p < end && *words; words++) {
        if (sp_json_character(&p) != (uint8_t)*words)
            return false;
    }
    return p == end && *words == 0;
}

/* Compare two strings by their characters: below 0, 0 or above. */
static int sp_json_compare(const sp_json *json, uint32_t a, uint32_t b)
{
    const uint8_t *p = sp_json_start(json, a), *q = sp_json_start(json, b);
    const uint8_t *p_end = json->text + json->nodes[a].end;
    const uint8_t *q_end = json->text + json->nodes[b].end;
    while (p < p_end && q < q_end) {
        uint32_t c = sp_json_character(&p), d = sp_json_character(&q);
        if (c != d)
            return c < d ? -1 : 1;
    }
    return (p < p_end) - (q < q_end);
}

/* --- Names that occur twice */

/* Let the name at `at` sink to its place in a heap of n. */
static void sp_sift(const sp_json *json, uint32_t *names, size_t at, size_t n)
{
    while (2 * at + 1 < n) {
        size_t child = 2 * at + 1;
        child += child + 1 < n && sp_json_compare(json, names[child], names[child + 1]) < 0;
        if (sp_json_compare(json, names[at], names[child]) >= 0)
            return;
        uint32_t name = names[at];
        names[at] = names[child];
        names[child] = name;
        at = child;
    }
}

/* Whether a name occurs twice among these; sorts them. */
static bool sp_repeats(const sp_json *json, uint32_t *names, size_t n)
{
    for (size_t at = n / 2; at > 0; at--)
        sp_sift(json, names, at - 1, n);
    for (size_t end = n; end > 1; end--) {
        uint32_t largest = names[0];
        names[0] = names[end - 1];
        names[end - 1] = largest;
        sp_sift(json, names, 0, end - 1);
    }
    for (size_t i = 1; i < n; i++) {
        if (sp_json_compare(json, names[i - 1], names[i]) == 0)
            return true;
    }
    return false;
}

/* 0, or a fault: some object has a name twice. */
static int sp_check_names(const sp_json *json, sp_fault *fault)
{
    uint32_t most = 0;
    bool repeats = false;
    for (uint32_t i = 0; i < json->n_nodes; i++) {
        if (json->nodes[i].type == SP_JSON_OBJECT)
            most = json->nodes[i].n > most ? json->nodes[i].n : most;
    }
    if (most < 2)
        return 0;
    uint32_t *names = (uint32_t *)sp_malloc(most * sizeof(uint32_t));
    if (names == NULL)
        return sp_fault_memory(fault);
    for (uint32_t i = 0; i < json->n_nodes && !repeats; i++) {
        const sp_node *object = &json->nodes[i];
        if (object->type != SP_JSON_OBJECT)
            continue;
        uint32_t name = i + 1;
        for (uint32_t k = 0; k < object->n; k++) {
            names[k] = name;
            name = json->nodes[name + 1].next;
        }
        repeats = sp_repeats(json, names, object->n);
    }
    sp_free(names);
    return repeats ? sp_fault_say(fault, SP_WHY_DAMAGED, "a name occurs twice in the header") : 0;
}

/* --- Documents */

SP_PRIVATE void sp_json_free(sp_json *json)
{
    sp_free(json->nodes);
    json->nodes = NULL;
    json->n_nodes = 0;
}

SP_PRIVATE int sp_json_read(sp_json *json, const uint8_t *text, size_t n, sp_fault *fault)
{
    sp_reading r;
    memset(json, 0, sizeof(*json));
    r.json = json;
    r.n = n;
    r.at = 0;
    r.depth = 0;
    json->text = text;
    if (n > SP_JSON_LENGTH_MOST)
        return sp_fault_say(fault, SP_WHY_DAMAGED, "a part of it is too long");
    json->nodes = (sp_node *)sp_malloc(sp_most_nodes(text, n) * sizeof(sp_node));
    if (json->nodes == NULL)
        return sp_fault_memory(fault);
    if (!sp_read_values(&r)) {
        sp_json_free(json);
        return sp_fault_say(fault, SP_WHY_DAMAGED, "a part of it is not JSON");
    }
    return sp_check_names(json, fault);
}

SP_PRIVATE uint32_t sp_json_get(const sp_json *json, uint32_t object, const char *name)
{
    uint32_t at = object + 1;
    for (uint32_t k = 0; k < json->nodes[object].n; k++) {
        if (sp_json_is(json, at, name))
            return at + 1;
        at = json->nodes[at + 1].next;
    }
    return 0;
}

SP_PRIVATE bool sp_json_whole(const sp_json *json, uint32_t node, uint64_t most, uint64_t *number)
{
    const uint8_t *p = sp_json_start(json, node);
    size_t n = sp_json_length(json, node);
    uint64_t sum = 0;
    if (sp_json_type(json, node) != SP_JSON_NUMBER)
        return false;
    for (size_t i = 0; i < n; i++) {
        uint64_t figure = (uint64_t)(p[i] - '0');
        if (!sp_is_figure(p[i]) || sum > (UINT64_MAX - figure) / 10)
            return false;
        sum = 10 * sum + figure;
    }
    *number = sum;
    return sum <= most;
}
