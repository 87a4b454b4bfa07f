/* A learner's names and weights as flat arrays, as in a model file, and back.

   Index and table become a few arrays without addresses, which are written in one pass, and read in
   one pass or used in place. docs/format.md says what each array means in a file.

       weights   float64 [stored slots, width]  slots of the chunks that were written, in order
       chunks    uint32 [., 3]                  (block, chunk, folds) of each of these, rising
       exact:    keys    uint64 [n_slots, 2]    as in names/key.h; lo of a long name: its
                                                offset in texts
                 texts   uint8                  the long names, in the order of their slots
                 lookup  uint32                 to find a key in place, see names/lookup.h
                 stamps  uint32 [n_slots]       under a ceiling, see learner/ceiling.h
       hashed:   rows    uint32                 the stored numbers, rising: 0, 1 and all whose
                                                slots are not zero

   An exact model stores its chunks as they are. A hashed one has its slots in the order of arrival
   in memory, but in the order of their numbers in a file (names/index.h). There a chunk is 256
   numbers, and those are stored whose slots are not zero in some block (by their bits: -0.0 is not
   zero). They are stored in each block in which one of them is not zero. Reading makes slots in the
   order of `rows`. Where the arrays are used in place, a bitmap finds the places of numbers:

       stored[chunk]   1 1 0 0 1 0 ...          number 4 is the chunk's third: rank 2

   Reading trusts nothing. Each number is checked before it is used, and a file that contradicts
   itself is a fault (SP_ARRAYS_...), which the door puts into words. When the arrays are used in
   place (sp_arrays_map), numbers that addresses depend on are checked once for each chunk, and the
   index checks each slot number when it reads it. */

#ifndef STREAMPTRON_TABLE_ARRAYS_H
#define STREAMPTRON_TABLE_ARRAYS_H

#include "names/hash.h"
#include "names/index.h"
#include "names/key.h"
#include "table/table.h"

enum {
    SP_ARRAYS_DEPTH = 100, /* how deeply tuples in names may be nested in a file */
    SP_LOOKUP_BATCH = 64,

    SP_ARRAYS_MEMORY = 1, /* what may be wrong with arrays */
    SP_ARRAYS_KEY = 2,
    SP_ARRAYS_TWICE = 3,
    SP_ARRAYS_TEXTS = 4,
    SP_ARRAYS_SLOT = 5,
    SP_ARRAYS_CHUNK = 6,
    SP_ARRAYS_WEIGHT = 7,
    SP_ARRAYS_NOBODYS = 8,
};

typedef struct sp_arrays {
    size_t n_weights; /* slots */
    size_t n_chunks;
    size_t n_keys; /* n_slots of an exact index; 0: hashed */
    size_t n_texts;
    size_t n_words;
    size_t n_stored; /* stored numbers of a hashed table */
    double *weights;
    uint32_t *chunks;
    sp_key *keys;
    uint8_t *texts;
    uint32_t *words;
    uint32_t *stamps; /* NULL: no ceiling */
    uint32_t *slots;  /* the array `rows` of a file */
    uint64_t *stored; /* the bitmap, for arrays used in place */
    sp_slot_type *rising; /* the slots of `rows`, for writing; NULL: exact */
    sp_seed seed;     /* of the index for which the lookup is filled */
} sp_arrays;

/* Free the bitmap and the slots; the rest belongs to others. */
SP_PRIVATE void sp_arrays_free(sp_arrays *flat);

/* Find out how large the arrays will be. Returns -1 if out of memory. Call sp_arrays_free in either
   case. */
SP_PRIVATE int sp_arrays_measure(sp_arrays *flat, const sp_index *index, const sp_table *table);

/* Fill the arrays, which have the sizes that sp_arrays_measure found. */
SP_PRIVATE void sp_arrays_write(sp_arrays *flat, const sp_index *index, const sp_table *table);

/* The slots of a block among those written, and their number. */
SP_PRIVATE double *sp_arrays_part(const sp_arrays *flat, uint32_t block, size_t *n);

/* Fill the lookup from keys and texts.

   Consecutive words are far apart in memory, so a batch of them is prefetched before the first is
   written. The slots must come in order, since their places depend on it. */
SP_PRIVATE void sp_arrays_lookup(sp_arrays *flat);

/* Whether a model could have stored this key, whose bytes are at `text`. */
SP_PRIVATE bool sp_is_key(const sp_key *key, const uint8_t *text, size_t n_objects, int depth);

/* The same for a key that was read from an index, which knows where its bytes are. */
SP_PRIVATE bool sp_is_stored_key(const sp_key *key, size_t n_objects);

/* 0, or what is wrong with the names. Tuples may be nested up to `depth`. */
SP_PRIVATE int sp_arrays_check_keys(const sp_arrays *flat, size_t n_objects, int depth);

/* The same for an index used in place, whose names have not all been checked. */
SP_PRIVATE int sp_arrays_check_in_place(const sp_index *index, size_t n_objects);

/* Whether a model has a name that sp_arrays_check_keys would refuse: tuples nested too deeply. */
SP_PRIVATE bool sp_arrays_too_deep(const sp_arrays *flat, int depth);

/* Copy the arrays into index and table. 0, or what is wrong. Call sp_arrays_free in either case. */
SP_PRIVATE int sp_arrays_read(sp_arrays *flat, sp_index *index, sp_table *table,
                              ptrdiff_t n_outputs, size_t n_objects, int depth);

/* Let index and table use the arrays in place; see sp_arrays_read.

   The arrays must outlive the learner. Nothing may be learned, as they are not the learner's
   own. */
SP_PRIVATE int sp_arrays_map(sp_arrays *flat, sp_index *index, sp_table *table,
                             ptrdiff_t n_outputs);

#endif
