#include "exchange/delta.h"

#include "exchange/reshaped.h"
#include "machine/machine.h"
#include "memory/heap.h"
#include "memory/pool.h"
#include "names/hash.h"
#include "names/rising.h"
#include "table/slot.h"
#include "table/table.h"

#include <math.h>
#include <string.h>

/* Whether a slot has the same name as in the base. */
static bool sp_is_known(const sp_shard *shard, const sp_shard *base, sp_slot_type slot)
{
    if (slot < shard->first)
        return true;
    if (slot >= base->n_slots || !sp_index_is_limited(&shard->learner->index))
        return false;
    sp_key theirs = sp_shard_key(shard, slot);
    sp_key ours = sp_shard_key(base, slot);
    return sp_key_equal(&theirs, &ours);
}

/* The base's slot with the same name; the null slot if the names differ. */
static sp_slot_type sp_in_base(const sp_shard *shard, const sp_shard *base, sp_slot_type slot)
{
    return sp_is_known(shard, base, slot) ? slot : (sp_slot_type)SP_SLOT_NULL;
}

/* The row of a block in a place. */
static const double *sp_row_at(const sp_shard *shard, size_t block, sp_slot_type place)
{
    return sp_shard_chunk(shard, (ptrdiff_t)block, place >> SP_CHUNK_BITS)
           + (place & SP_CHUNK_MASK) * (uint32_t)shard->learner->table.width;
}

/* Bring the averaging terms of a table's row up to a fold. */
static void sp_fold_row(const sp_table *table, size_t block, sp_slot_type place, uint32_t to,
                        double *row)
{
    if (table->average != SP_AVERAGE_EXPONENTIAL || block >= (size_t)table->n_blocks
        || place >> SP_CHUNK_BITS >= table->n_chunks)
        return;
    double factor = sp_fold_factor(to - table->blocks[block].folds[place >> SP_CHUNK_BITS]);
    for (int k = 0; k < table->lanes; k++)
        row[k * table->layout.fields + table->layout.v] *= factor;
}

/* Make a row as if nothing had been learned since the base, where it has a place. */
static void sp_expected(const sp_shard *shard, const sp_shard *base, size_t block,
                        sp_slot_type place, double *row)
{
    const sp_table *its = &shard->learner->table;
    const sp_table *table = &base->learner->table;
    double one[SP_SLOT_MOST];
    memset(row, 0, (size_t)its->width * sizeof(double));
    if (place == SP_SLOT_NULL)
        return;
    memcpy(one, sp_row_at(base, block, place), (size_t)table->width * sizeof(double));
    sp_fold_row(table, block, place, its->fold, one);
    if (its->lanes == table->lanes)
        memcpy(row, one, (size_t)its->width * sizeof(double));
    else if (block == 0)
        sp_layout_split(&its->layout, one, shard->learner->two.positive, row);
}

/* Whether a row differs from what the base leads one to expect; then `row` gets its numbers. `own`,
   `ours`: its places in shard and base. */
static bool sp_is_new(const sp_shard *shard, const sp_shard *base, size_t block, sp_slot_type own,
                      sp_slot_type ours, double *row)
{
    const sp_table *its = &shard->learner->table;
    const sp_table *table = &base->learner->table;
    const size_t bytes = (size_t)its->width * sizeof(double);
    const double *theirs = sp_row_at(shard, block, own);
    const double *as_it_lies = ours == SP_SLOT_NULL ? table->zeros : sp_row_at(base, block, ours);
    double before[SP_SLOT_MOST];
    if (its->average != SP_AVERAGE_EXPONENTIAL && its->lanes == table->lanes) {
        if (sp_machine_same_row(shard->learner, (uint32_t)block, theirs, base->learner,
                                as_it_lies))
            return false;
        memcpy(row, theirs, bytes);
        return true;
    }
    memcpy(row, theirs, bytes);
    sp_fold_row(its, block, own, its->fold, row);
    sp_expected(shard, base, block, ours, before);
    return !sp_machine_same_row(shard->learner, (uint32_t)block, row, base->learner, before);
}

