#include "mails.h"

#include "mbox.h"
#include "texts.h"

#include <string.h>

void box_begin(mail_box *box, const char *p, size_t n)
{
    bytes mail = box->mail;
    size_t at = 0;
    bool several = is_mbox(p, n);
    while (several && (p[at] == '\r' || p[at] == '\n')) /* before the first `From ` */
        at++;
    *box = (mail_box){p, n, at, several, n == 0, mail};
}

/* Add a line without the quote that an mbox puts before `From `. */
static void add_unquoted(bytes *to, const char *p, size_t length)
{
    size_t quotes = 0;
    while (quotes < length && p[quotes] == '>')
        quotes++;
    bool quoted = quotes > 0 && length - quotes >= 5 && memcmp(p + quotes, "From ", 5) == 0;
    bytes_add(to, p + quoted, length - quoted);
}

bool box_next(mail_box *box, const char **mail, size_t *n)
{
    size_t at = box->at;
    if (box->ended)
        return false;
    if (!box->is_mbox) {
        box->ended = true;
        *mail = box->p;
        *n = box->n;
        return true;
    }
    size_t next = at + mbox_cut(box->p + at, box->n - at), end = next;
    if (end - at >= 4 && memcmp(box->p + end - 4, "\r\n\r\n", 4) == 0) /* the mbox's own */
        end -= 2;
    else if (end - at >= 2 && memcmp(box->p + end - 2, "\n\n", 2) == 0)
        end -= 1;
    box->mail.n = 0;
    at += line_length(box->p + at, box->n - at);
    while (at < end) {
        size_t length = line_length(box->p + at, end - at);
        add_unquoted(&box->mail, box->p + at, length);
        at += length;
    }
    box->at = next;
    box->ended = next == box->n;
    *mail = box->mail.n ? box->mail.p : "";
    *n = box->mail.n;
    return !box->mail.failed;
}

void box_end(mail_box *box)
{
    bytes_free(&box->mail);
}

/* As Python's encode("ascii", "backslashreplace"). */
static void add_ascii(bytes *to, const char *p, size_t n)
{
    for (size_t at = 0, length; at < n; at += length) {
        int32_t c = character_at(p + at, n - at, &length);
        if (c >= 0 && c < 0x80)
            bytes_add(to, p + at, 1);
        else
            bytes_print(to, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x",
                        c < 0 ? (unsigned)(unsigned char)p[at] : (unsigned)c);
    }
}

void add_described(bytes *to, const char *name, size_t n, bool ascii)
{
    bool is_bytes = n > 2 && name[0] == 'b' && (name[1] == '\'' || name[1] == '"');
    const char *colon = n ? memchr(name, ':', n) : NULL;
    if (is_bytes) { /* no word of a mail has a quote */
        bytes_word(to, "bytes: \"");
        for (size_t i = 2; i + 1 < n; i++) {
            bytes_word(to, name[i] == '"' ? "\\" : "");
            bytes_add(to, name + i, 1);
        }
        bytes_word(to, "\"");
        return;
    }
    size_t field = colon == NULL ? 0 : (size_t)(colon - name), behind = colon ? field + 1 : 0;
    if (colon == NULL)
        bytes_word(to, "text");
    else
        bytes_add(to, name, field);
    bytes_word(to, ": ");
    if (ascii)
        add_ascii(to, name + behind, n - behind);
    else
        bytes_add(to, name + behind, n - behind);
}
