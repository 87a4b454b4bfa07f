/* Recognizing a mail, and remembering which mails a model has learned with which label, as in the
   Python program (streamptron/keeping/known.py): eight bytes each in the model's file. */

#ifndef SPT_PROGRAM_KNOWN_H
#define SPT_PROGRAM_KNOWN_H

#include "model.h"

enum { ID_ROOM = 256, DIGITS = 32, MARK = 8 };

typedef struct identity_of_mail {
    char id[ID_ROOM];        /* its Message-ID; "": none that is usable */
    char digits[DIGITS + 1]; /* a checksum of From, Subject and text */
} mail_identity;

/* false: out of memory. */
bool mail_identify(const char *mail, size_t n, mail_identity *its);

typedef struct known {
    bytes marks; /* the oldest first */
} known;

/* Read those of a model's file. false: out of memory, or they are invalid. */
bool known_read(known *k, const model *m);

bool known_has(const known *k, const mail_identity *its, const char *label, size_t n);

/* Remember a mail with this label of the model, and with no other one. false: out of memory. */
bool known_add(known *k, const model *m, const mail_identity *its, const char *label, size_t n);

/* Put them into the model, to be saved in its file. */
void known_keep(const known *k, model *m);

void known_free(known *k);

#endif