/* Whether the whole chunk that begins with a slot has the same bytes in both. */
static bool sp_is_same(const sp_shard *shard, const sp_shard *base, size_t block, sp_slot_type slot)
{
    const sp_table *its = &shard->learner->table;
    const sp_table *table = &base->learner->table;
    size_t chunk = slot >> SP_CHUNK_BITS;
    const double *theirs = sp_shard_chunk(shard, (ptrdiff_t)block, chunk);
    const double *ours = sp_shard_chunk(base, (ptrdiff_t)block, chunk);
    if (theirs == its->zeros && ours == table->zeros)
        return true;
    return slot + SP_CHUNK_SLOTS <= shard->first && its->lanes == table->lanes
           && its->average != SP_AVERAGE_EXPONENTIAL && shard->learner->index.lookup == NULL
           && base->learner->index.lookup == NULL
           && sp_machine_is_comparable_bytewise(shard->learner, base->learner)
           && memcmp(theirs, ours, sp_chunk_bytes(its)) == 0;
}

/* Count a row, and its marks: what it has elsewhere. Write both if there is room for them. */
static void sp_put_row(sp_delta *delta, const sp_shard *shard, size_t block, sp_slot_type slot,
                       double *row)
{
    const size_t width = (size_t)shard->learner->table.width;
    const uint32_t *marks = NULL;
    sp_entry room[SP_DENSE_MOST];
    size_t n = sp_machine_marks(shard->learner, (uint32_t)block, row, room, &marks);
    if (delta->slots != NULL) {
        if (n)
            memcpy(delta->marks + SP_MARKS_WIDTH * delta->n_marks, marks,
                   n * SP_MARKS_WIDTH * sizeof(uint32_t));
        sp_machine_clear_addresses(shard->learner, (uint32_t)block, row, n ? delta->n_marks : 0);
        delta->slots[delta->n_rows] = slot;
        memcpy(delta->rows + delta->n_rows * width, row, width * sizeof(double));
    }
    delta->n_marks += n;
    delta->n_rows += 1;
}

/* Add the rows of a block that differ. */
static void sp_rows(sp_delta *delta, const sp_shard *shard, const sp_shard *base, size_t block)
{
    sp_slot_type slot = 1;
    double row[SP_SLOT_MOST];
    while (slot < shard->n_slots) {
        sp_slot_type last = SP_MIN((slot | SP_CHUNK_MASK) + 1, shard->n_slots);
        if ((slot & SP_CHUNK_MASK) <= 1
            && sp_is_same(shard, base, block, slot & ~(sp_slot_type)SP_CHUNK_MASK)) {
            slot = last;
            continue;
        }
        while (slot < last) {
            if (sp_is_new(shard, base, block, slot, sp_in_base(shard, base, slot), row))
                sp_put_row(delta, shard, block, slot, row);
            slot++;
        }
    }
}

/* --- Hashed */

SP_API void sp_delta_free(sp_delta *delta)
{
    sp_free(delta->numbers);
    sp_free(delta->laid);
    delta->numbers = NULL;
    delta->laid = NULL;
    sp_forms_free(&delta->forms);
    sp_shapes_free(&delta->was);
}

/* List the numbers that a shard or its base has, rising. -1 if out of memory. */
static int sp_delta_numbers(sp_delta *delta, const sp_shard *shard, const sp_shard *base)
{
    const sp_index *its = &shard->learner->index;
    const sp_index *ours = &base->learner->index;
    sp_slot_type *slots = sp_index_rising(its);
    sp_slot_type *others = sp_index_rising(ours);
    size_t i = 1; /* after the null slot */
    size_t k = 1;
    size_t n = its->n_slots + (size_t)ours->n_slots;
    delta->numbers = (sp_delta_slot *)sp_malloc(n * sizeof(sp_delta_slot));
    int failed = slots == NULL || others == NULL || delta->numbers == NULL ? -1 : 0;
    while (!failed && (i < its->n_slots || k < ours->n_slots)) {
        uint64_t own = UINT64_MAX;
        uint64_t other = UINT64_MAX;
        if (i < its->n_slots)
            own = sp_index_number(its, slots[i]);
        if (k < ours->n_slots)
            other = sp_index_number(ours, others[k]);
        sp_delta_slot *both = &delta->numbers[delta->n_numbers++];
        both->number = (uint32_t)SP_MIN(own, other);
        both->own = own > other ? (sp_slot_type)SP_SLOT_NULL : sp_index_place(its, slots[i]);
        both->base = other > own ? (sp_slot_type)SP_SLOT_NULL : sp_index_place(ours, others[k]);
        i += own <= other;
        k += other <= own;
    }
    sp_free(slots);
    sp_free(others);
    return failed;
}

