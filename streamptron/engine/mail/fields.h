/* The fields of a header, one after the other (RFC 5322), and encoded words in them (RFC 2047).

       From someone@example.org Mon ...        from an mbox: left out
       Subject: =?utf-8?Q?Free_?=              a field
        =?utf-8?Q?money?=                      which continues here
                                               an empty line: the header's end

   The line that starts a mail in an mbox may come first. If neither a field nor an empty line
   follows, there is no header, and everything is text. Nothing is copied: a value points into the
   mail, and includes its line ends.

   Fields that were written by other filters, by ours, by the mailbox or by the receiver's program
   say nothing about the mail, and would be learned instead of it. They are left out; fields.c lists
   them. */

#ifndef STREAMPTRON_MAIL_FIELDS_H
#define STREAMPTRON_MAIL_FIELDS_H

#include "memory/compiler.h"

enum {
    SP_MAIL_HEADER_MOST = 65536, /* bytes within which fields must begin */
    SP_HEADER_NAME_MOST = 31,
    SP_HEADER_VALUE_MOST = 4000,
};

typedef struct sp_mail_header {
    /* What is left of a header; at its end, the body. */
    const uint8_t *start;
    const uint8_t *p;
    const uint8_t *end;
    bool is_there; /* more of it is left to read */
} sp_mail_header;

typedef struct sp_header_field {
    uint8_t name[SP_HEADER_NAME_MOST + 1]; /* in lower case; a zero behind it */
    size_t n_name;
    const uint8_t *value;
    size_t n;
} sp_header_field;

SP_PRIVATE void sp_mail_header_begin(sp_mail_header *header, const uint8_t *p, const uint8_t *end);

/* Read the next field that is not left out; false at the header's end. */
SP_PRIVATE bool sp_mail_header_next(sp_mail_header *header, sp_header_field *field);

/* Read through the next field that is left out, and return where it begins; NULL if there is none.
   It ends at header->p. */
SP_PRIVATE const uint8_t *sp_mail_header_gap(sp_mail_header *header);

/* Where the line at p ends, behind its line feed. */
static inline const uint8_t *sp_line_end(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *found = (const uint8_t *)memchr(p, '\n', (size_t)(end - p));
    return found == NULL ? end : found + 1;
}

/* Write a value as UTF-8 to `to`, with its encoded words decoded. `to` has room for
   SP_CHARSET_LONGEST times its bytes, `scratch` for its bytes. Returns how many were written. */
SP_PRIVATE size_t sp_encoded_words(const uint8_t *p, size_t n, uint8_t *scratch, uint8_t *to);

#endif
