/* mail/: fields, parts, encodings, HTML, folding, and a mail as an event. */

#include "kit.h"

#include "events/text.h"
#include "mail/charset.h"
#include "mail/decode.h"
#include "mail/entities.h"
#include "mail/fields.h"
#include "mail/html.h"
#include "mail/lower.h"
#include "mail/parts.h"
#include "mail/tags.h"

enum { ROOM = 512 };

typedef size_t (*decoder)(const uint8_t *p, size_t n, uint8_t *to);

static size_t quoted(const uint8_t *p, size_t n, uint8_t *to)
{
    return sp_quoted(p, n, false, to);
}

static size_t encoded_words(const uint8_t *p, size_t n, uint8_t *to)
{
    uint8_t scratch[ROOM];
    return sp_encoded_words(p, n, scratch, to);
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
    check_decoded(quoted, "fr= \t\r\nee= x=\t\n=", "free= x=");
    check_decoded(quoted, "=G0_=", "=G0_=");
    check_decoded(encoded_words, "x =?utf-8?q?a_b=3D?= \r\n =?x?B?YQ==?= y", "x a b=a y");
    check_decoded(encoded_words, "=?utf-8?q?a", "=?utf-8?q?a");
    check_decoded(encoded_words, "=?=?=?u?z?a?= =?u?q?" "?=.", "=?=?=?u?z?a?= .");
}

static void test_html(void)
{
    check_decoded(sp_html_seen, "v<b></b>iagra<p>now</p>", "viagra now ");
    check_decoded(sp_html_seen, "a<!-- b > c -->d<!-- e", "ad");
    check_decoded(sp_html_seen, "<script>a</SCRIPT >b<style x>c", " " " b ");
    check_decoded(sp_html_seen, "1 < 2 &amp;&lt;&#65;&#x42;&what;&#0;&#xD800;",
                  "1 < 2 &<AB&what;\xEF\xBF\xBD\xEF\xBF\xBD");
    check_decoded(sp_html_seen, "M&uuml;&uuml &ampx;&apos;&apos &scaron;&#x41G&#146;",
                  "M\xC3\xBC\xC3\xBC &x;'&apos \xC5\xA1" "AG\xEF\xBF\xBD");
    check_decoded(sp_html_seen, "<img alt='a > b' x=\">\">c<!-->d<!--->e<!-- --!>f</>g<!x>h",
                  " cdefgh");
    check_decoded(sp_html_seen, "a<title>b</title>c<script>d</scripty>e</script >f", "a  c  f");
    check_decoded(sp_html_seen, "a<o:p>b<BLOCKQUOTE>c<strongly>d<", "ab c d<");
}

