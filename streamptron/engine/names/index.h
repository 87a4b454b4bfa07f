/* The index: key -> slot.

   It holds any number of features, compares them by value, and finds one in about one cache miss.
   No new feature ever makes all the others move. A key costs 16 bytes, and 12 to 15 bytes of table.

   The table (names/tags.h) has an entry per key: 32 bits of the key's hash, the tag, and the slot.
   Entries are in the order of their tags. Where words are taken, an entry is a little further on
   than its tag says.

       tags, the largest first                                 keys, in chunks of 256
       [ tag | slot ][  0  ][ tag | slot ][ tag | slot ] ...
                 |
                 +-------------------------------------------> slot: { "spam" }

   It grows in place, a little at a time, as keys come. The keys themselves are not read for that.

   An event is looked up in two sweeps, so that the latency of memory is paid once, not once per
   feature. The first hashes all keys and prefetches where their searches start. The second reads
   the entries and compares the keys they refer to. Nineteen searches in twenty end within the four
   words that are compared together. A long event's keys are prefetched between the two.

   Columns of a matrix are small ints, and are not hashed at all: after sp_index_open_columns, the
   slot of the int j < n_columns is columns[j], at 4 bytes per column. Ints that had entries before
   keep them, but the index does not read these any more.

   Hashed mode (bits > 0): no keys. A name has a number, 2 + the top `bits` bits of its hash, and
   names with the same number share a slot. Slots are in the order of arrival here, too, so that
   only features that have come take memory for weights. With up to 2^18 numbers, an array has the
   slot of each number: a megabyte at most, of which only the pages that are touched take memory.
   With more, the table finds them, as it finds keys. A tag is then a number, mixed in a way that
   can be reversed, so nothing need be compared. Instead of keys, the numbers are stored, four bytes
   a slot. Files, deltas and digests have only numbers, in rising order (names/rising.h).

   Under a ceiling (sp_index_is_limited) there are at most max_slots slots. A full index stores a
   new key only in place of an old one (sp_index_replace), so no slot is ever free. Which key goes
   is decided elsewhere, with the help of a stamp for each slot: four bytes, after the chunk's keys.
   After the stamps come the keys' tags, so that a key that goes need not be hashed. Its entry in
   the table is cold in memory. So it is prefetched, and sp_index_forget removes it later and moves
   up what was behind it in the search. Until then it does no harm: a search that finds it compares
   the slot's key, which is the new one. Long keys are single blocks from the heap, since they are
   freed one by one. There are no columns, which would stay forever.

   If an event runs out of memory half way, its changes are undone: slots beyond a mark are removed
   (sp_index_rewind), and keys that went come back (sp_index_restore). So the bytes of those keys
   are kept until the event has succeeded (sp_index_drop).

   An index may also be in a mapped file. There it can be read, but does not grow (names/lookup.h
   reads it; table/arrays.h sets it up).

   The functions that copy or check a whole index are rarely called: when a model is copied, or when
   tests look for a fault. */

#ifndef STREAMPTRON_NAMES_INDEX_H
#define STREAMPTRON_NAMES_INDEX_H

#include "memory/arena.h"
#include "memory/compiler.h"
#include "memory/heap.h"
#include "memory/places.h"
#include "memory/pool.h"
#include "memory/types.h"
#include "names/hash.h"
#include "names/key.h"
#include "names/lookup.h"
#include "names/tags.h"

enum {
    SP_KEYS_AT_ONCE = 128,         /* looking ahead pays for events of so many keys */
    SP_MANY_NAMES = 32768, /* and in an index of so many names, beyond the nearest cache */
    SP_DIRECT_BITS = 18,
    SP_INDEX_AHEAD = 16,   /* how far ahead: the bytes of long keys */
};

/* what a slot of a limited index was before the current event */
typedef struct sp_gone {
    uint64_t entry; /* as in the table */
    sp_key key;     /* zero: the slot has kept its key */
    uint32_t stamp;
} sp_gone;

/* how far an index was filled */
typedef struct sp_index_point {
    sp_slot_type n_slots;
    sp_arena_point long_keys;
} sp_index_point;

