#include "names/index.h"

#include <string.h>

/* The size of a chunk of keys, with stamps and tags if there is a ceiling; or of numbers. */
static size_t sp_keys_bytes(const sp_index *index)
{
    if (index->bits)
        return SP_CHUNK_SLOTS * sizeof(uint32_t);
    return SP_CHUNK_SLOTS
           * (sizeof(sp_key) + (sp_index_is_limited(index) ? 2 * sizeof(uint32_t) : 0));
}

/* Copy the bytes of a long key that is to be stored. Returns -1 without memory. */
static int sp_key_keep(sp_index *index, sp_key *key)
{
    uint8_t *copy;
    if (!sp_key_is_long(key))
        return 0;
    if (sp_index_is_limited(index)) {
        copy = (uint8_t *)sp_malloc(sp_key_length(key));
        if (copy != NULL) {
            memcpy(copy, sp_key_bytes(key), sp_key_length(key));
            index->bytes += sp_heap_bytes(sp_key_length(key));
        }
    } else
        copy = sp_arena_copy(&index->long_keys, sp_key_bytes(key), sp_key_length(key));
    if (copy == NULL)
        return -1;
    key->lo = (uint64_t)(uintptr_t)copy;
    return 0;
}

SP_API sp_key sp_index_stored(const sp_index *index, sp_slot_type slot)
{
    if (index->bits)
        return sp_key_word(SP_KEY_INT, sp_index_number(index, slot));
    if (index->lookup == NULL)
        return *sp_index_key(index, slot);
    return sp_lookup_key(index->lookup, slot);
}

SP_RARE SP_API void sp_index_free(sp_index *index)
{
    if (sp_index_is_limited(index) && index->keys != NULL) {
        for (sp_slot_type slot = SP_SLOTS_RESERVED, end = index->n_slots; slot < end; slot++)
            sp_index_drop(index, sp_index_key(index, slot));
    }
    sp_pool_free(&index->pool);
    sp_free(index->directory);
    sp_free(index->next);
    index->directory = index->next = NULL;
    sp_places_free(&index->of_keys, index->keys);
    sp_free(index->columns);
    sp_free(index->direct);
    if (index->lookup != NULL) {
        sp_free(index->lookup->stored);
        sp_free(index->lookup);
        index->lookup = NULL;
    }
    index->keys = NULL;
    index->columns = index->direct = NULL;
    index->n_columns = 0;
    index->n_chunks = 0;
    sp_arena_free(&index->long_keys);
}

/* The slots of all numbers, if there are not too many. -1 without memory. */
static int sp_direct_open(sp_index *index)
{
    if (index->bits == 0 || index->bits > SP_DIRECT_BITS)
        return 0;
    /* untouched pages cost nothing */
    index->direct = (sp_slot_type *)sp_calloc(sp_index_numbers(index), sizeof(sp_slot_type));
    if (index->direct == NULL)
        return -1;
    index->bytes += sp_index_numbers(index) * sizeof(sp_slot_type);
    return 0;
}

SP_RARE SP_API int sp_index_init(sp_index *index, int bits, uint64_t seed_number,
                                 sp_slot_type max_features)
{
    index->bits = bits;
    index->seed = sp_seed_make(seed_number);
    index->seed_number = seed_number;
    index->depth = 0;
    index->n_segments = 0;
    index->directory = index->next = NULL;
    index->n_copied = 0;
    index->keys = NULL;
    index->columns = index->direct = NULL;
    index->n_columns = 0;
    index->n_chunks = 0;
    memset(&index->of_keys, 0, sizeof(sp_places));
    index->lookup = NULL;
    sp_pool_init(&index->pool, true);
    index->bytes = 0;
    index->n_slots = SP_SLOTS_RESERVED;
    index->max_slots = max_features ? SP_SLOTS_RESERVED + max_features : SP_SLOT_MAX;
    index->generation = 0;
    sp_arena_init(&index->long_keys);
    if (sp_direct_open(index) < 0)
        return -1;
    if (index->direct != NULL)
        return 0;
    index->directory = (uintptr_t *)sp_calloc(1, sizeof(uintptr_t));
    if (index->directory == NULL)
        return -1;
    index->bytes += sizeof(uintptr_t);
    *index->directory = sp_segment_new(&index->pool, SP_SEGMENT_LOG_MIN, 0);
    if (*index->directory == 0)
        return -1;
    index->n_segments = 1;
    return 0;
}

