#include "events/ahead.h"

#include "memory/heap.h"

#include <string.h>

SP_API void sp_ahead_free(sp_ahead *ahead)
{
    sp_free(ahead->rows);
    sp_free(ahead->values); /* `words` is in this block, too */
    sp_free(ahead->keys);   /* also all other arrays by word */
    sp_arena_free(&ahead->text);
    memset(ahead, 0, sizeof(sp_ahead));
}

/* Room for n more entries. -1 if out of memory. */
static int sp_ahead_reserve(sp_ahead *ahead, ptrdiff_t n)
{
    ptrdiff_t capacity = ahead->n + n;
    sp_ahead old = *ahead;
    if (capacity <= ahead->capacity)
        return 0;
    capacity += capacity / 2;
    ahead->values = (double *)sp_malloc((size_t)capacity
                                        * (sizeof(double) + sizeof(uint32_t)));
    if (ahead->values == NULL) {
        ahead->values = old.values;
        return -1;
    }
    ahead->words = (uint32_t *)(ahead->values + capacity);
    ahead->capacity = capacity;
    if (old.n) {
        memcpy(ahead->values, old.values, (size_t)old.n * sizeof(double));
        memcpy(ahead->words, old.words, (size_t)old.n * sizeof(uint32_t));
    }
    sp_free(old.values);
    return 0;
}

/* Room for one more word. -1 if out of memory. */
static int sp_words_reserve(sp_ahead *ahead)
{
    sp_ahead old = *ahead;
    size_t capacity = SP_MAX(2 * old.words_capacity, (size_t)SP_WORDS_LEAST);
    size_t mask = 2 * capacity - 1;
    if (ahead->n_words < ahead->words_capacity)
        return 0;
    ahead->keys = (sp_key *)sp_calloc(capacity,
                                      sizeof(sp_key) + 3 * sizeof(uint64_t) + sizeof(sp_slot_type));
    if (ahead->keys == NULL) {
        ahead->keys = old.keys;
        return -1;
    }
    ahead->hashes = (uint64_t *)(ahead->keys + capacity);
    ahead->table = ahead->hashes + capacity;
    ahead->slots = (sp_slot_type *)(ahead->table + 2 * capacity);
    ahead->words_capacity = capacity;
    if (old.n_words) {
        memcpy(ahead->keys, old.keys, old.n_words * sizeof(sp_key));
        memcpy(ahead->hashes, old.hashes, old.n_words * sizeof(uint64_t));
    }
    for (size_t word = 0; word < old.n_words; word++) {
        size_t at = (size_t)ahead->hashes[word] & mask;
        while (ahead->table[at])
            at = (at + 1) & mask;
        ahead->table[at] = (ahead->hashes[word] >> 32 << 32) | (word + 1);
    }
    sp_free(old.keys);
    return 0;
}

/* The number of a word, which may be new. -1 if out of memory. */
static int sp_ahead_word(sp_ahead *ahead, const sp_key *key, uint64_t h, uint32_t *word)
{
    sp_key *kept;
    uint8_t *held;
    if (sp_words_reserve(ahead) < 0)
        return -1;
    size_t mask = 2 * ahead->words_capacity - 1;
    size_t at = (size_t)h & mask;
    while (ahead->table[at]) {
        *word = (uint32_t)ahead->table[at] - 1;
        if (ahead->table[at] >> 32 == h >> 32 && sp_key_equal(&ahead->keys[*word], key))
            return 0;
        at = (at + 1) & mask;
    }
    *word = (uint32_t)ahead->n_words;
    kept = &ahead->keys[*word];
    *kept = *key;
    if (sp_key_is_long(key)) {
        held = sp_arena_copy(&ahead->text, (const uint8_t *)(uintptr_t)key->lo, sp_key_length(key));
        if (held == NULL)
            return -1;
        kept->lo = (uintptr_t)held;
    }
    ahead->hashes[*word] = h;
    ahead->table[at] = (h >> 32 << 32) | (*word + 1);
    ahead->n_words += 1;
    return 0;
}

