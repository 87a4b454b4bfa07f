/* A tokenizer or a Mail, made from its parameters: the rule by which events/text.h splits texts or
   mails, and the names of a tokenizer's fields. */

#ifndef STREAMPTRON_FILE_TOKENS_H
#define STREAMPTRON_FILE_TOKENS_H

#include "events/text.h"
#include "json/settings.h"
#include "memory/arena.h"

enum {
    SP_GRAMS_MOST = 100, /* of an n-gram */
};
#define SP_LENGTH_MOST 9007199254740992.0
#define SP_MAIL_BYTES_MOST 268435456.0
#define SP_MAIL_BYTES_WANT "0, for none, or an int from 4 to 268435456"

typedef struct sp_tokens {
    sp_text_rule rule;
    sp_piece *prefixes; /* of each field's tokens; without fields, a single empty one */
    int n_pieces;
    bool named; /* it has fields */
    sp_arena held;
} sp_tokens;

/* Check all parameters. 0, or a kind of fault. Call sp_tokens_free in either case. */
SP_PRIVATE int sp_tokens_read(sp_tokens *tokens, const sp_given *given, sp_fault *fault);

/* The same for a Mail's. */
SP_PRIVATE int sp_mail_tokens_read(sp_tokens *tokens, const sp_given *given, sp_fault *fault);

/* Write all parameters of a Tokenizer or a Mail as in a file; see sp_parameters_write. */
SP_PRIVATE void sp_tokens_write(bool mail, const sp_json *json, sp_bytes *to);

SP_PRIVATE void sp_tokens_free(sp_tokens *tokens);

#endif