SP_PRIVATE void sp_index_lend(sp_index *index, sp_lookup *lookup)
{
    index->lookup = lookup;
    if (index->direct != NULL)
        index->bytes -= sp_index_numbers(index) * sizeof(sp_slot_type);
    sp_free(index->direct);
    index->direct = NULL;
}

/* The slot of a number of a hashed index, or the null slot. */
static sp_slot_type sp_number_find(const sp_index *index, uint32_t number)
{
    if (index->lookup != NULL)
        return sp_lookup_place(index->lookup, number);
    if (index->direct != NULL)
        return index->direct[number];
    uint64_t tag = sp_number_tag(number);
    uintptr_t word = sp_index_segment(index, tag);
    const uint64_t *entries = sp_segment_entries(word);
    uint64_t mask = sp_segment_mask(word);
    uint64_t at = tag & mask;
    while (entries[at] != 0 && entries[at] >> 32 != tag)
        at = (at + 1) & mask;
    return (sp_slot_type)entries[at];
}

SP_API sp_slot_type sp_index_find(const sp_index *index, const sp_key *key, uint64_t h)
{
    uint64_t *entries;
    if (index->bits)
        return sp_number_find(index, sp_number_of(index, h));
    if (index->lookup != NULL)
        return sp_lookup_find(index->lookup, index->n_slots, key, h);
    if (sp_index_is_column(index, key))
        return index->columns[key->lo];
    uint64_t tag = h >> 32;
    uintptr_t word = sp_index_segment(index, tag);
    entries = sp_segment_entries(word);
    uint64_t mask = sp_segment_mask(word);
    uint64_t at = tag & mask;
    while (entries[at] != 0) {
        if (entries[at] >> 32 == tag
            && sp_key_equal(sp_index_key(index, (sp_slot_type)entries[at]), key))
            return (sp_slot_type)entries[at];
        at = (at + 1) & mask;
    }
    return SP_SLOT_NULL;
}

/* Prefetch the keys that entries further on refer to, and the bytes of long ones nearer by. */
static void sp_look_ahead(sp_key **chunks, const uint64_t **starts, ptrdiff_t i, ptrdiff_t n)
{
    sp_slot_type slot;
    const sp_key *key;
    if (i + 2 * SP_INDEX_AHEAD < n) {
        slot = (sp_slot_type)starts[i + 2 * SP_INDEX_AHEAD][0];
        sp_prefetch(&chunks[slot >> SP_CHUNK_BITS][slot & SP_CHUNK_MASK]);
    }
    if (i + SP_INDEX_AHEAD < n) {
        slot = (sp_slot_type)starts[i + SP_INDEX_AHEAD][0];
        key = &chunks[slot >> SP_CHUNK_BITS][slot & SP_CHUNK_MASK];
        if (sp_key_is_long(key))
            sp_prefetch(sp_key_bytes(key));
    }
}

/* The two sweeps. `columns`: keys may be columns; `hashed`: they have been hashed already;
   `many`: looking ahead pays. They are constants at each call, but for `many` ones. */
