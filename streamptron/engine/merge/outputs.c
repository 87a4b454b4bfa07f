#include "merge/outputs.h"

#include "table/layout.h"
#include "table/slot.h"
#include "table/table.h"

#include <string.h>

SP_PRIVATE sp_slot_type sp_base_slot(const sp_merge *m, sp_slot_type slot)
{
    return slot < m->base->n_slots ? slot : (sp_slot_type)SP_SLOT_NULL;
}

SP_PRIVATE sp_slot_type sp_side_slot(const sp_merge *m, int k, sp_slot_type slot)
{
    return k == m->n ? sp_base_slot(m, slot) : sp_source_own(&m->shards[k], slot);
}

/* A side's number with the sign that it has in the merged learner. */
static inline double sp_signed(double x, double sign)
{
    return sign < 0.0 ? 0.0 - x : x;
}

/* Find a side's numbers of a block of outputs, if it has them as the merged learner does. */
static void sp_find_row(const sp_merge *m, sp_mix_part *part, ptrdiff_t block)
{
    const sp_shard *side = sp_mix_side(m, part->k);
    const bool alike = side->plain && side->learner->table.lanes == m->to->table.lanes;
    part->row = alike ? sp_shard_row(side, block, part->slot) : NULL;
}

/* Find those of one output. Its averaging term must have seen so many folds. */
static inline void sp_find_field(const sp_merge *m, sp_mix_part *part, ptrdiff_t output,
                                 uint32_t fold)
{
    const sp_table *to = &m->to->table;
    const sp_shard *side = sp_mix_side(m, part->k);
    part->sign = part->factor = 1.0;
    if (part->row != NULL && side->outputs[output] >= 0)
        part->field = part->row + output % to->lanes * to->layout.fields;
    else
        part->field = sp_shard_field(side, part->slot, output, &part->sign);
    if (part->field == NULL)
        part->field = to->zeros;
    if (to->average == SP_AVERAGE_EXPONENTIAL)
        part->factor = sp_shard_factor(side, part->slot, output, fold);
}

/* Weight, averaging term and what the rule keeps, of the output just found. */
static inline double sp_weight_of(const sp_mix_part *part)
{
    return sp_signed(part->field[0], part->sign);
}

static inline double sp_term_of(const sp_layout *layout, const sp_mix_part *part)
{
    return layout->v < 0 ? 0.0 : sp_signed(part->field[layout->v] * part->factor, part->sign);
}

static inline double sp_keep_of(const sp_layout *layout, const sp_mix_part *part, int i)
{
    const double k = part->field[layout->k + i];
    return sp_keep_flips(layout->keep, i) ? sp_signed(k, part->sign) : k;
}

/* The pocket's weight, which is the holder's. */
static double sp_pocket(const sp_merge *m, sp_slot_type slot, ptrdiff_t output)
{
    const sp_shard *shard = &m->shards[m->holder];
    const sp_table *its = &shard->learner->table;
    sp_slot_type own = sp_source_own(shard, slot);
    const double *field;
    double sign;
    sp_clock clock;
    if (own == SP_SLOT_NULL)
        return 0.0;
    field = sp_shard_field(shard, own, output, &sign);
    clock.epoch = its->epoch;
    return field == NULL ? 0.0 : sp_signed(sp_pocket_kept(clock, field, its->layout), sign);
}

