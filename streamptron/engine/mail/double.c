#include "mail/double.h"

#include "mail/charsets.h"
#include "names/key.h"

enum {
    SP_SQUARE_JIS = 0xF0000, /* here begin a list's characters that need only differ */
    SP_SQUARE_JIS_MORE = 0xF3000,
    SP_SQUARE_KOREAN = 0xF6000,
    SP_SQUARE_GB = 0xF9000,
    SP_SQUARE_BIG5 = 0x100000,
    SP_SQUARE_FOUR = 0x105000,
    SP_SQUARE_NONE = 0, /* ASCII */
    SP_SQUARE_KANA = 1, /* half-width, one byte each */

    SP_HANGUL = 0xAC00, /* the first one in Unicode */
    SP_HANGUL_ROWS = 399,
    SP_HANGUL_FINALS = 28,
};

static bool sp_within(uint32_t c, uint32_t first, uint32_t last)
{
    return first <= c && c <= last;
}

/* The Hangul in a row of 28 that KS X 1001 has, or does not have, a bit each. */
static uint32_t sp_hangul_mask(uint32_t row, bool has)
{
    uint32_t mask = sp_hangul_masks[sp_hangul_rows[row]];
    return has ? mask : ~mask & ((UINT32_C(1) << SP_HANGUL_FINALS) - 1);
}

/* The Hangul with this number among those that KS X 1001 has, or does not have. */
static uint32_t sp_hangul(uint32_t number, bool has)
{
    uint32_t row = 0;
    uint32_t before = 0;
    uint32_t n, mask;
    for (uint32_t next = 16; next < SP_HANGUL_ROWS; next += 16) {
        n = sp_hangul_before[next >> 4];
        n = has ? n : next * SP_HANGUL_FINALS - n;
        if (n > number)
            break;
        row = next;
        before = n;
    }
    for (number -= before; row < SP_HANGUL_ROWS; row++) {
        mask = sp_hangul_mask(row, has);
        n = sp_ones(mask);
        if (number < n)
            break;
        number -= n;
    }
    if (row == SP_HANGUL_ROWS)
        return SP_NO_CHARACTER;
    for (; number; number--)
        mask &= mask - 1;
    return SP_HANGUL + row * SP_HANGUL_FINALS + (uint32_t)sp_zeros_below(mask);
}

/* The letter of a cell, where capitals start at one cell and small letters at another; a space if
   there is none. `greek`: the 24 letters of Greek, else the 33 of Russian. */
static uint32_t sp_alphabet(bool greek, uint32_t cell, uint32_t large, uint32_t small)
{
    uint32_t n = greek ? 24 : 33;
    bool is_large = sp_within(cell, large, large + n - 1);
    if (!is_large && !sp_within(cell, small, small + n - 1))
        return ' ';
    uint32_t i = cell - (is_large ? large : small);
    if (greek) /* without the final form of sigma */
        return (is_large ? 0x391 : 0x3B1) + i + (i > 16);
    if (i == 6) /* Unicode has Yo elsewhere */
        return is_large ? 0x401 : 0x451;
    return (is_large ? 0x410 : 0x430) + i - (i > 6);
}

/* The character in the first row of JIS X 0208, if it belongs to words. */
static uint32_t sp_jis_sign(uint32_t cell)
{
    static const uint16_t signs[] = {0xFF3F, 0x30FD, 0x30FE, 0x309D, 0x309E, ' ',
                                     ' ',    0x3005, ' ',    0x3007, 0x30FC};
    return sp_within(cell, 18, 28) ? signs[cell - 18] : ' ';
}

/* The character in a list of rows, mostly 94, of 94 cells, each counted from 1. */
static uint32_t sp_square(uint32_t list, uint32_t row, uint32_t cell)
{
    bool korean = list == SP_SQUARE_KOREAN;
    if (korean && sp_within(row, 16, 40))
        return sp_hangul((row - 16) * 94 + cell - 1, true);
    if (list == SP_SQUARE_JIS_MORE || row >= 16 || (korean && (row == 8 || row == 9)))
        return list + (row - 1) * 94 + cell - 1;
    if (row == 1 && list == SP_SQUARE_JIS)
        return sp_jis_sign(cell);
    if (row == 3) {
        bool letter = sp_within(cell, 16, 25) || sp_within(cell, 33, 58) || sp_within(cell, 65, 90);
        return letter || (cell == 63 && list != SP_SQUARE_JIS) ? 0xFF00 + cell : ' ';
    }
    if (row == (korean ? 10 : 4) && cell <= 83)
        return 0x3040 + cell;
    if (row == (korean ? 11 : 5) && cell <= 86)
        return 0x30A0 + cell;
    if (korean && row == 4)
        return 0x3130 + cell;
    if (row == (korean ? 12 : 7))
        return sp_alphabet(false, cell, 1, 49);
    if (row == (korean ? 5 : 6))
        return sp_alphabet(true, cell, korean ? 33 : 1, korean ? 65 : 33);
    return ' ';
}

