/* A text to an event.

       "Free  Wi-Fi: Écris!"
          | scan      lower case, and a bit for each byte: does it belong to a word?
          v
       bytes   f r e e     w i - f i :   é   c r i s !
       bits    1 1 1 1 0 0 1 1 0 1 1 0 0 1 1 1 1 1 1 0
          | words     where the bits change; numbers and addresses are folded; words that are too
          v           short or too long are left out
       words   free  wi  fi  écris
          | tokens    n-grams of words or of characters, each a key like any other name
          v
       keys[]  values[]  hashes[]    each token once, in order of first occurrence

   Characters are read by names/scan.h.

   In the everyday case (ASCII, single words, nothing folded) tokens are taken straight from the
   edges of words (sp_tokens_plain). Each is counted by events/tally.h.

   The rules are those of Tokenizer's docstring; tests/twin/text.py is the plain twin. */

#ifndef STREAMPTRON_EVENTS_TEXT_H
#define STREAMPTRON_EVENTS_TEXT_H

#include "events/event.h"
#include "events/mail.h"
#include "events/tally.h"
#include "names/hash.h"
#include "names/index.h"
#include "names/key.h"
#include "names/scan.h"

enum {
    SP_TEXT_WORDS = 0,
    SP_TEXT_CHARACTERS = 1,
    SP_TEXT_MAIL = 2, /* see events/mail.h */

    SP_VALUE_PRESENCE = 0,
    SP_VALUE_COUNT = 1,
    SP_VALUE_LOG = 2,

    SP_FOLDED_NUMBER = 16, /* where a word starts in FOLDED */
    SP_FOLDED_HEX = 32,
    SP_FOLDED_ADDRESS = 48,

    SP_TEXT_LARGE = 1 << 13, /* bytes of a text: scratch for so many is kept, */
    SP_SCRATCH_MOST = 256,   /* scratch that is kept, in bytes for each byte of text */
    SP_SPARE = 32,           /* bytes that may be written or read past the end of a text */
};

typedef struct sp_text_rule {
    int analyzer;
    int low, high; /* n of the n-grams */
    sp_characters characters;
    bool fold;
    size_t shortest, longest; /* of words, in characters */
    int value;
    bool l2;
    sp_mail_rule mail;
} sp_text_rule;

typedef struct sp_word {
    const uint8_t *p; /* the sixteen bytes before it may be read, too */
    size_t n;
} sp_word;

typedef struct sp_text_part {
    /* The words of one piece; for SP_TEXT_CHARACTERS the whole piece as one word. */
    ptrdiff_t first, last;
    const sp_piece *prefix;
} sp_text_part;

typedef struct sp_text {
    /* Scratch for the texts of an event. The bytes that keys point to are in the event's arena. */
    uint64_t *bits;
    size_t bits_capacity;
    uint32_t *edges;
    size_t edges_capacity;
    const uint8_t *plain; /* a text that needs only its edges; NULL: see words */
    ptrdiff_t n_edges;
    sp_word *words;
    ptrdiff_t n_words;
    size_t words_capacity;
    sp_text_part *parts;
    ptrdiff_t n_parts;
    size_t parts_capacity;
    sp_buckets buckets;
    sp_mail mail;
    size_t n_bytes;          /* of the event's texts */
    size_t n_replaced;       /* bad sequences that scan has replaced so far */
} sp_text;

SP_API void sp_text_free(sp_text *text);

SP_API size_t sp_text_bytes(const sp_text *text);

/* Write the event of a text, or of several fields. The prefixes of tokens must outlive it. -1 if
   out of memory. */
SP_API int sp_text_write(sp_text *text, sp_event *event, const sp_text_rule *rule,
                         const sp_index *index, bool intercept, const sp_piece *prefixes,
                         const sp_piece *pieces, int n_pieces);

#endif
