#include "table/table.h"

#include "math/powers.h"
#include "memory/compiler.h"
#include "memory/grow.h"
#include "memory/heap.h"
#include "table/loops.h"

#include <math.h>
#include <string.h>

/* A chunk of the widest slots, which is read in place of missing chunks. It is never written,
   though its address is among those of chunks that are. */
SP_NO_BYTES static _Alignas(64) const double sp_zeros[SP_CHUNK_SLOTS * SP_SLOT_MOST];

static ptrdiff_t sp_weights_blocks_for(const sp_table *table, ptrdiff_t n_outputs)
{
    return (n_outputs + table->lanes - 1) / table->lanes;
}

/* How many numbers of a row belong to existing outputs. */
static int sp_weights_used(const sp_table *table, ptrdiff_t block)
{
    const ptrdiff_t outputs = table->n_outputs - block * table->lanes;
    return (int)SP_MIN(outputs, (ptrdiff_t)table->lanes) * table->layout.fields;
}

SP_RARE static int sp_weights_fault(const sp_table *table, ptrdiff_t block, const double *rows,
                                    size_t n)
{
    const int used = sp_weights_used(table, block);
    if (!sp_fields_are_sound(&table->layout, rows, n * (size_t)table->lanes))
        return SP_ROWS_NUMBER;
    for (size_t i = 0; i < n; i++, rows += table->width) {
        for (int f = used; f < table->width; f++) {
            if (rows[f] != 0.0)
                return SP_ROWS_NOBODYS;
        }
    }
    return 0;
}

static const sp_slot_kind sp_weights
    = {.blocks_for = sp_weights_blocks_for, .fault = sp_weights_fault};

SP_RARE SP_PRIVATE void sp_table_init(sp_table *table, const sp_vectors *vectors, int keep,
                                      bool several, bool scattered)
{
    memset(table, 0, sizeof(sp_table));
    table->kind = &sp_weights;
    sp_pool_init(&table->pool, scattered);
    table->average = vectors->average;
    table->layout = sp_layout_of(vectors->average, vectors->pocket, keep);
    table->lanes = several ? SP_LANES : 1;
    table->width = table->layout.fields * table->lanes;
    table->c = 1.0;
    table->s = 1.0;
    table->fade = sp_two_to(-1.0 / vectors->halving);
    table->epoch = 1.0;
    table->n_chunks = 1;
    table->zeros = (double *)(uintptr_t)sp_zeros;
}

static void sp_block_free(sp_block *block)
{
    sp_places_free(&block->of_chunks, block->chunks);
    sp_places_free(&block->of_folds, block->folds);
}

SP_RARE SP_PRIVATE void sp_table_free(sp_table *table)
{
    for (ptrdiff_t b = 0, end = table->n_blocks; b < end; b++)
        sp_block_free(&table->blocks[b]);
    sp_free(table->blocks);
    sp_pool_free(&table->pool);
    table->blocks = NULL;
    table->n_blocks = 0;
    table->n_chunks = 0;
    table->bytes = 0;
}

/* Let the places first .. last - 1 point to zeros. */
static void sp_block_fill(const sp_table *table, sp_block *block, size_t first, size_t last)
{
    for (size_t i = first; i < last; i++) {
        block->chunks[i] = table->zeros;
        if (table->average == SP_AVERAGE_EXPONENTIAL)
            block->folds[i] = 0;
    }
}

/* Make room for n chunk places in a block, whose first ones exist. Returns -1 if out of memory. */
SP_RARE static int sp_block_open(sp_table *table, sp_block *block, size_t first, size_t n)
{
    size_t capacity = table->is_full_size ? n : sp_places_ahead(n);
    void *p = sp_places_open(&block->of_chunks, block->chunks, sizeof(double *), capacity,
                             &table->bytes);
    if (p == NULL)
        return -1;
    block->chunks = (double **)p;
    if (table->average == SP_AVERAGE_EXPONENTIAL) {
        p = sp_places_open(&block->of_folds, block->folds, sizeof(uint32_t), capacity,
                           &table->bytes);
        if (p == NULL)
            return -1;
        block->folds = (uint32_t *)p;
    }
    sp_block_fill(table, block, first, n);
    return 0;
}

