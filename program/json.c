#include "json.h"
#include "texts.h"

#include <stdlib.h>
#include <string.h>

enum {
    DEPTH = 500,        /* of lists and objects in others */
    DIGITS_MOST = 4300, /* of a whole number, as in Python */
    FEW = 8,            /* so few names are compared pairwise */
};

typedef struct reading {
    json *j;
    size_t at;
    int depth;
} reading;

static bool value(reading *r);

static bool wrong(reading *r, const char *why)
{
    r->j->wrong = why;
    return false;
}

static bool is_at(const reading *r, char c)
{
    return r->at < r->j->n && r->j->text[r->at] == c;
}

static void blanks(reading *r)
{
    while (r->at < r->j->n && r->j->text[r->at] && strchr(" \t\n\r", r->j->text[r->at]))
        r->at++;
}

/* Begin a node here. Returns its number, or (size_t)-1 if out of memory. */
static size_t begin(reading *r, json_type type)
{
    json *j = r->j;
    if (j->n_nodes == j->room) {
        size_t room = 2 * j->room + 16;
        json_node *nodes = realloc(j->nodes, room * sizeof(json_node));
        if (nodes == NULL)
            return (size_t)-1;
        j->nodes = nodes;
        j->room = room;
    }
    j->nodes[j->n_nodes] = (json_node){type, r->at, r->at, j->texts.n, 0, 0};
    return j->n_nodes++;
}

static bool end(reading *r, size_t node)
{
    r->j->nodes[node].end = r->at;
    r->j->nodes[node].next = r->j->n_nodes;
    return true;
}

static bool hex(reading *r, uint32_t *c)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    *c = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        char digit = r->at < r->j->n ? r->j->text[r->at] : 0;
        const char *found = digit ? strchr(digits, digit) : NULL;
        if (found == NULL)
            return wrong(r, "a bad escape in a string");
        *c = *c << 4 | ((uint32_t)(found - digits) & 15);
    }
    return true;
}

