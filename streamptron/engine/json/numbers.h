/* Numbers as text, without the C library's locale: hexadecimal and exact, as model files have them,
   and decimal, as people write and read them. */

#ifndef STREAMPTRON_JSON_NUMBERS_H
#define STREAMPTRON_JSON_NUMBERS_H

#include "memory/compiler.h"

enum {
    SP_NUMBER_ROOM = 32, /* bytes of a number's text */
};

/* A double in base 16 as Python's float.hex writes it, without a zero at the end. Returns the
   length, below SP_NUMBER_ROOM. */
SP_PRIVATE size_t sp_hex_write(double number, char *to);

/* And back, also in capitals. False if the text is not such a number, or if the number is too large
   or has too many digits. Numbers that are not finite are the words inf, -inf and nan. */
SP_PRIVATE bool sp_hex_read(const uint8_t *p, size_t n, double *number);

/* A whole number in base 16, with 0x before it. */
SP_PRIVATE size_t sp_hex_whole_write(uint64_t number, char *to);
SP_PRIVATE bool sp_hex_whole_read(const uint8_t *p, size_t n, uint64_t *number);

/* Read a decimal of up to 15 digits, and up to 22 places before or behind the point, as the nearest
   double. False: the text is not one. */
SP_PRIVATE bool sp_decimal_read(const uint8_t *p, size_t n, double *number);

/* A double as Python shows it, if at most 15 digits suffice; otherwise in base 16. */
SP_PRIVATE size_t sp_decimal_write(double number, char *to);

/* A double from 1e-4 up to 1, as Python's repr writes it: of the shortest decimals that are read
   back as this double, the nearest. 0: it is out of this range, or the compiler has no 128-bit
   integers. */
SP_API size_t sp_share_write(double number, char *to);

/* A whole number in base 10. */
SP_PRIVATE size_t sp_whole_write(uint64_t number, bool negative, char *to);

#endif
