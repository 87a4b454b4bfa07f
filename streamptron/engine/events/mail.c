#include "events/mail.h"

#include "mail/charset.h"
#include "mail/decode.h"
#include "mail/html.h"
#include "mail/lower.h"
#include "mail/parts.h"
#include "memory/grow.h"
#include "memory/heap.h"

#include <string.h>

enum {
    SP_MAIL_AT_ONCE = 4096,   /* room is made for so many four-byte runs at a time */
    SP_MAIL_BEFORE = 16,      /* bytes before a word that sp_key_text may read */
    SP_MAIL_PREFIX_MOST = 40, /* p.<name>: */
    SP_MAIL_ROOM = SP_MAIL_PREFIX_MOST + SP_MAIL_WORD_MOST, /* for the longest name of a feature */
};

typedef struct sp_mail_writer {
    /* The event is written with these. */
    sp_mail *mail;
    sp_event *event;
    sp_buckets *buckets;
    const sp_mail_rule *rule;
    sp_tally tally;
    sp_joint joint;
    ptrdiff_t room;                      /* for tokens */
    uint8_t prefix[SP_MAIL_PREFIX_MOST]; /* comes before the words */
    size_t n_prefix;
} sp_mail_writer;

SP_PRIVATE void sp_mail_free(sp_mail *mail)
{
    sp_free(mail->held.p);
    sp_free(mail->plain);
    sp_free(mail->read);
    sp_free(mail->lower);
    sp_free(mail->bits);
    sp_free(mail->edges);
    memset(mail, 0, sizeof(sp_mail));
}

SP_PRIVATE size_t sp_mail_bytes(const sp_mail *mail)
{
    return mail->held.capacity + mail->plain_capacity + mail->read_capacity + mail->lower_capacity
           + mail->bits_capacity * sizeof(uint64_t)
           + mail->edges_capacity * sizeof(uint32_t);
}

/* Count a word, with the prefix. SP_MAIL_WORD_MOST bytes of it must be readable. -1 if out of
   memory. */
static int sp_mail_word(sp_mail_writer *writer, const uint8_t *p, size_t n)
{
    sp_key key;
    if (writer->room == 0) {
        if (sp_tally_reserve(&writer->tally, writer->buckets, writer->event, SP_TOKENS_AT_ONCE) < 0)
            return -1;
        writer->room = SP_TOKENS_AT_ONCE;
    }
    writer->room--;
    size_t length = writer->n_prefix + n;
    if (length <= SP_KEY_INLINE && writer->n_prefix == 0) {
        sp_tally_place(&writer->tally, sp_key_text(SP_KEY_STR, p, n));
        return 0;
    }
    uint8_t *joined = sp_joint_room(&writer->joint, writer->event, SP_MAIL_ROOM);
    if (joined == NULL)
        return -1;
    memcpy(joined, writer->prefix, SP_MAIL_PREFIX_MOST);
    memcpy(joined + writer->n_prefix, p, SP_MAIL_WORD_MOST); /* a fixed number is faster */
    key = sp_key_text(SP_KEY_STR, joined, length);
    ptrdiff_t n_before = writer->tally.n;
    if (sp_tally_place(&writer->tally, key) == n_before && sp_key_is_long(&key))
        sp_joint_keep(&writer->joint, length);
    return 0;
}

/* Count the features that replace a word that is too long. -1 if out of memory. */
static int sp_mail_long(sp_mail_writer *writer, const uint8_t *p, size_t n)
{
    uint8_t name[SP_MAIL_BEFORE + SP_MAIL_WORD_MOST] = {0};
    uint8_t *to = name + SP_MAIL_BEFORE;
    size_t k = 0;
    if (*p < 0x80) {
        while (n >> k)
            k++;
        memcpy(to, "long<", 5);
        to[5] = (uint8_t)('0' + k / 10);
        size_t digits = k >= 10;
        to[5 + digits] = (uint8_t)('0' + k % 10);
        to[6 + digits] = '>';
        return sp_mail_word(writer, to, 7 + digits);
    }
    for (size_t at = 0; at < SP_MIN(n, (size_t)SP_MAIL_RUN_MOST);) {
        size_t end = at;
        for (int i = 0; end < n; i++) {
            size_t next = end + sp_lower_character(p + end);
            if (i >= 2 && next - at > SP_MAIL_PIECE_MOST)
                break;
            end = next;
        }
        if (sp_mail_word(writer, p + at, end - at) < 0)
            return -1;
        at += sp_lower_character(p + at);
    }
    return 0;
}