static bool escape(reading *r)
{
    static const char named[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    bytes *to = &r->j->texts;
    uint32_t c, low;
    char letter = ++r->at < r->j->n ? r->j->text[r->at] : 0;
    r->at++;
    if (letter == 'u') {
        if (!hex(r, &c))
            return false;
        if (c >> 10 == 0x36 && r->at + 1 < r->j->n && r->j->text[r->at] == '\\'
            && r->j->text[r->at + 1] == 'u') {
            size_t before = r->at;
            r->at += 2;
            if (!hex(r, &low))
                return false;
            if (low >> 10 == 0x37)
                c = 0x10000 + ((c & 0x3FF) << 10 | (low & 0x3FF));
            else
                r->at = before;
        }
        character_add(to, c);
        return true;
    }
    for (const char *each = named; *each; each += 2) {
        if (letter == *each) {
            bytes_add(to, each + 1, 1);
            return true;
        }
    }
    return wrong(r, "a bad escape in a string");
}

static bool string(reading *r)
{
    size_t node = begin(r, JSON_STRING);
    if (node == (size_t)-1)
        return false;
    r->at++;
    while (!is_at(r, '"')) {
        if (r->at >= r->j->n)
            return wrong(r, "a string without an end");
        unsigned char c = (unsigned char)r->j->text[r->at];
        if (c < 0x20)
            return wrong(r, "a control character in a string");
        if (c == '\\') {
            if (!escape(r))
                return false;
        } else {
            bytes_add(&r->j->texts, r->j->text + r->at, 1);
            r->at++;
        }
    }
    r->at++;
    r->j->nodes[node].n = r->j->texts.n - r->j->nodes[node].at;
    bytes_add(&r->j->texts, "", 1);
    return end(r, node) && !r->j->texts.failed;
}

static size_t digits(reading *r)
{
    size_t from = r->at;
    while (r->at < r->j->n && r->j->text[r->at] >= '0' && r->j->text[r->at] <= '9')
        r->at++;
    return r->at - from;
}

static bool number(reading *r)
{
    size_t node = begin(r, JSON_WHOLE), from, n;
    if (node == (size_t)-1)
        return false;
    r->at += is_at(r, '-');
    from = r->at;
    n = is_at(r, '0') ? 1 : 0;
    r->at += n;
    if (n == 0)
        n = digits(r);
    if (n == 0)
        return wrong(r, "a value is missing");
    size_t whole = r->at - from, behind = r->at;
    if (is_at(r, '.')) {
        r->at++;
        if (digits(r) > 0) {
            behind = r->at;
            r->j->nodes[node].type = JSON_NUMBER;
        }
        r->at = behind;
    }
    if (is_at(r, 'e') || is_at(r, 'E')) {
        r->at++;
        r->at += is_at(r, '-') || is_at(r, '+');
        if (digits(r) > 0) {
            behind = r->at;
            r->j->nodes[node].type = JSON_NUMBER;
        }
        r->at = behind;
    }
    if (r->j->nodes[node].type == JSON_WHOLE && whole > DIGITS_MOST)
        return wrong(r, "a number with too many digits");
    return end(r, node);
}

static int by_text(const json *j, size_t a, size_t b)
{
    const json_node *one = &j->nodes[a], *other = &j->nodes[b];
    if (one->n != other->n)
        return one->n < other->n ? -1 : 1;
    return one->n == 0 ? 0 : memcmp(j->texts.p + one->at, j->texts.p + other->at, one->n);
}

static const json *sorted; /* for the comparison below, to which qsort passes nothing else */

static int compared(const void *a, const void *b)
{
    return by_text(sorted, *(const size_t *)a, *(const size_t *)b);
}

/* Whether an object has a name twice. */
static bool repeats(reading *r, size_t object)
{
    const json *j = r->j;
    size_t n = j->nodes[object].n, few[FEW], *names = few, i = 0;
    bool twice = false;
    if (n > FEW)
        names = malloc(n * sizeof(size_t));
    if (names == NULL) {
        r->j->texts.failed = true;
        return true;
    }
    for (size_t at = object + 1; i < n; at = j->nodes[at + 1].next)
        names[i++] = at;
    if (n > 1) {
        sorted = j;
        qsort(names, n, sizeof(size_t), compared);
    }
    for (i = 1; i < n; i++)
        twice = twice || by_text(j, names[i - 1], names[i]) == 0;
    if (names != few)
        free(names);
    return twice && wrong(r, "a key occurs twice; write it once") == false;
}

static bool several(reading *r, bool is_object)
{
    size_t node = begin(r, is_object ? JSON_OBJECT : JSON_LIST);
    char close = is_object ? '}' : ']';
    if (node == (size_t)-1)
        return false;
    if (++r->depth > DEPTH)
        return wrong(r, "JSON that is nested too deeply; write flat objects");
    r->at++;
    blanks(r);
    bool more = !is_at(r, close);
    while (more) {
        if (is_object) {
            if (!is_at(r, '"'))
                return wrong(r, "a name in quotes is missing");
            if (!string(r))
                return false;
            blanks(r);
            if (!is_at(r, ':'))
                return wrong(r, "a colon is missing");
            r->at++;
            blanks(r);
        }
        if (!value(r))
            return false;
        r->j->nodes[node].n++;
        blanks(r);
        more = is_at(r, ',');
        if (!more && !is_at(r, close))
            return wrong(r, "a comma is missing");
        r->at += more;
        blanks(r);
    }
    r->at++;
    r->depth--;
    if (is_object && repeats(r, node))
        return false;
    return end(r, node);
}

static bool value(reading *r)
{
    static const struct {
        const char *word;
        json_type type;
    } words[] = {{"null", JSON_NULL}, {"false", JSON_FALSE}, {"true", JSON_TRUE}};
    if (is_at(r, '"'))
        return string(r);
    if (is_at(r, '{') || is_at(r, '['))
        return several(r, is_at(r, '{'));
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t n = strlen(words[i].word);
        if (r->j->n - r->at >= n && memcmp(r->j->text + r->at, words[i].word, n) == 0) {
            size_t node = begin(r, words[i].type);
            r->at += n;
            return node != (size_t)-1 && end(r, node);
        }
    }
    return number(r);
}

bool json_read(json *j, const char *text, size_t n)
{
    reading r = {j, 0, 0};
    j->text = text;
    j->n = n;
    j->n_nodes = j->texts.n = 0;
    j->texts.failed = false;
    j->wrong = NULL;
    blanks(&r);
    if (!value(&r))
        return false;
    blanks(&r);
    return r.at == n || wrong(&r, "there is more than one value");
}

