#include "names/utf8.h"

SP_PRIVATE uint32_t sp_utf8_decode(const uint8_t *p, size_t n, bool surrogates, size_t *length)
{
    uint8_t first = p[0];
    uint8_t low = 0x80;
    uint8_t high = 0xBF;
    size_t need;
    uint32_t c;
    if (first < 0xC2 || first > 0xF4) {
        *length = 1;
        return SP_REPLACEMENT;
    }
    if (first < 0xE0) {
        need = 2;
        c = first & 0x1F;
    } else if (first < 0xF0) {
        need = 3;
        c = first & 0x0F;
        if (first == 0xE0)
            low = 0xA0;
        else if (first == 0xED && !surrogates)
            high = 0x9F;
    } else {
        need = 4;
        c = first & 0x07;
        if (first == 0xF0)
            low = 0x90;
        else if (first == 0xF4)
            high = 0x8F;
    }
    for (size_t i = 1; i < need; i++) {
        if (i == n || !(low <= p[i] && p[i] <= high)) {
            *length = i;
            return SP_REPLACEMENT;
        }
        c = (c << 6) | (p[i] & 0x3F);
        low = 0x80;
        high = 0xBF;
    }
    *length = need;
    return c;
}
