#include "events/pairs.h"

#include "memory/compiler.h"
#include "memory/grow.h"
#include "names/key.h"

#include <math.h>
#include <string.h>

static int sp_halves_reserve(sp_event *event, ptrdiff_t n)
{
    ptrdiff_t capacity = n + n / 2 + 16;
    if (event->members != NULL && n <= event->halves_capacity)
        return 0;
    const sp_growing all[] = {
        SP_GROWING(event->halves, capacity),
        SP_GROWING(event->members, capacity + SP_PAIR_FIELDS_MOST + 1),
    };
    if (sp_grow_all(all, 2) < 0)
        return -1;
    event->field_starts = event->members + capacity;
    event->halves_capacity = capacity;
    return 0;
}

SP_PRIVATE uint8_t *sp_name_write(uint8_t *p, const sp_key *key)
{
    uint64_t kind = sp_key_kind(key) & ~(uint64_t)SP_KEY_LONG;
    size_t n = sp_key_length(key);
    if (kind == SP_KEY_INT) {
        if (key->lo >> 63)
            return sp_canonical_int(p, true, 0 - key->lo, 0);
        return sp_canonical_int(p, false, key->lo, 0);
    }
    if (kind == SP_KEY_FLOAT) {
        *p = 'f';
        sp_store8(p + 1, key->lo);
        return p + 9;
    }
    if (kind != SP_KEY_CANONICAL)
        p = sp_canonical_count(p, kind == SP_KEY_STR ? 's' : 'b', n);
    if (sp_key_is_long(key))
        memcpy(p, sp_key_bytes(key), n);
    else
        sp_key_inline_bytes(key, p);
    return p + n;
}

SP_PRIVATE int sp_pair_named(sp_arena *names, const sp_key *both, sp_key *pair)
{
    const size_t first = sp_key_length(&both[0]) + SP_NAME_SPARE;
    const size_t second = sp_key_length(&both[1]) + SP_NAME_SPARE;
    uint8_t *p = (uint8_t *)sp_arena_alloc(names, 16 + 1 + 2 * (first + second));
    if (p == NULL)
        return -1;
    uint8_t *const a = p + 17 + first + second; /* one after the other, to compare them */
    const size_t n = (size_t)(sp_name_write(a, &both[0]) - a);
    uint8_t *const b = a + n;
    const size_t m = (size_t)(sp_name_write(b, &both[1]) - b);
    const bool less = memcmp(a, b, SP_MIN(n, m)) <= 0;
    p += 16; /* sp_key_text may read bytes before the text */
    *p = 'p';
    memcpy(p + 1, less ? a : b, less ? n : m);
    memcpy(p + 1 + (less ? n : m), less ? b : a, less ? m : n);
    *pair = sp_key_text(SP_KEY_CANONICAL, p, 1 + n + m);
    return 0;
}

/* The number of a feature's field; -1 for none. If several fields' names fit, the longest counts.

   A field's features have its very name, or that name followed by `:`, `=` or `^`. */
static int sp_field_of(const sp_pairs *pairs, const sp_key *key)
{
    uint8_t inside[16];
    const uint8_t *p = inside;
    const sp_field *field;
    size_t n = sp_key_length(key);
    size_t longest = 0;
    int found = -1;
    if ((sp_key_kind(key) & ~(uint64_t)SP_KEY_LONG) != SP_KEY_STR)
        return -1;
    if (sp_key_is_long(key))
        p = sp_key_bytes(key);
    else
        sp_key_inline_bytes(key, inside);
    for (int i = 0, end = pairs->n_fields; i < end; i++) {
        field = &pairs->fields[i];
        if (field->n <= n && field->n > longest && memcmp(p, field->p, field->n) == 0
            && (field->n == n || p[field->n] == ':' || p[field->n] == '=' || p[field->n] == '^')) {
            found = i;
            longest = field->n;
        }
    }
    return found;
}

