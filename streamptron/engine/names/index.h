/* The index: key -> slot.

   What it gives: any number of features, compared by value, found in about one cache miss, and no
   feature whose arrival makes all the others move. It costs 16 bytes per key and 13 to 26 bytes of
   table.

   The table is extendible hashing (Fagin, Nievergelt, Pippenger & Strong 1979) over small segments
   of entries (names/segments.h). An entry is 32 bits of the key's hash, the tag, and the slot.

          tag = 1011 0110 ... 1001
                \-/               \__ low bits: where to start in the segment (linear probing)
            top `depth` bits
                 |
       directory v        segment of 1024 words          keys, in chunks of 256
       +-----+
       | 100 |--------->  [ tag | slot ][  0  ][ ... ]
       | 101 |-----+                 |
       | 110 |--+  |                 +-------------->    slot: { "spam" }
       | 111 |--+  +--->  [ tag | slot ] ...
       +-----+  +------>  several directory words may share a segment

   When a segment is five eighths full, that segment alone splits in two, by the next bit of its
   tags; the keys themselves are not read. How full the segments are varies around the mean, so the
   splits of a growing table are spread over many events. While the model is small there is one
   segment, which doubles from 16 words to 1024.

   Nor does the directory double in one go, which at 35 million features would be 1 MB of new
   memory. When a segment first gets a directory word of its own, the next directory is begun. Each
   split copies SP_DIRECTORY_STEP words into it, and every change is made in both. The next
   directory is needed when such a segment is full again. By then there are about twice as many
   features, and it has long been complete. Only tags that are alike on purpose come sooner; then
   the rest is copied at once.

   An event is looked up in two sweeps, so that the latency of memory is paid once and not once per
   feature. The first hashes all keys and prefetches where their searches start. The second reads
   the entries and compares the keys they refer to. Most searches end at the first or the second
   word.

   Columns of a matrix are small ints, and are not hashed at all: after sp_index_open_columns, the
   slot of the int j < n_columns is columns[j], at 4 bytes per column. Ints that had entries before
   keep them, and are not searched for any more.

   Hashed mode (bits > 0): no keys. A name has a number, 2 + the top `bits` bits of its hash, and
   names of one number share a slot. Slots are in the order of arrival here too, so that weights
   cost what has come, and not what might. Up to 2^18 numbers find their slots in an array, by
   number: a megabyte at most, of which the system gives the pages that are touched. More of them
   are found in the table, as keys are. A tag is a number then, mixed in a way that can be turned
   back, so nothing need be compared. In the place of keys are the numbers, four bytes a slot.
   Files, deltas and digests speak of numbers alone, and have them in their order (names/rising.h).

   Under a ceiling (sp_index_is_limited) there are at most max_slots of them. A full index stores a
   new key only in place of an old one (sp_index_replace), so no slot is ever free. Which key goes
   is decided elsewhere, with the help of a stamp for each slot: four bytes, after the chunk's keys.
   After the stamps are the keys' tags, so that a key that goes need not be hashed. Its entry is
   cold in memory. It is prefetched, and sp_index_forget removes it from its segment later, and
   moves up what was behind it in the search. Until then it does no harm: whoever finds it compares
   the key, and that is the new one. Long keys are single blocks from the heap, since they go back
   one by one. There are no columns, which would stay forever.

   An event that runs out of memory half way undoes what it has done: the slots beyond a mark
   (sp_index_rewind), and the keys that went (sp_index_restore). So the bytes of those keys are kept
   until the event has succeeded (sp_index_drop).

   An index may also lie in a file that is mapped into memory. There it can be read, but it does not
   grow (names/lookup.h reads it; whole/flat.h sets it up).

   A whole index at once: copied, checked. Rare: a model is copied, or the tests look for a
   fault. */

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
#include "names/segments.h"

enum {
    SP_SEGMENT_LOG_MIN = 4,
    SP_SEGMENT_LOG_SPLIT = 10, /* 1024 words, 8 KiB: splits rather than grows */
    SP_SEGMENT_LOG_MAX = 24,
    SP_DIRECTORY_SLACK = 4,  /* log2 of directory words per segment, before segments grow */
    SP_DIRECTORY_STEP = 256, /* words that a split copies into the next directory */

    SP_MANY = 128,       /* keys of an event from which looking ahead pays */
    SP_DIRECT_BITS = 18,
    SP_INDEX_AHEAD = 16, /* and how far: a key's bytes, and twice this its key */
};

/* what a slot of a limited index was before the current event */
typedef struct sp_gone {
    uint64_t entry; /* as in its segment */
    sp_key key;     /* zero: the slot has kept its key */
    uint32_t stamp;
} sp_gone;

/* how far it was filled */
typedef struct sp_index_point {
    sp_slot_type n_slots;
    sp_arena_point long_keys;
} sp_index_point;

