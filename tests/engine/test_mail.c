/* mail/: fields, parts, encodings, HTML, folding, and a mail as an event. */

#include "kit.h"

#include "events/text.h"
#include "mail/decode.h"
#include "mail/fields.h"
#include "mail/html.h"
#include "mail/lower.h"
#include "mail/parts.h"

enum { ROOM = 512 };

typedef size_t (*decoder)(const uint8_t *p, size_t n, uint8_t *to);

static size_t quoted(const uint8_t *p, size_t n, uint8_t *to)
{
    return sp_quoted(p, n, false, to);
}

/* What a decoder makes of a text, which lies in memory of its own size. */
static void check_decoded(decoder decode, const char *text, const char *wanted)
{
    uint8_t to[ROOM];
    size_t n = strlen(text);
    uint8_t *p = (uint8_t *)malloc(n + 1);
    memcpy(p, text, n);
    size_t length = decode(p, n, to);
    if (length != strlen(wanted) || memcmp(to, wanted, length) != 0)
        CHECK_FAILED("\"%s\" becomes \"%.*s\", not \"%s\"", text, (int)length, to, wanted);
    free(p);
}

static void test_encodings(void)
{
    check_decoded(sp_base64, "YSBwcml6ZQ==", "a prize");
    check_decoded(sp_base64, "YSBw\r\ncml!6ZQ", "a prize");
    check_decoded(sp_base64, "YQ==YQ==", "aa");
    check_decoded(sp_base64, "Y", "");
    check_decoded(quoted, "a=20pri=\r\nze=\n!=3D=3", "a prize!==3");
    check_decoded(quoted, "=", "=");
    check_decoded(quoted, "=G0_=", "=G0_=");
    check_decoded(sp_encoded_words, "x =?utf-8?q?a_b=3D?= \r\n =?x?B?YQ==?= y", "x a b=a y");
    check_decoded(sp_encoded_words, "=?utf-8?q?a", "=?utf-8?q?a");
    check_decoded(sp_encoded_words, "=?=?=?u?z?a?= =?u?q?" "?=.", "=?=?=?u?z?a?= .");
}

static void test_html(void)
{
    check_decoded(sp_html_seen, "v<b></b>iagra<p>now</p>", "viagra now ");
    check_decoded(sp_html_seen, "a<!-- b > c -->d<!-- e", "ad");
    check_decoded(sp_html_seen, "<script>a</SCRIPT >b<style x>c", " " " b ");
    check_decoded(sp_html_seen, "1 < 2 &amp;&lt;&#65;&#x42;&what;&#0;&#xD800;",
                  "1 < 2 &<AB&what;&#0;&#xD800;");
    check_decoded(sp_html_seen, "a<o:p>b<BLOCKQUOTE>c<strongly>d<", "ab c d<");
}

