#include "known.h"

#include "sha256.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { HEADER_MOST = 1 << 16, ID_MOST = 250, KNOWN_MOST = 100000 };

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* --- A mail's identity */

/* White space, as for Python's bytes. */
static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* *end: where the header ends. Returns where the text begins. */
static size_t find_text(const char *mail, size_t n, size_t *end)
{
    size_t most = n < HEADER_MOST ? n : HEADER_MOST;
    *end = 0;
    if (n > 0 && mail[0] == '\n')
        return 1;
    if (n > 1 && mail[0] == '\r' && mail[1] == '\n')
        return 2;
    for (size_t at = 0; at + 1 < most; at++) {
        if (mail[at] != '\n')
            continue;
        *end = at;
        if (mail[at + 1] == '\n')
            return at + 2;
        if (at + 2 < most && mail[at + 1] == '\r' && mail[at + 2] == '\n')
            return at + 3;
    }
    *end = most;
    return 0;
}

/* Add the words in some bytes, separated by single spaces. */
static void add_words(bytes *to, const char *p, size_t n)
{
    bool first = true;
    for (size_t at = 0; at < n;) {
        size_t from = at;
        while (at < n && !is_space(p[at]))
            at++;
        if (at > from) {
            bytes_add(to, " ", !first);
            bytes_add(to, p + from, at - from);
            first = false;
        }
        while (at < n && is_space(p[at]))
            at++;
    }
}

/* Add the values of the fields with this name, each with a line end behind it; `one`: only the
   first. */
static size_t add_fields(bytes *to, const char *header, size_t n, const char *name, bool one)
{
    size_t length = strlen(name), found = 0;
    for (size_t at = 0; at < n && !(one && found);) {
        const char *stop = memchr(header + at, '\n', n - at);
        size_t next = stop == NULL ? n : (size_t)(stop - header) + 1;
        if (next - at <= length || strncasecmp(header + at, name, length) != 0
            || header[at + length] != ':') {
            at = next;
            continue;
        }
        size_t from = at + length + 1;
        while (next < n && (header[next] == ' ' || header[next] == '\t')) {
            stop = memchr(header + next, '\n', n - next);
            next = stop == NULL ? n : (size_t)(stop - header) + 1;
        }
        add_words(to, header + from, next - from);
        bytes_word(to, one ? "" : "\n");
        found++;
        at = next;
    }
    return found;
}

/* Add a text, stripped of white space at both ends, with LF as line ends. */
static void add_text(bytes *to, const char *p, size_t n)
{
    while (n > 0 && is_space(p[n - 1]))
        n--;
    while (n > 0 && is_space(p[0])) {
        p++;
        n--;
    }
    for (size_t at = 0; at < n;) {
        const char *cr = memchr(p + at, '\r', n - at);
        size_t next = cr == NULL ? n : (size_t)(cr - p);
        bool pair = next + 1 < n && p[next + 1] == '\n';
        bytes_add(to, p + at, next - at + (next < n && !pair));
        at = next + 1;
    }
}

/* The id of a Message-ID; "" if it is of no use. */
static void take_id(const bytes *field, char *id)
{
    size_t first = field->n > 0 && field->p[0] == '<', n = field->n - first;
    n -= n > 0 && field->p[first + n - 1] == '>';
    id[0] = 0;
    if (n == 0 || n > ID_MOST)
        return;
    for (size_t i = 0; i < n; i++) {
        if (field->p[first + i] < 0x20 || field->p[first + i] > 0x7E)
            return;
    }
    memcpy(id, field->p + first, n);
    id[n] = 0;
}

