#include "wide/mix.h"

#include "memory/heap.h"
#include "merge/outputs.h"
#include "wide/arrays.h"
#include "wide/machine.h"

#include <string.h>

/* Which outputs of the merged learner a label of a side becomes. */
typedef struct sp_wide_map {
    int32_t *first; /* by its own label; -1: none */
    int32_t *next;  /* by the merged learner's output */
} sp_wide_map;

typedef struct sp_wide_mix {
    sp_wide_map *maps; /* of the shards, then of the base */
    uint64_t *bits;    /* a bit for each label in the current row */
    size_t n_words;
    double *fields; /* the row being made */
    uint32_t *labels;
} sp_wide_mix;

/* Whether a learner has this form, or enough labels for it. */
static bool sp_wide_is_its_form(const sp_learner *learner)
{
    return sp_learner_is_wide(learner) || sp_wide_is_due(learner, learner->table.n_outputs);
}

SP_PRIVATE int sp_wide_one_form(sp_forms *forms, sp_shard *shards, int n, const sp_shard **base,
                                int positive, bool wide)
{
    wide = wide || sp_wide_is_its_form((*base)->learner);
    for (int k = 0; k < n; k++)
        wide = wide || sp_wide_is_its_form(shards[k].learner);
    if (!wide)
        return 0;
    forms->n = n + 1;
    forms->shadows = (sp_learner *)sp_calloc((size_t)n + 1, sizeof(sp_learner));
    if (forms->shadows == NULL)
        return -1;
    forms->base = **base;
    *base = &forms->base;
    for (int k = 0; k <= n; k++) {
        sp_shard *source = k < n ? &shards[k] : &forms->base;
        sp_learner *shadow = &forms->shadows[k];
        if (sp_learner_is_wide(source->learner))
            continue;
        *shadow = *source->learner;
        shadow->machine = &sp_wide_machine;
        if (sp_wide_shadow(&shadow->table, source->learner, source->n_slots,
                           k < n ? -1 : positive)
            < 0)
            return -1;
        source->learner = shadow;
    }
    return 0;
}

SP_PRIVATE int sp_wide_mix_form(sp_merge *m)
{
    if (sp_wide_one_form(&m->forms, m->shards, m->n, &m->base, -1, sp_learner_is_wide(m->to)) < 0)
        return -1;
    return sp_learner_is_wide(m->base->learner) && sp_learner_widen(m->to) != 0 ? -1 : 0;
}

static int sp_wide_map_outputs(const sp_merge *m, int k, sp_wide_map *map)
{
    const sp_shard *part = sp_mix_side(m, k);
    const size_t own = (size_t)part->learner->table.n_outputs;
    const size_t n = (size_t)m->to->table.n_outputs;
    map->first = (int32_t *)sp_malloc((own + 1) * sizeof(int32_t));
    map->next = (int32_t *)sp_malloc((n + 1) * sizeof(int32_t));
    if (map->first == NULL || map->next == NULL)
        return -1;
    memset(map->first, -1, (own + 1) * sizeof(int32_t));
    for (size_t o = n; o-- > 0;) {
        if (part->outputs[o] < 0)
            continue;
        map->next[o] = map->first[part->outputs[o]];
        map->first[part->outputs[o]] = (int32_t)o;
    }
    return 0;
}

SP_PRIVATE int sp_wide_mix_reserve(sp_merge *m)
{
    sp_wide_mix *mix = (sp_wide_mix *)sp_calloc(1, sizeof(sp_wide_mix));
    const size_t n = (size_t)m->to->table.n_outputs;
    m->own = mix;
    if (mix == NULL)
        return -1;
    mix->maps = (sp_wide_map *)sp_calloc((size_t)m->n + 1, sizeof(sp_wide_map));
    mix->n_words = n / 64 + 1;
    mix->bits = (uint64_t *)sp_calloc(mix->n_words, sizeof(uint64_t));
    mix->fields = (double *)sp_malloc((n + 1) * (size_t)m->to->table.layout.fields
                                      * sizeof(double));
    mix->labels = (uint32_t *)sp_malloc((n + 1) * sizeof(uint32_t));
    if (mix->maps == NULL || mix->bits == NULL || mix->fields == NULL || mix->labels == NULL)
        return -1;
    for (int k = 0; k <= m->n; k++) {
        if (sp_wide_map_outputs(m, k, &mix->maps[k]) < 0)
            return -1;
    }
    return 0;
}

