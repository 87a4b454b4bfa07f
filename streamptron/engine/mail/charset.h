/* Charsets: the bytes of a text as UTF-8.

       charset=Windows-1251   EE F2 E5 F7        отеч            by name, then by table
       charset=iso-2022-jp    ESC $ B 24 22      あ              mail/double.h
       none, or none known    EE F2 E5 F7        a letter each   of which nothing more is known

   What is declared is believed, as mail programs do: by a table if each letter is one byte, and
   UTF-16 and UTF-7. A mark at the beginning (U+FEFF) outranks it. Where nothing is declared, or
   UTF-8, or ASCII, or what is not known, a text is UTF-8, unless more of its bytes are none than
   it has characters that are: then it is of a charset that cannot be known, so each byte is a
   letter of its own, U+10FE00 + the byte, which nothing makes equal to another one. Bytes that are
   signs in all charsets of Windows with one byte a letter are spaces there.

   The tables know letters, and what is not seen; signs are all alike. tools/charsets.py writes
   charsets.c. */

#ifndef STREAMPTRON_MAIL_CHARSET_H
#define STREAMPTRON_MAIL_CHARSET_H

#include "mail/charsets.h"

/* Which charset a name means. */
SP_PRIVATE int sp_charset_of(const uint8_t *name, size_t n);

/* Whether n bytes in a charset are UTF-8 as they stand. */
SP_PRIVATE bool sp_charset_is_plain(int charset, const uint8_t *p, size_t n);

/* Write n bytes in a charset to `to` as UTF-8, where there is room for SP_CHARSET_LONGEST times as
   many. Returns how many there are. */
SP_PRIVATE size_t sp_charset_write(int charset, const uint8_t *p, size_t n, uint8_t *to);

#endif
