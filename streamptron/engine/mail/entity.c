#include "mail/charset.h"
#include "mail/decode.h"
#include "mail/entities.h"
#include "names/scan.h"

#include <string.h>

static bool sp_entity_letter(uint8_t c)
{
    c |= 32;
    return c >= 'a' && c <= 'z';
}

static bool sp_entity_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* The character with a name of n bytes; 0 if there is none. `bare`: without a semicolon. */
static uint32_t sp_entity_named(const uint8_t *name, size_t n, bool bare)
{
    uint32_t letter = (uint32_t)(name[0] & 31) - 1 + (name[0] >= 'a' ? 26 : 0);
    const uint8_t *p = sp_entity_names + sp_entity_starts[letter];
    const uint8_t *end = sp_entity_names + sp_entity_starts[letter + 1];
    size_t alike = 1; /* characters shared with the table's previous name */
    for (; p < end; p += 3 + (*p >> 2 & 7)) {
        size_t shared = *p >> 5;
        size_t own = *p >> 2 & 7;
        if (shared < alike)
            return 0; /* all that follow come after the name */
        if (shared > alike)
            continue;
        size_t i = 0;
        while (i < own && alike < n && p[1 + i] == name[alike]) {
            i++;
            alike++;
        }
        if (i == own && alike == n) {
            uint32_t c = (uint32_t)p[1 + own] | (uint32_t)p[2 + own] << 8;
            if (bare && !(*p & 1))
                return 0;
            return c;
        }
    }
    return 0;
}

/* The same for a number, after &#. 128 to 159 mean bytes of windows-1252. */
static uint32_t sp_entity_number(const uint8_t *p, const uint8_t *end, size_t *length)
{
    const uint8_t *start = p - 2;
    bool hex = p < end && (*p | 32) == 'x';
    uint32_t c = 0;
    p += hex;
    const uint8_t *digits = p;
    for (; p < end; p++) {
        int digit = sp_hex_value(*p);
        if (digit < 0 || (!hex && digit > 9))
            break;
        if (c < 0x110000)
            c = c * (hex ? 16 : 10) + (uint32_t)digit;
    }
    if (p == digits)
        return 0;
    *length = (size_t)(p - start) + (p < end && *p == ';');
    if (c >= 0x80 && c < 0xA0) {
        uint8_t byte = (uint8_t)c, text[SP_CHARSET_LONGEST];
        size_t n = sp_charset_write(0, &byte, 1, text);
        return sp_utf8_decode(text, n, false, &n);
    }
    return c == 0 || c >= 0x110000 || (c >= 0xD800 && c < 0xE000) ? SP_NO_CHARACTER : c;
}

SP_PRIVATE uint32_t sp_entity(const uint8_t *p, const uint8_t *end, size_t *length)
{
    size_t n = 0;
    uint32_t c = 0;
    p++;
    if (p < end && *p == '#')
        return sp_entity_number(p + 1, end, length);
    while (n <= SP_ENTITY_MOST && p + n < end && (sp_entity_letter(p[n]) || sp_entity_digit(p[n])))
        n++;
    if (n == 0 || !sp_entity_letter(*p))
        return 0;
    if (n <= SP_ENTITY_MOST && p + n < end && p[n] == ';') {
        *length = n + 2;
        if (n == 4 && memcmp(p, "nbsp", 4) == 0) /* by far the most frequent */
            return 0xA0;
        c = sp_entity_named(p, n, false);
    }
    n = SP_MIN(n, (size_t)SP_ENTITY_BARE_MOST);
    for (; c == 0 && n > 1; n--) {
        c = sp_entity_named(p, n, true);
        *length = n + 1;
    }
    return c;
}