SP_RARE SP_API int sp_table_add_outputs(sp_table *table, ptrdiff_t n)
{
    ptrdiff_t blocks = table->kind->blocks_for(table, table->n_outputs + n);
    if (blocks > table->n_blocks) {
        if (SP_GROW(table->blocks, blocks) < 0)
            return -1;
        while (table->n_blocks < blocks) {
            memset(&table->blocks[table->n_blocks], 0, sizeof(sp_block));
            if (sp_block_open(table, &table->blocks[table->n_blocks], 0, table->n_chunks) < 0) {
                table->bytes -= sp_places_bytes(&table->blocks[table->n_blocks].of_chunks);
                sp_block_free(&table->blocks[table->n_blocks]);
                return -1;
            }
            table->bytes += sizeof(sp_block);
            table->n_blocks += 1;
        }
    }
    table->n_outputs += n;
    return 0;
}

SP_RARE SP_PRIVATE int sp_table_reserve_places(sp_table *table, size_t places, bool whole)
{
    table->is_full_size = whole;
    if (places <= table->n_chunks)
        return 0;
    for (ptrdiff_t b = 0, end = table->n_blocks; b < end; b++) {
        if (sp_block_open(table, &table->blocks[b], table->n_chunks, places) < 0)
            return -1;
    }
    table->n_chunks = places;
    return 0;
}

/* Add a chunk place to every block. Returns -1 if out of memory. */
static int sp_place_add(sp_table *table)
{
    sp_block *block;
    void *p;
    for (ptrdiff_t b = 0, end = table->n_blocks; b < end; b++) {
        block = &table->blocks[b];
        p = sp_places_room(&block->of_chunks, block->chunks, table->n_chunks, &table->bytes);
        if (p == NULL)
            return -1;
        block->chunks = (double **)p;
        if (table->average == SP_AVERAGE_EXPONENTIAL) {
            p = sp_places_room(&block->of_folds, block->folds, table->n_chunks, &table->bytes);
            if (p == NULL)
                return -1;
            block->folds = (uint32_t *)p;
        }
        sp_block_fill(table, block, table->n_chunks, table->n_chunks + 1);
    }
    table->n_chunks += 1;
    return 0;
}

/* Whether all chunks of a block exist, as in a block that every event writes. */
static bool sp_block_is_made(const sp_table *table, sp_block *block)
{
    while (block->n_made < table->n_chunks && block->chunks[block->n_made] != table->zeros)
        block->n_made++;
    return block->n_made == table->n_chunks;
}

/* Make a block's missing chunks for these slots, and link them into a chain. -1 if out of
   memory. */
static int sp_table_reserve_chunks(sp_table *table, const sp_slot_type *slots, ptrdiff_t n,
                                   ptrdiff_t b, sp_fresh **latest)
{
    sp_block *block = &table->blocks[b];
    sp_fresh *made;
    if (sp_block_is_made(table, block))
        return 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        if (block->chunks[slots[i] >> SP_CHUNK_BITS] == table->zeros) {
            made = (sp_fresh *)sp_pool_take(&table->pool, sp_chunk_bytes(table));
            if (made == NULL)
                return -1;
            made->next = *latest;
            made->block = b;
            made->chunk = slots[i] >> SP_CHUNK_BITS;
            *latest = made;
            sp_table_set_chunk(block, made->chunk, (double *)made);
            if (table->average == SP_AVERAGE_EXPONENTIAL)
                sp_table_set_folds(block, made->chunk, table->fold);
        }
    }
    return 0;
}

/* Clear the links, so that the chunks can be used; or free the chunks if a later one failed. */
SP_RARE static int sp_reserve_end(sp_table *table, sp_fresh *made, bool failed)
{
    while (made != NULL) {
        sp_fresh fresh = *made;
        memset(made, 0, sizeof(sp_fresh));
        if (failed) {
            sp_table_set_chunk(&table->blocks[fresh.block], fresh.chunk, table->zeros);
            sp_pool_give(&table->pool, made, sp_chunk_bytes(table));
        }
        made = fresh.next;
    }
    return failed ? -1 : 0;
}