/* Count the words in n bytes, with the prefix. -1 if out of memory. */
static int sp_mail_words(sp_mail_writer *writer, const uint8_t *p, size_t n)
{
    sp_mail *mail = writer->mail;
    size_t most = 2 * n + SP_LOWER_SPARE;
    size_t n_bits = most / 64 + 2;
    bool lookalikes = false;
    if (sp_grow((void **)&mail->lower, &mail->lower_capacity, SP_MAIL_BEFORE + most, 1) < 0
        || sp_grow((void **)&mail->bits, &mail->bits_capacity, n_bits, sizeof(uint64_t)) < 0)
        return -1;
    uint8_t *lower = mail->lower + SP_MAIL_BEFORE;
    memset(mail->bits, 0, n_bits * sizeof(uint64_t));
    size_t length = sp_lower(p, n, writer->rule->fold, lower, mail->bits, &lookalikes);
    if (sp_grow((void **)&mail->edges, &mail->edges_capacity, length + 8, sizeof(uint32_t)) < 0)
        return -1;
    ptrdiff_t n_edges = sp_edges(mail->bits, length, mail->edges);
    for (ptrdiff_t i = 0; i < n_edges; i += 2) {
        uint8_t *word = lower + mail->edges[i];
        size_t n_word = mail->edges[i + 1] - mail->edges[i];
        if (lookalikes)
            n_word = sp_lower_lookalikes(word, n_word);
        if ((n_word <= SP_MAIL_WORD_MOST ? sp_mail_word(writer, word, n_word)
                                         : sp_mail_long(writer, word, n_word))
            < 0)
            return -1;
    }
    return 0;
}

/* Convert n bytes of a charset to UTF-8; *p points to them then. -1 if out of memory. */
static int sp_mail_read(sp_mail *mail, int charset, const uint8_t **p, size_t *n)
{
    if (sp_charset_is_plain(charset, *p, *n))
        return 0;
    if (sp_grow((void **)&mail->read, &mail->read_capacity, SP_CHARSET_LONGEST * *n, 1) < 0)
        return -1;
    *n = sp_charset_write(charset, *p, *n, mail->read);
    *p = mail->read;
    return 0;
}

/* Count the words of a field. -1 if out of memory. */
static int sp_mail_field(sp_mail_writer *writer, const sp_item *item)
{
    sp_mail *mail = writer->mail;
    const sp_header_field *field = &item->field;
    const uint8_t *value = field->value;
    size_t n = field->n;
    if (!writer->rule->headers || n == 0)
        return 0;
    writer->n_prefix = 0;
    if (item->is_part) {
        memcpy(writer->prefix, "p.", 2);
        writer->n_prefix = 2;
    }
    memcpy(writer->prefix + writer->n_prefix, field->name, field->n_name);
    writer->n_prefix += field->n_name;
    writer->prefix[writer->n_prefix] = ':';
    writer->n_prefix++;
    if (memchr(value, '?', n) == NULL) {
        if (sp_mail_read(mail, SP_CHARSET_UNKNOWN, &value, &n) < 0)
            return -1;
    } else {
        if (sp_grow((void **)&mail->plain, &mail->plain_capacity, n, 1) < 0
            || sp_grow((void **)&mail->read, &mail->read_capacity, SP_CHARSET_LONGEST * n, 1) < 0)
            return -1;
        n = sp_encoded_words(value, n, mail->plain, mail->read);
        value = mail->read;
    }
    return sp_mail_words(writer, value, n);
}

/* Count the words of a text. -1 if out of memory. */
static int sp_mail_text(sp_mail_writer *writer, const sp_item *item)
{
    sp_mail *mail = writer->mail;
    const uint8_t *p = item->text;
    size_t n = item->n;
    if (!writer->rule->text)
        return 0;
    writer->n_prefix = 0;
    if (item->encoded != SP_ENCODED_PLAIN) {
        if (sp_grow((void **)&mail->plain, &mail->plain_capacity, n, 1) < 0)
            return -1;
        if (item->encoded == SP_ENCODED_BASE64)
            n = sp_base64(p, n, mail->plain);
        else
            n = sp_quoted(p, n, false, mail->plain);
        p = mail->plain;
    }
    if (sp_mail_read(mail, item->charset, &p, &n) < 0)
        return -1;
    if (item->html) {
        if (p != mail->read
            && sp_grow((void **)&mail->read, &mail->read_capacity, n, 1) < 0)
            return -1;
        n = sp_html_seen(p, n, mail->read);
        p = mail->read;
    }
    return sp_mail_words(writer, p, n);
}