void json_free(json *j)
{
    free(j->nodes);
    bytes_free(&j->texts);
    memset(j, 0, sizeof(*j));
}

size_t json_get(const json *j, size_t object, const char *name, size_t n)
{
    if (j->n_nodes == 0 || j->nodes[object].type != JSON_OBJECT)
        return 0;
    for (size_t at = object + 1; at < j->nodes[object].next; at = j->nodes[at + 1].next) {
        if (j->nodes[at].n == n && (n == 0 || memcmp(j->texts.p + j->nodes[at].at, name, n) == 0))
            return at + 1;
    }
    return 0;
}

/* The value that the names between dots lead to. */
static size_t json_walk(const json *j, const char *path)
{
    size_t node = 0;
    for (;;) {
        size_t n = strcspn(path, ".");
        node = json_get(j, node, path, n);
        if (node == 0 || path[n] == 0)
            return node;
        path += n + 1;
    }
}

size_t json_path(const json *j, const char *path)
{
    size_t node = json_get(j, 0, path, strlen(path));
    bool there = node != 0 && j->nodes[node].type != JSON_NULL;
    return there || strchr(path, '.') == NULL ? node : json_walk(j, path);
}

const char *json_string(const json *j, size_t node, size_t *n)
{
    *n = j->nodes[node].n;
    return j->texts.p == NULL ? "" : j->texts.p + j->nodes[node].at;
}

bool json_is(const json *j, size_t node, const char *word)
{
    size_t n;
    const char *p = json_string(j, node, &n);
    return j->nodes[node].type == JSON_STRING && n == strlen(word) && memcmp(p, word, n) == 0;
}

double json_number(const json *j, size_t node)
{
    /* strtod stops at what follows the number: there is a bracket or a zero behind it */
    return strtod(j->text + j->nodes[node].start, NULL);
}

void json_show(const json *j, size_t node, bytes *to)
{
    static const char *const words[] = {"None", "False", "True"};
    const json_node *its = &j->nodes[node];
    size_t n;
    if (its->type <= JSON_TRUE)
        bytes_word(to, words[its->type]);
    else if (its->type == JSON_STRING) {
        const char *p = json_string(j, node, &n);
        add_shown(to, p, n, false, (size_t)-1);
    } else if (its->type < JSON_LIST)
        json_add(j, node, to);
    else {
        bool is_object = its->type == JSON_OBJECT, first = true;
        bytes_word(to, is_object ? "{" : "[");
        for (size_t at = node + 1; at < its->next; at = j->nodes[at].next, first = false) {
            bytes_word(to, first ? "" : ", ");
            json_show(j, at, to);
            if (is_object) {
                bytes_word(to, ": ");
                json_show(j, ++at, to);
            }
        }
        bytes_word(to, is_object ? "}" : "]");
    }
}

void json_add(const json *j, size_t node, bytes *to)
{
    static const char *const words[] = {"null", "false", "true"};
    const json_node *its = &j->nodes[node];
    size_t n;
    const char *p;
    if (its->type <= JSON_TRUE)
        bytes_word(to, words[its->type]);
    else if (its->type == JSON_WHOLE)
        bytes_word(to, its->end - its->start == 2 && memcmp(j->text + its->start, "-0", 2) == 0
                           ? "0"
                           : "");
    else if (its->type == JSON_NUMBER)
        add_number(to, json_number(j, node));
    else if (its->type == JSON_STRING) {
        p = json_string(j, node, &n);
        add_json(to, p, n);
    }
    if (its->type == JSON_WHOLE
        && !(its->end - its->start == 2 && memcmp(j->text + its->start, "-0", 2) == 0))
        bytes_add(to, j->text + its->start, its->end - its->start);
    if (its->type < JSON_LIST)
        return;
    bytes_word(to, its->type == JSON_LIST ? "[" : "{");
    bool is_object = its->type == JSON_OBJECT, first = true;
    for (size_t at = node + 1; at < its->next; at = j->nodes[at].next, first = false) {
        bytes_word(to, first ? "" : ", ");
        json_add(j, at, to);
        if (is_object) {
            bytes_word(to, ": ");
            json_add(j, ++at, to);
        }
    }
    bytes_word(to, is_object ? "}" : "]");
}