/* The same as sp_rows, for hashed learners. */
static void sp_hashed_rows(sp_delta *delta, const sp_shard *shard, const sp_shard *base,
                           size_t block)
{
    double row[SP_SLOT_MOST];
    for (size_t i = 0; i < delta->n_numbers; i++) {
        const sp_delta_slot *both = &delta->numbers[i];
        if (sp_is_new(shard, base, block, both->own, both->base, row))
            sp_put_row(delta, shard, block, both->number, row);
    }
}

/* The slots of a hashed learner and its base for the numbers of all rows. Numbers that the base
   does not have get slots behind the base's; only these are in the learner's index. 0, or what is
   wrong. */
static int sp_delta_find(const sp_delta *delta, sp_index *own, const sp_index *base,
                         sp_slot_type *slots)
{
    sp_key key;
    for (size_t i = 0; i < delta->n_rows; i++) {
        slots[i] = delta->slots[i];
        if (slots[i] < SP_SLOTS_RESERVED)
            continue;
        if (slots[i] >= sp_index_numbers(base))
            return SP_SHARD_NUMBER;
        key = sp_key_word(SP_KEY_INT, slots[i]);
        uint64_t h = sp_index_hash(base, &key);
        slots[i] = sp_index_find(base, &key, h);
        if (slots[i] != SP_SLOT_NULL)
            continue;
        slots[i] = sp_index_insert(own, &key, h);
        if (slots[i] == SP_SLOT_NULL)
            return SP_SHARD_MEMORY;
        slots[i] += base->n_slots - SP_SLOTS_RESERVED;
    }
    return 0;
}

/* --- Writing */

/* Add the rows of a block that differ, hashed or not. */
static void sp_block_rows(sp_delta *delta, const sp_shard *shard, const sp_shard *base,
                          size_t block)
{
    if (shard->learner->index.bits)
        sp_hashed_rows(delta, shard, base, block);
    else
        sp_rows(delta, shard, base, block);
}

SP_API int sp_delta_measure(sp_delta *delta, sp_shard *shard, const sp_shard *base)
{
    sp_key key;
    bool limited = sp_index_is_limited(&shard->learner->index);
    memset(delta, 0, sizeof(sp_delta));
    if (sp_names_fault(shard) || sp_names_fault(base))
        return SP_SHARD_KEY;
    if (sp_machine_one_form(&delta->forms, shard, 1, &base) < 0)
        return SP_SHARD_MEMORY;
    delta->width = (size_t)shard->learner->table.width;
    if (shard->learner->index.bits) {
        if (sp_delta_numbers(delta, shard, base) < 0)
            return SP_SHARD_MEMORY;
    } else {
        sp_names_prefixes(shard, 1, &base->learner->index);
        if (shard->first < base->n_slots && !limited)
            return SP_SHARD_NAMES;
        delta->n_keys = SP_SLOTS_RESERVED;
        for (sp_slot_type slot = shard->first, end = shard->n_slots; slot < end; slot++) {
            if (!sp_is_known(shard, base, slot)) {
                key = sp_shard_key(shard, slot);
                delta->n_keys += 1;
                if (sp_key_is_long(&key))
                    delta->n_texts += sp_key_length(&key);
            }
        }
        delta->n_renamed = delta->n_keys - SP_SLOTS_RESERVED;
        delta->n_stamps = shard->n_slots;
    }
    delta->n_blocks = (size_t)shard->learner->table.n_blocks;
    delta->n_marks = shard->learner->machine->row_blocks != 0;
    for (size_t b = 0, end = delta->n_blocks; b < end; b++)
        sp_block_rows(delta, shard, base, b);
    const ptrdiff_t shapes = sp_reshaped_measure(shard, base, &delta->was);
    delta->n_shapes = (size_t)SP_MAX(shapes, (ptrdiff_t)0);
    return shapes < 0 ? SP_SHARD_MEMORY : 0;
}