SP_PRIVATE void sp_wide_mix_free(sp_merge *m)
{
    sp_wide_mix *mix = (sp_wide_mix *)m->own;
    for (int k = 0; mix != NULL && mix->maps != NULL && k <= m->n; k++) {
        sp_free(mix->maps[k].first);
        sp_free(mix->maps[k].next);
    }
    if (mix != NULL) {
        sp_free(mix->maps);
        sp_free(mix->bits);
        sp_free(mix->fields);
        sp_free(mix->labels);
    }
    sp_free(mix);
    m->own = NULL;
}

/* Note the labels that part k has in its own slot. */
static void sp_wide_note(const sp_merge *m, int k, sp_slot_type own)
{
    const sp_wide_mix *mix = (const sp_wide_mix *)m->own;
    const sp_shard *part = sp_mix_side(m, k);
    const sp_table *its = &part->learner->table;
    const sp_wide *row = (const sp_wide *)(const void *)sp_shard_row(part, 0, own);
    if (own == SP_SLOT_NULL || row->n == 0 || !sp_wide_is_there(its, row))
        return;
    const uint32_t *labels = sp_wide_labels(&its->layout, sp_wide_fields(sp_wide_rows(its), row),
                                            row->n);
    for (uint32_t j = 0; j < row->n && (ptrdiff_t)labels[j] < its->n_outputs; j++) {
        for (int32_t o = mix->maps[k].first[labels[j]]; o >= 0; o = mix->maps[k].next[o])
            mix->bits[o / 64] |= (uint64_t)1 << (o % 64);
    }
}

/* The next noted label, from o on; -1: there are no more. Its note is removed. */
static ptrdiff_t sp_wide_next(const sp_merge *m, ptrdiff_t o)
{
    const sp_wide_mix *mix = (const sp_wide_mix *)m->own;
    for (; (size_t)o / 64 < mix->n_words; o = (o / 64 + 1) * 64) {
        if (mix->bits[o / 64] == 0)
            continue;
        o = o / 64 * 64 + (ptrdiff_t)sp_zeros_below(mix->bits[o / 64]);
        mix->bits[o / 64] &= mix->bits[o / 64] - 1;
        return o;
    }
    return -1;
}

static int sp_wide_number(const sp_merge *m, const sp_shard *part)
{
    return part == m->base ? m->n : (int)(part - m->shards);
}

SP_PRIVATE bool sp_wide_mix_same(const sp_merge *m, const sp_shard *shard, sp_slot_type own,
                                 sp_slot_type base)
{
    bool same = true;
    if (shard->plain && m->base->plain
        && sp_wide_same_row(shard->learner, 0, sp_shard_row(shard, 0, own), m->base->learner,
                            sp_shard_row(m->base, 0, base)))
        return true;
    sp_wide_note(m, sp_wide_number(m, shard), own);
    sp_wide_note(m, m->n, base);
    for (ptrdiff_t o = sp_wide_next(m, 0); o >= 0; o = sp_wide_next(m, o))
        same = same && sp_mix_is_same(m, shard, own, base, o);
    return same;
}

SP_PRIVATE int sp_wide_mix_slot(sp_merge *m, sp_slot_type slot)
{
    const sp_wide_mix *mix = (const sp_wide_mix *)m->own;
    sp_table *to = &m->to->table;
    const size_t width = (size_t)to->layout.fields;
    size_t n = 0;
    for (int i = 0; i <= m->n_touched; i++)
        sp_wide_note(m, m->touched[i].k, m->touched[i].slot);
    if (to->layout.p >= 0)
        sp_wide_note(m, m->holder, sp_source_own(&m->shards[m->holder], slot));
    for (ptrdiff_t o = sp_wide_next(m, 0); o >= 0; o = sp_wide_next(m, o)) {
        double *field = mix->fields + n * width;
        memset(field, 0, width * sizeof(double));
        sp_mix_output(m, slot, o, field);
        if (!sp_wide_is_nothing(&to->layout, field))
            mix->labels[n++] = (uint32_t)o;
    }
    if (n == 0)
        return 0;
    sp_wide *row = sp_wide_of(to, slot);
    if (sp_wide_reserve(to, row, n) < 0)
        return -1;
    double *fields = sp_wide_fields(sp_wide_rows(to), row);
    memset(fields, 0, sp_wide_units(&to->layout, n) * SP_WIDE_UNIT);
    memcpy(fields, mix->fields, n * width * sizeof(double));
    memcpy(sp_wide_labels(&to->layout, fields, n), mix->labels, n * sizeof(uint32_t));
    row->n = (uint32_t)n & SP_WIDE_ROW_MOST;
    return 0;
}