typedef struct sp_index {
    int bits; /* 0: exact; else hashed: log2 of how many numbers there are */
    sp_seed seed;
    uint64_t seed_number;
    sp_slot_type n_slots;   /* slots in use, the reserved ones included */
    sp_slot_type max_slots; /* SP_SLOT_MAX: no ceiling */
    uint64_t generation;    /* counts changes of what is in which slot */
    uint32_t n_chunks;      /* of keys */
    sp_tags tags;          /* unless slots are found by number */
    sp_key **keys;         /* chunks of keys by slot; hashed: of numbers */
    sp_places of_keys;     /* the growth of this array */
    sp_slot_type *direct;  /* hashed: slots by number; NULL: there are too many numbers */
    sp_slot_type *columns; /* slots of the ints below n_columns */
    size_t n_columns;
    sp_arena long_keys;
    sp_lookup *lookup; /* NULL: the index is in memory of its own */
    sp_pool pool;      /* of keys and a large table's runs */
    size_t bytes;      /* taken from the heap, without pool and arena */
} sp_index;

static inline sp_key *sp_index_key(const sp_index *index, sp_slot_type slot)
{
    return &index->keys[slot >> SP_CHUNK_BITS][slot & SP_CHUNK_MASK];
}

/* Hashed: how many numbers there are, including those of the reserved slots. */
static inline uint32_t sp_index_numbers(const sp_index *index)
{
    return SP_SLOTS_RESERVED + ((uint32_t)1 << index->bits);
}

/* Hashed: the number of a name whose hash is h, and a hash of that number. */
static inline uint32_t sp_number_of(const sp_index *index, uint64_t h)
{
    return SP_SLOTS_RESERVED + (uint32_t)(h >> (64 - index->bits));
}

static inline uint64_t sp_number_hash(const sp_index *index, uint32_t number)
{
    return (uint64_t)(number - SP_SLOTS_RESERVED) << (64 - index->bits);
}

/* The tag of a number. The factor is odd, so each number has a tag of its own. */
static inline uint64_t sp_number_tag(uint32_t number)
{
    return number * (uint32_t)0x9E3779B1;
}

/* The tag of a hash, as in the table's entries. */
static inline uint64_t sp_index_tag_of(const sp_index *index, uint64_t h)
{
    return index->bits ? sp_number_tag(sp_number_of(index, h)) : h >> 32;
}

/* Where a hashed index in memory keeps the number of a slot. */
static inline uint32_t *sp_index_number_at(const sp_index *index, sp_slot_type slot)
{
    return (uint32_t *)(void *)index->keys[slot >> SP_CHUNK_BITS] + (slot & SP_CHUNK_MASK);
}

static inline bool sp_index_is_limited(const sp_index *index)
{
    return index->max_slots != SP_SLOT_MAX;
}

/* The stamp of a slot of a limited index. */
static inline uint32_t *sp_index_stamp(const sp_index *index, sp_slot_type slot)
{
    return (uint32_t *)(index->keys[slot >> SP_CHUNK_BITS] + SP_CHUNK_SLOTS)
           + (slot & SP_CHUNK_MASK);
}

/* The tag of the key of a slot of a limited index. */
static inline uint32_t *sp_index_tag(const sp_index *index, sp_slot_type slot)
{
    return sp_index_stamp(index, slot) + SP_CHUNK_SLOTS;
}

/* Free the bytes of a long key of a limited index. */
static inline void sp_index_drop(sp_index *index, const sp_key *key)
{
    if (sp_key_is_long(key)) {
        index->bytes -= sp_heap_bytes(sp_key_length(key));
        sp_free((void *)sp_key_bytes(key));
    }
}

/* What represents a slot in a file: its number if the index is hashed. */
static inline uint32_t sp_index_number(const sp_index *index, sp_slot_type slot)
{
    if (index->bits == 0 || slot < SP_SLOTS_RESERVED)
        return slot;
    if (index->lookup != NULL)
        return sp_lookup_number(index->lookup, slot, sp_index_numbers(index));
    return *sp_index_number_at(index, slot);
}

/* A slot's key, in memory or in a file; if the file is damaged, a key that equals no other.

   Hashed: the number, as an int. */
SP_API sp_key sp_index_stored(const sp_index *index, sp_slot_type slot);

/* The hash of such a key. */
static inline uint64_t sp_index_hash(const sp_index *index, const sp_key *key)
{
    return index->bits ? sp_number_hash(index, (uint32_t)key->lo) : sp_key_hash(&index->seed, key);
}

