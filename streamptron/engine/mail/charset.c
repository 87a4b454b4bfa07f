#include "mail/charset.h"

#include "mail/decode.h"
#include "mail/double.h"
#include "mail/glob.h"
#include "names/key.h"
#include "names/scan.h"

#include <string.h>

SP_PRIVATE int sp_charset_of(const uint8_t *name, size_t n)
{
    uint8_t key[SP_CHARSET_NAME_MOST];
    size_t k = 0;
    for (size_t i = 0; i < n && name[i] != ':' && name[i] != '*' && k < sizeof(key); i++) {
        uint8_t c = sp_ascii_lower(name[i]);
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            key[k++] = c;
    }
    const char *known = sp_charset_names;
    while (*known && !sp_glob(known + 1, key, k))
        known += strlen(known) + 1;
    return *known ? *known - 'A' : SP_CHARSET_UNKNOWN;
}

/* How many bytes come before the first one beyond ASCII. */
static size_t sp_ascii_run(const uint8_t *p, size_t n)
{
    size_t i = 0;
    uint64_t eight;
    for (; i + 8 <= n; i += 8) {
        memcpy(&eight, p + i, 8);
        if (eight & UINT64_C(0x8080808080808080))
            break;
    }
    while (i < n && p[i] < 0x80)
        i++;
    return i;
}

/* The length of the character at p, which is beyond ASCII; 0 if it is not valid UTF-8. */
static size_t sp_charset_utf8(const uint8_t *p, size_t n)
{
    size_t k;
    uint32_t c = sp_utf8_decode(p, n, false, &k);
    return c == SP_REPLACEMENT && !(p[0] == 0xEF && k == 3) ? 0 : k;
}

/* Count the characters of UTF-8 beyond ASCII, and the bytes that are not UTF-8. */
static void sp_charset_count(const uint8_t *p, size_t n, size_t *n_good, size_t *n_bad)
{
    *n_good = *n_bad = 0;
    for (size_t i = sp_ascii_run(p, n); i < n; i += sp_ascii_run(p + i, n - i)) {
        size_t k = sp_charset_utf8(p + i, n - i);
        *n_good += k > 0;
        *n_bad += k == 0;
        i += k + (k == 0);
    }
}

/* A byte order mark at the beginning counts more than what was declared. */
static int sp_charset_marked(int charset, const uint8_t *p, size_t n)
{
    if (n >= 2 && p[0] + p[1] == 0xFE + 0xFF && p[0] >= 0xFE)
        return p[0] == 0xFE ? SP_CHARSET_UTF16BE : SP_CHARSET_UTF16LE;
    return n >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0 ? SP_CHARSET_UNKNOWN : charset;
}

SP_PRIVATE bool sp_charset_is_plain(int charset, const uint8_t *p, size_t n)
{
    size_t n_good, n_bad;
    charset = sp_charset_marked(charset, p, n);
    if (charset >= SP_CHARSET_UTF7 && charset <= SP_CHARSET_ESCAPED)
        return false;
    if (sp_ascii_run(p, n) == n)
        return true;
    if (charset != SP_CHARSET_UNKNOWN)
        return false;
    sp_charset_count(p, n, &n_good, &n_bad);
    return n_bad == 0;
}

/* Whether a byte is a sign, not a letter, in all single-byte charsets of Windows. */
static bool sp_charset_is_sign(uint8_t c)
{
    return c == 0xA0 || (c >= 0x80 && c < 0xA0 && UINT32_C(0x0AFE0AF4) >> (c - 0x80) & 1);
}

/* Write a text of unknown charset. */
static size_t sp_charset_undeclared(const uint8_t *p, size_t n, uint8_t *to)
{
    size_t o = 0;
    size_t k;
    size_t n_good, n_bad;
    sp_charset_count(p, n, &n_good, &n_bad);
    for (size_t i = 0; i < n; i += k) {
        k = sp_ascii_run(p + i, n - i);
        if (k == 0 && n_bad <= n_good)
            k = sp_charset_utf8(p + i, n - i);
        if (k) {
            memcpy(to + o, p + i, k);
            o += k;
        } else {
            k = 1;
            uint32_t letter = (uint32_t)SP_SET_APART_BYTES + p[i];
            o += sp_utf8_encode(sp_charset_is_sign(p[i]) ? ' ' : letter, to + o);
        }
    }
    return o;
}

