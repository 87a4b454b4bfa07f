#include "mbox.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

enum { SENDER_MOST = 500, LENGTH_MOST = 1 << 26 };

size_t line_length(const char *p, size_t n)
{
    const char *end = n ? memchr(p, '\n', n) : NULL;
    return end == NULL ? n : (size_t)(end - p) + 1;
}

bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

size_t header_end(const char *mail, size_t n)
{
    for (size_t at = 0; at < n; at += line_length(mail + at, n - at)) {
        if (mail[at] == '\n' || (mail[at] == '\r' && at + 1 < n && mail[at + 1] == '\n'))
            return at;
    }
    return n;
}

/* --- Dates. Each reader moves `at` past what it has found */

typedef struct cursor {
    const char *p;
    size_t n, at;
} cursor;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool one(cursor *c, char what)
{
    bool there = c->at < c->n && c->p[c->at] == what;
    c->at += there;
    return there;
}

static size_t digits(cursor *c, size_t most)
{
    size_t n = 0;
    while (n < most && c->at < c->n && is_digit(c->p[c->at])) {
        c->at++;
        n++;
    }
    return n;
}

static bool spaces(cursor *c)
{
    size_t from = c->at;
    while (one(c, ' '))
        continue;
    return c->at > from;
}

/* One of several words of three letters. */
static bool word(cursor *c, const char *words)
{
    for (; *words && c->n - c->at >= 3; words += 3) {
        if (memcmp(c->p + c->at, words, 3) == 0) {
            c->at += 3;
            return true;
        }
    }
    return false;
}

static bool month(cursor *c)
{
    return word(c, "JanFebMarAprMayJunJulAugSepOctNovDec");
}

/* hh:mm, perhaps with seconds. */
static bool time_of_day(cursor *c)
{
    if (digits(c, 2) == 0 || !one(c, ':') || digits(c, 2) != 2)
        return false;
    cursor seconds = *c;
    if (one(&seconds, ':') && digits(&seconds, 2) == 2)
        *c = seconds;
    return true;
}

/* +0100, or with a colon. */
static bool offset(cursor *c)
{
    if (!one(c, '+') && !one(c, '-'))
        return false;
    if (digits(c, 2) != 2)
        return false;
    one(c, ':');
    return digits(c, 2) == 2;
}

static bool ends_word(const cursor *c)
{
    return c->at == c->n || is_space(c->p[c->at]);
}

/* Names and offsets of time zones, as many as there are. */
static void zones(cursor *c)
{
    for (;;) {
        cursor next = *c;
        if (!spaces(&next))
            return;
        bool bracket = one(&next, '(');
        size_t n = 0;
        while (next.at < next.n && is_letter(next.p[next.at]) && n <= 5) {
            next.at++;
            n++;
        }
        bool good = n > 0 && n <= 5 && (!bracket || one(&next, ')'));
        if (n == 0 && !bracket)
            good = offset(&next);
        if (!good || !ends_word(&next))
            return;
        *c = next;
    }
}

/* Mon Jan  1 12:30:00 2024, or Mon, 1 Jan 2024 12:30:00 +0100. */
static bool day_date(cursor *c)
{
    if (!word(c, "MonTueWedThuFriSatSun"))
        return false;
    one(c, ',');
    if (!spaces(c))
        return false;
    if (month(c)) {
        if (!spaces(c) || digits(c, 2) == 0 || !spaces(c) || !time_of_day(c))
            return false;
        zones(c);
        if (!spaces(c) || digits(c, 4) != 4)
            return false;
    } else if (digits(c, 2) == 0 || !spaces(c) || !month(c) || !spaces(c) || digits(c, 4) != 4
               || !spaces(c) || !time_of_day(c))
        return false;
    zones(c);
    return true;
}

/* 2024-01-01, perhaps with a time. */
static bool iso_date(cursor *c)
{
    if (digits(c, 4) != 4 || !one(c, '-') || digits(c, 2) != 2 || !one(c, '-')
        || digits(c, 2) != 2)
        return false;
    cursor time = *c;
    if ((!one(&time, 'T') && !one(&time, ' ')) || !time_of_day(&time))
        return true;
    cursor part = time;
    if (one(&part, '.') && digits(&part, SIZE_MAX) > 0)
        time = part;
    part = time;
    one(&part, ' ');
    if (one(&part, 'Z') || offset(&part))
        time = part;
    *c = time;
    return true;
}

/* Whether only blanks follow, or "remote from ...". */
static bool ends_line(cursor c)
{
    static const char remote[] = " remote from ";
    size_t n = sizeof(remote) - 1;
    if (c.n - c.at > n && memcmp(c.p + c.at, remote, n) == 0 && !is_space(c.p[c.at + n])) {
        c.at += n;
        while (c.at < c.n && !is_space(c.p[c.at]))
            c.at++;
    }
    while (one(&c, ' ') || one(&c, '\t'))
        continue;
    return c.at == c.n;
}

/* A line without its end. */
static cursor line_at(const char *p, size_t n)
{
    size_t length = line_length(p, n);
    if (length > 0 && p[length - 1] == '\n') {
        length--;
        length -= length > 0 && p[length - 1] == '\r';
    }
    return (cursor){p, length, 0};
}

static bool is_from(const cursor *c)
{
    return c->n >= 5 && memcmp(c->p, "From ", 5) == 0;
}

