/* Lines of JSON that hold a text:

       {"text": "Free  Wi-Fi: \u00c9cris!"}
       {"text": "...", "id": "mail-17"}

   Most requests to a service look like this. Any other line (with a third name, a name twice, an id
   with escapes, a lone surrogate or bad UTF-8) is not read here: the caller has a reader for all of
   JSON, which also reports errors. */

#ifndef STREAMPTRON_EVENTS_QUESTION_H
#define STREAMPTRON_EVENTS_QUESTION_H

#include "memory/compiler.h"

enum {
    SP_QUESTION_ID_MOST = 200, /* characters of an id */
    SP_QUESTION_SPARE = 16,    /* bytes of room needed behind what is written */
};

typedef struct sp_question {
    const uint8_t *text; /* UTF-8 */
    size_t n_text;
    const uint8_t *id; /* printable ASCII without quotes and backslashes; NULL: none */
    size_t n_id;
} sp_question;

/* Read the line from p to `end`. Text and id are written to *room, which moves on by at most as
   many bytes as the line has. Returns false for any other kind of line. */
SP_API bool sp_question_read(sp_question *line, const uint8_t *p, const uint8_t *end,
                             uint8_t **room);

#endif
