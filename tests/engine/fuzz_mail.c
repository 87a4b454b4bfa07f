/* Bytes as a mail: each is a piece of one, or itself. Whatever comes of it, no byte outside of it
   is read, its features are names in UTF-8 or four bytes, and there are not too many. */

#include "fuzz.h"

#include "events/text.h"

static const char *const fragments[] = {
    "Subject: ", "Content-Type: ", "text/html", "text/plain", "multipart/mixed; boundary=x",
    "multipart/alternative; boundary=\"y z\"", "message/rfc822", "\n\n", "\r\n", "\n--x\n",
    "\n--y z\n", "--x--\n", "\n--y z--", "\nContent-Transfer-Encoding: base64\n",
    "\nContent-Transfer-Encoding: quoted-printable\n", "=?utf-8?Q?", "=?x?b?", "?=", " ", "=\n",
    "=E2=82", "QUJD", "<b>", "</b>", "<p ", ">", "<script", "</script>", "<style>", "<!--", "-->",
    "&#x430;", "&nbsp;", "&#99999999;", "&", "\xD0\xB0", "\xCE\xB1", "\xE4\xB8\xAD",
    "\xF0\x9D\x90\x80", "\xC3", "\xE2\x80\x8B", "word", "averylongwordofmorethanthirtytwobytes",
    "X-Spam-Flag: ",
    "\nContent-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n", "; charset=koi8-r",
    "; charset=iso-2022-jp", "; charset=utf-16", "; charset=gb18030", "; charset=euc-kr", "\x1B$B",
    "; charset=utf-7", "; charset=shift_jis", "; boundary*0=x; boundary*1*=%20y", "=?koi8-r?q?",
    "<div style='display:none'>", "<p hidden>", "</p>", "</div>", "<table>", "<td>", "style=\"",
    "font-size:0;", "'", "&uuml", "&amp;", "+AGE-", "Status: RO\n", "= \n", "\xFF\xFE",
    "From ", "Free", "_", "\xEF\xBF\xBD",
};

enum { FRAGMENTS = sizeof(fragments) / sizeof(*fragments) };

/* The mail that an input stands for, in memory of its own, so that an overrun is seen. */
static uint8_t *mail_of(fuzz_input *input, size_t *n)
{
    uint8_t *mail = (uint8_t *)malloc(input->n * 80 + 1);
    *n = 0;
    while (input->n > 0) {
        uint32_t byte = fuzz_byte(input);
        if (byte < 2 * FRAGMENTS) {
            const char *fragment = fragments[byte % FRAGMENTS];
            memcpy(mail + *n, fragment, strlen(fragment));
            *n += strlen(fragment);
        } else {
            mail[*n] = (uint8_t)byte;
            *n += 1;
        }
    }
    uint8_t *exact = (uint8_t *)malloc(*n + (*n == 0));
    memcpy(exact, mail, *n);
    free(mail);
    return exact;
}

static void check_utf8(const uint8_t *p, size_t n)
{
    size_t k = 1;
    for (size_t i = 0; i < n; i += k) {
        k = 1;
        if (p[i] >= 0x80) {
            uint32_t c = sp_utf8_decode(p + i, n - i, false, &k);
            CHECK(c != SP_REPLACEMENT || (p[i] == 0xEF && k == 3));
        }
    }
}

static void check_key(const sp_key *key)
{
    uint8_t bytes[SP_KEY_INLINE];
    if (sp_key_is_long(key)) {
        CHECK(sp_key_length(key) <= 72);
        check_utf8(sp_key_bytes(key), sp_key_length(key));
        return;
    }
    sp_key_inline_bytes(key, bytes);
    if (sp_key_kind(key) == SP_KEY_BYTES)
        CHECK_SAME(sp_key_length(key), 4);
    else
        check_utf8(bytes, sp_key_length(key));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_input input = {data, n};
    static const sp_piece none;
    sp_text_rule rule = {.analyzer = SP_TEXT_MAIL, .low = 1, .high = 2};
    sp_text scratch;
    sp_event event;
    sp_index index;
    uint32_t byte = fuzz_byte(&input);
    rule.mail.headers = byte & 1;
    rule.mail.text = byte >> 1 & 1;
    rule.mail.fold = byte >> 2 & 1;
    rule.mail.bytes = byte >> 3 & 1 ? 300 : 0;
    int64_t fails = byte >> 4 & 1 ? 1 + byte % 13 : 0;
    uint8_t *mail = mail_of(&input, &n);
    sp_piece piece = {.p = mail, .n = n};
    memset(&scratch, 0, sizeof(scratch));
    memset(&index, 0, sizeof(index));
    index.seed = sp_seed_make(7);
    sp_event_init(&event);
    check_fail_at(fails);
    int failed = sp_text_write(&scratch, &event, &rule, &index, true, &none, &piece, 1);
    (void)sp_heap_fail_at(0, 0);
    CHECK(!failed || fails);
    if (!failed) {
        CHECK((size_t)event.n <= 2 * n + 1);
        for (ptrdiff_t i = 1; i < event.n; i++) {
            check_key(&event.keys[i]);
            CHECK_EQUAL(event.values[i], 1.0);
            CHECK(event.hashes[i] == sp_key_hash(&index.seed, &event.keys[i]));
        }
    }
    sp_event_free(&event);
    sp_text_free(&scratch);
    free(mail);
    return 0;
}