static void sp_find_all(const sp_index *index, const sp_key *keys, ptrdiff_t n, uint64_t *hashes,
                        const uint64_t **starts, sp_slot_type *slots, const bool columns,
                        const bool hashed, const bool many)
{
    /* copies: for all the compiler knows, every store to hashes or slots might change the index */
    sp_seed seed = index->seed;
    const uintptr_t *directory = index->directory;
    sp_key **chunks = index->keys;
    int shift = 32 - index->depth;
    uint64_t h;
    const sp_key *key;
    for (ptrdiff_t i = 0; i < n; i++) {
        h = hashed ? hashes[i] : sp_key_hash(&seed, &keys[i]);
        hashes[i] = h;
        uintptr_t word = directory[h >> 32 >> shift];
        starts[i] = sp_segment_entries(word) + ((h >> 32) & sp_segment_mask(word));
        sp_prefetch(starts[i]);
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        if (many)
            sp_look_ahead(chunks, starts, i, n);
        h = hashes[i];
        if (columns && sp_index_is_column(index, &keys[i])) {
            slots[i] = index->columns[keys[i].lo];
            continue;
        }
        uint64_t entry = starts[i][0];
        /* an entry with another tag: the upper halves differ */
        if (((entry ^ h) >> 32 != 0) & (entry != 0)) {
            entry = starts[i][1]; /* after the last word comes the first: see sp_segment_put */
            if (((entry ^ h) >> 32 != 0) & (entry != 0)) {
                slots[i] = sp_index_find(index, &keys[i], h);
                continue;
            }
        }
        slots[i] = (sp_slot_type)entry;
        key = &chunks[(sp_slot_type)entry >> SP_CHUNK_BITS][entry & SP_CHUNK_MASK];
        /* Both are rare: a tag that matches by chance, and a long key, whose bytes are compared.
           The null slot has a key that nothing equals. */
        if ((((key->hi ^ keys[i].hi) | (key->lo ^ keys[i].lo)) != 0) & (entry != 0)
            && !sp_key_equal(key, &keys[i]))
            slots[i] = sp_index_find(index, &keys[i], h);
    }
}

/* The slots of numbers that are found directly. */
static void sp_find_direct(const sp_index *index, const sp_key *keys, ptrdiff_t n, uint64_t *hashes,
                           sp_slot_type *slots, const bool hashed)
{
    sp_seed seed = index->seed;
    const sp_slot_type *direct = index->direct + SP_SLOTS_RESERVED;
    const int unused = 64 - index->bits;
    for (ptrdiff_t i = 0; i < n; i++) {
        uint64_t h = hashed ? hashes[i] : sp_key_hash(&seed, &keys[i]);
        hashes[i] = h;
        slots[i] = direct[h >> unused];
    }
}

/* The two sweeps of a hashed index: a tag says all. */
static void sp_find_numbers(const sp_index *index, const sp_key *keys, ptrdiff_t n,
                            uint64_t *hashes, const uint64_t **starts, sp_slot_type *slots,
                            const bool hashed)
{
    sp_seed seed = index->seed;
    const uintptr_t *directory = index->directory;
    const int shift = 32 - index->depth;
    const int unused = 64 - index->bits;
    for (ptrdiff_t i = 0; i < n; i++) {
        uint64_t h = hashed ? hashes[i] : sp_key_hash(&seed, &keys[i]);
        uint64_t tag = sp_number_tag(SP_SLOTS_RESERVED + (uint32_t)(h >> unused));
        uintptr_t word = directory[tag >> shift];
        hashes[i] = h;
        starts[i] = sp_segment_entries(word) + (tag & sp_segment_mask(word));
        slots[i] = (uint32_t)tag;
        sp_prefetch(starts[i]);
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        uint64_t entry = starts[i][0];
        uint64_t tag = slots[i];
        if ((entry >> 32 != tag) & (entry != 0)) {
            entry = starts[i][1]; /* after the last word comes the first: see sp_segment_put */
            if ((entry >> 32 != tag) & (entry != 0))
                entry = sp_index_find(index, &keys[i], hashes[i]);
        }
        slots[i] = (sp_slot_type)entry;
    }
}

