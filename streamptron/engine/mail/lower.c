#include "mail/lower.h"

#include "mail/charset.h"
#include "mail/folding.h"
#include "names/compose.h"
#include "names/key.h"
#include "names/letters.h"
#include "names/scan.h"

#include <string.h>

enum {
    SP_LOWER_MICRO = 0xB5, /* the one look-alike in Latin-1; folded, it becomes the Greek letter */
    SP_LOWER_MU = 0x3BC,
};

static bool sp_lower_belongs(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* Write what a code point beyond ASCII becomes. Returns how many bytes; `inside`: whether they
   belong to a word. */
SP_RARE SP_APART static size_t sp_lower_one(uint32_t c, bool fold, uint8_t *to, bool *inside,
                                            bool *lookalikes)
{
    if (c >= SP_SET_APART) {
        *inside = true;
        return sp_utf8_encode(c >= SP_SET_APART_BYTES ? c - SP_SET_APART_BYTES : c, to);
    }
    uint8_t folded = fold ? sp_folding_at(c) : 0;
    if (folded == SP_FOLDING_DROP)
        return 0;
    if (folded == 0 || folded & SP_FOLDING_LOOKALIKE) {
        *lookalikes |= folded != 0;
        uint8_t letter = sp_letters_at(c);
        *inside = letter & 1;
        c += (uint32_t)sp_letters_steps[letter >> 1];
        return sp_utf8_encode(fold && c == SP_LOWER_MICRO ? SP_LOWER_MU : c, to);
    }
    *inside = sp_lower_belongs(folded);
    *to = folded;
    return 1;
}

/* Write a code point; set its bits if it belongs to a word. Returns the end of what was written. */
static inline size_t sp_lower_put(uint32_t c, bool fold, uint8_t *to, size_t o, uint64_t *bits,
                                  bool *lookalikes)
{
    bool inside = false;
    size_t k = sp_lower_one(c, fold, to + o, &inside, lookalikes);
    if (inside)
        sp_set_bits(bits, o, ((uint64_t)1 << k) - 1);
    return o + k;
}

/* Write a special code point of k bytes, which ends at *i; or write its stretch composed, and move
   *i behind the stretch. Returns the end of what was written. */
SP_RARE SP_APART static size_t sp_lower_special(const sp_piece *piece, sp_stretch *stretch,
                                                uint32_t c, size_t *i, size_t k, bool fold,
                                                uint8_t *to, size_t o, uint64_t *bits,
                                                bool *lookalikes)
{
    uint32_t composed[SP_COMPOSE_MOST];
    if (sp_letters_at(c) == SP_LETTER_UNSEEN)
        return o;
    if (!sp_compose_is_due(stretch, c, *i - k, o))
        return sp_lower_put(c, fold, to, o, bits, lookalikes);
    *i = stretch->from;
    int n = sp_compose(piece, i, true, composed);
    sp_clear_bits(bits, stretch->to, o);
    o = stretch->to;
    for (int at = 0; at < n; at++)
        o = sp_lower_put(composed[at], fold, to, o, bits, lookalikes);
    sp_stretch_begin(stretch, *i, o, 0);
    stretch->mark = 0;
    return o;
}

SP_PRIVATE size_t sp_lower(const uint8_t *p, size_t n, bool fold, uint8_t *to, uint64_t *bits,
                           bool *lookalikes)
{
    uint8_t last[16];
    const sp_piece piece = {p, n, false};
    sp_stretch stretch = {0, 0, 0, 0};
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
        if (k > 0)
            sp_stretch_begin(&stretch, i - 1, o - 1, p[i - 1]);
        while (i < n && p[i] >= 0x80) {
            uint32_t c = sp_utf8_decode(p + i, n - i, false, &k);
            i += k;
            uint8_t letter = sp_letters_at(c);
            if (letter < SP_LETTER_SPECIAL)
                sp_stretch_begin(&stretch, i - k, o, c);
            else if (!sp_stretch_is_marked(&stretch, letter, c)) {
                o = sp_lower_special(&piece, &stretch, c, &i, k, fold, to, o, bits, lookalikes);
                continue;
            }
            o = sp_lower_put(c, fold, to, o, bits, lookalikes);
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
            uint32_t c = sp_utf8_decode(p + i, n - i, false, &length);
            folded = c < 0x100 ? 0 : sp_folding_at(c); /* Latin-1: bytes of an unknown charset */
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