static bool is_dated(const char *p, size_t n)
{
    cursor line = line_at(p, n);
    if (!is_from(&line))
        return false;
    for (size_t from = 5; from < line.n && from <= 6 + SENDER_MOST; from++) {
        char before = line.p[from - 1];
        cursor date = {line.p, line.n, from}, iso = date;
        if (before != ' ' && before != '\t')
            continue;
        if ((day_date(&date) && ends_line(date)) || (iso_date(&iso) && ends_line(iso)))
            return true;
    }
    return false;
}

/* --- Lines without a date */

/* Fields that a header may begin with; a star stands for letters, digits and dashes. */
static const char *const fields[] = {
    "apparently-to", "arc-*", "authentication-results", "bcc", "cc", "content-*", "comments",
    "date", "delivered-to", "delivery-date", "dkim-signature", "domainkey-signature",
    "envelope-to", "errors-to", "from", "importance", "in-reply-to", "keywords", "lines", "list-*",
    "mail-*", "message-id", "mime-version", "newsgroups", "old-*", "organization", "original-*",
    "path", "precedence", "priority", "received", "received-spf", "references", "reply-to",
    "resent-*", "return-path", "return-receipt-to", "sender", "status", "subject", "thread-*", "to",
    "user-agent", "x-*", "xref"};

static bool is_name(char c)
{
    return is_letter(c) || is_digit(c) || c == '-' || c == '_';
}

static bool is_field(const char *p, size_t n)
{
    size_t name = 0;
    if (n >= 6 && strncasecmp(p, ">From ", 6) == 0)
        return true;
    while (name < n && is_name(p[name]))
        name++;
    size_t colon = name;
    while (colon < n && (p[colon] == ' ' || p[colon] == '\t'))
        colon++;
    if (colon == n || p[colon] != ':')
        return false;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        size_t length = strlen(fields[i]);
        bool star = fields[i][length - 1] == '*';
        length -= star;
        if ((star ? name > length : name == length) && strncasecmp(p, fields[i], length) == 0)
            return true;
    }
    return false;
}

/* Whether a line may begin a mail although it has no known form of date. */
static bool is_bare(const char *p, size_t n)
{
    cursor line = line_at(p, n);
    if (!is_from(&line))
        return false;
    line.at = 5;
    while (line.at < line.n && !is_space(line.p[line.at]))
        line.at++;
    bool has_sender = line.at > 5;
    cursor rest = line;
    while (one(&rest, ' ') || one(&rest, '\t'))
        continue;
    if (rest.at == rest.n)
        return true;
    for (; has_sender && line.at + 1 < line.n; line.at++) {
        cursor time = {line.p, line.n, line.at};
        if (one(&time, ' ') && digits(&time, 2) > 0 && one(&time, ':') && digits(&time, 2) == 2)
            return true;
    }
    return false;
}

static bool is_bare_and_followed(const char *p, size_t n)
{
    size_t length = line_length(p, n);
    return is_bare(p, n) && is_field(p + length, n - length);
}

bool is_mbox(const char *p, size_t n)
{
    size_t at = 0;
    while (at < n && (p[at] == '\r' || p[at] == '\n'))
        at++;
    return is_dated(p + at, n - at) || is_bare_and_followed(p + at, n - at);
}

/* --- Where a mail ends */

static bool begins(const char *p, size_t n, size_t at)
{
    if (is_dated(p + at, n - at))
        return true;
    bool behind_empty = (at >= 2 && memcmp(p + at - 2, "\n\n", 2) == 0)
                        || (at >= 3 && memcmp(p + at - 3, "\n\r\n", 3) == 0);
    return behind_empty && is_bare_and_followed(p + at, n - at);
}

/* Where the text ends according to the header; 0: it does not say. */
static size_t says_its_end(const char *p, size_t n)
{
    static const char name[] = "content-length:";
    size_t end = header_end(p, n);
    if (end == n)
        return 0;
    for (size_t at = 0; at < end; at += line_length(p + at, n - at)) {
        cursor line = line_at(p + at, end - at);
        size_t number = 0;
        if (line.n < sizeof(name) - 1 || strncasecmp(line.p, name, sizeof(name) - 1) != 0)
            continue;
        line.at = sizeof(name) - 1;
        while (one(&line, ' ') || one(&line, '\t'))
            continue;
        size_t from = line.at, count = digits(&line, 9);
        for (size_t i = from; i < from + count; i++)
            number = 10 * number + (size_t)(line.p[i] - '0');
        while (one(&line, ' ') || one(&line, '\t'))
            continue;
        if (count == 0 || line.at < line.n)
            continue;
        return number > LENGTH_MOST ? 0 : end + line_length(p + end, n - end) + number;
    }
    return 0;
}

/* Where the next mail begins after that end, or the file ends; 0: neither. */
static size_t followed(const char *p, size_t n, size_t end)
{
    size_t at = end;
    while (at < end + 4 && at < n
           && (p[at] == '\n' || (p[at] == '\r' && at + 1 < n && p[at + 1] == '\n')))
        at += p[at] == '\n' ? 1 : 2;
    if (at >= n)
        return end <= n ? n : 0;
    if (at == 0 || p[at - 1] != '\n')
        return 0;
    return is_dated(p + at, n - at) || is_bare_and_followed(p + at, n - at) ? at : 0;
}

size_t mbox_cut(const char *p, size_t n)
{
    size_t ends = 0;
    bool asked = false;
    for (size_t at = line_length(p, n); at < n; at += line_length(p + at, n - at)) {
        if (p[at] != 'F' || !begins(p, n, at))
            continue;
        if (!asked)
            ends = says_its_end(p, n);
        asked = true;
        if (ends < at)
            return at;
        size_t end = followed(p, n, ends);
        ends = 0;
        return end != 0 ? end : at; /* at, if the header was wrong */
    }
    return n;
}