/* Make places for the chunks of n_slots slots. Returns -1 if out of memory. */
static int sp_places_to(sp_table *table, sp_slot_type n_slots)
{
    while ((n_slots - 1) >> SP_CHUNK_BITS >= table->n_chunks) {
        if (sp_place_add(table) < 0)
            return -1;
    }
    return 0;
}

SP_API int sp_table_reserve_all(sp_table *table, sp_slot_type n_slots, const sp_wanted *wanted,
                                int n)
{
    sp_fresh *made = NULL;
    if (sp_places_to(table, n_slots) < 0)
        return -1;
    for (int k = 0; k < n; k++) {
        for (ptrdiff_t i = 0; i < wanted[k].n_blocks; i++) {
            if (sp_table_reserve_chunks(table, wanted[k].slots, wanted[k].n, wanted[k].blocks[i],
                                        &made)
                < 0)
                return sp_reserve_end(table, made, true);
        }
    }
    return sp_reserve_end(table, made, false);
}

SP_API int sp_table_reserve_blocks(sp_table *table, const sp_slot_type *slots, ptrdiff_t n,
                                   sp_slot_type n_slots, const uint32_t *blocks, ptrdiff_t n_blocks)
{
    const sp_wanted wanted = {slots, n, blocks, n_blocks};
    return sp_table_reserve_all(table, n_slots, &wanted, 1);
}

SP_API int sp_table_reserve(sp_table *table, const sp_slot_type *slots, ptrdiff_t n,
                            sp_slot_type n_slots, const sp_move *moves, int n_moves)
{
    sp_fresh *made = NULL;
    if (sp_places_to(table, n_slots) < 0)
        return -1;
    for (int i = 0; i < n_moves; i++) {
        if (i > 0 && moves[i].output / table->lanes == moves[i - 1].output / table->lanes)
            continue; /* the same slots of the same block */
        if (sp_table_reserve_chunks(table, slots, n, moves[i].output / table->lanes, &made) < 0)
            return sp_reserve_end(table, made, true);
    }
    return sp_reserve_end(table, made, false);
}

/* What changes over time, for the kernels. */
static sp_clock sp_table_clock(const sp_table *table)
{
    sp_clock clock;
    clock.average = table->average;
    clock.c = table->c;
    clock.s = table->s;
    clock.fold = table->fold;
    clock.epoch = table->epoch;
    return clock;
}

static sp_slots sp_table_slots(const sp_block *block)
{
    sp_slots slots;
    slots.chunks = block->chunks;
    slots.folds = block->folds;
    return slots;
}

SP_PRIVATE sp_entries sp_entries_of(const sp_slot_type *slots, const double *x, ptrdiff_t n)
{
    sp_entries entries;
    entries.slots = slots;
    entries.columns = NULL;
    entries.places = NULL;
    entries.x = x;
    entries.n = n;
    return entries;
}

/* The common case: each weight has one number beside it, and both are summed in the same way. */
static bool sp_is_plain(const sp_table *table)
{
    return SP_BLOCKS_AT_ONCE && table->layout.fields == 2
           && table->average != SP_AVERAGE_EXPONENTIAL;
}

/* Write the scores, from the sums of an output's weights, averaging terms and pocket. */
static void sp_write_scores(const sp_table *table, sp_clock clock, double w, double v, double p,
                            ptrdiff_t n, double *scores)
{
    scores[SP_KEPT_CURRENT * n] = w;
    if (table->average != SP_AVERAGE_NONE)
        scores[SP_KEPT_AVERAGE * n] = sp_average(clock, table->average, w, v);
    if (table->layout.p >= 0)
        scores[SP_KEPT_POCKET * n] = p;
}

SP_HOT void sp_score_one(const sp_table *table, const sp_entries *entries, bool intercept,
                         ptrdiff_t n_scores, double *scores)
{
    sp_clock clock = sp_table_clock(table);
    double sums[SP_SUMS];
    if (sp_is_plain(table)) {
        sp_sum_pair(&table->blocks->chunks, entries, intercept, 0, sums);
        sp_write_scores(table, clock, sums[0], sums[1], 0.0, n_scores, scores);
        return;
    }
    sp_slots block = sp_table_slots(&*table->blocks);
    sp_sum_one(&block, &clock, entries, intercept, sums, &table->layout);
    sp_write_scores(table, clock, sums[SP_SUM_W], sums[SP_SUM_V], sums[SP_SUM_P], n_scores, scores);
}