SP_PRIVATE void sp_index_find_all(const sp_index *index, const sp_key *keys, ptrdiff_t n,
                                  uint64_t *hashes, const uint64_t **starts, sp_slot_type *slots,
                                  bool hashed)
{
    if (index->lookup != NULL && index->bits == 0) {
        for (ptrdiff_t i = 0; i < n; i++) {
            hashes[i] = sp_key_hash(&index->seed, &keys[i]);
            sp_prefetch(&index->lookup->words[sp_lookup_start(index->lookup, hashes[i])]);
        }
        for (ptrdiff_t i = 0; i < n; i++)
            slots[i] = sp_index_find(index, &keys[i], hashes[i]);
    } else if (index->lookup != NULL || index->n_slots == SP_SLOTS_RESERVED) {
        for (ptrdiff_t i = 0; i < n; i++) {
            if (!hashed)
                hashes[i] = sp_key_hash(&index->seed, &keys[i]);
            slots[i] = index->bits ? sp_index_find(index, &keys[i], hashes[i])
                                   : (sp_slot_type)SP_SLOT_NULL;
        }
    } else if (index->direct != NULL && hashed)
        sp_find_direct(index, keys, n, hashes, slots, true);
    else if (index->direct != NULL)
        sp_find_direct(index, keys, n, hashes, slots, false);
    else if (index->bits && hashed)
        sp_find_numbers(index, keys, n, hashes, starts, slots, true);
    else if (index->bits)
        sp_find_numbers(index, keys, n, hashes, starts, slots, false);
    else if (n >= SP_MANY)
        sp_find_all(index, keys, n, hashes, starts, slots, index->n_columns != 0, hashed, true);
    else if (hashed)
        sp_find_all(index, keys, n, hashes, starts, slots, false, true, false);
    else if (index->n_columns)
        sp_find_all(index, keys, n, hashes, starts, slots, true, false, false);
    else
        sp_find_all(index, keys, n, hashes, starts, slots, false, false, false);
}

static bool sp_directory_may_double(const sp_index *index)
{
    return index->depth < 28
           && (uint64_t)1 << index->depth < (uint64_t)index->n_segments << SP_DIRECTORY_SLACK;
}

/* Copy n more words into the next directory; use it once it is full. -1 without memory. */
SP_RARE static int sp_directory_grow(sp_index *index, size_t n)
{
    size_t length = (size_t)1 << index->depth;
    if (index->next == NULL) {
        index->next = (uintptr_t *)sp_malloc(2 * length * sizeof(uintptr_t));
        if (index->next == NULL)
            return -1;
        index->bytes += 2 * length * sizeof(uintptr_t);
        index->n_copied = 0;
    }
    n = SP_MIN(n, length - index->n_copied);
    for (size_t i = index->n_copied; i < index->n_copied + n; i++) {
        index->next[2 * i] = index->directory[i];
        index->next[2 * i + 1] = index->directory[i];
    }
    index->n_copied += n;
    if (index->n_copied == length) {
        sp_free(index->directory);
        index->directory = index->next;
        index->next = NULL;
        index->bytes -= length * sizeof(uintptr_t);
        index->depth += 1;
    }
    return 0;
}

/* Point at `word` from every directory word that shares the top `depth` bits of the tag. */
static void sp_directory_set(sp_index *index, uint64_t tag, uint32_t depth, uintptr_t word)
{
    size_t first = (size_t)(tag >> (32 - depth) << ((uint32_t)index->depth - depth));
    size_t last = first + ((size_t)1 << ((uint32_t)index->depth - depth));
    for (size_t i = first; i < last; i++)
        index->directory[i] = word;
    if (index->next != NULL) {
        for (size_t i = 2 * first, end = 2 * SP_MIN(last, index->n_copied); i < end; i++)
            index->next[i] = word;
    }
}

/* Double one segment; also the way out if the top bits do not tell its tags apart. */
SP_RARE static int sp_index_segment_grow(sp_index *index, uint64_t tag, uintptr_t old)
{
    uintptr_t word = sp_segment_grow(&index->pool, old);
    if (word == 0)
        return -1;
    sp_directory_set(index, tag, sp_segment_of(old)->depth, word);
    sp_segment_free(&index->pool, old);
    return 0;
}

