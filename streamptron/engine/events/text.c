#include "events/text.h"

#include "math/powers.h"
#include "memory/arena.h"
#include "memory/compiler.h"
#include "memory/grow.h"
#include "memory/heap.h"

#include <math.h>
#include <string.h>

/* The tokens that events/text.h puts in place of numbers and addresses. */

/* Sixteen bytes before each may be read (see sp_key_text). */
static const uint8_t sp_folded[] = "................<num>...........<hex>...........<ip>";

SP_API void sp_text_free(sp_text *text)
{
    sp_free(text->bits);
    sp_free(text->edges);
    sp_free(text->words);
    sp_free(text->parts);
    sp_buckets_free(&text->buckets);
    sp_mail_free(&text->mail);
    memset(text, 0, sizeof(sp_text));
}

SP_API size_t sp_text_bytes(const sp_text *text)
{
    return text->bits_capacity * sizeof(uint64_t) + text->edges_capacity * sizeof(uint32_t)
           + text->words_capacity * sizeof(sp_word) + text->parts_capacity * sizeof(sp_text_part)
           + text->buckets.capacity * sizeof(uint32_t)
           + sp_mail_bytes(&text->mail);
}

/* Free scratch that is left from a much longer text. The first shorter text does this, as there may
   be no other text, only this one again and again. */
static void sp_give_back(sp_text *text)
{
    size_t n_replaced = text->n_replaced;
    if (sp_text_bytes(text) / SP_SCRATCH_MOST > SP_MAX(text->n_bytes, (size_t)SP_TEXT_LARGE)) {
        sp_text_free(text);
        text->n_replaced = n_replaced;
    }
}

static bool sp_is_digit(uint8_t c)
{
    return 48 <= c && c <= 57;
}

static bool sp_is_hex(uint8_t c)
{
    return (48 <= c && c <= 57) || (97 <= (c | 32) && (c | 32) <= 102);
}

/* The number of digits at p, if they are a number of at most three digits, up to 255; otherwise
   0. */
static int sp_octet_end(const uint8_t *p, size_t n)
{
    int i = 0;
    int number = 0;
    while ((size_t)i < n && i < 4 && sp_is_digit(p[i])) {
        number = 10 * number + p[i] - 48;
        i++;
    }
    return 0 < i && i < 4 && number <= 255 ? i : 0;
}

/* The end of the IPv4 address that starts with the word at `at`; 0 if it is not one. */
static size_t sp_dotted(const uint64_t *bits, const uint8_t *p, size_t at, size_t n)
{
    if (at >= 2 && p[at - 1] == 46 && sp_bit_at(bits, at - 2))
        return 0;
    for (int part = 0; part < 4; part++) {
        int octet = sp_octet_end(p + at, n - at);
        at += (size_t)octet;
        if (octet == 0 || (at < n && sp_bit_at(bits, at)))
            return 0;
        if (part < 3) {
            if (at == n || p[at] != 46)
                return 0;
            at++;
        }
    }
    return at + 1 < n && p[at] == 46 && sp_bit_at(bits, at + 1) ? 0 : at;
}

/* Whether a run of hex digits and colons ends with the first number of an IPv4 address. */
static bool sp_ends_in_dotted(const uint64_t *bits, const uint8_t *p, size_t first, size_t last,
                              size_t n)
{
    size_t at = last;
    while (at > first && p[at - 1] != 58)
        at--;
    return at < last && last < n && p[last] == 46 && sp_dotted(bits, p, at, n) != 0;
}

/* Whether hex digits and colons are an IPv6 address. */
static bool sp_is_colons(const uint8_t *p, size_t n)
{
    int digits = 0;
    int groups = 0;
    int gaps = 0;
    if (n < 3 || n > 39)
        return false;
    if ((p[0] == 58 && p[1] != 58) || (p[n - 1] == 58 && p[n - 2] != 58))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (p[i] != 58) {
            groups += digits == 0;
            digits++;
            if (digits > 4)
                return false;
        } else {
            digits = 0;
            if (i && p[i - 1] == 58) {
                gaps++;
                if (i > 1 && p[i - 2] == 58)
                    return false;
            }
        }
    }
    return gaps == 0 ? groups == 8 : gaps == 1 && 1 <= groups && groups <= 7;
}