SP_HOT void sp_score_several(const sp_table *table, const sp_entries *entries, ptrdiff_t n_scores,
                             double *scores)
{
    sp_clock clock = sp_table_clock(table);
    double sums[4 * SP_SUMS * SP_LANES];
    double **chunks[4];
    sp_slots block;
    bool far = table->pool.used >= SP_FAR;
    ptrdiff_t first = 0;
    if (sp_is_plain(table)) {
        while (first < table->n_blocks) {
            ptrdiff_t g = SP_MIN(table->n_blocks - first, (ptrdiff_t)SP_BLOCKS_AT_ONCE);
            for (ptrdiff_t b = 0; b < g; b++)
                chunks[b] = table->blocks[first + b].chunks;
            sp_sum_blocks((int)g, chunks, entries, far ? entries->n - SP_AHEAD : 0, sums);
            for (ptrdiff_t k = 0, end = SP_MIN(g * SP_LANES, table->n_outputs - first * SP_LANES);
                 k < end; k++)
                sp_write_scores(table, clock, sums[2 * k], sums[2 * k + 1], 0.0, n_scores,
                                scores + first * SP_LANES + k);
            first += g;
        }
        return;
    }
    for (ptrdiff_t b = 0, end = table->n_blocks; b < end; b++) {
        block = sp_table_slots(&table->blocks[b]);
        sp_sum_several(&block, &clock, entries, sums, &table->layout, far);
        for (ptrdiff_t k = 0, end = SP_MIN((ptrdiff_t)SP_LANES, table->n_outputs - b * SP_LANES);
             k < end; k++)
            sp_write_scores(table, clock, sums[SP_SUMS * k + SP_SUM_W],
                            sums[SP_SUMS * k + SP_SUM_V], sums[SP_SUMS * k + SP_SUM_P], n_scores,
                            scores + b * SP_LANES + k);
    }
}

/* EXPONENTIAL, before a write: bring the chunks' averaging terms up to the table's fold. */
static void sp_table_catch_up(sp_table *table, ptrdiff_t block, const sp_entries *entries,
                              bool intercept)
{
    sp_block *of = &table->blocks[block];
    for (ptrdiff_t i = intercept ? -1 : 0, end = entries->n; i < end; i++) {
        sp_slot_type at = i < 0 ? (sp_slot_type)SP_SLOT_INTERCEPT
                          : SP_OF_MATRIX(entries->columns) ? entries->slots[entries->columns[i]]
                                                           : entries->slots[i];
        size_t chunk = at >> SP_CHUNK_BITS;
        if (of->folds[chunk] != table->fold) {
            sp_catch_up(of->chunks[chunk], table->fold - of->folds[chunk], table->lanes,
                        &table->layout);
            sp_table_set_folds(of, chunk, table->fold);
        }
    }
}

/* Collect the leading moves that belong to one block. Returns the block. */
static ptrdiff_t sp_lanes_of(const sp_table *table, const sp_move *move, const sp_move *end,
                             double r, sp_lanes *lanes)
{
    ptrdiff_t block = move->output / table->lanes;
    lanes->m = 0;
    lanes->r = r;
    while (move < end && move->output / table->lanes == block) {
        lanes->lane[lanes->m] = (int)(move->output % table->lanes);
        lanes->a[lanes->m] = move->a;
        lanes->second[lanes->m] = move->second;
        lanes->m += 1;
        move++;
    }
    return block;
}