/* Where the weights of a slot are: at the slot itself, except in a hashed table in a file. There
   sp_index_find gives the place, and slots are counted in the order of their numbers. */
static inline sp_slot_type sp_index_place(const sp_index *index, sp_slot_type slot)
{
    return index->bits == 0 || index->lookup == NULL
               ? slot
               : sp_lookup_place(index->lookup, sp_index_number(index, slot));
}

/* The key of the slot whose weights are at a place. */
static inline sp_key sp_index_placed(const sp_index *index, sp_slot_type place)
{
    if (index->bits && index->lookup != NULL)
        return sp_key_word(SP_KEY_INT, sp_lookup_number_at(index->lookup, place));
    return sp_index_stored(index, place);
}

SP_API void sp_index_free(sp_index *index);

/* max_features; 0: no ceiling. */
static inline sp_slot_type sp_index_ceiling(const sp_index *index)
{
    return index->max_slots == SP_SLOT_MAX ? 0 : index->max_slots - SP_SLOTS_RESERVED;
}

/* bits = 0 for the exact index, max_features = 0 for no ceiling. Returns -1 if out of memory. */
SP_API int sp_index_init(sp_index *index, int bits, uint64_t seed_number,
                         sp_slot_type max_features);

/* From now on, use the names of a file in place. The index must be empty. */
SP_PRIVATE void sp_index_lend(sp_index *index, sp_lookup *lookup);

/* Whether the key is an int whose slot is in index.columns. */
static inline bool sp_index_is_column(const sp_index *index, const sp_key *key)
{
    return key->lo < index->n_columns && key->hi == (((uint64_t)SP_KEY_INT << 4) | 8);
}

/* The slot of a key whose hash is h, or the null slot. */
SP_API sp_slot_type sp_index_find(const sp_index *index, const sp_key *key, uint64_t h);

/* For each of n keys: its hash, unless they are `hashed`, and its slot or the null slot. */
SP_PRIVATE void sp_index_find_all(const sp_index *index, const sp_key *keys, ptrdiff_t n,
                                  uint64_t *hashes, const uint64_t **starts, sp_slot_type *slots,
                                  bool hashed);

/* The slot of a key, which gets a new one if it has none; the null slot if memory or slots run
   out. */
SP_API sp_slot_type sp_index_insert(sp_index *index, const sp_key *key, uint64_t h);

/* Make the table ready for n more names, so that it need not grow with each of them. -1 if out of
   memory; in either case slots in use stay as they are. */
SP_PRIVATE int sp_index_expect(sp_index *index, size_t n);

/* Prefetch the place where the name with this hash is going to be inserted. */
static inline void sp_index_prefetch(const sp_index *index, uint64_t h)
{
    if (index->bits == 0)
        sp_prefetch(sp_tags_word(&index->tags, sp_tags_home(&index->tags, h >> 32)));
}

/* Give a slot of a limited index to a key that is not there; -1 if out of memory.

   The entry of the old key still has to be removed (sp_index_forget). */
SP_HOT int sp_index_replace(sp_index *index, sp_slot_type slot, const sp_key *key, uint64_t h,
                            sp_gone *gone);

/* Remove the entry of a key that has gone. */
static inline void sp_index_forget(sp_index *index, const sp_gone *gone)
{
    sp_tags_take(&index->tags, gone->entry);
}

/* Give the slot whose key was replaced last its old key; `forgotten`: the old entry was removed. */
SP_HOT void sp_index_restore(sp_index *index, const sp_gone *gone, bool forgotten);

static inline sp_index_point sp_index_savepoint(const sp_index *index)
{
    sp_index_point mark;
    mark.n_slots = index->n_slots;
    mark.long_keys = sp_arena_savepoint(&index->long_keys);
    return mark;
}

/* Remove the keys that were inserted after the mark. The room made for them stays. */
SP_PRIVATE void sp_index_rewind(sp_index *index, const sp_index_point *mark);

/* From now on find the ints below n without hashing. Returns -1 if out of memory. */
SP_HOT int sp_index_open_columns(sp_index *index, size_t n);

/* A second index with the same slots. -1 if out of memory. Call index_free in either case. */
SP_PRIVATE int sp_index_copy(sp_index *to, const sp_index *other);

/* What is wrong with an index, or NULL. For the tests: it checks everything. */
SP_PRIVATE const char *sp_index_fault(const sp_index *index);

#endif
