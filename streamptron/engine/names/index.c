#include "names/index.h"

#include <string.h>

/* The bytes of a chunk of keys, with stamps and tags if there is a ceiling; or of a chunk of
   numbers. */
static size_t sp_keys_bytes(const sp_index *index)
{
    if (index->bits)
        return SP_CHUNK_SLOTS * sizeof(uint32_t);
    return SP_CHUNK_SLOTS
           * (sizeof(sp_key) + (sp_index_is_limited(index) ? 2 * sizeof(uint32_t) : 0));
}

/* Copy the bytes of a long key to be stored. Returns -1 if out of memory. */
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
    sp_tags_free(&index->tags);
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

/* Make the table of slots by number, if there are not too many numbers. -1 if out of memory. */
SP_RARE static int sp_direct_open(sp_index *index)
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
    memset(&index->tags, 0, sizeof(sp_tags));
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
    return index->direct != NULL ? 0 : sp_tags_init(&index->tags, &index->bytes);
}

SP_PRIVATE void sp_index_lend(sp_index *index, sp_lookup *lookup)
{
    index->lookup = lookup;
    if (index->direct != NULL)
        index->bytes -= sp_index_numbers(index) * sizeof(sp_slot_type);
    sp_free(index->direct);
    index->direct = NULL;
}

/* The slot of a number in a hashed index, or the null slot. */
static sp_slot_type sp_number_find(const sp_index *index, uint32_t number)
{
    if (index->lookup != NULL)
        return sp_lookup_place(index->lookup, number);
    if (index->direct != NULL)
        return index->direct[number];
    uint64_t tag = sp_number_tag(number);
    uint64_t entry = *sp_tags_word(&index->tags, sp_tags_from(&index->tags, tag));
    return entry >> 32 == tag ? (sp_slot_type)entry : (sp_slot_type)SP_SLOT_NULL;
}

SP_API sp_slot_type sp_index_find(const sp_index *index, const sp_key *key, uint64_t h)
{
    const uint64_t *entry;
    if (index->bits)
        return sp_number_find(index, sp_number_of(index, h));
    if (index->lookup != NULL)
        return sp_lookup_find(index->lookup, index->n_slots, key, h);
    if (sp_index_is_column(index, key))
        return index->columns[key->lo];
    uint64_t tag = h >> 32;
    size_t at = sp_tags_from(&index->tags, tag);
    while (*(entry = sp_tags_word(&index->tags, at)) != 0 && *entry >> 32 == tag) {
        if (sp_key_equal(sp_index_key(index, (sp_slot_type)*entry), key))
            return (sp_slot_type)*entry;
        at++;
    }
    return SP_SLOT_NULL;
}

/* The slot in the first entry that has a key's tag, or the null slot. */
SP_TEMPLATE sp_slot_type sp_first_entry(const sp_index *index, const sp_key *key, uint64_t h,
                                        const uint64_t *words, uint64_t tag)
{
    if (sp_tags_goes_on(words, tag)) {
        words += SP_TAGS_AT_ONCE;
        if (sp_tags_goes_on(words, tag))
            return sp_index_find(index, key, h);
    }
    return sp_tags_slot(words, tag);
}

/* The two sweeps. `columns`: keys may be columns; `hashed`: they have been hashed already; `many`:
   prefetching pays.

   Prefetched are the keys that entries refer to and, closer to their use, the bytes of long
   keys. */