SP_PRIVATE void sp_table_second(const sp_table *table, const sp_entries *entries, bool intercept,
                                sp_move *move, ptrdiff_t m)
{
    sp_clock clock = sp_table_clock(table);
    const double nothing[SP_KEEP_MOST] = {0.0};
    sp_slots of;
    sp_lanes lanes;
    sp_move *end = move + m;
    while (move < end && move->output < table->n_outputs) {
        of = sp_table_slots(&table->blocks[sp_lanes_of(table, move, end, 0.0, &lanes)]);
        if (table->lanes == 1)
            sp_second_one(&of, &clock, entries, intercept, lanes.second, &table->layout);
        else
            sp_second_several(&of, &clock, entries, lanes.lane, lanes.second, lanes.m,
                              &table->layout);
        for (ptrdiff_t i = 0; i < lanes.m; i++)
            move[i].second = lanes.second[i];
        move += lanes.m;
    }
    while (move < end) {
        move->second = intercept ? sp_keep_share(table->layout.keep, 1.0, nothing) : 0.0;
        for (ptrdiff_t i = 0, end = entries->n; i < end; i++)
            move->second += sp_keep_share(table->layout.keep, entries->x[i], nothing);
        move++;
    }
}

SP_HOT void sp_table_add(sp_table *table, const sp_entries *entries, bool intercept,
                         const sp_move *move, ptrdiff_t m, double r)
{
    sp_clock clock = sp_table_clock(table);
    sp_slots of;
    sp_lanes lanes;
    const sp_move *end = move + m;
    while (move < end) {
        ptrdiff_t block = sp_lanes_of(table, move, end, r, &lanes);
        of = sp_table_slots(&table->blocks[block]);
        if (table->average == SP_AVERAGE_EXPONENTIAL)
            sp_table_catch_up(table, block, entries, intercept);
        if (table->lanes == 1)
            sp_add_one(&of, &clock, entries, intercept, &lanes, &table->layout);
        else
            sp_add_several(&of, &clock, entries, &lanes, &table->layout);
        move += lanes.m;
    }
}

SP_PRIVATE void sp_table_tick(sp_table *table)
{
    if (table->average == SP_AVERAGE_UNIFORM)
        table->c += 1.0;
    else if (table->average == SP_AVERAGE_EXPONENTIAL) {
        table->s *= table->fade;
        if (table->s < exp2(-(double)SP_FOLD_BITS)) {
            table->s *= exp2((double)SP_FOLD_BITS);
            table->fold += 1;
        }
    }
}

SP_API double sp_table_read(const sp_table *table, sp_slot_type slot, ptrdiff_t output, int kind)
{
    size_t chunk = slot >> SP_CHUNK_BITS;
    if (table->kind->read != NULL)
        return table->kind->read(table, slot, output, kind);
    const sp_block *block = &table->blocks[output / table->lanes];
    const double *field;
    if (chunk >= table->n_chunks)
        return 0.0;
    field = sp_lane(table, slot, output);
    if (kind == SP_KEPT_AVERAGE)
        return sp_average_kept(sp_table_slots(block), sp_table_clock(table), slot, table->average,
                               field, table->layout);
    if (kind == SP_KEPT_POCKET)
        return sp_pocket_kept(sp_table_clock(table), field, table->layout);
    return *field;
}

SP_API void sp_table_write(sp_table *table, sp_slot_type slot, ptrdiff_t output, double w)
{
    *sp_lane(table, slot, output) = w;
}

SP_PRIVATE const double *sp_table_field(const sp_table *table, sp_slot_type slot, ptrdiff_t output)
{
    if (table->kind->field != NULL)
        return table->kind->field(table, slot, output);
    if (slot >> SP_CHUNK_BITS >= table->n_chunks || output >= table->n_blocks * table->lanes)
        return table->zeros;
    return sp_lane(table, slot, output);
}

SP_PRIVATE uint32_t sp_table_folds(const sp_table *table, sp_slot_type slot, ptrdiff_t output)
{
    if (table->kind->field != NULL) /* all slots have seen all folds */
        return table->fold;
    return table->blocks[output / table->lanes].folds[slot >> SP_CHUNK_BITS];
}