/* What is hidden, and what is not: where it is not plain, a text is seen. */
static void test_hidden(void)
{
    static const struct {
        const char *html, *seen;
    } cases[] = {
        {"fr<span style='font-size:0'>x</span>ee", "free"},
        {"<div style=display:none>a<div>b</div></div>c", "c"},
        {"<p style='display: NONE !important'>a<p>b", " b"},
        {"<p hidden>a<div>b", " b"},
        {"<p hidden style=display:block>a", " a"},
        {"<div style='display:none;display:block'>a", " a"},
        {"<div style='display:none!important;display:block'>a", ""},
        {"<div style='/*;display:none;*/'>a", " a"},
        {"<div style='x:\";display:none;\"'>a", " a"},
        {"<div style='visibility:hidden'>a<b style='visibility:visible'>b</b>c</div>", "b"},
        {"<td style='font-size:0px'>a<div style='font-size:13px'>b", " b"},
        {"<div style='opacity:0.0'>a</div>b<div style='opacity:.1'>c", "b c"},
        {"<table style='display:none'>a<tr>b<td>c</table>d", "abd"},
        {"<div><span style='display:none'>a</div>b", " b"},
        {"<br style='display:none'>a", "a"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        check_decoded(sp_html_seen, cases[i].html, cases[i].seen);
    char deep[8 * 70 + 64] = "<div style='display:none'>";
    for (int i = 0; i < 70; i++)
        strcat(deep, "<div>");
    strcat(deep, "a");
    uint8_t to[sizeof(deep)];
    size_t n = sp_html_seen((const uint8_t *)deep, strlen(deep), to);
    CHECK(n > 0 && to[n - 1] == 'a'); /* too deep to say */
}

static uint8_t tag_of(const char *name)
{
    return sp_tag_of((const uint8_t *)name, strlen(name));
}

/* Tags are found by their names, the first and the last of each letter too, and no others. */
static void test_tags(void)
{
    static const char *const others[] = {"", "x", "9", "@", "{", "figcaptions", "ab", "abbrr", "z"};
    CHECK_SAME(tag_of("A"), 1);
    CHECK_SAME(tag_of("wbr"), 103);
    CHECK_SAME(sp_html_tags[tag_of("p")].place, SP_PLACE_P);
    CHECK_SAME(sp_html_tags[tag_of("BLOCKQUOTE")].look, 0);
    CHECK_SAME(sp_html_tags[tag_of("o:p")].look, SP_TAG_NOTHING);
    CHECK_SAME(sp_html_tags[tag_of("h6")].place, SP_PLACE_HEADING);
    CHECK_SAME(sp_html_tags[tag_of("TITLE")].look, SP_TAG_RAW);
    CHECK_SAME(sp_html_tags[tag_of("track")].look, SP_TAG_VOID);
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        CHECK_SAME(tag_of(others[i]), 0);
}

static int charset_of(const char *name)
{
    return sp_charset_of((const uint8_t *)name, strlen(name));
}

/* What n bytes are in a charset. */
static void check_charset(const char *name, const char *text, const char *wanted)
{
    uint8_t to[ROOM];
    size_t n = strlen(text);
    uint8_t *p = (uint8_t *)malloc(n + 1);
    memcpy(p, text, n);
    size_t length = sp_charset_write(charset_of(name), p, n, to);
    if (length != strlen(wanted) || memcmp(to, wanted, length) != 0)
        CHECK_FAILED("\"%s\" in %s becomes \"%.*s\", not \"%s\"", text, name, (int)length, to,
                     wanted);
    free(p);
}

static void test_charsets(void)
{
    CHECK_SAME(charset_of("windows-1251"), charset_of("\"CP1251\""));
    CHECK_SAME(charset_of("ISO_8859-1:1987"), charset_of("windows-1252"));
    CHECK_SAME(charset_of("iso-8859-1*en"), charset_of("latin1"));
    CHECK_SAME(charset_of("x-sjis"), charset_of("Shift_JIS"));
    CHECK_SAME(charset_of("GB2312"), charset_of("gb18030"));
    CHECK_SAME(charset_of("us-ascii"), SP_CHARSET_UNKNOWN);
    CHECK_SAME(charset_of("UTF-8"), SP_CHARSET_UNKNOWN);
    CHECK_SAME(charset_of("klingon"), SP_CHARSET_UNKNOWN);
    check_charset("koi8-r", "\xC4\xCF\xCD", "\xD0\xB4\xD0\xBE\xD0\xBC");
    check_charset("windows-1251", "\xE4\xEE\xEC", "\xD0\xB4\xD0\xBE\xD0\xBC");
    check_charset("iso-8859-16", "\xAA", "\xC8\x98"); /* far from its block's base */
    check_charset("utf-7", "+BDQEPgQ8-+-a+", "\xD0\xB4\xD0\xBE\xD0\xBC+a");
    check_charset("utf-16le", "\x34\x04\x3D\xD8\x09", "\xD0\xB4\xEF\xBF\xBD");
    check_charset("utf-8", "\xFE\xFF\x04\x34\xD8\x3D\xDE\x09",
                  "\xD0\xB4\xF0\x9F\x98\x89"); /* a mark says more */
    check_charset("iso-2022-jp", "\x1B$B$\"%\"0!\x1B(Ba",
                  "\xE3\x81\x82\xE3\x82\xA2\xF3\xB0\x96\x82" "a");
    check_charset("shift_jis", "\x82\xA0\xB1\x88\x9F\xFF",
                  "\xE3\x81\x82\xEF\xBD\xB1\xF3\xB0\x96\x82\xEF\xBF\xBD");
    check_charset("euc-kr", "\xC7\xD1\x8C\x63", "\xED\x95\x9C\xEB\x98\xA0");
    check_charset("none", "\xE4\xEE\x91", "\xF4\x8F\xBB\xA4\xF4\x8F\xBB\xAE ");
    check_charset("none", "\xC3\xA4\xC3\xA4\xE4", "\xC3\xA4\xC3\xA4\xF4\x8F\xBB\xA4");
}

static void check_parameter(const char *value, const char *wanted)
{
    uint8_t to[SP_PARAMETER_MOST];
    size_t n = sp_parameter((const uint8_t *)value, strlen(value), "boundary", to);
    if (n != strlen(wanted) || memcmp(to, wanted, n) != 0)
        CHECK_FAILED("%s is %.*s, not %s", value, (int)n, to, wanted);
}

static void test_parameters(void)
{
    static char longest[SP_PARAMETER_MOST + 64];
    check_parameter("a/b; Boundary=x;y", "x");
    check_parameter("a/b; boundary = \"x \\\"y\"", "x \"y");
    check_parameter("a/b; boundary*=utf-8'en'x%20y%2", "x y%2");
    check_parameter("a/b; boundary*1=\"y z\"; boundary*0=x; boundary*3=no", "xy z");
    check_parameter("a/b; boundary*0*=''x%20; boundary*1*=%41", "x A");
    check_parameter("a/b; boundary=\"x", "");
    check_parameter("a/b; boundary=\"\"", "");
    check_parameter("a/b", "");
    for (size_t n = 999; n <= 1001; n++) {
        memset(longest, 'x', sizeof(longest));
        memcpy(longest, "boundary=", 9);
        longest[9 + n] = 0;
        check_parameter(longest, n > SP_PARAMETER_MOST ? "" : longest + 9);
    }
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
        {"\xF4\x8F\xBB\xA4", "\xC3\xA4", "\xC3\xA4", false}, /* of no known charset */
        {"\xF3\xB0\x80\x80", "\xF3\xB0\x80\x80", "\xF3\xB0\x80\x80", false},
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
    sp_held held = {NULL, 0, 0, 0};
    int texts = 0;
    *bytes = 0;
    sp_walk_begin(&walk, (const uint8_t *)mail, n, &held);
    while (sp_walk_next(&walk, &item) > 0) {
        texts += item.is_text;
        *bytes += item.is_text ? item.n : 0;
    }
    sp_free(held.p);
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
    test_hidden();
    test_tags();
    test_charsets();
    test_parameters();
    test_lower();
    test_parts();
    test_event();
    return 0;
}