SP_API void sp_delta_write(const sp_delta *delta, const sp_shard *shard, const sp_shard *base)
{
    size_t text = 0;
    size_t at = SP_SLOTS_RESERVED;
    sp_key key;
    sp_delta so_far = *delta;
    base = delta->forms.shadows == NULL ? base : &delta->forms.base;
    so_far.n_rows = 0;
    so_far.n_marks = shard->learner->machine->row_blocks != 0;
    if (so_far.n_marks)
        memset(delta->marks, 0, SP_MARKS_WIDTH * sizeof(uint32_t));
    for (size_t b = 0, end = delta->n_blocks; b < end; b++) {
        const size_t before = so_far.n_rows;
        sp_block_rows(&so_far, shard, base, b);
        delta->blocks[b] = (uint32_t)(so_far.n_rows - before);
    }
    for (ptrdiff_t k = 0; delta->marked != NULL; k++) {
        if (!sp_machine_label_numbers(shard->learner, k, delta->marked + SP_LABEL_WIDTH * k))
            break;
    }
    if (delta->n_shapes)
        sp_reshaped_write(shard, &delta->was, delta->shapes);
    if (delta->n_keys == 0)
        return;
    memset(delta->keys, 0, SP_SLOTS_RESERVED * sizeof(sp_key));
    for (sp_slot_type slot = shard->first, end = shard->n_slots; slot < end; slot++) {
        if (sp_is_known(shard, base, slot))
            continue;
        key = sp_shard_key(shard, slot);
        if (sp_key_is_long(&key)) {
            memcpy(delta->texts + text, sp_key_bytes(&key), sp_key_length(&key));
            key.lo = text;
            text += sp_key_length(&key);
        }
        if (delta->renamed != NULL)
            delta->renamed[at - SP_SLOTS_RESERVED] = slot;
        delta->keys[at] = key;
        at++;
    }
    if (delta->stamps != NULL) {
        memset(delta->stamps, 0, SP_SLOTS_RESERVED * sizeof(uint32_t));
        for (sp_slot_type slot = SP_SLOTS_RESERVED, end = shard->n_slots; slot < end; slot++)
            delta->stamps[slot] = sp_shard_stamp(shard, slot);
    }
}

/* Whether a chunk belongs to the base, or does not exist. */
static bool sp_is_borrowed(const sp_table *table, const sp_table *base, size_t block, size_t chunk)
{
    const double *slots = table->blocks[block].chunks[chunk];
    return slots == table->zeros
           || (block < (size_t)base->n_blocks && chunk < base->n_chunks
               && slots == base->blocks[block].chunks[chunk]);
}

/* A row that may be written, as if its chunk had seen all folds. NULL if out of memory. */
static double *sp_own_row(sp_table *table, const sp_table *base, size_t block, sp_slot_type slot)
{
    size_t chunk = slot >> SP_CHUNK_BITS;
    double *made;
    if (sp_is_borrowed(table, base, block, chunk)) {
        made = (double *)sp_pool_take(&table->pool, sp_chunk_bytes(table));
        if (made == NULL)
            return NULL;
        memcpy(made, table->blocks[block].chunks[chunk], sp_chunk_bytes(table));
        sp_table_set_chunk(&table->blocks[block], chunk, made);
    }
    made = table->blocks[block].chunks[chunk];
    if (table->average == SP_AVERAGE_EXPONENTIAL
        && table->blocks[block].folds[chunk] != table->fold) {
        sp_catch_up(made, table->fold - table->blocks[block].folds[chunk], table->lanes,
                    &table->layout);
        sp_table_set_folds(&table->blocks[block], chunk, table->fold);
    }
    return made + (slot & SP_CHUNK_MASK) * (uint32_t)table->width;
}

/* Restore the clock of a table that has been replaced. */
static void sp_set_clock(sp_table *table, const sp_table *clock)
{
    table->c = clock->c;
    table->s = clock->s;
    table->fold = clock->fold;
    table->epoch = clock->epoch;
}

/* Put the base's table under a learner's. 0, or what is wrong. */
static int sp_overlay_begin(sp_learner *learner, const sp_learner *from, ptrdiff_t n_outputs,
                            sp_slot_type n_slots)
{
    sp_table *table = &learner->table;
    const sp_table *base = &from->table;
    sp_table clock = *table;
    int laid = sp_machine_overlay_begin(learner, from);
    if (laid < 0)
        return SP_SHARD_MEMORY;
    if (!laid && base->lanes != table->lanes) {
        if (base->lanes != 1 || table->lanes != SP_LANES || n_outputs < 2)
            return SP_SHARD_NUMBER;
        sp_table_free(table);
        if (sp_table_split(table, base, learner->two.positive) < 0)
            return SP_SHARD_MEMORY;
        laid = 1;
    }
    if (laid)
        sp_set_clock(table, &clock);
    if (sp_table_add_outputs(table, n_outputs - table->n_outputs) < 0
        || sp_table_reserve_places(
               table, SP_MAX(((size_t)(n_slots - 1) >> SP_CHUNK_BITS) + 1, base->n_chunks),
               table->is_full_size)
               < 0)
        return SP_SHARD_MEMORY;
    if (laid)
        return 0;
    if (base->n_blocks > table->n_blocks)
        return SP_SHARD_NUMBER;
    for (ptrdiff_t b = 0, end = base->n_blocks; b < end; b++) {
        for (size_t i = 0, end = base->n_chunks; i < end; i++) {
            sp_table_set_chunk(&table->blocks[b], i, base->blocks[b].chunks[i]);
            if (table->average == SP_AVERAGE_EXPONENTIAL)
                sp_table_set_folds(&table->blocks[b], i, base->blocks[b].folds[i]);
        }
    }
    return 0;
}

