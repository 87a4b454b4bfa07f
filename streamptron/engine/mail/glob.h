/* Names with stars: "x-gm-*" matches each name that begins with x-gm-, whatever its case. */

#ifndef STREAMPTRON_MAIL_GLOB_H
#define STREAMPTRON_MAIL_GLOB_H

#include "memory/compiler.h"

static inline uint8_t sp_ascii_lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? c | 32 : c;
}

/* Whether n bytes match a pattern in lower case, in which a star is any number of any bytes. The
   time is at most n times the length of the pattern. */
SP_PRIVATE bool sp_glob(const char *pattern, const uint8_t *p, size_t n);

#endif
