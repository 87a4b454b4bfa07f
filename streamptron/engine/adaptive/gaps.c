#include "adaptive/gaps.h"

#include "events/pairs.h"
#include "names/key.h"

#include <math.h>
#include <string.h>

static const uint8_t sp_gap_begins[] = {'t', 2, 's', 3, 'g', 'a', 'p'};

enum {
    SP_GAP_AROUND = 16 + sizeof(sp_gap_begins) + SP_NAME_SPARE, /* bytes beside the column's; the
        first sixteen because a key may be read from before its text */
};

SP_PRIVATE bool sp_has_hidden(const sp_key *column)
{
    uint8_t inside[16];
    if (sp_key_kind(column) == SP_KEY_OBJECT)
        return false;
    if ((sp_key_kind(column) & ~(uint64_t)SP_KEY_LONG) != SP_KEY_CANONICAL)
        return true;
    if (sp_key_is_long(column))
        return *sp_key_bytes(column) != 'p';
    sp_key_inline_bytes(column, inside);
    return *inside != 'p';
}

/* The name of a column's gap. NULL if out of memory. */
static uint8_t *sp_gap_name(sp_arena *names, const sp_key *column, size_t *length)
{
    uint8_t *p = (uint8_t *)sp_arena_alloc(names, sp_key_length(column) + SP_GAP_AROUND);
    if (p == NULL)
        return NULL;
    p += 16;
    memcpy(p, sp_gap_begins, sizeof(sp_gap_begins));
    *length = (size_t)(sp_name_write(p + sizeof(sp_gap_begins), column) - p);
    return p;
}

SP_HOT int sp_gaps_write(const sp_index *index, const sp_present *columns, sp_arena *names,
                         uint32_t *of, sp_event *event)
{
    ptrdiff_t first = event->n;
    ptrdiff_t at = first;
    sp_arena_reset(names);
    if (sp_event_reserve(event, first + columns->n) < 0)
        return -1;
    for (ptrdiff_t i = 0; i < columns->n; i++) {
        if (!columns->gaps[i])
            continue;
        const sp_key column = sp_index_placed(index, columns->slots[i]);
        if (!sp_has_hidden(&column))
            continue;
        size_t length;
        uint8_t *name = sp_gap_name(names, &column, &length);
        if (name == NULL)
            return -1;
        event->keys[at] = sp_key_text(SP_KEY_CANONICAL, name, length);
        event->values[at++] = 1.0;
        *of++ = (uint32_t)i;
    }
    sp_index_find_all(index, event->keys + first, at - first, event->hashes + first,
                      event->starts + first, event->slots + first, false);
    event->n_gaps = at - first;
    event->n = event->n_found = at;
    event->gapped = true;
    return 0;
}

SP_HOT void sp_gaps_weigh(double *const *heads, const sp_slot_type *slots, const double *x,
                            ptrdiff_t first, ptrdiff_t last, double T, sp_sums *sums, bool pair,
                            bool naive_bayes)
{
    for (ptrdiff_t i = first; i < last; i++) {
        const sp_head *head = sp_head_of(heads, slots[i]);
        double om = head->om == 0.0f ? SP_OM_FIRST : (double)head->om;
        double N = pair ? (double)head->of.c[0] + head->of.c[1] : head->of.N;
        double h = om * x[i];
        double hh = h * h;
        double known, t;
        sp_divided(1.0, (double)head->cnt + 1.0, pair ? T : T / 3.0, N, &known, &t);
        sums->squares += hh;
        sums->length += fabs(h);
        sums->unknown += hh * known;
        sums->v[i] = x[i];
        sums->h[i] = h;
        sums->t[i] = 0.0;
        if (pair)
            sums->dot += (double)head->w * h;
        if (!naive_bayes || !(N > 0.0) || signbit(head->s))
            continue;
        sums->used++;
        sums->t[i] = t;
        for (int k = 0; pair && k < 2; k++)
            sums->P[k] = sp_fraction(sums->P[k] * (1.0 + (double)head->of.c[k] * t), &sums->E[k]);
    }
}
