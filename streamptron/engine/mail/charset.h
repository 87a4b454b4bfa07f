/* Charsets: the bytes of a text as UTF-8.

       charset=Windows-1251   EE F2 E5 F7        отеч            by name, then by table
       charset=iso-2022-jp    ESC $ B 24 22      あ              mail/double.h
       none, or unknown       EE F2 E5 F7        a letter each   about which no more is known

   The declared charset is believed, as in mail programs: those with one byte a letter (by a table),
   UTF-16 and UTF-7. A mark at the beginning (U+FEFF) outranks it. If none is declared, or UTF-8,
   ASCII or an unknown one, the text is read as UTF-8, and each bad byte is a letter of its own,
   U+10FE00 + the byte, which equals no other letter. If there are more bad bytes than good
   characters beyond ASCII, the charset cannot be known, and all bytes beyond ASCII become such
   letters. Bytes that are signs in all single-byte charsets of Windows become spaces there.

   The tables have letters, and invisible characters; all signs are the same one. tools/charsets.py
   writes charsets.c. */

#ifndef STREAMPTRON_MAIL_CHARSET_H
#define STREAMPTRON_MAIL_CHARSET_H

#include "mail/charsets.h"

/* The charset with this name. */
SP_PRIVATE int sp_charset_of(const uint8_t *name, size_t n);

/* Whether n bytes in a charset already are UTF-8. */
SP_PRIVATE bool sp_charset_is_plain(int charset, const uint8_t *p, size_t n);

/* Write n bytes in a charset to `to` as UTF-8, where there is room for SP_CHARSET_LONGEST times as
   many. Returns how many were written. */
SP_PRIVATE size_t sp_charset_write(int charset, const uint8_t *p, size_t n, uint8_t *to);

#endif