/* SP_FOLDED_NUMBER or SP_FOLDED_HEX; 0 for any other word. */
static int sp_number_kind(const uint8_t *p, size_t n)
{
    size_t digits = 0;
    if (n > 2 && p[0] == 48 && (p[1] | 32) == 120) {
        for (size_t i = 2; i < n; i++) {
            if (!sp_is_hex(p[i]))
                return 0;
        }
        return SP_FOLDED_HEX;
    }
    for (size_t i = 0; i < n; i++) {
        if (!sp_is_hex(p[i]))
            return 0;
        digits += sp_is_digit(p[i]);
    }
    if (digits == n)
        return SP_FOLDED_NUMBER;
    return digits && n >= 4 ? SP_FOLDED_HEX : 0;
}

/* Fold the word from start to end, if it is a number or begins an address.

   Returns the end of what was folded, or 0. `run_end`: the end of the last run of hex digits and
   colons, so that each run is examined once. */
static size_t sp_text_fold(const uint64_t *bits, const uint8_t *p, size_t n, size_t start,
                           size_t end, size_t *run_end, sp_word *word)
{
    size_t first, last;
    size_t at = 0;
    bool colons = (end < n && p[end] == 58) || (start && p[start - 1] == 58);
    if (colons && start >= *run_end) {
        first = start;
        last = end;
        while (first && p[first - 1] == 58)
            first--;
        while (last < n && (sp_is_hex(p[last]) || p[last] == 58))
            last++;
        at = start;
        while (at < end && sp_is_hex(p[at]))
            at++;
        *run_end = last;
        if (at == end && !(first && sp_bit_at(bits, first - 1))
            && !(last < n && sp_bit_at(bits, last)) && sp_is_colons(p + first, last - first)
            && !sp_ends_in_dotted(bits, p, first, last, n)) {
            word->p = sp_folded + SP_FOLDED_ADDRESS;
            word->n = 4;
            return last;
        }
    }
    if (sp_is_digit(p[start])) {
        last = sp_dotted(bits, p, start, n);
        if (last) {
            word->p = sp_folded + SP_FOLDED_ADDRESS;
            word->n = 4;
            return last;
        }
    }
    int kind = sp_number_kind(p + start, end - start);
    if (kind) {
        word->p = sp_folded + kind;
        word->n = 5;
        return end;
    }
    return 0;
}

/* Append the words of n scanned bytes. `wide`: some are not ASCII. -1 if out of memory. */
static int sp_words(const sp_text_rule *rule, sp_text *text, const uint8_t *p, size_t n,
                    ptrdiff_t n_edges, bool wide)
{
    const uint64_t *bits = text->bits;
    size_t shortest = rule->shortest;
    size_t longest = rule->longest;
    size_t start, end;
    size_t done = 0;
    size_t run_end = 0;
    ptrdiff_t k = text->n_words;
    const uint32_t *edges;
    sp_word *words;
    if (sp_grow((void **)&text->words, &text->words_capacity, (size_t)(k + n_edges / 2 + 1),
                sizeof(sp_word))
        < 0)
        return -1;
    edges = text->edges;
    words = text->words;
    for (ptrdiff_t i = 0; i < n_edges; i += 2) {
        start = edges[i];
        end = edges[i + 1];
        size_t length = end - start;
        words[k].p = p + start;
        words[k].n = length;
        if (rule->fold) {
            if (start < done)
                continue;
            size_t folded = sp_text_fold(bits, p, n, start, end, &run_end, &words[k]);
            if (folded) {
                done = folded;
                k++;
                continue;
            }
        }
        if (wide) {
            for (size_t at = start; at < end; at++)
                length -= (p[at] & 0xC0) == 0x80;
        }
        k += shortest <= length && length <= longest;
    }
    text->n_words = k;
    return 0;
}