/* Write the name of entry `at` as a half of pairs. -1 if out of memory. */
static int sp_half_write(sp_event *event, sp_half *half, ptrdiff_t at, int field)
{
    const sp_key *key = &event->keys[at];
    uint8_t *p = sp_arena_alloc(&event->names, sp_key_length(key) + SP_HALF_SPARE);
    if (p == NULL)
        return -1;
    memset(p, 0, 8); /* the head has eight bytes, even of a shorter name */
    half->p = p;
    half->n = (size_t)(sp_name_write(p, key) - p);
    half->at = at;
    half->field = field;
    half->head = 0;
    for (int i = 0; i < 8; i++)
        half->head = (half->head << 8) | p[i];
    return 0;
}

SP_PRIVATE int sp_measure(const sp_pairs *pairs, sp_event *event, ptrdiff_t first, ptrdiff_t last)
{
    bool any_two = pairs->n_fields == 0;
    int n_fields = any_two ? 1 : pairs->n_fields;
    uint64_t n_pairs = 0;
    double largest[SP_PAIR_FIELDS_MOST];
    double second[SP_PAIR_FIELDS_MOST];
    double most = 0.0;
    ptrdiff_t *ends;
    ptrdiff_t n = 0;
    uint64_t a, b;
    int f;
    if (sp_halves_reserve(event, last - first) < 0)
        return -1;
    ends = event->field_starts;
    for (f = 0; f < n_fields + 1; f++) {
        ends[f] = 0;
        if (f < n_fields) {
            largest[f] = second[f] = 0.0;
        }
    }
    for (ptrdiff_t i = first; i < last; i++) {
        f = any_two ? 0 : sp_field_of(pairs, &event->keys[i]);
        if (f < 0 || sp_key_kind(&event->keys[i]) == SP_KEY_NONE)
            continue;
        if (sp_half_write(event, &event->halves[n], i, f) < 0)
            return -1;
        n++;
        ends[f] += 1;
        double value = fabs(event->values[i]);
        second[f] = SP_MAX(second[f], SP_MIN(value, largest[f]));
        largest[f] = SP_MAX(value, largest[f]);
    }
    event->n_halves = n;
    for (f = 0; f < n_fields; f++) {
        uint64_t partners = any_two ? 1 : pairs->fields[f].partners;
        for (int g = f; g < n_fields; g++) {
            if ((partners >> g) & 1) {
                a = (uint64_t)ends[f];
                b = (uint64_t)ends[g];
                n_pairs += f != g ? a * b : a ? a * (a - 1) / 2 : 0;
                most = SP_MAX(most, largest[f] * (f == g ? second[f] : largest[g]));
            }
        }
    }
    event->n_pairs = n_pairs;
    event->most_pairs = pairs->most;
    if (n_pairs > pairs->most) {
        event->unfit = SP_UNFIT_NUMBER;
        return -1;
    }
    if (most > SP_VALUE_LIMIT) {
        event->unfit = SP_UNFIT_SIZE;
        return -1;
    }
    /* sort the halves by field, keeping their order within a field */
    for (f = 1; f < n_fields; f++)
        ends[f] += ends[f - 1];
    for (ptrdiff_t i = n - 1; i > -1; i--) {
        f = event->halves[i].field;
        ends[f] -= 1;
        event->members[ends[f]] = i;
    }
    ends[n_fields] = n; /* now field f starts at ends[f], and ends at ends[f + 1] */
    return 0;
}

/* Whether a comes first in a pair's name. No name's bytes are the beginning of another's. */
static bool sp_is_before(const sp_half *a, const sp_half *b)
{
    if (a->head == b->head)
        return memcmp(a->p, b->p, SP_MIN(a->n, b->n)) <= 0;
    return a->head < b->head;
}

/* Copy n bytes. Short texts always copy sixteen bytes, which needs no loop. */
static void sp_copy(uint8_t *to, const uint8_t *from, size_t n)
{
    memcpy(to, from, 16);
    if (n > 16)
        memcpy(to + 16, from + 16, n - 16);
}

/* Write the pairs of measured halves, from entry `at` on. Returns where they end. -1 if out of
   memory. */
