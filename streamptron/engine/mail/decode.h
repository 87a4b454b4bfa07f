/* Base64 and quoted-printable (RFC 2045). Bad encoding is never an error. */

#ifndef STREAMPTRON_MAIL_DECODE_H
#define STREAMPTRON_MAIL_DECODE_H

#include "memory/compiler.h"

/* Decode n bytes of base64 to `to`, which may be p, as the result is never longer. Returns its
   length.

   Characters outside the alphabet are skipped; = ends a group, whose whole bytes count. */
SP_PRIVATE size_t sp_base64(const uint8_t *p, size_t n, uint8_t *to);

/* The value of a base64 character; -1 if it is not one. */
SP_PRIVATE int sp_base64_value(uint8_t c);

/* The same for quoted-printable; what is badly encoded stays as it is. `spaces`: an underscore is a
   space, as in encoded words. */
SP_PRIVATE size_t sp_quoted(const uint8_t *p, size_t n, bool spaces, uint8_t *to);

/* The value of a hexadecimal digit; -1 if it is not one. */
static inline int sp_hex_value(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

#endif
