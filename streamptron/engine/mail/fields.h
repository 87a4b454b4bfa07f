/* The fields of a header, one after the other (RFC 5322), and encoded words in them (RFC 2047).

       From someone@example.org Mon ...        no name before a colon: left out
       Subject: =?utf-8?Q?Free_?=              a field
        =?utf-8?Q?money?=                      which goes on
                                               an empty line: the header's end

   Nothing is copied: a value is bytes of the mail, its line ends within it. */

#ifndef STREAMPTRON_MAIL_FIELDS_H
#define STREAMPTRON_MAIL_FIELDS_H

#include "memory/compiler.h"

enum {
    SP_MAIL_HEADER_MOST = 65536, /* where the last field may begin, in bytes */
    SP_HEADER_NAME_MOST = 31,
    SP_HEADER_VALUE_MOST = 4000,
};

typedef struct sp_mail_header {
    /* What is left of a header; at its end, of the body. */
    const uint8_t *start;
    const uint8_t *p;
    const uint8_t *end;
} sp_mail_header;

typedef struct sp_header_field {
    uint8_t name[SP_HEADER_NAME_MOST + 1]; /* in lower case; a zero behind it */
    size_t n_name;
    const uint8_t *value;
    size_t n;
} sp_header_field;

/* Read the next field; false at the header's end. */
SP_PRIVATE bool sp_mail_header_next(sp_mail_header *header, sp_header_field *field);

/* Where the line at p ends, behind its line feed. */
static inline const uint8_t *sp_line_end(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *found = (const uint8_t *)memchr(p, '\n', (size_t)(end - p));
    return found == NULL ? end : found + 1;
}

/* Decode the encoded words of a value to `to`, where there is room for n bytes. Returns how many
   bytes it has then. */
SP_PRIVATE size_t sp_encoded_words(const uint8_t *p, size_t n, uint8_t *to);

#endif
