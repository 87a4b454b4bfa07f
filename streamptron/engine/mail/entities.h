/* HTML's named characters: &uuml; is ü.

   They are those of HTML 4, &apos;, and those that HTML 5 knows without a semicolon; all signs are
   the same one. Other names stay as they are written: the 2,125 names of HTML 5 would take 13 kB.
   tools/entities.py writes entities.c, and says how a name is stored. */

#ifndef STREAMPTRON_MAIL_ENTITIES_H
#define STREAMPTRON_MAIL_ENTITIES_H

#include "memory/compiler.h"

enum {
    SP_ENTITY_MOST = 8,      /* characters of a name */
    SP_ENTITY_BARE_MOST = 6, /* of a name that needs no semicolon */
};

SP_DATA const uint16_t sp_entity_starts[]; /* of the names with A to Z and a to z, and the end */
SP_DATA const uint8_t sp_entity_names[];

/* The character whose entity is at p, where there is an &: its code point, and in `length` its
   bytes. 0: there is no entity. */
SP_PRIVATE uint32_t sp_entity(const uint8_t *p, const uint8_t *end, size_t *length);

#endif