/* Replace one segment by two, by the next bit of the tags. -1 without memory. */
static int sp_index_segment_split(sp_index *index, uint64_t tag, uintptr_t old)
{
    uint32_t depth = sp_segment_of(old)->depth + 1;
    uint64_t half = (uint64_t)1 << (32 - depth);
    uintptr_t zeros = 0;
    uintptr_t ones = 0;
    if (sp_segment_split(&index->pool, old, &zeros, &ones) < 0)
        return -1;
    sp_directory_set(index, tag & ~half, depth, zeros);
    sp_directory_set(index, tag | half, depth, ones);
    sp_segment_free(&index->pool, old);
    index->n_segments += 1;
    return 0;
}

/* Make sure that the tag's segment has room for one more entry. -1 without memory. */
static int sp_index_make_room(sp_index *index, uint64_t tag)
{
    uintptr_t word = sp_index_segment(index, tag);
    sp_segment *segment = sp_segment_of(word);
    while (((uint64_t)segment->count + 1) * 8 > 5 * (sp_segment_mask(word) + 1)) {
        int log = sp_segment_log(word);
        if (log < SP_SEGMENT_LOG_SPLIT) {
            if (sp_index_segment_grow(index, tag, word) < 0)
                return -1;
        } else if (segment->depth < (uint32_t)index->depth) {
            bool begins = segment->depth + 1 == (uint32_t)index->depth
                          && sp_directory_may_double(index);
            if ((begins || index->next != NULL) && sp_directory_grow(index, SP_DIRECTORY_STEP) < 0)
                return -1;
            if (sp_index_segment_split(index, tag, word) < 0)
                return -1;
        } else if (index->next != NULL || sp_directory_may_double(index)) {
            if (sp_directory_grow(index, (size_t)1 << index->depth) < 0)
                return -1;
        } else if (log < SP_SEGMENT_LOG_MAX) {
            if (sp_index_segment_grow(index, tag, word) < 0)
                return -1;
        } else
            return -1;
        word = sp_index_segment(index, tag);
        segment = sp_segment_of(word);
    }
    return 0;
}

/* Make sure that there is a place for the key of slot n_slots. -1 without memory. */
static int sp_keys_reserve(sp_index *index)
{
    size_t chunk = index->n_slots >> SP_CHUNK_BITS;
    void *keys;
    sp_key *made;
    if (chunk < index->n_chunks)
        return 0;
    if (index->keys == NULL)
        keys = sp_places_open(&index->of_keys, NULL, sizeof(sp_key *), sp_places_ahead(0),
                              &index->bytes);
    else
        keys = sp_places_room(&index->of_keys, index->keys, chunk, &index->bytes);
    if (keys == NULL)
        return -1;
    index->keys = (sp_key **)keys;
    made = (sp_key *)sp_pool_take(&index->pool, sp_keys_bytes(index));
    if (made == NULL)
        return -1;
    index->keys[chunk] = made;
    index->n_chunks = (uint32_t)(chunk + 1);
    return 0;
}

SP_API sp_slot_type sp_index_insert(sp_index *index, const sp_key *key, uint64_t h)
{
    sp_slot_type slot = index->n_slots;
    sp_key stored = *key;
    uint64_t tag = sp_index_tag_of(index, h);
    bool column = sp_index_is_column(index, key);
    if (slot == index->max_slots || sp_keys_reserve(index) < 0
        || (!column && index->direct == NULL && sp_index_make_room(index, tag) < 0))
        return SP_SLOT_NULL;
    if (index->bits)
        *sp_index_number_at(index, slot) = sp_number_of(index, h);
    else if (sp_key_keep(index, &stored) < 0)
        return SP_SLOT_NULL;
    else
        *sp_index_key(index, slot) = stored;
    if (sp_index_is_limited(index))
        *sp_index_tag(index, slot) = (uint32_t)tag;
    if (column)
        index->columns[key->lo] = slot;
    else if (index->direct != NULL)
        index->direct[sp_number_of(index, h)] = slot;
    else
        sp_segment_put(sp_index_segment(index, tag), (tag << 32) | slot);
    index->n_slots = slot + 1;
    index->generation += 1;
    return slot;
}

