/* Mails as stored in files: an mbox, or one mail per file. */

#ifndef SPT_PROGRAM_MAILS_H
#define SPT_PROGRAM_MAILS_H

#include "bytes.h"

/* The mails of a file's bytes, one after the other. */
typedef struct mail_box {
    const char *p;
    size_t n, at;
    bool is_mbox, ended;
    bytes mail; /* one, without the quotes of the mbox */
} mail_box;

void box_begin(mail_box *box, const char *p, size_t n);

/* The next mail, which stays valid until the next call. false: there is none, or, if
   box->mail.failed, memory ran out. */
bool box_next(mail_box *box, const char **mail, size_t *n);

void box_end(mail_box *box);

/* A feature of a Mail in readable form; `ascii`: in ASCII. */
void add_described(bytes *to, const char *name, size_t n, bool ascii);

#endif