SP_PRIVATE void sp_table_sizes(const sp_table *table, const sp_slot_type *slots, ptrdiff_t n,
                               double *sizes)
{
    sp_clock clock = sp_table_clock(table);
    sp_slots block;
    if (table->kind->size != NULL) {
        for (ptrdiff_t i = 0; i < n; i++)
            sizes[i] = slots[i] >> SP_CHUNK_BITS < table->n_chunks
                           ? table->kind->size(table, slots[i])
                           : 0.0;
        return;
    }
    for (ptrdiff_t i = 0; i < n; i++)
        sizes[i] = 0.0;
    for (ptrdiff_t b = 0, end = table->n_blocks; b < end; b++) {
        block = sp_table_slots(&table->blocks[b]);
        for (ptrdiff_t i = 0; i < n; i++) {
            if (slots[i] >> SP_CHUNK_BITS >= table->n_chunks)
                continue;
            if (table->lanes == 1)
                sizes[i] = sp_size_one(&block, &clock, slots[i], sizes[i], &table->layout);
            else
                sizes[i] = sp_size_several(&block, &clock, slots[i], sizes[i], &table->layout);
        }
    }
}

SP_PRIVATE void sp_table_prefetch(const sp_table *table, sp_slot_type slot, sp_slot_type n)
{
    if (slot >> SP_CHUNK_BITS >= table->n_chunks)
        return;
    for (ptrdiff_t b = 0, end = table->n_blocks; b < end; b++)
        sp_prefetch_lines(table->blocks[b].chunks[slot >> SP_CHUNK_BITS]
                              + (slot & SP_CHUNK_MASK) * (uint32_t)table->width,
                          n * (uint32_t)table->width * sizeof(double));
}

SP_PRIVATE void sp_table_clear(sp_table *table, sp_slot_type slot)
{
    double *chunk;
    if (slot >> SP_CHUNK_BITS >= table->n_chunks)
        return;
    if (table->kind->clear != NULL)
        table->kind->clear(table, slot);
    for (ptrdiff_t b = 0, end = table->n_blocks; b < end; b++) {
        chunk = table->blocks[b].chunks[slot >> SP_CHUNK_BITS];
        if (chunk != table->zeros)
            memset(chunk + (slot & SP_CHUNK_MASK) * (uint32_t)table->width, 0,
                   (size_t)table->width * sizeof(double));
    }
}

SP_PRIVATE void sp_table_fold_row(const sp_table *table, ptrdiff_t block, size_t chunk, double *row)
{
    if (table->average != SP_AVERAGE_EXPONENTIAL)
        return;
    double factor = sp_fold_factor(table->fold - table->blocks[block].folds[chunk]);
    for (int k = 0; k < table->lanes; k++)
        row[k * table->layout.fields + table->layout.v] *= factor;
}

SP_RARE SP_PRIVATE int sp_table_copy(sp_table *to, const sp_table *other)
{
    double *made;
    *to = *other;
    to->blocks = NULL;
    to->n_blocks = 0;
    to->n_outputs = 0;
    to->bytes = 0;
    sp_pool_init(&to->pool, other->pool.scattered);
    if (sp_pool_reserve(&to->pool, other->pool.used) < 0)
        return -1;
    if (sp_table_add_outputs(to, other->n_outputs) < 0)
        return -1;
    for (ptrdiff_t b = 0, end = to->n_blocks; b < end; b++) {
        for (size_t i = 0, end = other->n_chunks; i < end; i++) {
            if (other->blocks[b].chunks[i] == other->zeros)
                continue;
            made = (double *)sp_pool_take(&to->pool, sp_chunk_bytes(to));
            if (made == NULL)
                return -1;
            to->blocks[b].chunks[i] = made;
            memcpy(made, other->blocks[b].chunks[i], sp_chunk_bytes(to));
        }
        if (to->average == SP_AVERAGE_EXPONENTIAL)
            memcpy(to->blocks[b].folds, other->blocks[b].folds, other->n_chunks * sizeof(uint32_t));
    }
    return 0;
}