/* Merge one output of a row that shards have touched. */
static void sp_mix_field(const sp_merge *m, sp_slot_type slot, ptrdiff_t output, double *to)
{
    const sp_layout *layout = &m->to->table.layout;
    const sp_table *table = &m->to->table;
    const sp_mix_part *base = &m->touched[m->n_touched];
    const double w0 = sp_weight_of(base);
    const double S0 = m->c0 * w0 - sp_term_of(layout, base);
    const int kept = sp_keep_count(layout->keep);
    double total = 0.0;
    double sums = 0.0;
    double n = 0.0;
    double gains[SP_KEEP_MOST] = {0.0};
    double ways = 0.0;
    for (const sp_mix_part *part = m->touched; part < base; part++) {
        const sp_shard *shard = &m->shards[part->k];
        const double w = sp_weight_of(part);
        total += w;
        n += shard->n;
        if (table->average == SP_AVERAGE_UNIFORM)
            sums += shard->learner->table.c * w - sp_term_of(layout, part) - S0;
        else if (table->average == SP_AVERAGE_EXPONENTIAL) {
            const sp_clock clock = {.s = shard->learner->table.s};
            sums += shard->n
                    * sp_average(clock, SP_AVERAGE_EXPONENTIAL, w, sp_term_of(layout, part));
        }
        for (int i = 0; i < kept; i++)
            gains[i] += sp_keep_of(layout, part, i) - sp_keep_of(layout, base, i);
        if (kept)
            ways += (sp_keep_of(layout, part, 0) - sp_keep_of(layout, base, 0)) * (w - w0);
    }
    for (int i = 0; i < kept; i++) {
        const double mean = sp_keep_of(layout, base, i) + gains[i] / m->n_touched;
        /* a mean of numbers of at least 0; but rounding may lower it where shards have started
           again */
        to[layout->k + i] = m->n_touched == 1 ? sp_keep_of(layout, m->touched, i)
                                              : SP_MAX(0.0, mean);
    }
    if (m->n_touched == 1)
        to[0] = sp_weight_of(m->touched);
    else
        to[0] = gains[0] > 0.0 ? w0 + ways / gains[0] : total / m->n_touched;
    if (table->average != SP_AVERAGE_NONE) {
        if (n == 0.0)
            to[layout->v] = 0.0;
        else if (table->average == SP_AVERAGE_UNIFORM)
            to[layout->v] = table->c * to[0] - (S0 + m->N * sums / n);
        else
            to[layout->v] = (to[0] - sums / n) / table->s;
    }
    if (layout->p >= 0) {
        to[layout->p] = sp_pocket(m, slot, output);
        to[layout->e] = table->epoch;
    }
}

/* Weight, averaging term and what the rule keeps; 0 for what does not exist. */
enum { SP_MIX_NUMBERS = 2 + SP_KEEP_MOST };

static void sp_numbers_of(const sp_layout *layout, const sp_mix_part *part, double *numbers)
{
    memset(numbers, 0, SP_MIX_NUMBERS * sizeof(double));
    numbers[0] = sp_weight_of(part);
    numbers[1] = sp_term_of(layout, part);
    for (int i = 0, end = sp_keep_count(layout->keep); i < end; i++)
        numbers[2 + i] = sp_keep_of(layout, part, i);
}

/* One output of an untouched row. */
static void sp_keep_field(const sp_merge *m, double *to)
{
    const sp_layout *layout = &m->to->table.layout;
    const sp_mix_part *base = m->touched;
    double numbers[SP_MIX_NUMBERS];
    sp_numbers_of(layout, base, numbers);
    to[0] = numbers[0];
    if (layout->v >= 0)
        to[layout->v] = numbers[1];
    for (int i = 0, end = sp_keep_count(layout->keep); i < end; i++)
        to[layout->k + i] = numbers[2 + i];
    if (layout->p >= 0) {
        to[layout->p] = sp_signed(base->field[layout->p], base->sign);
        to[layout->e] = base->field[layout->e];
    }
}

SP_PRIVATE bool sp_mix_is_same(const sp_merge *m, const sp_shard *shard, sp_slot_type own,
                               sp_slot_type base, ptrdiff_t output)
{
    const sp_layout *layout = &m->to->table.layout;
    sp_mix_part sides[] = {{.k = (int)(shard - m->shards), .slot = own},
                           {.k = m->n, .slot = base}};
    double numbers[2][SP_MIX_NUMBERS];
    for (int i = 0; i < 2; i++) {
        sp_find_field(m, &sides[i], output, shard->learner->table.fold);
        sp_numbers_of(layout, &sides[i], numbers[i]);
    }
    return sp_same_bits(numbers[0], numbers[1], SP_MIX_NUMBERS);
}

