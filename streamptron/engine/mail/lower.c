#include "mail/lower.h"

#include "mail/folding.h"
#include "names/key.h"
#include "names/letters.h"
#include "names/scan.h"

#include <string.h>

static bool sp_lower_belongs(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* Write what a code point becomes, which is not ASCII. Returns how many bytes; they may belong to a
   word. */
static size_t sp_lower_one(uint32_t c, bool fold, uint8_t *to, bool *lookalikes)
{
    uint8_t folded = fold ? sp_folding_at(c) : 0;
    if (folded == SP_FOLDING_DROP)
        return 0;
    if (folded == 0 || folded & SP_FOLDING_LOOKALIKE) {
        *lookalikes |= folded != 0;
        return sp_utf8_encode(sp_letters_lower(c), to);
    }
    *to = folded;
    return 1;
}

SP_PRIVATE size_t sp_lower(const uint8_t *p, size_t n, bool fold, uint8_t *to, uint64_t *bits,
                           bool *lookalikes)
{
    uint8_t last[16];
    size_t i = 0;
    size_t o = 0;
    size_t k;
    uint32_t others;
    while (i < n) {
        size_t some = SP_MIN((size_t)16, n - i);
        const uint8_t *source = p + i;
        if (some < 16) {
            memset(last, 0, 16);
            memcpy(last, source, some);
            source = last;
        }
        uint32_t words = sp_scan_words(true, source, to + o, &others);
        k = others ? (size_t)sp_zeros_below(others) : some;
        if (k < 16)
            words &= ((uint32_t)1 << k) - 1;
        sp_set_bits(bits, o, words);
        i += k;
        o += k;
        while (i < n && p[i] >= 0x80) {
            uint32_t c = sp_utf8_decode(p + i, n - i, false, &k);
            if (c == SP_REPLACEMENT && !(p[i] == 0xEF && k == 3)) {
                c = p[i];
                k = 1;
            }
            i += k;
            k = sp_lower_one(c, fold, to + o, lookalikes);
            if (k > 1 || (k == 1 && sp_lower_belongs(to[o])))
                sp_set_bits(bits, o, ((uint64_t)1 << k) - 1);
            o += k;
        }
    }
    return o;
}

SP_PRIVATE size_t sp_lower_lookalikes(uint8_t *p, size_t n)
{
    size_t k;
    size_t o = 0;
    bool letters = false;
    for (size_t i = 0; i < n; i++)
        letters |= p[i] >= 'a' && p[i] <= 'z';
    for (size_t i = 0; letters && i < n; i += k) {
        k = sp_lower_character(p + i);
        uint8_t folded = 0;
        if (k > 1) {
            size_t length;
            folded = sp_folding_at(sp_utf8_decode(p + i, n - i, false, &length));
        }
        if (folded & SP_FOLDING_LOOKALIKE) {
            p[o] = folded & 0x7F;
            o++;
        } else {
            memmove(p + o, p + i, k);
            o += k;
        }
    }
    return letters ? o : n;
}
