/* HTML's named characters: &uuml; is ü.

   All that HTML 4 has, &apos;, and those that HTML 5 knows without a semicolon; signs are all
   alike. The 2,125 names of HTML 5 would take 13 kB; the others stay as they are written.
   tools/entities.py writes entities.c, and says how a name lies there. */

#ifndef STREAMPTRON_MAIL_ENTITIES_H
#define STREAMPTRON_MAIL_ENTITIES_H

#include "memory/compiler.h"

enum {
    SP_ENTITY_MOST = 8,      /* characters of a name */
    SP_ENTITY_BARE_MOST = 6, /* of one that needs no semicolon */
};

SP_DATA const uint16_t sp_entity_starts[]; /* of names from A to Z and a to z, and the end */
SP_DATA const uint8_t sp_entity_names[];

/* The character at p, which is &: its code point, and in `length` how many bytes it takes; 0 if it
   is none. */
SP_PRIVATE uint32_t sp_entity(const uint8_t *p, const uint8_t *end, size_t *length);

#endif