bool mail_identify(const char *mail, size_t n, mail_identity *its)
{
    bytes said = {0}, id = {0};
    uint8_t digest[32];
    size_t end, text = find_text(mail, n, &end);
    add_fields(&id, mail, end, "message-id", true);
    take_id(&id, its->id);
    add_fields(&said, mail, end, "from", false);
    bytes_word(&said, "\n");
    add_fields(&said, mail, end, "subject", false);
    bytes_word(&said, "\n");
    add_text(&said, mail + text, n - text);
    sha256(said.p, said.n, digest);
    for (size_t i = 0; i < DIGITS / 2; i++)
        snprintf(its->digits + 2 * i, 3, "%02x", digest[i]);
    bool good = !said.failed && !id.failed;
    bytes_free(&said);
    bytes_free(&id);
    return good;
}

/* --- Known mails */

static bool mark_of(const mail_identity *its, const char *label, size_t n, uint8_t mark[MARK])
{
    bytes said = {0};
    uint8_t digest[32];
    bytes_add(&said, its->id, strlen(its->id) + 1);
    bytes_add(&said, its->digits, DIGITS + 1);
    bytes_add(&said, label, n);
    if (!said.failed) {
        sha256(said.p, said.n, digest);
        memcpy(mark, digest, MARK);
    }
    bool good = !said.failed;
    bytes_free(&said);
    return good;
}

static size_t place_of(const known *k, const uint8_t mark[MARK])
{
    size_t at = 0;
    while (at < k->marks.n && memcmp(k->marks.p + at, mark, MARK) != 0)
        at += MARK;
    return at;
}

bool known_read(known *k, const model *m)
{
    size_t n, node = json_path(&m->lines, "mails.known");
    uint32_t held = 0;
    int bits = 0;
    *k = (known){{0}};
    if (node == 0 || m->lines.nodes[node].type != JSON_STRING)
        return true;
    const char *p = json_string(&m->lines, node, &n);
    for (size_t i = 0; i < n && p[i] != '='; i++) {
        const char *letter = p[i] ? strchr(letters, p[i]) : NULL;
        if (letter == NULL)
            return false;
        held = held << 6 | (uint32_t)(letter - letters);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            char byte = (char)(held >> bits & 255);
            bytes_add(&k->marks, &byte, 1);
        }
    }
    k->marks.n -= k->marks.n % MARK;
    return !k->marks.failed;
}

bool known_has(const known *k, const mail_identity *its, const char *label, size_t n)
{
    uint8_t mark[MARK];
    return mark_of(its, label, n, mark) && place_of(k, mark) < k->marks.n;
}

static void drop(known *k, size_t at)
{
    memmove(k->marks.p + at, k->marks.p + at + MARK, k->marks.n - at - MARK);
    k->marks.n -= MARK;
}

bool known_add(known *k, const model *m, const mail_identity *its, const char *label, size_t n)
{
    uint8_t mark[MARK];
    for (size_t i = 0; i < model_labels(m); i++) {
        size_t length;
        const char *name = model_name(m, i, &length);
        if (!mark_of(its, name, length, mark))
            return false;
        size_t at = place_of(k, mark);
        if (at < k->marks.n)
            drop(k, at);
    }
    if (!mark_of(its, label, n, mark))
        return false;
    if (place_of(k, mark) == k->marks.n)
        bytes_add(&k->marks, mark, MARK);
    while (k->marks.n > (size_t)KNOWN_MOST * MARK)
        drop(k, 0);
    return !k->marks.failed;
}

void known_keep(const known *k, model *m)
{
    m->known.n = 0;
    for (size_t at = 0; at < k->marks.n; at += 3) {
        uint32_t three = 0;
        size_t there = k->marks.n - at < 3 ? k->marks.n - at : 3;
        for (size_t i = 0; i < 3; i++)
            three = three << 8 | (i < there ? (unsigned char)k->marks.p[at + i] : 0U);
        for (size_t i = 0; i < 4; i++)
            bytes_add(&m->known, i <= there ? &letters[three >> (18 - 6 * i) & 63] : "=", 1);
    }
    m->has_known = m->changed = true;
}

void known_free(known *k)
{
    bytes_free(&k->marks);
}