/* Whether the delta's slots are below n_slots, and its numbers fit such a table. */
static bool sp_fits(const sp_delta *delta, const sp_table *table, sp_slot_type n_slots)
{
    size_t n = 0;
    if (delta->n_blocks != (size_t)table->n_blocks)
        return false;
    for (size_t b = 0, end = delta->n_blocks; b < end; b++) {
        if (delta->blocks[b] > delta->n_rows - n)
            return false;
        if (sp_table_rows_fault(table, (ptrdiff_t)b, delta->rows + n * (size_t)table->width,
                                delta->blocks[b]))
            return false;
        for (size_t i = n, end = n + delta->blocks[b]; i < end; i++) {
            if (delta->slots[i] == 0 || delta->slots[i] >= n_slots
                || (i > n && delta->slots[i] <= delta->slots[i - 1]))
                return false;
        }
        n += delta->blocks[b];
    }
    return n == delta->n_rows;
}

/* How many slots the learner has; 0 if the delta contradicts itself. */
static sp_slot_type sp_slots_of(const sp_delta *delta, const sp_learner *learner,
                                const sp_learner *base)
{
    size_t i, n;
    if (learner->index.bits) /* its index has the others, see sp_delta_find */
        return base->index.n_slots + learner->index.n_slots - SP_SLOTS_RESERVED;
    if (!sp_index_is_limited(&learner->index)) {
        n = base->index.n_slots + delta->n_keys - SP_SLOTS_RESERVED;
        return n < SP_SLOT_MAX ? (sp_slot_type)n : 0;
    }
    n = delta->n_stamps;
    if (n < base->index.n_slots || n > learner->index.max_slots
        || delta->n_renamed != delta->n_keys - SP_SLOTS_RESERVED)
        return 0;
    for (i = 0; i < delta->n_renamed; i++) {
        if (delta->renamed[i] < SP_SLOTS_RESERVED || delta->renamed[i] >= n
            || (i > 0 && delta->renamed[i] <= delta->renamed[i - 1]))
            return 0;
    }
    /* each slot behind the base's must have a name */
    i = n - base->index.n_slots;
    if (i > delta->n_renamed || (i && delta->renamed[delta->n_renamed - i] != base->index.n_slots))
        return 0;
    return (sp_slot_type)n;
}

/* Lay the base's rows and the delta's, which have these slots, into a learner. 0, or what is
   wrong. */
static int sp_overlay_rows(const sp_delta *delta, const sp_slot_type *slots, sp_learner *learner,
                           const sp_learner *base, ptrdiff_t n_outputs, sp_slot_type n_slots)
{
    sp_table *table = &learner->table;
    size_t n = 0;
    double *row;
    int fault = sp_overlay_begin(learner, base, n_outputs, n_slots);
    if (fault)
        return fault;
    if (!sp_fits(delta, table, learner->index.bits ? sp_index_numbers(&learner->index) : n_slots))
        return SP_SHARD_NUMBER;
    for (size_t b = 0, end = delta->n_blocks; b < end; b++) {
        for (size_t i = 0, end = delta->renamed != NULL ? delta->n_renamed : (size_t)0; i < end;
             i++) {
            if (table->blocks[b].chunks[delta->renamed[i] >> SP_CHUNK_BITS] != table->zeros) {
                row = sp_own_row(table, &base->table, b, delta->renamed[i]);
                if (row == NULL)
                    return SP_SHARD_MEMORY;
                memset(row, 0, (size_t)table->width * sizeof(double));
            }
        }
        for (size_t k = 0, end = delta->blocks[b]; k < end; k++) {
            row = sp_own_row(table, &base->table, b, slots[n]);
            if (row == NULL)
                return SP_SHARD_MEMORY;
            memcpy(row, delta->rows + n * (size_t)table->width,
                   (size_t)table->width * sizeof(double));
            n++;
        }
    }
    if (sp_machine_slots_fault(learner, n_slots))
        return SP_SHARD_NUMBER;
    fault = sp_machine_overlay_rows(learner, slots, delta->blocks, n, delta->marks, delta->n_marks,
                                    delta->marked);
    return fault == 0 ? 0 : fault == SP_MARKS_MEMORY ? SP_SHARD_MEMORY : SP_SHARD_NUMBER;
}

