/* A mail, as raw bytes, to an event.

       Subject: =?utf-8?Q?Fr=C3=A9e?=    subject:free          headers: words behind their field
       Content-Type: text/html

       <p>A <b>pri</b>ze                 a  prize              text: the visible words
                                         b"Subj" b"ubje" ...   bytes: four in a row, as they are

       walk     fields and texts, one after the other       mail/parts.h, mail/fields.h
         | decode   base64, quoted-printable                 mail/decode.h
         | charset  to UTF-8, as declared                    mail/charset.h, mail/double.h
         | html     the visible text of HTML                 mail/html.h
         | lower    lower case, folded; which bytes belong   mail/lower.h
         v          to words
       words    each a name, once, in order of its first occurrence

   Fields that were written by other filters, by ours, by the mailbox or by the receiver's program
   are left out of words and bytes: they would be learned instead of the mail (mail/fields.h). A
   word of more than 32 bytes becomes long<k>, where k is the number of bits of its length. If it
   does not begin with ASCII, such as a run of Chinese, it becomes pieces of up to six bytes, or of
   two characters, one from each of its first characters on.

   No mail is refused, whatever its bytes. It takes time in proportion to the mail's bytes, and
   memory in proportion to SP_TEXTS_MOST at most. The rules are those of Mail's docstring;
   tests/twin/mail.py is the plain twin. */

#ifndef STREAMPTRON_EVENTS_MAIL_H
#define STREAMPTRON_EVENTS_MAIL_H

#include "events/event.h"
#include "events/tally.h"
#include "mail/parts.h"
#include "names/index.h"
#include "names/scan.h"

enum {
    SP_MAIL_GRAM = 4,
    SP_MAIL_WORD_MOST = 32,
    SP_MAIL_RUN_MOST = 400, /* bytes of a long word in which pieces begin */
    SP_MAIL_PIECE_MOST = 6,
};

typedef struct sp_mail_rule {
    bool headers;
    bool text;
    bool fold;
    size_t bytes; /* how many of the mail's bytes give features, four in a row */
} sp_mail_rule;

typedef struct sp_mail {
    /* Scratch. */
    sp_held held;
    uint8_t *plain; /* decoded */
    size_t plain_capacity;
    uint8_t *read; /* in UTF-8; of HTML, the visible text */
    size_t read_capacity;
    uint8_t *lower; /* in lower case, from SP_MAIL_BEFORE on */
    size_t lower_capacity;
    uint64_t *bits;
    size_t bits_capacity;
    uint32_t *edges;
    size_t edges_capacity;
} sp_mail;

SP_PRIVATE void sp_mail_free(sp_mail *mail);

SP_PRIVATE size_t sp_mail_bytes(const sp_mail *mail);

/* Write the event of a mail, which has begun. -1 if out of memory. */
SP_PRIVATE int sp_mail_write(sp_mail *mail, sp_event *event, sp_buckets *buckets,
                             const sp_mail_rule *rule, const sp_index *index,
                             const sp_piece *piece);

#endif
