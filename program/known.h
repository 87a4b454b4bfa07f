/* By what a mail is known again, and which mails a model has learned as what: those of the Python
   program (streamptron/keeping/known.py), eight bytes each in the model's file. */

#ifndef SPT_PROGRAM_KNOWN_H
#define SPT_PROGRAM_KNOWN_H

#include "model.h"

enum { ID_ROOM = 256, DIGITS = 32, MARK = 8 };

typedef struct identity_of_mail {
    char id[ID_ROOM];        /* its Message-ID; "": it has none of use */
    char digits[DIGITS + 1]; /* a checksum of From, Subject and text */
} mail_identity;

/* false: there is no memory. */
bool mail_identify(const char *mail, size_t n, mail_identity *its);

typedef struct known {
    bytes marks; /* the oldest first */
} known;

/* Those of a model's file. false: there is no memory, or they are none. */
bool known_read(known *k, const model *m);

bool known_has(const known *k, const mail_identity *its, const char *label, size_t n);

/* Know a mail by this label of the model, and by none of its others. false: there is no memory. */
bool known_add(known *k, const model *m, const mail_identity *its, const char *label, size_t n);

/* As the model's file is to have them. */
void known_keep(const known *k, model *m);

void known_free(known *k);

#endif