/* Lay the base's weights and the delta's into a learner. 0, or what is wrong. */
static int sp_overlay(const sp_delta *delta, sp_learner *learner, const sp_learner *base,
                      ptrdiff_t n_outputs, size_t n_objects, int depth, sp_slot_type *n_slots)
{
    sp_slot_type *slots = NULL;
    sp_arrays names;
    memset(&names, 0, sizeof(sp_arrays));
    names.n_keys = delta->n_keys;
    names.keys = delta->keys;
    names.n_texts = delta->n_texts;
    names.texts = delta->texts;
    if (delta->n_keys && sp_arrays_check_keys(&names, n_objects, depth))
        return SP_SHARD_NAMES;
    if (learner->index.bits) {
        slots = (sp_slot_type *)sp_malloc((delta->n_rows + 1) * sizeof(sp_slot_type));
        int fault = slots == NULL ? SP_SHARD_MEMORY
                                  : sp_delta_find(delta, &learner->index, &base->index, slots);
        if (fault) {
            sp_free(slots);
            return fault;
        }
    }
    *n_slots = sp_slots_of(delta, learner, base);
    int fault = SP_SHARD_NAMES;
    if (*n_slots)
        fault = sp_overlay_rows(delta, slots == NULL ? delta->slots : slots, learner, base,
                                n_outputs,
                                *n_slots);
    sp_free(slots);
    return fault;
}

/* The names of the slots from `first` on. New ones belong to the slots in delta.renamed, or follow
   the base's. `own`: the index of the learner that was laid over the base. NULL if out of
   memory. */
static sp_key *sp_overlay_keys(const sp_delta *delta, const sp_index *base, const sp_index *own,
                               sp_slot_type n_slots, sp_slot_type *first)
{
    bool limited = delta->renamed != NULL;
    sp_slot_type slot;
    sp_key *keys;
    sp_key *key;
    *first = limited ? SP_SLOTS_RESERVED : base->n_slots;
    keys = (sp_key *)sp_malloc((n_slots - *first + 1) * sizeof(sp_key));
    if (keys == NULL)
        return NULL;
    for (slot = base->n_slots; own->bits && slot < n_slots; slot++)
        keys[slot - *first] = sp_index_stored(own, slot - base->n_slots + SP_SLOTS_RESERVED);
    if (limited) {
        for (slot = SP_SLOTS_RESERVED; slot < SP_MIN(base->n_slots, n_slots); slot++)
            keys[slot - *first] = *sp_index_key(base, slot);
    }
    for (size_t i = SP_SLOTS_RESERVED, end = delta->n_keys; i < end; i++) {
        slot = limited ? (sp_slot_type)delta->renamed[i - SP_SLOTS_RESERVED]
                       : base->n_slots + (sp_slot_type)(i - SP_SLOTS_RESERVED);
        key = &keys[slot - *first];
        *key = delta->keys[i];
        if (sp_key_is_long(key))
            key->lo = (uint64_t)(uintptr_t)(delta->texts + key->lo);
    }
    return keys;
}

SP_API int sp_delta_overlay(sp_delta *delta, sp_learner *learner, const sp_learner *base,
                            ptrdiff_t n_outputs, size_t n_objects, int depth, sp_shard *shard)
{
    memset(shard, 0, sizeof(*shard));
    int fault = sp_overlay(delta, learner, base, n_outputs, n_objects, depth, &shard->n_slots);
    if (fault)
        return fault;
    delta->laid = sp_overlay_keys(delta, &base->index, &learner->index, shard->n_slots,
                                  &shard->keys_from);
    shard->learner = learner;
    shard->n = (double)(learner->n_seen - base->n_seen);
    shard->first = shard->n_slots;
    shard->keys = delta->laid;
    shard->base = &base->index;
    shard->n_objects = n_objects;
    shard->stamps = delta->stamps;
    if (shard->keys == NULL)
        return SP_SHARD_MEMORY;
    return sp_reshaped_overlay(learner, shard, base, delta->shapes, delta->n_shapes);
}