/* The code point of the character at p, which has up to four bytes; `length`: 0 if it is
   invalid. */
static uint32_t sp_gb(const uint8_t *p, size_t n, size_t *length)
{
    uint32_t a = p[0], b = n > 1 ? p[1] : 0;
    *length = 0;
    if (!sp_within(a, 0x81, 0xFE))
        return 0;
    if (n > 3 && sp_within(b, '0', '9') && sp_within(p[2], 0x81, 0xFE)
        && sp_within(p[3], '0', '9')) {
        uint32_t c = (((a - 0x81) * 10 + b - '0') * 126 + p[2] - 0x81) * 10 + p[3] - '0';
        *length = 4;
        if (c < 39420)
            return SP_SQUARE_FOUR + c;
        return sp_within(c, 189000, 1237575) ? c - 189000 + 0x10000 : SP_NO_CHARACTER;
    }
    if (!sp_within(b, 0x40, 0xFE) || b == 0x7F)
        return 0;
    *length = 2;
    if (sp_within(a, 0xA1, 0xAF) && b >= 0xA1 && a != 0xA8)
        return sp_square(SP_SQUARE_GB, a - 0xA0, b - 0xA0);
    if (sp_within(a, 0xA8, 0xA9) && b < 0xA1)
        return ' ';
    return SP_SQUARE_GB + (a - 0x81) * 190 + b - 0x40 - (b > 0x7F);
}

static uint32_t sp_sjis(const uint8_t *p, size_t n, size_t *length)
{
    uint32_t a = p[0], b = n > 1 ? p[1] : 0;
    *length = 1;
    if (sp_within(a, 0xA1, 0xDF))
        return 0xFF61 + a - 0xA1;
    *length = 0;
    if (!(sp_within(a, 0x81, 0x9F) || sp_within(a, 0xE0, 0xFC)) || !sp_within(b, 0x40, 0xFC)
        || b == 0x7F)
        return 0;
    *length = 2;
    uint32_t trail = b - 0x40 - (b > 0x7F);
    return sp_square(SP_SQUARE_JIS, 2 * (a - (a < 0xA0 ? 0x81 : 0xC1)) + 1 + trail / 94,
                     trail % 94 + 1);
}

static uint32_t sp_euc_jp(const uint8_t *p, size_t n, size_t *length)
{
    uint32_t a = p[0], b = n > 1 ? p[1] : 0;
    *length = 0;
    if (!sp_within(b, 0xA1, 0xFE))
        return 0;
    *length = 2;
    if (a == 0x8E && b <= 0xDF)
        return 0xFF61 + b - 0xA1;
    if (a >= 0xA1 && a != 0xFF)
        return sp_square(SP_SQUARE_JIS, a - 0xA0, b - 0xA0);
    *length = a == 0x8F && n > 2 && sp_within(p[2], 0xA1, 0xFE) ? 3 : 0;
    return *length ? sp_square(SP_SQUARE_JIS_MORE, b - 0xA0, p[2] - 0xA0U) : 0;
}

static uint32_t sp_big5(const uint8_t *p, size_t n, size_t *length)
{
    uint32_t a = p[0], b = n > 1 ? p[1] : 0;
    *length = 0;
    if (!sp_within(a, 0x81, 0xFE) || !(sp_within(b, 0x40, 0x7E) || sp_within(b, 0xA1, 0xFE)))
        return 0;
    *length = 2;
    uint32_t place = b - 0x40 - (b > 0x7E ? 34 : 0);
    if (!sp_within(a, 0xA1, 0xA3))
        return SP_SQUARE_BIG5 + (a - 0x81) * 157 + place;
    place += (a - 0xA1) * 157;
    if (sp_within(place, 268, 277))
        return 0xFF10 + place - 268;
    if (sp_within(place, 300, 325))
        return 0xFF21 + place - 300;
    return sp_within(place, 326, 351) ? 0xFF41 + place - 326 : ' ';
}