/* The letter of a byte of at least 0x80 in a charset. */
static uint32_t sp_charset_letter(int charset, uint32_t byte)
{
    uint32_t row = (uint32_t)charset << (7 - SP_CHARSET_BLOCK_BITS);
    uint32_t block = sp_charset_rows[row + ((byte - 0x80) >> SP_CHARSET_BLOCK_BITS)];
    uint32_t at = byte & ((1 << SP_CHARSET_BLOCK_BITS) - 1);
    uint32_t place = (block << SP_CHARSET_BLOCK_BITS) + at;
    const uint8_t *offsets = sp_charset_blocks + place - at + block;
    const uint16_t *far = sp_charset_far;
    if (offsets[1 + at] == 0)
        return SP_NO_CHARACTER;
    if (offsets[1 + at] < 255)
        return 16U * offsets[0] + offsets[1 + at];
    while (*far != place)
        far += 2;
    return far[1];
}

static size_t sp_charset_single(int charset, const uint8_t *p, size_t n, uint8_t *to)
{
    size_t o = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = sp_ascii_run(p + i, n - i);
        memcpy(to + o, p + i, k);
        o += k;
        i += k;
        if (i == n)
            break;
        o += sp_utf8_encode(sp_charset_letter(charset, p[i]), to + o);
    }
    return o;
}

/* Write a unit of sixteen bits behind the one before; returns how many more bytes there are.
   `first`: the first half of a pair of surrogates; 0: none. */
static size_t sp_utf16_unit(uint32_t unit, uint32_t *first, uint8_t *to)
{
    uint32_t half = *first;
    *first = 0;
    if (half && unit >= 0xDC00 && unit < 0xE000) /* replaces the three bytes written before */
        return sp_utf8_encode(0x10000 + ((half - 0xD800) << 10) + (unit - 0xDC00), to - 3) - 3;
    if (unit >= 0xD800 && unit < 0xDC00)
        *first = unit;
    return sp_utf8_encode(unit >= 0xD800 && unit < 0xE000 ? SP_NO_CHARACTER : unit, to);
}

static size_t sp_charset_utf16(bool big, const uint8_t *p, size_t n, uint8_t *to)
{
    uint32_t first = 0;
    size_t o = 0;
    for (size_t i = 0; i + 1 < n; i += 2)
        o += sp_utf16_unit((uint32_t)p[i + !big] << 8 | p[i + big], &first, to + o);
    return o;
}

/* UTF-7: `+`, UTF-16 in base64, `-`; the rest is ASCII. */
static size_t sp_charset_utf7(const uint8_t *p, size_t n, uint8_t *to)
{
    size_t o = 0;
    for (size_t i = 0; i < n;) {
        if (p[i] != '+') {
            o += sp_utf8_encode(p[i] < 0x80 ? p[i] : SP_NO_CHARACTER, to + o);
            i++;
            continue;
        }
        uint32_t held = 0, first = 0;
        int n_bits = 0, value;
        size_t start = ++i;
        for (; i < n && (value = sp_base64_value(p[i])) >= 0; i++) {
            held = held << 6 | (uint32_t)value;
            n_bits += 6;
            if (n_bits >= 16) {
                n_bits -= 16;
                o += sp_utf16_unit(held >> n_bits & 0xFFFF, &first, to + o);
            }
        }
        if (i < n && p[i] == '-') {
            if (i == start)
                to[o++] = '+';
            i++;
        }
    }
    return o;
}

SP_PRIVATE size_t sp_charset_write(int charset, const uint8_t *p, size_t n, uint8_t *to)
{
    int marked = sp_charset_marked(charset, p, n);
    bool is_sixteen = marked == SP_CHARSET_UTF16BE || marked == SP_CHARSET_UTF16LE;
    if (is_sixteen && n >= 2 && p[0] >= 0xFE && p[0] + p[1] == 0xFE + 0xFF) {
        p += 2;
        n -= 2;
    }
    if (is_sixteen)
        return sp_charset_utf16(marked == SP_CHARSET_UTF16BE, p, n, to);
    if (marked == SP_CHARSET_UNKNOWN)
        return sp_charset_undeclared(p, n, to);
    if (marked == SP_CHARSET_UTF7)
        return sp_charset_utf7(p, n, to);
    if (marked < SP_CHARSET_UTF7)
        return sp_charset_single(marked, p, n, to);
    return marked == SP_CHARSET_ESCAPED ? sp_escaped_write(p, n, to)
                                        : sp_two_bytes_write(marked, p, n, to);
}
