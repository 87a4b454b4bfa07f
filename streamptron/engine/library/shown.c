#include "library/shown.h"

#include "json/numbers.h"
#include "json/values.h"
#include "table/arrays.h"

#include <string.h>

/* A tuple or pair that has not ended. */
typedef struct sp_shown_open {
    size_t left;
    size_t n;
    bool pair;
} sp_shown_open;

static void sp_shown_double(uint64_t bits, sp_bytes *to)
{
    char text[SP_NUMBER_ROOM];
    sp_bytes_add(to, text, sp_decimal_write(sp_from_bits(bits), text));
}

/* Show one name of canonical bytes, which have been checked, without what it contains. Returns its
   end. */
static size_t sp_canonical_show(const uint8_t *p, size_t at, bool quoted, size_t *holds,
                                sp_bytes *to)
{
    uint8_t tag = p[at++];
    size_t n = 0;
    *holds = 0;
    if (tag == 'n' || tag == 'p') {
        sp_bytes_word(to, tag == 'n' ? "None" : quoted ? "Pair(" : "");
        *holds = tag == 'p' ? 2 : 0;
        return at;
    }
    if (tag == 'f') {
        sp_shown_double(sp_load8(p + at), to);
        return at + 8;
    }
    for (int shift = 0;; shift += 7) {
        n |= (size_t)(p[at] & 127) << shift;
        if (p[at++] < 128)
            break;
    }
    if (tag == 't') {
        sp_bytes_word(to, "(");
        *holds = n;
        return at;
    }
    if (tag == 's' && quoted)
        sp_text_quote(p + at, n, to);
    else if (tag == 'b')
        sp_bytes_quote(p + at, n, to);
    else {
        sp_bytes_word(to, tag == 'i' ? "0x" : "");
        sp_bytes_add(to, p + at, n);
    }
    return at + n;
}

/* Tuples and pairs are nested at most SP_ARRAYS_DEPTH deep. */
static void sp_composed_show(const uint8_t *p, size_t n, sp_bytes *to)
{
    sp_shown_open open[SP_ARRAYS_DEPTH + 2];
    int depth = 0;
    bool plain_pair = n > 0 && p[0] == 'p'; /* "bad * not", as str() shows it */
    for (size_t at = 0; at < n;) {
        uint8_t tag = p[at];
        size_t holds;
        at = sp_canonical_show(p, at, depth > (int)plain_pair, &holds, to);
        if (tag == 't' || tag == 'p') {
            if (depth == SP_ARRAYS_DEPTH + 1)
                return;
            open[depth].left = open[depth].n = holds;
            open[depth++].pair = tag == 'p';
            if (holds > 0)
                continue;
        }
        while (depth > 0) {
            sp_shown_open *top = &open[depth - 1];
            if (top->left > 0)
                top->left--;
            if (top->left > 0) {
                sp_bytes_word(to, plain_pair && depth == 1 ? " * " : ", ");
                break;
            }
            if (!(plain_pair && depth == 1))
                sp_bytes_word(to, !top->pair && top->n == 1 ? ",)" : ")");
            depth--;
        }
    }
}

SP_PRIVATE void sp_key_show(const sp_key *key, const sp_contents *contents, sp_bytes *to)
{
    char text[SP_NUMBER_ROOM];
    uint8_t inside[16];
    size_t n = sp_key_length(key);
    const uint8_t *p = sp_key_is_long(key) ? sp_key_bytes(key) : inside;
    if (p == inside && n <= SP_KEY_INLINE)
        sp_key_inline_bytes(key, inside);
    const sp_json *objects = &contents->parts[SP_PART_OBJECTS].json;
    int64_t number;
    switch (sp_key_kind(key) & ~(uint64_t)SP_KEY_LONG) {
    case SP_KEY_STR:
        sp_bytes_add(to, p, n);
        break;
    case SP_KEY_BYTES:
        sp_bytes_quote(p, n, to);
        break;
    case SP_KEY_INT:
        number = (int64_t)key->lo;
        sp_bytes_add(to, text,
                     sp_whole_write((uint64_t)(number < 0 ? -number : number), number < 0, text));
        break;
    case SP_KEY_FLOAT:
        sp_shown_double(key->lo, to);
        break;
    case SP_KEY_OBJECT:
        for (uint32_t i = 1, k = 0; i < objects->nodes[0].next; i = objects->nodes[i].next) {
            if (k++ == key->lo)
                sp_value_show(objects, i, false, to);
        }
        break;
    default:
        sp_composed_show(p, n, to);
    }
}