static uint32_t sp_korean(const uint8_t *p, size_t n, size_t *length)
{
    uint32_t a = p[0], b = n > 1 ? p[1] : 0;
    *length = 0;
    if (!sp_within(a, 0x81, 0xFE)
        || !(sp_within(b, 'A', 'Z') || sp_within(b, 'a', 'z') || sp_within(b, 0x81, 0xFE)))
        return 0;
    *length = 2;
    if (a >= 0xA1 && b >= 0xA1)
        return sp_square(SP_SQUARE_KOREAN, a - 0xA0, b - 0xA0);
    /* the Hangul that KS X 1001 does not have, where Microsoft put them */
    uint32_t trail = b - 'A' - (b >= 'a' ? 6 : 0) - (b >= 0x81 ? 6 : 0);
    uint32_t number = a < 0xA1 ? (a - 0x81) * 178 + trail : 32 * 178 + (a - 0xA1) * 84 + trail;
    return sp_hangul(number, false);
}

SP_PRIVATE size_t sp_two_bytes_write(int charset, const uint8_t *p, size_t n, uint8_t *to)
{
    size_t o = 0;
    size_t k;
    uint32_t c;
    for (size_t i = 0; i < n; i += k) {
        c = p[i];
        k = 1;
        if (c >= 0x80) {
            c = charset == SP_CHARSET_GB       ? sp_gb(p + i, n - i, &k)
                : charset == SP_CHARSET_SJIS   ? sp_sjis(p + i, n - i, &k)
                : charset == SP_CHARSET_EUC_JP ? sp_euc_jp(p + i, n - i, &k)
                : charset == SP_CHARSET_BIG5   ? sp_big5(p + i, n - i, &k)
                                               : sp_korean(p + i, n - i, &k);
            if (k == 0) {
                c = SP_NO_CHARACTER;
                k = 1;
            }
        }
        o += sp_utf8_encode(c, to + o);
    }
    return o;
}

/* The list of two-byte characters that an escape sequence chooses with its last byte. */
static uint32_t sp_escaped_list(uint8_t c)
{
    return c == '@' || c == 'B' ? SP_SQUARE_JIS
           : c == 'A'           ? SP_SQUARE_GB
           : c == 'C'           ? SP_SQUARE_KOREAN
           : c == 'D'           ? SP_SQUARE_JIS_MORE
                                : SP_SQUARE_NONE;
}

/* Read the escape sequence at p. Returns its length; 0 if it is unknown. */
static size_t sp_escape_sequence(const uint8_t *p, size_t n, uint32_t *lists)
{
    if (n >= 3 && p[1] == '(' && (p[2] == 'B' || p[2] == 'H' || p[2] == 'I' || p[2] == 'J')) {
        lists[0] = p[2] == 'I' ? SP_SQUARE_KANA : SP_SQUARE_NONE;
        return 3;
    }
    if (n < 3 || p[1] != '$')
        return 0;
    bool longer = p[2] == '(' || p[2] == ')';
    if (longer && n < 4)
        return 0;
    uint8_t last = p[2 + longer];
    uint32_t list = sp_escaped_list(last);
    if (list == SP_SQUARE_NONE || (!longer && (last == 'C' || last == 'D')))
        return 0;
    lists[p[2] == ')'] = list;
    return 3 + longer;
}

SP_PRIVATE size_t sp_escaped_write(const uint8_t *p, size_t n, uint8_t *to)
{
    uint32_t lists[2] = {SP_SQUARE_NONE, SP_SQUARE_KOREAN}; /* for shift in and shift out */
    bool shifted = false;
    size_t o = 0;
    size_t k;
    for (size_t i = 0; i < n; i += k) {
        uint32_t c = p[i];
        uint32_t list = lists[shifted];
        k = 1;
        if (c == 0x1B) {
            k = sp_escape_sequence(p + i, n - i, lists);
            if (k)
                continue;
            k = 1;
            c = SP_NO_CHARACTER;
        } else if (c == 0x0E || c == 0x0F) {
            shifted = c == 0x0E;
            continue;
        } else if (c >= 0x80) {
            c = sp_within(c, 0xA1, 0xDF) ? 0xFF61 + c - 0xA1 : SP_NO_CHARACTER;
        } else if (list == SP_SQUARE_KANA && sp_within(c, 0x21, 0x7E)) {
            c = c <= 0x5F ? 0xFF40 + c : SP_NO_CHARACTER;
        } else if (list != SP_SQUARE_NONE && sp_within(c, 0x21, 0x7E)) {
            c = SP_NO_CHARACTER;
            if (i + 1 < n && sp_within(p[i + 1], 0x21, 0x7E)) {
                uint8_t pair[2] = {p[i] | 0x80, p[i + 1] | 0x80};
                c = list == SP_SQUARE_GB ? sp_gb(pair, 2, &k)
                                         : sp_square(list, p[i] - 0x20U, p[i + 1] - 0x20U);
                k = 2;
            }
        }
        o += sp_utf8_encode(c, to + o);
    }
    return o;
}
