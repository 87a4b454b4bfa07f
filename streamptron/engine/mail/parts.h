/* A mail's parts (RFC 2045, 2046): a walk that returns fields and texts, one after the other.

       From: Ann                             a field
       Content-Type: multipart/mixed; boundary=x
                                             the walk goes down
       --x
       Content-Type: text/html               a field of a part
                                             a text: HTML
       <p>hello
       --x--

   All fields of the mail's own header are returned, but of a part's only those that say what the
   part is. A multipart is cut at lines that begin with its boundary; without a boundary, or nested
   too deeply, it is read as text. A mail in a mail is walked like a part, and decoded first if it
   is encoded. Of several Content-Types the one that gives the most text counts, since mail programs
   differ here. A part that is not text is skipped. The time is linear: each level looks at each
   byte once, and there are few levels. */

#ifndef STREAMPTRON_MAIL_PARTS_H
#define STREAMPTRON_MAIL_PARTS_H

#include "mail/fields.h"
#include "mail/parameter.h"

enum {
    SP_PARTS_MOST = 64,
    SP_LEVELS_MOST = 8,
    SP_PART_TEXT_MOST = 65536, /* bytes of a part's text, as it is encoded */
    SP_TEXTS_MOST = 262144,    /* and of all of them */

    SP_ENCODED_PLAIN = 0,
    SP_ENCODED_BASE64 = 1,
    SP_ENCODED_QUOTED = 2,
};

typedef struct sp_multipart {
    const uint8_t *p; /* where the next part begins; NULL: after the last boundary */
    const uint8_t *end;
    uint8_t mark[SP_PARAMETER_MOST]; /* the boundary */
    size_t n_mark;
    int level;
} sp_multipart;

typedef struct sp_held {
    /* Mails in the mail, decoded. */
    uint8_t *p;
    size_t capacity;
    size_t n;
    size_t most;
} sp_held;

typedef struct sp_mail_walk {
    sp_mail_header header; /* of the entity being read */
    const uint8_t *end;    /* where the entity ends */
    bool in_header;
    int level;
    const uint8_t *type; /* the value of its Content-Type; NULL: none */
    size_t n_type;
    int rank; /* of that Content-Type */
    int encoded;
    sp_multipart open[SP_LEVELS_MOST];
    int n_open;
    int n_parts;
    size_t room; /* for texts, in bytes */
    size_t room_held; /* for encoded mails */
    sp_held *held;
} sp_mail_walk;

typedef struct sp_item {
    bool is_text;
    bool is_part; /* a field of a part, not of the mail */
    sp_header_field field;
    const uint8_t *text;
    size_t n;
    int encoded;
    int charset;
    bool html;
} sp_item;

SP_PRIVATE void sp_walk_begin(sp_mail_walk *walk, const uint8_t *p, size_t n, sp_held *held);

/* The next field or text: 1; 0 at the end; -1 if out of memory. */
SP_PRIVATE int sp_walk_next(sp_mail_walk *walk, sp_item *item);

#endif