/* Add all n-grams of words as tokens. -1 if out of memory. */
static int sp_tokens_words(sp_tally *tally, sp_text *text, sp_event *event, sp_joint *joint,
                           const sp_text_part *part, int n)
{
    uint8_t *p;
    const sp_word *words = text->words;
    sp_tally local; /* a copy, as the compiler has to assume that stores change `tally` */
    sp_key key;
    ptrdiff_t i = part->first;
    while (i <= part->last - n) {
        ptrdiff_t last = SP_MIN(i + SP_TOKENS_AT_ONCE, part->last - n + 1);
        if (sp_tally_reserve(tally, &text->buckets, event, last - i) < 0)
            return -1;
        if (n == 1 && part->prefix->n == 0) {
            local = *tally;
            for (ptrdiff_t k = i; k < last; k++)
                sp_tally_add(&local, sp_key_text(SP_KEY_STR, words[k].p, words[k].n));
            tally->n = local.n;
            i = last;
            continue;
        }
        while (i < last) {
            size_t length = part->prefix->n + (size_t)n - 1;
            for (ptrdiff_t k = i; k < i + n; k++)
                length += words[k].n;
            p = sp_joint_room(joint, event, length);
            if (p == NULL)
                return -1;
            memcpy(p, part->prefix->p, part->prefix->n);
            size_t at = part->prefix->n;
            for (ptrdiff_t k = i; k < i + n; k++) {
                if (k > i) {
                    p[at] = 32;
                    at++;
                }
                memcpy(p + at, words[k].p, words[k].n);
                at += words[k].n;
            }
            key = sp_key_text(SP_KEY_STR, p, length);
            if (sp_tally_add(tally, key) && sp_key_is_long(&key))
                sp_joint_keep(joint, length);
            i++;
        }
    }
    return 0;
}

/* The most common case: ASCII words, read directly between their edges. -1 if out of memory. */
static int sp_tokens_plain(sp_tally *tally, sp_text *text, sp_event *event,
                           const sp_text_rule *rule, const uint8_t *p, ptrdiff_t n_edges)
{
    sp_tally local;
    const uint32_t *edges = text->edges;
    size_t shortest = rule->shortest;
    size_t longest = rule->longest;
    ptrdiff_t i = 0;
    while (i < n_edges) {
        ptrdiff_t last = SP_MIN(i + 2 * SP_TOKENS_AT_ONCE, n_edges);
        if (sp_tally_reserve(tally, &text->buckets, event, (last - i) / 2) < 0)
            return -1;
        local = *tally;
        for (ptrdiff_t k = i; k < last; k += 2) {
            size_t length = edges[k + 1] - edges[k];
            if (shortest <= length && length <= longest)
                sp_tally_add(&local, sp_key_text(SP_KEY_STR, p + edges[k], length));
        }
        tally->n = local.n;
        i = last;
    }
    return 0;
}

/* The number of bytes of the code point at p. */
static size_t sp_character(const uint8_t *p)
{
    return *p < 0x80 ? 1 : *p < 0xE0 ? 2 : *p < 0xF0 ? 3 : 4;
}

/* Add all n-grams of characters as tokens. -1 if out of memory. */
static int sp_tokens_characters(sp_tally *tally, sp_text *text, sp_event *event, sp_joint *joint,
                                const sp_text_part *part, int n)
{
    const uint8_t *first;
    const uint8_t *last;
    const uint8_t *end;
    uint8_t *joined;
    int k;
    sp_key key;
    if (part->first == part->last)
        return 0;
    first = last = text->words[part->first].p;
    end = first + text->words[part->first].n;
    for (k = 0; k < n; k++) {
        if (last == end)
            return 0;
        last += sp_character(last);
    }
    k = 0;
    while (true) {
        if (k == 0) {
            k = SP_TOKENS_AT_ONCE;
            if (sp_tally_reserve(tally, &text->buckets, event, k) < 0)
                return -1;
        }
        k--;
        size_t length = (size_t)(last - first);
        if (part->prefix->n == 0)
            sp_tally_add(tally, sp_key_text(SP_KEY_STR, first, length));
        else {
            joined = sp_joint_room(joint, event, part->prefix->n + length);
            if (joined == NULL)
                return -1;
            memcpy(joined, part->prefix->p, part->prefix->n);
            memcpy(joined + part->prefix->n, first, length);
            key = sp_key_text(SP_KEY_STR, joined, part->prefix->n + length);
            if (sp_tally_add(tally, key) && sp_key_is_long(&key))
                sp_joint_keep(joint, part->prefix->n + length);
        }
        if (last == end)
            return 0;
        first += sp_character(first);
        last += sp_character(last);
    }
}

/* Scan a text, or the text of a field, and find its words. -1 if out of memory.

   `alone`: it is the only text. */