SP_PRIVATE int sp_index_replace(sp_index *index, sp_slot_type slot, const sp_key *key, uint64_t h,
                                sp_gone *gone)
{
    sp_key stored = *key;
    uint64_t tag = *sp_index_tag(index, slot);
    if (sp_index_make_room(index, h >> 32) < 0 || sp_key_keep(index, &stored) < 0)
        return -1;
    uintptr_t word = sp_index_segment(index, tag);
    sp_prefetch(sp_segment_of(word));
    sp_prefetch(sp_segment_entries(word) + (tag & sp_segment_mask(word)));
    gone->entry = (tag << 32) | slot;
    gone->key = *sp_index_key(index, slot);
    *sp_index_key(index, slot) = stored;
    *sp_index_tag(index, slot) = (uint32_t)(h >> 32);
    sp_segment_put(sp_index_segment(index, h >> 32), (h >> 32 << 32) | slot);
    index->generation += 1;
    return 0;
}

SP_PRIVATE void sp_index_restore(sp_index *index, const sp_gone *gone, bool forgotten)
{
    sp_slot_type slot = (sp_slot_type)gone->entry;
    uint64_t tag = *sp_index_tag(index, slot);
    sp_segment_take(sp_index_segment(index, tag), (tag << 32) | slot);
    sp_index_drop(index, sp_index_key(index, slot));
    if (forgotten)
        sp_segment_put(sp_index_segment(index, gone->entry >> 32), gone->entry);
    *sp_index_key(index, slot) = gone->key;
    *sp_index_tag(index, slot) = (uint32_t)(gone->entry >> 32);
    index->generation += 1;
}

/* The tag of a slot's name. */
static uint64_t sp_tag_at(const sp_index *index, sp_slot_type slot)
{
    return index->bits ? sp_number_tag(*sp_index_number_at(index, slot))
                       : sp_key_hash(&index->seed, sp_index_key(index, slot)) >> 32;
}

SP_RARE SP_PRIVATE void sp_index_rewind(sp_index *index, const sp_index_point *mark)
{
    const sp_key *key;
    while (index->n_slots > mark->n_slots) {
        index->n_slots -= 1;
        if (index->direct != NULL) {
            index->direct[*sp_index_number_at(index, index->n_slots)] = SP_SLOT_NULL;
            continue;
        }
        key = index->bits ? NULL : sp_index_key(index, index->n_slots);
        if (key != NULL && sp_index_is_column(index, key))
            index->columns[key->lo] = SP_SLOT_NULL;
        else {
            uint64_t tag = sp_tag_at(index, index->n_slots);
            sp_segment_take(sp_index_segment(index, tag), (tag << 32) | index->n_slots);
        }
        if (sp_index_is_limited(index))
            sp_index_drop(index, key);
    }
    if (!sp_index_is_limited(index))
        sp_arena_rewind(&index->long_keys, mark->long_keys);
}

SP_PRIVATE int sp_index_open_columns(sp_index *index, size_t n)
{
    sp_slot_type *columns;
    const sp_key *key;
    if (index->bits || n <= index->n_columns || sp_index_is_limited(index))
        return 0;
    columns = (sp_slot_type *)sp_calloc(n, sizeof(sp_slot_type)); /* untouched pages cost nothing */
    if (columns == NULL)
        return -1;
    sp_free(index->columns);
    index->bytes += (n - index->n_columns) * sizeof(sp_slot_type);
    index->columns = columns;
    index->n_columns = n;
    for (sp_slot_type slot = SP_SLOTS_RESERVED, end = index->n_slots; slot < end; slot++) {
        key = sp_index_key(index, slot);
        if (sp_index_is_column(index, key))
            columns[key->lo] = slot;
    }
    return 0;
}