static ptrdiff_t sp_pairs_make(const sp_pairs *pairs, sp_event *event, ptrdiff_t at)
{
    int n_fields = SP_MAX(pairs->n_fields, 1);
    ptrdiff_t first[SP_PAIR_FIELDS_MOST];
    const sp_half *halves = event->halves;
    const ptrdiff_t *members = event->members;
    const ptrdiff_t *starts = event->field_starts;
    const sp_half *a;
    const sp_half *b;
    const sp_half *lesser;
    const sp_half *greater;
    sp_key *keys = event->keys;
    double *values = event->values;
    uint8_t *p = NULL;
    size_t left = 0;
    ptrdiff_t done = at;
    for (int f = 0; f < n_fields; f++)
        first[f] = starts[f];
    for (ptrdiff_t i = 0, end = event->n_halves; i < end; i++) {
        a = &halves[i];
        first[a->field] += 1; /* what comes before has been paired with this one */
        uint64_t partners = pairs->n_fields ? pairs->fields[a->field].partners : 1;
        for (int f = 0; f < n_fields; f++) {
            if (!((partners >> f) & 1))
                continue;
            for (ptrdiff_t k = first[f], end = starts[f + 1]; k < end; k++) {
                b = &halves[members[k]];
                double value = values[a->at] * values[b->at];
                size_t n = 1 + a->n + b->n;
                if (left < n + 16) {
                    left = SP_MAX((size_t)SP_NAMES_AT_ONCE, n + 16);
                    p = sp_arena_alloc(&event->names, left);
                    if (p == NULL)
                        return -1;
                }
                if (sp_is_before(a, b)) {
                    lesser = a;
                    greater = b;
                } else {
                    lesser = b;
                    greater = a;
                }
                *p = 'p';
                sp_copy(p + 1, lesser->p, lesser->n);
                sp_copy(p + 1 + lesser->n, greater->p, greater->n);
                keys[at].lo = (uint64_t)(uintptr_t)p;
                keys[at].hi = n;
                values[at] = value;
                at += value != 0.0;
                p += n;
                left -= n;
            }
        }
        /* only now, as a load that spans several recent stores waits for the last of them */
        while (done < at) {
            keys[done] = sp_key_text(SP_KEY_CANONICAL, (const uint8_t *)(uintptr_t)keys[done].lo,
                                     keys[done].hi);
            done++;
        }
    }
    return at;
}

/* The same as sp_pairs_write, for each candidate. Later candidates are not compared with these. */
static int sp_candidates_write(const sp_pairs *pairs, sp_event *event)
{
    ptrdiff_t first = 0;
    ptrdiff_t start = event->n;
    ptrdiff_t at = event->n;
    event->unfit = 0;
    event->scored_version = 0;
    sp_arena_reset(&event->names);
    for (ptrdiff_t i = 0, end = event->n_candidates; i < end; i++) {
        ptrdiff_t n = event->ends[i] - first;
        if (sp_measure(pairs, event, first, first + n) < 0) {
            event->unfit_candidate = i;
            return -1;
        }
        if (sp_event_reserve(event, at + n + (ptrdiff_t)event->n_pairs) < 0)
            return -1;
        memcpy(event->keys + at, event->keys + first, (size_t)n * sizeof(sp_key));
        memcpy(event->values + at, event->values + first, (size_t)n * sizeof(double));
        for (ptrdiff_t k = 0; k < event->n_halves; k++)
            event->halves[k].at += at - first;
        first += n;
        at = sp_pairs_make(pairs, event, at + n);
        if (at < 0)
            return -1;
        event->ends[i] = at - start;
    }
    memmove(event->keys, event->keys + start, ((size_t)(at - start)) * sizeof(sp_key));
    memmove(event->values, event->values + start, ((size_t)(at - start)) * sizeof(double));
    event->n = at - start;
    event->n_found = event->n_longs = event->n_given = 0;
    event->paired = true;
    return 0;
}

SP_PRIVATE int sp_pairs_write(const sp_pairs *pairs, sp_event *event)
{
    ptrdiff_t n = event->n;
    if (event->n_candidates)
        return sp_candidates_write(pairs, event);
    if (event->same && event->n_last_paired) {
        event->n = event->n_found = event->n_last_paired;
    } else {
        if (sp_pairs_measure(pairs, event) < 0
            || sp_event_reserve(event, n + (ptrdiff_t)event->n_pairs) < 0)
            return -1;
        ptrdiff_t at = sp_pairs_make(pairs, event, n);
        if (at < 0)
            return -1;
        event->n = at;
    }
    event->n_given = n;
    event->paired = true;
    return 0;
}