typedef struct sp_gram_run {
    /* Consecutive bytes; those of left-out fields are skipped. */
    uint64_t four; /* the last ones, above 32 zero bits */
    size_t n;      /* how many there have been */
} sp_gram_run;

/* Count each four consecutive bytes that end in the next n. -1 if out of memory. */
static int sp_mail_gram_run(sp_mail_writer *writer, sp_gram_run *run, const uint8_t *p, size_t n)
{
    sp_tally *tally = &writer->tally;
    sp_key key;
    key.hi = (uint64_t)SP_KEY_BYTES << 4 | SP_MAIL_GRAM;
    n = SP_MIN(n, writer->rule->bytes - run->n);
    for (size_t i = 0; i < n;) {
        size_t last = SP_MIN(n, i + SP_MAIL_AT_ONCE);
        if (sp_tally_reserve(tally, writer->buckets, writer->event, (ptrdiff_t)(last - i)) < 0)
            return -1;
        sp_tally local = *tally; /* a copy, as the compiler has to assume that stores change it */
        uint64_t four = run->four;
        for (; i < last && run->n < SP_MAIL_GRAM - 1; i++, run->n++)
            four = four >> 8 | (uint64_t)p[i] << 56;
        run->n += last - i;
        for (; i < last; i++) {
            four = four >> 8 | (uint64_t)p[i] << 56;
            key.lo = four & UINT64_C(0xFFFFFFFF00000000);
            sp_tally_place(&local, key);
        }
        run->four = four;
        tally->n = local.n;
    }
    return 0;
}

/* Count each four consecutive bytes, without the fields that are left out. -1 if out of memory. */
static int sp_mail_grams(sp_mail_writer *writer, const sp_piece *piece)
{
    const uint8_t *end = piece->p + piece->n;
    sp_gram_run run = {0, 0};
    sp_mail_header header;
    sp_mail_header_begin(&header, piece->p, end);
    const uint8_t *from = header.p;
    while (writer->rule->bytes - run.n > (size_t)(header.p - from)) {
        const uint8_t *gap = sp_mail_header_gap(&header);
        if (gap == NULL)
            break;
        if (sp_mail_gram_run(writer, &run, from, (size_t)(gap - from)) < 0)
            return -1;
        from = header.p;
    }
    return sp_mail_gram_run(writer, &run, from, (size_t)(end - from));
}

SP_PRIVATE int sp_mail_write(sp_mail *mail, sp_event *event, sp_buckets *buckets,
                             const sp_mail_rule *rule, const sp_index *index, const sp_piece *piece)
{
    sp_mail_writer writer;
    sp_mail_walk walk;
    sp_item item;
    memset(&writer, 0, sizeof(sp_mail_writer));
    writer.mail = mail;
    writer.event = event;
    writer.buckets = buckets;
    writer.rule = rule;
    writer.tally = sp_tally_begin(event, index);
    /* so that the words are rarely moved when the bytes come */
    size_t grams = SP_MIN(SP_MIN(piece->n, rule->bytes), (size_t)SP_MAIL_AT_ONCE);
    if (sp_tally_reserve(&writer.tally, buckets, event, (ptrdiff_t)grams) < 0)
        return -1;
    sp_walk_begin(&walk, piece->p, piece->n, &mail->held);
    int found = rule->headers || rule->text;
    while (found > 0 && (found = sp_walk_next(&walk, &item)) > 0) {
        if ((item.is_text ? sp_mail_text(&writer, &item) : sp_mail_field(&writer, &item)) < 0)
            return -1;
    }
    if (found < 0 || sp_mail_grams(&writer, piece) < 0)
        return -1;
    for (ptrdiff_t i = event->n; i < writer.tally.n; i++)
        event->values[i] = 1.0;
    sp_tally_end(&writer.tally, event);
    return 0;
}