/* A second directory, of second segments. -1 without memory. */
static int sp_directory_copy(sp_index *to, const sp_index *other)
{
    to->directory = (uintptr_t *)sp_calloc((size_t)1 << to->depth, sizeof(uintptr_t));
    if (to->directory == NULL)
        return -1;
    to->bytes += sizeof(uintptr_t) << to->depth;
    size_t i = 0;
    while (i < (size_t)1 << to->depth) {
        uintptr_t word = other->directory[i];
        size_t step = (size_t)1 << (to->depth - (int)sp_segment_of(word)->depth);
        uintptr_t copied = sp_segment_copy(&to->pool, word);
        if (copied == 0)
            return -1;
        for (size_t k = i; k < i + step; k++)
            to->directory[k] = copied;
        i += step;
    }
    return 0;
}

SP_RARE SP_PRIVATE int sp_index_copy(sp_index *to, const sp_index *other)
{
    *to = *other;
    to->directory = to->next = NULL;
    to->n_copied = 0;
    to->keys = NULL;
    to->columns = to->direct = NULL;
    to->n_columns = 0;
    to->n_chunks = 0;
    memset(&to->of_keys, 0, sizeof(sp_places));
    to->bytes = 0;
    sp_pool_init(&to->pool, true);
    sp_arena_init(&to->long_keys);
    if (sp_pool_reserve(&to->pool, other->pool.used) < 0)
        return -1;
    to->n_slots = SP_SLOTS_RESERVED; /* if memory runs out, only the copy's own keys are dropped */
    if (sp_direct_open(to) < 0 || (to->direct == NULL && sp_directory_copy(to, other) < 0))
        return -1;
    to->keys = (sp_key **)sp_places_open(&to->of_keys, NULL, sizeof(sp_key *),
                                         sp_places_ahead(other->n_chunks), &to->bytes);
    if (to->keys == NULL)
        return -1;
    for (size_t i = 0; i < other->n_chunks; i++) {
        to->keys[i] = (sp_key *)sp_pool_take(&to->pool, sp_keys_bytes(to));
        if (to->keys[i] == NULL)
            return -1;
        to->n_chunks = (uint32_t)(i + 1);
        memcpy(to->keys[i], other->keys[i], sp_keys_bytes(to));
    }
    if (other->long_keys.newest != NULL || sp_index_is_limited(to)) {
        for (sp_slot_type slot = SP_SLOTS_RESERVED, end = other->n_slots; slot < end; slot++) {
            if (sp_key_keep(to, sp_index_key(to, slot)) < 0)
                return -1;
            to->n_slots = slot + 1;
        }
    }
    to->n_slots = other->n_slots;
    for (sp_slot_type slot = SP_SLOTS_RESERVED; to->direct != NULL && slot < to->n_slots; slot++)
        to->direct[*sp_index_number_at(to, slot)] = slot;
    return sp_index_open_columns(to, other->n_columns);
}

static const char *sp_segment_fault(const sp_index *index, uintptr_t word)
{
    uint64_t count = 0;
    for (uint64_t at = 0, end = sp_segment_mask(word) + 1; at < end; at++) {
        if (sp_segment_entries(word)[at] == 0)
            continue;
        count++;
        sp_slot_type slot = (sp_slot_type)sp_segment_entries(word)[at];
        if (slot < SP_SLOTS_RESERVED || slot >= index->n_slots)
            return "an entry has a slot that is not in use";
        if (sp_segment_entries(word)[at] >> 32 != sp_tag_at(index, slot))
            return "an entry's tag is not that of its slot's key";
        if (sp_index_segment(index, sp_segment_entries(word)[at] >> 32) != word)
            return "an entry is in a segment that is not its own";
        if (!sp_segment_reaches(word, at))
            return "a search does not reach an entry";
    }
    if (sp_segment_entries(word)[sp_segment_mask(word) + 1] != sp_segment_entries(word)[0])
        return "a segment's first word is not repeated after its last";
    if (count != sp_segment_of(word)->count)
        return "a segment's count is not the number of its entries";
    return NULL;
}