SP_TEMPLATE void sp_find_all(const sp_index *index, const sp_key *keys, ptrdiff_t n,
                             uint64_t *hashes, const uint64_t **starts, sp_slot_type *slots,
                             const bool columns, const bool hashed, const bool many)
{
    /* copies, as the compiler has to assume that stores to hashes or slots change the index */
    sp_seed seed = index->seed;
    const sp_tags tags = index->tags;
    sp_key **chunks = index->keys;
    uint64_t h;
    const sp_key *key;
    for (ptrdiff_t i = 0; i < n; i++) {
        h = hashed ? hashes[i] : sp_key_hash(&seed, &keys[i]);
        hashes[i] = h;
        starts[i] = sp_tags_word(&tags, sp_tags_home(&tags, h >> 32));
        sp_prefetch(starts[i]);
        sp_prefetch(starts[i] + SP_TAGS_AT_ONCE - 1);
    }
    for (ptrdiff_t i = 0; many && i < n; i++) {
        slots[i] = sp_first_entry(index, &keys[i], hashes[i], starts[i], hashes[i] >> 32);
        sp_prefetch(&chunks[slots[i] >> SP_CHUNK_BITS][slots[i] & SP_CHUNK_MASK]);
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        if (many && i + SP_INDEX_AHEAD < n) {
            sp_slot_type later = slots[i + SP_INDEX_AHEAD];
            key = &chunks[later >> SP_CHUNK_BITS][later & SP_CHUNK_MASK];
            if (sp_key_is_long(key))
                sp_prefetch(sp_key_bytes(key));
        }
        if (columns && sp_index_is_column(index, &keys[i])) {
            slots[i] = index->columns[keys[i].lo];
            continue;
        }
        sp_slot_type slot = many ? slots[i]
                                 : sp_first_entry(index, &keys[i], hashes[i], starts[i],
                                                  hashes[i] >> 32);
        slots[i] = slot;
        key = &chunks[slot >> SP_CHUNK_BITS][slot & SP_CHUNK_MASK];
        /* Both are rare: a tag that matches by chance, and a long key, whose bytes must be
           compared. No key equals the null slot's. */
        if ((((key->hi ^ keys[i].hi) | (key->lo ^ keys[i].lo)) != 0) & (slot != 0)
            && !sp_key_equal(key, &keys[i]))
            slots[i] = sp_index_find(index, &keys[i], hashes[i]);
    }
}

/* The same for columns or many keys, compiled only once. */
SP_APART static void sp_find_rarer(const sp_index *index, const sp_key *keys, ptrdiff_t n,
                                   uint64_t *hashes, const uint64_t **starts, sp_slot_type *slots,
                                   bool columns, bool hashed, bool many)
{
    sp_find_all(index, keys, n, hashes, starts, slots, columns, hashed, many);
}

/* Find the slots of numbers in the direct table. */
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

