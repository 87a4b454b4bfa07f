#include "names/scan.h"

#include "names/compose.h"
#include "names/key.h"
#include "names/letters.h"

#include <string.h>

static bool sp_is_separator(const sp_characters *rule, uint32_t c)
{
    for (ptrdiff_t i = 0; i < rule->n_separators; i++) {
        if (rule->separators[i] == c)
            return true;
    }
    return false;
}

SP_RARE SP_API void sp_scan_separators(sp_characters *rule)
{
    for (ptrdiff_t i = 0; rule->lowercase && i < rule->n_separators; i++)
        rule->separators[i] = sp_letters_lower(rule->separators[i]);
    for (int c = 0; c < 256; c++) {
        rule->lower[c] = (uint8_t)(rule->lowercase && 65 <= c && c <= 90 ? c + 32 : c);
        rule->word[c] = c < 128 && !sp_is_separator(rule, (uint32_t)c);
    }
}

/* Write a code point beyond ASCII; set its bits if it belongs to words. Returns the end. */
static inline size_t sp_scan_put(const sp_characters *rule, uint64_t *bits, uint32_t c,
                                 uint8_t letter, uint8_t *to, size_t o)
{
    if (rule->lowercase)
        c += (uint32_t)sp_letters_steps[letter >> 1];
    size_t k = sp_utf8_encode(c, to + o);
    if (rule->separated ? !sp_is_separator(rule, c) : letter & 1)
        sp_set_bits(bits, o, ((uint64_t)1 << k) - 1);
    return o + k;
}

/* Write a special code point of k bytes, which ends at *i; or write its stretch composed, and move
   *i behind the stretch. Returns the end of what was written. */
SP_RARE SP_APART static size_t sp_scan_special(const sp_characters *rule, uint64_t *bits,
                                               const sp_piece *piece, sp_stretch *stretch,
                                               uint32_t c, size_t *i, size_t k, uint8_t *to,
                                               size_t o)
{
    uint32_t composed[SP_COMPOSE_MOST];
    uint8_t letter = sp_letters_at(c);
    if (letter == SP_LETTER_UNSEEN)
        return o;
    if (!sp_compose_is_due(stretch, c, *i - k, o))
        return sp_scan_put(rule, bits, c, letter, to, o);
    *i = stretch->from;
    int n = sp_compose(piece, i, rule->lowercase, composed);
    sp_clear_bits(bits, stretch->to, o);
    o = stretch->to;
    for (int at = 0; at < n; at++)
        o = sp_scan_put(rule, bits, composed[at], sp_letters_at(composed[at]), to, o);
    sp_stretch_begin(stretch, *i, o, 0);
    stretch->mark = 0;
    return o;
}

SP_PRIVATE size_t sp_scan(const sp_characters *rule, uint64_t *bits, const sp_piece *piece,
                          uint8_t *to, size_t *n_replaced)
{
    uint8_t last[16];
    sp_stretch stretch = {0, 0, 0, 0};
    const uint8_t *p = piece->p;
    const uint8_t *source;
    size_t n = piece->n;
    size_t i = 0;
    size_t o = 0;
    size_t k;
    uint32_t words;
    uint32_t others = 0;
    while (i < n) {
        size_t some = SP_MIN((size_t)16, n - i);
        source = p + i;
        if (some < 16) {
            memset(last, 0, 16);
            memcpy(last, source, some);
            source = last;
        }
        if (rule->separated)
            words = sp_scan_table(rule->lower, rule->word, source, to + o, &others);
        else
            words = sp_scan_words(rule->lowercase, source, to + o, &others);
        k = some;
        if (others)
            k = SP_MIN(k, (size_t)sp_zeros_below(others));
        if (k < 16)
            words &= ((uint32_t)1 << k) - 1;
        sp_set_bits(bits, o, words);
        i += k;
        o += k;
        if (k < some) {
            if (k > 0)
                sp_stretch_begin(&stretch, i - 1, o - 1, p[i - 1]);
            while (i < n && p[i] >= 0x80) {
                uint32_t c = sp_utf8_decode(p + i, n - i, piece->surrogates, &k);
                if (c == SP_REPLACEMENT && !(p[i] == 0xEF && k == 3))
                    *n_replaced += 1;
                i += k;
                uint8_t letter = sp_letters_at(c);
                if (letter < SP_LETTER_SPECIAL)
                    sp_stretch_begin(&stretch, i - k, o, c);
                else if (!sp_stretch_is_marked(&stretch, letter, c)) {
                    o = sp_scan_special(rule, bits, piece, &stretch, c, &i, k, to, o);
                    continue;
                }
                o = sp_scan_put(rule, bits, c, letter, to, o);
            }
        }
    }
    return o;
}
