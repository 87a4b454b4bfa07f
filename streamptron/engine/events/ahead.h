/* Texts that are turned into events before their turn comes, perhaps by another thread.

   Splitting a text and hashing its words takes about as long as learning it, and needs nothing from
   the model but the seed of its hash. So one thread writes the texts of a block as events while
   another one learns those of the block before. The same words occur again and again in a block, so
   each is stored once:

       rows    0, 2   2, 3     5, 2        of each text: where its entries begin, how many
       words   0  1   0  2  3  1  3        by entry: which word it is
       values  1  1   2  1  1  1  3

       keys    a  b  c  d                  by word, with hashes; slots once looked up

   Taking a row copies its entries into the event in scratch, which is then what sp_text_write would
   have made of the text. When the texts are learned, each word of the block is looked up in the
   index once, and again only if it was not found: a word that has a slot keeps it, unless there is
   a ceiling. Only words without a slot are then copied with their names.

   A row that could not be written for lack of memory is left out: its text is written when its turn
   comes.

   The door that owns the texts writes each as an event (sp_text_write) and puts it here. */

#ifndef STREAMPTRON_EVENTS_AHEAD_H
#define STREAMPTRON_EVENTS_AHEAD_H

#include "events/event.h"
#include "memory/arena.h"
#include "memory/types.h"
#include "names/index.h"
#include "names/key.h"

#include <string.h>

enum {
    SP_ENTRIES_A_ROW = 8,  /* for which there is room at first */
    SP_WORDS_LEAST = 1024, /* a power of two */
    SP_WORDS_AT_ONCE = 64, /* looked up at a time */
};

typedef struct sp_ahead_span {
    ptrdiff_t first, n;
} sp_ahead_span;

typedef struct sp_ahead {
    sp_ahead_span *rows;
    ptrdiff_t n_rows; /* written so far */
    double *values;   /* with words in one block of memory */
    uint32_t *words;
    ptrdiff_t n;
    ptrdiff_t capacity;
    /* by word */
    sp_key *keys; /* with all below in one block of memory */
    uint64_t *hashes;
    sp_slot_type *slots; /* the null slot: not known */
    uint64_t *table;     /* of twice the capacity: a hash's upper half, and 1 + the word */
    size_t n_words;
    size_t words_capacity;
    bool asked;           /* their slots have been looked up in the index of the current batch */
    sp_arena text;        /* the bytes of long keys */
    uint64_t seed_number; /* of the hash */
    size_t n_replaced;    /* as text_write counts them */
} sp_ahead;

static inline void sp_ahead_init(sp_ahead *ahead)
{
    memset(ahead, 0, sizeof(sp_ahead));
    sp_arena_init(&ahead->text);
}

SP_API void sp_ahead_free(sp_ahead *ahead);

/* Room for n_rows rows, hashed with this seed. -1 if out of memory. */
SP_API int sp_ahead_begin(sp_ahead *ahead, uint64_t seed_number, ptrdiff_t n_rows);

/* Keep a written text as the next row. -1 if out of memory. */
SP_API int sp_ahead_put(sp_ahead *ahead, const sp_event *event);

/* Whether row r has been written, with the seed of this index. */
static inline bool sp_ahead_has(const sp_ahead *ahead, const sp_index *index, ptrdiff_t r)
{
    return r < ahead->n_rows && ahead->seed_number == index->seed_number;
}

/* Row r as an event, as text_write makes it. -1 if out of memory.

   `asking`: with slots, and with names only where there are none. Only for the thread that
   learns. */
SP_HOT int sp_ahead_take(sp_ahead *ahead, ptrdiff_t r, sp_event *event, const sp_index *index,
                         bool intercept, bool asking);

/* Take row r out, so that those behind it move up. */
static inline void sp_ahead_leave_out(sp_ahead *ahead, ptrdiff_t r)
{
    if (r < ahead->n_rows) {
        ahead->n_rows -= 1;
        memmove(ahead->rows + r, ahead->rows + r + 1,
                ((size_t)(ahead->n_rows - r)) * sizeof(sp_ahead_span));
    }
}

#endif