SP_PRIVATE bool sp_mix_same_rows(const sp_merge *m, const sp_shard *shard, sp_slot_type own,
                                 sp_slot_type base)
{
    const sp_table *its = &shard->learner->table;
    for (ptrdiff_t b = 0, n = SP_MAX(its->n_blocks, m->base->learner->table.n_blocks); b < n; b++) {
        const double *row = sp_shard_row(shard, b, own);
        const double *ours = sp_shard_row(m->base, b, base);
        if (row != ours && !sp_same_bits(row, ours, its->width))
            return false;
    }
    return true;
}

SP_PRIVATE bool sp_weights_mix_same(const sp_merge *m, const sp_shard *shard, sp_slot_type own,
                                    sp_slot_type base)
{
    const sp_table *to = &m->to->table;
    if (shard->learner->table.lanes == m->base->learner->table.lanes && shard->plain
        && m->base->plain && to->average != SP_AVERAGE_EXPONENTIAL) {
        const bool same = sp_mix_same_rows(m, shard, own, base);
        if (same || to->layout.p < 0)
            return same;
    }
    for (ptrdiff_t o = 0; o < to->n_outputs; o++) {
        if (!sp_mix_is_same(m, shard, own, base, o))
            return false;
    }
    return true;
}

/* Whether a side may have numbers for a block of a chunk. */
static bool sp_side_writes(const sp_shard *side, ptrdiff_t block, size_t chunk)
{
    return !sp_shard_is_aligned(side, chunk) /* it may have these features' slots anywhere */
           || sp_shard_chunk(side, block, chunk) != side->learner->table.zeros;
}

SP_PRIVATE bool sp_mix_writes(const sp_merge *m, ptrdiff_t block, size_t chunk)
{
    bool writes = chunk << SP_CHUNK_BITS < m->base->n_slots
                  && sp_side_writes(m->base, block, chunk);
    for (int i = 0; i < m->n_parts && !writes; i++)
        writes = sp_side_writes(&m->shards[m->parts[i].k], block, chunk);
    return writes;
}

SP_PRIVATE void sp_mix_output(const sp_merge *m, sp_slot_type slot, ptrdiff_t output, double *to)
{
    for (int i = 0; i < m->n_touched; i++)
        sp_find_field(m, &m->touched[i], output,
                      m->shards[m->touched[i].k].learner->table.fold);
    sp_find_field(m, &m->touched[m->n_touched], output, m->to->table.fold);
    if (m->n_touched)
        sp_mix_field(m, slot, output, to);
    else
        sp_keep_field(m, to);
}

/* Whether all sides have zeros for n numbers of the current block; then so has the merged
   learner. */
static bool sp_is_nothing(const sp_merge *m, int first, int n)
{
    uint64_t bits = 0;
    if (m->to->table.layout.p >= 0)
        return false;
    for (int i = 0; i <= m->n_touched; i++) {
        const double *row = m->touched[i].row;
        if (row == NULL)
            return false;
        for (int j = first; j < first + n; j++)
            bits |= sp_bits_of(row[j]);
    }
    return bits == 0;
}

SP_PRIVATE int sp_weights_mix_slot(sp_merge *m, sp_slot_type slot)
{
    const sp_table *to = &m->to->table;
    const int fields = to->layout.fields;
    for (ptrdiff_t b = 0; b < to->n_blocks; b++) {
        double *row = sp_table_chunk(to, b, slot >> SP_CHUNK_BITS);
        if (row == NULL)
            continue;
        row += (slot & SP_CHUNK_MASK) * (uint32_t)to->width;
        for (int i = 0; i <= m->n_touched; i++)
            sp_find_row(m, &m->touched[i], b);
        if (sp_is_nothing(m, 0, to->width))
            continue;
        for (int lane = 0; lane < to->lanes && b * to->lanes + lane < to->n_outputs; lane++) {
            if (!sp_is_nothing(m, lane * fields, fields))
                sp_mix_output(m, slot, b * to->lanes + lane, row + lane * fields);
        }
    }
    return 0;
}