SP_RARE SP_PRIVATE int sp_table_split(sp_table *to, const sp_table *one, int positive)
{
    const double *field;
    double *pair;
    sp_slot_type first;
    sp_move move;
    move.output = 0;
    *to = *one;
    to->blocks = NULL;
    to->n_blocks = 0;
    to->n_outputs = 0;
    to->bytes = 0;
    to->lanes = SP_LANES;
    to->width = to->layout.fields * to->lanes;
    sp_pool_init(&to->pool, one->pool.scattered);
    if (sp_table_add_outputs(to, 2) < 0)
        return -1;
    for (size_t chunk = 0, end = one->n_chunks; chunk < end; chunk++) {
        if (one->blocks->chunks[chunk] == one->zeros)
            continue;
        first = (sp_slot_type)(chunk << SP_CHUNK_BITS);
        if (sp_table_reserve(to, &first, 1, first + 1, &move, 1) < 0)
            return -1;
        for (size_t slot = 0; slot < (size_t)SP_CHUNK_SLOTS; slot++) {
            field = one->blocks->chunks[chunk] + slot * (size_t)one->width;
            pair = to->blocks->chunks[chunk] + slot * (size_t)to->width;
            sp_layout_split(&to->layout, field, positive, pair);
        }
        if (one->average == SP_AVERAGE_EXPONENTIAL)
            sp_table_set_folds(&*to->blocks, chunk, one->blocks->folds[chunk]);
    }
    return 0;
}

/* Whether eight bytes of a slot are zero; they may be two floats. */
static bool sp_is_zero(const double *place)
{
    uint64_t word;
    memcpy(&word, place, sizeof(word));
    return word << 1 == 0; /* except for a sign */
}

SP_PRIVATE int sp_table_rows_fault(const sp_table *table, ptrdiff_t block, const double *rows,
                                   size_t n)
{
    return table->kind->fault == NULL ? 0 : table->kind->fault(table, block, rows, n);
}

SP_PRIVATE const char *sp_table_fault(const sp_table *table, sp_slot_type n_slots)
{
    size_t bytes = (size_t)table->n_blocks * sizeof(sp_block);
    size_t blocks = 0;
    const sp_block *block;
    if (table->borrowed)
        return NULL;
    for (ptrdiff_t b = 0, end = table->n_blocks; b < end; b++) {
        block = &table->blocks[b];
        bytes += sp_places_bytes(&block->of_chunks) + sp_places_bytes(&block->of_folds);
        if (table->n_chunks > block->of_chunks.capacity)
            return "there are more chunks than places";
        for (size_t i = 0; i < block->of_chunks.copied; i++) {
            if (((double **)block->of_chunks.next)[i] != block->chunks[i])
                return "the next array of places has another address for a chunk";
        }
        for (size_t i = 0; i < block->of_folds.copied; i++) {
            if (((uint32_t *)block->of_folds.next)[i] != block->folds[i])
                return "the next array of folds has another number for a chunk";
        }
        for (size_t i = 0, end = table->n_chunks; i < end; i++) {
            if (block->chunks[i] == table->zeros)
                continue;
            blocks += sp_pool_block(sp_chunk_bytes(table));
            for (size_t k = 0; k < (size_t)SP_CHUNK_SLOTS * (size_t)table->width; k++) {
                size_t slot = (i << SP_CHUNK_BITS) + k / (size_t)table->width;
                if ((slot == SP_SLOT_NULL || slot >= n_slots) && !sp_is_zero(&block->chunks[i][k]))
                    return "a slot that is not in use is not zero";
            }
            if (sp_table_rows_fault(table, b, block->chunks[i], SP_CHUNK_SLOTS) == SP_ROWS_NOBODYS)
                return "an output that is not in use is not zero";
        }
    }
    for (size_t k = 0; k < (size_t)(SP_CHUNK_SLOTS * SP_SLOT_MOST); k++) {
        if (table->zeros[k] != 0.0)
            return "the chunk of zeros has been written";
    }
    if (bytes != table->bytes || blocks != table->pool.used || blocks > table->pool.bytes)
        return "the table's count of bytes is not what it holds";
    return NULL;
}

SP_RARE SP_PRIVATE bool sp_table_is_sound(const sp_table *table)
{
    for (ptrdiff_t b = 0, end = table->n_blocks; b < end; b++) {
        for (size_t i = 0, end = table->n_chunks; i < end; i++) {
            const double *chunk = sp_table_chunk(table, b, i);
            if (chunk != NULL && sp_table_rows_fault(table, b, chunk, SP_CHUNK_SLOTS))
                return false;
        }
    }
    return true;
}
