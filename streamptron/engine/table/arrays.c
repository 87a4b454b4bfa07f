#include "table/arrays.h"

#include "memory/compiler.h"
#include "memory/heap.h"
#include "memory/types.h"
#include "names/lookup.h"
#include "names/rising.h"
#include "rows/marks.h"
#include "table/layout.h"
#include "table/slot.h"

#include <math.h>
#include <string.h>

static size_t sp_pair_end(const uint8_t *p, size_t n, size_t at, int depth);

SP_PRIVATE void sp_arrays_free(sp_arrays *flat)
{
    sp_free(flat->stored);
    sp_free(flat->rising);
    flat->stored = NULL;
    flat->rising = NULL;
}

/* The first of the stored numbers that is at least `number`. */
static size_t sp_arrays_rank(const sp_arrays *flat, size_t number)
{
    size_t first = 0;
    size_t last = flat->n_stored;
    while (first < last) {
        size_t middle = (first + last) / 2;
        if (flat->slots[middle] < number)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

/* How many slots of a chunk are stored. */
static size_t sp_arrays_count(const sp_arrays *flat, size_t n_slots, size_t chunk)
{
    if (flat->n_keys == 0) /* hashed */
        return sp_arrays_rank(flat, (chunk + 1) << SP_CHUNK_BITS)
               - sp_arrays_rank(flat, chunk << SP_CHUNK_BITS);
    return SP_MIN((size_t)SP_CHUNK_SLOTS, n_slots - (chunk << SP_CHUNK_BITS));
}

SP_PRIVATE double *sp_arrays_part(const sp_arrays *flat, uint32_t block, size_t *n)
{
    size_t first = 0;
    *n = 0;
    for (size_t i = 0; i < flat->n_chunks && flat->chunks[3 * i] <= block; i++) {
        size_t slots = sp_arrays_count(flat, flat->n_keys, flat->chunks[3 * i + 1]);
        if (flat->chunks[3 * i] < block)
            first += slots;
        else
            *n += slots;
    }
    return flat->weights + first * SP_STORED_WIDTH;
}

/* --- Writing a hashed table */

/* A slot of a block; NULL if it was never written. */
static const double *sp_arrays_row(const sp_table *table, ptrdiff_t block, sp_slot_type slot)
{
    const double *chunk = NULL;
    if (slot >> SP_CHUNK_BITS < table->n_chunks) /* a kernel's features have no weights */
        chunk = sp_table_chunk(table, block, slot >> SP_CHUNK_BITS);
    return chunk == NULL ? NULL : chunk + (slot & SP_CHUNK_MASK) * (uint32_t)table->width;
}

/* Whether a slot has a nonzero number in a block. */
static bool sp_arrays_has(const sp_table *table, ptrdiff_t block, sp_slot_type slot)
{
    const double *row = sp_arrays_row(table, block, slot);
    uint64_t bits = 0;
    for (int f = 0; row != NULL && f < table->width; f++)
        bits |= sp_bits_of(row[f]);
    return bits != 0;
}

/* The end of the file's chunk that begins at row i. */
static size_t sp_arrays_end(const sp_arrays *flat, const sp_index *index, size_t i)
{
    uint32_t chunk = sp_index_number(index, flat->rising[i]) >> SP_CHUNK_BITS;
    while (i < flat->n_stored
           && sp_index_number(index, flat->rising[i]) >> SP_CHUNK_BITS == chunk)
        i++;
    return i;
}

/* Whether some of these rows have nonzero numbers in a block. */
static bool sp_arrays_any(const sp_arrays *flat, const sp_table *table, ptrdiff_t block, size_t i,
                          size_t end)
{
    while (i < end && !sp_arrays_has(table, block, flat->rising[i]))
        i++;
    return i < end;
}

/* Find which rows will be stored. -1 if out of memory. */
static int sp_arrays_measure_hashed(sp_arrays *flat, const sp_index *index, const sp_table *table)
{
    flat->rising = sp_index_rising(index);
    if (flat->rising == NULL)
        return -1;
    for (size_t i = 0, end = index->n_slots; i < end; i++) {
        const sp_slot_type slot = flat->rising[i];
        bool some = i < SP_SLOTS_RESERVED; /* these always keep their places */
        for (ptrdiff_t b = 0; b < table->n_blocks && !some; b++)
            some = sp_arrays_has(table, b, slot);
        if (some)
            flat->rising[flat->n_stored++] = slot;
    }
    for (ptrdiff_t b = 0; b < table->n_blocks; b++) {
        for (size_t i = 0, end; i < flat->n_stored; i = end) {
            end = sp_arrays_end(flat, index, i);
            if (sp_arrays_any(flat, table, b, i, end)) {
                flat->n_chunks += 1;
                flat->n_weights += end - i;
            }
        }
    }
    return 0;
}

static void sp_arrays_write_hashed(sp_arrays *flat, const sp_index *index, const sp_table *table)
{
    const size_t width = (size_t)table->width;
    uint32_t *chunk = flat->chunks;
    double *weights = flat->weights;
    for (ptrdiff_t b = 0; b < table->n_blocks; b++) {
        for (size_t i = 0, end; i < flat->n_stored; i = end) {
            end = sp_arrays_end(flat, index, i);
            if (!sp_arrays_any(flat, table, b, i, end))
                continue;
            chunk[0] = (uint32_t)b;
            chunk[1] = sp_index_number(index, flat->rising[i]) >> SP_CHUNK_BITS;
            chunk[2] = table->fold;
            chunk += 3;
            for (size_t k = i; k < end; k++, weights += width) {
                const double *row = sp_arrays_row(table, b, flat->rising[k]);
                if (row == NULL) {
                    memset(weights, 0, width * sizeof(double));
                    continue;
                }
                memcpy(weights, row, width * sizeof(double));
                sp_table_fold_row(table, b, flat->rising[k] >> SP_CHUNK_BITS, weights);
            }
        }
    }
    for (size_t i = 0; i < flat->n_stored; i++)
        flat->slots[i] = sp_index_number(index, flat->rising[i]);
}

/* --- Writing */

SP_PRIVATE int sp_arrays_measure(sp_arrays *flat, const sp_index *index, const sp_table *table)
{
    memset(flat, 0, sizeof(sp_arrays));
    flat->seed = index->seed;
    if (index->bits)
        return sp_arrays_measure_hashed(flat, index, table);
    flat->n_keys = index->n_slots;
    flat->n_words = (flat->n_keys - SP_SLOTS_RESERVED) / 7 * 8 + 8;
    for (sp_slot_type slot = SP_SLOTS_RESERVED, end = index->n_slots; slot < end; slot++) {
        if (sp_key_is_long(sp_index_key(index, slot)))
            flat->n_texts += sp_key_length(sp_index_key(index, slot));
    }
    for (ptrdiff_t b = 0, end = table->n_blocks; b < end; b++) {
        for (size_t i = 0, end = table->n_chunks; i < end; i++) {
            if (sp_table_chunk(table, b, i) != NULL) {
                flat->n_chunks += 1;
                flat->n_weights += sp_arrays_count(flat, index->n_slots, i);
            }
        }
    }
    return 0;
}

SP_PRIVATE void sp_arrays_write(sp_arrays *flat, const sp_index *index, const sp_table *table)
{
    size_t text = 0;
    size_t place = 0;
    size_t slot_bytes = (size_t)table->width * sizeof(double);
    const double *chunk;
    double *weights = flat->weights;
    sp_key key;
    if (index->bits) {
        sp_arrays_write_hashed(flat, index, table);
        return;
    }
    for (ptrdiff_t b = 0, end = table->n_blocks; b < end; b++) {
        for (size_t i = 0, end = table->n_chunks; i < end; i++) {
            chunk = sp_table_chunk(table, b, i);
            if (chunk == NULL)
                continue;
            flat->chunks[3 * place] = (uint32_t)b;
            flat->chunks[3 * place + 1] = (uint32_t)i;
            flat->chunks[3 * place + 2] = table->average == SP_AVERAGE_EXPONENTIAL
                                              ? table->blocks[b].folds[i]
                                              : 0;
            place++;
            size_t n = sp_arrays_count(flat, index->n_slots, i);
            memcpy(weights, chunk, n * slot_bytes);
            weights += n * (size_t)table->width;
        }
    }
    for (sp_slot_type slot = 0, end = index->n_slots; slot < end; slot++) {
        if (slot < SP_SLOTS_RESERVED) {
            key.lo = key.hi = 0;
        } else
            key = *sp_index_key(index, slot);
        if (flat->stamps != NULL)
            flat->stamps[slot] = slot >= SP_SLOTS_RESERVED ? *sp_index_stamp(index, slot) : 0;
        if (sp_key_is_long(&key)) {
            memcpy(flat->texts + text, sp_key_bytes(&key), sp_key_length(&key));
            key.lo = text;
            text += sp_key_length(&key);
        }
        flat->keys[slot] = key;
    }
}

static int sp_slot_bits(size_t n_slots)
{
    int bits = 1;
    while (n_slots > (size_t)1 << bits)
        bits++;
    return bits;
}

SP_PRIVATE void sp_arrays_lookup(sp_arrays *flat)
{
    sp_lookup lookup;
    sp_key key;
    uint64_t hashes[SP_LOOKUP_BATCH];
    lookup.words = flat->words;
    lookup.n_words = flat->n_words;
    lookup.slot_bits = sp_slot_bits(flat->n_keys);
    memset(flat->words, 0, flat->n_words * sizeof(uint32_t));
    size_t first = SP_SLOTS_RESERVED;
    while (first < flat->n_keys) {
        size_t last = SP_MIN(first + SP_LOOKUP_BATCH, flat->n_keys);
        for (size_t slot = first; slot < last; slot++) {
            key = flat->keys[slot];
            if (sp_key_is_long(&key))
                key.lo = (uint64_t)(uintptr_t)(flat->texts + key.lo);
            hashes[slot - first] = sp_key_hash(&flat->seed, &key);
            sp_prefetch(&lookup.words[sp_lookup_start(&lookup, hashes[slot - first])]);
        }
        for (size_t slot = first; slot < last; slot++)
            sp_lookup_put(&lookup, hashes[slot - first], (sp_slot_type)slot);
        first = last;
    }
}

/* Whether the bytes are a valid str, which may have lone surrogates. */
static bool sp_is_utf8(const uint8_t *p, size_t n)
{
    size_t i = 0;
    while (i < n) {
        if (p[i] < 0x80) {
            i++;
            continue;
        }
        size_t more = p[i] < 0xE0 ? 1 : p[i] < 0xF0 ? 2 : 3;
        if (p[i] < 0xC2 || p[i] > 0xF4 || more >= n - i)
            return false;
        for (size_t k = i + 1; k < i + more + 1; k++) {
            if ((p[k] & 0xC0) != 0x80)
                return false;
        }
        if ((p[i] == 0xE0 && p[i + 1] < 0xA0) || (p[i] == 0xF0 && p[i + 1] < 0x90)
            || (p[i] == 0xF4 && p[i + 1] > 0x8F))
            return false;
        i += more + 1;
    }
    return true;
}

/* Whether the float is a name of its own: neither a whole number nor NaN. */
static bool sp_is_fraction(const void *p)
{
    double number;
    memcpy(&number, p, 8);
    return isinf(number) || (floor(number) != number && number == number);
}

/* The end of the canonical bytes of a name, which start at `at`; 0 if they are invalid.

   See common/names.py. */
static size_t sp_canonical_end(const uint8_t *p, size_t n, size_t at, int depth)
{
    uint64_t size = 0;
    size_t i;
    int shift = 0;
    if (at >= n)
        return 0;
    uint8_t tag = p[at];
    at++;
    if (tag == 'n')
        return at;
    if (tag == 'f')
        return n - at >= 8 && sp_is_fraction(p + at) ? at + 8 : 0;
    if (tag == 'p')
        return sp_pair_end(p, n, at, depth);
    while (true) {
        if (at >= n || shift > 56)
            return 0;
        size |= (uint64_t)(p[at] & 127) << shift;
        shift += 7;
        at++;
        if (p[at - 1] < 128)
            break;
    }
    if ((shift > 7 && p[at - 1] == 0) || size > n - at)
        return 0;
    if (tag == 't') {
        if (depth == 0)
            return 0;
        for (i = 0; i < size; i++) {
            at = sp_canonical_end(p, n, at, depth - 1);
            if (at == 0)
                return 0;
        }
        return at;
    }
    if (tag == 's')
        return sp_is_utf8(p + at, size) ? at + size : 0;
    if (tag == 'b')
        return at + size;
    if (tag != 'i')
        return 0;
    i = at;
    if (size > 1 && p[i] == '-')
        i++;
    if (i == at + size || (p[i] == '0' && size > 1))
        return 0;
    while (i < at + size) {
        if (!(('0' <= p[i] && p[i] <= '9') || ('a' <= p[i] && p[i] <= 'f')))
            return 0;
        i++;
    }
    return at + size;
}

/* The end of two names, which start at `at`; the lesser comes first. */
static size_t sp_pair_end(const uint8_t *p, size_t n, size_t at, int depth)
{
    if (depth == 0)
        return 0;
    size_t second = sp_canonical_end(p, n, at, depth - 1);
    size_t end = second ? sp_canonical_end(p, n, second, depth - 1) : 0;
    if (end && memcmp(p + at, p + second, SP_MIN(second - at, end - second)) > 0)
        return 0;
    return end;
}

SP_PRIVATE bool sp_is_key(const sp_key *key, const uint8_t *text, size_t n_objects, int depth)
{
    uint64_t kind = sp_key_kind(key) & ~(uint64_t)SP_KEY_LONG;
    size_t n = sp_key_length(key);
    if (kind == SP_KEY_INT)
        return key->hi == (((uint64_t)SP_KEY_INT << 4) | 8)
               && key->lo + (uint64_t)0x1FFFFFFFFFFFFFFE < (uint64_t)0x3FFFFFFFFFFFFFFD;
    if (kind == SP_KEY_FLOAT)
        return key->hi == (((uint64_t)SP_KEY_FLOAT << 4) | 8) && sp_is_fraction(&key->lo);
    if (kind == SP_KEY_OBJECT)
        return key->hi == (((uint64_t)SP_KEY_OBJECT << 4) | 8) && key->lo < n_objects;
    if (kind != SP_KEY_STR && kind != SP_KEY_BYTES && kind != SP_KEY_CANONICAL)
        return false;
    if (sp_key_is_long(key)) {
        if (n <= SP_KEY_INLINE || key->hi & 15)
            return false;
    } else if (key->lo & ~sp_last_bytes[n] || key->hi & ~(uint64_t)255 & ~sp_bytes_before[n])
        return false;
    if (kind == SP_KEY_STR)
        return sp_is_utf8(text, n);
    return kind == SP_KEY_BYTES || sp_canonical_end(text, n, 0, depth) == n;
}

SP_PRIVATE bool sp_is_stored_key(const sp_key *key, size_t n_objects)
{
    uint8_t inside[16];
    if (sp_key_is_long(key))
        return sp_is_key(key, sp_key_bytes(key), n_objects, SP_ARRAYS_DEPTH);
    sp_key_inline_bytes(key, inside);
    return sp_is_key(key, inside, n_objects, SP_ARRAYS_DEPTH);
}

/* Whether a key is a short text of ASCII, like most: this needs only the key's own words. */
static bool sp_key_is_ascii(const sp_key *key)
{
    const size_t n = sp_key_length(key);
    const uint64_t high = key->hi & ~(uint64_t)255;
    return sp_key_kind(key) == SP_KEY_STR && !((key->lo | high) & 0x8080808080808080)
           && !(key->lo & ~sp_last_bytes[n & 15] || high & ~sp_bytes_before[n & 15]);
}

SP_PRIVATE int sp_arrays_check_keys(const sp_arrays *flat, size_t n_objects, int depth)
{
    size_t text = 0;
    const sp_key *key;
    uint8_t inside[16];
    for (size_t slot = 0, end = flat->n_keys; slot < end; slot++) {
        key = &flat->keys[slot];
        if (slot < SP_SLOTS_RESERVED) {
            if (key->lo || key->hi)
                return SP_ARRAYS_KEY;
            continue;
        }
        if (sp_key_is_ascii(key))
            continue;
        if (!sp_key_is_long(key)) {
            sp_key_inline_bytes(key, inside);
            if (!sp_is_key(key, inside, n_objects, depth))
                return SP_ARRAYS_KEY;
            continue;
        }
        if (key->lo != text || sp_key_length(key) > flat->n_texts - text)
            return SP_ARRAYS_TEXTS;
        if (!sp_is_key(key, flat->texts + text, n_objects, depth))
            return SP_ARRAYS_KEY;
        text += sp_key_length(key);
    }
    return text != flat->n_texts ? SP_ARRAYS_TEXTS : 0;
}

SP_PRIVATE int sp_arrays_check_in_place(const sp_index *index, size_t n_objects)
{
    sp_arrays flat;
    memset(&flat, 0, sizeof(sp_arrays));
    if (index->bits)
        return 0;
    flat.n_keys = index->n_slots;
    flat.keys = (sp_key *)index->lookup->keys;
    flat.texts = (uint8_t *)index->lookup->texts;
    flat.n_texts = index->lookup->n_texts;
    return sp_arrays_check_keys(&flat, n_objects, SP_ARRAYS_DEPTH);
}

SP_PRIVATE bool sp_arrays_too_deep(const sp_arrays *flat, int depth)
{
    const sp_key *key;
    uint8_t inside[16];
    const uint8_t *text;
    for (size_t slot = SP_SLOTS_RESERVED, end = flat->n_keys; slot < end; slot++) {
        key = &flat->keys[slot];
        if ((sp_key_kind(key) & ~(uint64_t)SP_KEY_LONG) != SP_KEY_CANONICAL)
            continue;
        if (sp_key_is_long(key))
            text = flat->texts + key->lo;
        else {
            sp_key_inline_bytes(key, inside);
            text = inside;
        }
        if (sp_canonical_end(text, sp_key_length(key), 0, depth) != sp_key_length(key))
            return true;
    }
    return false;
}

/* HASHED: check the stored numbers. 0, or what is wrong. */
static int sp_stored_fault(const sp_arrays *flat, const sp_index *index)
{
    if (flat->n_stored < SP_SLOTS_RESERVED)
        return SP_ARRAYS_SLOT;
    for (size_t i = 0; i < flat->n_stored; i++) {
        uint32_t number = flat->slots[i];
        if (number >= sp_index_numbers(index)
            || (i < SP_SLOTS_RESERVED ? number != i : number <= flat->slots[i - 1]))
            return SP_ARRAYS_SLOT;
    }
    return 0;
}

/* HASHED: make the bitmap of the stored numbers, which have been checked. -1 if out of memory. */
static int sp_stored(sp_arrays *flat, size_t places)
{
    flat->stored = (uint64_t *)sp_calloc(4 * places, sizeof(uint64_t));
    if (flat->stored == NULL)
        return -1;
    for (size_t i = 0; i < flat->n_stored; i++)
        flat->stored[flat->slots[i] / 64] |= (uint64_t)1 << (flat->slots[i] % 64);
    return 0;
}

/* 0, or what is wrong with entry i of `chunks`, whose slots start at `place`. `n_slots`: how many
   slots there are; hashed: how many numbers. */
static int sp_chunk_fault(const sp_arrays *flat, const sp_table *table, size_t n_slots, size_t i,
                          size_t place)
{
    const uint32_t *entry = &flat->chunks[3 * i];
    const uint32_t *before = i ? &flat->chunks[3 * i - 3] : NULL;
    if (entry[0] >= (size_t)table->n_blocks || entry[1] > (n_slots - 1) >> SP_CHUNK_BITS
        || sp_arrays_count(flat, n_slots, entry[1]) > flat->n_weights - place)
        return SP_ARRAYS_CHUNK;
    if (entry[2] > (table->average == SP_AVERAGE_EXPONENTIAL ? table->fold : (uint32_t)0))
        return SP_ARRAYS_CHUNK;
    if (i && (entry[0] < before[0] || (entry[0] == before[0] && entry[1] <= before[1])))
        return SP_ARRAYS_CHUNK;
    if (entry[1] == 0) {
        for (int f = 0; f < table->width; f++) {
            if (flat->weights[place * (size_t)table->width + (size_t)f] != 0.0)
                return SP_ARRAYS_NOBODYS;
        }
    }
    return 0;
}

/* Add outputs, and places for the chunks of n slots; `whole`: no more will be added. -1 if out of
   memory. */
static int sp_table_begin(sp_table *table, size_t n_slots, ptrdiff_t n_outputs, bool whole)
{
    if (sp_table_add_outputs(table, n_outputs - table->n_outputs) < 0
        || sp_table_reserve_places(table, ((n_slots - 1) >> SP_CHUNK_BITS) + 1, whole) < 0)
        return -1;
    return 0;
}

/* Fill an empty index with slots for the file's keys, or for its rows. 0, or what is wrong. */
static int sp_arrays_read_names(const sp_arrays *flat, sp_index *index)
{
    sp_key key;
    if (sp_index_expect(index, index->bits ? flat->n_stored : flat->n_keys) < 0)
        return SP_ARRAYS_MEMORY;
    for (size_t i = SP_SLOTS_RESERVED, end = index->bits ? flat->n_stored : 0; i < end; i++) {
        key = sp_key_word(SP_KEY_INT, flat->slots[i]);
        if (sp_index_insert(index, &key, sp_index_hash(index, &key)) == SP_SLOT_NULL)
            return SP_ARRAYS_MEMORY;
    }
    for (size_t i = SP_SLOTS_RESERVED, end = flat->n_keys; i < end; i++) {
        key = flat->keys[i];
        if (sp_key_is_long(&key))
            key.lo = (uint64_t)(uintptr_t)(flat->texts + key.lo);
        const sp_slot_type slot = sp_index_insert(index, &key, sp_key_hash(&index->seed, &key));
        if (slot == SP_SLOT_NULL)
            return SP_ARRAYS_MEMORY;
        if (slot != i)
            return SP_ARRAYS_TWICE;
        if (flat->stamps != NULL)
            *sp_index_stamp(index, (sp_slot_type)i) = flat->stamps[i];
    }
    return 0;
}

/* Copy n rows of a block into consecutive slots. -1 if out of memory. */
static int sp_arrays_read_rows(sp_table *table, const uint32_t *chunk, size_t slot, size_t n,
                               const double *weights)
{
    const size_t width = (size_t)table->width;
    double factor = 1.0;
    if (table->average == SP_AVERAGE_EXPONENTIAL)
        factor = sp_fold_factor(table->fold - chunk[2]);
    for (size_t end = slot + n; slot < end; slot++, weights += width) {
        const sp_slot_type one = (sp_slot_type)slot;
        if (sp_table_reserve_blocks(table, &one, 1, one + 1, chunk, 1) < 0)
            return -1;
        double *row = table->blocks[chunk[0]].chunks[slot >> SP_CHUNK_BITS]
                      + (slot & SP_CHUNK_MASK) * width;
        memcpy(row, weights, width * sizeof(double));
        for (int k = 0; table->average == SP_AVERAGE_EXPONENTIAL && k < table->lanes; k++)
            row[k * table->layout.fields + table->layout.v] *= factor;
    }
    return 0;
}

/* Copy a chunk unchanged. -1 if out of memory. */
static int sp_arrays_read_chunk(sp_table *table, const uint32_t *chunk, size_t n_slots, size_t n,
                                const double *weights)
{
    const sp_slot_type slot = chunk[1] << SP_CHUNK_BITS;
    if (sp_table_reserve_blocks(table, &slot, 1, (sp_slot_type)n_slots, chunk, 1) < 0)
        return -1;
    memcpy(sp_table_chunk(table, chunk[0], chunk[1]), weights,
           n * (size_t)table->width * sizeof(double));
    if (table->average == SP_AVERAGE_EXPONENTIAL)
        table->blocks[chunk[0]].folds[chunk[1]] = chunk[2];
    return 0;
}

SP_PRIVATE int sp_arrays_read(sp_arrays *flat, sp_index *index, sp_table *table,
                              ptrdiff_t n_outputs, size_t n_objects, int depth)
{
    size_t place = 0;
    size_t n_slots = index->bits ? flat->n_stored : flat->n_keys;
    size_t n_numbers = index->bits ? sp_index_numbers(index) : n_slots;
    const double *weights = flat->weights;
    int fault = sp_arrays_check_keys(flat, n_objects, depth);
    if (!fault && index->bits)
        fault = sp_stored_fault(flat, index);
    if (fault)
        return fault;
    fault = sp_arrays_read_names(flat, index);
    if (fault)
        return fault;
    if (sp_table_begin(table, n_slots, n_outputs, false) < 0)
        return SP_ARRAYS_MEMORY;
    for (size_t i = 0, end = flat->n_chunks; i < end; i++) {
        const uint32_t *chunk = &flat->chunks[3 * i];
        fault = sp_chunk_fault(flat, table, n_numbers, i, place);
        if (fault)
            return fault;
        size_t n = sp_arrays_count(flat, n_numbers, chunk[1]);
        fault = sp_table_rows_fault(table, chunk[0], weights, n);
        if (fault)
            return fault == SP_ROWS_NUMBER ? SP_ARRAYS_WEIGHT : SP_ARRAYS_NOBODYS;
        size_t first = index->bits ? sp_arrays_rank(flat, (size_t)chunk[1] << SP_CHUNK_BITS) : 0;
        int failed = index->bits ? sp_arrays_read_rows(table, chunk, first, n, weights)
                                 : sp_arrays_read_chunk(table, chunk, n_slots, n, weights);
        if (failed)
            return SP_ARRAYS_MEMORY;
        place += n;
        weights += n * (size_t)table->width;
    }
    return place == flat->n_weights ? 0 : SP_ARRAYS_CHUNK;
}

SP_PRIVATE int sp_arrays_map(sp_arrays *flat, sp_index *index, sp_table *table, ptrdiff_t n_outputs)
{
    size_t place = 0;
    size_t n_slots = index->bits ? sp_index_numbers(index) : flat->n_keys;
    int fault = index->bits ? sp_stored_fault(flat, index) : 0;
    if (fault)
        return fault;
    if (sp_table_begin(table, n_slots, n_outputs, true) < 0
        || (index->bits && sp_stored(flat, table->n_chunks) < 0))
        return SP_ARRAYS_MEMORY;
    sp_lookup *lookup = (sp_lookup *)sp_calloc(1, sizeof(sp_lookup));
    if (lookup == NULL)
        return SP_ARRAYS_MEMORY;
    sp_index_lend(index, lookup);
    table->borrowed = true;
    index->n_slots = (sp_slot_type)(index->bits ? flat->n_stored : n_slots);
    lookup->numbers = flat->slots;
    lookup->keys = flat->keys;
    lookup->texts = flat->texts;
    lookup->n_texts = flat->n_texts;
    lookup->words = flat->words;
    lookup->n_words = flat->n_words;
    lookup->slot_bits = sp_slot_bits(n_slots);
    for (size_t i = 0, end = flat->n_chunks; i < end; i++) {
        fault = sp_chunk_fault(flat, table, n_slots, i, place);
        if (fault)
            break;
        table->blocks[flat->chunks[3 * i]].chunks[flat->chunks[3 * i + 1]] =
            flat->weights + place * (size_t)table->width;
        place += sp_arrays_count(flat, n_slots, flat->chunks[3 * i + 1]);
        if (table->average == SP_AVERAGE_EXPONENTIAL)
            table->blocks[flat->chunks[3 * i]].folds[flat->chunks[3 * i + 1]] =
                flat->chunks[3 * i + 2];
    }
    if (index->bits)
        index->bytes += 4 * table->n_chunks * sizeof(uint64_t);
    lookup->stored = flat->stored; /* the index owns the bitmap now */
    flat->stored = NULL;
    return fault || place == flat->n_weights ? fault : SP_ARRAYS_CHUNK;
}