/* Mix two words into two hashes, with well-known constants. */
static void sp_mix_word(uint64_t *h, uint64_t word, uint64_t other)
{
    h[0] = sp_fold(word ^ (uint64_t)0x9E3779B97F4A7C15 ^ h[0],
                   other ^ (uint64_t)0xC2B2AE3D27D4EB4F);
    h[1] = sp_fold(word ^ (uint64_t)0x165667B19E3779F9 ^ h[1],
                   other ^ (uint64_t)0xD6E8FEB86659FD93);
}

static void sp_mix_key(uint64_t *h, const sp_key *key)
{
    const uint8_t *p;
    if (!sp_key_is_long(key)) {
        sp_mix_word(h, key->lo, key->hi);
        return;
    }
    p = sp_key_bytes(key); /* more than fifteen bytes; the last sixteen may overlap those before */
    size_t n = sp_key_length(key);
    sp_mix_word(h, n, key->hi);
    size_t i = 0;
    while (i + 16 < n) {
        sp_mix_word(h, sp_load8(p + i), sp_load8(p + i + 8));
        i += 16;
    }
    sp_mix_word(h, sp_load8(p + n - 16), sp_load8(p + n - 8));
}

/* Mix in a slot of a block: its bytes without addresses, and what it has elsewhere; nothing if its
   bytes are all zero. `last`: the fold that it has seen. */
static void sp_mix_slot_words(uint64_t *h, const sp_learner *learner, uint32_t block,
                              sp_slot_type slot, const double *row, uint64_t last)
{
    const uint32_t *marks = NULL;
    sp_entry room[SP_DENSE_MOST];
    size_t n = sp_machine_marks(learner, block, row, room, &marks);
    double plain[SP_SLOT_MOST];
    int width = learner->table.width;
    uint64_t bits = 0;
    memcpy(plain, row, (size_t)width * sizeof(double));
    sp_machine_clear_addresses(learner, block, plain, 0);
    for (int f = 0; f < width; f++)
        bits |= sp_bits_of(plain[f]);
    if (bits == 0)
        return;
    sp_mix_word(h, ((uint64_t)block << 32) | slot, last);
    for (int f = 0; f < width; f += 2)
        sp_mix_word(h, sp_bits_of(plain[f]), f + 1 < width ? sp_bits_of(plain[f + 1]) : 0);
    for (size_t i = 0; i < SP_MARKS_WIDTH * n; i += SP_MARKS_WIDTH)
        sp_mix_word(h, (uint64_t)marks[i] << 32 | marks[i + 1],
                    (uint64_t)marks[i + 2] << 32 | marks[i + 3]);
}

/* The slots of a block of a hashed learner: by their numbers, and as of the last fold. */
static void sp_mix_hashed_block(uint64_t *h, const sp_shard *shard, uint32_t block,
                                const sp_slot_type *slots)
{
    const sp_learner *learner = shard->learner;
    const sp_table *table = &learner->table;
    double row[SP_SLOT_MOST];
    for (sp_slot_type i = 0; i < learner->index.n_slots; i++) {
        sp_slot_type place = sp_index_place(&learner->index, slots[i]);
        memcpy(row, sp_row_at(shard, block, place), (size_t)table->width * sizeof(double));
        sp_fold_row(table, block, place, table->fold, row);
        sp_mix_slot_words(h, learner, block, sp_index_number(&learner->index, slots[i]), row,
                          table->fold);
    }
}

static int sp_digest(const sp_shard *shard, uint64_t *h)
{
    const sp_table *table = &shard->learner->table;
    sp_slot_type slot;
    sp_key key;
    double marked[SP_LABEL_WIDTH];
    sp_slot_type *slots = NULL;
    h[0] = h[1] = 0;
    if (shard->learner->index.bits) {
        slots = sp_index_rising(&shard->learner->index);
        if (slots == NULL)
            return -1;
    } else {
        for (slot = SP_SLOTS_RESERVED; slot < shard->n_slots; slot++) {
            key = sp_shard_key(shard, slot);
            sp_mix_key(h, &key);
            if (sp_index_is_limited(&shard->learner->index))
                sp_mix_word(h, slot, sp_shard_stamp(shard, slot));
        }
    }
    for (ptrdiff_t b = 0, end = table->n_blocks; b < end; b++) {
        if (slots != NULL)
            sp_mix_hashed_block(h, shard, (uint32_t)b, slots);
        slot = 0;
        while (slots == NULL && slot < shard->n_slots) {
            if (sp_shard_chunk(shard, b, slot >> SP_CHUNK_BITS) == table->zeros) {
                slot = (slot | SP_CHUNK_MASK) + 1;
                continue;
            }
            uint64_t last = table->average == SP_AVERAGE_EXPONENTIAL
                                ? table->blocks[b].folds[slot >> SP_CHUNK_BITS]
                                : 0;
            sp_mix_slot_words(h, shard->learner, (uint32_t)b, slot, sp_shard_row(shard, b, slot),
                              last);
            slot++;
        }
    }
    for (ptrdiff_t k = 0; sp_machine_label_numbers(shard->learner, k, marked); k++) {
        for (int f = 0; f < SP_LABEL_WIDTH; f += 2)
            sp_mix_word(h, sp_bits_of(marked[f]), sp_bits_of(marked[f + 1]));
    }
    sp_free(slots);
    return 0;
}