/* What is wrong with the directory and the segments; how many entries and bytes there are. */
static const char *sp_directory_fault(const sp_index *index, size_t *n_entries, size_t *blocks)
{
    size_t n_segments = 0;
    size_t i = 0;
    for (size_t k = 0; index->next != NULL && k < 2 * index->n_copied; k++) {
        if (index->next[k] != index->directory[k / 2])
            return "the next directory differs from the directory";
    }
    while (i < (size_t)1 << index->depth) {
        uintptr_t word = index->directory[i];
        size_t step = (size_t)1 << (index->depth - (int)sp_segment_of(word)->depth);
        for (size_t k = i; k < i + step; k++) {
            if (index->directory[k] != word)
                return "a segment does not have the directory words that its depth calls for";
        }
        const char *fault = sp_segment_fault(index, word);
        if (fault != NULL)
            return fault;
        *n_entries += sp_segment_of(word)->count;
        n_segments++;
        *blocks += sp_pool_block(sp_segment_bytes(sp_segment_log(word)));
        i += step;
    }
    return n_segments == index->n_segments ? NULL : "the number of segments is not what is counted";
}

/* How many numbers have a slot. */
static size_t sp_direct_count(const sp_index *index)
{
    size_t n = 0;
    for (uint32_t number = 0; number < sp_index_numbers(index); number++)
        n += index->direct[number] != SP_SLOT_NULL;
    return n;
}

SP_PRIVATE const char *sp_index_fault(const sp_index *index)
{
    size_t n_entries = 0;
    size_t bytes;
    size_t blocks = index->n_chunks * sp_pool_block(sp_keys_bytes(index));
    const char *fault = NULL;
    sp_key key;
    if (index->lookup != NULL)
        return NULL;
    for (size_t k = 0; k < index->of_keys.copied; k++) {
        if (((sp_key **)index->of_keys.next)[k] != index->keys[k])
            return "the next array of places has another address for a chunk of keys";
    }
    if (index->direct != NULL) {
        n_entries = sp_direct_count(index);
        bytes = sp_index_numbers(index) * sizeof(sp_slot_type);
    } else {
        fault = sp_directory_fault(index, &n_entries, &blocks);
        bytes = (sizeof(uintptr_t) << index->depth) * (index->next == NULL ? 1 : 3);
    }
    if (fault != NULL)
        return fault;
    if (index->n_columns == 0 && n_entries != index->n_slots - SP_SLOTS_RESERVED)
        return "the number of entries is not the number of keys";
    if (index->n_slots > index->max_slots)
        return "there are more slots than max_slots";
    for (sp_slot_type slot = SP_SLOTS_RESERVED; slot < index->n_slots; slot++) {
        key = sp_index_stored(index, slot);
        if (index->bits && key.lo >= sp_index_numbers(index))
            return "a number is larger than any";
        if (sp_index_find(index, &key, sp_index_hash(index, &key)) != slot)
            return "a key is not found in its slot";
        if (sp_index_is_limited(index)
            && sp_index_tag(index, slot)[0] != sp_key_hash(&index->seed, &key) >> 32)
            return "the tag stored with a key is not the key's";
        if (sp_index_is_limited(index) && sp_key_is_long(&key))
            bytes += sp_heap_bytes(sp_key_length(&key));
    }
    bytes += sp_places_bytes(&index->of_keys) + index->n_columns * sizeof(sp_slot_type);
    if (bytes != index->bytes || blocks != index->pool.used || blocks > index->pool.bytes)
        return "the index's count of bytes is not what it holds";
    return NULL;
}