static void test_lower(void)
{
    static const struct {
        const char *text, *folded, *plain;
        bool lookalikes;
    } cases[] = {
        {"Free", "free", "free", false},
        {"\xC3\x89" "CRIS \xE2\x80\x93", "ecris -", "\xC3\xA9" "cris \xE2\x80\x93", false},
        {"\xEF\xBC\xA1\xF0\x9D\x90\x80\xE2\x93\x90", "aaa",
         "\xEF\xBD\x81\xF0\x9D\x90\x80\xE2\x93\x90", false},
        {"pr\xE2\x80\x8B" "ize", "prize", "pr\xE2\x80\x8B" "ize", false},
        {"\xC9", "e", "\xC3\xA9", false}, /* Latin-1 */
        {"\xD0\x90", "\xD0\xB0", "\xD0\xB0", true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        for (int fold = 0; fold < 2; fold++) {
            const char *wanted = fold ? cases[i].folded : cases[i].plain;
            uint8_t to[ROOM];
            uint64_t bits[ROOM / 64] = {0};
            bool lookalikes = false;
            size_t n = sp_lower((const uint8_t *)cases[i].text, strlen(cases[i].text), fold, to,
                                bits, &lookalikes);
            CHECK_SAME(n, strlen(wanted));
            CHECK(memcmp(to, wanted, n) == 0);
            CHECK(lookalikes == (fold && cases[i].lookalikes));
        }
    }
    uint8_t mixed[] = "p\xD1\x80ize", russian[] = "\xD0\xB0\xD0\xB7";
    CHECK_SAME(sp_lower_lookalikes(mixed, 6), 5);
    CHECK(memcmp(mixed, "ppize", 5) == 0);
    CHECK_SAME(sp_lower_lookalikes(russian, 4), 4);
}

/* A mail of multiparts, one in another, as deep as is said. */
static size_t nested(char *to, int depth)
{
    size_t n = 0;
    for (int i = 0; i < depth; i++)
        n += (size_t)sprintf(to + n, "Content-Type: multipart/mixed; boundary=b%d.\n\n--b%d.\n", i,
                             i);
    return n + (size_t)sprintf(to + n, "\nword%d", depth);
}

/* How many texts a mail has, and the bytes of them. */
static int texts_of(const char *mail, size_t n, size_t *bytes)
{
    sp_mail_walk walk;
    sp_item item;
    int texts = 0;
    *bytes = 0;
    sp_walk_begin(&walk, (const uint8_t *)mail, n);
    while (sp_walk_next(&walk, &item)) {
        texts += item.is_text;
        *bytes += item.is_text ? item.n : 0;
    }
    return texts;
}

static void test_parts(void)
{
    static char mail[1 << 20];
    size_t bytes;
    for (int depth = 0; depth < 40; depth++) {
        size_t n = nested(mail, depth);
        CHECK_SAME(texts_of(mail, n, &bytes), 1);
        if (depth <= SP_LEVELS_MOST)
            CHECK_SAME(bytes, depth < 10 ? 5 : 6);
        else
            CHECK(bytes > 6); /* the ninth multipart is read as text */
    }
    size_t n = (size_t)sprintf(mail, "Content-Type: multipart/mixed; boundary=x\n\n");
    while (n < sizeof(mail) - 8)
        n += (size_t)sprintf(mail + n, "--x\n\na\n");
    CHECK_SAME(texts_of(mail, n, &bytes), SP_PARTS_MOST);
    memset(mail, 'a', sizeof(mail));
    mail[0] = '\n';
    CHECK_SAME(texts_of(mail, sizeof(mail), &bytes), 1);
    CHECK_SAME(bytes, SP_PART_TEXT_MOST);
}

/* Each feature once, in order; and nothing is left where an allocation fails. */
static void test_event(void)
{
    static const char mail[] = "Subject: =?utf-8?Q?Fr=C3=A9e?= free\nX-Spam-Flag: YES\n\n"
                               "A long_word_that_is_inline_no_more 0";
    static const char *names[] = {"subject:free", "a", "long_word_that_is_inline_no_more", "0"};
    enum { NAMES = sizeof(names) / sizeof(*names), GRAMS = 6 - 3 };
    static uint8_t padded[16 + 64];
    static const sp_piece none;
    sp_text_rule rule = {
        .analyzer = SP_TEXT_MAIL,
        .mail = {.headers = true, .text = true, .fold = true, .bytes = 6},
    };
    sp_piece piece = {.p = (const uint8_t *)mail, .n = strlen(mail)};
    sp_learner learner;
    sp_event event;
    sp_text scratch;
    memset(&scratch, 0, sizeof(scratch));
    sp_event_init(&event);
    CHECK_SAME(kit_learner(&learner, &kit_kinds[0]), 0);
    ptrdiff_t failed = -1;
    for (int64_t n = 1; failed; n++) {
        check_fail_at(n);
        failed = sp_text_write(&scratch, &event, &rule, &learner.index, true, &none, &piece, 1);
        CHECK(check_has_failed() || !failed);
    }
    CHECK_SAME(event.n, 1 + NAMES + GRAMS);
    for (int i = 0; i < NAMES; i++) {
        memcpy(padded + 16, names[i], strlen(names[i]));
        sp_key key = sp_key_text(SP_KEY_STR, padded + 16, strlen(names[i]));
        CHECK(sp_key_equal(&event.keys[1 + i], &key));
        CHECK_EQUAL(event.values[1 + i], 1.0);
    }
    sp_key gram = sp_key_text(SP_KEY_BYTES, (const uint8_t *)memcpy(padded + 16, "Subj", 4), 4);
    CHECK(sp_key_equal(&event.keys[1 + NAMES], &gram));
    CHECK(sp_text_bytes(&scratch) > 0);
    sp_event_free(&event);
    sp_text_free(&scratch);
    sp_learner_free(&learner);
}

int main(int argc, char **argv)
{
    kit_begin(argc, argv);
    test_encodings();
    test_html();
    test_lower();
    test_parts();
    test_event();
    return 0;
}