/* The slots, in the form that deltas have. */
static int sp_mix_slots(const sp_shard *shard, uint64_t *h)
{
    sp_forms forms = {.shadows = NULL};
    const int failed
        = sp_machine_one_form(&forms, NULL, 0, &shard) < 0 ? -1 : sp_digest(shard, h);
    sp_forms_free(&forms);
    return failed;
}

static void sp_mix_numbers(uint64_t *h, const double *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sp_mix_word(h, i, sp_bits_of(numbers[i]));
}

static void sp_mix_bytes(uint64_t *h, const uint8_t *p, size_t n)
{
    sp_mix_word(h, n, 0);
    for (size_t i = 0; i < n; i += 16) {
        uint8_t some[16] = {0};
        memcpy(some, p + i, SP_MIN((size_t)16, n - i));
        sp_mix_word(h, sp_load8(some), sp_load8(some + 8));
    }
}

/* Curves and surfaces, if there are any. -1 if out of memory. */
static int sp_mix_shapes(uint64_t *h, const sp_learner *learner)
{
    uint32_t *words;
    const ptrdiff_t n = sp_reshaped_all(learner, &words);
    for (ptrdiff_t i = 0; i < n; i++)
        sp_mix_word(h, (uint64_t)i, words[i]);
    sp_free(words);
    return n < 0 ? -1 : 0;
}

/* The counts: the numbers in a file's header. */
static void sp_mix_counts(uint64_t *h, const sp_learner *learner)
{
    const sp_table *table = &learner->table;
    const sp_serve *serve = &learner->serve;
    const sp_ceiling *ceiling = &learner->ceiling;
    const double clock[] = {table->c, table->s, table->epoch};
    sp_mix_word(h, learner->n_seen, learner->n_updates);
    sp_mix_word(h, learner->n_mistakes, table->fold);
    sp_mix_numbers(h, clock, 3);
    for (int k = 0; k < SP_KEPT_KINDS; k++) {
        double numbers[SP_FIT_NUMBERS];
        sp_fit_read(&serve->scale[k], &learner->fits[k], numbers);
        sp_mix_numbers(h, numbers, SP_FIT_NUMBERS);
    }
    for (int k = 0; k < 2; k++) {
        const double tally[] = {serve->T[k][0], serve->T[k][1], serve->G[k], serve->lead[k]};
        sp_mix_numbers(h, tally, 4);
    }
    sp_mix_word(h, serve->run, serve->record);
    sp_mix_word(h, (uint64_t)(int64_t)serve->duel, ceiling->hand);
    sp_mix_word(h, ceiling->clock, ceiling->n_evicted);
}

SP_API int sp_delta_digest(const sp_shard *shard, const uint8_t *called, size_t n, uint64_t *h)
{
    const sp_learner *learner = shard->learner;
    sp_model_numbers once = sp_machine_model_numbers(learner);
    size_t n_once = once.name == NULL ? 0 : sp_model_numbers_count(&once);
    double *numbers = (double *)sp_calloc(n_once + 1, sizeof(double));
    if (numbers == NULL || sp_mix_slots(shard, h) < 0 || sp_mix_shapes(h, learner) < 0) {
        sp_free(numbers);
        return -1;
    }
    if (n_once)
        sp_machine_model_numbers_write(learner, numbers);
    sp_mix_numbers(h, numbers, n_once);
    sp_free(numbers);
    sp_mix_counts(h, learner);
    sp_mix_word(h, learner->index.bits ? learner->index.seed_number : 0,
                (uint64_t)learner->index.bits);
    sp_mix_bytes(h, called, n);
    return 0;
}