static int sp_add_piece(sp_text *text, sp_event *event, const sp_text_rule *rule,
                        const sp_piece *prefix, const sp_piece *piece, bool alone)
{
    bool wide = !sp_is_ascii(piece->p, piece->n);
    size_t most = wide ? 3 * piece->n : piece->n; /* a bad byte becomes three bytes */
    size_t n_bits = (most + SP_SPARE) / 64 + 2;
    uint8_t *to = sp_arena_alloc(&event->text, most + SP_SPARE);
    sp_text_part *part;
    if (to == NULL
        || sp_grow((void **)&text->bits, &text->bits_capacity, n_bits, sizeof(uint64_t)) < 0
        || sp_grow((void **)&text->parts, &text->parts_capacity, (size_t)(text->n_parts + 1),
                   sizeof(sp_text_part))
               < 0)
        return -1;
    memset(text->bits, 0, n_bits * sizeof(uint64_t));
    size_t length = sp_scan(&rule->characters, text->bits, piece, to, &text->n_replaced);
    part = &text->parts[text->n_parts];
    part->first = text->n_words;
    part->prefix = prefix;
    if (rule->analyzer == SP_TEXT_WORDS) {
        if (sp_grow((void **)&text->edges, &text->edges_capacity, length + 8, sizeof(uint32_t)) < 0)
            return -1;
        ptrdiff_t n_edges = sp_edges(text->bits, length, text->edges);
        if (alone && !wide && !rule->fold && rule->high == 1 && prefix->n == 0) {
            text->plain = to;
            text->n_edges = n_edges;
        } else if (sp_words(rule, text, to, length, n_edges, wide) < 0)
            return -1;
    } else {
        if (sp_grow((void **)&text->words, &text->words_capacity, (size_t)(text->n_words + 1),
                    sizeof(sp_word))
            < 0)
            return -1;
        text->words[text->n_words].p = to;
        text->words[text->n_words].n = length;
        text->n_words += 1;
    }
    part->last = text->n_words;
    text->n_parts += 1;
    return 0;
}

/* Once all words are found, add their tokens and set the values. -1 if out of memory. */
static int sp_add_tokens(sp_text *text, sp_event *event, const sp_text_rule *rule,
                         const sp_index *index)
{
    sp_tally tally;
    sp_joint joint;
    double squares = 0.0;
    memset(&joint, 0, sizeof(sp_joint));
    tally = sp_tally_begin(event, index);
    if (text->plain != NULL
        && sp_tokens_plain(&tally, text, event, rule, text->plain, text->n_edges) < 0)
        return -1;
    for (ptrdiff_t i = 0, end = text->n_parts; i < end; i++) {
        for (int n = rule->low, end = rule->high + 1; n < end; n++) {
            if (rule->analyzer == SP_TEXT_WORDS) {
                if (sp_tokens_words(&tally, text, event, &joint, &text->parts[i], n) < 0)
                    return -1;
            } else if (sp_tokens_characters(&tally, text, event, &joint, &text->parts[i], n) < 0)
                return -1;
        }
    }
    if (rule->value == SP_VALUE_PRESENCE) {
        for (ptrdiff_t i = event->n; i < tally.n; i++)
            event->values[i] = 1.0;
    } else if (rule->value == SP_VALUE_LOG) {
        for (ptrdiff_t i = event->n, end = tally.n; i < end; i++)
            if (event->values[i] != 1.0) /* most are 1, and log 1 is 0 */
                event->values[i] = 1.0 + sp_log_of(event->values[i]);
    }
    if (rule->l2) {
        for (ptrdiff_t i = event->n; i < tally.n; i++)
            squares += event->values[i] * event->values[i];
        squares = sqrt(squares);
        for (ptrdiff_t i = event->n; i < tally.n; i++)
            event->values[i] /= squares;
    }
    sp_tally_end(&tally, event);
    return 0;
}

SP_API int sp_text_write(sp_text *text, sp_event *event, const sp_text_rule *rule,
                         const sp_index *index, bool intercept, const sp_piece *prefixes,
                         const sp_piece *pieces, int n_pieces)
{
    text->n_bytes = 0;
    for (int i = 0; i < n_pieces; i++)
        text->n_bytes += pieces[i].n;
    sp_give_back(text);
    text->n_words = 0;
    text->n_parts = 0;
    text->plain = NULL;
    if (sp_event_begin(event, index, 0, intercept) < 0)
        return -1;
    if (rule->analyzer == SP_TEXT_MAIL)
        return sp_mail_write(&text->mail, event, &text->buckets, &rule->mail, index, pieces);
    for (int i = 0; i < n_pieces; i++) {
        if (sp_add_piece(text, event, rule, &prefixes[i], &pieces[i], n_pieces == 1) < 0)
            return -1;
    }
    return sp_add_tokens(text, event, rule, index);
}