SP_API int sp_ahead_begin(sp_ahead *ahead, uint64_t seed_number, ptrdiff_t n_rows)
{
    if (ahead->rows == NULL) {
        ahead->rows = (sp_ahead_span *)sp_malloc(((size_t)(n_rows + 1))
                                                 * sizeof(sp_ahead_span));
        if (ahead->rows == NULL)
            return -1;
        ahead->seed_number = seed_number;
    }
    return sp_ahead_reserve(ahead, SP_ENTRIES_A_ROW * n_rows);
}

SP_API int sp_ahead_put(sp_ahead *ahead, const sp_event *event)
{
    ptrdiff_t at = ahead->n;
    if (sp_ahead_reserve(ahead, event->n) < 0)
        return -1;
    for (ptrdiff_t i = 0, end = event->n; i < end; i++) {
        if (sp_ahead_word(ahead, &event->keys[i], event->hashes[i], &ahead->words[at + i]) < 0)
            return -1;
        ahead->values[at + i] = event->values[i];
    }
    ahead->rows[ahead->n_rows].first = at;
    ahead->rows[ahead->n_rows].n = event->n;
    ahead->n_rows += 1;
    ahead->n += event->n;
    return 0;
}

/* Look up the slot of each word. The slots found must stay valid. */
static void sp_ahead_ask(sp_ahead *ahead, const sp_index *index)
{
    const uint64_t *starts[SP_WORDS_AT_ONCE];
    size_t word = 0;
    while (word < ahead->n_words) {
        ptrdiff_t n = (ptrdiff_t)SP_MIN((size_t)SP_WORDS_AT_ONCE, ahead->n_words - word);
        sp_index_find_all(index, ahead->keys + word, n, ahead->hashes + word, starts,
                          ahead->slots + word, true);
        word += (size_t)n;
    }
    ahead->asked = true;
}

/* Take words with names and hashes, whose slots will be looked up later. */
static void sp_take_words(const sp_ahead *ahead, const uint32_t *words, ptrdiff_t n,
                          sp_event *event)
{
    ptrdiff_t at = event->n;
    for (ptrdiff_t i = 0; i < n; i++) {
        event->keys[at + i] = ahead->keys[words[i]];
        event->hashes[at + i] = ahead->hashes[words[i]];
    }
    event->n_found = at;
    event->n_hashed = at + n;
}

/* Take words with their slots; those without one with their names and hashes. */
static void sp_take_slots(sp_ahead *ahead, const uint32_t *words, ptrdiff_t n, sp_event *event,
                          const sp_index *index)
{
    ptrdiff_t at = event->n;
    sp_slot_type *slots = event->slots + at;
    bool missing = false;
    for (ptrdiff_t i = 0; i < n; i++) {
        slots[i] = ahead->slots[words[i]];
        missing |= slots[i] == SP_SLOT_NULL;
    }
    event->n_found = at + n;
    if (!missing)
        return;
    for (ptrdiff_t i = 0; i < n; i++) {
        if (slots[i] == SP_SLOT_NULL) {
            event->keys[at + i] = ahead->keys[words[i]];
            event->hashes[at + i] = ahead->hashes[words[i]];
            slots[i] = sp_index_find(index, &event->keys[at + i], event->hashes[at + i]);
            ahead->slots[words[i]] = slots[i];
        }
    }
}

SP_HOT int sp_ahead_take(sp_ahead *ahead, ptrdiff_t r, sp_event *event, const sp_index *index,
                         bool intercept, bool asking)
{
    ptrdiff_t first = ahead->rows[r].first;
    ptrdiff_t n = ahead->rows[r].n;
    if (sp_event_begin(event, index, n, intercept) < 0)
        return -1;
    event->scored_version = 0;
    if (asking && !sp_index_is_limited(index)) {
        if (!ahead->asked)
            sp_ahead_ask(ahead, index);
        sp_take_slots(ahead, ahead->words + first, n, event, index);
    } else
        sp_take_words(ahead, ahead->words + first, n, event);
    if (n)
        memcpy(event->values + event->n, ahead->values + first, (size_t)n * sizeof(double));
    event->n += n;
    return 0;
}