typedef struct sp_index {
    int bits;  /* 0: exact; else hashed: log2 of how many numbers there are */
    int depth; /* log2 of the directory's length */
    sp_seed seed;
    uint64_t seed_number;
    sp_slot_type n_slots;   /* slots in use, the reserved ones included */
    sp_slot_type max_slots; /* SP_SLOT_MAX: no ceiling */
    uint64_t generation;    /* counts changes of what is in which slot */
    uint32_t n_segments;
    uint32_t n_chunks; /* of keys */
    uintptr_t *directory;
    uintptr_t *next;       /* the directory of twice the length, or NULL */
    size_t n_copied;       /* words of the directory that are in the next one */
    sp_key **keys;         /* chunks of keys by slot; hashed: of numbers */
    sp_places of_keys;     /* the growth of this array */
    sp_slot_type *direct;  /* hashed: slots by number; NULL: there are too many numbers */
    sp_slot_type *columns; /* slots of the ints below n_columns */
    size_t n_columns;
    sp_arena long_keys;
    sp_lookup *lookup; /* NULL: the index is in memory of its own */
    sp_pool pool;      /* of segments and keys */
    size_t bytes;      /* what the index holds from the heap, without pool and arena */
} sp_index;

static inline uintptr_t sp_index_segment(const sp_index *index, uint64_t tag)
{
    return index->directory[tag >> (32 - index->depth)];
}

static inline sp_key *sp_index_key(const sp_index *index, sp_slot_type slot)
{
    return &index->keys[slot >> SP_CHUNK_BITS][slot & SP_CHUNK_MASK];
}

/* Hashed: how many numbers there are, the reserved slots' own included. */
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

/* What an entry of the table says of a hash. */
static inline uint64_t sp_index_tag_of(const sp_index *index, uint64_t h)
{
    return index->bits ? sp_number_tag(sp_number_of(index, h)) : h >> 32;
}

/* Where the number of a slot of a hashed index in memory is kept. */
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

/* What stands for a slot in a file: its number if the index is hashed. */
static inline uint32_t sp_index_number(const sp_index *index, sp_slot_type slot)
{
    if (index->bits == 0 || slot < SP_SLOTS_RESERVED)
        return slot;
    if (index->lookup != NULL)
        return sp_lookup_number(index->lookup, slot, sp_index_numbers(index));
    return *sp_index_number_at(index, slot);
}

/* A slot's key, in memory or in a file; one that nothing equals if the file is damaged.

   Hashed: an int, the number. */
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

/* The key of the slot whose weights are there. */
static inline sp_key sp_index_placed(const sp_index *index, sp_slot_type place)
{
    if (index->bits && index->lookup != NULL)
        return sp_key_word(SP_KEY_INT, sp_lookup_number_at(index->lookup, place));
    return sp_index_stored(index, place);
}

SP_API void sp_index_free(sp_index *index);

/* bits = 0 for the exact index, max_features = 0 for no ceiling. Returns -1 without memory. */
SP_API int sp_index_init(sp_index *index, int bits, uint64_t seed_number,
                         sp_slot_type max_features);

/* Use names that lie in a file from now on, in place. An empty index. */
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

/* A new slot for a key that is not there; the null slot if memory or slots run out. */
SP_API sp_slot_type sp_index_insert(sp_index *index, const sp_key *key, uint64_t h);

/* Give a slot of a limited index to a key that is not there; -1 without memory.

   The entry of the old key is still to be removed (sp_index_forget). */
SP_PRIVATE int sp_index_replace(sp_index *index, sp_slot_type slot, const sp_key *key, uint64_t h,
                                sp_gone *gone);

/* Remove the entry of a key that has gone. */
static inline void sp_index_forget(sp_index *index, const sp_gone *gone)
{
    sp_segment_take(sp_index_segment(index, gone->entry >> 32), gone->entry);
}

/* Give the slot that was replaced last its old key; `forgotten`: its entry was removed. */
SP_PRIVATE void sp_index_restore(sp_index *index, const sp_gone *gone, bool forgotten);

static inline sp_index_point sp_index_mark(const sp_index *index)
{
    sp_index_point mark;
    mark.n_slots = index->n_slots;
    mark.long_keys = sp_arena_mark(&index->long_keys);
    return mark;
}

/* Remove the keys that were inserted after the mark. The room made for them stays. */
SP_PRIVATE void sp_index_rewind(sp_index *index, const sp_index_point *mark);

/* From now on find the ints below n without hashing. Returns -1 without memory. */
SP_PRIVATE int sp_index_open_columns(sp_index *index, size_t n);

/* A second index with the same slots. -1 without memory. Call index_free in either case. */
SP_PRIVATE int sp_index_copy(sp_index *to, const sp_index *other);

/* What is wrong with an index, or NULL. For the tests: it checks everything. */
SP_PRIVATE const char *sp_index_fault(const sp_index *index);

#endif