/* The two sweeps of a hashed index, where tags are unique. */
static void sp_find_numbers(const sp_index *index, const sp_key *keys, ptrdiff_t n,
                            uint64_t *hashes, const uint64_t **starts, sp_slot_type *slots,
                            const bool hashed)
{
    sp_seed seed = index->seed;
    const sp_tags tags = index->tags;
    const int unused = 64 - index->bits;
    for (ptrdiff_t i = 0; i < n; i++) {
        uint64_t h = hashed ? hashes[i] : sp_key_hash(&seed, &keys[i]);
        uint64_t tag = sp_number_tag(SP_SLOTS_RESERVED + (uint32_t)(h >> unused));
        hashes[i] = h;
        starts[i] = sp_tags_word(&tags, sp_tags_home(&tags, tag));
        slots[i] = (uint32_t)tag;
        sp_prefetch(starts[i]);
        sp_prefetch(starts[i] + SP_TAGS_AT_ONCE - 1);
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        uint64_t tag = slots[i];
        slots[i] = sp_first_entry(index, &keys[i], hashes[i], starts[i], tag);
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
    else if (n >= SP_KEYS_AT_ONCE && index->n_slots >= SP_MANY_NAMES)
        sp_find_rarer(index, keys, n, hashes, starts, slots, index->n_columns != 0, hashed, true);
    else if (index->n_columns || SP_SMALL)
        sp_find_rarer(index, keys, n, hashes, starts, slots, index->n_columns && !hashed, hashed,
                      false);
    else
        sp_find_all(index, keys, n, hashes, starts, slots, false, hashed, false);
}

/* Make room for the key of slot n_slots. -1 if out of memory. */
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

/* Store the name of slot n_slots, whose hash is h. -1 if out of memory. */
static int sp_name_keep(sp_index *index, const sp_key *key, uint64_t h)
{
    sp_slot_type slot = index->n_slots;
    sp_key stored = *key;
    if (slot == index->max_slots || sp_keys_reserve(index) < 0)
        return -1;
    if (index->bits)
        *sp_index_number_at(index, slot) = sp_number_of(index, h);
    else if (sp_key_keep(index, &stored) < 0)
        return -1;
    else
        *sp_index_key(index, slot) = stored;
    if (sp_index_is_limited(index))
        *sp_index_tag(index, slot) = (uint32_t)(h >> 32);
    index->n_slots = slot + 1;
    index->generation += 1;
    return 0;
}

SP_API sp_slot_type sp_index_insert(sp_index *index, const sp_key *key, uint64_t h)
{
    sp_slot_type *place = NULL;
    sp_slot_type slot = index->n_slots;
    if (index->direct != NULL)
        place = &index->direct[sp_number_of(index, h)];
    else if (sp_index_is_column(index, key))
        place = &index->columns[key->lo];
    if (place != NULL) {
        if (*place == SP_SLOT_NULL && sp_name_keep(index, key, h) == 0)
            *place = slot;
        return *place;
    }
    uint64_t tag = sp_index_tag_of(index, h);
    if (sp_tags_reserve(&index->tags, &index->pool, &index->bytes) < 0)
        return SP_SLOT_NULL;
    size_t at = sp_tags_from(&index->tags, tag);
    uint64_t entry;
    while ((entry = *sp_tags_word(&index->tags, at)) != 0 && entry >> 32 == tag) {
        if (index->bits || sp_key_equal(sp_index_key(index, (sp_slot_type)entry), key))
            return (sp_slot_type)entry;
        at++;
    }
    if (sp_name_keep(index, key, h) < 0)
        return SP_SLOT_NULL;
    sp_tags_put_at(&index->tags, at, (tag << 32) | slot);
    return slot;
}

SP_RARE SP_PRIVATE int sp_index_expect(sp_index *index, size_t n)
{
    if (index->direct != NULL)
        return 0;
    return sp_tags_expect(&index->tags, &index->pool, n, &index->bytes);
}

SP_HOT int sp_index_replace(sp_index *index, sp_slot_type slot, const sp_key *key, uint64_t h,
                            sp_gone *gone)
{
    sp_key stored = *key;
    uint64_t tag = *sp_index_tag(index, slot);
    if (sp_tags_reserve(&index->tags, &index->pool, &index->bytes) < 0
        || sp_key_keep(index, &stored) < 0)
        return -1;
    sp_prefetch(sp_tags_word(&index->tags, sp_tags_home(&index->tags, tag)));
    gone->entry = (tag << 32) | slot;
    gone->key = *sp_index_key(index, slot);
    *sp_index_key(index, slot) = stored;
    *sp_index_tag(index, slot) = (uint32_t)(h >> 32);
    sp_tags_put(&index->tags, (h >> 32 << 32) | slot);
    index->generation += 1;
    return 0;
}

SP_HOT void sp_index_restore(sp_index *index, const sp_gone *gone, bool forgotten)
{
    sp_slot_type slot = (sp_slot_type)gone->entry;
    uint64_t tag = *sp_index_tag(index, slot);
    sp_tags_take(&index->tags, (tag << 32) | slot);
    sp_index_drop(index, sp_index_key(index, slot));
    if (forgotten)
        sp_tags_put(&index->tags, gone->entry);
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
            sp_tags_take(&index->tags, (tag << 32) | index->n_slots);
        }
        if (sp_index_is_limited(index))
            sp_index_drop(index, key);
    }
    if (!sp_index_is_limited(index))
        sp_arena_rewind(&index->long_keys, mark->long_keys);
}

SP_HOT int sp_index_open_columns(sp_index *index, size_t n)
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

SP_RARE SP_PRIVATE int sp_index_copy(sp_index *to, const sp_index *other)
{
    *to = *other;
    memset(&to->tags, 0, sizeof(sp_tags));
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
    to->n_slots = SP_SLOTS_RESERVED; /* on failure, only the copy's own keys are freed */
    if (sp_direct_open(to) < 0 || (to->direct == NULL
                                   && sp_tags_copy(&to->tags, &other->tags, &to->pool,
                                                   &to->bytes) < 0))
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

/* NULL, or what is wrong: the table must have exactly the keys' entries. */
static const char *sp_entries_fault(const sp_index *index)
{
    for (size_t at = 0; at < index->tags.room; at++) {
        uint64_t entry = *sp_tags_word(&index->tags, at);
        sp_slot_type slot = (sp_slot_type)entry;
        if (entry == 0)
            continue;
        if (slot < SP_SLOTS_RESERVED || slot >= index->n_slots)
            return "an entry has a slot that is not in use";
        if (entry >> 32 != sp_tag_at(index, slot))
            return "an entry's tag is not that of its slot's key";
    }
    return NULL;
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
        n_entries = index->tags.count;
        bytes = 0;
        fault = sp_tags_fault(&index->tags, &blocks, &bytes);
        if (fault == NULL)
            fault = sp_entries_fault(index);
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
